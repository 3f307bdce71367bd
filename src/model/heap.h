/*
 * A walked heap: the graph, and the names for what is in it.  Filled by the agent's answer
 * (heap_wire) or from an HPROF dump (hprof_read); the same to all that look at it.
 */
#ifndef JTOOL_MODEL_HEAP_H
#define JTOOL_MODEL_HEAP_H

#include "base/buf.h"
#include "model/graph.h"

struct heap_field {
	char *name;     /* NULL: not known */
	uint32_t class; /* that declares it */
};

struct heap_class {
	char *name;   /* Java source form: "a.b.C$D", "int[][]" */
	char *loader; /* label, as places_loader() has it: "bootstrap", "app", … */
	char *module; /* NULL: none, or not known */
	bool lasting; /* its loader stays for as long as the JVM does */
	bool told;    /* fields are */
	/* Of this class's objects by the index of FIELD edges, and of itself by that of STATIC. */
	struct heap_field *fields, *statics;
	uint32_t n_fields, n_statics;
};

struct heap_thread {
	uint64_t id;
	char *name;
};

struct heap_method {
	char *class, *name; /* "a.b.C", "run"; NULL: not known */
};

struct heap {
	struct heap_class *classes;
	size_t n_classes, cap_classes;
	struct heap_thread *threads;
	size_t n_threads, cap_threads;
	struct heap_method *methods; /* number - 1 */
	size_t n_methods, cap_methods;
	struct graph *graph;
};

void heap_release(struct heap *h);

/* "?" for a class that is none. */
const char *heap_class_name(const struct heap *h, uint32_t class);
/* What a node is, or for a java.lang.Class what it stands for: "a.b.C". */
const char *heap_node_class(const struct heap *h, uint32_t node);

/*
 * How an edge holds, as `via` in CLI: "field NAME", "static NAME", "[INDEX]", "field referent
 * (soft)", "class loader", "superclass", "constant pool", "class"…  The fields of heap_via_class()
 * should be told; else the name is its index.
 */
void heap_via(const struct heap *h, uint32_t node, const struct graph_edge *edge,
	      struct buf *text);

/* The class whose fields should be told then; GRAPH_NONE: the edge is no field's. */
uint32_t heap_via_class(const struct heap *h, uint32_t node, const struct graph_edge *edge);
/* "soft", "weak", … */
const char *heap_strength(uint32_t strength);

/* NULL: not known. */
const char *heap_thread_name(const struct heap *h, uint64_t id);
const struct heap_method *heap_method(const struct heap *h, uint32_t method);
/* As the JSON of refpaths has it: "jni global", "stack local", … */
const char *heap_root_kind(enum tape_root kind);

#endif
