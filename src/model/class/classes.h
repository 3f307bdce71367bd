/* The loaded classes of a JVM, from the agent's frames (CLASSES in wire/frames.def). */
#ifndef JTOOL_MODEL_CLASS_CLASSES_H
#define JTOOL_MODEL_CLASS_CLASSES_H

#include "model/class/class_origins.h"

struct class_row {
	char *name;      /* Java source form: "a.b.C$D", "int[][]" */
	char *signature; /* JVM signature: "La/b/C$D;", "[[I" */
	uint32_t number; /* number of the class in the agent's class index */
	uint32_t loader, module, source; /* ids in class_origins */
	uint32_t modifiers, traits;      /* modifiers: CF_ACC_*; traits: WIRE_CLASS_* */
};

struct classes {
	struct class_row *rows;
	size_t n, cap;
	struct class_origins origins;
};

void classes_release(struct classes *c);

/*
 * Reads one frame.  Returns 0 if more frames must follow; 1 if the frame was the last one; or
 * -EBADMSG if the frame is inconsistent.
 */
int classes_take(struct classes *c, uint16_t type, struct wire_reader *payload) _must_check_;

/* Sorts the rows by class name, rows with the same name by loader. */
void classes_sort(struct classes *c);

/*
 * Returns the kind of a class as a word: "class", "interface", "array", "enum", "record",
 * "annotation", "hidden" or "lambda".
 */
const char *class_kind(const struct class_row *row);
/*
 * Writes the modifiers as in Java source, such as "public final"; "" if there are none.  Returns
 * `text`.
 */
const char *class_modifiers(const struct class_row *row, char *text, size_t size);
bool class_is_interface(const struct class_row *row); /* true for interfaces and annotations */
bool class_is_array(const struct class_row *row);
bool class_is_linked(const struct class_row *row); /* true for every array class */
bool class_is_patched(const struct class_row *row);

/*
 * Keeps the classes that match `loader` and at least one of the words, and removes the others.  A
 * word is a class name or a glob, with dots or slashes.  If n_words is 0, every class matches the
 * words; if `loader` is NULL, every class matches `loader`.  Sets unmatched[i] to true if word
 * i matches no class, else to false.  Returns the number of words that match no class; if it is not
 * 0, no class is removed.
 */
size_t classes_select(struct classes *c, char *const *words, size_t n_words, const char *loader,
		      bool *unmatched);

#endif
