/*
 * The names of threads in a heap dump.  A dump has them only as Strings on the heap: the thread
 * object leads to its name, that to an array, and these may stand in any order.  What one
 * reader learned helps the next one that reads the same dump.  Of a JVM that lives, a thread dump
 * tells names by the threads' identifiers, which are in the thread objects themselves.
 */
#ifndef JTOOL_MODEL_HPROF_NAMES_H
#define JTOOL_MODEL_HPROF_NAMES_H

#include "model/heap.h"
#include "model/idmap.h"

#define HPROF_NAME_MAX 512 /* bytes of an array that are looked at */

struct hprof_name {
	uint64_t array;  /* 0: not known */
	bool is_utf16;   /* as its coder says, or because it is a char[] */
	char *text;      /* NULL: not met */
};

/* All zero is an empty one. */
struct hprof_names {
	struct idmap threads; /* thread objects -> name */
	struct idmap strings; /* Strings -> name */
	struct idmap arrays;  /* arrays -> name */
	struct hprof_name *names;
	size_t n, cap;
	struct idmap tids; /* thread objects -> identifier of the thread */
	struct idmap told; /* identifiers -> text in `texts` */
	char **texts;
	size_t n_texts, cap_texts;
};

void hprof_names_release(struct hprof_names *n);
/* The answer to Thread.print, JDK 8 to 27; what is none has no names. */
void hprof_names_print(struct hprof_names *n, const char *text, size_t len);
/* A thread object was met, its field `name`, and its identifier or 0. */
void hprof_names_thread(struct hprof_names *n, uint64_t thread, uint64_t string, uint64_t tid);
/* A String was met; utf16: its coder says so. */
void hprof_names_string(struct hprof_names *n, uint64_t string, uint64_t array, bool utf16);
/* An array of bytes or chars was met.  big_endian: it is one of chars. */
void hprof_names_array(struct hprof_names *n, uint64_t array, const uint8_t *data, size_t len,
		       bool big_endian);
/* NULL: not known. */
const char *hprof_names_of(const struct hprof_names *n, uint64_t thread);
/* Names that another reading would find. */
bool hprof_names_lacking(const struct hprof_names *n);

#endif
