/*
 * The layout of all classes, read with JVMTI before a snapshot, and used in the child.
 *
 * HotSpot's jfieldID of an instance field is its offset in the object, shifted by two bits; that
 * of a static field points to a JNIid, which has the offset in the java.lang.Class
 * (jfieldIDWorkaround.hpp, jniHandles of JDK 8 to 27).  Nothing in the JVM depends on that: ids are
 * decoded in the child only, and the child compares what it reads at these offsets with the
 * references that HotSpot reports.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_LAYOUT_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_LAYOUT_H

#include "jvm/classes.h"
#include "jvm/dump/hprof_put.h"

struct ag_dump_field {
	jfieldID id;
	uint32_t name; /* symbol */
	uint8_t type;  /* enum ag_hprof_type */
	bool is_static;
};

enum ag_dump_kind {
	AG_DUMP_UNKNOWN,    /* not linked: it has no fields that JVMTI reports */
	AG_DUMP_INSTANCE,
	AG_DUMP_CLASS,      /* java.lang.Class */
	AG_DUMP_STACK,      /* stack frames of virtual threads, which are no fields */
	AG_DUMP_OBJECTS,    /* an array of references */
	AG_DUMP_PRIMITIVES, /* an array of `element` */
};

/* A value of an instance. */
struct ag_dump_value {
	uint32_t offset;
	uint8_t type; /* enum ag_hprof_type */
};

struct ag_dump_class {
	uint32_t name;     /* symbol */
	uint32_t first, n; /* fields that the class itself declares */
	uint32_t loader;   /* of an array: its number in `loaders` */
	jclass super_ref;  /* a local reference; NULL: an interface, or java.lang.Object */
	uint8_t kind;      /* enum ag_dump_kind */
	bool is_object;    /* java.lang.Object */
	bool is_virtual_thread; /* HotSpot must not visit some of these, see graph/vthreads.h */
	uint8_t element;   /* enum ag_hprof_type */
	/* Of the child: */
	bool is_dumped;    /* its CLASS_DUMP is written */
	bool is_proven;    /* HotSpot visits an object of it */
	bool has_values;
	uint32_t super;    /* number; AG_DUMP_NONE */
	uint32_t data_len; /* bytes of an instance in the dump */
	uint32_t n_values;
	struct ag_dump_value *values; /* of the class and its superclasses */
	uint64_t address;  /* of the java.lang.Class */
};
#define AG_DUMP_NONE UINT32_MAX

struct ag_dump_layout {
	struct ag_dump_class *classes; /* in the order of the list of classes */
	uint32_t n;
	struct ag_dump_field *fields;
	uint32_t n_fields, cap_fields;
	struct ag_ids loaders; /* of arrays */
	uint32_t class_loader; /* index of the field Class.classLoader */
	struct ag_hash_map symbols;
};

/* Links what can be.  Call it before the classes are listed, because it may load some. */
int ag_dump_link(struct ag_jvm *jvm);

/*
 * Reads the classes and writes their names.  -1: the error is recorded, or the channel is broken.
 * Release the layout in any case.
 */
int ag_dump_layout_read(struct ag_jvm *jvm, struct ag_hprof *out, const struct ag_classes *list,
			struct ag_dump_layout *layout);
void ag_dump_layout_release(struct ag_jvm *jvm, struct ag_dump_layout *layout);

/* Returns the number of a text, which is written if it is new; 0 with the error recorded. */
uint32_t ag_dump_symbol(struct ag_jvm *jvm, struct ag_hprof *out, struct ag_dump_layout *layout,
			const char *text);

#endif
