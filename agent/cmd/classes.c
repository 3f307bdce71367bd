/* CLASSES: every loaded class, by number from then on. */
#include "cmd/class_rows.h"
#include "cmd/cmd.h"
#include "jvm/ref.h"
#include "jvm/roster.h"

static int tell(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_roster *roster, bool sources)
{
	struct ag_places places = {
		.jvm = jvm,
		.chan = chan,
		.loaders = &roster->loaders,
		.modules = &roster->modules,
		.sources = sources ? &roster->sources : NULL,
	};
	struct wire_writer *w;

	if (sources && ag_source_init(jvm, &places.source) != 0)
		return -1;
	if (ag_classes_get(jvm, &roster->classes) != 0 ||
	    ag_ref_expect(jvm, (jint)roster->classes.n + 64) != 0 ||
	    ag_class_rows(&places, roster->classes.list, roster->classes.n) != 0)
		return -1;
	w = ag_chan_begin(chan);
	wire_put_u32(w, roster->classes.n);
	return ag_chan_end(chan, WIRE_CLASSES_END);
}

/*
 * The roster's references live in the thread's own frame: no other may be open here.  A roster
 * that the client was not told in full is none.
 */
int ag_cmd_classes(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	uint32_t flags = wire_get_u32(request);
	struct ag_roster *roster;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is not complete");
	ag_roster_release(jvm);
	roster = ag_roster(jvm);
	if (roster && tell(jvm, chan, roster, flags & WIRE_CLASSES_SOURCES) == 0)
		return 0;
	ag_roster_release(jvm);
	return -1;
}
