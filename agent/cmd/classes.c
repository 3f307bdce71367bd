/* CLASSES: every loaded class, by number from then on. */
#include <string.h>

#include "cmd/batch.h"
#include "cmd/cmd.h"
#include "cmd/places.h"
#include "jvm/patches.h"
#include "jvm/ref.h"
#include "jvm/roster.h"

#define ROWS_AT_ONCE 512
#define ROW_FIXED 24 /* a row's bytes without the signature's */

/* Loaders, modules and sources go out before the classes that name them. */
static int tell_places(struct ag_places *p, const jclass *classes, uint32_t n,
		       struct ag_where *where)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ag_places_find(p, classes[i], &where[i]) != 0)
			return -1;
	}
	return 0;
}

static int tell_row(struct ag_jvm *jvm, struct ag_batch *batch, jclass class,
		    const struct ag_where *where, const char *signature)
{
	struct wire_writer *w;
	uint32_t traits;
	jint modifiers;

	if (ag_class_traits(jvm, class, signature, &modifiers, &traits) != 0)
		return -1;
	if (ag_patches_has(class))
		traits |= WIRE_CLASS_PATCHED;
	w = ag_batch_row(batch, ROW_FIXED + strlen(signature));
	if (!w)
		return -1;
	wire_put_u32(w, where->loader);
	wire_put_u32(w, where->module);
	wire_put_u32(w, where->source);
	wire_put_u32(w, (uint32_t)modifiers);
	wire_put_u32(w, traits);
	wire_put_text(w, signature, strlen(signature));
	return 0;
}

static int tell_classes(struct ag_places *p, const jclass *classes, uint32_t n,
			const struct ag_where *where)
{
	struct ag_batch batch = { .chan = p->chan, .type = WIRE_CLASS_ROWS };

	for (uint32_t i = 0; i < n; i++) {
		char *signature = ag_class_signature(p->jvm, classes[i]);
		int rc = -1;

		if (signature)
			rc = tell_row(p->jvm, &batch, classes[i], &where[i], signature);
		ag_ti_free(p->jvm, signature);
		if (rc != 0)
			return -1;
	}
	return ag_batch_end(&batch);
}

/* Some rows at a time: the client makes sense of them while the next ones are looked up. */
static int tell_rows(struct ag_places *p, const struct ag_classes *classes)
{
	struct ag_where where[ROWS_AT_ONCE];

	for (uint32_t i = 0; i < classes->n; i += ROWS_AT_ONCE) {
		const jclass *some = classes->list + i;
		uint32_t left = classes->n - i;
		uint32_t n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;

		if (tell_places(p, some, n, where) != 0 || tell_classes(p, some, n, where) != 0)
			return -1;
	}
	return 0;
}

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
	    tell_rows(&places, &roster->classes) != 0)
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
