#include "jvm/trace/trace_instrument.h"

#include <string.h>

#define BUDGET ((size_t)64 << 20) /* limit in bytes for the memory to instrument one class */

void ag_install_give_up(struct ag_install *install, uint32_t index, jvmtiError code,
			const char *why)
{
	const struct ag_install_class *class = &install->classes[index];

	ag_instrument_set_hooked(ag_instrument_class(&install->base, index), false);
	for (uint32_t i = class->first; i < class->first + class->n; i++) {
		install->methods[i].refused = 0;
		install->methods[i].code = code;
		install->methods[i].why = why;
	}
}

static void give_up(struct ag_instrument *instrument, uint32_t index, jvmtiError code)
{
	ag_install_give_up((struct ag_install *)instrument, index, code, NULL);
}

/*
 * Stores for each method of a class why the method has no hooks: the refusal in the method's probe;
 * or `why`, if `probes` is NULL.  Call this function only on the instrumenting thread.
 */
static void record(struct ag_install *install, const struct ag_install_class *class,
		   const struct cf_probe *probes, const char *why)
{
	struct ag_install_method *m = install->methods + class->first;

	for (uint32_t i = 0; i < class->n; i++) {
		m[i].refused = probes ? (uint32_t)probes[i].refused : 0;
		m[i].why = why;
	}
}

static enum ag_instrumented inject(const struct ag_instrument_call *call,
				   const struct ag_install_class *class,
				   const struct cf_class *file, struct cf_probe *probes, bool own)
{
	struct ag_install *install = (struct ag_install *)call->instrument;
	struct cf_output out = { .mem = file->pool.mem };
	const char *why = cf_inject(file, install->hooks, probes, class->n, &out);
	enum ag_instrumented result = AG_INSTRUMENTED_NOTHING;

	if (own)
		record(install, class, why ? NULL : probes, why);
	if (!why && out.len > 0)
		result = ag_instrument_pass_through(call, out.data, out.len)
				? AG_INSTRUMENTED_DONE
				: AG_INSTRUMENTED_NO_MEMORY;
	cf_output_release(&out);
	return result;
}

/*
 * Instruments a class.  Runs on any thread, even while no session is open, so the memory counts
 * against BUDGET and not against a session's budget.
 */
static enum ag_instrumented inject_class(const struct ag_instrument_call *call, uint32_t index,
					 bool own)
{
	struct ag_install *install = (struct ag_install *)call->instrument;
	const struct ag_install_class *class = &install->classes[index];
	struct ag_mem mem = { .budget = BUDGET };
	struct cf_probe *probes = ag_alloc(&mem, class->n, sizeof(*probes));
	enum ag_instrumented result = AG_INSTRUMENTED_NOTHING;
	struct cf_class file;
	const char *why;

	if (!probes)
		return AG_INSTRUMENTED_NO_MEMORY;
	memcpy(probes, install->probes + class->first, class->n * sizeof(*probes));
	why = cf_open(&file, call->bytes, call->len, &mem);
	if (why) {
		if (own)
			record(install, class, NULL, why);
	} else {
		result = inject(call, class, &file, probes, own);
		cf_release(&file);
	}
	ag_free(&mem, probes);
	return result;
}

const struct ag_instrumenter ag_trace_instrumenter = {
	.instrument = inject_class,
	.give_up = give_up,
};
