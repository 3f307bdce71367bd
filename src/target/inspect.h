/*
 * Opening the files that tell about one process: its mappings, hsperfdata, `release`, texts of
 * /proc.  All of them are hostile; what cannot be read is told less about.
 */
#ifndef JTOOL_TARGET_INSPECT_H
#define JTOOL_TARGET_INSPECT_H

#include "proc/procfs.h"
#include "target/jvm.h"

/* What the mappings of a process tell; paths are as we see them. */
struct traces {
	pid_t nspid;
	char *libjvm;
	char *perfdata;      /* the hsperfdata file that this very process has mapped */
	char *perfdata_link; /* "map_files/…": the file itself */
	bool perfdata_deleted;
	bool is_openj9;
};

/* One pass over its mappings.  0 or a negative errno; release it in both cases. */
int traces_find(const struct procfs *proc, pid_t pid, pid_t nspid, struct traces *t) _must_check_;
void traces_release(struct traces *t);

/* Fill in everything but the ids and the attach state, which jvm has already or gets later. */
void inspect_jvm(const struct procfs *proc, struct jvm *jvm, const struct traces *t);

#endif
