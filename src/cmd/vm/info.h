/* The data that `jtool info` collects, and the record in which it shows the data. */
#ifndef JTOOL_CMD_VM_INFO_H
#define JTOOL_CMD_VM_INFO_H

#include "model/vm/dcmd_replies.h"
#include "render/record.h"
#include "proc/vm_stats.h"
#include "discover/process_info.h"

/*
 * The answers to diagnostic commands, which `jtool info` sends to a JVM that publishes no counters.
 * A text is NULL if unknown.
 */
struct dcmd_answers {
	char *vm, *release, *main, *flags;
	const char *args; /* the program's arguments, from the text `main`; NULL: none */
	const char *gc;
	struct dcmd_reply_heap heap;
};

struct info {
	const struct jvm *jvm;
	struct process_info process;
	bool has_counters;      /* `perf` and `stats` are filled in */
	struct perfdata perf;
	struct vm_stats stats;
	struct dcmd_answers answers; /* filled in if diagnostic commands were sent */
	char *why_not;          /* why the JVM has no counters; NULL: it has counters */
	/* a text for the user: whether the diagnostic commands worked; NULL: none were sent */
	char *query_result;
};

/* Returns the data as a record, which the caller frees. */
struct record *info_record(const struct info *info) _must_check_;

#endif
