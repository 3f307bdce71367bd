/* The two engines that read the heap with the agent: `snapshot` and `agent` (a heap walk). */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "fileio/byte_queue.h"
#include "base/progress.h"
#include "cmd/heap/heap_source_internal.h"
#include "model/heap/heap_wire.h"
#include "session/memory_guard.h"

/*
 * The heap stream, the agent's records of objects and references, may have 1/HEAP_STREAM_SHARE of
 * the bytes of jtool's memory limit, because the graph that is built from a stream of this length
 * takes about half of the limit.  The agent ends the walk before the stream gets longer.
 */
#define HEAP_STREAM_SHARE 3
/*
 * All other frames of the agent (threads, methods, and classes that the walk has found) together
 * may have 1/NAMES_SHARE of the bytes of the memory limit.
 */
#define NAMES_SHARE 6
#define FRAME_MAX ((uint64_t)WIRE_PAYLOAD_MAX + WIRE_HEADER_LEN)

/*
 * The JVM is paused until jtool has received the heap stream.  To build the graph takes as long as
 * the walk.  So a thread with the lowest priority builds the graph during the walk, with CPU time
 * that neither the JVM nor the receiving thread needs.  After the walk, the receiving thread
 * completes the graph.
 */
#define LOWEST_PRIORITY 19
#define HURRY_PRIORITY -10 /* nice value of the receiving thread; needs CAP_SYS_NICE */

struct heap_walk {
	struct session *session;
	bool is_snapshot;
	uint32_t tries; /* number of failed snapshots before this walk */
	struct heap_wire wire;
	struct byte_queue stream;
	uint64_t stream_bytes, names_bytes; /* bytes received, including the frames' headers */
	uint64_t stream_max, names_max;
	bool stream_excess; /* the agent has sent more than stream_max */
	bool names_excess;
	struct err shortage; /* the error of memory_guard_end() */
	/* Used by the thread that builds the graph: */
	struct graph_builder *builder;
	struct progress line;
	uint64_t heap_stream_bytes; /* bytes used for the graph so far, without frame headers */
	int error; /* result of graph_builder_take() if it failed; else 0 */
};

static int take_frame(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct heap_walk *hw = arg;
	size_t len = (size_t)(payload->end - payload->at);
	int rc;

	if (type != WIRE_HEAP_STREAM) {
		hw->names_bytes += WIRE_HEADER_LEN + len;
		hw->names_excess = hw->names_bytes > hw->names_max;
		return hw->names_excess ? -EFBIG : heap_wire_take(&hw->wire, type, payload);
	}
	hw->stream_bytes += WIRE_HEADER_LEN + len;
	/*
	 * stream_max limits the bytes that the agent sends.  byte_queue_push() limits the memory of
	 * the queue, which may take more memory than these bytes: a hostile agent could send each
	 * record in a frame of its own, and a queue element takes more memory than a record.
	 */
	rc = hw->stream_bytes > hw->stream_max ? -ENOBUFS
					       : byte_queue_push(&hw->stream, payload->at, len);
	hw->stream_excess = rc == -ENOBUFS;
	return rc;
}

static void build_chunk(struct heap_walk *hw, struct byte_chunk *chunk)
{
	hw->heap_stream_bytes += chunk->len;
	hw->error = graph_builder_take(hw->builder, chunk->data, chunk->len);
	free(chunk);
	if (hw->error < 0)
		byte_queue_cancel(&hw->stream);
	if (progress_due(&hw->line))
		progress_show(&hw->line, "walking the heap: %.1f million objects",
			      (double)graph_builder_objects(hw->builder) / 1e6);
}

static void *build_in_thread(void *arg)
{
	struct heap_walk *hw = arg;
	struct byte_chunk *chunk;

	/* On Linux, setpriority() changes only this thread. */
	(void)setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
	while (hw->error == 0 && (chunk = byte_queue_pop(&hw->stream)) != NULL)
		build_chunk(hw, chunk);
	return NULL;
}

/* Returns how many bytes the heap stream from the agent may have. */
static uint64_t stream_limit(const struct heap_plan *plan)
{
	return plan->max_bytes / HEAP_STREAM_SHARE;
}

static int send_request(const struct heap_walk *hw, const struct heap_plan *plan, struct err *err)
{
	uint8_t payload[28];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, (plan->wanted->texts_from ? WIRE_GRAPH_TEXTS : 0) |
				 (hw->is_snapshot ? WIRE_GRAPH_SNAPSHOT : 0));
	wire_put_u32(&w, plan->max_pause_ms);
	wire_put_u64(&w, stream_limit(plan));
	wire_put_u32(&w, plan->wanted->texts_from);
	wire_put_u32(&w, snapshot_life_ms(plan->ctx->jvm));
	wire_put_u32(&w, hw->tries);
	return session_send(hw->session, WIRE_GRAPH, &w, err);
}

/*
 * Requests the walk and receives the answer.  A guard watches the JVM's memory until the answer has
 * ended.  After that, jtool only completes the graph, which takes no memory in the JVM.
 */
static int ask(struct heap_walk *hw, const struct heap_plan *plan, struct err *err)
{
	struct memory_guard guard;
	int rc = memory_guard_begin(&guard, hw->session, plan->ctx->jvm,
				    hw->is_snapshot ? MEMORY_COPY : MEMORY_IDLE, err);

	if (rc < 0)
		return -1;
	rc = send_request(hw, plan, err);
	if (rc == 0)
		rc = session_answer_long(hw->session, take_frame, hw, err);
	return memory_guard_end(&guard, &hw->shortage) < 0 ? -1 : rc;
}

static int take_and_build(struct heap_walk *hw, const struct heap_plan *plan, struct err *err)
{
	struct byte_chunk *chunk;
	pthread_t thread;
	bool has_thread = pthread_create(&thread, NULL, build_in_thread, hw) == 0;
	int rc, priority = getpriority(PRIO_PROCESS, 0);

	(void)setpriority(PRIO_PROCESS, 0, HURRY_PRIORITY);
	rc = ask(hw, plan, err);
	(void)setpriority(PRIO_PROCESS, 0, priority);
	byte_queue_end(&hw->stream);
	if (has_thread)
		(void)pthread_join(thread, NULL); /* fails only for an invalid thread id */
	while (hw->error == 0 && (chunk = byte_queue_pop_rest(&hw->stream)) != NULL)
		build_chunk(hw, chunk);
	return rc;
}

static int too_large(const struct heap_plan *plan, struct err *err)
{
	return err_set(err, EXIT_PARTIAL,
		       "the heap needs more than jtool's limit of %zu MB of memory: "
		       "%s, or analyse a dump of it (jtool heapdump) on a larger machine",
		       plan->max_bytes >> 20,
		       plan->is_capped ? "run jtool where more is free, for example on the host" :
					 "allow more with --max-memory SIZE");
}

static int request(const struct heap_plan *plan, struct heap_walk *hw, struct err *err)
{
	const struct heap_wire *wire = &hw->wire;
	struct err answer = { .code = EXIT_DONE };
	int rc;

	progress_begin(&hw->line);
	rc = take_and_build(hw, plan, &answer);
	progress_end(&hw->line);
	if (hw->shortage.code != EXIT_DONE)
		return err_set(err, hw->shortage.code, "%s", hw->shortage.text);
	if (hw->error == -EFBIG || hw->names_excess)
		return too_large(plan, err);
	if (hw->stream_excess)
		return err_set(err, EXIT_AGENT,
			       "the agent in JVM %d sent more than the %llu MB of heap data that "
			       "it was allowed, so the session was ended; use --engine hprof",
			       (int)plan->ctx->jvm->pid,
			       (unsigned long long)(stream_limit(plan) >> 20));
	if (hw->error < 0)
		return err_set(err, EXIT_AGENT,
			       "the agent sent heap data that contradict each other; read the "
			       "JVM's own dump instead, with --engine hprof");
	if (rc < 0)
		return err_set(err, answer.code, "%s", answer.text);
	if (hw->is_snapshot && wire->outcome == WIRE_GRAPHED_COMPLETE)
		verbose_step(plan->ctx->steps,
			     "the snapshot paused the JVM for %.3f ms; the walk in a child process "
			     "took %.3f ms", (double)wire->pause_ns / 1e6,
			     (double)wire->child_ns / 1e6);
	if (hw->is_snapshot)
		return 0;
	verbose_step(
		plan->ctx->steps,
		"the heap walk paused the JVM for %.3f ms, %.3f ms of it waiting for jtool; "
		"heap stream: %llu bytes; the agent used at most %llu bytes",
		(double)wire->pause_ns / 1e6, (double)wire->waited_ns / 1e6,
		(unsigned long long)hw->heap_stream_bytes,
		(unsigned long long)wire->agent_peak);
	return 0;
}

/*
 * Returns 0 if the walk was complete, or if the caller accepts an incomplete heap (plan->partial).
 * Otherwise returns -1 with err set.
 */
static int check_outcome(const struct heap_plan *plan, const struct heap_wire *wire,
			 struct err *err)
{
	int pid = (int)plan->ctx->jvm->pid;

	if (wire->outcome == WIRE_GRAPHED_COMPLETE)
		return 0;
	if (plan->partial && wire->own_thread != 0) {
		*plan->partial = true;
		return 0;
	}
	if (wire->outcome == WIRE_GRAPHED_FULL)
		return too_large(plan, err);
	if (wire->outcome == WIRE_GRAPHED_LATE)
		return err_set(err, EXIT_PARTIAL,
			       "stopped the heap walk of JVM %d: the JVM had been paused for "
			       "%.3f s; allow more with --max-pause TIME",
			       pid, (double)wire->pause_ns / 1e9);
	return err_set(err, EXIT_PARTIAL,
		       "stopped the heap walk of JVM %d: jtool did not receive the data fast "
		       "enough, and the JVM is paused meanwhile; try again when this machine "
		       "is less busy, or with --engine hprof", pid);
}

static int build(struct heap_source *source, const struct heap_plan *plan,
		 struct heap_walk *hw, struct err *err)
{
	struct heap_wire *wire = &hw->wire;
	struct graph_facts facts;

	source->pause_ns = (int64_t)wire->pause_ns;
	if (check_outcome(plan, wire, err) < 0)
		return -1;
	classes_sort(&source->index.classes); /* includes the classes that the walk has reported */
	heap_wire_finish(wire, &facts);
	shapes_init(&source->shapes, facts.n_classes);
	return heap_source_build(source, plan, hw->builder, &facts, err);
}

static enum heap_outcome no_snapshot(const struct heap_plan *plan, const struct heap_wire *wire,
				     struct err *err)
{
	bool changed = wire->outcome == WIRE_GRAPHED_CHANGED;
	enum wire_snapshot_why why =
		changed ? WIRE_SNAPSHOT_CLASSES : (enum wire_snapshot_why)wire->why;

	snapshot_failed(plan->ctx, why, wire->code, err);
	return snapshot_may_try_again(why) ? HEAP_AGAIN : HEAP_CANNOT;
}

static enum heap_outcome walk(struct heap_source *source, const struct heap_plan *plan,
			      struct heap_walk *hw, struct err *err)
{
	/*
	 * If memory runs short during a snapshot, return HEAP_CANNOT, so that another engine is
	 * tried.  The other engines need less, because they have no child process for which the
	 * kernel copies pages.
	 */
	if (request(plan, hw, err) < 0)
		return hw->is_snapshot && hw->shortage.code != EXIT_DONE ? HEAP_CANNOT :
									   HEAP_FAILED;
	if (hw->wire.outcome == WIRE_GRAPHED_NOT || hw->wire.outcome == WIRE_GRAPHED_CHANGED ||
	    (hw->wire.why == WIRE_SNAPSHOT_NAMES && plan->all_names))
		return no_snapshot(plan, &hw->wire, err);
	if (hw->wire.outcome == WIRE_GRAPHED_UNKNOWN) {
		(void)err_set(err, EXIT_AGENT,
			      "the agent cannot determine object addresses in JVM %d; "
			      "--engine hprof needs none",
			      (int)plan->ctx->jvm->pid);
		return HEAP_CANNOT;
	}
	return build(source, plan, hw, err) < 0 ? HEAP_FAILED : HEAP_DONE;
}

static enum heap_outcome open_and_walk(struct heap_source *source, const struct heap_plan *plan,
				       bool is_snapshot, uint32_t tries, struct err *err)
{
	struct heap_walk hw = {
		.is_snapshot = is_snapshot,
		.tries = tries,
		.wire = { .classes = &source->index.classes, .heap = &source->heap },
		/*
		 * stream_max is more than stream_limit(), because the last frame may exceed the
		 * limit, and because stream_bytes includes the frames' headers.  Headers are less
		 * than 1/1024 of the stream: each frame except the last has at least 64 KB.
		 */
		.stream_max = stream_limit(plan) + stream_limit(plan) / 1024 + 2 * FRAME_MAX,
		.names_max = plan->max_bytes / NAMES_SHARE + FRAME_MAX,
		.shortage = { .code = EXIT_DONE },
	};
	enum heap_outcome outcome;

	if (class_index_open(plan->ctx, 0, &source->index, err) < 0)
		return err->code == EXIT_AGENT ? HEAP_CANNOT : HEAP_FAILED;
	hw.session = source->index.session;
	hw.builder = graph_builder_new(plan->max_bytes / 2);
	byte_queue_init(&hw.stream, (size_t)hw.stream_max);
	outcome = walk(source, plan, &hw, err);
	byte_queue_release(&hw.stream);
	graph_builder_free(hw.builder);
	if (outcome != HEAP_DONE)
		/* If closing fails too, `err` still has the first error. */
		(void)class_index_close(&source->index, err);
	if (outcome >= HEAP_CANNOT)
		heap_release(&source->heap); /* the next attempt or engine fills it again */
	return outcome;
}

enum heap_outcome heap_source_by_agent(struct heap_source *source, const struct heap_plan *plan,
				       struct err *err)
{
	return open_and_walk(source, plan, false, 0, err);
}

enum heap_outcome heap_source_by_snapshot(struct heap_source *source,
					  const struct heap_plan *plan, struct err *err)
{
	enum heap_outcome outcome = HEAP_CANNOT;

	if (snapshot_check(plan->ctx, plan->max_pause_ms, err) < 0)
		return HEAP_CANNOT;
	for (uint32_t tries = 0; tries < SNAPSHOT_TRIES; tries++) {
		struct err why = { .code = EXIT_DONE };

		outcome = open_and_walk(source, plan, true, tries, &why);
		if (outcome == HEAP_DONE)
			return HEAP_DONE;
		if (outcome != HEAP_AGAIN || tries + 1 == SNAPSHOT_TRIES) {
			(void)err_set(err, why.code, "%s", why.text);
			break;
		}
		verbose_step(plan->ctx->steps, "%s; trying again", why.text);
	}
	return outcome == HEAP_AGAIN ? HEAP_CANNOT : outcome;
}

struct class_query {
	struct class_info info;
	struct class_origins *origins;
};

static int take_class_info(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct class_query *query = arg;

	return class_info_take(&query->info, query->origins, type, payload);
}

int heap_source_ask_shape(struct heap_source *source, uint32_t class, struct err *err)
{
	struct session *s = source->index.session;
	struct classes *classes = &source->index.classes;
	struct class_query query = { .origins = &classes->origins };
	uint8_t payload[4];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));
	int rc;

	wire_put_u32(&w, class);
	rc = session_send(s, WIRE_CLASS, &w, err);
	if (rc == 0)
		rc = session_answer(s, take_class_info, &query, err);
	if (rc == 0)
		heap_wire_shape(classes, &query.info, &source->shapes.list[class]);
	class_info_release(&query.info);
	return rc;
}
