#include "cmd/hprof_request.h"

#include <inttypes.h>

#include "base/text.h"
#include "cmd/answer.h"
#include "proc/procfs.h"

#define TEXT_MAX (64 * 1024) /* of the JVM's help and answer: each is a few lines */
#define ROOM_BASE (16 << 20) /* classes and names, beside the objects */

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

int hprof_request_begin(struct hprof_request *rq, const struct ctx *ctx,
			const struct hprof_wanted *wanted, struct err *err)
{
	*rq = (struct hprof_request){ .ctx = ctx, .line = BUF_INIT };
	if (ask_ways(ctx, wanted->gzip > 0, &rq->ways, err) < 0)
		return -1;
	rq->place = make_place(ctx, &rq->ways, err);
	if (!rq->place)
		return -1;
	command_line(wanted, &rq->ways, place_file(rq->place), &rq->line);
	rq->args[0] = buf_str(&rq->line);
	rq->attach = (struct attach_request){ "jcmd", rq->args, ARRAY_SIZE(rq->args) };
	rq->opts = (struct attach_opts){ ctx->timeout_ms, ctx->steps };
	steps_add(ctx->steps, "%s", rq->args[0]);
	return 0;
}

void hprof_request_leave(struct hprof_request *rq)
{
	place_free(TAKE_PTR(rq->place));
}

void hprof_request_end(struct hprof_request *rq)
{
	hprof_request_leave(rq);
	buf_release(&rq->line);
}

int hprof_understand(const struct hprof_request *rq, const struct attach_reply *reply,
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
		       "JVM %d could not dump its heap: %s", (int)rq->ctx->jvm->pid,
		       reason.len ? buf_str(&reason) : "it does not say why");
}
