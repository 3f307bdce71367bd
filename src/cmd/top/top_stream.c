/* top without a terminal: prints a table, or a JSON document in one line, at every interval. */
#include <errno.h>

#include "cmd/top/top_internal.h"
#include "cmd/top/top_signals.h"

#define NAMES_MS 2000 /* maximum time that the first output waits for thread names, in ms */

static int print(struct top *t, struct err *err)
{
	top_refresh(t);
	errno = 0;
	if (t->ctx->json)
		json_print_take(top_view_json(&t->view), t->ctx->out);
	else
		top_view_print(&t->view, t->ctx->out);
	/* ferror(3): fflush(3) does not report that a large write has failed before. */
	if (fflush(t->ctx->out) == 0 && !ferror(t->ctx->out))
		return 0;
	return err_stdout(err, errno ? -errno : -EIO);
}

static void notice_once(struct top *t)
{
	if (!t->is_noticed && !t->one.has_names)
		cmd_print_notice(t->ctx->cmd, "%s; names are those of the kernel",
				 t->one.why.text);
	t->is_noticed = true;
}

/*
 * Waits until monotonic_ns() returns at_ns, and receives a thread dump that arrives meanwhile.  If
 * for_names is set, stops waiting when no dump is running any more.  Returns true; or false if a
 * signal has ended the wait.
 */
static bool wait_until(struct top *t, int64_t at_ns, bool for_names)
{
	struct top_dump *dump = &t->one.dump;
	const struct deadline until = { at_ns };

	while (!top_signals_stop() && !deadline_passed(until)) {
		struct pollfd pfd = { .fd = top_dump_fd(dump), .events = POLLIN };

		if (for_names && !top_dump_is_running(dump))
			break;
		if (top_signals_wait(&pfd, 1, until) > 0 && top_take_dump(t) < 0)
			notice_once(t);
	}
	return !top_signals_stop();
}

static int verdict(unsigned done, const struct top_pace *pace, struct err *err)
{
	if (done >= pace->count)
		return 0;
	return err_set(err, EXIT_PARTIAL, "ended by a signal after %u of %u samples", done,
		       pace->count);
}

static int run(struct top *t, const struct top_pace *pace, struct err *err)
{
	const struct top_opts *opts = t->ctx->opts;
	int64_t due_ns = monotonic_ns(), end_ns = DEADLINE_NEVER.at_ns;
	unsigned done = 0;

	if (opts->duration_ms > 0)
		end_ns = deadline_in_ms(opts->duration_ms).at_ns;
	if (top_read(t, err) < 0)
		return -1;
	while (pace->count == 0 || done < pace->count) {
		due_ns = top_next_ns(t, pace, due_ns);
		if (due_ns > end_ns && done > 0)
			return 0;
		if (!wait_until(t, due_ns, false) ||
		    (done == 0 && !wait_until(t, deadline_in_ms(NAMES_MS).at_ns, true)))
			return verdict(done, pace, err);
		if (top_read(t, err) < 0 || print(t, err) < 0)
			return -1;
		done++;
	}
	return 0;
}

int top_stream(struct top *t, const struct top_pace *pace, struct err *err)
{
	int rc;

	top_signals_begin(false);
	rc = run(t, pace, err);
	top_signals_end();
	return rc;
}
