/* HISTO: a class histogram of the heap, all of it or of one class. */
#include <string.h>

#include "cmd/batch.h"
#include "cmd/cmd.h"
#include "cmd/places.h"
#include "jvm/heap.h"
#include "jvm/ref.h"

#define ROWS_AT_ONCE 512
#define ROW_FIXED 28       /* a row's bytes without the signature's */

/* Loaders and modules go out before the classes that name them. */
static int tell_places(struct ag_places *p, const struct ag_row *rows, uint32_t n,
		       struct ag_where *where)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ag_places_find(p, rows[i].class, &where[i]) != 0)
			return -1;
	}
	return 0;
}

static int tell_classes(struct ag_places *p, const struct ag_row *rows, uint32_t n,
			const struct ag_where *where)
{
	struct ag_batch batch = { .chan = p->chan, .type = WIRE_HISTO_CLASSES };

	for (uint32_t i = 0; i < n; i++) {
		char *signature = ag_class_signature(p->jvm, rows[i].class);
		size_t len = signature ? strlen(signature) : 0;
		struct wire_writer *w = signature ? ag_batch_row(&batch, ROW_FIXED + len) : NULL;

		if (w) {
			wire_put_u32(w, where[i].loader);
			wire_put_u32(w, where[i].module);
			wire_put_text(w, signature, len);
			wire_put_u64(w, rows[i].tally.instances);
			wire_put_u64(w, rows[i].tally.bytes);
		}
		ag_ti_free(p->jvm, signature);
		if (!w)
			return -1;
	}
	return ag_batch_end(&batch);
}

/* Some rows at a time: the client makes sense of them while the next ones are looked up. */
static int tell_rows(struct ag_places *p, const struct ag_census *census)
{
	struct ag_where where[ROWS_AT_ONCE];

	for (uint32_t i = 0; i < census->n; i += ROWS_AT_ONCE) {
		const struct ag_row *rows = census->rows + i;
		uint32_t left = census->n - i;
		uint32_t n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;

		if (tell_places(p, rows, n, where) != 0 || tell_classes(p, rows, n, where) != 0)
			return -1;
	}
	return 0;
}

static int tell_end(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_census *census)
{
	struct wire_writer *w = ag_chan_begin(chan);

	wire_put_u64(w, census->walk_ns);
	wire_put_u32(w, census->method);
	wire_put_u64(w, census->resolved);
	wire_put_u64(w, jvm->mem->peak);
	return ag_chan_end(chan, WIRE_HISTO_END);
}

static int tell(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_census *census,
		bool tell_modules)
{
	struct ag_ids loaders = { 0 }, modules = { 0 };
	struct ag_places places = {
		.jvm = jvm,
		.chan = chan,
		.loaders = &loaders,
		.modules = tell_modules ? &modules : NULL,
	};
	int rc = tell_rows(&places, census);

	if (rc == 0)
		rc = tell_end(jvm, chan, census);
	ag_ids_release(jvm, &loaders);
	ag_ids_release(jvm, &modules);
	return rc;
}

int ag_cmd_histo(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	const jvmtiCapabilities tagging = { .can_tag_objects = 1 };
	uint32_t flags = wire_get_u32(request);
	struct wire_text only = wire_get_text(request);
	struct ag_heap_opts opts = {
		.live = flags & WIRE_HISTO_LIVE,
		.strict = flags & WIRE_HISTO_STRICT,
		.signature = only.len > 0 ? only.data : NULL,
		.signature_len = only.len,
	};
	struct ag_census census;
	int rc = -1;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is not complete");
	if (ag_ref_push(jvm) != 0)
		return -1;
	if (AG_TI(jvm, AddCapabilities, &tagging) != 0)
		goto out;
	if (ag_heap_count(jvm, &opts, &census) == 0) {
		rc = tell(jvm, chan, &census, flags & WIRE_HISTO_MODULES);
		ag_census_release(jvm, &census);
	}
	(void)AG_TI(jvm, RelinquishCapabilities, &tagging); /* the error is recorded */
out:
	ag_ref_pop(jvm);
	return rc;
}
