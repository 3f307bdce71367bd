/*
 * Takes rights from the cloned child of the JVM, before the child does anything else.
 *
 * The child has one thread, whose locks and thread id are those of a thread of the JVM, and it runs
 * HotSpot's code.  So it must not be able to affect any other process: it has one descriptor,
 * cannot open a file or send a signal, cannot write to memory that it shares with the JVM except
 * one page, and ends when the JVM ends.  A lock that a thread of the JVM held at the moment of the
 * clone is never released in the child; so if the child tries to wait for a lock, it ends at once.
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_CONFINE_H
#define JTOOL_AGENT_JVM_SNAPSHOT_CONFINE_H

#include "jvm/snapshot/shared_maps.h"

struct ag_confinement {
	int keep;     /* the only descriptor that stays open */
	int parent;   /* process id of the JVM, as the JVM sees it */
	uint32_t life_ms; /* ms after which SIGALRM ends the child; 0: at once */
	void *page;   /* start of the only shared mapping that remains writable */
	struct ag_shared_maps *maps; /* output: the shared mappings, which were made read-only */
};

/*
 * Takes the rights named above from the process that calls it, the child.  Returns 0; or an errno,
 * after which the child must exit.  Makes system calls only: allocates nothing and takes no lock.
 */
int ag_confine(const struct ag_confinement *c);

/* Ends the process without running any code of the C library. */
void ag_exit(int code) __attribute__((noreturn));

#endif
