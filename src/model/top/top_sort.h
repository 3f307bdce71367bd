/* What the rows of `top` can be sorted by. */
#ifndef JTOOL_MODEL_TOP_TOP_SORT_H
#define JTOOL_MODEL_TOP_TOP_SORT_H

enum top_sort {
	TOP_SORT_CPU,
	TOP_SORT_TIME,
	TOP_SORT_NAME,
	TOP_SORT_ID, /* tid or pid */
	N_TOP_SORT_THREADS,
	TOP_SORT_RSS = N_TOP_SORT_THREADS, /* from here on: only JVMs */
	TOP_SORT_HEAP,
	TOP_SORT_GC,
	TOP_SORT_ALLOC,
	N_TOP_SORT,
};

/* Their names in this order; NULL ends the list. */
extern const char *const top_sort_names[];

#endif
