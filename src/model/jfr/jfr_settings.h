/*
 * The settings that JFR.configure prints.  The JVM prints sizes with one decimal ("512.0 kB"), so a
 * parsed size may be rounded.
 */
#ifndef JTOOL_MODEL_JFR_JFR_SETTINGS_H
#define JTOOL_MODEL_JFR_JFR_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum jfr_setting {
	JFR_REPOSITORY_PATH,
	JFR_DUMP_PATH, /* JDK 8 to 17 print it only if it is set */
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
	const char *key;   /* name of the option of JFR.configure */
	const char *label; /* the text before the value in the reply */
	enum jfr_kind kind;
	/* cannot be changed after JFR was initialised, even if the JVM reports success */
	bool sealed;
};
extern const struct jfr_setting_info jfr_setting_info[N_JFR_SETTINGS];

struct jfr_value {
	bool known;
	char *path;     /* value of a JFR_PATH setting */
	int64_t number; /* value of other settings: bytes for JFR_SIZE, 0 or 1 for JFR_BOOL */
};

struct jfr_settings {
	struct jfr_value values[N_JFR_SETTINGS];
	bool is_listing;  /* the reply lists all settings, and not only the changed ones */
	struct buf words; /* the lines of the reply that are not settings */
};

/* Parses a reply to JFR.configure.  Appends each line that is not a setting to s->words. */
void jfr_settings_parse(struct jfr_settings *s, const char *text, size_t len);
void jfr_settings_release(struct jfr_settings *s);

/*
 * Returns the setting whose key is the part of `name` before '=' or, if `name` has no '=', all of
 * `name`.  Returns -1 if there is no such setting.
 */
int jfr_setting_find(const char *name);

/* Appends the value in the syntax of JFR.configure: 64, 512k, true, /tmp; "-" if unknown. */
void jfr_value_show(struct buf *out, enum jfr_kind kind, const struct jfr_value *v);
bool jfr_value_same(const struct jfr_value *a, const struct jfr_value *b);

#endif
