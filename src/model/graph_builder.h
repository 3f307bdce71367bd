/* A graph in the making, for graph_take.c and graph_build.c only. */
#ifndef JTOOL_MODEL_GRAPH_BUILDER_H
#define JTOOL_MODEL_GRAPH_BUILDER_H

#include "model/graph_in.h"
#include "model/graph_map.h"

struct graph_told_class {
	uint32_t class, node;
};

struct graph_builder {
	struct graph *graph;
	struct graph_map map;
	struct tape_place place;
	size_t max_bytes;
	uint64_t n_told;
	size_t cap_class, cap_size, cap_first, cap_to, cap_tag, cap_far, cap_lengths, cap_roots;
	size_t cap_texts, cap_text, len_text;
	struct graph_told_class *classes; /* their class objects, as told */
	size_t n_classes, cap_classes;
	uint32_t min_classes;  /* there must be: one more than the highest number of an object's */
	uint32_t class_object; /* class of a java.lang.Class that was told as an object */
	uint32_t told;         /* the object told of; GRAPH_NONE: none yet */
	uint32_t own_below;    /* own objects' numbers are */
	bool own_late;         /* an own object was met before it was told to be one */
	uint32_t element;      /* as struct graph_edges has it */
	uint32_t run;          /* elements since one's index was told whole */
};

#endif
