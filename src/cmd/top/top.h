/* What `top` shows, and how it is read again; shared by its output on a terminal and elsewhere. */
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
	int sort; /* enum top_sort */
	const char *filter, *state;
};

/* INTERVAL and COUNT. */
struct top_pace {
	unsigned interval_ms, count; /* count 0: no end */
};

/* The threads of one JVM. */
struct top_process {
	const struct jvm *jvm; /* NULL: none */
	struct jvm *owned;     /* the same, if it was not given */
	struct top_source source;
	struct hsperf counters;
	bool has_counters;
	struct top_jvm row;
	struct thread_times times;
	struct top_threads threads;
	double at_s, seconds;  /* when times was read, and how long after the one before */
	bool is_gone;
	/* names */
	struct top_dump dump;
	int64_t dump_due_ns;   /* no dump for names before that time */
	unsigned dump_wait_ms;
	bool is_dumped;        /* a dump was requested */
	struct buf text;       /* the last dump */
	struct err why;        /* of the last dump that failed; EXIT_DONE: it did not */
	bool has_names;        /* from any dump */
};

/* All JVMs. */
struct top_list {
	struct jvm_list found;
	struct top_source *sources; /* as many as JVMs, and in their order */
	struct top_jvm *rows;       /* of the JVMs that run: n_rows */
	size_t n_rows;
	double at_s, seconds;
	int64_t due_ns; /* when JVMs are looked for again */
};

struct top {
	const struct ctx *ctx;
	struct procfs proc;
	bool shows_jvms;
	struct top_filter filter;
	struct top_process one;
	struct top_list all;
	size_t *rows; /* of the view */
	struct top_view view;
	bool is_noticed; /* the user knows why there are no names */
	double cost_s; /* CPU time of jtool for the last reading */
};

/* Opens /proc.  Then begin with one of the next functions. */
int top_begin(struct top *t, const struct ctx *ctx, struct err *err) _must_check_;
void top_end(struct top *t);

/* Shows the threads of a JVM.  `owned` is freed later; else the JVM must stay valid. */
void top_show_threads(struct top *t, const struct jvm *jvm, struct jvm *owned);
/* Shows all JVMs.  Takes what is in `list`, which may be empty. */
void top_show_jvms(struct top *t, struct jvm_list *list);

/*
 * Reads everything that is shown and requests names where they are missing.  Returns 0, or -1 with
 * err set: the JVM has exited (EXIT_PARTIAL), or JVMs cannot be listed.
 */
int top_read(struct top *t, struct err *err) _must_check_;
/* Chooses the rows again, and sets t->view. */
void top_refresh(struct top *t);

/* Requests a dump at once, for a stack.  Returns 0, or -1 with err set. */
int top_request_dump(struct top *t, struct err *err) _must_check_;
/*
 * Takes what has arrived of a dump.  Returns 0: not complete; 1: t->one.text is the dump, and its
 * names were taken; -1: it failed, and t->one.why says why.
 */
int top_take_dump(struct top *t);

/* When the next reading is due, after one that was due at due_ns: reading takes 5 % at most. */
int64_t top_next_ns(const struct top *t, const struct top_pace *pace, int64_t due_ns);

int top_stream(struct top *t, const struct top_pace *pace, struct err *err) _must_check_;
int top_live(struct top *t, const struct top_pace *pace, struct err *err) _must_check_;

#endif
