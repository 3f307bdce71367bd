/*
 * A heap: its graph and names, which come from the agent (heap_wire) or from a dump (hprof_read).
 */
#ifndef JTOOL_MODEL_HEAP_HEAP_H
#define JTOOL_MODEL_HEAP_HEAP_H

#include "base/buf.h"
#include "base/id_map.h"
#include "model/graph/graph.h"

struct heap_field {
	char *name;     /* NULL: unknown */
	uint32_t class; /* number of the class that declares the field */
};

struct heap_class {
	char *name;   /* Java source form: "a.b.C$D", "int[][]" */
	char *loader; /* as class_origins_loader() returns it: "bootstrap", "app", … */
	char *module; /* NULL: none or unknown */
	bool permanent; /* the JVM never unloads the class */
	bool has_fields;    /* `fields` and `statics` are filled in */
	/*
	 * `fields` is indexed by graph_edge.index of FIELD edges, `statics` by that of STATIC edges
	 */
	struct heap_field *fields, *statics;
	uint32_t n_fields, n_statics;
};

struct heap_thread {
	uint64_t id;
	char *name;
};

struct heap_method {
	char *class, *name; /* "a.b.C" and "run"; NULL: unknown */
};

struct heap {
	struct heap_class *classes;
	size_t n_classes, cap_classes;
	struct heap_thread *threads;
	size_t n_threads, cap_threads;
	struct id_map thread_ids; /* maps heap_thread.id to the index in `threads` */
	struct heap_method *methods; /* method number - 1 is the index; method numbers begin at 1 */
	size_t n_methods, cap_methods;
	struct graph *graph;
};

void heap_release(struct heap *h);

/* Returns the name of a class, or "?" if the class number is invalid. */
const char *heap_class_name(const struct heap *h, uint32_t class);
/* Returns the label of the loader of a class; NULL if the loader or the class is unknown. */
const char *heap_class_loader(const struct heap *h, uint32_t class);
/*
 * Returns the class name of a node; for a java.lang.Class, the name of the class that it
 * represents.
 */
const char *heap_node_class(const struct heap *h, uint32_t node);

/*
 * Appends a text that says how `node` refers to edge->to: "field NAME", "static NAME", "[INDEX]",
 * "field referent (soft)", "class loader", "superclass", "constant pool", "class"…  The text is the
 * value of "via" in the JSON of `jtool refpaths` and `jtool retained`.  NAME is "#INDEX" if the
 * field names of the class are unknown, see heap_via_class().
 */
void heap_via(const struct heap *h, uint32_t node, const struct graph_edge *edge, struct buf *text);

/*
 * Returns the class whose field names heap_via() needs for the edge; GRAPH_NONE if the edge is not
 * a field of an object or class.
 */
uint32_t heap_via_class(const struct heap *h, uint32_t node, const struct graph_edge *edge);
const char *heap_strength(uint32_t strength); /* returns "soft", "weak", … */

/* Adds a thread; takes ownership of the name, which may be NULL (unknown). */
void heap_add_thread(struct heap *h, uint64_t id, char *name);
const char *heap_thread_name(const struct heap *h, uint64_t id); /* returns NULL if unknown */
const struct heap_method *heap_method(const struct heap *h, uint32_t method);
/*
 * Returns the name of a root kind in the JSON of `jtool refpaths`: "jni global", "stack local", …
 */
const char *heap_root_kind(enum heap_stream_root kind);

#endif
