/* A class as JVMTI describes it, without its class file (CLASS frames in wire/frames.def). */
#ifndef JTOOL_MODEL_CLASS_CLASS_INFO_H
#define JTOOL_MODEL_CLASS_CLASS_INFO_H

#include "model/class/class_origins.h"

struct class_super {
	char *name;      /* Java source form */
	uint32_t loader; /* id in class_origins of the loader of class `name` */
};

struct class_supers {
	struct class_super *list;
	size_t n, cap;
};

/*
 * A field or method, with texts as in the class file.  `generic` is "" if there is no generic
 * signature.
 */
struct class_member {
	uint32_t modifiers;
	char *name, *descriptor, *generic;
};

struct class_members {
	struct class_member *list;
	size_t n, cap;
};

/* The details of a class.  If the class is not linked, interfaces and members are missing. */
struct class_info {
	struct class_supers supers; /* the superclass first, then its superclass, … */
	struct class_supers interfaces;
	struct class_members fields;
	struct class_members methods; /* sorted by name, then descriptor */
	uint32_t major, minor; /* version of the class file; both 0: unknown */
	uint32_t constants;    /* size of the constant pool in memory; 0: unknown */
	char *file;            /* name of the source file, or "" */
};

void class_info_release(struct class_info *c);

/*
 * Reads one frame.  Returns 0 if more frames follow, 1 for the last one, -EBADMSG if the frame is
 * inconsistent.  `origins` has the loaders of the class list; new loaders are added to it.
 */
int class_info_take(struct class_info *c, struct class_origins *origins, uint16_t type,
		    struct wire_reader *payload) _must_check_;

#endif
