/*
 * The frame: what both halves of jtool say to each other over the back-channel.
 *
 * A frame is an 8-byte header and a payload, all numbers big-endian:
 *
 *     u32 payload length | u8 WIRE_VERSION | u8 0 | u16 type
 *
 * A peer that gets another version, a type it does not know, a longer payload than
 * WIRE_PAYLOAD_MAX, or a payload that ends too early ends the session.  The agent is placed by
 * the very client that it talks to, so both speak one version; the byte guards against an agent
 * that an older jtool left loaded.
 *
 * libc only; linked into the agent and into jtool.
 */
#ifndef JTOOL_WIRE_FRAME_H
#define JTOOL_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 1
#define WIRE_HEADER_LEN 8
#define WIRE_PAYLOAD_MAX (1024u * 1024)
#define WIRE_TOKEN_LEN 32 /* hexadecimal digits */

enum wire_type {
#define WIRE(name, number) WIRE_##name = number,
#include "wire/types.def"
#undef WIRE
};

/*
 * What Agent_OnAttach returns when no session came about; the attach protocol carries it.  Far
 * from 100 to 102, which java.lang.instrument returns, and never used again for something else.
 */
enum wire_refused {
	WIRE_REFUSED_OPTIONS = 11, /* the options are not "PATH,TOKEN" */
	WIRE_REFUSED_MEMORY = 12,  /* no memory */
	WIRE_REFUSED_JVM = 13,     /* no JVMTI environment */
	WIRE_REFUSED_CONNECT = 14, /* the client's socket could not be connected to */
	WIRE_REFUSED_PEER = 15,    /* who listens there is another user */
	WIRE_REFUSED_THREAD = 16,  /* no thread could be started */
};

/* HISTO flags */
#define WIRE_HISTO_LIVE 1u    /* a full collection first */
#define WIRE_HISTO_STRICT 2u  /* the JVMTI specification only: no calibrated klass words */
#define WIRE_HISTO_MODULES 4u /* tell each class's module */

/* How the heap was walked */
#define WIRE_WALK_TAGS 1u  /* class objects tagged, counted by class tag */
#define WIRE_WALK_KLASS 2u /* counted by calibrated klass word */
#define WIRE_WALK_CLASS 3u /* only instances of one class, by JVMTI's klass filter */

/* CLASSES flags */
#define WIRE_CLASSES_SOURCES 1u /* tell each class's code source */

/* What the signature does not tell of a class */
#define WIRE_CLASS_INTERFACE 1u
#define WIRE_CLASS_ARRAY 2u
#define WIRE_CLASS_ENUM 4u       /* extends java.lang.Enum directly */
#define WIRE_CLASS_RECORD 8u     /* extends java.lang.Record directly */
#define WIRE_CLASS_LINKED 16u
#define WIRE_CLASS_PATCHED 32u   /* by a patch of this agent's */

/* CAPTURE flags: MEMORY is told of those methods whose code differs from the class file's … */
#define WIRE_CAPTURE_MEMORY 1u /* … of every method with code */

/* What became of a capture; all but the first come without a class file */
enum wire_captured {
	WIRE_CAPTURED_FILE = 0,
	WIRE_CAPTURED_ARRAY = 1,
	WIRE_CAPTURED_HIDDEN = 2,      /* or another that the JVM does not let be changed */
	WIRE_CAPTURED_ANONYMOUS = 3,   /* VM-anonymous, JDK 8: never touched */
	WIRE_CAPTURED_REAL = 4,        /* the JVM went on: it was really retransformed */
	WIRE_CAPTURED_ERROR = 5,       /* the JVMTI error says why */
	WIRE_CAPTURED_NOT_ASKED = 6,   /* left alone, after one that was REAL */
};

/* GRAPH flags */
#define WIRE_GRAPH_TEXTS 1u /* tell the first characters of long Strings */

/* How a walk along the references ended; only the first tells all of the heap. */
enum wire_graphed {
	WIRE_GRAPHED_WHOLE = 0,
	WIRE_GRAPHED_LATE = 1,     /* the JVM stood still for as long as it may */
	WIRE_GRAPHED_FULL = 2,     /* the tape is as long as it may be */
	WIRE_GRAPHED_SLOW = 3,     /* the client did not take it fast enough */
	WIRE_GRAPHED_UNKNOWN = 4,  /* this JVM does not show where objects are: the tape is void */
};

/* FRAMES: so many of a stack at most, and lines that are none. */
#define WIRE_STACK_DEPTH 64u
#define WIRE_LINE_UNKNOWN (-1)
#define WIRE_LINE_NATIVE (-2)

/* TRACE flags */
#define WIRE_TRACE_VALUES 1u /* arguments, results, messages of exceptions */
#define WIRE_TRACE_STACKS 2u /* where each call came from */
#define WIRE_TRACE_SUMMED 4u /* no calls but sums of them, by method; neither of the former */

/* No more methods than that in one TRACE, and frames of a stack. */
#define WIRE_TRACE_METHODS_MAX 20000u
#define WIRE_TRACE_DEPTH WIRE_STACK_DEPTH

/* Why a trace ended. */
enum wire_trace_end {
	WIRE_TRACED_ASKED = 0, /* TRACE_STOP */
	WIRE_TRACED_TIME = 1,
	WIRE_TRACED_COUNT = 2,
	WIRE_TRACED_COST = 3,  /* the hooks took more time than they may */
	WIRE_TRACED_NOTHING = 4, /* no method could be hooked */
};

/* ALLOC flags */
#define WIRE_ALLOC_EXACT 1u    /* every object is counted, by instrumentation; else samples */
#define WIRE_ALLOC_LIVE 2u     /* what is reachable at the end, after a full collection */
#define WIRE_ALLOC_RECORDED 4u /* what is being recorded since the JVM's start, as it is now */

#define WIRE_ALLOC_DEPTH WIRE_STACK_DEPTH
#define WIRE_ALLOC_MEMORY_MAX ((uint64_t)4 << 30)
#define WIRE_ALLOC_GLOBS_MAX 100u
#define WIRE_ALLOC_INTERVAL 524288u /* bytes between two samples, unless said otherwise */

enum wire_alloc_end {
	WIRE_ALLOCED_ASKED = 0, /* ALLOC_STOP */
	WIRE_ALLOCED_TIME = 1,
	WIRE_ALLOCED_ON = 2,    /* a recording: it goes on */
	WIRE_ALLOCED_NOTHING = 3, /* WIRE_ALLOC_RECORDED, and nothing is: no other frame came */
};

/* What is to be known about the figures. */
enum wire_alloc_note {
	/*
	 * A method that began before its class counted, and runs still: arrays that it makes
	 * itself were not seen.  Text: as Java writes it; threads that are in it.
	 */
	WIRE_ALLOC_OLD_CODE = 1,
	WIRE_ALLOC_REFUSED = 2, /* classes that were left as they are.  Text: why; how many */
	WIRE_ALLOC_FULL = 3,    /* samples, or objects, that there was no room for */
	WIRE_ALLOC_NOT_LIVE = 4, /* what is live could not be told.  Text: why */
};

/* A piece of BYTES is at most so long. */
#define WIRE_PIECE 65536u

struct wire_header {
	uint32_t len; /* of the payload */
	uint8_t version;
	uint16_t type;
};

void wire_header_write(uint8_t out[WIRE_HEADER_LEN], uint16_t type, uint32_t len);
/* False when it is no header of this version or the payload would be too long. */
bool wire_header_read(const uint8_t in[WIRE_HEADER_LEN], struct wire_header *header);

/* The name of a type for messages; "unknown frame" for a number that is none. */
const char *wire_type_name(uint16_t type);

#endif
