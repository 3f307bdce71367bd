#include "cmd/class_rows.h"

#include <string.h>

#include "cmd/batch.h"
#include "jvm/patches.h"

#define ROWS_AT_ONCE 512
#define ROW_FIXED 24 /* a row's bytes without the signature's */
#define GONE "L?;"   /* the signature of a class that was unloaded before it could be told */

/* Loaders, modules and sources go out before the classes that name them. */
static int tell_places(struct ag_places *p, const jclass *classes, uint32_t n,
		       struct ag_where *where)
{
	for (uint32_t i = 0; i < n; i++) {
		where[i] = (struct ag_where){ 0 };
		if (classes[i] && ag_places_find(p, classes[i], &where[i]) != 0)
			return -1;
	}
	return 0;
}

static int tell_row(struct ag_batch *batch, const struct ag_where *where, jint modifiers,
		    uint32_t traits, const char *signature)
{
	struct wire_writer *w = ag_batch_row(batch, ROW_FIXED + strlen(signature));

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

static int tell_class(struct ag_jvm *jvm, struct ag_batch *batch, jclass class,
		      const struct ag_where *where)
{
	char *signature;
	uint32_t traits;
	jint modifiers;
	int rc = -1;

	if (!class)
		return tell_row(batch, where, 0, 0, GONE);
	signature = ag_class_signature(jvm, class);
	if (signature && ag_class_traits(jvm, class, signature, &modifiers, &traits) == 0) {
		if (ag_patches_has(class))
			traits |= WIRE_CLASS_PATCHED;
		rc = tell_row(batch, where, modifiers, traits, signature);
	}
	ag_ti_free(jvm, signature);
	return rc;
}

static int tell_classes(struct ag_places *p, const jclass *classes, uint32_t n,
			const struct ag_where *where)
{
	struct ag_batch batch = { .chan = p->chan, .type = WIRE_CLASS_ROWS };

	for (uint32_t i = 0; i < n; i++) {
		if (tell_class(p->jvm, &batch, classes[i], &where[i]) != 0)
			return -1;
	}
	return ag_batch_end(&batch);
}

/* Some rows at a time: the client makes sense of them while the next ones are looked up. */
int ag_class_rows(struct ag_places *p, const jclass *classes, uint32_t n)
{
	struct ag_where where[ROWS_AT_ONCE];

	for (uint32_t i = 0; i < n; i += ROWS_AT_ONCE) {
		uint32_t some = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;

		if (tell_places(p, classes + i, some, where) != 0 ||
		    tell_classes(p, classes + i, some, where) != 0)
			return -1;
	}
	return 0;
}
