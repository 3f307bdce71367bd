#include "cli/run_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <wchar.h>

#include "fileio/io.h"
#include "fileio/watchdog.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "discover/resolve.h"

/*
 * Number of JVMs that run_on_all() works on at a time.  This limits the memory that all children
 * use together.
 */
#define AT_ONCE 8
#define KILL_AFTER_MS 1000 /* a child is killed this many ms after its deadline */
#define REAP_MS 5

/* Memory that the child of a job shares with its parent. */
struct shared {
	struct err err;
	struct watchdog watchdog;
};

struct job {
	const struct jvm *jvm;
	pid_t child;       /* 0: not running */
	int end;           /* read end of a pipe that hangs up when the child ends; -1: none */
	int out, messages; /* unnamed files that receive the child's stdout and stderr; -1: none */
	bool is_done;
	bool is_given_up; /* the child was killed, but may be blocked and never end */
	int status;       /* the child's status from waitpid(2) */
	struct shared *shared;
};

struct batch {
	struct ctx *ctx;
	struct job *jobs;
	size_t n, n_started, n_shown, n_running;
	struct run_all_tally tally;
	struct progress line;
};

void run_all_failed(struct run_all_tally *tally, const struct jvm *jvm, const struct err *cause)
{
	struct err prefixed = *cause;

	err_prefix(&prefixed, "%d", (int)jvm->pid);
	cmd_print_error(tally->cmd, &prefixed);
	if (cause->is_verdict)
		tally->verdicts++;
	else if (tally->failed++ == 0)
		tally->first = cause->code;
}

int run_all_verdict(const struct run_all_tally *tally, struct err *err)
{
	if (tally->failed == 0 && tally->verdicts == 0)
		return 0;
	if (tally->failed == 0)
		return err_set(err, EXIT_ANSWER,
			       "%zu of %zu JVMs failed the check, for the reasons above",
			       tally->verdicts, tally->n);
	return err_set(err, tally->failed < tally->n ? EXIT_PARTIAL : tally->first,
		       "%zu of %zu JVMs gave no result, for the reasons above", tally->failed,
		       tally->n);
}

/* In the child: runs the command. */
static void _noreturn_ run_child(const struct batch *batch, const struct job *job, pid_t parent)
{
	struct ctx ctx = *batch->ctx;
	struct err *err = &job->shared->err;
	int rc, lost;

	/*
	 * Ask the kernel to end this child when its parent dies.  End the child now if the parent
	 * has died before that.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(EXIT_PARTIAL);
	watchdog_attach(&job->shared->watchdog);
	ctx.jvm = job->jvm;
	ctx.out = fdopen(job->out, "w");
	if (!ctx.out || dup2(job->messages, STDERR_FILENO) < 0) {
		(void)io_temp_failed(err, -errno, "this JVM's result");
		_exit(EXIT_PARTIAL);
	}
	rc = ctx.cmd->run(&ctx, err);
	/* ferror(3): fflush(3) does not report that a large write has failed before. */
	lost = fflush(ctx.out) != 0 ? errno : ferror(ctx.out) ? EIO : 0;
	if (lost != 0 && (rc == 0 || err->is_verdict)) {
		*err = (struct err){ .code = EXIT_DONE }; /* the result is not complete */
		(void)io_temp_failed(err, -lost, "this JVM's result");
	}
	_exit((int)err->code);
}

static int fork_job(struct batch *batch, struct job *job)
{
	pid_t parent = getpid();
	int end[2];

	job->out = io_unnamed_file();
	if (job->out < 0)
		return job->out;
	job->messages = io_unnamed_file();
	if (job->messages < 0)
		return job->messages;
	if (pipe2(end, O_CLOEXEC) < 0)
		return -errno;
	job->shared->watchdog.due_ns =
		deadline_in_ms(batch->ctx->timeout_ms + KILL_AFTER_MS).at_ns;
	job->child = fork();
	if (job->child == 0)
		run_child(batch, job, parent);
	(void)close(end[1]);
	job->end = end[0];
	return job->child < 0 ? -errno : 0;
}

static void start_job(struct batch *batch)
{
	struct job *job = &batch->jobs[batch->n_started++];
	int rc = fork_job(batch, job);

	if (rc == 0) {
		batch->n_running++;
		return;
	}
	(void)err_not_started(&job->shared->err, EXIT_PARTIAL, rc, "the process for this JVM");
	job->is_done = true;
}

static void end_job(struct batch *batch, struct job *job)
{
	job->is_done = true;
	batch->n_running--;
}

/*
 * Ends each job whose child has ended.  If the deadline of a child has passed, kills the child, and
 * ends its job.  Returns the number of jobs that were ended.
 */
static size_t end_jobs(struct batch *batch)
{
	size_t n = 0;

	for (size_t i = 0; i < batch->n_started; i++) {
		struct job *job = &batch->jobs[i];

		if (job->is_done)
			continue;
		if (waitpid(job->child, &job->status, WNOHANG) == job->child) {
			job->child = 0;
		} else if (monotonic_ns() < job->shared->watchdog.due_ns) {
			continue;
		} else {
			/*
			 * A child that is blocked by a file system does not even end by SIGKILL, so
			 * do not wait for it.
			 */
			(void)kill(job->child, SIGKILL);
			job->is_given_up = true;
		}
		end_job(batch, job);
		n++;
	}
	return n;
}

/* Waits until a child ends, or the first deadline of a child passes. */
static void wait_a_while(struct batch *batch)
{
	struct pollfd fds[AT_ONCE];
	struct deadline due = DEADLINE_NEVER;
	size_t n = 0;
	int left_ms;

	for (size_t i = 0; i < batch->n_started; i++) {
		const struct job *job = &batch->jobs[i];

		if (job->is_done)
			continue;
		fds[n++] = (struct pollfd){ .fd = job->end, .events = POLLIN };
		if (job->shared->watchdog.due_ns < due.at_ns)
			due.at_ns = job->shared->watchdog.due_ns;
	}
	if (progress_due(&batch->line))
		progress_show(&batch->line, "%zu of %zu JVMs have answered",
			      batch->n_started - batch->n_running, batch->n);
	left_ms = deadline_left_ms(due);
	if (batch->line.on && left_ms > PROGRESS_MS)
		left_ms = PROGRESS_MS;
	/* After a child's pipe has hung up, wait a little longer until the child can be reaped. */
	if (poll(fds, n, left_ms) > 0)
		(void)poll(NULL, 0, REAP_MS);
}

static void wait_for_one(struct batch *batch)
{
	while (batch->n_running > 0 && end_jobs(batch) == 0)
		wait_a_while(batch);
}

static void close_output(struct job *job)
{
	util_close_p(&job->out);
	util_close_p(&job->messages);
	util_close_p(&job->end);
	job->out = job->messages = job->end = -1;
}

static int given_up(const struct batch *batch, const struct job *job, struct err *err)
{
	return err_set(err, EXIT_ATTACH,
		       "JVM %d did not answer within %g s, and jtool killed its process that "
		       "waits for it: a file system of the JVM may hang; look for an NFS or FUSE "
		       "mount that does not answer, or use --timeout to wait longer",
		       (int)job->jvm->pid, batch->ctx->timeout_ms / 1000.0);
}

static int print_result(const struct ctx *ctx, const struct job *job)
{
	if (!ctx->json)
		fprintf(ctx->out, "%d:\n", (int)job->jvm->pid);
	/*
	 * Mark stdout as used, because main() tests this with fwide(), and io_copy() below bypasses
	 * stdio.
	 */
	(void)fwide(ctx->out, -1);
	if (fflush(ctx->out) != 0)
		return -errno;
	return job->out < 0 || job->is_given_up ? 0 : io_copy(job->out, fileno(ctx->out));
}

static bool has_output(const struct job *job)
{
	return job->out >= 0 && !job->is_given_up && lseek(job->out, 0, SEEK_END) > 0;
}

/*
 * Prints a job's output and error.  Returns -1 with err set if no other job can succeed: the
 * command line is wrong for every JVM, or stdout cannot be written.
 */
static int print_job(struct batch *batch, struct job *job, struct err *err)
{
	struct err result = { .code = EXIT_DONE };
	int rc;

	progress_end(&batch->line);
	if (job->is_given_up)
		(void)given_up(batch, job, &result);
	else
		result = job->shared->err;
	if (job->status != 0) /* err_set() does nothing if the child has set an error */
		(void)err_set(&result, EXIT_PARTIAL,
			      "the jtool process for this JVM was killed; if memory ran out, name "
			      "this JVM alone");
	if (result.code == EXIT_USAGE) {
		*err = result;
		return -1;
	}
	rc = print_result(batch->ctx, job);
	if (rc < 0)
		return err_stdout(err, rc);
	rc = job->messages < 0 ? 0 : io_copy(job->messages, STDERR_FILENO);
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL, "cannot write messages to stderr: %s",
			       strerror(-rc));
	if (result.code != EXIT_DONE) {
		run_all_failed(&batch->tally, job->jvm, &result);
		if (batch->ctx->json && !has_output(job))
			cmd_print_error_json((int)job->jvm->pid, &result, batch->ctx->out);
	}
	close_output(job);
	return 0;
}

static int run_jobs(struct batch *batch, struct err *err)
{
	while (batch->n_shown < batch->n) {
		struct job *next = &batch->jobs[batch->n_shown];

		if (next->is_done) {
			if (print_job(batch, next, err) < 0)
				return -1;
			batch->n_shown++;
		} else if (batch->n_started < batch->n && batch->n_running < AT_ONCE) {
			start_job(batch);
		} else {
			wait_for_one(batch);
		}
	}
	return run_all_verdict(&batch->tally, err);
}

static void stop_jobs(struct batch *batch)
{
	for (size_t i = 0; i < batch->n_started; i++) {
		if (!batch->jobs[i].is_done)
			(void)kill(batch->jobs[i].child, SIGTERM);
	}
	while (batch->n_running > 0)
		wait_for_one(batch);
	for (size_t i = 0; i < batch->n; i++)
		close_output(&batch->jobs[i]);
}

static int run_in_children(struct ctx *ctx, const struct jvm_list *list, struct err *err)
{
	size_t size = list->n * sizeof(struct shared);
	struct batch batch = {
		.ctx = ctx,
		.n = list->n,
		.tally = { .cmd = ctx->cmd, .n = list->n },
	};
	struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (shared == MAP_FAILED)
		return err_set(err, EXIT_PARTIAL,
			       "cannot allocate memory to share with the jtool processes for each "
			       "JVM: %s; free memory, or raise the limit of jtool's control group",
			       strerror(errno));
	batch.jobs = xcalloc(list->n, sizeof(*batch.jobs));
	for (size_t i = 0; i < list->n; i++)
		batch.jobs[i] = (struct job){
			.jvm = list->jvms[i], .out = -1, .messages = -1, .end = -1,
			.shared = &shared[i],
		};
	progress_begin(&batch.line);
	rc = run_jobs(&batch, err);
	progress_end(&batch.line);
	stop_jobs(&batch);
	free(batch.jobs);
	(void)munmap(shared, size);
	return rc;
}

int run_on_all(struct ctx *ctx, struct err *err)
{
	struct jvm_list list;
	int rc;

	if (resolve_all(&list, err) < 0)
		return -1;
	rc = ctx->cmd->run_all ? ctx->cmd->run_all(ctx, &list, err)
			       : run_in_children(ctx, &list, err);
	jvm_list_release(&list);
	return rc;
}
