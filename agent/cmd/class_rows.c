#include "cmd/class_rows.h"

#include <string.h>

#include "cmd/row_batch.h"
#include "jvm/patch/patches.h"

#define ROWS_AT_ONCE 512
#define ROW_FIXED 24 /* bytes of a row besides the signature */
#define GONE "L?;"   /* the signature that is sent for an unloaded class */

/* Sends loaders, modules and code sources before the rows that refer to them. */
static int send_origins(struct ag_origins *p, const jclass *classes, uint32_t n,
			struct ag_origin *origin)
{
	for (uint32_t i = 0; i < n; i++) {
		origin[i] = (struct ag_origin){ 0 };
		if (classes[i] && ag_origins_send(p, classes[i], &origin[i]) != 0)
			return -1;
	}
	return 0;
}

static int put_row(struct ag_row_batch *batch, const struct ag_origin *origin, jint modifiers,
		   uint32_t traits, const char *signature)
{
	struct wire_writer *w = ag_row_batch_row(batch, ROW_FIXED + strlen(signature));

	if (!w)
		return -1;
	wire_put_u32(w, origin->loader);
	wire_put_u32(w, origin->module);
	wire_put_u32(w, origin->source);
	wire_put_u32(w, (uint32_t)modifiers);
	wire_put_u32(w, traits);
	wire_put_text(w, signature, strlen(signature));
	return 0;
}

static int put_class(struct ag_jvm *jvm, struct ag_row_batch *batch, jclass class,
		     const struct ag_origin *origin)
{
	char *signature;
	uint32_t traits;
	jint modifiers;
	int rc = -1;

	if (!class)
		return put_row(batch, origin, 0, 0, GONE);
	signature = ag_class_signature(jvm, class);
	if (signature && ag_class_traits(jvm, class, signature, &modifiers, &traits) == 0) {
		if (ag_patches_has(class))
			traits |= WIRE_CLASS_PATCHED;
		rc = put_row(batch, origin, modifiers, traits, signature);
	}
	ag_jvmti_free(jvm, signature);
	return rc;
}

static int send_rows(struct ag_origins *p, const jclass *classes, uint32_t n,
		     const struct ag_origin *origin)
{
	struct ag_row_batch batch = { .chan = p->chan, .type = WIRE_CLASS_ROWS };

	for (uint32_t i = 0; i < n; i++) {
		if (put_class(p->jvm, &batch, classes[i], &origin[i]) != 0)
			return -1;
	}
	return ag_row_batch_end(&batch);
}

/* Sends rows in chunks, so that the client parses a chunk while the agent collects the next one. */
int ag_class_rows(struct ag_origins *p, const jclass *classes, uint32_t n)
{
	struct ag_origin origin[ROWS_AT_ONCE];

	for (uint32_t i = 0; i < n; i += ROWS_AT_ONCE) {
		uint32_t chunk = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;

		if (send_origins(p, classes + i, chunk, origin) != 0 ||
		    send_rows(p, classes + i, chunk, origin) != 0)
			return -1;
	}
	return 0;
}
