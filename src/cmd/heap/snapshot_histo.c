#include "cmd/heap/snapshot_histo.h"

#include <errno.h>

#include "base/xalloc.h"
#include "cmd/heap/heap_source.h"
#include "cmd/heap/snapshot_request.h"
#include "model/histo/histo_wire.h"

/*
 * Counts the objects that are reachable through references of any strength.  Weakly reachable
 * objects count as well, because they take memory until the next garbage collection.
 */
static void count_reachable(const struct heap *heap, struct histo *h)
{
	_cleanup_free_ int64_t *instances = xcalloc(heap->n_classes + 1, sizeof(*instances));
	_cleanup_free_ int64_t *bytes = xcalloc(heap->n_classes + 1, sizeof(*bytes));
	struct graph_bfs reached;

	graph_bfs(heap->graph, true, &reached);
	for (uint32_t node = 0; node < graph_n(heap->graph); node++) {
		uint32_t class = graph_class(heap->graph, node);

		if (reached.parent[node] == GRAPH_NONE || graph_is_own(heap->graph, node) ||
		    class >= heap->n_classes)
			continue;
		instances[class]++;
		bytes[class] += (int64_t)graph_size(heap->graph, node);
	}
	graph_bfs_release(&reached);
	for (size_t i = 0; i < heap->n_classes; i++) {
		const struct heap_class *class = &heap->classes[i];

		if (instances[i] > 0)
			histo_add(h, class->name, class->loader, class->module, instances[i],
				  bytes[i]);
	}
}

/*
 * Counts in jtool: receives the objects and references of a snapshot from HotSpot's own heap walk,
 * which runs in the child.  Unlike count_in_child(), this works if there are stacks of virtual
 * threads in the heap, or if some classes are not linked.
 */
static int count_graph(const struct ctx *ctx, unsigned max_pause_ms, struct histo *h,
		       int64_t *pause_ns, struct err *err)
{
	const struct heap_opts how = {
		.engine = HEAP_BY_SNAPSHOT, .max_pause_ms = max_pause_ms,
	};
	const struct heap_wanted wanted = { 0 };
	struct heap_source *source = heap_source_open(ctx, &how, &wanted, NULL, err);

	if (!source)
		return -1;
	*pause_ns = heap_source_pause_ns(source);
	count_reachable(heap_source_heap(source), h);
	return heap_source_close(source, err);
}

static int take_rows(void *wire, uint16_t type, struct wire_reader *payload)
{
	return type == WIRE_HISTO_END ? -EBADMSG : histo_wire_take(wire, type, payload);
}

/*
 * Lets the snapshot's child process count.  Returns 0; 1 with err set if the child cannot count but
 * count_graph() may; or -1 with err set after another error.
 */
static int count_in_child(const struct ctx *ctx, unsigned max_pause_ms, bool with_modules,
			  struct histo *h, int64_t *pause_ns, struct err *err)
{
	struct histo_wire wire = { .histo = h };
	struct snapshot_request r = {
		.ctx = ctx, .max_pause_ms = max_pause_ms,
		.flags = WIRE_DUMP_COUNTS | (with_modules ? WIRE_DUMP_MODULES : 0),
		.take = take_rows, .arg = &wire,
	};
	int rc = snapshot_check(ctx, max_pause_ms, err);

	for (unsigned tries = 1; rc == 0; tries++) {
		*err = (struct err){ .code = EXIT_DONE }; /* drop the error of the previous try */
		rc = snapshot_request_run(&r, err);
		if (rc < 0 || r.why == WIRE_SNAPSHOT_DONE)
			break;
		snapshot_failed(ctx, (enum wire_snapshot_why)r.why, r.code, err);
		if (tries == SNAPSHOT_TRIES ||
		    !snapshot_may_try_again((enum wire_snapshot_why)r.why))
			rc = 1;
		else
			verbose_step(ctx->steps, "%s; trying again", err->text);
	}
	histo_wire_release(&wire);
	*pause_ns = (int64_t)r.pause_ns;
	if (rc == 0)
		verbose_step(ctx->steps,
			     "the snapshot paused the JVM for %.3f ms; the count in a child "
			     "process took %.3f ms; the agent used at most %llu bytes",
			     (double)r.pause_ns / 1e6, (double)r.child_ns / 1e6,
			     (unsigned long long)r.agent_peak);
	return rc;
}

int snapshot_histo(const struct ctx *ctx, unsigned max_pause_ms, bool with_modules,
		   struct histo *h, int64_t *pause_ns, struct err *err)
{
	struct err why = { .code = EXIT_DONE };
	int rc = count_in_child(ctx, max_pause_ms, with_modules, h, pause_ns, &why);

	if (rc <= 0)
		return rc == 0 ? 0 : err_set(err, why.code, "%s", why.text);
	verbose_step(ctx->steps, "%s; jtool counts the objects itself", why.text);
	return count_graph(ctx, max_pause_ms, h, pause_ns, err);
}
