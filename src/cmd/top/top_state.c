#include <time.h>

#include "cmd/top/top_internal.h"

#define COST_SHARE 20 /* all readings together may use 1/COST_SHARE of a CPU: 5 % */

int top_begin(struct top *t, const struct ctx *ctx, struct err *err)
{
	const struct top_opts *opts = ctx->opts;
	int rc;

	*t = (struct top){ .ctx = ctx };
	t->filter = (struct top_filter){ .glob = opts->filter, .state = opts->state,
					 .sort = (enum top_sort)opts->sort };
	rc = procfs_open(&t->proc, "/proc");
	if (rc < 0)
		return jvm_no_proc(rc, err);
	return 0;
}

void top_end(struct top *t)
{
	top_process_end(&t->one);
	top_list_end(&t->all);
	free(t->rows);
	procfs_close(&t->proc);
}

void top_show_threads(struct top *t, const struct jvm *jvm, struct jvm *owned)
{
	top_process_end(&t->one);
	top_process_begin(&t->one, jvm, owned);
	t->shows_jvms = false;
	if (t->filter.sort >= N_TOP_SORT_THREADS)
		t->filter.sort = TOP_SORT_CPU;
}

void top_show_jvms(struct top *t, struct jvm_list *list)
{
	top_list_end(&t->all);
	top_list_begin(&t->all, list);
	if (t->all.found.n == 0)
		t->all.due_ns = 0; /* the list is empty: search for JVMs immediately */
	t->shows_jvms = true;
}

static double cpu_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* cannot fail with this clock */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int top_read(struct top *t, struct err *err)
{
	double begin_s = cpu_s();
	int rc = t->shows_jvms ? top_list_read(&t->all, &t->proc, err) :
				 top_process_read(&t->one, t->ctx, &t->proc, err);

	t->cost_s = cpu_s() - begin_s;
	return rc;
}

static int64_t realtime_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail with this clock */
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void top_refresh(struct top *t)
{
	const struct top_opts *opts = t->ctx->opts;
	size_t n;

	free(t->rows);
	t->rows = t->shows_jvms ?
			  top_jvms_choose(t->all.rows, t->all.n_rows, &t->filter, &n) :
			  top_threads_choose(&t->one.threads, &t->filter, &n);
	t->view = (struct top_view){
		.when_ns = realtime_ns(),
		.seconds = t->shows_jvms ? t->all.seconds : t->one.seconds,
		.jvm = t->shows_jvms ? NULL : &t->one.row,
		.threads = &t->one.threads,
		.jvms = t->all.rows, .n_jvms = t->all.n_rows,
		.rows = t->rows, .n = n,
		.limit = opts->limit,
	};
}

int64_t top_next_ns(const struct top *t, const struct top_pace *pace, int64_t due_ns)
{
	int64_t interval_ns = (int64_t)pace->interval_ms * 1000000, now = monotonic_ns();
	int64_t soonest = now + (int64_t)(t->cost_s * COST_SHARE * 1e9);
	int64_t next = due_ns + interval_ns;

	/* If several readings are overdue, for example after a suspend, make only one of them. */
	if (next < now)
		next += (now - next) / interval_ns * interval_ns;
	return next > soonest ? next : soonest;
}
