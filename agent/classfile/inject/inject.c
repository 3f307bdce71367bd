/* Inserts hooks into the methods that have probes. */
#include "util/hash.h"
#include "classfile/inject/inject_internal.h"

/*
 * Element s of an array of these structs has two unrelated roles: method s of the class, and slot s
 * of a hash table that finds methods by name and descriptor.  `first` is the first method in the
 * chain of slot s; `next` is the method that follows method s in the chain of its slot.  Both are
 * 1 + the method's index, or 0 for none.
 */
struct target {
	struct cf_text name, descriptor;
	size_t probe;          /* 1 + the index of the method's probe; 0: none */
	uint32_t first, next;
};

static struct target *head_of(struct target *targets, uint32_t n, struct cf_text name,
			      struct cf_text descriptor)
{
	uint64_t hash = ag_hash(name.data, name.len) ^ 3 * ag_hash(descriptor.data, descriptor.len);

	return &targets[hash % n];
}

static void list_targets(const struct cf_class *class, struct target *targets)
{
	struct cf_members methods = cf_methods(class);
	struct cf_member method;

	for (uint32_t i = 0; i < class->n_methods && cf_next_member(&methods, &method); i++) {
		struct target *head = head_of(targets, class->n_methods, method.name,
					      method.descriptor);

		targets[i].name = method.name;
		targets[i].descriptor = method.descriptor;
		targets[i].next = head->first;
		head->first = i + 1;
	}
}

static bool matches(const struct cf_probe *probe, const struct target *target)
{
	return target->probe == 0 && cf_text_same(probe->name, target->name) &&
	       cf_text_same(probe->descriptor, target->descriptor);
}

/*
 * Finds the method of each probe.  Sets targets[i].probe of the method found, and `refused` of each
 * probe.
 */
static void match(const struct cf_class *class, struct cf_probe *probes, size_t n,
		  struct target *targets)
{
	uint32_t n_targets = class->n_methods;

	list_targets(class, targets);
	for (size_t p = 0; p < n; p++) {
		uint32_t i = n_targets == 0 ? 0 :
			head_of(targets, n_targets, probes[p].name, probes[p].descriptor)->first;

		while (i != 0 && !matches(&probes[p], &targets[i - 1]))
			i = targets[i - 1].next;
		probes[p].refused = i == 0 ? CF_NOT_FOUND : CF_HOOKED;
		if (i != 0)
			targets[i - 1].probe = p + 1;
	}
}

struct matched {
	struct cf_probe *probes;
	const struct target *targets;
};

/*
 * Writes method i with hooks.  Returns false if the method has no probe or cannot be instrumented.
 */
static bool put_probed(struct injection *in, uint32_t i, const uint8_t *header, void *arg)
{
	const struct matched *matched = arg;
	size_t number = matched->targets[i].probe;
	struct cf_probe *probe;

	if (number == 0)
		return false;
	probe = &matched->probes[number - 1];
	in->probe = probe;
	probe->refused = inj_put_method(in, header);
	return probe->refused == CF_HOOKED;
}

const char *cf_inject(const struct cf_class *class, const char *hooks, struct cf_probe *probes,
		      size_t n, struct cf_output *out)
{
	struct ag_mem *mem = class->pool.mem;
	struct target *targets = ag_alloc(mem, class->n_methods + (size_t)1, sizeof(*targets));
	struct matched matched = { probes, targets };
	const char *why = inj_no_memory;
	struct injection in;

	if (inj_open(&in, class, hooks) && targets) {
		match(class, probes, n, targets);
		why = inj_put_class(&in, put_probed, &matched, out);
	}
	inj_close(&in);
	ag_free(mem, targets);
	return why;
}
