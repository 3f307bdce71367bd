/*
 * The layout of all classes.  The agent reads it with JVMTI before a snapshot, and the snapshot's
 * child (snapshot/snapshot.h) uses it.
 *
 * In HotSpot the jfieldID of an instance field is the field's offset in the object, shifted left by
 * two bits; the jfieldID of a static field points to a JNIid, which has the field's offset in the
 * java.lang.Class (jfieldIDWorkaround.hpp, jniHandles of JDK 8 to 27).  None of this is specified,
 * so only the child, whose crash would be harmless, relies on it.  The child decodes the jfieldIDs.
 * To check the offsets, it compares the references that it reads there with those that HotSpot
 * reports.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_LAYOUT_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_LAYOUT_H

#include "jvm/classes.h"
#include "jvm/dump/hprof_put.h"

struct ag_dump_field {
	jfieldID id;
	uint32_t name; /* number of the HPROF symbol that is the name */
	uint8_t type;  /* enum ag_hprof_type */
	bool is_static;
};

enum ag_dump_kind {
	AG_DUMP_UNKNOWN,    /* the class is not linked, so JVMTI does not report its fields */
	AG_DUMP_INSTANCE,
	AG_DUMP_CLASS,      /* java.lang.Class */
	AG_DUMP_STACK,      /* a stack chunk of a virtual thread: it has stack frames, not fields */
	AG_DUMP_OBJECTS,    /* an array of references */
	AG_DUMP_PRIMITIVES, /* an array of primitives, of the type `element` */
};

/* The position and type of an instance field, with which the child reads its value. */
struct ag_dump_value {
	uint32_t offset;
	uint8_t type; /* enum ag_hprof_type */
};

struct ag_dump_class {
	uint32_t name;     /* number of the HPROF symbol that is the name */
	/* first: index in `fields` of the first field that the class declares; n: how many */
	uint32_t first, n;
	uint32_t loader;   /* only for an array class: number of its loader in `loaders` */
	jclass super_ref;  /* local reference to the superclass; NULL: an interface, or Object */
	uint8_t kind;      /* enum ag_dump_kind */
	bool is_object;    /* this is java.lang.Object */
	bool is_virtual_thread; /* this is java.lang.VirtualThread, see graph/vthreads.h */
	uint8_t element;   /* only for an array class: enum ag_hprof_type of its elements */
	/* Set in the child only: */
	bool is_dumped;    /* the CLASS_DUMP of this class is written */
	bool is_proven;    /* HotSpot visits an object of this class, which proves the layout */
	bool has_values;   /* ag_dump_prepare() has set the members `values` and data_len */
	uint32_t super;    /* number of the superclass; AG_DUMP_NONE: no superclass */
	uint32_t data_len; /* bytes that the fields of one instance take in the dump */
	uint32_t n_values;
	struct ag_dump_value *values; /* instance fields of the class and of its superclasses */
	uint64_t address;  /* address of the class's java.lang.Class */
	int32_t layout_helper; /* Klass::_layout_helper; only for a count of the objects */
};
#define AG_DUMP_NONE UINT32_MAX

struct ag_dump_layout {
	struct ag_dump_class *classes; /* in the order of the class list */
	uint32_t n;
	struct ag_dump_field *fields;
	uint32_t n_fields, cap_fields;
	struct ag_ids loaders; /* the class loaders of the array classes */
	uint32_t class_loader; /* index in `fields` of the field Class.classLoader */
	struct ag_hash_map symbols; /* the HPROF symbols, see ag_hprof_symbol() */
};

/*
 * Links the unlinked classes of the boot loader, as far as possible, because JVMTI reports the
 * fields of linked classes only.  Call this function before the classes are listed, because linking
 * may load classes.  Returns 0, or -1 with the error recorded.
 */
int ag_dump_link(struct ag_jvm *jvm);

/*
 * Reads the layout of the listed classes, and writes the names of classes and fields to `out`.
 * Returns 0, or -1.  After -1, either the channel is broken or the error is recorded.  Call
 * ag_dump_layout_release() in any case.
 */
int ag_dump_layout_read(struct ag_jvm *jvm, struct ag_hprof *out, const struct ag_classes *list,
			struct ag_dump_layout *layout);
void ag_dump_layout_release(struct ag_jvm *jvm, struct ag_dump_layout *layout);

/*
 * Returns the number of the HPROF symbol `text`; or 0 with the error recorded.  If the dump does
 * not have the symbol yet, writes it to `out`.
 */
uint32_t ag_dump_symbol(struct ag_jvm *jvm, struct ag_hprof *out, struct ag_dump_layout *layout,
			const char *text);

#endif
