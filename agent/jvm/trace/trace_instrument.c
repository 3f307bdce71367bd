#include "jvm/trace_weave.h"

#include <string.h>

#define BUDGET ((size_t)64 << 20) /* for one class */

void ag_install_give_up(struct ag_install *install, uint32_t index, jvmtiError code,
			const char *why)
{
	const struct ag_install_class *class = &install->classes[index];

	ag_weave_set_hooked(ag_weave_class(&install->weave, index), false);
	for (uint32_t i = class->first; i < class->first + class->n; i++) {
		install->methods[i].refused = 0;
		install->methods[i].code = code;
		install->methods[i].why = why;
	}
}

static void give_up(struct ag_weave *weave, uint32_t index, jvmtiError code)
{
	ag_install_give_up((struct ag_install *)weave, index, code, NULL);
}

/* What the methods are told, each its own or (probes NULL) why; on the installing thread only. */
static void record(struct ag_install *install, const struct ag_install_class *class,
		   const struct cf_probe *probes, const char *why)
{
	struct ag_install_method *m = install->methods + class->first;

	for (uint32_t i = 0; i < class->n; i++) {
		m[i].refused = probes ? (uint32_t)probes[i].refused : 0;
		m[i].why = why;
	}
}

static enum ag_woven inject(const struct ag_weave_call *call, const struct ag_install_class *class,
			    const struct cf_class *file, struct cf_probe *probes, bool own)
{
	struct ag_install *install = (struct ag_install *)call->weave;
	struct cf_output out = { .mem = file->pool.mem };
	const char *why = cf_inject(file, install->hooks, probes, class->n, &out);
	enum ag_woven woven = AG_WOVEN_NOTHING;

	if (own)
		record(install, class, why ? NULL : probes, why);
	if (!why && out.len > 0)
		woven = ag_weave_hand_on(call, out.data, out.len) ? AG_WOVEN_DONE
								  : AG_WOVEN_NO_MEMORY;
	cf_output_release(&out);
	return woven;
}

/* Any thread: memory is not counted as the session's. */
static enum ag_woven weave(const struct ag_weave_call *call, uint32_t index, bool own)
{
	struct ag_install *install = (struct ag_install *)call->weave;
	const struct ag_install_class *class = &install->classes[index];
	struct ag_mem mem = { .budget = BUDGET };
	struct cf_probe *probes = ag_alloc(&mem, class->n, sizeof(*probes));
	enum ag_woven woven = AG_WOVEN_NOTHING;
	struct cf_class file;
	const char *why;

	if (!probes)
		return AG_WOVEN_NO_MEMORY;
	memcpy(probes, install->probes + class->first, class->n * sizeof(*probes));
	why = cf_open(&file, call->bytes, call->len, &mem);
	if (why) {
		if (own)
			record(install, class, NULL, why);
	} else {
		woven = inject(call, class, &file, probes, own);
		cf_release(&file);
	}
	ag_free(&mem, probes);
	return woven;
}

const struct ag_weaver ag_trace_weaver = { .weave = weave, .give_up = give_up };
