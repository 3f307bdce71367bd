/*
 * The tape: a heap's objects and references in one string of bytes, in the order in which they
 * are met.  The agent writes it while the JVM stands still, jtool's HPROF reader writes the same
 * from a dump, and src/model/graph reads it.
 *
 * A record begins with a number whose low TAPE_KIND_BITS are its kind and whose rest is a
 * distance between two addresses: neighbours are near each other, and most distances take two or
 * three bytes.  All numbers are LEB128, signed ones folded (0, -1, 1, -2 … as 0, 1, 2, 3 …).
 * Addresses count in words of 8 bytes, as every HotSpot aligns its objects.  Nothing here is an
 * address to follow: it is what an object is called, as long as the JVM stands still.
 *
 * An object is told of once, by OBJECT or MIRROR, and what refers to others follows it, up to the
 * next one; ROOT, OWN and TEXT may stand between.  An object that never comes refers to nothing;
 * in a whole walk it is a java.lang.Class, for every other object has a reference to its class.
 * Its size is told with references to it, or with SIZE.
 *
 * libc only; linked into the agent and into jtool.
 */
#ifndef JTOOL_WIRE_TAPE_H
#define JTOOL_WIRE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAPE_KIND_BITS 4
#define TAPE_RECORD_MAX 96  /* bytes that a record takes at most, without its text */
#define TAPE_TEXT_MAX 256   /* bytes of text */
#define TAPE_WORD 8
#define TAPE_ADDRESS_MAX (UINT64_C(1) << 57) /* beyond are no addresses of a process */

/* "from": which object's address the distance counts from. */
enum tape_kind {
	TAPE_CLASS,    /* from the CLASS before: the java.lang.Class of that class */
	TAPE_OBJECT,   /* from the object before; class: of this number */
	TAPE_MIRROR,   /* from the object before: a java.lang.Class */
	TAPE_FIELD,    /* from the object told of, to what its field holds: index of it, size */
	TAPE_STATIC,   /* the same of a MIRROR's static field */
	TAPE_ELEMENT,  /* the same of an array; written: the distance from the index before */
	TAPE_REFERENT, /* the same of a java.lang.ref.Reference; index: enum tape_strength */
	TAPE_LINK,     /* the same of a class; index: enum tape_link */
	TAPE_ROOT,     /* from the ROOT before; root, thread, depth, method, size */
	TAPE_SIZE,     /* of the object told of: size; its distance is 0 */
	TAPE_OWN,      /* from the OWN before: an object that jtool itself brought */
	TAPE_TEXT,     /* from the object told of; form, length, bytes */
	TAPE_KINDS,
};

/* How a class object holds what is not a static field. */
enum tape_link {
	TAPE_SUPERCLASS,
	TAPE_INTERFACE,
	TAPE_LOADER,
	TAPE_DOMAIN, /* protection domain */
	TAPE_SIGNERS,
	TAPE_CONSTANT, /* resolved in its constant pool */
	TAPE_LINKS,
};

enum tape_strength {
	TAPE_SOFT,
	TAPE_WEAK,
	TAPE_FINAL,
	TAPE_PHANTOM,
	TAPE_STRENGTHS,
};

enum tape_root {
	TAPE_ROOT_CLASS,      /* a class of the bootstrap loader */
	TAPE_ROOT_JNI_GLOBAL,
	TAPE_ROOT_JNI_LOCAL,  /* thread, depth, method: where it was made */
	TAPE_ROOT_STACK,      /* a local variable: thread, depth, method */
	TAPE_ROOT_THREAD,     /* the thread object of one that lives; thread */
	TAPE_ROOT_MONITOR,    /* it is locked, or waited for */
	TAPE_ROOT_VM,         /* the JVM's own */
	TAPE_ROOTS,
};

enum tape_form {
	TAPE_UTF16, /* of this String: units of two bytes, high byte first */
	TAPE_BYTES, /* of this array: what a String of Latin-1 characters would have in it */
	TAPE_FORMS,
};

/* What a record says; what its kind does not have is 0. */
struct tape_record {
	enum tape_kind kind;
	uint64_t address;  /* of the object that is told of or referred to, in bytes */
	uint32_t class;    /* number */
	uint32_t index;
	uint64_t size;     /* bytes; 0: it is told elsewhere */
	uint32_t length;   /* of an array, with its size */
	bool is_array;     /* size and length are an array's */
	enum tape_root root;
	uint64_t thread;   /* its java.lang.Thread's identifier */
	uint32_t depth;    /* of the frame, 0: the innermost */
	uint32_t method;   /* number, 0: not known */
	enum tape_form form;
	const uint8_t *text;
	uint32_t text_len;
};

/* What distances count from: the same on both sides of a tape; all zero at its start. */
struct tape_place {
	uint64_t class, object, root, own; /* addresses in words */
	uint32_t element;                  /* index behind the last one's */
};

/*
 * Write one record behind `to`, where there is room for TAPE_RECORD_MAX bytes and its text:
 * returns its end.  The address is a multiple of TAPE_WORD below TAPE_ADDRESS_MAX, indices of
 * one array's elements ascend, and a text is no longer than TAPE_TEXT_MAX.
 */
uint8_t *tape_write(struct tape_place *place, uint8_t *to, const struct tape_record *record);

/*
 * Read the record at `from`: returns its end; NULL when it makes no sense or is cut off.  The
 * tape is hostile: classes, indices, sizes and threads are whatever it says.
 */
const uint8_t *tape_read(struct tape_place *place, const uint8_t *from, const uint8_t *end,
			 struct tape_record *record) __attribute__((warn_unused_result));

#endif
