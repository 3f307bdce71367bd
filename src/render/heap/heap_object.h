/* The description of one heap object as text and as JSON. */
#ifndef JTOOL_RENDER_HEAP_HEAP_OBJECT_H
#define JTOOL_RENDER_HEAP_HEAP_OBJECT_H

#include "model/heap/heap.h"
#include "render/json.h"

struct heap_object {
	/*
	 * name of the object's class, or of the class that the object represents if is_class is
	 * true; the heap owns this text and the text of `thread`
	 */
	const char *class;
	bool is_class;      /* the object is the java.lang.Class that represents `class` */
	int64_t length;     /* number of elements; -1: not an array */
	const char *thread; /* name of the thread, if the object is a live thread; else NULL */
	bool has_text;      /* the object is a String whose first characters are known */
	struct buf text;    /* the first characters of the String, as UTF-8 */
};

void heap_object_init(struct heap_object *o, const struct heap *h, uint32_t node);
void heap_object_release(struct heap_object *o);

/*
 * Appends a description: "a.b.C", "class a.b.C" for a class object, "byte[512]", "int[3][]",
 * "java.lang.Thread "main"", or "java.lang.String "its first characters …"".  The text is
 * untrusted: print it with printable_add().
 */
void heap_object_add(const struct heap_object *o, struct buf *out);

/* Adds the members "class", "class_object", "length", "thread" and "text" to a JSON object. */
void heap_object_put(const struct heap_object *o, struct json *json);

#endif
