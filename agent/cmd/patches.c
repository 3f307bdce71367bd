/* PATCHES: what is replaced, by what and since when. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/places.h"
#include "jvm/patches.h"
#include "jvm/ref.h"

struct telling {
	struct ag_places places;
	uint32_t n;
};

static int tell_patch(struct ag_jvm *jvm, const struct ag_patch_told *patch, void *arg)
{
	struct telling *t = arg;
	char *signature = ag_class_signature(jvm, patch->class);
	struct wire_writer *w;
	struct ag_where where;
	int rc = -1;

	if (!signature || ag_places_find(&t->places, patch->class, &where) != 0)
		goto out;
	w = ag_chan_begin(t->places.chan);
	wire_put_u64(w, patch->id);
	wire_put_u64(w, patch->when_ms);
	wire_put_u32(w, where.loader);
	wire_put_text(w, signature, strlen(signature));
	wire_put_text(w, patch->file, strlen(patch->file));
	wire_put_text(w, patch->digest, strlen(patch->digest));
	rc = ag_chan_end(t->places.chan, WIRE_PATCH_ROW);
	t->n++;
out:
	ag_ti_free(jvm, signature);
	return rc;
}

static int tell_end(struct ag_chan *chan, uint32_t n)
{
	struct wire_writer *w = ag_chan_begin(chan);

	wire_put_u32(w, n);
	return ag_chan_end(chan, WIRE_PATCHES_END);
}

/* Loaders are numbered for this answer alone. */
int ag_cmd_patches(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	struct ag_ids loaders = { 0 };
	struct telling t = { .places = { .jvm = jvm, .chan = chan, .loaders = &loaders } };
	int rc;

	(void)request;
	if (ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_patches_each(jvm, tell_patch, &t);
	if (rc == 0)
		rc = tell_end(chan, t.n);
	ag_ids_release(jvm, &loaders);
	ag_ref_pop(jvm);
	return rc;
}
