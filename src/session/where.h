/*
 * Where in a target's file system a file may be put that it is to map.
 */
#ifndef JTOOL_SESSION_WHERE_H
#define JTOOL_SESSION_WHERE_H

#include "target/ns.h"

#define WHERE_MAX 8

struct where {
	/* absolute, as the target sees them, without links on the way; the likeliest first */
	char *dirs[WHERE_MAX];
	size_t n;
	uid_t uid; /* the target's effective id, as it sees it itself */
};

/*
 * Its tmp directory, /tmp, /var/tmp, /dev/shm, /run, its working directory and its home.  Says
 * nothing about which of them can be used.  To be called with our own rights.
 */
void where_find(const struct ns *ns, struct where *w);
void where_release(struct where *w);

#endif
