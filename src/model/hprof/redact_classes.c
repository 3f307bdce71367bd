#include "model/hprof/redact_classes.h"

#include "base/xalloc.h"
#include "model/hprof/hprof_internal.h"

static const char mismatch[] = "an instance does not match the fields of its class";

void redact_classes_release(struct redact_classes *c)
{
	free(c->list);
	free(c->runs);
	buf_release(&c->fields);
	id_map_release(&c->ids);
}

size_t redact_classes_memory(const struct redact_classes *c)
{
	return c->cap * sizeof(*c->list) + c->cap_runs * sizeof(*c->runs) + c->fields.cap +
	       c->ids.cap * sizeof(*c->ids.entries);
}

int redact_classes_begin(struct redact_classes *c, uint64_t id, uint64_t super)
{
	if (id_map_add(&c->ids, id, (uint32_t)c->n) < c->n)
		return -1;
	c->list = xgrow(c->list, c->n, &c->cap, sizeof(*c->list));
	c->list[c->n++] = (struct redact_class){ .super = super, .fields = c->fields.len };
	return 0;
}

void redact_classes_field(struct redact_classes *c, unsigned size, bool clear)
{
	buf_addc(&c->fields, (char)(size | (clear ? REDACT_CLEAR : 0)));
	c->list[c->n - 1].n_fields++;
}

static void add_run(struct redact_classes *c, uint32_t bytes)
{
	c->runs = xgrow(c->runs, c->n_runs, &c->cap_runs, sizeof(*c->runs));
	c->runs[c->n_runs++] = bytes;
}

/*
 * Adds a field of `size` bytes to the last run if the field and the run are both copied or both
 * cleared; otherwise begins a new run with the field.
 */
static void extend(struct redact_classes *c, size_t first, unsigned size, bool clear)
{
	if (c->n_runs == first)
		add_run(c, 0); /* the bytes of a class's first run are copied unchanged */
	if (((c->n_runs - first) % 2 == 0) != clear)
		add_run(c, 0);
	c->runs[c->n_runs - 1] += size;
}

/*
 * Computes the runs of a class: the bytes of an instance that are copied, cleared, copied, … in
 * turn.  In an instance, the fields of the class itself precede those of its superclass.  Returns
 * NULL, or the reason why the runs cannot be computed.
 */
static const char *fill_runs(struct redact_classes *c, uint32_t number, uint64_t len)
{
	const size_t first = c->n_runs;
	uint32_t at = number;
	uint64_t used = 0;

	for (unsigned depth = 0;; depth++) {
		const struct redact_class *k = &c->list[at];

		if (depth == HPROF_CHAIN_MAX)
			return "a class has too many superclasses or is its own superclass";
		for (size_t i = 0; i < k->n_fields; i++) {
			unsigned field = (uint8_t)c->fields.data[k->fields + i];
			unsigned size = field & (REDACT_CLEAR - 1u);

			used += size;
			if (used > len) /* check before allocating memory for the fields */
				return mismatch;
			extend(c, first, size, field & REDACT_CLEAR);
		}
		if (!k->super)
			break;
		at = id_map_get(&c->ids, k->super);
		if (at == ID_MAP_NONE)
			return "the superclass of an instance follows it or is missing";
	}
	c->list[number].runs = first;
	c->list[number].n_runs = c->n_runs - first;
	c->list[number].data_len = used;
	c->list[number].known = true;
	return NULL;
}

const struct redact_class *redact_classes_find(struct redact_classes *c, uint64_t id, uint64_t len,
					       const char **why)
{
	uint32_t number = id_map_get(&c->ids, id);

	*why = number == ID_MAP_NONE ? "the class of an instance follows it or is missing" : NULL;
	if (!*why && !c->list[number].known)
		*why = fill_runs(c, number, len);
	if (!*why && c->list[number].data_len != len)
		*why = mismatch;
	return *why ? NULL : &c->list[number];
}
