/*
 * jfr record: a recording of some seconds, from its start to the caller's file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/sysmacros.h>

#include "base/io.h"
#include "cmd/jfr.h"
#include "target/ns.h"

#define DEFAULT_MS 30000
#define TICK_MS 1000
/* How much longer than asked for it would go on by itself, beside two times --timeout. */
#define MARGIN_S 60

struct record {
	const struct ctx *ctx;
	const struct jfr_request *req;
	unsigned duration_ms;
	struct buf words; /* " name=NAME" */
	time_t began;
	int signals; /* signalfd(2) of those that end it early */
};

/*
 * Where a recording goes that nobody fetches, because we were killed: it ends by itself, writes
 * to /dev/null and is closed.  Without a file JDK 8 to 17 would keep it until the JVM ends, and
 * later ones would write one into its working directory.  But where there is no such device, the
 * JVM would make a file.
 */
static bool has_null_device(const struct ns *ns)
{
	_cleanup_close_ int dev = ns_opendir(ns, "/dev");
	struct stat st;

	return dev >= 0 && fstatat(dev, "null", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static int start(struct record *r, const struct ns *ns, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	uint64_t seconds = ((uint64_t)r->duration_ms + 2 * (uint64_t)r->ctx->timeout_ms) / 1000;

	if (jfr_check_repository(r->ctx, err) < 0)
		return -1;
	buf_addf(&r->words, " name=jtool-%d-%llx", (int)getpid(),
		 (unsigned long long)io_now_ns());
	buf_addf(&line, "JFR.start%s duration=%llus", buf_str(&r->words),
		 (unsigned long long)seconds + MARGIN_S);
	if (has_null_device(ns))
		buf_adds(&line, " filename=/dev/null dumponexit=false");
	buf_adds(&line, buf_str(&r->req->words));
	r->began = time(NULL);
	return jfr_do(r->ctx, JFR_START, buf_str(&line), NULL, err);
}

static void show_progress(const struct record *r, struct deadline end)
{
	unsigned left = (unsigned)deadline_left_ms(end);

	fprintf(stderr, "\rrecording: %u of %u s; Ctrl-C ends it early ",
		(r->duration_ms - left) / 1000, (r->duration_ms + 999) / 1000);
}

/* Until the time is up or a signal comes: 0; or the JVM is gone: -ESRCH. */
static int wait_for_end(const struct record *r, const struct ns *ns)
{
	struct deadline end = deadline_in_ms(r->duration_ms);
	bool watched = isatty(STDERR_FILENO) && !r->ctx->steps;
	struct pollfd fds[] = { { r->signals, POLLIN, 0 }, { ns->pid_fd, POLLIN, 0 } };
	int rc = 0;

	while (rc == 0 && !deadline_passed(end)) {
		int left = deadline_left_ms(end);

		if (watched)
			show_progress(r, end);
		if (poll(fds, ARRAY_SIZE(fds), left < TICK_MS ? left : TICK_MS) < 0 &&
		    errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		rc = ns_alive(ns);
	}
	if (watched)
		fputs("\r\033[K", stderr);
	return rc;
}

/* Those that came, which would end us as soon as they are let in. */
static void take_signals(int fd)
{
	struct signalfd_siginfo info;

	while (io_read(fd, &info, sizeof(info)) > 0)
		continue;
}

static int stop(const struct record *r, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_addf(&line, "JFR.stop%s", buf_str(&r->words));
	return jfr_do(r->ctx, JFR_STOP, buf_str(&line), NULL, err);
}

/* The recording is stopped whatever becomes of its data. */
static int fetch(const struct record *r, struct outfile *out, struct err *err)
{
	int rc = jfr_fetch(r->ctx, buf_str(&r->words), r->began, out, err);
	struct err ignored = { .code = EXIT_DONE };

	if (rc == 0)
		rc = jfr_commit(r->ctx, r->req->file, out, err);
	return stop(r, rc == 0 ? err : &ignored) < 0 ? -1 : rc;
}

static int record(struct record *r, const struct ns *ns, struct outfile *out,
		  const sigset_t *old, struct err *err)
{
	int rc = start(r, ns, err);

	if (rc == 0 && wait_for_end(r, ns) < 0)
		rc = err_set(err, EXIT_PARTIAL,
			     "JVM %d went away while it was recorded: nothing could be saved",
			     (int)r->ctx->jvm->pid);
	/* A second signal ends us: fetching may take long. */
	take_signals(r->signals);
	(void)sigprocmask(SIG_SETMASK, old, NULL);
	return rc == 0 ? fetch(r, out, err) : -1;
}

static int record_to(struct record *r, struct outfile *out, struct err *err)
{
	sigset_t ends, old;
	struct ns ns;
	int rc;

	if (ns_open(r->ctx->jvm, &ns, err) < 0)
		return -1;
	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigaddset(&ends, SIGHUP);
	r->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0) {
		rc = err_set(err, EXIT_PARTIAL, "signals cannot be waited for: %s",
			     strerror(errno));
	} else {
		(void)sigprocmask(SIG_BLOCK, &ends, &old);
		rc = record(r, &ns, out, &old, err);
	}
	util_close_p(&r->signals);
	ns_close(&ns);
	return rc;
}

int jfr_record(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	const struct jfr_opts *opts = ctx->opts;
	struct record r = {
		.ctx = ctx,
		.req = req,
		.duration_ms = opts->duration_ms ? opts->duration_ms : DEFAULT_MS,
		.words = BUF_INIT,
		.signals = -1,
	};
	struct outfile out;
	int rc;

	if (jfr_open_file(ctx, req->file, &out, err) < 0)
		return -1;
	rc = record_to(&r, &out, err);
	outfile_release(&out);
	buf_release(&r.words);
	return rc;
}
