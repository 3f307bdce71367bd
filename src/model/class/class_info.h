/* A class as JVMTI reports it, not its class file (CLASS frames in wire/frames.def). */
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
 * A field or method.  The texts have the form that they have in a class file.  `generic` is the
 * generic signature, or "".
 */
struct class_member {
	uint32_t modifiers;
	char *name, *descriptor, *generic;
};

struct class_members {
	struct class_member *list;
	size_t n, cap;
};

/* The details of a class.  If the class is not linked, `interfaces` and the members are empty. */
struct class_info {
	struct class_supers supers; /* the superclass first, then its superclass, … */
	struct class_supers interfaces;
	struct class_members fields;
	struct class_members methods; /* sorted by name, then descriptor */
	uint32_t major, minor; /* version of the class file; both are 0 if unknown */
	uint32_t constants;    /* entries in the class's constant pool in the JVM; 0: unknown */
	char *file;            /* name of the source file, or "" */
};

void class_info_release(struct class_info *c);

/*
 * Reads one frame.  Returns 0 if more frames must follow; 1 if the frame was the last one; or
 * -EBADMSG if the frame is inconsistent.  `origins` has the loaders that are known from the class
 * list; the function adds to it the loaders that are new in this frame.
 */
int class_info_take(struct class_info *c, struct class_origins *origins, uint16_t type,
		    struct wire_reader *payload) _must_check_;

#endif
