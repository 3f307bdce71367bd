/*
 * The two parts of struct top: top_process reads one JVM, and top_list reads all JVMs.  Private to
 * the files of `jtool top`.
 */
#ifndef JTOOL_CMD_TOP_TOP_INTERNAL_H
#define JTOOL_CMD_TOP_TOP_INTERNAL_H

#include "base/deadline.h"
#include "cmd/top/top.h"

void top_process_begin(struct top_process *p, const struct jvm *jvm, struct jvm *owned);
/*
 * Reads the JVM's counters and the CPU times of its threads.  Returns 0, or -1 with err set
 * (EXIT_PARTIAL) if the JVM has exited.
 */
int top_process_read(struct top_process *p, const struct ctx *ctx, const struct procfs *proc,
		     struct err *err) _must_check_;
void top_process_end(struct top_process *p);

/* Initialises the list with the JVMs in `found`, which it takes ownership of. */
void top_list_begin(struct top_list *l, struct jvm_list *found);
/* Reads the values of all JVMs.  Returns 0, or -1 with err set if /proc cannot be read. */
int top_list_read(struct top_list *l, const struct procfs *proc, struct err *err) _must_check_;
void top_list_end(struct top_list *l);

#endif
