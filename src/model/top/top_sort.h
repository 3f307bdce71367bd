/* The columns by which the rows of `jtool top` can be sorted. */
#ifndef JTOOL_MODEL_TOP_TOP_SORT_H
#define JTOOL_MODEL_TOP_TOP_SORT_H

enum top_sort {
	TOP_SORT_CPU,
	TOP_SORT_TIME,
	TOP_SORT_NAME,
	TOP_SORT_ID, /* tid of a thread or pid of a JVM */
	N_TOP_SORT_THREADS,
	TOP_SORT_RSS = N_TOP_SORT_THREADS, /* this value and the following ones are only for JVMs */
	TOP_SORT_HEAP,
	TOP_SORT_GC,
	TOP_SORT_ALLOC,
	N_TOP_SORT,
};

/* Names of the columns, in the order of enum top_sort; NULL ends the list. */
extern const char *const top_sort_names[];

#endif
