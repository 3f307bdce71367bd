/* The heap engine that reads a heap dump: one that the JVM writes for this command, or a file. */
#include "cmd/heap/dump_reader.h"
#include "cmd/heap/heap_source_internal.h"

int heap_source_by_hprof(struct heap_source *source, const struct heap_plan *plan, struct err *err)
{
	const struct dump_reader_wanted wanted = {
		.graph_memory = plan->max_bytes / 2,
		.texts_from = plan->wanted->texts_from,
		.max_memory = plan->max_bytes / 2,
		.limits = { plan->max_bytes / 2, 0, plan->max_pause_ms,
			    "allow more with --max-memory SIZE" },
	};
	struct graph_facts facts = { 0 };
	struct graph_builder *builder;
	struct hprof_reader *reader =
		dump_reader_read(plan->ctx, &wanted, &source->heap, &builder, err);
	int rc;

	if (!reader)
		return -1;
	verbose_step(plan->ctx->steps, "read a dump of %llu bytes",
		     (unsigned long long)hprof_bytes(reader));
	facts.n_classes = (uint32_t)source->heap.n_classes;
	facts.class_class = hprof_class_class(reader);
	hprof_reader_free(reader);
	rc = heap_source_build(source, plan, builder, &facts, err);
	graph_builder_free(builder);
	return rc;
}
