/*
 * The loaded classes of a JVM, from the agent's frames (CLASSES in wire/types.def).
 */
#ifndef JTOOL_MODEL_CLASSES_H
#define JTOOL_MODEL_CLASSES_H

#include "model/places.h"

struct class_row {
	char *name;      /* Java source form: "a.b.C$D", "int[][]" */
	char *signature; /* as the JVM has it */
	uint32_t number; /* in the agent's roster */
	uint32_t loader, module, source; /* in places */
	uint32_t modifiers, traits;      /* CF_ACC_*, WIRE_CLASS_* */
};

struct classes {
	struct class_row *rows;
	size_t n, cap;
	struct places places;
};

void classes_release(struct classes *c);

/* Take one frame: 0 when more come, 1 when it was the last one, -EBADMSG when it makes no sense. */
int classes_take(struct classes *c, uint16_t type, struct wire_reader *payload) _must_check_;

/* By name, then loader. */
void classes_sort(struct classes *c);

/* "class", "interface", "array", "enum", "record", "annotation", "hidden" or "lambda". */
const char *class_kind(const struct class_row *row);
/* "public final", as they stand before a class in Java; "" for none. */
const char *class_modifiers(const struct class_row *row, char *text, size_t size);
bool class_is_interface(const struct class_row *row); /* annotations, too */
bool class_is_array(const struct class_row *row);
bool class_is_linked(const struct class_row *row); /* arrays always are */
bool class_is_patched(const struct class_row *row);

/*
 * Keep those whose name matches one of the words (globs, or the names themselves, also with
 * slashes) and whose loader is meant by `loader`, which may be NULL.  Without words: all.  Those
 * words that nothing matched are marked in `idle`, an array of n_words, and their number is
 * returned; if it is not 0, all classes are kept.
 */
size_t classes_select(struct classes *c, char *const *words, size_t n_words, const char *loader,
		      bool *idle);

#endif
