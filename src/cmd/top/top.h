/*
 * The state of `jtool top`: what it shows and how it is read.  Used for output on a terminal
 * (top_live.c) and elsewhere (top_stream.c).
 */
#ifndef JTOOL_CMD_TOP_TOP_H
#define JTOOL_CMD_TOP_TOP_H

#include "cli/command.h"
#include "cmd/top/top_dump.h"
#include "cmd/top/top_source.h"
#include "discover/hsperf.h"
#include "proc/thread_times.h"
#include "render/top/top_view.h"

struct top_opts {
	unsigned duration_ms, limit, count;
	int sort; /* index of the column to sort by: enum top_sort */
	const char *filter, *state;
};

/* The arguments INTERVAL and COUNT. */
struct top_pace {
	unsigned interval_ms, count; /* count 0: no end */
};

/* State for showing the threads of one JVM. */
struct top_process {
	const struct jvm *jvm; /* the JVM; NULL: none */
	struct jvm *owned;     /* `jvm` if it must be freed, else NULL */
	struct top_source source;
	struct hsperf counters;
	bool has_counters;
	struct top_jvm row;
	struct thread_times times;
	struct top_threads threads;
	/* time of the last reading, and time between the last two readings, in s; 0: none */
	double at_s, seconds;
	bool is_gone;
	/* For the names of threads: */
	struct top_dump dump;
	int64_t dump_due_ns;   /* no dump is requested for names before this monotonic_ns() */
	unsigned dump_wait_ms; /* ms between two dumps, see top_threads_read.c */
	bool is_dumped;        /* a dump was requested */
	struct buf text;       /* text of the last dump */
	struct err why;        /* why the last dump failed; EXIT_DONE: it did not fail */
	bool has_names;        /* a dump has arrived, so threads have names */
};

/* State for showing all JVMs. */
struct top_list {
	struct jvm_list found;
	struct top_source *sources; /* one for each JVM in `found`, in the same order */
	struct top_jvm *rows;       /* n_rows rows, for the JVMs that are running */
	size_t n_rows;
	double at_s, seconds;       /* as in struct top_process */
	int64_t due_ns; /* monotonic_ns() at which /proc is searched for JVMs again */
};

struct top {
	const struct ctx *ctx;
	struct procfs proc;
	bool shows_jvms;
	struct top_filter filter;
	struct top_process one;
	struct top_list all;
	/* indexes in one.threads.list or all.rows of the rows that `view` shows, in its order */
	size_t *rows;
	struct top_view view;
	bool is_noticed; /* notice_once() in top_stream.c was called */
	double cost_s; /* CPU time of jtool for the last reading, in seconds */
};

/* Opens /proc.  Call top_show_threads() or top_show_jvms() next. */
int top_begin(struct top *t, const struct ctx *ctx, struct err *err) _must_check_;
void top_end(struct top *t);

/*
 * Makes top show the threads of `jvm`.  `owned` is the same JVM if top must free it; if `owned` is
 * NULL, the caller keeps `jvm` valid.
 */
void top_show_threads(struct top *t, const struct jvm *jvm, struct jvm *owned);
/* Makes top show all JVMs.  Takes ownership of the JVMs in `list`, which may be empty. */
void top_show_jvms(struct top *t, struct jvm_list *list);

/*
 * Reads all values that are shown, and requests names of threads if some are missing.  Returns 0,
 * or -1 with err set if the JVM has exited (EXIT_PARTIAL) or JVMs cannot be listed.
 */
int top_read(struct top *t, struct err *err) _must_check_;
/* Selects and sorts the rows of the last reading again, and sets t->view. */
void top_refresh(struct top *t);

/* Requests a thread dump at once, to show a stack.  Returns 0, or -1 with err set. */
int top_request_dump(struct top *t, struct err *err) _must_check_;
/*
 * Receives data of the requested thread dump.  Returns 0 if it is not complete yet; 1 if
 * t->one.text is the complete dump, whose thread names are now stored; -1 if the dump has failed,
 * with the error in t->one.why.
 */
int top_take_dump(struct top *t);

/*
 * Returns the time by monotonic_ns() at which the next reading is due, if the previous one was due
 * at due_ns.  Readings are spaced so that they use at most 5 % of a CPU.
 */
int64_t top_next_ns(const struct top *t, const struct top_pace *pace, int64_t due_ns);

int top_stream(struct top *t, const struct top_pace *pace, struct err *err) _must_check_;
int top_live(struct top *t, const struct top_pace *pace, struct err *err) _must_check_;

#endif
