/*
 * The heap stream: the objects and references of a heap as a sequence of records.  The agent writes
 * it while the JVM is paused, src/model/hprof writes it from a heap dump, and src/model/graph reads
 * it.
 *
 * A record begins with a number, which usually takes two or three bytes.  The low
 * HEAP_STREAM_KIND_BITS bits of the number are the kind of the record.  The other bits are the
 * distance from an earlier address to the address in this record.  All numbers are LEB128; signed
 * numbers, such as the distance, are zigzag-encoded (0, -1, 1, -2 … as 0, 1, 2, 3 …).  Addresses
 * are in words of 8 bytes, because HotSpot aligns objects to 8 bytes.  An address identifies an
 * object only during the pause, and is never dereferenced.
 *
 * An OBJECT or MIRROR record introduces an object; no object is introduced twice.  The records from
 * there to the next OBJECT or MIRROR are the references of this object, but ROOT, OWN and TEXT
 * records may be among them.  An object without references is never introduced.  In a complete
 * walk, this can only be a java.lang.Class, because every other object has a reference: to its
 * class.  The size of an object is in the records of the references to the object, or in a SIZE
 * record.
 *
 * Uses libc only; linked into the agent and the client.
 */
#ifndef JTOOL_AGENT_WIRE_HEAP_STREAM_H
#define JTOOL_AGENT_WIRE_HEAP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_STREAM_KIND_BITS 4
#define HEAP_STREAM_RECORD_MAX 96 /* maximum bytes of a record, not counting its text */
#define HEAP_STREAM_TEXT_MAX 256  /* maximum bytes of a text */
#define HEAP_STREAM_WORD 8
#define HEAP_STREAM_ADDRESS_MAX (UINT64_C(1) << 57) /* user-space addresses are lower */

/*
 * The comment of each kind says what the record means and, after the colon, what the record
 * contains besides the distance.  "size" is the size of the object at the address in the record.
 *
 * In a CLASS, ROOT or OWN record, the distance is counted from the address in the previous record
 * of the same kind.  In all other records it is counted from the address of the current object:
 * the object that the last OBJECT or MIRROR record has introduced.
 */
enum heap_stream_kind {
	HEAP_STREAM_CLASS,    /* the address of a java.lang.Class: number of the class */
	HEAP_STREAM_OBJECT,   /* introduces an object: number of its class */
	HEAP_STREAM_MIRROR,   /* introduces a java.lang.Class */
	HEAP_STREAM_FIELD,    /* a reference from an instance field: field index, size */
	HEAP_STREAM_STATIC,   /* a reference from a static field of a MIRROR: field index, size */
	HEAP_STREAM_ELEMENT,  /* a reference from an array: index minus state.element, size */
	HEAP_STREAM_REFERENT, /* the reference Reference.referent: heap_stream_strength, size */
	HEAP_STREAM_LINK,     /* another reference from a class: heap_stream_link, size */
	HEAP_STREAM_ROOT,     /* a GC root: root, thread, depth, method, size */
	HEAP_STREAM_SIZE,     /* the size of the current object (distance 0): size */
	HEAP_STREAM_OWN,      /* an object that the agent created */
	HEAP_STREAM_TEXT,     /* the start of a string or array: form, length, bytes */
	HEAP_STREAM_KINDS,
};

/* References from a class object that are not static fields. */
enum heap_stream_link {
	HEAP_STREAM_SUPERCLASS,
	HEAP_STREAM_INTERFACE,
	HEAP_STREAM_LOADER,
	HEAP_STREAM_DOMAIN, /* the protection domain */
	HEAP_STREAM_SIGNERS,
	HEAP_STREAM_CONSTANT, /* a resolved constant in the constant pool of the class */
	HEAP_STREAM_LINKS,
};

enum heap_stream_strength {
	HEAP_STREAM_SOFT,
	HEAP_STREAM_WEAK,
	HEAP_STREAM_FINAL,
	HEAP_STREAM_PHANTOM,
	HEAP_STREAM_STRENGTHS,
};

/* Kinds of GC roots.  In parentheses: members of struct heap_stream_record that this kind sets. */
enum heap_stream_root {
	HEAP_STREAM_ROOT_CLASS, /* a class of the bootstrap loader */
	HEAP_STREAM_ROOT_JNI_GLOBAL,
	HEAP_STREAM_ROOT_JNI_LOCAL, /* a local reference of JNI code (thread, depth, method) */
	HEAP_STREAM_ROOT_STACK,     /* a local variable of a frame (thread, depth, method) */
	HEAP_STREAM_ROOT_THREAD,    /* the java.lang.Thread of a live thread (thread) */
	HEAP_STREAM_ROOT_MONITOR,   /* a thread has locked the object's monitor or waits for it */
	HEAP_STREAM_ROOT_VM,        /* the JVM itself refers to the object */
	HEAP_STREAM_ROOTS,
};

enum heap_stream_form {
	HEAP_STREAM_UTF16, /* big-endian UTF-16 of a String, or of a char[] in a heap dump */
	HEAP_STREAM_BYTES, /* the bytes of a byte[]; Latin-1 if the array belongs to a String */
	HEAP_STREAM_FORMS,
};

/* A decoded record.  Members that records of its kind do not have are 0. */
struct heap_stream_record {
	enum heap_stream_kind kind;
	uint64_t address;  /* in bytes; in the record of a reference: the address of the target */
	uint32_t class;    /* class number */
	/* index of the field or element; or a heap_stream_strength or heap_stream_link */
	uint32_t index;
	uint64_t size;     /* size in bytes of the object at `address`; 0: not in this record */
	uint32_t length;   /* length of the array, if is_array */
	bool is_array;     /* the object to which `size` belongs is an array */
	enum heap_stream_root root;
	uint64_t thread;   /* id of the thread, as in GRAPH_THREADS */
	uint32_t depth;    /* position of the stack frame; 0 is the innermost */
	uint32_t method;   /* number of the frame's method, from 1 on; 0: unknown */
	enum heap_stream_form form;
	const uint8_t *text;
	uint32_t text_len;
};

/*
 * State of an encoder or decoder: the addresses from which distances are counted, and the last
 * element index.  All members are 0 at the start of a stream.
 */
struct heap_stream_state {
	/* in words: the last address in a CLASS, an OBJECT or MIRROR, a ROOT, and an OWN record */
	uint64_t class, object, root, own;
	uint32_t element; /* 1 + index of the current object's last ELEMENT; 0: none */
};

/*
 * Writes a record at `to`, which has room for HEAP_STREAM_RECORD_MAX bytes and the record's text.
 * Returns the record's end.  The caller ensures that
 * - the address is a multiple of HEAP_STREAM_WORD, and less than HEAP_STREAM_ADDRESS_MAX;
 * - the element indices of an array ascend;
 * - the text has at most HEAP_STREAM_TEXT_MAX bytes.
 */
uint8_t *heap_stream_write(struct heap_stream_state *state, uint8_t *to,
			   const struct heap_stream_record *record);

/*
 * Reads the record at `from`.  Returns the end of the record, or NULL if the record is malformed or
 * truncated.  The stream is not trusted, and this function checks only its encoding, so the caller
 * checks class numbers, indices, sizes and thread ids.
 */
const uint8_t *heap_stream_read(struct heap_stream_state *state, const uint8_t *from,
				const uint8_t *end, struct heap_stream_record *record)
	__attribute__((warn_unused_result));

#endif
