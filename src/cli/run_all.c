#include "all.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "target/resolve.h"

/* JVMs at a time: waiting for them costs nothing, but the heaps of all at once would. */
#define AT_ONCE 8

struct job {
	const struct jvm *jvm;
	pid_t child;       /* 0: not running */
	int out, messages; /* what it prints and what it says, in files without a name; -1 */
	bool is_done;
	int status;      /* of waitpid(2) */
	struct err *err; /* shared with the child */
};

struct crew {
	struct ctx *ctx;
	struct job *jobs;
	size_t n, n_started, n_shown, n_running;
	struct all_tally tally;
};

void all_failed(struct all_tally *tally, const struct jvm *jvm, const struct err *one)
{
	struct err told = *one;

	err_prefix(&told, "%d", (int)jvm->pid);
	cmd_tell(tally->cmd, &told);
	if (tally->failed++ == 0)
		tally->first = one->code;
}

int all_verdict(const struct all_tally *tally, struct err *err)
{
	if (tally->failed == 0)
		return 0;
	return err_set(err, tally->failed < tally->n ? EXIT_PARTIAL : tally->first,
		       "%zu of %zu JVMs gave no result", tally->failed, tally->n);
}

/* In the child. */
static void _noreturn_ work(const struct crew *crew, const struct job *job, pid_t parent)
{
	struct ctx ctx = *crew->ctx;
	int rc;

	/* Somebody who ends us does not want the answers any more. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(EXIT_PARTIAL);
	ctx.jvm = job->jvm;
	ctx.out = fdopen(job->out, "w");
	if (!ctx.out || dup2(job->messages, STDERR_FILENO) < 0) {
		(void)err_set(job->err, EXIT_PARTIAL, "nowhere to put the result: %s",
			      strerror(errno));
		_exit(EXIT_PARTIAL);
	}
	rc = ctx.cmd->run(&ctx, job->err);
	if (fflush(ctx.out) != 0 && rc == 0)
		(void)err_set(job->err, EXIT_PARTIAL, "the result could not be kept: %s",
			      strerror(errno));
	_exit((int)job->err->code);
}

static int begin(struct crew *crew, struct job *job)
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
		work(crew, job, parent);
	return job->child < 0 ? -errno : 0;
}

static void start(struct crew *crew)
{
	struct job *job = &crew->jobs[crew->n_started++];
	int rc = begin(crew, job);

	if (rc == 0) {
		crew->n_running++;
		return;
	}
	(void)err_set(job->err, EXIT_PARTIAL, "no process can be started for it: %s",
		      strerror(-rc));
	job->is_done = true;
}

static void wait_for_one(struct crew *crew)
{
	int status;
	pid_t child = waitpid(-1, &status, 0);

	for (size_t i = 0; child > 0 && i < crew->n_started; i++) {
		struct job *job = &crew->jobs[i];

		if (job->child != child)
			continue;
		job->child = 0;
		job->is_done = true;
		job->status = status;
		crew->n_running--;
	}
}

static void forget(struct job *job)
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
 * One result, with all that was printed before an error, too.  -1 with err set when the rest
 * need not be tried: the command line is wrong for every JVM, or nobody takes our output.
 */
static int show(struct crew *crew, struct job *job, struct err *err)
{
	int rc;

	if (job->status != 0) /* for the case that it died before it could say why */
		(void)err_set(job->err, EXIT_PARTIAL, "the process that looked into it died");
	if (job->err->code == EXIT_USAGE) {
		*err = *job->err;
		return -1;
	}
	rc = print_result(crew->ctx, job);
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL, "the result could not be written: %s",
			       strerror(-rc));
	if (job->messages >= 0 && io_copy(job->messages, STDERR_FILENO) < 0)
		return err_set(err, EXIT_PARTIAL, "stderr cannot be written");
	if (job->err->code != EXIT_DONE)
		all_failed(&crew->tally, job->jvm, job->err);
	forget(job);
	return 0;
}

static int work_through(struct crew *crew, struct err *err)
{
	while (crew->n_shown < crew->n) {
		struct job *next = &crew->jobs[crew->n_shown];

		if (next->is_done) {
			if (show(crew, next, err) < 0)
				return -1;
			crew->n_shown++;
		} else if (crew->n_started < crew->n && crew->n_running < AT_ONCE) {
			start(crew);
		} else {
			wait_for_one(crew);
		}
	}
	return all_verdict(&crew->tally, err);
}

static void end(struct crew *crew)
{
	for (size_t i = 0; i < crew->n_started; i++) {
		if (crew->jobs[i].child > 0)
			(void)kill(crew->jobs[i].child, SIGTERM);
	}
	while (crew->n_running > 0)
		wait_for_one(crew);
	for (size_t i = 0; i < crew->n; i++)
		forget(&crew->jobs[i]);
}

static int run_on(struct ctx *ctx, const struct jvm_list *list, struct err *err)
{
	size_t size = list->n * sizeof(struct err);
	struct crew crew = {
		.ctx = ctx,
		.n = list->n,
		.tally = { .cmd = ctx->cmd, .n = list->n },
	};
	struct err *errors = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				  -1, 0);
	int rc;

	if (errors == MAP_FAILED)
		return err_set(err, EXIT_PARTIAL, "no memory to share: %s", strerror(errno));
	crew.jobs = xcalloc(list->n, sizeof(*crew.jobs));
	for (size_t i = 0; i < list->n; i++)
		crew.jobs[i] = (struct job){
			.jvm = list->jvms[i], .out = -1, .messages = -1, .err = &errors[i]
		};
	rc = work_through(&crew, err);
	end(&crew);
	free(crew.jobs);
	(void)munmap(errors, size);
	return rc;
}

int all_run(struct ctx *ctx, struct err *err)
{
	struct jvm_list list;
	int rc;

	if (target_all(&list, err) < 0)
		return -1;
	rc = ctx->cmd->run_all ? ctx->cmd->run_all(ctx, &list, err) : run_on(ctx, &list, err);
	jvm_list_release(&list);
	return rc;
}
