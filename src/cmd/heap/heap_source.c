#include "cmd/heap/heap_source_internal.h"

#include <string.h>
#include <sys/resource.h>

#include "base/xalloc.h"
#include "discover/free_memory.h"

#define MB (UINT64_C(1) << 20)
#define MEMORY_MIN (64 * MB)          /* least default of --max-memory */
#define MEMORY_UNKNOWN (1024 * MB)    /* if the free memory is not known */

const char *const heap_engines[] = { "any", "agent", "hprof", NULL };
_Static_assert(HEAP_BY_ANY == 0 && HEAP_BY_AGENT == 1 && HEAP_BY_HPROF == 2, "as in heap_engines");

static size_t memory_limit(const struct heap_opts *opts)
{
	int64_t free = -1;
	uint64_t limit;
	struct procfs proc;

	if (opts->max_memory_mb > 0)
		return opts->max_memory_mb * MB;
	if (procfs_open(&proc, "/proc") == 0) {
		free = free_memory(&proc, getpid());
		procfs_close(&proc);
	}
	limit = free < 0 ? MEMORY_UNKNOWN : (uint64_t)free / 2;
	return limit < MEMORY_MIN ? MEMORY_MIN : limit;
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
			       "cannot build the graph of the heap's objects from inconsistent "
			       "data: %s", strerror(-error));
	verbose_step(plan->ctx->steps,
		     "built the graph: %u objects, %llu references; jtool has used up to %llu MB",
		     graph_n(heap->graph), (unsigned long long)graph_n_edges(heap->graph),
		     (unsigned long long)peak_mb());
	return 0;
}

/* Runs the engine; HEAP_BY_ANY: the agent, or the JVM's own dump if the agent cannot. */
static int run_engine(struct heap_source *source, const struct heap_plan *plan,
		      enum heap_engine engine, struct err *err)
{
	struct err agent_err = { .code = EXIT_DONE };

	if (engine == HEAP_BY_HPROF)
		return heap_source_by_hprof(source, plan, err);
	switch (heap_source_by_agent(source, plan, &agent_err)) {
	case HEAP_DONE:
		return 0;
	case HEAP_CANNOT:
		if (engine == HEAP_BY_ANY)
			break;
		/* fallthrough */
	default:
		return err_set(err, agent_err.code, "%s", agent_err.text);
	}
	cmd_print_notice(plan->ctx->cmd, "%s; using the JVM's own dump instead (--engine hprof)",
			 agent_err.text);
	return heap_source_by_hprof(source, plan, err);
}

struct heap_source *heap_source_open(const struct ctx *ctx, const struct heap_opts *opts,
				     const struct heap_wanted *wanted, bool *partial,
				     struct err *err)
{
	const struct heap_plan plan = {
		.ctx = ctx,
		.wanted = wanted,
		.max_pause_ms = opts->max_pause_ms ? opts->max_pause_ms : HEAP_MAX_PAUSE_MS,
		.max_bytes = memory_limit(opts),
		.partial = partial,
	};
	enum heap_engine engine = ctx->file ? HEAP_BY_HPROF : (enum heap_engine)opts->engine;
	struct heap_source *source;

	if (ctx->file && opts->engine == HEAP_BY_AGENT) {
		(void)err_set(err, EXIT_USAGE, "--engine agent needs a JVM, not a dump file");
		return NULL;
	}
	source = xcalloc(1, sizeof(*source));
	oom_score_raise();
	verbose_step(ctx->steps, "jtool uses at most %zu MB of memory",
		     plan.max_bytes / (size_t)MB);
	if (partial)
		*partial = false;
	if (run_engine(source, &plan, engine, err) == 0)
		return source;
	(void)heap_source_close(source, err); /* the first error is reported */
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

/* Does nothing for a dump, whose reader has set the fields of all classes. */
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

void heap_source_put(const struct ctx *ctx, struct json *doc)
{
	if (ctx->jvm)
		json_put_number(doc, "pid", ctx->jvm->pid);
	else
		json_put_null(doc, "pid");
	json_put_text(doc, "file", ctx->file);
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
