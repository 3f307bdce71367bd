/* PATCHES: sends the installed patches, with class, file and time. */
#include <string.h>

#include "cmd/command.h"
#include "cmd/origins_send.h"
#include "jvm/patch/patches.h"
#include "jvm/jni_refs.h"

struct reply {
	struct ag_origins origins;
	uint32_t n;
};

static int send_patch(struct ag_jvm *jvm, const struct ag_patch_info *patch, void *arg)
{
	struct reply *r = arg;
	char *signature = ag_class_signature(jvm, patch->class);
	struct wire_writer *w;
	struct ag_origin origin;
	int rc = -1;

	if (!signature || ag_origins_send(&r->origins, patch->class, &origin) != 0)
		goto out;
	w = ag_chan_begin(r->origins.chan);
	wire_put_u64(w, patch->id);
	wire_put_u64(w, patch->when_ms);
	wire_put_u32(w, origin.loader);
	wire_put_text(w, signature, strlen(signature));
	wire_put_text(w, patch->file, strlen(patch->file));
	wire_put_text(w, patch->digest, strlen(patch->digest));
	rc = ag_chan_end(r->origins.chan, WIRE_PATCH_ROW);
	r->n++;
out:
	ag_jvmti_free(jvm, signature);
	return rc;
}

static int send_end(struct ag_chan *chan, uint32_t n)
{
	struct wire_writer *w = ag_chan_begin(chan);

	wire_put_u32(w, n);
	return ag_chan_end(chan, WIRE_PATCHES_END);
}

/* Handles PATCHES.  The loader numbers in the reply are valid for this reply only. */
int ag_cmd_patches(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	struct ag_ids loaders = { 0 };
	struct reply r = { .origins = { .jvm = jvm, .chan = chan, .loaders = &loaders } };
	int rc;

	(void)request;
	if (ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_patches_each(jvm, send_patch, &r);
	if (rc == 0)
		rc = send_end(chan, r.n);
	ag_ids_release(jvm, &loaders);
	ag_ref_pop(jvm);
	return rc;
}
