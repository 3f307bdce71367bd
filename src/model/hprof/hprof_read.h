/*
 * Parses a heap dump (HPROF, "JAVA PROFILE 1.0.2", as written by HotSpot) in one pass.
 *
 * Objects and references are passed to a graph_builder as a heap stream (wire/heap_stream.h); names
 * go to a struct heap.  Input may be split anywhere, so it can come from a FIFO.  A dump is
 * untrusted: any input results in a graph or in one error.
 *
 * HotSpot writes names, classes and stacks before the first object; a dump with another order is
 * refused.  An object's fields are numbered in the order of the dump: first the fields that its own
 * class declares, then those of the superclasses.
 * Threads are numbered by the dump's serial numbers.
 */
#ifndef JTOOL_MODEL_HPROF_HPROF_READ_H
#define JTOOL_MODEL_HPROF_HPROF_READ_H

#include "base/err.h"
#include "model/heap/heap.h"
#include "model/hprof/hprof_names.h"
#include "model/hprof/object_layout.h"

struct hprof_wants {
	struct graph_builder *builder; /* not owned; NULL: objects are only counted */
	/*
	 * all 0: the layout is unknown, so the sizes of objects are 0, and the reader takes a
	 * sample of objects for hprof_guess_layout()
	 */
	struct object_layout layout;
	/* read the start of each byte[] and char[] of at least this many elements; 0: of none */
	unsigned texts_from;
	struct hprof_names *names; /* not owned; NULL: thread names are not read */
	size_t max_memory; /* limit in bytes for names, classes, threads and stacks; 0: no limit */
	/* for messages: what the user can do if max_memory is exceeded; NULL: nothing */
	const char *advice;
};

struct hprof_reader;

/*
 * Returns a reader that fills in `heap`, which must be empty and must not move.  Does not set
 * heap->graph.
 */
struct hprof_reader *hprof_reader_new(struct heap *heap, const struct hprof_wants *wants);
void hprof_reader_free(struct hprof_reader *r); /* NULL is allowed */

/*
 * Parses the next bytes.  Returns 0, or -1 with err set: EXIT_USAGE if this is not a heap dump,
 * otherwise EXIT_PARTIAL.  After an error, the reader can only be freed.
 */
int hprof_feed(struct hprof_reader *r, const uint8_t *data, size_t len, struct err *err)
	_must_check_;
/* Ends the input and completes the names.  Returns -1 with err set if the dump is not complete. */
int hprof_end(struct hprof_reader *r, struct err *err) _must_check_;

/*
 * Returns true if the reader has failed because the dump is invalid; false if it has failed for
 * another reason, such as a limit, or has not failed.
 */
bool hprof_is_invalid(const struct hprof_reader *r);

/*
 * Sets the names of the heap's threads a second time.  Call it after another reader of the same
 * dump has added names to hprof_wants.names.
 */
void hprof_name_threads(struct hprof_reader *r);

/* For a progress line: the number of bytes received so far, and the number of objects read. */
uint64_t hprof_bytes(const struct hprof_reader *r);
uint64_t hprof_objects(const struct hprof_reader *r);

/*
 * Number of instances of a class, and their total size in bytes.  `class` is an index in
 * heap->classes.
 */
struct hprof_count {
	uint64_t instances, bytes;
};
struct hprof_count hprof_count(const struct hprof_reader *r, uint32_t class);
/*
 * Returns the number of the class java.lang.Class (for struct graph_facts); GRAPH_NONE: not read.
 */
uint32_t hprof_class_class(const struct hprof_reader *r);

#define HPROF_SAMPLE_MAX (256 * 1024) /* maximum number of objects in the sample */
/*
 * Returns the object layout whose object sizes best fit the distances between the objects in the
 * sample.  Call it for a reader whose hprof_wants.layout was all 0.  Returns an unknown layout if
 * superclasses are circular.
 */
struct object_layout hprof_guess_layout(struct hprof_reader *r);

#endif
