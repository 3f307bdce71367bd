#include "classfile/verify/verify_state.h"

/*
 * Limits against hostile code: steps per class, which take about 1 s, and cells per method, which
 * take 32 MB.  Methods of the JDK need less than 1 % of either limit.
 */
#define WORK_MAX (1u << 28)
#define CELLS_MAX (1u << 22)
#define CHUNK 1024 /* cells */

struct vcells {
	struct vcells *next;
	size_t used, size;
	struct vtype cells[];
};

void vf_fault(struct verifier *v, const char *what)
{
	if (v->fault->what)
		return; /* the first fault is the cause of later ones */
	v->fault->name = v->method.name;
	v->fault->descriptor = v->method.descriptor;
	v->fault->pc = v->now.pc;
	v->fault->what = what;
}

bool vf_no_memory(struct verifier *v)
{
	v->fault->memory = true;
	return vf_bad(v, "not enough memory to verify it");
}

bool vf_spend(struct verifier *v, uint64_t steps)
{
	v->work += steps;
	if (v->work <= WORK_MAX)
		return true;
	v->fault->memory = true;
	return vf_bad(v, "it takes too long to verify");
}

struct vtype *vf_cells(struct verifier *v, size_t n)
{
	struct vcells *c = v->cells;
	size_t size = n < CHUNK ? CHUNK : n;

	if (!c || n > c->size - c->used) {
		if (v->n_cells + size <= CELLS_MAX)
			c = ag_alloc(v->pool->mem, 1, sizeof(*c) + size * sizeof(*c->cells));
		else
			c = NULL;
		if (!c) {
			(void)vf_no_memory(v);
			return NULL;
		}
		c->next = v->cells;
		c->size = size;
		v->cells = c;
		v->n_cells += size;
	}
	c->used += n;
	return c->cells + (c->used - n);
}

void vf_release(struct verifier *v)
{
	ag_free(v->pool->mem, v->map);
	ag_free(v->pool->mem, v->frames);
	while (v->cells) {
		struct vcells *next = v->cells->next;

		ag_free(v->pool->mem, v->cells);
		v->cells = next;
	}
	v->map = NULL;
	v->frames = NULL;
	v->n_frames = 0;
	v->n_cells = 0;
}
