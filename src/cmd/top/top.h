/*
 * The state of `jtool top`: the values that are shown, and the functions that read them.  Used by
 * top_live.c, which draws on a terminal, and by top_stream.c, which prints to a file or pipe.
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

/* The arguments INTERVAL and COUNT of the command. */
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
	/*
	 * at_s: time of the last top_read(), in s; 0: there was none.  seconds: time between the
	 * last two calls of top_read(); 0: there was only one
	 */
	double at_s, seconds;
	bool is_gone;
	/* For the names of threads: */
	struct top_dump dump;
	int64_t dump_due_ns;   /* monotonic_ns() before which no dump is requested for names */
	unsigned dump_wait_ms; /* ms between two dumps, see top_threads_read.c */
	bool is_dumped;        /* a dump was requested */
	struct buf text;       /* text of the last dump */
	struct err why;        /* why the last dump failed; EXIT_DONE: it did not fail */
	bool has_names;        /* a dump has arrived, so the names of its threads are known */
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
	/* the rows that `view` shows, in this order: indexes in one.threads.list or all.rows */
	size_t *rows;
	struct top_view view;
	bool is_noticed; /* top_stream.c has decided whether to print its notice about names */
	double cost_s; /* CPU time of jtool for the last reading, in seconds */
};

/* Opens /proc.  Call top_show_threads() or top_show_jvms() next. */
int top_begin(struct top *t, const struct ctx *ctx, struct err *err) _must_check_;
void top_end(struct top *t);

/*
 * Makes top show the threads of `jvm`.  If top must free `jvm`, the caller passes `jvm` as `owned`
 * too.  If `owned` is NULL, the caller keeps `jvm` valid.
 */
void top_show_threads(struct top *t, const struct jvm *jvm, struct jvm *owned);
/* Makes top show all JVMs.  Takes ownership of the JVMs in `list`, which may be empty. */
void top_show_jvms(struct top *t, struct jvm_list *list);

/*
 * Reads all values that are shown.  If threads without a name are among them, requests a thread
 * dump when one is due.  Returns 0; or -1 with err set if the JVM has exited (EXIT_PARTIAL), or if
 * JVMs cannot be listed.
 */
int top_read(struct top *t, struct err *err) _must_check_;
/* Selects and sorts rows again from the values that top_read() read last, and sets t->view. */
void top_refresh(struct top *t);

/* Requests a thread dump now, because a stack is to be shown.  Returns 0; or -1 with err set. */
int top_request_dump(struct top *t, struct err *err) _must_check_;
/*
 * Receives data of the requested thread dump.  Returns 0 if the dump is not complete yet; or 1 if
 * t->one.text is the complete dump, whose thread names are now stored; or -1 if the dump has
 * failed, with the error in t->one.why.
 */
int top_take_dump(struct top *t);

/*
 * Returns the monotonic_ns() at which the next call of top_read() is due, if the previous call was
 * due at due_ns.  The time between two calls is so long that top_read() uses at most 5 % of a CPU.
 */
int64_t top_next_ns(const struct top *t, const struct top_pace *pace, int64_t due_ns);

int top_stream(struct top *t, const struct top_pace *pace, struct err *err) _must_check_;
int top_live(struct top *t, const struct top_pace *pace, struct err *err) _must_check_;

#endif
