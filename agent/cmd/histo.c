/* HISTO: a class histogram of the heap, all of it or of one class. */
#include <string.h>

#include "cmd/cmd.h"
#include "jvm/classes.h"
#include "jvm/heap.h"
#include "jvm/ref.h"

#define BATCH (48u * 1024) /* a HISTO_CLASSES frame is ended when it is this long */
#define ROWS_AT_ONCE 512
#define ROW_FIXED 28       /* a row's bytes without the signature's */

struct where {
	uint32_t loader, module; /* by the client's numbers */
};

struct report {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct ag_ids loaders, modules;
	bool tell_modules;
};

static int tell_loader(struct report *r, jobject loader, uint32_t id)
{
	jclass class = ag_ref_class(r->jvm, loader);
	char *signature = ag_class_signature(r->jvm, class);
	char name[AG_NAME_MAX];
	jint hash;
	struct wire_writer *w;
	int rc = -1;

	if (!signature || ag_object_name(r->jvm, loader, name) != 0 ||
	    AG_TI(r->jvm, GetObjectHashCode, loader, &hash) != 0)
		goto out;
	w = ag_chan_begin(r->chan);
	wire_put_u32(w, id);
	wire_put_text(w, signature, strlen(signature));
	wire_put_text(w, name, strlen(name));
	wire_put_u32(w, (uint32_t)hash);
	rc = ag_chan_end(r->chan, WIRE_LOADER);
out:
	ag_ti_free(r->jvm, signature);
	ag_ref_drop(r->jvm, class);
	return rc;
}

static int tell_module(struct report *r, const char *name, uint32_t id)
{
	struct wire_writer *w = ag_chan_begin(r->chan);

	wire_put_u32(w, id);
	wire_put_text(w, name, strlen(name));
	return ag_chan_end(r->chan, WIRE_MODULE);
}

static int find_loader(struct report *r, jclass class, uint32_t *id)
{
	jobject loader;
	bool new;

	if (ag_class_loader(r->jvm, class, &loader) != 0 ||
	    ag_ids_take(r->jvm, &r->loaders, loader, id, &new) != 0)
		return -1;
	return new ? tell_loader(r, loader, *id) : 0;
}

static int find_module(struct report *r, jclass class, uint32_t *id)
{
	char name[AG_NAME_MAX];
	jobject module;
	bool new;

	if (ag_class_module(r->jvm, class, &module) != 0 ||
	    ag_ids_take(r->jvm, &r->modules, module, id, &new) != 0)
		return -1;
	if (!new)
		return 0;
	if (ag_object_name(r->jvm, module, name) != 0)
		return -1;
	return tell_module(r, name, *id);
}

/* Loaders and modules go out before the classes that name them. */
static int tell_places(struct report *r, const struct ag_row *rows, uint32_t n,
		       struct where *where)
{
	for (uint32_t i = 0; i < n; i++) {
		where[i].module = 0;
		if (find_loader(r, rows[i].class, &where[i].loader) != 0)
			return -1;
		if (r->tell_modules && find_module(r, rows[i].class, &where[i].module) != 0)
			return -1;
	}
	return 0;
}

/* The number of rows stands before them but is known behind them. */
static int end_batch(struct report *r, uint32_t n)
{
	struct wire_writer count = wire_writer_init(r->chan->payload.data, 4);

	wire_put_u32(&count, n);
	return ag_chan_end(r->chan, WIRE_HISTO_CLASSES);
}

static void put_row(struct wire_writer *w, const struct ag_row *row, const struct where *where,
		    const char *signature, size_t len)
{
	wire_put_u32(w, where->loader);
	wire_put_u32(w, where->module);
	wire_put_text(w, signature, len);
	wire_put_u64(w, row->tally.instances);
	wire_put_u64(w, row->tally.bytes);
}

static struct wire_writer *begin_batch(struct report *r)
{
	struct wire_writer *w = ag_chan_begin(r->chan);

	wire_put_u32(w, 0);
	return w;
}

static int tell_classes(struct report *r, const struct ag_row *rows, uint32_t n,
			const struct where *where)
{
	struct wire_writer *w = begin_batch(r);
	uint32_t in_batch = 0;

	for (uint32_t i = 0; i < n; i++) {
		char *signature = ag_class_signature(r->jvm, rows[i].class);
		size_t len;

		if (!signature)
			return -1;
		len = strlen(signature);
		if (w->len + ROW_FIXED + len > BATCH && in_batch > 0) {
			if (end_batch(r, in_batch) != 0) {
				ag_ti_free(r->jvm, signature);
				return -1;
			}
			w = begin_batch(r);
			in_batch = 0;
		}
		put_row(w, &rows[i], &where[i], signature, len);
		in_batch++;
		ag_ti_free(r->jvm, signature);
	}
	return end_batch(r, in_batch);
}

static int tell_end(struct report *r, const struct ag_census *census)
{
	struct wire_writer *w = ag_chan_begin(r->chan);

	wire_put_u64(w, census->walk_ns);
	wire_put_u32(w, census->method);
	wire_put_u64(w, census->resolved);
	wire_put_u64(w, r->jvm->mem->peak);
	return ag_chan_end(r->chan, WIRE_HISTO_END);
}

/* Some rows at a time: the client makes sense of them while the next ones are looked up. */
static int tell_rows(struct report *r, const struct ag_census *census)
{
	struct where where[ROWS_AT_ONCE];

	for (uint32_t i = 0; i < census->n; i += ROWS_AT_ONCE) {
		const struct ag_row *rows = census->rows + i;
		uint32_t left = census->n - i;
		uint32_t n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;

		if (tell_places(r, rows, n, where) != 0 || tell_classes(r, rows, n, where) != 0)
			return -1;
	}
	return 0;
}

static int tell(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_census *census,
		bool modules)
{
	struct report r = { .jvm = jvm, .chan = chan, .tell_modules = modules };
	int rc = tell_rows(&r, census);

	if (rc == 0)
		rc = tell_end(&r, census);
	ag_ids_release(jvm, &r.loaders);
	ag_ids_release(jvm, &r.modules);
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
