#include "cmd/vm/jcmd_file.h"

#include <string.h>

#include "attach/attach.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "cmd/fetch.h"
#include "discover/memory_check.h"
#include "fileio/input_file.h"
#include "fileio/io.h"
#include "render/json.h"
#include "render/units.h"

#define INPUT_MAX (16u * 1024 * 1024)  /* limit for a file that the JVM reads, in bytes */
#define OUTPUT_MAX (64u * 1024 * 1024) /* limit for the JVM's answer, in bytes */
#define HEAP_ROOM_BASE (16u << 20)

static struct staged_file *stage_input(const struct ctx *ctx, const char *path, struct err *err)
{
	_cleanup_close_ int fd = -1;
	_cleanup_buf_ struct buf data = BUF_INIT;
	struct staged_file_request req = {
		.kind = STAGED_FILE, .stem = "jcmd", .suffix = "", .is_data = true, .listener = -1,
	};
	struct stat st;
	int rc;

	fd = input_file_open(path, INPUT_FILE_PIPE, &st, err);
	if (fd < 0)
		return NULL;
	rc = io_slurp(fd, &data, INPUT_MAX);
	if (rc < 0) {
		(void)input_file_failed(path, rc, err);
		return NULL;
	}
	req.data = data.data;
	req.len = data.len;
	return staged_file_new(ctx->jvm, &req, ctx->steps, err);
}

/*
 * Returns the maximum size of a heap dump in bytes; 0: unknown.  A reference or header in the dump
 * may be twice as large as in the heap.
 */
static uint64_t heap_room(const struct jvm *jvm)
{
	int64_t heap = memory_heap_used(jvm);

	if (heap < 0)
		return 0;
	return heap > INT64_MAX / 4 ? UINT64_MAX : 2 * (uint64_t)heap + HEAP_ROOM_BASE;
}

static struct staged_file *stage_result(const struct ctx *ctx, const struct dcmd_file *file,
					struct err *err)
{
	const struct staged_file_request req = {
		.kind = STAGED_RESULT,
		.stem = "jcmd",
		.suffix = "",
		.listener = -1,
		.room = file->is_heap ? heap_room(ctx->jvm) : file->room,
	};

	return staged_file_new(ctx->jvm, &req, ctx->steps, err);
}

static uint64_t written(void *staged)
{
	return staged_file_written(staged);
}

/* Runs the command with the path of the staged file, and reads the JVM's answer into `text`. */
static int ask(const struct ctx *ctx, const char *line, const struct dcmd_file *file,
	       struct staged_file *staged, int *code, struct buf *text, struct err *err)
{
	_cleanup_buf_ struct buf command = BUF_INIT;
	const char *args[1];
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };
	const struct attach_progress progress = { written, staged };
	const struct attach_opts opts = {
		.timeout_ms = ctx->timeout_ms,
		.steps = ctx->steps,
		.max = OUTPUT_MAX,
		.progress = file->is_input ? NULL : &progress,
		.confirm = staged_file_confirm,
		.confirm_arg = staged,
	};
	struct attach_reply reply;
	int rc;

	dcmd_file_replace(&command, line, file, staged_file_path(staged));
	args[0] = buf_str(&command);
	if (attach_execute_long(ctx->jvm, &opts, &req, &reply, err) < 0)
		return -1;
	*code = reply.code;
	rc = spool_text(&reply.output, text, OUTPUT_MAX);
	attach_reply_release(&reply);
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL, "cannot read the JVM's answer: %s; the JVM has "
			       "carried out the command; try again", strerror(-rc));
	return 0;
}

/* Copies the answer.  Replaces each occurrence of the staged file's path by the caller's path. */
static void rename_paths(struct buf *out, const struct buf *text, const char *staged,
			 const char *path)
{
	const char *at = text->data, *end = at + text->len;
	size_t len = strlen(staged);

	while (at < end) {
		const char *found = memmem(at, (size_t)(end - at), staged, len);

		buf_add(out, at, (size_t)((found ? found : end) - at));
		if (found)
			buf_adds(out, path);
		at = found ? found + len : end;
	}
}

static void show_text(const struct ctx *ctx, const struct buf *text, const char *path, int64_t size)
{
	_cleanup_buf_ struct buf shown = BUF_INIT;

	if (strcmp(path, "-") == 0) {
		printable_add_lines(&shown, buf_str(text), text->len);
		fputs(buf_str(&shown), stderr);
		return;
	}
	attach_call_print_text(ctx, buf_str(text), text->len);
	if (size < 0)
		return;
	units_bytes(&shown, size);
	fprintf(ctx->out, "wrote %s: %s\n", path, buf_str(&shown));
}

/*
 * Prints the JVM's answer.  `size` is the length in bytes of the file that was written; -1: no file
 * was written.
 */
static void show(const struct ctx *ctx, const struct dcmd_file *file, int code,
		 const struct buf *text, int64_t size)
{
	struct json *doc;

	if (!ctx->json) {
		show_text(ctx, text, file->path, size);
		return;
	}
	doc = json_object();
	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put_number(doc, "code", code);
	json_put_text(doc, "file", file->path);
	json_put_known(doc, "bytes", size >= 0, (uint64_t)size);
	json_print_with_text(doc, "output", buf_str(text), text->len, ctx->out);
	json_free(doc);
}

/*
 * Rejects an empty file.  No command writes an empty file if it succeeds, but some commands report
 * success although they have failed.
 */
static int refuse_empty(void *arg, int fd, uint64_t size, struct err *err)
{
	(void)arg;
	(void)fd;
	return size > 0 ? 0 : err_set(err, EXIT_ANSWER,
				      "the JVM wrote an empty file; look for a full disk in its "
				      "log, then try again");
}

static int run_staged(const struct ctx *ctx, const char *line, const struct dcmd_file *file,
		      struct staged_file *staged, struct atomic_file *out, struct err *err)
{
	_cleanup_buf_ struct buf answer = BUF_INIT, text = BUF_INIT;
	const struct fetch_check check = { refuse_empty, NULL };
	uint64_t size = 0;
	int code, rc;

	if (ask(ctx, line, file, staged, &code, &answer, err) < 0)
		return -1;
	rename_paths(&text, &answer, staged_file_path(staged), file->path);
	if (code != 0)
		rc = attach_call_refused(line, code, &text, err);
	else if (file->is_input)
		rc = 0;
	else
		rc = fetch_result(staged, out, &check, &size, err);
	if (rc == 0 && !file->is_input)
		rc = atomic_file_commit(out, &size, err);
	if (ctx->json || code == 0 || !attach_call_is_one_line(&text))
		show(ctx, file, code, &text, rc == 0 && !file->is_input ? (int64_t)size : -1);
	return rc;
}

static int run_input(const struct ctx *ctx, const char *line, const struct dcmd_file *file,
		     struct err *err)
{
	struct staged_file *staged = stage_input(ctx, file->path, err);
	int rc = staged ? run_staged(ctx, line, file, staged, NULL, err) : -1;

	staged_file_free(staged);
	return rc;
}

int jcmd_file_run(const struct ctx *ctx, const char *line, const struct dcmd_file *file,
		  bool force, struct err *err)
{
	struct staged_file *staged;
	struct atomic_file out;
	int rc = -1;

	if (file->is_input)
		return run_input(ctx, line, file, err);
	if (atomic_file_open(&out, file->path,
			     ATOMIC_FILE_BINARY | (force ? ATOMIC_FILE_REPLACE : 0), 0600,
			     err) < 0)
		return -1;
	staged = stage_result(ctx, file, err);
	if (staged)
		rc = run_staged(ctx, line, file, staged, &out, err);
	staged_file_free(staged);
	atomic_file_release(&out);
	return rc;
}
