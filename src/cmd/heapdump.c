/*
 * heapdump: the JVM's own dump of its heap (HPROF), in a file of the caller's.
 *
 * Through a FIFO where the JVM writes to what is there already: then nothing of it stands in the
 * target, and the JVM, which stands still meanwhile, writes as fast as to a file of its own.
 * From a file that it makes where it does not (before JDK 17).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/drain.h"
#include "base/io.h"
#include "base/text.h"
#include "cmd/answer.h"
#include "cmd/fetch.h"
#include "model/hprof_check.h"
#include "render/json.h"
#include "target/asking.h"

#define TEXT_MAX (64 * 1024)   /* of the JVM's help and answer: each is a few lines */
#define READ_BYTES (64 * 1024) /* of the dump, to find its records */
#define ROOM_BASE (16 << 20)   /* classes and names, beside the objects */

struct heapdump_opts {
	bool all, force;
	unsigned gzip; /* 0: not compressed */
};

#define AT(member) offsetof(struct heapdump_opts, member)

static const struct opt heapdump_rows[] = {
	{ 0, "all", OPT_FLAG, AT(all), NULL, "unreachable objects too, and no collection", NULL },
	{ 0, "gzip", OPT_LEVEL, AT(gzip), "LEVEL", "compressed by the JVM, 1 (default) to 9",
	  NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE when it exists", NULL },
	OPT_END,
};

static bool to_stdout(const struct ctx *ctx)
{
	return strcmp(ctx->args[0], "-") == 0;
}

/* By its help rather than its release: vendors bring features to releases of old. */
static int ask_ways(const struct ctx *ctx, struct hprof_ways *ways, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const char *const args[] = { "help GC.heap_dump" };
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };
	_cleanup_buf_ struct buf help = BUF_INIT;

	if (answer_text(ctx, &req, TEXT_MAX, &help, err) < 0)
		return -1;
	*ways = hprof_ways_parse(buf_str(&help));
	if (opts->gzip && !ways->gzip)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d cannot compress its dump (JDK 15 and newer can): "
			       "jtool heapdump %d - | gzip > FILE",
			       (int)ctx->jvm->pid, (int)ctx->jvm->pid);
	return 0;
}

/*
 * What the JVM may put beside or instead of a FIFO.  A dump takes up to twice the heap, for
 * references and headers are larger in it.
 */
static uint64_t room_for(const struct jvm *jvm, const struct hprof_ways *ways)
{
	int64_t heap = jvm->heap_used >= 0 ? jvm->heap_used : jvm->heap_max;

	if (heap < 0 || (ways->overwrite && !ways->segments))
		return 0;
	return heap > INT64_MAX / 4 ? UINT64_MAX : 2 * (uint64_t)heap + ROOM_BASE;
}

static struct place *make_place(const struct ctx *ctx, const struct hprof_ways *ways,
				struct err *err)
{
	const struct place_request req = {
		.kind = ways->overwrite ? PLACE_FIFO : PLACE_RESULT,
		.stem = "heap",
		.suffix = ".hprof",
		.listener = -1,
		.room = room_for(ctx->jvm, ways),
	};

	return place_new(ctx->jvm, &req, ctx->steps, err);
}

static void command_line(const struct ctx *ctx, const struct hprof_ways *ways, const char *path,
			 struct buf *line)
{
	const struct heapdump_opts *opts = ctx->opts;
	char quote = strchr(path, '"') ? '\'' : '"'; /* it splits at blanks */

	buf_adds(line, "GC.heap_dump");
	if (opts->all)
		buf_adds(line, " -all");
	if (opts->gzip)
		buf_addf(line, " -gz=%u", opts->gzip);
	if (ways->overwrite)
		buf_adds(line, " -overwrite");
	buf_addf(line, " %c%s%c", quote, path, quote);
}

/*
 * Take the dump while the JVM writes it.  When the file cannot take it, the place goes at once:
 * the JVM gets a broken pipe and goes on.
 */
static int through_fifo(const struct ctx *ctx, const struct attach_request *req,
			struct place **place, struct outfile *out, struct attach_reply *reply,
			struct err *err)
{
	const struct attach_opts opts = { ctx->timeout_ms, ctx->steps };
	_cleanup_close_ int fifo = place_open(*place, err);
	struct asking asking;
	int rc;

	if (fifo < 0 || asking_start(&asking, ctx->jvm, &opts, req, err) < 0)
		return -1;
	rc = drain_fifo(fifo, out->fd, asking.end, "heap dump");
	if (rc < 0) {
		(void)err_set(err, EXIT_PARTIAL, "the dump could not be written: %s",
			      strerror(-rc));
		util_close_p(&fifo);
		fifo = -1;
		place_free(*place);
		*place = NULL;
	}
	if (asking_join(&asking, reply, err) < 0)
		return -1;
	if (rc < 0)
		attach_reply_release(reply);
	return rc < 0 ? -1 : 0;
}

static int understand(const struct ctx *ctx, const struct attach_reply *reply,
		      struct hprof_answer *answer, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT, reason = BUF_INIT;

	if (spool_text(&reply->output, &text, TEXT_MAX) < 0)
		return err_set(err, EXIT_ANSWER, "the JVM's answer is too long");
	*answer = hprof_answer_parse(buf_str(&text));
	if (answer->done && reply->code == 0)
		return 0;
	text_printable(&reason, answer->reason ? answer->reason : "", answer->len);
	return err_set(err, answer->incomplete ? EXIT_PARTIAL : EXIT_ANSWER,
		       "JVM %d could not dump its heap: %s", (int)ctx->jvm->pid,
		       reason.len ? buf_str(&reason) : "it does not say why");
}

static int ask_for_dump(const struct ctx *ctx, const struct hprof_ways *ways,
			struct place **place, struct outfile *out, struct hprof_answer *answer,
			struct err *err)
{
	const struct attach_opts opts = { ctx->timeout_ms, ctx->steps };
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct attach_reply reply;
	const char *args[1];
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };
	uint64_t size;
	int rc;

	command_line(ctx, ways, place_file(*place), &line);
	args[0] = buf_str(&line);
	steps_add(ctx->steps, "%s", args[0]);
	if (ways->overwrite)
		rc = through_fifo(ctx, &req, place, out, &reply, err);
	else
		rc = attach_execute_long(ctx->jvm, &opts, &req, &reply, err);
	if (rc < 0)
		return -1;
	rc = understand(ctx, &reply, answer, err);
	attach_reply_release(&reply);
	if (rc == 0 && !ways->overwrite)
		rc = fetch_result(*place, out, &size, err);
	return rc;
}

/* The last word about a dump is its own: is it all there? */
static int check_bytes(int fd, uint64_t size, bool gzip, struct err *err)
{
	struct hprof_walk walk = { .size = size };
	uint8_t data[READ_BYTES];
	ssize_t n;
	int rc;

	do {
		n = pread(fd, data, sizeof(data), (off_t)walk.at);
		if (n < 0)
			return err_set(err, EXIT_PARTIAL, "the dump cannot be read back: %s",
				       strerror(errno));
		if (gzip)
			rc = hprof_is_gzip(data, (size_t)n) ? 0 : -EBADMSG;
		else
			rc = hprof_walk_step(&walk, data, (size_t)n);
	} while (rc > 0 && n > 0);
	return rc == 0 ? 0
		       : err_set(err, EXIT_PARTIAL,
				 "the dump is not whole: it makes no sense from byte %" PRIu64
				 " of %" PRIu64 " on",
				 walk.at, size);
}

static int check_dump(const struct ctx *ctx, const struct outfile *out,
		      const struct hprof_answer *answer, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	struct stat st;

	if (fstat(out->fd, &st) < 0)
		return err_set(err, EXIT_PARTIAL, "the dump cannot be read back: %s",
			       strerror(errno));
	if (answer->bytes >= 0 && answer->bytes != st.st_size)
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not whole: %lld of %lld bytes came",
			       (long long)st.st_size, (long long)answer->bytes);
	return check_bytes(out->fd, (uint64_t)st.st_size, opts->gzip > 0, err);
}

static int dump_to(const struct ctx *ctx, struct outfile *out, struct err *err)
{
	struct hprof_answer answer;
	struct hprof_ways ways;
	struct place *place;
	int rc;

	if (ask_ways(ctx, &ways, err) < 0)
		return -1;
	place = make_place(ctx, &ways, err);
	if (!place)
		return -1;
	rc = ask_for_dump(ctx, &ways, &place, out, &answer, err);
	place_free(place);
	return rc < 0 ? -1 : check_dump(ctx, out, &answer, err);
}

static void show(const struct ctx *ctx, uint64_t size)
{
	const struct heapdump_opts *opts = ctx->opts;

	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put_text(doc, "file", ctx->args[0]);
		json_put_number(doc, "bytes", (int64_t)size);
		json_put_bool(doc, "live", !opts->all);
		json_print(doc, ctx->out);
		json_free(doc);
		return;
	}
	if (!to_stdout(ctx))
		fprintf(ctx->out, "wrote %s: %" PRIu64 " bytes, %s objects\n", ctx->args[0], size,
			opts->all ? "all" : "live");
}

static int check(const struct ctx *ctx, struct err *err)
{
	if (ctx->json && to_stdout(ctx))
		return err_set(err, EXIT_USAGE,
			       "--json and the dump itself cannot both go to stdout");
	return 0;
}

/* The caller's file comes first: what is wrong with it must not cost the JVM a pause. */
static int run(struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	struct outfile out;
	uint64_t size;
	int rc;

	if (outfile_open(&out, ctx->args[0], opts->force ? OUTFILE_REPLACE : OUTFILE_NEW, 0600,
			 err) < 0)
		return -1;
	rc = dump_to(ctx, &out, err);
	if (rc == 0)
		rc = outfile_commit(&out, &size, err);
	if (rc == 0)
		show(ctx, size);
	outfile_release(&out);
	return rc;
}

const struct cmd cmd_heapdump = {
	.name = "heapdump",
	.synopsis = "TARGET FILE",
	.summary = "dump the heap (HPROF) to a file here",
	.details =
		"FILE is a path of yours, also when the JVM lives in a container; - is stdout.\n"
		"The JVM makes a full collection first and dumps what is reachable, unless\n"
		"--all is given; it stands still meanwhile.  An existing FILE is not touched\n"
		"without --force.\n",
	.need = NEED_JVM,
	.min_args = 1,
	.max_args = 1,
	.free_words = -1,
	.opts = heapdump_rows,
	.opts_size = sizeof(struct heapdump_opts),
	.check = check,
	.run = run,
};
