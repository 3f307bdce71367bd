#include "cmd/heap/vm_dump_request.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "cmd/attach_call.h"
#include "discover/cpu_limit.h"
#include "discover/memory_check.h"

#define TEXT_MAX (64 * 1024) /* limit in bytes for the JVM's help text and for its reply */
#define ROOM_BASE (16 << 20) /* bytes that classes and names take in a dump, besides objects */

/*
 * Reads from the JVM's help text which options GC.heap_dump has.  Does not derive the options from
 * the JVM's version, because vendors backport features.
 */
static int ask_features(const struct ctx *ctx, bool gzip, struct hprof_features *features,
			struct err *err)
{
	_cleanup_buf_ struct buf help = BUF_INIT;

	if (attach_call_jcmd(ctx, "help GC.heap_dump", TEXT_MAX, &help, err) < 0)
		return -1;
	*features = hprof_features_parse(buf_str(&help));
	if (gzip && !features->gzip)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d cannot compress heap dumps, only JDK 15 and later can: "
			       "use jtool heapdump %d - | gzip > FILE",
			       (int)ctx->jvm->pid, (int)ctx->jvm->pid);
	return 0;
}

/*
 * Returns an upper bound for the disk space in bytes that the JVM's files will take; 0: the JVM
 * writes no file, or the heap size is unknown.  References and headers may take twice as many bytes
 * in a dump as in the heap.  If the JVM writes segments and merges them into one file, the segments
 * take as much space as that file.
 */
static uint64_t room_for(const struct vm_dump_request *rq)
{
	int64_t heap = memory_heap_used(rq->ctx->jvm);
	unsigned files = !rq->by_fifo + rq->features.segments;

	if (heap < 0 || files == 0)
		return 0;
	return heap > INT64_MAX / 8 ? UINT64_MAX : files * (2 * (uint64_t)heap + ROOM_BASE);
}

static int stage_file(struct vm_dump_request *rq, const struct dump_wanted *wanted, struct err *err)
{
	const struct staged_file_request req = {
		.kind = rq->by_fifo ? STAGED_FIFO : STAGED_RESULT,
		.stem = "heap",
		.suffix = ".hprof",
		.listener = -1,
		.room = room_for(rq),
		.merges = rq->features.segments,
		.memory_first = wanted->redact != HPROF_REDACT_NOTHING,
		.timeout_ms = rq->ctx->timeout_ms,
	};

	rq->staged = staged_file_new(rq->ctx->jvm, &req, rq->ctx->steps, err);
	return rq->staged ? 0 : -1;
}

/*
 * Returns true if jtool may get too little CPU time to read a FIFO as fast as the JVM writes to it.
 * That would prolong the pause, because the JVM is paused until jtool has read all data.
 */
static bool is_short_of_cpu(const struct vm_dump_request *rq)
{
	double cpus = cpu_limit(getpid());

	if (rq->features.segments || cpus < 0 || cpus >= 1)
		return false;
	verbose_step(rq->ctx->steps, "jtool has %g CPUs: the JVM writes its dump to a file", cpus);
	return true;
}

static int check_features(const struct vm_dump_request *rq, const struct dump_wanted *wanted,
			  struct err *err)
{
	int pid = (int)rq->ctx->jvm->pid;

	if (wanted->via == DUMP_VIA_FIFO && !rq->features.overwrite)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d cannot write its dump to a FIFO, only JDK 17 and later can: "
			       "omit --via fifo", pid);
	if (wanted->max_pause_ms && (!rq->features.overwrite || rq->features.segments))
		return err_set(err, EXIT_ANSWER,
			       "--max-pause cannot end the pause of JVM %d, which writes files of "
			       "its own meanwhile, unlike JDK 17 to 21: omit it", pid);
	return 0;
}

/* Decides whether the JVM writes to a FIFO or to a file, and stages the FIFO or the file. */
static int stage(struct vm_dump_request *rq, const struct dump_wanted *wanted, struct err *err)
{
	struct err no_file = { .code = EXIT_DONE };

	if (check_features(rq, wanted, err) < 0)
		return -1;
	rq->by_fifo = rq->features.overwrite && wanted->via != DUMP_VIA_FILE;
	if (rq->by_fifo && wanted->via == DUMP_VIA_AUTO && !wanted->max_pause_ms &&
	    is_short_of_cpu(rq)) {
		rq->by_fifo = false;
		if (stage_file(rq, wanted, &no_file) == 0)
			return 0;
		verbose_step(rq->ctx->steps, "the JVM cannot write a file: %s", no_file.text);
		rq->by_fifo = true;
	}
	return stage_file(rq, wanted, err);
}

static void command_line(const struct dump_wanted *wanted, bool by_fifo, const char *path,
			 struct buf *line)
{
	buf_adds(line, "GC.heap_dump");
	if (wanted->all)
		buf_adds(line, " -all");
	if (wanted->gzip)
		buf_addf(line, " -gz=%u", wanted->gzip);
	if (by_fifo)
		buf_adds(line, " -overwrite");
	/*
	 * Put the path in quotes, because HotSpot splits the line at spaces.  The path of a staged
	 * file contains no quotes.
	 */
	buf_addf(line, " \"%s\"", path);
}

/*
 * Returns how many bytes of the dump the JVM has written so far: the bytes that have passed through
 * the FIFO (`received`, or the size of the file out_fd), plus the sizes of the files that the JVM
 * itself has written, which are the dump or its segments.
 */
static uint64_t written(void *arg)
{
	struct vm_dump_request *rq = arg;
	uint64_t bytes = rq->received;
	struct stat st;

	if (rq->out_fd >= 0 && fstat(rq->out_fd, &st) == 0)
		bytes += (uint64_t)st.st_size;
	(void)pthread_mutex_lock(&rq->lock);
	if (rq->staged)
		bytes += staged_file_written(rq->staged);
	(void)pthread_mutex_unlock(&rq->lock);
	return bytes;
}

/* Another thread may free the staged file meanwhile; the JVM then finds no directory. */
static int confirm(void *arg, struct err *err)
{
	struct vm_dump_request *rq = arg;
	int rc = 0;

	(void)pthread_mutex_lock(&rq->lock);
	if (rq->staged)
		rc = staged_file_confirm(rq->staged, err);
	(void)pthread_mutex_unlock(&rq->lock);
	return rc;
}

int vm_dump_request_begin(struct vm_dump_request *rq, const struct ctx *ctx,
		       const struct dump_wanted *wanted, struct err *err)
{
	*rq = (struct vm_dump_request){
		.ctx = ctx, .line = BUF_INIT, .progress = { written, rq }, .out_fd = -1
	};
	(void)pthread_mutex_init(&rq->lock, NULL); /* cannot fail without attributes */
	if (ask_features(ctx, wanted->gzip > 0, &rq->features, err) < 0 ||
	    stage(rq, wanted, err) < 0)
		return -1;
	command_line(wanted, rq->by_fifo, staged_file_path(rq->staged), &rq->line);
	rq->args[0] = buf_str(&rq->line);
	rq->attach = (struct attach_request){ "jcmd", rq->args, ARRAY_SIZE(rq->args) };
	rq->opts = (struct attach_opts){
		.timeout_ms = ctx->timeout_ms, .steps = ctx->steps, .max = TEXT_MAX,
		.progress = &rq->progress,
		.confirm = confirm,
		.confirm_arg = rq,
	};
	verbose_step(ctx->steps, "%s", rq->args[0]);
	return 0;
}

void vm_dump_request_unstage(struct vm_dump_request *rq)
{
	struct staged_file *staged;

	(void)pthread_mutex_lock(&rq->lock);
	staged = TAKE_PTR(rq->staged);
	(void)pthread_mutex_unlock(&rq->lock);
	staged_file_free(staged);
}

void vm_dump_request_end(struct vm_dump_request *rq)
{
	vm_dump_request_unstage(rq);
	(void)pthread_mutex_destroy(&rq->lock);
	buf_release(&rq->line);
}

int dump_parse_reply(const struct vm_dump_request *rq, const struct attach_reply *reply,
		     struct hprof_answer *answer, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT, reason = BUF_INIT;

	if (spool_text(&reply->output, &text, TEXT_MAX) < 0)
		return err_set(err, EXIT_ANSWER,
			       "the JVM's reply to the request for a heap dump is too long: "
			       "expected one line; report this bug");
	*answer = hprof_answer_parse(buf_str(&text));
	if (answer->done && reply->code == 0)
		return 0;
	printable_add(&reason, answer->reason ? answer->reason : "", answer->len);
	return err_set(err, answer->incomplete ? EXIT_PARTIAL : EXIT_ANSWER,
		       "JVM %d could not dump its heap: %s", (int)rq->ctx->jvm->pid,
		       reason.len ? buf_str(&reason) : "it gave no reason");
}
