/*
 * Decides whether the control groups of a JVM have enough memory for a request.  Pure.
 *
 * A request makes the JVM grow, and jtool's own memory counts where it is in the same group.  When
 * a group exceeds its limit, the kernel kills its largest process, which is the JVM, or all of its
 * processes together.  So nothing begins that could use up a group's memory: each group has to have
 * what the JVM grows by, what jtool needs, and a reserve for what the application does meanwhile.
 */
#ifndef JTOOL_DISCOVER_MEMORY_ROOM_H
#define JTOOL_DISCOVER_MEMORY_ROOM_H

#include "discover/cgroup.h"

/* The work of the JVM for a request, by its need for memory. */
enum memory_use {
	MEMORY_IDLE,    /* nothing: a request that is in progress may go on */
	MEMORY_REQUEST, /* answers an attach operation */
	MEMORY_AGENT,   /* runs some Java code, or the agent: lists classes, counts objects */
	MEMORY_DUMP,    /* writes its heap, without a collection */
	MEMORY_CHANGE,  /* transforms some classes */
	MEMORY_JAVA,    /* runs Java code that loads classes: the flight recorder, a Java agent */
	MEMORY_CHANGE_ALL, /* transforms many classes */
	MEMORY_COLLECT, /* makes a full collection, or dumps its heap after one */
	MEMORY_WALK,    /* follows all references */
	MEMORY_SNAPSHOT, /* the same in a child process; the application's writes copy pages */
	MEMORY_COPY,     /* a snapshot that is in progress may go on */
};

/* Bytes of the Java heap, and the number of loaded classes; -1: unknown. */
struct memory_heap {
	int64_t used; /* at most: eden counts as full, because its counter lags */
	int64_t committed, max;
	int64_t classes;
	bool touched; /* all of it is resident: AlwaysPreTouch */
};

/* Returns how much the JVM may grow by.  Measured, see the comments there. */
int64_t memory_growth(enum memory_use use, const struct memory_heap *heap);

/*
 * Returns how much of a group's memory stays free: for the application, and as a margin of error.
 */
int64_t memory_reserve(const struct cgroup_level *level);

enum memory_verdict {
	MEMORY_GRANTED,
	MEMORY_SHORT,     /* the JVM itself may need more than a group has */
	MEMORY_SHORT_OWN, /* only if jtool is in the same group */
};

struct memory_room {
	int64_t jvm;  /* bytes that the JVM may take in addition to `growth`; INT64_MAX: no limit */
	int64_t own;  /* bytes that jtool may take; INT64_MAX: no group of the JVM limits it */
	size_t level; /* index of the group with the least memory */
	enum memory_verdict verdict;
};

/* `growth` is the JVM's, `own` the least that jtool needs. */
struct memory_room memory_room(const struct cgroup_level *levels, size_t n, int64_t growth,
			       int64_t own);

#endif
