/*
 * A child process with a copy of the heap.
 *
 * A heap callback clones the process: the child has the thread that called it, in the middle of
 * HotSpot's walk, and a copy-on-write copy of the heap at this safepoint.  In the JVM the callback
 * aborts the walk, and the application continues.  In the child HotSpot's walk continues, and the
 * callbacks send what they find to the agent's thread, in frames.  A crash, a wrong guess about
 * HotSpot's memory or an endless loop ends the child only.
 *
 * The clone has no exit signal: the application gets no SIGCHLD and does not see the child in
 * waitpid(-1).  glibc's fork() is not used, because it runs handlers and takes locks.  The child
 * may find a lock of HotSpot or malloc taken by a thread that it does not have: it ends, and the
 * caller tries again.  confine.h describes which rights the child gives up.
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_SNAPSHOT_H
#define JTOOL_AGENT_JVM_SNAPSHOT_SNAPSHOT_H

#include "jvm/jvmti.h"
#include "jvm/snapshot/shared_maps.h"
#include "util/chan.h"

/* What the child writes and its parent reads. */
struct ag_snapshot_page {
	volatile uint64_t callbacks;
};

/* How the child exits if it does not send its last frame. */
enum {
	AG_CHILD_DONE = 0,
	AG_CHILD_SHARED = 100, /* an object is in shared memory */
	AG_CHILD_LAYOUT,       /* the layout of arrays is not known */
	AG_CHILD_ROOM,         /* too many GC roots */
	AG_CHILD_PEER,         /* its parent does not read */
	AG_CHILD_CLASSES,      /* an object of a class that was not known before the clone */
	AG_CHILD_UNLINKED,     /* an object of a class that is not linked */
	AG_CHILD_STACKS,       /* stacks of virtual threads */
	AG_CHILD_MOVED,        /* the collector is moving objects */
	AG_CHILD_ERRNO = 110,  /* plus the errno of ag_confine() */
};

struct ag_snapshot {
	struct ag_jvm *jvm;
	uint32_t life_ms;
	int ends[2]; /* of a socket pair: the agent's and the child's; -1: closed */
	int parent;  /* process id of the JVM */
	int child;   /* process id; 0: none */
	bool inside; /* this process is the child */
	struct ag_shared_maps *maps;
	struct ag_snapshot_page *page;

	/* Why there is no snapshot: */
	uint32_t why; /* WIRE_SNAPSHOT_* */
	int32_t code; /* an errno, a signal or an exit code; 0: none */
};

/* Prepares.  Returns 0, or -1 with snapshot->why set.  Release it in any case. */
int ag_snapshot_init(struct ag_snapshot *s, struct ag_jvm *jvm, uint32_t life_ms);
/* Kills the child and waits for it. */
void ag_snapshot_release(struct ag_snapshot *s);

/*
 * Clones the process; call it in a heap callback of the JVM.  Returns in the JVM with
 * snapshot->child or snapshot->why set, and in the child with snapshot->inside; there *chan then
 * leads to the agent's thread.  The channel must have been flushed.
 */
void ag_snapshot_clone(struct ag_snapshot *s, struct ag_chan *chan);

/*
 * Receives, on the agent's thread, the child's next frame into *w, which has AG_CHAN_PAYLOAD bytes.
 * Returns its type, 0 with snapshot->why set if the child has ended or does not progress, or -1 if
 * the client has disconnected.
 */
int ag_snapshot_receive(struct ag_snapshot *s, struct ag_chan *client, struct wire_writer *w);

#endif
