/* A class as JVMTI describes it, without its class file (CLASS frames in wire/frames.def). */
#ifndef JTOOL_MODEL_CLASS_CLASS_INFO_H
#define JTOOL_MODEL_CLASS_CLASS_INFO_H

#include "model/class/class_origins.h"

struct class_super {
	char *name;      /* Java source form */
	uint32_t loader; /* id in class_origins */
};

struct class_supers {
	struct class_super *list;
	size_t n, cap;
};

/* Texts are as in the class file; `generic` is "" if there is no generic signature. */
struct class_member {
	uint32_t modifiers;
	char *name, *descriptor, *generic;
};

struct class_members {
	struct class_member *list;
	size_t n, cap;
};

/* Interfaces and members are missing if the class is not linked. */
struct class_info {
	struct class_supers supers; /* the superclass, its superclass, … */
	struct class_supers interfaces;
	struct class_members fields;
	struct class_members methods; /* sorted by name, then descriptor */
	uint32_t major, minor; /* 0, 0: unknown */
	uint32_t constants;    /* size of the constant pool in memory; 0: unknown */
	char *file;            /* name of the source file, or "" */
};

void class_info_release(struct class_info *c);

/*
 * Reads one frame.  Returns 0 if more follow, 1 after the last one, -EBADMSG if inconsistent.
 * `origins` has the loaders of the class list, and receives new ones.
 */
int class_info_take(struct class_info *c, struct class_origins *origins, uint16_t type,
		    struct wire_reader *payload) _must_check_;

#endif
