/*
 * What JFR.configure prints, under the names of its options.  Pure.
 *
 * The JVM shows sizes with one decimal ("512.0 kB"), so those that are no round figures are as
 * exact as that.
 */
#ifndef JTOOL_MODEL_JFR_SETTINGS_H
#define JTOOL_MODEL_JFR_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum jfr_setting {
	JFR_REPOSITORY_PATH,
	JFR_DUMP_PATH, /* JDK 8 to 17 tell it only in the answer that sets it */
	JFR_PRESERVE_REPOSITORY,
	JFR_STACK_DEPTH,
	JFR_GLOBAL_BUFFER_COUNT,
	JFR_GLOBAL_BUFFER_SIZE,
	JFR_THREAD_BUFFER_SIZE,
	JFR_MEMORY_SIZE,
	JFR_MAX_CHUNK_SIZE,
	JFR_SAMPLE_THREADS,
	N_JFR_SETTINGS,
};

enum jfr_kind { JFR_PATH, JFR_NUMBER, JFR_SIZE, JFR_BOOL };

struct jfr_setting_info {
	const char *key;   /* what JFR.configure calls the option */
	const char *label; /* what it prints in front of the value */
	enum jfr_kind kind;
	bool sealed; /* cannot be changed once JFR is initialised, whatever the JVM says */
};
extern const struct jfr_setting_info jfr_setting_info[N_JFR_SETTINGS];

struct jfr_value {
	bool known;
	char *path;     /* JFR_PATH */
	int64_t number; /* the others; bytes of a JFR_SIZE; 0 or 1 */
};

struct jfr_settings {
	struct jfr_value values[N_JFR_SETTINGS];
	bool is_listing;  /* the answer is a list of all, not of what was set */
	struct buf words; /* lines that are none of this */
};

/* Read an answer of JFR.configure.  Whatever it is, what is known of it is in s afterwards. */
void jfr_settings_parse(struct jfr_settings *s, const char *text, size_t len);
void jfr_settings_release(struct jfr_settings *s);

/* The setting of this name, or -1; the name ends at '=' or at the end. */
int jfr_setting_find(const char *name);

/* Append the value as JFR.configure takes it: 64, 512k, true, /tmp; "-" when it is not known. */
void jfr_value_show(struct buf *out, enum jfr_kind kind, const struct jfr_value *v);
bool jfr_value_same(const struct jfr_value *a, const struct jfr_value *b);

#endif
