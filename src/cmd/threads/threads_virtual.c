/* threads --virtual: makes the JVM write all threads to a file, reads the file, and removes it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "attach/attach.h"
#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "cmd/threads/threads.h"
#include "fileio/io.h"
#include "model/threads/virtual_dump.h"
#include "session/staging/staged_file.h"

#define ANSWER_MAX 65536
/* bytes that must be free for the file, enough for about 60,000 waiting threads */
#define ROOM (UINT64_C(64) << 20)

static uint64_t written(void *staged)
{
	return staged_file_written(staged);
}

/* Makes the JVM write the dump to the staged file. */
static int write_dump(const struct ctx *ctx, struct staged_file *staged, struct err *err)
{
	const char *path = staged_file_path(staged), *quote = strchr(path, ' ') ? "\"" : "";
	_cleanup_free_ char *line =
		xasprintf("Thread.dump_to_file -format=json %s%s%s", quote, path, quote);
	const char *const args[] = { line };
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };
	const struct attach_progress progress = { written, staged };
	const struct attach_opts opts = {
		.timeout_ms = ctx->timeout_ms,
		.steps = ctx->steps,
		.max = ANSWER_MAX,
		.progress = &progress,
		.confirm = staged_file_confirm,
		.confirm_arg = staged,
	};
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct attach_reply reply;
	int rc;

	if (attach_execute_long(ctx->jvm, &opts, &req, &reply, err) < 0)
		return -1;
	rc = spool_text(&reply.output, &text, ANSWER_MAX);
	attach_reply_release(&reply);
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL, "cannot read the JVM's answer: %s; the JVM has "
			       "carried out the command; try again", strerror(-rc));
	return reply.code == 0 ? 0 :
				 attach_call_refused("Thread.dump_to_file", reply.code, &text, err);
}

static int read_dump(struct staged_file *staged, struct buf *text, struct err *err)
{
	_cleanup_close_ int fd = staged_file_open(staged, err);
	int rc = fd < 0 ? -1 : io_slurp(fd, text, THREADS_DUMP_MAX);

	if (fd < 0)
		return -1;
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL,
			       "cannot read the thread dump that the JVM wrote to %s: %s; try "
			       "again", staged_file_path(staged), strerror(-rc));
	/* JDK 21 reports success also if it has failed. */
	return text->len > 0 ? 0 : err_set(err, EXIT_ANSWER,
					   "the JVM wrote an empty file; look for a full disk in "
					   "its log, then try again");
}

static int fetch(const struct ctx *ctx, struct buf *text, struct err *err)
{
	const struct staged_file_request req = {
		.kind = STAGED_RESULT,
		.stem = "threads",
		.suffix = "",
		.listener = -1,
		.room = ROOM,
	};
	struct staged_file *staged = staged_file_new(ctx->jvm, &req, ctx->steps, err);
	int rc = staged ? write_dump(ctx, staged, err) : -1;

	if (rc == 0)
		rc = read_dump(staged, text, err);
	staged_file_free(staged);
	return rc;
}

int threads_take_virtual(const struct ctx *ctx, struct threads_sample *s, struct err *err)
{
	bool extended = jvm_feature(ctx->jvm) >= 11;
	const char *args[] = { extended ? "-e" : "" };
	const struct attach_request req = { "threaddump", args, ARRAY_SIZE(args) };
	struct thread_dump print = { .n = 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	int feature = jvm_feature(ctx->jvm);

	if (feature > 0 && feature < 21)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d has no virtual threads, which need JDK 21: omit --virtual",
			       (int)ctx->jvm->pid);
	if (fetch(ctx, &s->text, err) < 0)
		return -1;
	if (attach_call_text(ctx, &req, THREADS_DUMP_MAX, &text, err) < 0)
		return -1;
	virtual_dump_parse(&s->dump, s->text.data, s->text.len);
	thread_dump_parse(&print, text.data, text.len);
	virtual_dump_join(&s->dump, &print);
	thread_dump_release(&print);
	return 0;
}
