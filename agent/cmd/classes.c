/* CLASSES: sends all loaded classes, and stores each class in the class index under its number. */
#include "cmd/class_rows.h"
#include "cmd/command.h"
#include "jvm/jni_refs.h"
#include "jvm/class_index.h"

static int send_classes(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_class_index *index,
			bool sources)
{
	struct ag_origins origins = {
		.jvm = jvm,
		.chan = chan,
		.loaders = &index->loaders,
		.modules = &index->modules,
		.sources = sources ? &index->sources : NULL,
	};
	struct wire_writer *w;

	if (sources && ag_code_source_init(jvm, &origins.source) != 0)
		return -1;
	if (ag_classes_get(jvm, &index->classes) != 0 ||
	    ag_ref_expect(jvm, (jint)index->classes.n + 64) != 0 ||
	    ag_class_rows(&origins, index->classes.list, index->classes.n) != 0)
		return -1;
	w = ag_chan_begin(chan);
	wire_put_u32(w, index->classes.n);
	return ag_chan_end(chan, WIRE_CLASSES_END);
}

/*
 * Handles CLASSES.  Opens no JNI local frame, because the class index keeps local references, which
 * must outlive this function.  Frees the class index if not all of it could be sent.
 */
int ag_cmd_classes(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	uint32_t flags = wire_get_u32(request);
	struct ag_class_index *index;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is incomplete");
	ag_class_index_release(jvm);
	index = ag_class_index(jvm);
	if (index && send_classes(jvm, chan, index, flags & WIRE_CLASSES_SOURCES) == 0)
		return 0;
	ag_class_index_release(jvm);
	return -1;
}
