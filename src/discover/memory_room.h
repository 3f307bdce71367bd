/*
 * Decides whether the control groups of a JVM have enough memory for a request.  Does no I/O.
 *
 * A request makes the JVM grow, and jtool's own memory counts towards the limit of each group that
 * jtool shares with the JVM.  When a group exceeds its limit, the kernel kills either the largest
 * process of the group, which is usually the JVM, or all processes of the group (memory.oom.group).
 * So jtool refuses a request that could use up a group's memory.  Each group must have room for the
 * JVM's growth, for jtool if the group is shared, and for a reserve for the application.
 */
#ifndef JTOOL_DISCOVER_MEMORY_ROOM_H
#define JTOOL_DISCOVER_MEMORY_ROOM_H

#include "discover/cgroup.h"

/* What the JVM does for a request.  These kinds of work differ in the memory that they need. */
enum memory_use {
	MEMORY_IDLE,    /* continues with a request in progress: needs no further memory */
	MEMORY_REQUEST, /* answers an attach operation */
	MEMORY_AGENT,   /* runs some Java code, or the agent: lists classes, counts objects */
	MEMORY_DUMP,    /* writes its heap, without a collection */
	MEMORY_CHANGE,  /* transforms some classes */
	MEMORY_JAVA,    /* runs Java code that loads classes: the flight recorder, a Java agent */
	MEMORY_CHANGE_ALL, /* transforms many classes */
	MEMORY_COLLECT, /* makes a full collection, or dumps its heap after one */
	MEMORY_WALK,    /* follows all references */
	/*
	 * follows all references in a forked child; each page that the application writes to is
	 * copied
	 */
	MEMORY_SNAPSHOT,
	MEMORY_COPY,     /* continues with a snapshot in progress: pages are still copied */
};

/* Sizes of the Java heap in bytes, and the number of loaded classes; -1: unknown. */
struct memory_heap {
	int64_t used; /* upper bound: the JVM's counters of the used heap may be too low */
	int64_t committed, max;
	int64_t classes;
	bool touched; /* all pages of the heap are resident, because AlwaysPreTouch is on */
};

/* Returns the bytes by which the JVM may grow.  The values were measured, see memory_room.c. */
int64_t memory_growth(enum memory_use use, const struct memory_heap *heap);

/*
 * Returns the bytes of a group's memory that must stay free for the application and as a margin of
 * error.
 */
int64_t memory_reserve(const struct cgroup_level *level);

enum memory_verdict {
	MEMORY_GRANTED,
	MEMORY_SHORT,     /* the JVM alone may need more memory than a control group has free */
	MEMORY_SHORT_OWN, /* a control group has enough for the JVM, but not for jtool as well */
};

struct memory_room {
	/*
	 * bytes that the JVM may take in addition to the argument `growth` of memory_room();
	 * INT64_MAX: no limit
	 */
	int64_t jvm;
	int64_t own; /* bytes that jtool may take; INT64_MAX: jtool is in no group that limits it */
	size_t level; /* index in `levels` of the group with the least room */
	enum memory_verdict verdict;
};

/*
 * Computes the room that n groups leave.  `growth` is the number of bytes by which the JVM may
 * grow, and `own` the number of bytes that jtool needs at least.
 */
struct memory_room memory_room(const struct cgroup_level *levels, size_t n, int64_t growth,
			       int64_t own);

#endif
