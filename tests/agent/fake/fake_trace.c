#include "agent/fake/fake_trace.h"

#include <stdio.h>
#include <string.h>

#include "agent/fake/fake_class.h"
#include "classfile/inject/inject.h"

struct ag_trace {
	uint32_t n, first;
	void *memory;
};

struct fake_trace fake_trace;
static struct ag_trace traces[AG_TRACES];

struct ag_trace *ag_trace_new(struct ag_jvm *jvm, const struct ag_trace_wanted *wanted, uint32_t n)
{
	struct ag_trace *trace = &traces[fake_trace.open];

	(void)wanted;
	if (fake_trace.open == AG_TRACES) {
		(void)ag_fail(jvm, "trace", "too many go on");
		return NULL;
	}
	trace->first = (uint32_t)fake_trace.open;
	trace->n = n;
	trace->memory = ag_jvm_alloc(jvm, 1, 100);
	if (!trace->memory)
		return NULL;
	fake_trace.open++;
	fake_trace.begun = fake_trace.ended = false;
	return trace;
}

int ag_trace_free(struct ag_jvm *jvm, struct ag_trace *trace)
{
	ag_free(jvm->mem, trace->memory);
	fake_trace.open--;
	return 0;
}

uint32_t ag_trace_id(const struct ag_trace *trace, uint32_t i)
{
	return trace->first + 100 * i;
}

int ag_trace_describe(struct ag_jvm *jvm, struct ag_trace *trace, uint32_t i,
		      const char *descriptor)
{
	void *p = ag_jvm_alloc(jvm, 1, strlen(descriptor));

	(void)trace, (void)i;
	ag_free(jvm->mem, p);
	return p ? 0 : -1;
}

const char *ag_trace_refuses(const struct ag_trace *trace, const char *signature)
{
	(void)trace;
	return strcmp(signature, fake_trace.refuses ? fake_trace.refuses : "") == 0 ? "no" : NULL;
}

void ag_trace_begin(struct ag_trace *trace)
{
	(void)trace;
	fake_trace.begun = true;
}

void ag_trace_end(struct ag_trace *trace)
{
	(void)trace;
	fake_trace.ended = true;
}

void ag_trace_tick(struct ag_trace *trace, uint64_t ns)
{
	(void)trace;
	fake_trace.allowed_ns += ns;
	if (fake_trace.turn)
		fake_trace.turn(fake_trace.turns++);
}

int ag_trace_drain(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *tell, void *arg)
{
	int rc = 0;

	(void)trace;
	while (fake_trace.queued > 0 && rc == 0) {
		fake_trace.queued--;
		rc = tell(jvm, &fake_trace.call, arg);
	}
	return rc;
}

/* Returns one call of 20 ns for each method, every time. */
bool ag_trace_drain_sum(struct ag_trace *trace, uint32_t i, struct ag_sum *sum)
{
	(void)trace, (void)i;
	*sum = (struct ag_sum){ .calls = 1, .ns = 20, .min_ns = 20, .max_ns = 20 };
	sum->buckets[log_histogram_bucket(20)] = 1;
	return true;
}

void ag_trace_state(const struct ag_trace *trace, struct ag_trace_state *state)
{
	(void)trace;
	*state = (struct ag_trace_state){ .calls = 1000, .too_many = 10, .no_room = 100,
					  .hooks_ns = fake_trace.hooks_ns };
}

/* The rewriter */

const char *cf_inject(const struct cf_class *class, const char *hooks, struct cf_probe *probes,
		      size_t n, struct cf_output *out)
{
	const struct cf_probe *first = NULL;
	char text[16];

	if (strcmp(hooks, FAKE_HOOKS) != 0)
		return "the class with the hooks is another";
	if (fake_begins(class, "odd"))
		return "it makes no sense";
	for (size_t i = n; i-- > 0;) {
		probes[i].refused = fake_begins(class, "plain") ? CF_NOT_FOUND : CF_HOOKED;
		if (cf_text_is(probes[i].name, "abstract"))
			probes[i].refused = CF_NO_CODE;
		if (probes[i].refused == CF_HOOKED)
			first = &probes[i];
	}
	if (!first)
		return NULL;
	if (fake_begins(class, "frail"))
		cf_put(out, "bad", 3);
	cf_put(out, class->data, class->len);
	(void)snprintf(text, sizeof(text), "#%u", first->id % 10);
	cf_put(out, text, strlen(text));
	return out->failed ? "no memory" : NULL;
}

bool cf_text_is(struct cf_text text, const char *s)
{
	return text.len == strlen(s) && memcmp(text.data, s, text.len) == 0;
}
