/*
 * jfr record: starts a recording, waits, copies the recorded data to the caller's file, and stops
 * the recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/sysmacros.h>

#include "base/progress.h"
#include "fileio/io.h"
#include "cli/stop_signals.h"
#include "cmd/jfr/jfr.h"
#include "attach/target_query.h"

#define DEFAULT_MS 30000
#define TICK_MS 1000
/* in seconds; if jtool is killed, the JVM ends the recording after -d + 2 * --timeout + MARGIN_S */
#define MARGIN_S 60

struct recording {
	const struct ctx *ctx;
	const char *settings; /* words for JFR.start, each after a space */
	unsigned duration_ms;
	struct buf words; /* " name=NAME", which selects the recording */
	time_t began;
	int signals; /* signalfd(2) with the signals that end the recording early */
};

/*
 * Appends to `answer` whether /dev/null is a device in the JVM's file system.  If it is, jtool uses
 * it as the recording's filename; if it is not, the JVM would create a regular file.  If jtool is
 * killed, the recording ends by itself, and the JVM writes it to /dev/null.  Without a filename,
 * JDK 8 to 17 would retain the recording until the JVM exits, and later JDKs would write it to the
 * working directory.
 */
static int answer_null(const struct target_ns *ns, const void *arg, struct buf *answer,
		       struct err *err)
{
	_cleanup_close_ int dev = target_ns_opendir(ns, "/dev");
	struct stat st;
	uint64_t found = dev >= 0 && fstatat(dev, "null", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			 S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);

	(void)arg;
	(void)err;
	buf_add(answer, &found, sizeof(found));
	return 0;
}

static bool has_null_device(const struct jvm *jvm)
{
	const struct target_query q = { .fn = answer_null, .fd = -1, .max = sizeof(uint64_t) };
	struct err ignored = { .code = EXIT_DONE };
	uint64_t found;

	return target_query_number(jvm, &q, &found, &ignored) == 0 && found;
}

static int start(struct recording *r, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	uint64_t seconds = ((uint64_t)r->duration_ms + 2 * (uint64_t)r->ctx->timeout_ms) / 1000;

	if (jfr_check_repository(r->ctx, err) < 0)
		return -1;
	buf_addf(&r->words, " name=jtool-%d-%llx", (int)getpid(),
		 (unsigned long long)monotonic_ns());
	buf_addf(&line, "JFR.start%s duration=%llus", buf_str(&r->words),
		 (unsigned long long)seconds + MARGIN_S);
	if (has_null_device(r->ctx->jvm))
		buf_adds(&line, " filename=/dev/null dumponexit=false");
	buf_adds(&line, r->settings);
	r->began = time(NULL);
	return jfr_do(r->ctx, JFR_START, buf_str(&line), NULL, err);
}

static void show_progress(const struct recording *r, struct progress *line, struct deadline end)
{
	unsigned left = (unsigned)deadline_left_ms(end);

	if (progress_due(line))
		progress_show(line, "recording: %u of %u s (Ctrl-C ends early)",
			      (r->duration_ms - left) / 1000, (r->duration_ms + 999) / 1000);
}

/*
 * Waits for the end of the recording.  Returns 0 when the recording's duration is over or a signal
 * arrives; or -ESRCH if the JVM has exited.
 */
static int wait_for_end(const struct recording *r, const struct target_ns *ns)
{
	struct deadline end = deadline_in_ms(r->duration_ms);
	struct progress line = { .on = false };
	struct pollfd fds[] = { { r->signals, POLLIN, 0 }, { ns->pid_fd, POLLIN, 0 } };
	int rc = 0;

	if (!r->ctx->steps)
		progress_begin(&line);
	while (rc == 0 && !deadline_passed(end)) {
		int left = deadline_left_ms(end);

		show_progress(r, &line, end);
		if (poll(fds, ARRAY_SIZE(fds), left < TICK_MS ? left : TICK_MS) < 0 &&
		    errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		rc = target_ns_alive(ns);
	}
	progress_end(&line);
	return rc;
}

/* Consumes pending signals, which would end jtool as soon as they are unblocked. */
static void discard_signals(int fd)
{
	struct signalfd_siginfo info;

	while (io_read(fd, &info, sizeof(info)) > 0)
		continue;
}

static int stop(const struct recording *r, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_addf(&line, "JFR.stop%s", buf_str(&r->words));
	return jfr_do(r->ctx, JFR_STOP, buf_str(&line), NULL, err);
}

/* Copies the data to the caller's file.  Then stops the recording, even if the copy has failed. */
static int fetch(const struct recording *r, struct atomic_file *out, struct err *err)
{
	int rc = jfr_fetch(r->ctx, buf_str(&r->words), r->began, out, err);
	struct err ignored = { .code = EXIT_DONE };

	return stop(r, rc == 0 ? err : &ignored) < 0 ? -1 : rc;
}

static int record(struct recording *r, const struct target_ns *ns, struct atomic_file *out,
		  const sigset_t *old, struct err *err)
{
	int rc = start(r, err);

	if (rc == 0 && wait_for_end(r, ns) < 0)
		rc = err_set(err, EXIT_PARTIAL,
			     "JVM %d exited during the recording: nothing was saved",
			     (int)r->ctx->jvm->pid);
	/* From now on a signal ends jtool, because fetching may take long. */
	discard_signals(r->signals);
	(void)sigprocmask(SIG_SETMASK, old, NULL);
	return rc == 0 ? fetch(r, out, err) : -1;
}

static int run(struct recording *r, struct atomic_file *out, struct err *err)
{
	sigset_t ends, old;
	struct target_ns ns;
	int rc;

	if (target_ns_open_process(r->ctx->jvm, &ns, err) < 0)
		return -1;
	stop_signals(&ends);
	stop_signals_add(&ends, SIGHUP);
	r->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0) {
		rc = err_set(err, EXIT_PARTIAL, "cannot wait for signals: %s; try again",
			     strerror(errno));
	} else {
		(void)sigprocmask(SIG_BLOCK, &ends, &old);
		rc = record(r, &ns, out, &old, err);
	}
	util_close_p(&r->signals);
	target_ns_close(&ns);
	return rc;
}

int jfr_check_duration(unsigned duration_ms, struct err *err)
{
	return duration_ms > 0 ? 0 : err_set(err, EXIT_USAGE, "invalid -d: expected at least 1ms");
}

int jfr_record_to(const struct ctx *ctx, const char *words, unsigned duration_ms,
		  struct atomic_file *out, struct err *err)
{
	struct recording r = {
		.ctx = ctx,
		.settings = words,
		.duration_ms = duration_ms == JFR_UNSET ? DEFAULT_MS : duration_ms,
		.words = BUF_INIT,
		.signals = -1,
	};
	int rc = run(&r, out, err);

	buf_release(&r.words);
	return rc;
}

int jfr_record(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	const struct jfr_opts *opts = ctx->opts;
	struct atomic_file out;
	int rc;

	if (jfr_open_file(ctx, req->file, &out, err) < 0)
		return -1;
	rc = jfr_record_to(ctx, buf_str(&req->words), opts->duration_ms, &out, err);
	if (rc == 0)
		rc = jfr_commit(ctx, req->file, &out, err);
	atomic_file_release(&out);
	return rc;
}
