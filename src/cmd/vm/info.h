/* The data that `jtool info` collects, and the record in which it shows the data. */
#ifndef JTOOL_CMD_VM_INFO_H
#define JTOOL_CMD_VM_INFO_H

#include "model/vm/dcmd_replies.h"
#include "render/record.h"
#include "proc/vm_stats.h"
#include "discover/process_info.h"

/*
 * The answers of a JVM that publishes no counters to diagnostic commands.  Texts are NULL if
 * unknown.
 */
struct dcmd_answers {
	char *vm, *release, *main, *flags;
	const char *args; /* the arguments: the rest of the text `main`, after the main class */
	const char *gc;
	struct dcmd_reply_heap heap;
};

struct info {
	const struct jvm *jvm;
	struct process_info process;
	bool has_counters;      /* `perf` and `stats` are filled in */
	struct perfdata perf;
	struct vm_stats stats;
	struct dcmd_answers answers; /* filled in if the JVM was asked */
	char *why_not;          /* why the JVM has no counters; NULL: it has counters */
	/* a text on what the diagnostic commands yielded; NULL: the JVM was not asked */
	char *query_result;
};

/* Returns the data as a record, which the caller frees. */
struct record *info_record(const struct info *info) _must_check_;

#endif
