#include "cli/run_all.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fileio/io.h"
#include "base/xalloc.h"
#include "discover/resolve.h"

/* Number of JVMs that are queried at a time.  It limits the memory of all children together. */
#define AT_ONCE 8

struct job {
	const struct jvm *jvm;
	pid_t child;       /* 0: not running */
	int out, messages; /* unnamed files for the child's stdout and stderr; -1: none */
	bool is_done;
	int status;      /* wait status from waitpid(2) */
	struct err *err; /* shared with the child */
};

struct batch {
	struct ctx *ctx;
	struct job *jobs;
	size_t n, n_started, n_shown, n_running;
	struct run_all_tally tally;
};

void run_all_failed(struct run_all_tally *tally, const struct jvm *jvm, const struct err *cause)
{
	struct err prefixed = *cause;

	err_prefix(&prefixed, "%d", (int)jvm->pid);
	cmd_print_error(tally->cmd, &prefixed);
	if (tally->failed++ == 0)
		tally->first = cause->code;
}

int run_all_verdict(const struct run_all_tally *tally, struct err *err)
{
	if (tally->failed == 0)
		return 0;
	return err_set(err, tally->failed < tally->n ? EXIT_PARTIAL : tally->first,
		       "%zu of %zu JVMs gave no result", tally->failed, tally->n);
}

/* Runs the command in the child process. */
static void _noreturn_ run_child(const struct batch *batch, const struct job *job, pid_t parent)
{
	struct ctx ctx = *batch->ctx;
	int rc;

	/* When the parent dies, nobody waits for the result. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(EXIT_PARTIAL);
	ctx.jvm = job->jvm;
	ctx.out = fdopen(job->out, "w");
	if (!ctx.out || dup2(job->messages, STDERR_FILENO) < 0) {
		(void)err_set(job->err, EXIT_PARTIAL,
			      "cannot open a temporary file for this JVM's result: %s; set TMPDIR "
			      "to another directory", strerror(errno));
		_exit(EXIT_PARTIAL);
	}
	rc = ctx.cmd->run(&ctx, job->err);
	if (fflush(ctx.out) != 0 && rc == 0)
		(void)err_set(job->err, EXIT_PARTIAL,
			      "cannot write the temporary file for this JVM's result: %s; set "
			      "TMPDIR to another directory", strerror(errno));
	_exit((int)job->err->code);
}

static int fork_job(struct batch *batch, struct job *job)
{
	pid_t parent = getpid();

	job->out = io_unnamed_file();
	if (job->out < 0)
		return job->out;
	job->messages = io_unnamed_file();
	if (job->messages < 0)
		return job->messages;
	job->child = fork();
	if (job->child == 0)
		run_child(batch, job, parent);
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
	(void)err_set(job->err, EXIT_PARTIAL, "cannot start the jtool process for this JVM: %s",
		      strerror(-rc));
	job->is_done = true;
}

static void wait_for_one(struct batch *batch)
{
	int status;
	pid_t child = waitpid(-1, &status, 0);

	for (size_t i = 0; child > 0 && i < batch->n_started; i++) {
		struct job *job = &batch->jobs[i];

		if (job->child != child)
			continue;
		job->child = 0;
		job->is_done = true;
		job->status = status;
		batch->n_running--;
	}
}

static void close_output(struct job *job)
{
	util_close_p(&job->out);
	util_close_p(&job->messages);
	job->out = job->messages = -1;
}

static int print_result(const struct ctx *ctx, const struct job *job)
{
	if (!ctx->json)
		fprintf(ctx->out, "%d:\n", (int)job->jvm->pid);
	if (fflush(ctx->out) != 0)
		return -errno;
	return job->out < 0 ? 0 : io_copy(job->out, fileno(ctx->out));
}

/*
 * Prints a job's output and error.  Returns -1 with err set when no other job can succeed: the
 * command line is wrong for every JVM, or our output cannot be written.
 */
static int print_job(struct batch *batch, struct job *job, struct err *err)
{
	int rc;

	if (job->status != 0) /* has no effect if the child has set an error */
		(void)err_set(job->err, EXIT_PARTIAL,
			      "the jtool process for this JVM was killed; if memory ran out, name "
			      "this JVM alone");
	if (job->err->code == EXIT_USAGE) {
		*err = *job->err;
		return -1;
	}
	rc = print_result(batch->ctx, job);
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL, "cannot write the result to stdout: %s",
			       strerror(-rc));
	rc = job->messages < 0 ? 0 : io_copy(job->messages, STDERR_FILENO);
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL, "cannot write messages to stderr: %s",
			       strerror(-rc));
	if (job->err->code != EXIT_DONE)
		run_all_failed(&batch->tally, job->jvm, job->err);
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
		if (batch->jobs[i].child > 0)
			(void)kill(batch->jobs[i].child, SIGTERM);
	}
	while (batch->n_running > 0)
		wait_for_one(batch);
	for (size_t i = 0; i < batch->n; i++)
		close_output(&batch->jobs[i]);
}

static int run_in_children(struct ctx *ctx, const struct jvm_list *list, struct err *err)
{
	size_t size = list->n * sizeof(struct err);
	struct batch batch = {
		.ctx = ctx,
		.n = list->n,
		.tally = { .cmd = ctx->cmd, .n = list->n },
	};
	struct err *errors = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				  -1, 0);
	int rc;

	if (errors == MAP_FAILED)
		return err_set(err, EXIT_PARTIAL,
			       "cannot allocate memory to share with the jtool processes for each "
			       "JVM: %s", strerror(errno));
	batch.jobs = xcalloc(list->n, sizeof(*batch.jobs));
	for (size_t i = 0; i < list->n; i++)
		batch.jobs[i] = (struct job){
			.jvm = list->jvms[i], .out = -1, .messages = -1, .err = &errors[i]
		};
	rc = run_jobs(&batch, err);
	stop_jobs(&batch);
	free(batch.jobs);
	(void)munmap(errors, size);
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
