#include "cmd/hprof.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/drain.h"
#include "base/text.h"
#include "cmd/answer.h"
#include "cmd/fetch.h"
#include "model/hprof_check.h"
#include "proc/procfs.h"
#include "target/asking.h"

#define TEXT_MAX (64 * 1024)   /* of the JVM's help and answer: each is a few lines */
#define READ_BYTES (64 * 1024) /* of the dump, to find its records */
#define ROOM_BASE (16 << 20)   /* classes and names, beside the objects */

/* By its help rather than its release: vendors bring features to releases of old. */
static int ask_ways(const struct ctx *ctx, bool gzip, struct hprof_ways *ways, struct err *err)
{
	_cleanup_buf_ struct buf help = BUF_INIT;

	if (answer_jcmd(ctx, "help GC.heap_dump", TEXT_MAX, &help, err) < 0)
		return -1;
	*ways = hprof_ways_parse(buf_str(&help));
	if (gzip && !ways->gzip)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d cannot compress its dump (JDK 15 and newer can): "
			       "jtool heapdump %d - | gzip > FILE",
			       (int)ctx->jvm->pid, (int)ctx->jvm->pid);
	return 0;
}

/* All that it has touched; -1: unknown. */
static int64_t memory_of(const struct jvm *jvm)
{
	struct proc_usage usage = { .resident = -1 };
	struct procfs proc;

	if (procfs_open(&proc, "/proc") < 0)
		return -1;
	if (procfs_usage(&proc, jvm->pid, &usage) < 0)
		usage.resident = -1;
	procfs_close(&proc);
	if (usage.resident >= 0 && usage.swapped > 0)
		usage.resident += usage.swapped;
	return usage.resident;
}

/*
 * The used heap, or what it cannot exceed: a user without a name has no hsperfdata, and G1 counts
 * nothing before its first collection.
 */
static int64_t heap_of(const struct jvm *jvm)
{
	int64_t memory;

	if (jvm->heap_used > 0)
		return jvm->heap_used;
	memory = memory_of(jvm);
	if (memory < 0 || (jvm->heap_max >= 0 && jvm->heap_max < memory))
		return jvm->heap_max;
	return memory;
}

/*
 * What the JVM may put beside or instead of a FIFO.  A dump takes up to twice the heap, for
 * references and headers are larger in it.
 */
static uint64_t room_for(const struct jvm *jvm, const struct hprof_ways *ways)
{
	int64_t heap = heap_of(jvm);

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

static void command_line(const struct hprof_wanted *wanted, const struct hprof_ways *ways,
			 const char *path, struct buf *line)
{
	buf_adds(line, "GC.heap_dump");
	if (wanted->all)
		buf_adds(line, " -all");
	if (wanted->gzip)
		buf_addf(line, " -gz=%u", wanted->gzip);
	if (ways->overwrite)
		buf_adds(line, " -overwrite");
	buf_addf(line, " \"%s\"", path); /* it splits at blanks; a place has no quotes */
}

/*
 * The caller's file cannot take the dump.  A JVM that stands still while it writes gets a broken
 * pipe, and goes on.  One that only puts its segments together may write to nobody: a pipe that
 * breaks makes it log an error.
 */
static void take_no_more(const struct hprof_ways *ways, int fifo, int end, struct place **place)
{
	int null = ways->segments ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

	if (null < 0 || drain_fifo(fifo, null, end, NULL) < 0) {
		place_free(*place);
		*place = NULL;
	}
	util_close_p(&null);
}

/* Take the dump while the JVM writes it. */
static int through_fifo(const struct ctx *ctx, const struct hprof_ways *ways,
			const struct attach_request *req, struct place **place,
			struct outfile *out, struct attach_reply *reply, struct err *err)
{
	const struct attach_opts opts = { ctx->timeout_ms, ctx->steps };
	_cleanup_close_ int fifo = place_open(*place, err);
	struct asking asking;
	int rc;

	if (fifo < 0 || asking_start(&asking, ctx->jvm, &opts, req, err) < 0)
		return -1;
	rc = drain_fifo(fifo, out->fd, asking.end, "heap dump");
	if (rc < 0) {
		(void)outfile_failed(out, rc, err);
		take_no_more(ways, fifo, asking.end, place);
	}
	util_close_p(&fifo);
	fifo = -1;
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

static int ask_for_dump(const struct ctx *ctx, const struct hprof_wanted *wanted,
			const struct hprof_ways *ways, struct place **place, struct outfile *out,
			struct hprof_answer *answer, struct err *err)
{
	const struct attach_opts opts = { ctx->timeout_ms, ctx->steps };
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct attach_reply reply;
	const char *args[1];
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };
	uint64_t size;
	int rc;

	command_line(wanted, ways, place_file(*place), &line);
	args[0] = buf_str(&line);
	steps_add(ctx->steps, "%s", args[0]);
	if (ways->overwrite)
		rc = through_fifo(ctx, ways, &req, place, out, &reply, err);
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

static int check_dump(bool gzip, const struct outfile *out, const struct hprof_answer *answer,
		      struct err *err)
{
	struct stat st;

	if (fstat(out->fd, &st) < 0)
		return err_set(err, EXIT_PARTIAL, "the dump cannot be read back: %s",
			       strerror(errno));
	if (answer->bytes >= 0 && answer->bytes != st.st_size)
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not whole: %lld of %lld bytes came",
			       (long long)st.st_size, (long long)answer->bytes);
	return check_bytes(out->fd, (uint64_t)st.st_size, gzip, err);
}

int hprof_take(const struct ctx *ctx, const struct hprof_wanted *wanted, struct outfile *out,
	       struct err *err)
{
	struct hprof_answer answer;
	struct hprof_ways ways;
	struct place *place;
	int rc;

	if (ask_ways(ctx, wanted->gzip > 0, &ways, err) < 0)
		return -1;
	place = make_place(ctx, &ways, err);
	if (!place)
		return -1;
	rc = ask_for_dump(ctx, wanted, &ways, &place, out, &answer, err);
	place_free(place);
	return rc < 0 ? -1 : check_dump(wanted->gzip > 0, out, &answer, err);
}
