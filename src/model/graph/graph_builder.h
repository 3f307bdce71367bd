/* A graph that is being built.  Private to graph_ingest.c and graph_build.c. */
#ifndef JTOOL_MODEL_GRAPH_GRAPH_BUILDER_H
#define JTOOL_MODEL_GRAPH_GRAPH_BUILDER_H

#include "model/graph/graph_internal.h"
#include "model/graph/address_map.h"

/* A java.lang.Class and the class that it represents. */
struct graph_class_object {
	uint32_t class, node;
};

struct graph_class_objects {
	struct graph_class_object *list;
	size_t n, cap;
	uint32_t min;        /* 1 + the highest class number of an object; 0: none */
	uint32_t of_objects; /* class of class objects sent as OBJECT; GRAPH_NONE: none */
};

/* Capacities of the graph's arrays, in entries. */
struct graph_capacity {
	size_t class, size, first, to, tag, far, lengths, roots, texts, text;
};

/* The object whose edges follow. */
struct graph_current {
	uint32_t node;    /* GRAPH_NONE: none yet */
	uint32_t element; /* 1 + index of the previous edge in the array; 0: not an element */
	uint32_t run;     /* elements since the last multiple of GRAPH_ELEMENT_RUN */
};

/* jtool's own objects, see graph_is_own(). */
struct graph_own {
	uint32_t below; /* 1 + the highest node number of these objects; 0: none */
	bool late;      /* another record mentioned one of them before its OWN record */
};

struct graph_builder {
	struct graph *graph;
	struct graph_capacity cap;
	size_t len_text; /* bytes used in graph->text */
	struct address_map map;
	struct heap_stream_state stream_state;
	size_t max_bytes; /* 0: unlimited */
	uint64_t n_objects;
	struct graph_class_objects classes;
	struct graph_current current;
	struct graph_own own;
};

#endif
