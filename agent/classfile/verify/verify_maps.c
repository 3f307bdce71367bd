/* Verification by StackMapTable (JVMS 4.7.4, 4.10.1). */
#include "classfile/verifying.h"

/* What the table is read with: each frame is told by its difference from the one before. */
struct maps {
	struct cf_bytes bytes;
	struct vframe last;
	bool first;
};

/* Even of version 50, for which inference would be tried, HotSpot takes no such table. */
static bool malformed(struct verifying *v, const char *what)
{
	(void)vf_bad(v, what);
	v->fault->format = true;
	return false;
}

static bool read_type(struct verifying *v, struct maps *m, struct vtype *type)
{
	static const uint8_t kinds[] = {
		V_TOP, V_INT, V_FLOAT, V_DOUBLE, V_LONG, V_NULL, V_UNINIT_THIS,
	};
	uint8_t tag = cf_u1(&m->bytes);
	uint16_t at = tag < sizeof(kinds) ? 0 : cf_u2(&m->bytes);

	if (m->bytes.failed)
		return malformed(v, "StackMapTable ends too early");
	if (tag < sizeof(kinds)) {
		*type = vt_kind(kinds[tag]);
		return true;
	}
	if (tag == 7 && cf_tag(v->pool, at) == CF_CLASS) {
		*type = vt_class(v, cf_class_name(v->pool, at));
		return true;
	}
	if (tag != 8)
		return malformed(v, "a type in StackMapTable is none");
	*type = (struct vtype){ at, 0, 0, V_UNINIT };
	return (at < v->code.len && v->map[at] & MAP_NEW) ||
	       vf_bad(v, "a type in StackMapTable is not made by new");
}

/*
 * n types, behind those that are there; *slots counts cells.  There is room for all: whether they
 * fit into the method's is asked when they are read.
 */
static bool read_types(struct verifying *v, struct maps *m, uint32_t n, struct vtype *to,
		       uint32_t *slots, uint32_t max)
{
	struct vtype type;

	while (n-- > 0) {
		if (!read_type(v, m, &type))
			return false;
		if (type.kind == V_UNINIT_THIS)
			m->last.uninit = true;
		to[(*slots)++] = type;
		if (vt_is_wide(type))
			to[(*slots)++] = vt_second(type);
	}
	return *slots <= max || vf_bad(v, "a frame in StackMapTable has no room for its types");
}

static bool is_uninit(const struct vframe *f)
{
	for (uint32_t i = 0; i < f->n_locals; i++) {
		if (f->locals[i].kind == V_UNINIT_THIS)
			return true;
	}
	return false;
}

/* Leave out the last n variables. */
static bool chop(struct verifying *v, struct vframe *f, uint32_t n)
{
	while (n-- > 0) {
		if (f->n_locals == 0)
			return vf_bad(v, "StackMapTable leaves out more variables than there are");
		f->n_locals -= vt_is_second(f->locals[f->n_locals - 1]) ? 2 : 1;
	}
	return vf_spend(v, f->n_locals);
}

/* Up to three more variables; the frame before keeps its own. */
static bool append(struct verifying *v, struct maps *m, uint32_t n)
{
	struct vtype *cells = vf_cells(v, m->last.n_locals + 2 * (size_t)n);

	if (!cells)
		return false;
	for (uint32_t i = 0; i < m->last.n_locals; i++)
		cells[i] = m->last.locals[i];
	m->last.locals = cells;
	return read_types(v, m, n, cells, &m->last.n_locals, v->code.max_locals);
}

static bool read_stack(struct verifying *v, struct maps *m, uint32_t n)
{
	m->last.stack = vf_cells(v, 2 * (size_t)n);
	return m->last.stack &&
	       read_types(v, m, n, m->last.stack, &m->last.n_stack, v->code.max_stack);
}

static bool read_full(struct verifying *v, struct maps *m)
{
	uint32_t n = cf_u2(&m->bytes);

	m->last.n_locals = 0;
	m->last.locals = vf_cells(v, 2 * (size_t)n);
	return m->last.locals &&
	       read_types(v, m, n, m->last.locals, &m->last.n_locals, v->code.max_locals) &&
	       read_stack(v, m, cf_u2(&m->bytes));
}

static bool read_frame(struct verifying *v, struct maps *m)
{
	uint8_t type = cf_u1(&m->bytes);
	uint32_t delta;
	bool right = true;

	if (type >= 128 && type < 247)
		return malformed(v, "StackMapTable has a frame of no kind");
	delta = type < 128 ? type & 63 : cf_u2(&m->bytes);
	m->last.pc = m->first ? delta : m->last.pc + delta + 1;
	m->first = false;
	m->last.n_stack = 0;
	m->last.uninit = is_uninit(&m->last) && vf_spend(v, m->last.n_locals);
	if (type == 255) {
		m->last.uninit = false;
		right = read_full(v, m);
	} else if (type > 251) {
		right = append(v, m, type - 251u);
	} else if (type > 247) {
		right = chop(v, &m->last, 251u - type);
		m->last.uninit = is_uninit(&m->last);
	} else if (type >= 64) {
		right = read_stack(v, m, 1);
	}
	return right;
}

static bool read_table(struct verifying *v, struct maps *m, uint32_t n)
{
	v->frames = ag_alloc(v->pool->mem, (size_t)n + 1, sizeof(*v->frames));
	if (!v->frames)
		return vf_no_memory(v);
	while (v->n_frames < n) {
		if (!read_frame(v, m))
			return false;
		v->now.pc = m->last.pc;
		if (m->bytes.failed)
			return malformed(v, "StackMapTable ends too early");
		if (m->last.pc >= v->code.len || !(v->map[m->last.pc] & MAP_INSN))
			return vf_bad(v, "StackMapTable has a frame where no instruction begins");
		v->frames[v->n_frames++] = m->last;
	}
	return cf_bytes_left(&m->bytes) == 0 ||
	       malformed(v, "StackMapTable is longer than its frames");
}

bool vf_read_maps(struct verifying *v)
{
	struct cf_attribute a;
	struct maps m = { .last = v->now, .first = true };
	uint32_t n;

	if (!cf_find_attribute(v->code.attributes, "StackMapTable", &a) || a.len == 0)
		return true;
	m.bytes = cf_bytes_init(a.data, a.len);
	n = cf_u2(&m.bytes);
	if (m.bytes.failed || n > cf_bytes_left(&m.bytes))
		return malformed(v, "StackMapTable ends too early");
	/* The method's parameters are what the first frame is told from. */
	return append(v, &m, 0) && read_table(v, &m, n);
}

bool vf_compare(struct verifying *v, const struct vframe *map, const struct vtype *stack,
		uint32_t n_stack, bool uninit)
{
	if (!vf_spend(v, map->n_locals + n_stack))
		return false;
	if (n_stack != map->n_stack)
		return vf_bad(v, "the stack has another depth than StackMapTable says");
	if (uninit && !map->uninit)
		return vf_bad(v, "no other constructor was called, as StackMapTable says");
	for (uint32_t i = 0; i < n_stack; i++) {
		if (!vt_assignable(v, stack[i], map->stack[i]))
			return vf_bad(v, "the stack is not what StackMapTable says");
	}
	for (uint32_t i = 0; i < map->n_locals; i++) {
		if (!vt_assignable(v, v->now.locals[i], map->locals[i]))
			return vf_bad(v, "a local variable is not what StackMapTable says");
	}
	return true;
}

static void load_map(struct verifying *v, const struct vframe *map)
{
	for (uint32_t i = 0; i < v->code.max_locals; i++)
		v->now.locals[i] = i < map->n_locals ? map->locals[i] : vt_kind(V_TOP);
	for (uint32_t i = 0; i < map->n_stack; i++)
		v->now.stack[i] = map->stack[i];
	v->now.n_stack = map->n_stack;
	v->now.uninit = map->uninit;
	v->changed = true;
}

/* The frame before an instruction, if there is one, is what goes on. */
static bool meet_map(struct verifying *v, uint32_t *next, bool flows)
{
	const struct vframe *map;

	if (*next == v->n_frames || v->frames[*next].pc != v->now.pc)
		return flows || vf_bad(v, "behind a jump there is no frame in StackMapTable");
	map = &v->frames[*next];
	if (flows && !vf_compare(v, map, v->now.stack, v->now.n_stack, v->now.uninit))
		return false;
	load_map(v, map);
	(*next)++;
	return vf_spend(v, v->code.max_locals);
}

bool vf_follow_maps(struct verifying *v)
{
	struct cf_insn insn;
	uint32_t next = 0;
	bool flows = true;

	for (uint32_t pc = 0; pc < v->code.len; pc += insn.len) {
		v->now.pc = pc;
		if (!cf_insn(v->code.code, v->code.len, pc, &insn))
			return vf_bad(v, "there is no instruction");
		if (!meet_map(v, &next, flows))
			return false;
		if ((v->changed || v->map[pc] & MAP_RANGE) && !vf_at_handlers(v, v->now.uninit))
			return false;
		v->changed = false;
		if (!vf_step(v, &insn) || !vf_at_targets(v, &insn))
			return false;
		flows = !cf_ends_flow(&insn);
	}
	return !flows || vf_bad(v, "control falls out of the code's end");
}
