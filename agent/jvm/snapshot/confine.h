/*
 * Takes rights away from the child that was cloned from the JVM, before the child does anything
 * else.
 *
 * The child has one thread.  It runs HotSpot's code, with the locks and the stored thread id of the
 * JVM's thread that was cloned.  So the child must not be able to affect any other process:
 * - it has one descriptor, and cannot open a file;
 * - it cannot send a signal;
 * - of the memory that it shares with the JVM, it can write to one page only;
 * - it ends when the JVM ends.
 * A lock that another thread of the JVM held at the moment of the clone is never released in the
 * child; so if the child tries to wait for a lock, it ends at once.
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_CONFINE_H
#define JTOOL_AGENT_JVM_SNAPSHOT_CONFINE_H

#include "jvm/snapshot/shared_maps.h"

struct ag_confinement {
	int keep;     /* the only descriptor that stays open */
	int parent;   /* process id of the JVM in the JVM's own pid namespace */
	uint32_t life_ms; /* ms after which SIGALRM ends the child; 0: at once */
	void *page;   /* start of the only shared mapping that remains writable */
	struct ag_shared_maps *maps; /* output: the shared mappings that were made read-only */
};

/*
 * Confines the calling process, which must be the child, as described at the top of this file.
 * Returns 0; or an errno, after which the child must exit.  Makes system calls only: allocates
 * nothing and takes no lock.
 */
int ag_confine(const struct ag_confinement *c);

/* Ends the process without running any code of the C library. */
void ag_exit(int code) __attribute__((noreturn));

#endif
