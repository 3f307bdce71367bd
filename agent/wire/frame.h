/*
 * The protocol between the client and the agent: frames over a stream socket.
 *
 * A frame is an 8-byte header and a payload.  All numbers are big-endian:
 *
 *     u32 payload length | u8 WIRE_VERSION | u8 0 | u16 type
 *
 * A peer ends the session if it receives another version, an unknown type, a payload longer than
 * WIRE_PAYLOAD_MAX, or a truncated payload.  The version detects an agent that an older jtool left
 * loaded; normally the client loads an agent of its own build.
 *
 * Uses libc only; linked into the agent and the client.
 */
#ifndef JTOOL_AGENT_WIRE_FRAME_H
#define JTOOL_AGENT_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 1
#define WIRE_HEADER_LEN 8
#define WIRE_PAYLOAD_MAX (1024u * 1024)
#define WIRE_TOKEN_LEN 32 /* hexadecimal digits */

enum wire_type {
#define WIRE(name, number) WIRE_##name = number,
#include "wire/frames.def"
#undef WIRE
};

/*
 * What Agent_OnAttach returns if no session starts; the attach protocol sends it to the client.
 * The agent of java.lang.instrument uses 100 to 102.  A number is never reused.
 */
enum wire_refused {
	WIRE_REFUSED_OPTIONS = 11, /* the options are not "PATH,TOKEN" */
	WIRE_REFUSED_MEMORY = 12,  /* out of memory */
	WIRE_REFUSED_JVM = 13,     /* no JVMTI environment */
	WIRE_REFUSED_CONNECT = 14, /* cannot connect to the socket of the client */
	WIRE_REFUSED_PEER = 15,    /* the listening process has another user id */
	WIRE_REFUSED_THREAD = 16,  /* cannot start a thread */
};

/* HISTO flags */
#define WIRE_HISTO_LIVE 1u    /* run a full GC first */
#define WIRE_HISTO_STRICT 2u  /* use specified JVMTI only: no calibrated klass words */
#define WIRE_HISTO_MODULES 4u /* send the module of each class */

/* How the heap walk of HISTO counts, sent in HISTO_END */
#define WIRE_WALK_TAGS 1u  /* by the tags of class objects */
#define WIRE_WALK_KLASS 2u /* by the klass words of the objects, after a calibration */
#define WIRE_WALK_CLASS 3u /* instances of one class only, with the klass filter of JVMTI */

/* CLASSES flags */
#define WIRE_CLASSES_SOURCES 1u /* send the code source of each class */

/* Traits of a class */
#define WIRE_CLASS_INTERFACE 1u
#define WIRE_CLASS_ARRAY 2u
#define WIRE_CLASS_ENUM 4u       /* extends java.lang.Enum directly */
#define WIRE_CLASS_RECORD 8u     /* extends java.lang.Record directly */
#define WIRE_CLASS_LINKED 16u
#define WIRE_CLASS_PATCHED 32u   /* has a patch of this agent */

/* ACTIVITIES flags */
#define WIRE_ACTIVITIES_FORCE 1u /* ask them all to end */

/* CAPTURE flags: by default MEMORY has the methods whose code differs from the class file. */
#define WIRE_CAPTURE_MEMORY 1u /* send MEMORY with every method that has code */

/* Outcome of a capture; only after FILE, a class file follows. */
enum wire_captured {
	WIRE_CAPTURED_FILE = 0,
	WIRE_CAPTURED_ARRAY = 1,
	WIRE_CAPTURED_HIDDEN = 2,      /* hidden, or not modifiable for another reason */
	WIRE_CAPTURED_ANONYMOUS = 3,   /* VM-anonymous (JDK 8): retransforming it is unsafe */
	WIRE_CAPTURED_RETRANSFORMED = 4,        /* the JVM did not abandon the retransformation */
	WIRE_CAPTURED_ERROR = 5,       /* see the JVMTI error */
	WIRE_CAPTURED_SKIPPED = 6,   /* not tried: an earlier class was RETRANSFORMED */
};

/* GRAPH flags */
#define WIRE_GRAPH_TEXTS 1u /* send the first characters of long Strings */
#define WIRE_GRAPH_SNAPSHOT 2u /* walk in a child process; never in the JVM */

/* Outcome of a heap walk; only with COMPLETE the client has the complete heap. */
enum wire_graphed {
	WIRE_GRAPHED_COMPLETE = 0,
	WIRE_GRAPHED_LATE = 1,     /* the pause reached its limit */
	WIRE_GRAPHED_FULL = 2,     /* the heap stream reached its limit */
	WIRE_GRAPHED_SLOW = 3,     /* the client did not read fast enough */
	WIRE_GRAPHED_UNKNOWN = 4,  /* this JVM hides object addresses: the stream is invalid */
	WIRE_GRAPHED_NOT = 5,      /* no snapshot, see WIRE_SNAPSHOT_*: the stream is invalid */
	WIRE_GRAPHED_CHANGED = 6,  /* classes were loaded before the snapshot: as NOT; try again */
};

/* Why there is no snapshot.  From LOCKED to ENDED it may succeed at another time. */
enum wire_snapshot_why {
	WIRE_SNAPSHOT_DONE = 0,
	WIRE_SNAPSHOT_SHARED = 1,  /* a part of the heap is in shared memory */
	WIRE_SNAPSHOT_CLONE = 2,   /* the kernel refuses a child process; errno */
	WIRE_SNAPSHOT_PREPARE = 3, /* another call of the kernel failed; errno */
	WIRE_SNAPSHOT_CONFINE = 4, /* likewise in the child: it could not give up its rights */
	WIRE_SNAPSHOT_LAYOUT = 5,  /* the layout of arrays is not known, or the order of the walk */
	WIRE_SNAPSHOT_LATE = 6,    /* the child reached its time limit */
	WIRE_SNAPSHOT_LOCKED = 7,  /* the child met a lock that is never released */
	WIRE_SNAPSHOT_HUNG = 8,    /* the child did not progress */
	WIRE_SNAPSHOT_ROOM = 9,    /* more GC roots than expected */
	WIRE_SNAPSHOT_SIGNAL = 10, /* a signal ended the child; its number */
	WIRE_SNAPSHOT_ENDED = 11,  /* the child ended; its exit code */
	WIRE_SNAPSHOT_NAMES = 12,  /* complete, but roots of virtual threads lack their methods */
	/* Of a heap dump; CLASSES and MOVED may succeed at another time: */
	WIRE_SNAPSHOT_CLASSES = 13,  /* classes were loaded before the clone */
	WIRE_SNAPSHOT_UNLINKED = 14, /* an object of a class that is not linked */
	WIRE_SNAPSHOT_STACKS = 15,   /* stacks of virtual threads, whose layout is not known */
	WIRE_SNAPSHOT_MOVED = 16,    /* the collector was moving objects */
};

/* FRAMES: the maximum depth of a stack, and special line numbers */
#define WIRE_STACK_DEPTH 64u
#define WIRE_LINE_UNKNOWN (-1)
#define WIRE_LINE_NATIVE (-2)

/* TRACE flags */
#define WIRE_TRACE_VALUES 1u /* send arguments, results and messages of exceptions */
#define WIRE_TRACE_STACKS 2u /* send the stack of each call */
#define WIRE_TRACE_SUMMED 4u /* send sums by method, not calls; excludes VALUES and STACKS */
#define WIRE_TRACE_COUNTER 8u /* the kernel's clock source is the time stamp counter */

/* Limits of one TRACE */
#define WIRE_TRACE_METHODS_MAX 20000u
#define WIRE_TRACE_DEPTH WIRE_STACK_DEPTH

enum wire_trace_end {
	WIRE_TRACED_STOPPED = 0, /* TRACE_STOP */
	WIRE_TRACED_TIME = 1,    /* the maximum duration is reached */
	WIRE_TRACED_COUNT = 2,   /* the maximum number of calls is sent */
	WIRE_TRACED_COST = 3,  /* the hooks exceeded their CPU budget */
	WIRE_TRACED_NOTHING = 4, /* no method could be instrumented */
	WIRE_TRACED_FORCED = 5,  /* another session asked for the end */
};

/* ALLOC flags */
#define WIRE_ALLOC_EXACT 1u    /* count every object by instrumentation, instead of sampling */
#define WIRE_ALLOC_LIVE 2u     /* count objects that are reachable at the end, after a full GC */
#define WIRE_ALLOC_RECORDED 4u /* send the current state of the recording since JVM startup */

#define WIRE_ALLOC_DEPTH WIRE_STACK_DEPTH
#define WIRE_ALLOC_MEMORY_MAX ((uint64_t)4 << 30)
#define WIRE_ALLOC_GLOBS_MAX 100u
#define WIRE_ALLOC_INTERVAL 524288u /* default sampling interval in bytes */

enum wire_alloc_end {
	WIRE_ALLOCED_STOPPED = 0, /* ALLOC_STOP */
	WIRE_ALLOCED_TIME = 1,    /* the maximum duration is reached */
	WIRE_ALLOCED_ON = 2,    /* the recording was sent, and continues */
	WIRE_ALLOCED_NOTHING = 3, /* ALLOC_RECORDED, but no recording; no other frame is sent */
	WIRE_ALLOCED_FORCED = 4,  /* another session asked for the end */
};

/* Limitations of the counters, sent in ALLOC_NOTE: a text and a number */
enum wire_alloc_note {
	/* Threads still run the uninstrumented version of a method, so the arrays that they
	 * allocate in it are not counted.  Text: CLASS.METHOD.  Number: threads. */
	WIRE_ALLOC_OLD_CODE = 1,
	WIRE_ALLOC_REFUSED = 2, /* classes not instrumented.  Text: reason.  Number: classes */
	WIRE_ALLOC_FULL = 3,    /* no room.  Number: dropped samples or objects */
	WIRE_ALLOC_NOT_LIVE = 4, /* live objects could not be counted.  Text: reason */
};

#define WIRE_PIECE 65536u /* maximum bytes of the text in a BYTES frame */

struct wire_header {
	uint32_t len; /* of the payload */
	uint8_t version;
	uint16_t type;
};

void wire_header_write(uint8_t out[WIRE_HEADER_LEN], uint16_t type, uint32_t len);
/* Returns false if the version differs or the payload is too long. */
bool wire_header_read(const uint8_t in[WIRE_HEADER_LEN], struct wire_header *header);

/* Returns the name of a type for messages, or "unknown frame". */
const char *wire_type_name(uint16_t type);

#endif
