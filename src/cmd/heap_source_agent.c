/* A walk by the agent. */
#include <errno.h>
#include <sys/resource.h>

#include "base/handover.h"
#include "base/progress.h"
#include "cmd/heap_source_parts.h"
#include "model/heap_wire.h"

/*
 * A tape of so many bytes makes a graph that fills its half of the memory, more or less: with it
 * the agent ends in good order what we would have to break off.  Beside the graph there is room
 * for it.
 */
#define TAPE_SHARE 3

/*
 * The JVM stands still until its answer is taken, and making a graph of that takes as long as the
 * walk itself.  So a thread beside us makes it, with such processors as nobody else wants: not
 * the JVM, and not we, who take the answer.  What it did not come to is made when all is taken.
 */
#define LOWEST_PRIORITY 19
#define HURRY_PRIORITY -10 /* while we take the answer, where we may */

struct walking {
	struct session *session;
	struct heap_wire wire;
	struct handover tape;
	/* of who makes the graph */
	struct graph_builder *builder;
	struct progress line;
	uint64_t tape_bytes;
	int error; /* a negative errno */
};

static int take_frame(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct walking *walking = arg;

	if (type == WIRE_TAPE)
		return handover_put(&walking->tape, payload->at,
				    (size_t)(payload->end - payload->at));
	return heap_wire_take(&walking->wire, type, payload);
}

static void build_piece(struct walking *walking, struct handover_piece *piece)
{
	walking->tape_bytes += piece->len;
	walking->error = graph_builder_take(walking->builder, piece->data, piece->len);
	free(piece);
	if (walking->error < 0)
		handover_refuse(&walking->tape);
	if (progress_due(&walking->line))
		progress_tell(&walking->line, "walking the heap: %.1f million objects",
			      (double)graph_builder_objects(walking->builder) / 1e6);
}

static void *build_beside(void *arg)
{
	struct walking *walking = arg;
	struct handover_piece *piece;

	(void)setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY); /* on Linux a thread's own */
	while (walking->error == 0 && (piece = handover_take(&walking->tape)) != NULL)
		build_piece(walking, piece);
	return NULL;
}

static int take_and_build(struct walking *walking, struct err *err)
{
	struct handover_piece *piece;
	pthread_t thread;
	bool beside = pthread_create(&thread, NULL, build_beside, walking) == 0;
	int rc, priority = getpriority(PRIO_PROCESS, 0);

	(void)setpriority(PRIO_PROCESS, 0, HURRY_PRIORITY);
	rc = session_answer(walking->session, take_frame, walking, err);
	(void)setpriority(PRIO_PROCESS, 0, priority);
	handover_end(&walking->tape);
	if (beside)
		(void)pthread_join(thread, NULL); /* fails only for what is no thread of ours */
	while (walking->error == 0 && (piece = handover_rest(&walking->tape)) != NULL)
		build_piece(walking, piece);
	return rc;
}

static int send_request(struct session *s, const struct heap_plan *plan, struct err *err)
{
	uint8_t payload[20];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, plan->wanted->texts_from ? WIRE_GRAPH_TEXTS : 0);
	wire_put_u32(&w, plan->max_pause_ms);
	wire_put_u64(&w, plan->max_bytes / TAPE_SHARE);
	wire_put_u32(&w, plan->wanted->texts_from);
	return session_send(s, WIRE_GRAPH, &w, err);
}

static int too_large(const struct heap_plan *plan, struct err *err)
{
	return err_set(err, EXIT_PARTIAL,
		       "the heap takes more than the %zu MB of memory that jtool may take for it "
		       "here: allow more with --max-memory MB, or look at a dump of it "
		       "(jtool heapdump) where there is more",
		       plan->max_bytes >> 20);
}

static int receive(const struct heap_plan *plan, struct walking *walking, struct err *err)
{
	const struct heap_wire *wire = &walking->wire;
	struct err answer = { .code = EXIT_DONE };
	int rc;

	progress_begin(&walking->line);
	rc = take_and_build(walking, &answer);
	progress_end(&walking->line);
	if (walking->error == -EFBIG)
		return too_large(plan, err);
	if (walking->error < 0)
		return err_set(err, EXIT_AGENT, "what the agent told of the heap makes no sense");
	if (rc < 0)
		return err_set(err, answer.code, "%s", answer.text);
	steps_add(plan->ctx->steps,
		  "the JVM stood still for %.3f ms of heap walk, %.3f of them waiting for jtool; "
		  "%llu bytes of tape; the agent had at most %llu bytes",
		  (double)wire->pause_ns / 1e6, (double)wire->waited_ns / 1e6,
		  (unsigned long long)walking->tape_bytes, (unsigned long long)wire->agent_peak);
	return 0;
}

/* A walk that was ended early may have told a part of the heap that can be relied on. */
static int judge(const struct heap_plan *plan, const struct heap_wire *wire, struct err *err)
{
	int pid = (int)plan->ctx->jvm->pid;

	if (wire->outcome == WIRE_GRAPHED_WHOLE)
		return 0;
	if (plan->partial && wire->own_thread != 0) {
		*plan->partial = true;
		return 0;
	}
	if (wire->outcome == WIRE_GRAPHED_FULL)
		return too_large(plan, err);
	if (wire->outcome == WIRE_GRAPHED_LATE)
		return err_set(err, EXIT_PARTIAL,
			       "the walk through the heap of JVM %d was ended: the JVM had stood "
			       "still for %.3f s; allow more with --max-pause SECONDS",
			       pid, (double)wire->pause_ns / 1e9);
	return err_set(err, EXIT_PARTIAL,
		       "the walk through the heap of JVM %d was ended: jtool did not take fast "
		       "enough what it found, and the JVM stood still meanwhile; try again when "
		       "this machine has less to do, or with --engine hprof",
		       pid);
}

static int build(struct heap_source *source, const struct heap_plan *plan,
		 struct walking *walking, struct err *err)
{
	struct heap_wire *wire = &walking->wire;
	struct graph_facts facts;

	if (judge(plan, wire, err) < 0)
		return -1;
	classes_sort(&source->roster.classes); /* with those that turned up */
	heap_wire_finish(wire, &facts);
	shapes_init(&source->shapes, facts.n_classes);
	return heap_source_build(source, plan, walking->builder, &facts, err);
}

static enum heap_outcome walk(struct heap_source *source, const struct heap_plan *plan,
			      struct walking *walking, struct err *err)
{
	if (send_request(walking->session, plan, err) < 0 || receive(plan, walking, err) < 0)
		return HEAP_FAILED;
	if (walking->wire.outcome == WIRE_GRAPHED_UNKNOWN) {
		(void)err_set(err, EXIT_AGENT,
			      "JVM %d does not show the agent where its objects are",
			      (int)plan->ctx->jvm->pid);
		return HEAP_CANNOT;
	}
	return build(source, plan, walking, err) < 0 ? HEAP_FAILED : HEAP_DONE;
}

enum heap_outcome heap_source_by_agent(struct heap_source *source, const struct heap_plan *plan,
				       struct err *err)
{
	struct walking walking = {
		.wire = { .classes = &source->roster.classes, .heap = &source->heap },
	};
	enum heap_outcome outcome;

	if (roster_open(plan->ctx, 0, &source->roster, err) < 0)
		return err->code == EXIT_AGENT ? HEAP_CANNOT : HEAP_FAILED;
	walking.session = source->roster.session;
	walking.builder = graph_builder_new(plan->max_bytes / 2);
	handover_init(&walking.tape);
	outcome = walk(source, plan, &walking, err);
	handover_release(&walking.tape);
	graph_builder_free(walking.builder);
	if (outcome != HEAP_DONE)
		(void)roster_close(&source->roster, err); /* the first error is the one to tell */
	if (outcome == HEAP_CANNOT)
		heap_release(&source->heap); /* for the other engine to fill */
	return outcome;
}

struct telling {
	struct class_told told;
	struct places *places;
};

static int take_told(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct telling *telling = arg;

	return class_told_take(&telling->told, telling->places, type, payload);
}

int heap_source_ask_shape(struct heap_source *source, uint32_t class, struct err *err)
{
	struct session *s = source->roster.session;
	struct classes *classes = &source->roster.classes;
	struct telling telling = { .places = &classes->places };
	uint8_t payload[4];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));
	int rc;

	wire_put_u32(&w, class);
	rc = session_send(s, WIRE_CLASS, &w, err);
	if (rc == 0)
		rc = session_answer(s, take_told, &telling, err);
	if (rc == 0)
		heap_wire_shape(classes, &telling.told, &source->shapes.list[class]);
	class_told_release(&telling.told);
	return rc;
}
