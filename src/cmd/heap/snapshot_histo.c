#include "cmd/heap/snapshot_histo.h"

#include "base/xalloc.h"
#include "cmd/heap/heap_source.h"

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

int snapshot_histo(const struct ctx *ctx, unsigned max_pause_ms, struct histo *h,
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
