/*
 * One class as the JVM tells it without the class file, from the agent's frames (CLASS in
 * wire/types.def).
 */
#ifndef JTOOL_MODEL_CLASSTOLD_H
#define JTOOL_MODEL_CLASSTOLD_H

#include "model/places.h"

struct class_super {
	char *name;      /* Java source form */
	uint32_t loader; /* in places */
};

struct class_supers {
	struct class_super *list;
	size_t n, cap;
};

/* A field or a method; texts as in the class file, `generic` is "" for none. */
struct class_member {
	uint32_t modifiers;
	char *name, *descriptor, *generic;
};

struct class_members {
	struct class_member *list;
	size_t n, cap;
};

/* Of a class that is not linked yet, interfaces and members are not told. */
struct class_told {
	struct class_supers supers; /* the superclass, its superclass, … */
	struct class_supers interfaces;
	struct class_members fields;
	struct class_members methods; /* by name: the JVM has no order that means anything */
	uint32_t major, minor; /* 0, 0: not told */
	uint32_t constants;    /* in memory; 0: not told */
	char *file;            /* the source file's name, "" for none */
};

void class_told_release(struct class_told *c);

/*
 * Take one frame: 0 when more come, 1 when it was the last one, -EBADMSG when it makes no sense.
 * Loaders are those of the list of classes.
 */
int class_told_take(struct class_told *c, struct places *places, uint16_t type,
		    struct wire_reader *payload) _must_check_;

#endif
