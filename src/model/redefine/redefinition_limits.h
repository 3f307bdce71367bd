/*
 * The state that all redefinition checks share: the running class, the new class, and the limits of
 * the JVM that the redefinition breaks.
 *
 * The checks follow VM_RedefineClasses (prims/jvmtiRedefineClasses.cpp) of JDK 8, 11, 17, 21, 25
 * and 27; each function names the HotSpot function that it follows.
 */
#ifndef JTOOL_MODEL_REDEFINE_REDEFINITION_LIMITS_H
#define JTOOL_MODEL_REDEFINE_REDEFINITION_LIMITS_H

#include "model/class/class_attributes.h"
#include "model/redefine/redefinition.h"

/* The limits, each with the number of the JVMTI error (jvmti.h) that the JVM returns for it. */
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
	struct buf line;  /* the line that is being written; may contain control characters */
	enum limit first; /* the broken limit that was reported first */
	size_t n_reported; /* number of reported lines of the current group, shown or not */
};

/* Begins a group of lines.  Of each group, only a limited number of lines is shown. */
void limits_begin(struct limits *l);
/* Ends the current line, which reports that `limit` is broken. */
void limits_report(struct limits *l, enum limit limit);
/* Returns true if the group has so many lines that further lines are counted, but not shown. */
bool limits_are_full(const struct limits *l);
/* Ends the group.  If N lines of the group were not shown, adds the line "and N more WHAT". */
void limits_end(struct limits *l, const char *what);

enum limits_flags { FLAGS_CLASS, FLAGS_FIELD, FLAGS_METHOD };
/* Appends how the flags `before` and `now` differ: "is no longer public and is now private". */
void limits_add_flags(struct buf *line, enum limits_flags of, unsigned before, unsigned now);
/* Returns ACC_SYNTHETIC if `attributes` contains an attribute Synthetic (JVMS 4.7.8), else 0. */
unsigned limits_synthetic(struct cf_attributes attributes);

/* Check the fields and the methods, as compare_and_normalize_class_versions() does. */
void limits_fields(struct limits *l);
void limits_methods(struct limits *l);
/* Checks the superclass and the interfaces, as compare_and_normalize_class_versions() does. */
void limits_hierarchy(struct limits *l);
/* Checks record components, as check_record_attribute() does. */
void limits_record(struct limits *l);
/*
 * Check nests and permitted subclasses, as check_nest_attributes() and
 * check_permitted_subclasses_attribute() do.
 */
void limits_nest(struct limits *l);
void limits_permitted(struct limits *l);
/* Checks the size of the merged constant pool, as merge_cp_and_rewrite() does. */
void limits_pool(struct limits *l);

/*
 * Returns the value of javac's --release that yields class files of the running class's version; at
 * least 8.
 */
unsigned limits_release(const struct limits *l);

/*
 * Opens the class attribute `name`, which JDK `release` introduced.  Returns an iteration over its
 * entries.  The iteration has no entries if the JVM or the class file is for an older JDK, because
 * the JVM then ignores the attribute.
 */
struct class_attribute limits_attribute(const struct limits *l, const struct cf_class *class,
					const char *name, unsigned release);

#endif
