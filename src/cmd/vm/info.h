/* The data that `info` collects, and the record that shows it. */
#ifndef JTOOL_CMD_VM_INFO_H
#define JTOOL_CMD_VM_INFO_H

#include "model/vm/dcmd_replies.h"
#include "render/record.h"
#include "proc/vm_stats.h"
#include "discover/process_info.h"

/* Answers to diagnostic commands, for a JVM that publishes no counters.  Unknown texts are NULL. */
struct dcmd_answers {
	char *vm, *release, *main, *flags;
	const char *args; /* points into main's allocation */
	const char *gc;
	struct dcmd_reply_heap heap;
};

struct info {
	const struct jvm *jvm;
	struct process_info process;
	bool has_counters;      /* `perf` and `stats` are filled */
	struct perfdata perf;
	struct vm_stats stats;
	struct dcmd_answers answers; /* filled if the JVM was queried */
	char *why_not;          /* why the JVM has no counters; NULL if it has counters */
	char *query_result;     /* how querying the JVM went; NULL: it was not queried */
};

/* Returns the data as a record, which the caller frees. */
struct record *info_record(const struct info *info) _must_check_;

#endif
