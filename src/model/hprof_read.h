/*
 * Reading a heap dump (HPROF, "JAVA PROFILE 1.0.2", as HotSpot writes it) while it comes: its
 * objects and references go to a graph_builder as a tape (wire/tape.h), its names to a struct
 * heap.  Pieces may be cut anywhere and nothing is read twice, so that a FIFO will do.  A dump is
 * hostile: whatever it says, there is a graph or one error.
 *
 * HotSpot writes names, classes and stacks before the first object; what does otherwise is
 * refused.  Fields go by their place in a dump: those of the class itself first, then its
 * superclass's and so on.  Threads go by the dump's serial numbers.
 */
#ifndef JTOOL_MODEL_HPROF_READ_H
#define JTOOL_MODEL_HPROF_READ_H

#include "base/err.h"
#include "model/heap.h"
#include "model/hprof_names.h"
#include "model/layout.h"

struct hprof_wants {
	struct graph_builder *builder; /* NULL: count only; the caller's */
	struct layout layout;   /* sizes go by it; all 0: a first look, sizes are 0 */
	unsigned texts_from;    /* tell the first characters of byte[] and char[] as long as this;
				   0: of none */
	struct hprof_names *names; /* NULL: threads need no names; the caller's */
};

struct hprof_reader;

/* The heap is the caller's, empty, and stays where it is; its graph is not touched. */
struct hprof_reader *hprof_reader_new(struct heap *heap, const struct hprof_wants *wants);
/* NULL is allowed. */
void hprof_reader_free(struct hprof_reader *r);

/* The next piece: 0, or -1 with err set (EXIT_PARTIAL); after that only hprof_reader_free(). */
int hprof_feed(struct hprof_reader *r, const uint8_t *data, size_t len, struct err *err)
	_must_check_;
/* There is no more: was it all?  Names are complete after this. */
int hprof_end(struct hprof_reader *r, struct err *err) _must_check_;

/* Once more, when another reader of the same dump has found names that were lacking. */
void hprof_name_threads(struct hprof_reader *r);

/* Bytes that were fed, and objects that were met, for who watches. */
uint64_t hprof_bytes(const struct hprof_reader *r);
uint64_t hprof_objects(const struct hprof_reader *r);

/* What a class's instances number and weigh; the caller's heap has the class of this number. */
struct hprof_count {
	uint64_t instances, bytes;
};
struct hprof_count hprof_count(const struct hprof_reader *r, uint32_t class);
/* The number of java.lang.Class, for struct graph_facts; GRAPH_NONE when there is none. */
uint32_t hprof_class_class(const struct hprof_reader *r);

/*
 * The layout of the JVM that wrote a dump: the one whose sizes fill the distances between its
 * objects best, from what a reader without a layout has looked at; no more than the first
 * HPROF_LOOK of them are kept.  Not known when superclasses go in a circle.
 */
#define HPROF_LOOK (256 * 1024)
struct layout hprof_guess_layout(struct hprof_reader *r);

#endif
