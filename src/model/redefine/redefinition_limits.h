/*
 * What the parts of redefinition.c share: the two classes, and the limits found to be broken.
 *
 * The rules are those of HotSpot's VM_RedefineClasses (prims/jvmtiRedefineClasses.cpp), read for
 * JDK 8, 11, 17, 21, 25 and 27; each function here is named with the one it follows.
 */
#ifndef JTOOL_MODEL_REDEFINITION_LIMITS_H
#define JTOOL_MODEL_REDEFINITION_LIMITS_H

#include "model/classattr.h"
#include "model/redefinition.h"

/* JVMTI's errors (jvmti.h), as far as a redefinition ends with them. */
enum limit {
	LIMIT_NONE = 0,
	LIMIT_INVALID_FORMAT = 60,
	LIMIT_FAILS_VERIFICATION = 62,
	LIMIT_METHOD_ADDED = 63,
	LIMIT_SCHEMA_CHANGED = 64,
	LIMIT_HIERARCHY_CHANGED = 66,
	LIMIT_METHOD_DELETED = 67,
	LIMIT_UNSUPPORTED_VERSION = 68,
	LIMIT_NAMES_DONT_MATCH = 69,
	LIMIT_CLASS_MODIFIERS_CHANGED = 70,
	LIMIT_METHOD_MODIFIERS_CHANGED = 71,
	LIMIT_CLASS_ATTRIBUTE_CHANGED = 72,
	LIMIT_OUT_OF_MEMORY = 110,
	LIMIT_INTERNAL = 113,
};

struct limits {
	const struct cf_class *running, *new;
	const struct redefinition_jvm *jvm;
	struct buf *why;
	struct buf line;  /* the one that is being written; what is in it is not safe to show yet */
	enum limit first; /* that is broken */
	size_t n_told;    /* lines since limits_begin() */
};

/* A kind of differences begins; of each, no more than a screen can bear is told. */
void limits_begin(struct limits *l);
/* The line is written: this limit is broken. */
void limits_say(struct limits *l, enum limit limit);
/* Whatever is said from now on will only be counted. */
bool limits_are_full(const struct limits *l);
/* The kind of differences ends; what is the plural of what differs. */
void limits_end(struct limits *l, const char *what);

/* "is no longer public and is now private": bits of a member, or of the class. */
enum limits_flags { FLAGS_CLASS, FLAGS_FIELD, FLAGS_METHOD };
void limits_add_flags(struct buf *line, enum limits_flags of, unsigned before, unsigned now);
/* A Synthetic attribute (JVMS 4.7.8) means the flag. */
unsigned limits_synthetic(struct cf_attributes attributes);

/* compare_and_normalize_class_versions(): of fields, and of methods */
void limits_fields(struct limits *l);
void limits_methods(struct limits *l);
/* of superclass and interfaces */
void limits_hierarchy(struct limits *l);
/* check_record_attribute() */
void limits_record(struct limits *l);
/* check_nest_attributes(), check_permitted_subclasses_attribute() */
void limits_nest(struct limits *l);
void limits_permitted(struct limits *l);
/* merge_cp_and_rewrite() */
void limits_pool(struct limits *l);

/* What to compile the new class for, to get one like the running one. */
unsigned limits_release(const struct limits *l);

/*
 * An attribute of the class that the JVM minds from this release of the JDK on, and of class
 * files of that one's version on; else there is none.
 */
struct classattr limits_attribute(const struct limits *l, const struct cf_class *class,
				  const char *name, unsigned release);

#endif
