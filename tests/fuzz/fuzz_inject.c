/*
 * Instruments any class file: the result is well-formed, and valid if the original was. No memory
 * is leaked in any case.
 */
#include <stdlib.h>
#include <string.h>

#include "classfile/inject/inject_sites.h"
#include "classfile/verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ag_mem mem = { .budget = (size_t)256 << 20 };

/* The verdict on a class; UNKNOWN: its verification took too long. */
enum verdict { RIGHT, WRONG, UNKNOWN };

static enum verdict judge(const struct cf_class *class)
{
	struct cf_fault fault;

	if (cf_check(class, &fault) && cf_verify(class, &fault))
		return RIGHT;
	return fault.memory ? UNKNOWN : WRONG;
}

/* Makes a probe for each method, optionally in reverse order, and one for no method. */
static struct cf_probe *probes_of(const struct cf_class *class, size_t n, bool values, bool back)
{
	struct cf_probe *probes = calloc(n, sizeof(*probes));
	struct cf_members methods = cf_methods(class);
	struct cf_member method;
	size_t i = 0;

	if (!probes)
		abort();
	while (cf_next_member(&methods, &method)) {
		size_t at = back ? n - 1 - i : i;

		probes[at].name = method.name;
		probes[at].descriptor = method.descriptor;
		probes[at].id = (uint32_t)i++ << 16;
		probes[at].values = values;
	}
	return probes;
}

static void look_at(const struct cf_class *class, const struct cf_output *out)
{
	struct cf_class new;

	if (cf_open(&new, out->data, out->len, &mem))
		abort(); /* a length or a count is inconsistent */
	if (new.n_methods != class->n_methods || new.n_fields != class->n_fields ||
	    new.n_attributes != class->n_attributes || !cf_text_same(cf_name(&new), cf_name(class)))
		abort();
	if (judge(&new) == WRONG && judge(class) == RIGHT)
		abort();
	cf_release(&new);
}

static void hook(const struct cf_class *class, bool values, bool back)
{
	size_t n = class->n_methods + (size_t)1, hooked = 0;
	struct cf_probe *probes = probes_of(class, n, values, back);
	struct cf_output out = { .mem = &mem };
	const char *why = cf_inject(class, "java/jtool/Hooks1", probes, n, &out);

	for (size_t i = 0; i < n; i++)
		hooked += probes[i].refused == CF_HOOKED;
	if (why ? out.len > 0 : (hooked > 0) != (out.len > 0))
		abort();
	if (out.len > 0)
		look_at(class, &out);
	cf_output_release(&out);
	free(probes);
}

/* Returns small and large ids; skips every third site. */
static uint32_t id_of(void *arg, const struct cf_site *site)
{
	uint32_t *n = arg;

	if (site->pc > UINT16_MAX || (site->owner.len > 0 && !site->owner.data))
		abort();
	return ++*n % 3 == 0 ? 0 : *n * 8191;
}

static void hook_sites(const struct cf_class *class, bool all)
{
	struct cf_output out = { .mem = &mem };
	uint32_t n = 0;
	struct cf_sites sites = { .id = id_of, .arg = &n, .made = all, .strings = all,
				  .sun_unsafe = !all };
	const char *why = cf_inject_sites(class, "java/jtool/Hooks1", &sites, &out);
	bool hooked = sites.hooked + sites.kept + sites.roots > 0;

	if (why ? out.len > 0 : hooked != (out.len > 0))
		abort();
	if (n > 0 && !cf_has_sites(class))
		abort();
	if (out.len > 0)
		look_at(class, &out);
	cf_output_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1); /* lets ASan see reads beyond the end */
	struct cf_class class;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (!cf_open(&class, copy, size, &mem)) {
		hook(&class, false, true);
		hook(&class, true, false);
		hook_sites(&class, false);
		hook_sites(&class, true);
		cf_release(&class);
	}
	if (mem.bytes != 0 || mem.blocks != 0)
		abort();
	free(copy);
	return 0;
}
