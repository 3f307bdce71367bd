/* capture: runs the commands, each in a child process, and adds their output to the archive. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "archive/tar_gz.h"
#include "cmd/capture/capture.h"
#include "discover/hsperf.h"
#include "fileio/child.h"
#include "fileio/io.h"
#include "proc/procfs.h"

#define MASKED_MAX (512u * 1024 * 1024)
#define ENVIRON_MAX (16u * 1024 * 1024)
/*
 * Limit for an item, added to capture_item.takes_s: ITEM_MS milliseconds; or ITEM_TIMEOUTS times
 * the caller's --timeout if that is longer, because some commands attach several times.
 */
#define ITEM_MS 120000
#define ITEM_TIMEOUTS 12
#define HEAP_S 480     /* expected seconds for a heap dump of 50 GB; smaller ones take less */
#define STEP_MS 100
#define PAUSE_MS 5000  /* ms between two thread dumps */

/*
 * The items, in the order in which they are run.  The system properties are first, because other
 * files repeat their values: only a secret that is already known can be overwritten in those files.
 */
const struct capture_item capture_items[CAPTURE_ITEMS] = {
	{ "properties.json", { "props", "--json", "PID" }, 0, CAPTURE_NAMES, 0, "an attach" },
	{ "info.txt", { "info", "PID" }, 0, CAPTURE_NAMES, 0, "none, or an attach" },
	{ "list.txt", { "list", "-l", "-m", "-v" }, 0, CAPTURE_NAMES, 0, "none" },
	{ "flags.txt", { "flags", "PID" }, 0, CAPTURE_NAMES, 0, "an attach" },
	{ "memory.txt", { "memory", "PID" }, 0, CAPTURE_VERDICT, 0, "some attaches" },
	{ "memory.json", { "memory", "--json", "PID" }, 0, CAPTURE_VERDICT, 0,
	  "some attaches" },
	{ "heap.txt", { "jcmd", "PID", "GC.heap_info" }, 9, 0, 0, "an attach" },
	{ "metaspace.txt", { "jcmd", "PID", "VM.metaspace" }, 11, 0, 0, "a safepoint" },
	{ "classloaders.txt", { "jcmd", "PID", "VM.classloader_stats" }, 0, 0, 0, "a safepoint" },
	{ "logging.txt", { "jcmd", "PID", "VM.log", "list" }, 9, CAPTURE_NAMES, 0, "an attach" },
	{ "threads-1.txt", { "threads", "--raw", "PID" }, 0, 0, 0, "a safepoint" },
	{ "threads-2.txt", { "threads", "--raw", "PID" }, 0, CAPTURE_AFTER_PAUSE, 0,
	  "a safepoint" },
	{ "threads-3.txt", { "threads", "--raw", "PID" }, 0, CAPTURE_AFTER_PAUSE, 0,
	  "a safepoint" },
	{ "threads.json", { "threads", "--json", "PID" }, 0, 0, 1, "a safepoint" },
	{ "threads-virtual.json", { "threads", "--virtual", "--raw", "PID" }, 21, 0, 0,
	  "the stack of each thread, one after another" },
	{ "stat.json", { "stat", "--json", "PID", "1s", "10" }, 0, CAPTURE_COUNTERS, 10,
	  "none" },
	/* The JVM's own histogram, so that a capture without --heap loads no agent. */
	{ "heaphisto.json", { "heaphisto", "--vm", "--json", "PID" }, 0, 0, 0,
	  "a pause of some 30 ns per object" },
	{ "recording.jfr", { "jfr", "PID", "record", "-d", "30", "-" }, 0,
	  CAPTURE_IF_JFR | CAPTURE_BINARY, 30, "the flight recorder for 30 s" },
	{ "heap.hprof.gz", { "heapdump", "--redact=all", "--gzip", "PID", "-" }, 0,
	  CAPTURE_IF_HEAP | CAPTURE_REDACTED, HEAP_S,
	  "the agent, and a pause of about 20 ms per GB; without a snapshot a full collection, and "
	  "about 1.3 s per GB" },
};

static bool is_signalled(struct capture *c)
{
	const struct timespec now = { 0, 0 };

	if (!c->stopped && sigtimedwait(&c->signals, NULL, &now) >= 0)
		c->stopped = true;
	return c->stopped;
}

static void show(struct capture *c, const char *what)
{
	if (progress_due(&c->line))
		progress_show(&c->line, "capturing %s (%d of %d, Ctrl-C ends)", what, c->number,
			      CAPTURE_ITEMS + 1);
}

/* Returns the deadline of an item that is expected to take `takes_s` seconds. */
static struct deadline item_end(const struct capture *c, int takes_s)
{
	uint64_t ms = (uint64_t)c->ctx->timeout_ms * ITEM_TIMEOUTS;

	ms = (ms > ITEM_MS ? ms : ITEM_MS) + (uint64_t)takes_s * 1000;
	return deadline_in_ms(ms < UINT_MAX ? (unsigned)ms : UINT_MAX);
}

/*
 * Runs the item's command in this child process, which exits with the command's exit code.  The
 * child has its own process group, so that Ctrl-C ends the capture and not the command.  --timeout
 * follows the command's name, because the words after a COMMAND of jcmd belong to the JVM.
 */
static void _noreturn_ run_command(const struct capture *c, const struct capture_item *item,
				   int out, int messages, pid_t parent)
{
	char pid[16], timeout[32];
	/* "jtool", the words, --timeout, and NULL */
	char *argv[CAPTURE_WORDS_MAX + 3] = { (char *)"jtool", (char *)item->words[0], timeout };

	(void)snprintf(pid, sizeof(pid), "%d", (int)c->ctx->jvm->pid);
	(void)snprintf(timeout, sizeof(timeout), "--timeout=%ums", c->ctx->timeout_ms);
	for (size_t i = 1; i < CAPTURE_WORDS_MAX && item->words[i]; i++)
		argv[i + 2] = strcmp(item->words[i], "PID") == 0 ? pid : (char *)item->words[i];
	(void)sigprocmask(SIG_SETMASK, &c->old, NULL);
	if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent &&
	    dup2(out, STDOUT_FILENO) >= 0 && dup2(messages, STDERR_FILENO) >= 0)
		(void)execv("/proc/self/exe", argv);
	_exit(EXIT_PARTIAL);
}

/*
 * Waits for the child, and ends the child if the user stops the capture.  Returns the child's exit
 * code, or -1 if the child did not end in time or was killed.
 */
static int wait_for(struct capture *c, const struct capture_item *item, pid_t child)
{
	struct deadline end = item_end(c, item->takes_s);
	bool is_ending = false;
	siginfo_t info;
	int status;

	for (;;) {
		const struct timespec step = { 0, STEP_MS * 1000000 };

		info.si_pid = 0;
		if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid != 0 || deadline_passed(end))
			break;
		show(c, item->name);
		if (!c->stopped && sigtimedwait(&c->signals, NULL, &step) >= 0)
			c->stopped = true;
		else if (c->stopped)
			(void)nanosleep(&step, NULL);
		if (c->stopped && !is_ending) {
			(void)kill(child, SIGTERM); /* the child restores the JVM and exits */
			end = item_end(c, 0);
			is_ending = true;
		}
	}
	if (child_wait(child, &status, deadline_in_ms(STEP_MS)) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void read_message(struct capture_result *r, int fd)
{
	ssize_t n = pread(fd, r->message, sizeof(r->message) - 1, 0);

	r->message[n > 0 ? n : 0] = '\0';
}

static int add_bytes(struct capture *c, const char *name, int fd, struct capture_result *r,
		     struct err *err)
{
	struct stat st;
	int rc = fstat(fd, &st) < 0 ? -errno : 0;

	if (rc == 0) {
		r->size = (uint64_t)st.st_size;
		rc = tar_gz_add(c->out.fd, name, time(NULL), fd, r->size);
	}
	if (rc < 0)
		return atomic_file_failed(&c->out, rc, err);
	r->is_there = true;
	/* Send each file at once: if a pipe or connection breaks, the reader has these files. */
	return atomic_file_send(&c->out, err);
}

/*
 * Masks the secrets in a text.  Overwrites the known values first, because masking by names could
 * change a part of such a value.  Then masks values by their names if the text has names and values
 * (CAPTURE_NAMES); otherwise masks only user names and passwords in URLs, because in a stack trace
 * "Token.java:12" also looks like a name and a value.  In a binary file, only known values are
 * overwritten, so that the file stays valid.
 */
static void mask(struct capture *c, struct buf *text, int flags, struct capture_result *r)
{
	struct buf masked = BUF_INIT;

	if (c->opts->no_mask)
		return;
	if (flags & CAPTURE_NAMES)
		secrets_learn(&c->secrets, buf_str(text), text->len);
	else if (!(flags & CAPTURE_BINARY))
		secrets_learn_urls(&c->secrets, buf_str(text), text->len);
	r->n_masked += secrets_overwrite(&c->secrets, text->data, text->len);
	if (flags & CAPTURE_BINARY)
		return;
	r->n_masked += flags & CAPTURE_NAMES ?
			       secrets_mask(&masked, buf_str(text), text->len) :
			       secrets_mask_urls(&masked, buf_str(text), text->len);
	buf_release(text);
	*text = masked;
}

int capture_add_text(struct capture *c, const char *name, struct buf *text, int flags,
		     struct capture_result *r, struct err *err)
{
	_cleanup_close_ int fd = io_unnamed_file();
	int rc;

	mask(c, text, flags, r);
	rc = fd < 0 ? fd : io_write_all(fd, buf_str(text), text->len, DEADLINE_NEVER);
	if (rc < 0)
		return io_temp_failed(err, rc, "'%s'", name);
	return add_bytes(c, name, fd, r, err);
}

static int add_output(struct capture *c, const struct capture_item *item, int fd,
		      struct capture_result *r, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc;

	if (c->opts->no_mask || (item->flags & CAPTURE_REDACTED))
		return add_bytes(c, item->name, fd, r, err);
	rc = lseek(fd, 0, SEEK_SET) < 0 ? -errno : io_slurp(fd, &text, MASKED_MAX);
	if (rc < 0 && rc != -EFBIG)
		return io_temp_failed(err, rc, "'%s'", item->name);
	if (rc < 0) {
		(void)snprintf(r->message, sizeof(r->message), "more than %u MB",
			       MASKED_MAX >> 20);
		return 0;
	}
	return capture_add_text(c, item->name, &text, item->flags, r, err);
}

double capture_safepoints(const struct capture *c)
{
	struct perfdata perf = { .data = NULL };
	struct err ignored = { .code = EXIT_DONE };
	int64_t ticks, frequency;

	if (hsperf_read_once(c->ctx->jvm, &perf, &ignored) < 0)
		return -1;
	ticks = perfdata_number(&perf, "sun.rt.safepointTime", -1);
	frequency = perfdata_number(&perf, "sun.os.hrt.frequency", -1);
	perfdata_release(&perf);
	return ticks < 0 || frequency <= 0 ? -1 : (double)ticks / (double)frequency;
}

static void note_pause(const struct capture *c, double before, struct capture_result *r)
{
	double after = before < 0 ? -1 : capture_safepoints(c);

	r->pause = before < 0 || after < before ? -1 : after - before;
}

/* Masks the secrets in a command's message, because the message may quote a command line. */
static void mask_message(struct capture *c, struct capture_result *r)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct capture_result ignored = { .code = 0 };

	buf_adds(&text, r->message);
	mask(c, &text, CAPTURE_NAMES, &ignored);
	(void)snprintf(r->message, sizeof(r->message), "%s", buf_str(&text));
}

/*
 * Returns whether the JVM has exited.  Call this before each item, because the item's command finds
 * the JVM by its pid, and the kernel may give the pid of an exited JVM to another process.
 */
static bool is_gone(const struct capture *c)
{
	const struct jvm *jvm = c->ctx->jvm;
	struct proc_status status;
	struct procfs proc;
	bool gone;

	if (procfs_open(&proc, "/proc") < 0)
		return false;
	gone = procfs_recheck(&proc, jvm->pid, jvm->start_ticks, &status) == -ESRCH;
	procfs_close(&proc);
	return gone;
}

static int run_item(struct capture *c, const struct capture_item *item, struct capture_result *r,
		    struct err *err)
{
	_cleanup_close_ int out = io_unnamed_file(), messages = io_unnamed_file();
	double paused = capture_safepoints(c);
	int64_t begin_ns = monotonic_ns();
	pid_t parent = getpid(), child;

	if (out < 0 || messages < 0)
		return io_temp_failed(err, out < 0 ? out : messages, "'%s'", item->name);
	if (is_gone(c)) {
		r->code = EXIT_PARTIAL;
		(void)snprintf(r->message, sizeof(r->message), "the JVM has exited");
		return 0;
	}
	child = fork();
	if (child == 0)
		run_command(c, item, out, messages, parent);
	if (child < 0)
		return err_not_started(err, EXIT_PARTIAL, -errno, "the process for '%s'",
				       item->name);
	r->code = wait_for(c, item, child);
	r->seconds = (double)(monotonic_ns() - begin_ns) / 1e9;
	note_pause(c, paused, r);
	read_message(r, messages);
	mask_message(c, r);
	if (r->code != EXIT_DONE && !(r->code == EXIT_ANSWER && item->flags & CAPTURE_VERDICT))
		return 0;
	return add_output(c, item, out, r, err);
}

/*
 * Learns the secrets in the JVM's command line.  Reads /proc/PID/cmdline, in which arguments end
 * with NUL, so that a secret that contains spaces is learned completely.
 */
static void learn_arguments(struct capture *c, const struct procfs *proc)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (procfs_read(proc, c->ctx->jvm->pid, "cmdline", &text, ENVIRON_MAX) == 0)
		secrets_learn_args(&c->secrets, buf_str(&text), text.len);
}

/*
 * Appends an environment variable to `out`.  If the variable's name is that of a secret, masks the
 * complete value, even if the value has several lines.
 */
static void add_variable(struct capture *c, struct buf *out, const char *variable)
{
	size_t name = strcspn(variable, "=");

	if (c->opts->no_mask || variable[name] == '\0' || !secrets_is_name(variable, name))
		buf_adds(out, variable);
	else
		buf_addf(out, "%.*s=" SECRETS_MASK, (int)name, variable);
	buf_addc(out, '\n');
}

static int add_environment(struct capture *c, struct err *err)
{
	struct capture_result *r = &c->environment;
	_cleanup_buf_ struct buf all = BUF_INIT, text = BUF_INIT;
	struct procfs proc;
	int rc = procfs_open(&proc, "/proc");

	if (rc == 0) {
		rc = procfs_read(&proc, c->ctx->jvm->pid, "environ", &all, ENVIRON_MAX);
		learn_arguments(c, &proc);
		procfs_close(&proc);
	}
	r->code = rc == 0 ? EXIT_DONE : EXIT_PERMISSION;
	if (rc < 0) {
		(void)snprintf(r->message, sizeof(r->message), "%s", strerror(-rc));
		return 0;
	}
	secrets_learn_args(&c->secrets, buf_str(&all), all.len);
	for (size_t i = 0; i < all.len; i += strlen(all.data + i) + 1)
		add_variable(c, &text, all.data + i);
	return capture_add_text(c, "environment.txt", &text, CAPTURE_NAMES, r, err);
}

/*
 * Waits for PAUSE_MS before the next thread dump, so that a comparison of the dumps shows which
 * threads have moved.  Does not wait if the JVM has exited.
 */
static void pause_before(struct capture *c, const char *name)
{
	struct deadline end = deadline_in_ms(PAUSE_MS);
	const struct timespec step = { 0, STEP_MS * 1000000 };

	while (!c->stopped && !deadline_passed(end) && !is_gone(c)) {
		show(c, name);
		if (sigtimedwait(&c->signals, NULL, &step) >= 0)
			c->stopped = true;
	}
}

bool capture_wants(const struct capture *c, const struct capture_item *item)
{
	int feature = jvm_feature(c->ctx->jvm);

	return (!(item->flags & CAPTURE_IF_JFR) || c->opts->jfr) &&
	       (!(item->flags & CAPTURE_IF_HEAP) || c->opts->heap) &&
	       (feature == 0 || feature >= item->since);
}

int capture_run(struct capture *c, struct err *err)
{
	if (add_environment(c, err) < 0)
		return -1;
	for (size_t i = 0; i < CAPTURE_ITEMS && !is_signalled(c); i++) {
		c->number = (int)i + 1;
		if (!capture_wants(c, &capture_items[i]))
			continue;
		if (capture_items[i].flags & CAPTURE_AFTER_PAUSE)
			pause_before(c, capture_items[i].name);
		if (!c->stopped && run_item(c, &capture_items[i], &c->results[i], err) < 0)
			return -1;
	}
	return c->stopped ? 0 : capture_logs(c, err);
}

void capture_release(struct capture *c)
{
	for (size_t i = 0; i < c->n_logs; i++) {
		free(c->logs[i].path);
		free(c->logs[i].name);
	}
	free(c->logs);
	secrets_release(&c->secrets);
}

