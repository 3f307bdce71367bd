/*
 * A child process with a copy of the heap.
 *
 * During HotSpot's walk of the heap, a callback of the agent clones the process.  The child has
 * only the thread that runs the callback, and a copy-on-write copy of the heap at this safepoint.
 * - In the JVM the callback aborts the walk, and the application continues.
 * - In the child the walk continues.  The callbacks send what they find to the agent's thread in
 *   the JVM, in frames of the protocol.
 * A crash, a wrong assumption about HotSpot's memory or an endless loop ends only the child.
 *
 * The child has no exit signal: the application gets no SIGCHLD and does not see the child in
 * waitpid(-1).  glibc's fork() is not used, because it runs handlers and takes locks.
 *
 * If the child waits for a lock that a thread of the JVM held when the process was cloned (a lock
 * of HotSpot or of malloc), the kernel kills the child, and the client requests another snapshot.
 * confine.h describes the rights that the child gives up.
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_SNAPSHOT_H
#define JTOOL_AGENT_JVM_SNAPSHOT_SNAPSHOT_H

#include "jvm/jvmti.h"
#include "jvm/snapshot/shared_maps.h"
#include "util/chan.h"

/* Shared memory that the child writes and the agent's thread reads. */
struct ag_snapshot_page {
	volatile uint64_t callbacks; /* grows as long as the child makes progress */
};

/* Exit codes of the child.  Except for AG_CHILD_DONE, the child has not sent its last frame. */
enum {
	AG_CHILD_DONE = 0,
	AG_CHILD_SHARED = 100, /* an object is in shared memory */
	AG_CHILD_LAYOUT,       /* the layout of objects is not as the child expects */
	AG_CHILD_ROOM,         /* the child has too little room for GC roots or for its work */
	AG_CHILD_PEER,         /* the agent's thread does not read the child's frames */
	AG_CHILD_CLASSES,      /* an object's class was not known before the clone */
	AG_CHILD_UNLINKED,     /* an object's class is not linked */
	AG_CHILD_STACKS,       /* a virtual thread's stack has an unknown layout */
	AG_CHILD_MOVED,        /* the garbage collector was moving objects */
	AG_CHILD_ERRNO = 110,  /* codes from 110 on are 110 + the errno of ag_confine() */
};

struct ag_snapshot {
	struct ag_jvm *jvm;
	uint32_t life_ms;
	int ends[2]; /* socket pair: the agent's end and the child's; -1: closed */
	int parent;  /* process id of the JVM */
	int child;   /* process id of the child; 0: none */
	bool inside; /* this process is the child */
	struct ag_shared_maps *maps;
	struct ag_snapshot_page *page;

	/* The reason if there is no snapshot: */
	uint32_t why; /* WIRE_SNAPSHOT_* */
	int32_t code; /* an errno, a signal or an exit code; 0: none */
};

/*
 * Prepares a snapshot.  Returns 0, or -1 with s->why set.  Call ag_snapshot_release() after either
 * result.
 */
int ag_snapshot_init(struct ag_snapshot *s, struct ag_jvm *jvm, uint32_t life_ms);
/* Kills the child if it still runs, waits until it has ended, and frees everything. */
void ag_snapshot_release(struct ag_snapshot *s);

/*
 * Clones the process.  A heap callback in the JVM calls this after it has flushed the channel.  In
 * the JVM the function returns with s->child or s->why set; in the child it returns with s->inside
 * set, and *chan then leads to the agent's thread.
 */
void ag_snapshot_clone(struct ag_snapshot *s, struct ag_chan *chan);

/*
 * On the agent's thread: receives the child's next frame into *w, which has room for
 * AG_CHAN_PAYLOAD bytes.  Returns the type of the frame; or 0 with s->why set if the child has
 * ended or does not progress; or -1 if the client has disconnected.
 */
int ag_snapshot_receive(struct ag_snapshot *s, struct ag_chan *client, struct wire_writer *w);

#endif
