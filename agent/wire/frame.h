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
 * Codes that Agent_OnAttach returns if it starts no session.  The JVM's reply to the attach request
 * contains the code.  The codes 100 to 102 belong to the agent of java.lang.instrument.  If a code
 * is removed, its number is never used again.
 */
enum wire_refused {
	WIRE_REFUSED_OPTIONS = 11, /* the options do not have the form "PATH,TOKEN" */
	WIRE_REFUSED_MEMORY = 12,  /* out of memory */
	WIRE_REFUSED_JVM = 13,     /* the JVM provides no JVMTI environment */
	WIRE_REFUSED_CONNECT = 14, /* the agent cannot connect to the client's socket */
	WIRE_REFUSED_PEER = 15,    /* the user id of the listening process differs from the JVM's */
	WIRE_REFUSED_THREAD = 16,  /* the agent cannot start a thread */
	WIRE_REFUSED_HEAP = 17,    /* the agent cannot allocate a thread in the Java heap */
};

/* HISTO flags */
#define WIRE_HISTO_LIVE 1u    /* run a full GC first */
#define WIRE_HISTO_STRICT 2u  /* use only what JVMTI specifies, and do not read klass words */
#define WIRE_HISTO_MODULES 4u /* send the module of each class */

/* The method by which the heap walk of HISTO counts objects; HISTO_END reports it. */
#define WIRE_WALK_TAGS 1u  /* reads the JVMTI tag of each object's class */
#define WIRE_WALK_KLASS 2u /* reads the klass word of each object, after a calibration */
#define WIRE_WALK_CLASS 3u /* counts objects of one class only, with JVMTI's klass filter */

/* CLASSES flags */
#define WIRE_CLASSES_SOURCES 1u /* send the code source of each class */

/* Traits of a class, in CLASS_ROWS. */
#define WIRE_CLASS_INTERFACE 1u
#define WIRE_CLASS_ARRAY 2u
#define WIRE_CLASS_ENUM 4u       /* extends java.lang.Enum directly */
#define WIRE_CLASS_RECORD 8u     /* extends java.lang.Record directly */
#define WIRE_CLASS_LINKED 16u
#define WIRE_CLASS_PATCHED 32u   /* this agent has patched the class */

/* ACTIVITIES flags */
#define WIRE_ACTIVITIES_FORCE 1u /* ask every activity that the answer lists to end */

/*
 * The flag of CAPTURE.  Without this flag, the agent sends MEMORY frames only with the methods
 * whose code differs from the class file.
 */
#define WIRE_CAPTURE_MEMORY 1u /* send a MEMORY frame with every method that has code */

/*
 * Outcome of the capture of a class.  The agent requests a retransformation of the class, and makes
 * the JVM abandon it.  A class file follows only after WIRE_CAPTURED_FILE.
 */
enum wire_captured {
	WIRE_CAPTURED_FILE = 0,
	WIRE_CAPTURED_ARRAY = 1,
	WIRE_CAPTURED_HIDDEN = 2,      /* a hidden class, or not modifiable for another reason */
	WIRE_CAPTURED_ANONYMOUS = 3,   /* VM-anonymous (JDK 8), which is unsafe to retransform */
	WIRE_CAPTURED_RETRANSFORMED = 4, /* the JVM did not abandon the retransformation */
	WIRE_CAPTURED_ERROR = 5,       /* a JVMTI error, whose number is in the CAPTURED frame */
	WIRE_CAPTURED_SKIPPED = 6,   /* not tried: an earlier class had the outcome RETRANSFORMED */
};

/* GRAPH flags */
#define WIRE_GRAPH_TEXTS 1u /* send the first characters of long Strings */
#define WIRE_GRAPH_SNAPSHOT 2u /* walk in a child process, never in the JVM itself */

/* DUMP flags */
#define WIRE_DUMP_COUNTS 1u  /* count the live objects by class, and write no dump */
#define WIRE_DUMP_MODULES 2u /* with WIRE_DUMP_COUNTS: send the module of each class */

/* Outcome of a heap walk.  The client has the complete heap only after COMPLETE. */
enum wire_graphed {
	WIRE_GRAPHED_COMPLETE = 0,
	WIRE_GRAPHED_LATE = 1,     /* the pause reached its limit */
	WIRE_GRAPHED_FULL = 2,     /* the heap stream reached its limit */
	WIRE_GRAPHED_SLOW = 3,     /* the client did not read fast enough */
	WIRE_GRAPHED_UNKNOWN = 4,  /* stream is invalid: object addresses are not verified */
	WIRE_GRAPHED_NOT = 5,      /* stream is invalid: the snapshot failed (wire_snapshot_why) */
	/* stream is invalid: classes were loaded between CLASSES and the snapshot; try again */
	WIRE_GRAPHED_CHANGED = 6,
};

/*
 * The result of a snapshot.  All values except DONE and NAMES are reasons why there is no snapshot.
 * After the reasons LOCKED to ENDED (7 to 11), another try may succeed.  The frames GRAPH_END and
 * DUMP_END contain the reason and a number: the errno, the signal or the exit code if a comment
 * below names it, otherwise 0.
 */
enum wire_snapshot_why {
	WIRE_SNAPSHOT_DONE = 0,    /* the snapshot is complete */
	WIRE_SNAPSHOT_SHARED = 1,  /* a part of the heap is in shared memory */
	WIRE_SNAPSHOT_CLONE = 2,   /* the kernel refuses to clone the process; number: errno */
	WIRE_SNAPSHOT_PREPARE = 3, /* another system call failed in the JVM; number: errno */
	WIRE_SNAPSHOT_CONFINE = 4, /* the child could not give up its rights; number: errno */
	WIRE_SNAPSHOT_LAYOUT = 5,  /* the layout of arrays or the order of the walk is not known */
	WIRE_SNAPSHOT_LATE = 6,    /* the child reached its time limit */
	WIRE_SNAPSHOT_LOCKED = 7,  /* the child waits for a lock that is never released */
	WIRE_SNAPSHOT_HUNG = 8,    /* the child made no progress */
	WIRE_SNAPSHOT_ROOM = 9,    /* there are more GC roots than the child has room for */
	WIRE_SNAPSHOT_SIGNAL = 10, /* a signal ended the child; number: the signal */
	WIRE_SNAPSHOT_ENDED = 11,  /* the child ended early; number: its exit code */
	WIRE_SNAPSHOT_NAMES = 12,  /* complete, but GC roots in virtual threads lack method names */
	/* Only DUMP_END has these reasons.  After CLASSES or MOVED, another try may succeed. */
	WIRE_SNAPSHOT_CLASSES = 13,  /* classes were loaded after the agent had listed them */
	WIRE_SNAPSHOT_UNLINKED = 14, /* an object has a class that is not linked */
	WIRE_SNAPSHOT_STACKS = 15,   /* a virtual thread's stack has an unknown layout */
	WIRE_SNAPSHOT_MOVED = 16,    /* the garbage collector was moving objects */
};

/* Stacks in FRAMES: the maximum depth, and special line numbers. */
#define WIRE_STACK_DEPTH 64u
#define WIRE_LINE_UNKNOWN (-1)
#define WIRE_LINE_NATIVE (-2)

/* TRACE flags */
#define WIRE_TRACE_VALUES 1u /* send arguments, results and messages of exceptions */
#define WIRE_TRACE_STACKS 2u /* send the stack of each call */
#define WIRE_TRACE_SUMMED 4u /* send sums for each method, not calls; excludes VALUES, STACKS */
#define WIRE_TRACE_COUNTER 8u /* hooks may read the TSC, which is the kernel's clock source */

/* Limits of one TRACE. */
#define WIRE_TRACE_METHODS_MAX 20000u
#define WIRE_TRACE_DEPTH WIRE_STACK_DEPTH

enum wire_trace_end {
	WIRE_TRACED_STOPPED = 0, /* the client sent TRACE_STOP */
	WIRE_TRACED_TIME = 1,    /* the trace reached its maximum duration */
	WIRE_TRACED_COUNT = 2,   /* the maximum number of calls was sent */
	WIRE_TRACED_COST = 3,    /* the hooks used more CPU time than their budget */
	WIRE_TRACED_NOTHING = 4, /* no method could be instrumented */
	WIRE_TRACED_FORCED = 5,  /* another session requested the end */
};

/* ALLOC flags */
#define WIRE_ALLOC_EXACT 1u    /* count every object, with instrumented code; else sample */
#define WIRE_ALLOC_LIVE 2u     /* at the end, run a full GC and count the objects that remain */
#define WIRE_ALLOC_RECORDED 4u /* send the state of the recording that runs since JVM startup */

#define WIRE_ALLOC_DEPTH WIRE_STACK_DEPTH
#define WIRE_ALLOC_MEMORY_MAX ((uint64_t)4 << 30)
#define WIRE_ALLOC_GLOBS_MAX 100u
#define WIRE_ALLOC_INTERVAL 524288u /* default sampling interval in bytes */

enum wire_alloc_end {
	WIRE_ALLOCED_STOPPED = 0, /* the client sent ALLOC_STOP */
	WIRE_ALLOCED_TIME = 1,    /* the profile reached its maximum duration */
	WIRE_ALLOCED_ON = 2,    /* the recording was sent, and goes on */
	WIRE_ALLOCED_NOTHING = 3, /* no recording is running, so only ALLOC_END is sent */
	WIRE_ALLOCED_FORCED = 4,  /* another session requested the end */
};

/*
 * Limitations of an allocation profile.  The frame ALLOC_NOTE has the limitation, a text and a
 * number.
 */
enum wire_alloc_note {
	/*
	 * Threads still run the code that a method had before its instrumentation.  Arrays that
	 * this code allocates are not counted.  The text is CLASS.METHOD, the number counts the
	 * threads.
	 */
	WIRE_ALLOC_OLD_CODE = 1,
	/* Classes were not instrumented.  The text is the reason, the number counts the classes. */
	WIRE_ALLOC_REFUSED = 2,
	/* The profile's memory was full.  The number counts the dropped samples or objects. */
	WIRE_ALLOC_FULL = 3,
	WIRE_ALLOC_NOT_LIVE = 4, /* live objects could not be counted.  The text is the reason. */
};

#define WIRE_PIECE 65536u /* maximum bytes of the text in a BYTES frame */

struct wire_header {
	uint32_t len; /* bytes of the payload */
	uint8_t version;
	uint16_t type;
};

void wire_header_write(uint8_t out[WIRE_HEADER_LEN], uint16_t type, uint32_t len);
/* Decodes a header.  Returns false if the version differs or the payload is too long. */
bool wire_header_read(const uint8_t in[WIRE_HEADER_LEN], struct wire_header *header);

/* Returns the name of a frame type for messages, or "unknown frame". */
const char *wire_type_name(uint16_t type);

#endif
