/*
 * Thread names in a heap dump.
 *
 * In a dump, a thread's name is a String on the heap: the Thread object refers to a String, and the
 * String to an array.  The three objects come in any order, so the name may remain unknown when the
 * dump was read once; then the same dump is read a second time.  For a running JVM, the command
 * Thread.print provides the names, by thread id.
 */
#ifndef JTOOL_MODEL_HPROF_HPROF_NAMES_H
#define JTOOL_MODEL_HPROF_HPROF_NAMES_H

#include "model/heap/heap.h"
#include "base/id_map.h"

#define HPROF_NAME_MAX 512 /* limit: at most this many bytes of an array are read */

struct hprof_name {
	uint64_t array;  /* address of the String's array; 0: unknown */
	bool is_utf16;   /* the String's field `coder` says that the array is UTF-16 */
	char *text;      /* the name; NULL: the array was not read yet */
};

/* A zero-initialised struct is empty. */
struct hprof_names {
	struct id_map threads; /* address of a Thread -> index in `names` */
	struct id_map strings; /* address of a String -> index in `names` */
	struct id_map arrays;  /* address of an array -> index in `names` */
	struct hprof_name *names;
	size_t n, cap;
	struct id_map tids; /* address of a Thread -> thread id */
	struct id_map by_tid; /* thread id -> index in `texts`, the names from Thread.print */
	char **texts;
	size_t n_texts, cap_texts;
};

void hprof_names_release(struct hprof_names *n);
/*
 * Parses the reply to Thread.print of JDK 8 to 27.  Lines that do not begin a thread are ignored.
 */
void hprof_names_parse_threads(struct hprof_names *n, const char *text, size_t len);
/* Records a Thread, the String that is its name, and its thread id (0: unknown). */
void hprof_names_thread(struct hprof_names *n, uint64_t thread, uint64_t string, uint64_t tid);
/*
 * Records a String and its array.  `utf16`: the String's field `coder` says that the array is
 * UTF-16.
 */
void hprof_names_string(struct hprof_names *n, uint64_t string, uint64_t array, bool utf16);
/* Records the content of an array: a char[] if `big_endian` is true, otherwise a byte[]. */
void hprof_names_array(struct hprof_names *n, uint64_t array, const uint8_t *data, size_t len,
		       bool big_endian);
/* Returns the name of a Thread, or NULL if it is unknown. */
const char *hprof_names_of(const struct hprof_names *n, uint64_t thread);
/* Returns true if a second reading of the dump may find more names. */
bool hprof_names_incomplete(const struct hprof_names *n);

#endif
