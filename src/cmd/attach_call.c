#include "cmd/attach_call.h"

#include <errno.h>
#include <string.h>

#include "base/printable.h"
#include "fileio/io.h"
#include "model/vm/dcmd_replies.h"
#include "render/json.h"
#include "attach/attach.h"

#define JSON_OUTPUT_MAX (64u * 1024 * 1024) /* limit in bytes for an answer that is put into JSON */
#define CHUNK 65536
#define FLAGS_MAX (4u * 1024 * 1024)
#define VERSION_MAX (64u * 1024)

void attach_call_print_json(const struct ctx *ctx, int code, const struct buf *text)
{
	struct json *doc = json_object();

	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put_number(doc, "code", code);
	json_print_with_text(doc, "output", buf_str(text), text->len, ctx->out);
	json_free(doc);
}

static int show_json(const struct ctx *ctx, const struct attach_reply *reply, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = spool_text(&reply->output, &text, JSON_OUTPUT_MAX);

	if (rc < 0)
		return err_set(err, EXIT_PARTIAL,
			       "cannot write the JVM's answer as JSON: %s; omit --json",
			       strerror(-rc));
	attach_call_print_json(ctx, reply->code, &text);
	return 0;
}

void attach_call_print_text(const struct ctx *ctx, const char *text, size_t len)
{
	_cleanup_buf_ struct buf shown = BUF_INIT;

	if (ctx->to_terminal) {
		printable_add_lines(&shown, text, len);
		text = buf_str(&shown);
		len = shown.len;
	}
	(void)fwrite(text, 1, len, ctx->out); /* main checks ferror() */
}

/*
 * Returns the length of the incomplete UTF-8 character at the end of the text; 0 if the text ends
 * with a complete one.
 */
static size_t incomplete_len(const char *text, size_t len)
{
	for (size_t n = 1; n <= 3 && n <= len; n++) {
		uint8_t c = (uint8_t)text[len - n];

		if (c >= 0xc0)
			return n < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? n : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

/* Prints an answer of any length on a terminal, with control characters escaped. */
static int show_escaped(const struct ctx *ctx, const struct spool *answer)
{
	uint64_t at = 0, total = spool_len(answer);
	char chunk[CHUNK];

	while (at < total) {
		ssize_t n = spool_read(answer, at, chunk, sizeof(chunk));

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		if (at + (uint64_t)n < total)
			n -= (ssize_t)incomplete_len(chunk, (size_t)n);
		attach_call_print_text(ctx, chunk, (size_t)n);
		at += (uint64_t)n;
	}
	return fflush(ctx->out) == 0 ? 0 : -errno;
}

static int show_bytes(const struct ctx *ctx, const struct attach_reply *reply, struct err *err)
{
	int rc = fflush(ctx->out) == 0 ? 0 : -errno;

	if (rc == 0)
		rc = ctx->to_terminal ? show_escaped(ctx, &reply->output)
				      : spool_write(&reply->output, fileno(ctx->out));
	if (rc < 0)
		return err_stdout(err, rc);
	return 0;
}

bool attach_call_is_one_line(const struct buf *text)
{
	const char *end = text->len ? memchr(text->data, '\n', text->len) : NULL;

	return !end || end == text->data + text->len - 1;
}

int attach_call_refused(const char *what, int code, const struct buf *answer, struct err *err)
{
	const char *text = buf_str(answer);
	size_t len = strcspn(text, "\r\n");

	return err_set(err, EXIT_ANSWER, "the JVM refused '%.200s' with code %d%s%.*s", what, code,
		       len ? ": " : " and gave no reason", len > 512 ? 512 : (int)len, text);
}

static int refusal(const struct attach_request *req, const struct attach_reply *reply,
		   struct err *err)
{
	bool is_jcmd = strcmp(req->op, "jcmd") == 0 && req->n_args > 0;

	return attach_call_refused(is_jcmd ? req->args[0] : req->op, reply->code,
				   &reply->output.memory, err);
}

int attach_call_show(const struct ctx *ctx, const struct attach_request *req, struct err *err)
{
	const struct attach_opts opts = {
		.timeout_ms = ctx->timeout_ms,
		.steps = ctx->steps,
		.max = ctx->json ? JSON_OUTPUT_MAX : ATTACH_ANSWER_MAX,
	};
	struct attach_reply reply;
	int rc;

	if (attach_execute(ctx->jvm, &opts, req, &reply, err) < 0)
		return -1;
	if (ctx->json)
		rc = show_json(ctx, &reply, err);
	else if (reply.code != 0 && reply.output.file_len == 0 &&
		 attach_call_is_one_line(&reply.output.memory))
		rc = 0;
	else
		rc = show_bytes(ctx, &reply, err);
	if (rc == 0 && reply.code != 0)
		rc = refusal(req, &reply, err);
	attach_reply_release(&reply);
	return rc;
}

int attach_call_text(const struct ctx *ctx, const struct attach_request *req, size_t max,
		     struct buf *text, struct err *err)
{
	const struct attach_opts opts = {
		.timeout_ms = ctx->timeout_ms, .steps = ctx->steps, .max = max
	};
	struct attach_reply reply;
	int rc;

	if (attach_execute(ctx->jvm, &opts, req, &reply, err) < 0)
		return -1;
	if (reply.code != 0) {
		rc = refusal(req, &reply, err);
	} else {
		rc = spool_text(&reply.output, text, max);
		if (rc < 0)
			rc = io_temp_failed(err, rc, "the JVM's answer");
	}
	attach_reply_release(&reply);
	return rc;
}

int attach_call_jcmd(const struct ctx *ctx, const char *line, size_t max, struct buf *text,
		     struct err *err)
{
	const char *const args[] = { line };
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };

	return attach_call_text(ctx, &req, max, text, err);
}

int attach_call_flags(const struct ctx *ctx, struct vmflags *flags, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (attach_call_jcmd(ctx, "VM.flags -all", FLAGS_MAX, &text, err) < 0)
		return -1;
	if (vmflags_parse(flags, buf_str(&text), text.len) == 0)
		return 0;
	return err_set(err, EXIT_PARTIAL,
		       "the JVM's answer to 'VM.flags -all' is incomplete or malformed; try again");
}

unsigned attach_call_release(const struct ctx *ctx)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct jvm parsed = { 0 };
	struct err ignored = { 0 };
	char *vm = NULL;
	int release = jvm_feature(ctx->jvm);

	if (release > 0 || attach_call_jcmd(ctx, "VM.version", VERSION_MAX, &text, &ignored) < 0)
		return (unsigned)release;
	dcmd_reply_version(buf_str(&text), &vm, &parsed.version);
	release = jvm_feature(&parsed);
	free(parsed.version);
	free(vm);
	return (unsigned)release;
}
