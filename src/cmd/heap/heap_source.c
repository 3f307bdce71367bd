#include "cmd/heap/heap_source_internal.h"

#include <string.h>
#include <sys/resource.h>

#include "base/xalloc.h"
#include "discover/memory_check.h"

#define MB (UINT64_C(1) << 20)
#define MEMORY_MIN (64 * MB)          /* lower limit for the default of --max-memory */
#define MEMORY_UNKNOWN (1024 * MB)    /* default of --max-memory if the free memory is unknown */
#define MEMORY_BASE (4 << 20)         /* bytes that jtool takes without heap data (measured) */
#define MEMORY_LEAST (6 << 20)        /* with less memory for heap data, jtool reads no heap */

static const struct heap_engine_set engines = {
	1u << HEAP_BY_AUTO | 1u << HEAP_BY_SNAPSHOT | 1u << HEAP_BY_AGENT | 1u << HEAP_BY_HPROF,
	"it finds no references",
};

int heap_opts_check(const struct heap_opts *opts, const char *file, struct err *err)
{
	return heap_engine_check(&engines, (enum heap_engine)opts->engine, file, err);
}

static uint64_t wanted_memory(const struct heap_opts *opts)
{
	int64_t free = -1;
	uint64_t limit;
	struct procfs proc;

	if (opts->max_memory > 0)
		return opts->max_memory;
	if (procfs_open(&proc, "/proc") == 0) {
		free = memory_free(&proc, getpid());
		procfs_close(&proc);
	}
	limit = free < 0 ? MEMORY_UNKNOWN : (uint64_t)free / 2;
	return limit < MEMORY_MIN ? MEMORY_MIN : limit;
}

int heap_memory(const struct ctx *ctx, enum memory_use use, uint64_t wanted, size_t *granted,
		struct err *err)
{
	struct memory_room room = { .own = INT64_MAX };
	int64_t left = memory_left();

	if (ctx->jvm && memory_check(ctx->jvm, use, &room, err) < 0)
		return -1;
	left = (left < room.own ? left : room.own) - MEMORY_BASE;
	if (left < MEMORY_LEAST)
		return err_set(err, EXIT_PARTIAL,
			       "jtool needs at least %lld MB of memory, and too little is free "
			       "here; run it where more is free, for example on the host",
			       (long long)((MEMORY_BASE + MEMORY_LEAST) / (int64_t)MB));
	/*
	 * Grant only two thirds of the free memory.  The last third is for the part of a dump that
	 * has arrived but was not read yet; *granted does not include this part.
	 */
	left = left / 3 * 2;
	*granted = wanted < (uint64_t)left ? (size_t)wanted : (size_t)left;
	return 0;
}

static uint64_t peak_mb(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) < 0 ? 0 : (uint64_t)usage.ru_maxrss / 1024;
}

int heap_source_build(struct heap_source *source, const struct heap_plan *plan,
		      struct graph_builder *builder, struct graph_facts *facts, struct err *err)
{
	struct heap *heap = &source->heap;
	_cleanup_free_ bool *permanent = xcalloc(heap->n_classes + 1, sizeof(*permanent));
	int error = 0;

	for (size_t i = 0; i < heap->n_classes; i++)
		permanent[i] = heap->classes[i].permanent;
	facts->permanent = permanent;
	heap->graph = graph_build(builder, facts, &error);
	if (!heap->graph)
		return err_set(err, EXIT_PARTIAL,
			       "the objects and references of the heap are inconsistent: the graph "
			       "cannot be built (%s); try again, or analyse a dump of the JVM "
			       "(jtool heapdump)", strerror(-error));
	verbose_step(plan->ctx->steps,
		     "built the graph: %u objects, %llu references; jtool has used up to %llu MB",
		     graph_n(heap->graph), (unsigned long long)graph_n_edges(heap->graph),
		     (unsigned long long)peak_mb());
	return 0;
}

/*
 * Reads the heap from a snapshot.  Returns 0; or 1 if there is no snapshot and another engine may
 * be used; or -1 with err set.
 */
static int try_snapshot(struct heap_source *source, const struct heap_plan *plan,
			enum heap_engine engine, struct err *err)
{
	struct err why = { .code = EXIT_DONE };
	enum heap_outcome outcome = heap_source_by_snapshot(source, plan, &why);

	if (outcome == HEAP_DONE)
		return 0;
	if (outcome == HEAP_FAILED || engine == HEAP_BY_SNAPSHOT)
		return err_set(err, why.code, "%s", why.text);
	verbose_step(plan->ctx->steps, "%s; the walk pauses the JVM", why.text);
	return 1;
}

/*
 * Reads the heap by `engine`.  HEAP_BY_AUTO tries a snapshot, then a walk by the agent, then the
 * JVM's own dump.
 */
static int run_engine(struct heap_source *source, const struct heap_plan *plan,
		      enum heap_engine engine, struct err *err)
{
	struct err agent_err = { .code = EXIT_DONE };

	source->engine = HEAP_BY_HPROF;
	source->pause_ns = -1;
	if (engine == HEAP_BY_HPROF)
		return heap_source_by_hprof(source, plan, err);
	if (engine != HEAP_BY_AGENT) {
		int rc = try_snapshot(source, plan, engine, err);

		if (rc == 0)
			source->engine = HEAP_BY_SNAPSHOT;
		if (rc <= 0)
			return rc;
	}
	switch (heap_source_by_agent(source, plan, &agent_err)) {
	case HEAP_DONE:
		source->engine = HEAP_BY_AGENT;
		return 0;
	case HEAP_CANNOT:
		if (engine == HEAP_BY_AUTO)
			break;
		/* fallthrough */
	default:
		return err_set(err, agent_err.code, "%s", agent_err.text);
	}
	source->pause_ns = -1;
	cmd_print_notice(plan->ctx->cmd, "%s; using the JVM's own dump instead (--engine hprof)",
			 agent_err.text);
	return heap_source_by_hprof(source, plan, err);
}

/*
 * Sets the plan's limit for jtool's memory.  If *engine is HEAP_BY_AUTO, and too little memory is
 * free for a heap walk but enough for the JVM's own dump, sets *engine to HEAP_BY_HPROF.
 */
static int grant_memory(const struct heap_opts *opts, struct heap_plan *plan,
			enum heap_engine *engine, struct err *err)
{
	const struct ctx *ctx = plan->ctx;
	enum memory_use use = *engine == HEAP_BY_HPROF ? MEMORY_COLLECT : MEMORY_WALK;
	struct err no_walk = { .code = EXIT_DONE }, no_dump = { .code = EXIT_DONE };
	uint64_t wanted = wanted_memory(opts);
	int rc = heap_memory(ctx, use, wanted, &plan->max_bytes, &no_walk);

	if (rc < 0 && *engine == HEAP_BY_AUTO) {
		rc = heap_memory(ctx, MEMORY_COLLECT, wanted, &plan->max_bytes, &no_dump);
		if (rc == 0)
			cmd_print_notice(ctx->cmd, "%s; using the JVM's own dump instead (--engine "
				       "hprof)", no_walk.text);
		*engine = HEAP_BY_HPROF;
	}
	plan->is_capped = plan->max_bytes < wanted;
	return rc == 0 ? 0 : err_set(err, no_walk.code, "%s", no_walk.text);
}

struct heap_source *heap_source_open(const struct ctx *ctx, const struct heap_opts *opts,
				     const struct heap_wanted *wanted, bool *partial,
				     struct err *err)
{
	struct heap_plan plan = {
		.ctx = ctx,
		.wanted = wanted,
		.max_pause_ms = opts->max_pause_ms ? opts->max_pause_ms : HEAP_MAX_PAUSE_MS,
		.partial = partial,
		.all_names = opts->engine == HEAP_BY_AUTO,
	};
	enum heap_engine engine = ctx->file ? HEAP_BY_HPROF : (enum heap_engine)opts->engine;
	struct heap_source *source;

	if (heap_opts_check(opts, ctx->file, err) < 0 ||
	    grant_memory(opts, &plan, &engine, err) < 0)
		return NULL;
	source = xcalloc(1, sizeof(*source));
	verbose_step(ctx->steps, "jtool uses at most %zu MB of memory",
		     plan.max_bytes / (size_t)MB);
	if (partial)
		*partial = false;
	if (run_engine(source, &plan, engine, err) == 0)
		return source;
	(void)heap_source_close(source, err); /* does not replace the error in `err` */
	return NULL;
}

struct heap *heap_source_heap(struct heap_source *source)
{
	return &source->heap;
}

bool heap_source_is_dump(const struct heap_source *source)
{
	return !source->index.session;
}

int64_t heap_source_pause_ns(const struct heap_source *source)
{
	return source->pause_ns;
}

/*
 * Fetches the field names from the agent.  Does nothing if the heap is from a dump, because the
 * reader of the dump has already set the field names of all classes.
 */
int heap_source_fields(struct heap_source *source, const bool *wanted, struct err *err)
{
	uint32_t missing;

	if (heap_source_is_dump(source))
		return 0;
	for (uint32_t i = 0; i < source->heap.n_classes; i++) {
		if (!wanted[i])
			continue;
		while ((missing = heap_fields_missing(&source->shapes, i)) != GRAPH_NONE) {
			if (heap_source_ask_shape(source, missing, err) < 0)
				return -1;
		}
		heap_fields_fill(&source->heap, &source->shapes, i);
	}
	return 0;
}

void heap_source_put(const struct heap_source *source, const struct ctx *ctx, struct json *doc)
{
	if (ctx->jvm)
		json_put_number(doc, "pid", ctx->jvm->pid);
	else
		json_put_null(doc, "pid");
	json_put_text(doc, "file", ctx->file);
	heap_engine_put(source->engine, source->pause_ns, doc);
}

int heap_source_close(struct heap_source *source, struct err *err)
{
	int rc = 0;

	if (source->index.session)
		rc = class_index_close(&source->index, err);
	shapes_release(&source->shapes);
	heap_release(&source->heap);
	free(source);
	return rc;
}
