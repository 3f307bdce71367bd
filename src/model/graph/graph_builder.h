/* A graph that is being built.  Private to graph_ingest.c and graph_build.c. */
#ifndef JTOOL_MODEL_GRAPH_GRAPH_BUILDER_H
#define JTOOL_MODEL_GRAPH_GRAPH_BUILDER_H

#include "model/graph/graph_internal.h"
#include "model/graph/address_map.h"

/* A java.lang.Class object, and the class that it represents. */
struct graph_class_object {
	uint32_t class, node;
};

struct graph_class_objects {
	struct graph_class_object *list;
	size_t n, cap;
	uint32_t min; /* 1 + the highest class number so far; graph_facts.n_classes: at least min */
	/*
	 * class number of java.lang.Class, from the OBJECT records of its instances; GRAPH_NONE: no
	 * such record yet
	 */
	uint32_t of_objects;
};

/* Capacities of the arrays in struct graph, in array entries. */
struct graph_capacity {
	size_t class, size, first, to, tag, far, lengths, roots, texts, text;
};

/* The object to which the next edges of the stream belong. */
struct graph_current {
	uint32_t node;    /* GRAPH_NONE: no object yet */
	/* 1 + array index of the previous edge; 0: that edge was not from an array element */
	uint32_t element;
	/* number of element edges of the object; after GRAPH_ELEMENT_RUN, counts from 1 again */
	uint32_t run;
};

/* Objects that belong to jtool's agent, see graph_is_own(). */
struct graph_own {
	uint32_t below; /* 1 + the highest node number of the agent's objects; 0: none */
	bool late;      /* other records preceded an object's OWN record, so it may have edges */
};

struct graph_builder {
	struct graph *graph;
	struct graph_capacity cap;
	size_t len_text; /* number of bytes used in graph->text */
	struct address_map map;
	struct heap_stream_state stream_state;
	size_t max_bytes; /* memory limit in bytes; 0: none */
	uint64_t n_objects;
	struct graph_class_objects classes;
	struct graph_current current;
	struct graph_own own;
};

#endif
