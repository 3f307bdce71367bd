/*
 * Inserts hooks in Object's constructor, after allocations that call no constructor, and before
 * toString() of StringBuilders.
 */
#include "classfile/inject/inject_internal.h"

static bool put_hooked(struct injection *in, uint32_t i, const uint8_t *header, void *arg)
{
	struct cf_sites *sites = arg, before = *sites;
	enum cf_refusal refusal;

	(void)i;
	in->added.insertions.len = 0;
	refusal = inj_put_method(in, header);
	if (refusal == CF_HOOKED)
		return true;
	*sites = before;
	if (in->added.insertions.len > 0) {
		sites->refused++;
		sites->why = refusal;
	}
	return false;
}

const char *cf_inject_sites(const struct cf_class *class, const char *hooks,
			    struct cf_sites *sites, struct cf_output *out)
{
	const char *why = inj_no_memory;
	struct injection in;

	sites->hooked = sites->roots = sites->kept = sites->refused = 0;
	sites->why = CF_HOOKED;
	if (inj_open(&in, class, hooks)) {
		in.sites = sites;
		why = inj_put_class(&in, put_hooked, sites, out);
	}
	inj_close(&in);
	return why;
}
