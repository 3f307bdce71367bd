/* Verifies a method by type checking, with its StackMapTable (JVMS 4.7.4, 4.10.1). */
#include "classfile/stackmap.h"
#include "classfile/verify/verify_internal.h"

struct maps {
	struct cf_bytes bytes;
	struct vframe last; /* the frame that the next entry modifies */
};

/*
 * Records a malformed StackMapTable.  For this fault HotSpot rejects even a class of version 50;
 * after any other fault, HotSpot verifies a class of version 50 again by inference.
 */
static bool malformed(struct verifier *v, const char *what)
{
	(void)vf_bad(v, what);
	v->fault->format = true;
	return false;
}

static bool read_type(struct verifier *v, struct maps *m, struct vtype *type)
{
	static const uint8_t kinds[] = {
		[CF_MAP_TOP] = V_TOP,       [CF_MAP_INTEGER] = V_INT,
		[CF_MAP_FLOAT] = V_FLOAT,   [CF_MAP_DOUBLE] = V_DOUBLE,
		[CF_MAP_LONG] = V_LONG,     [CF_MAP_NULL] = V_NULL,
		[CF_MAP_UNINIT_THIS] = V_UNINIT_THIS,
	};
	struct cf_map_type t = cf_map_type(&m->bytes);

	if (t.tag > CF_MAP_UNINIT ||
	    (t.tag == CF_MAP_OBJECT && !m->bytes.failed && cf_tag(v->pool, t.of) != CF_CLASS))
		return malformed(v, "StackMapTable has an invalid type");
	if (m->bytes.failed)
		return malformed(v, "StackMapTable ends too early");
	if (t.tag == CF_MAP_UNINIT) {
		*type = (struct vtype){ t.of, 0, 0, V_UNINIT };
		return (t.of < v->code.len && v->map[t.of] & MAP_NEW) ||
		       vf_bad(v, "an uninitialised type in StackMapTable has no new");
	}
	*type = t.tag == CF_MAP_OBJECT ? vt_class(v, cf_class_name(v->pool, t.of))
				       : vt_kind(kinds[t.tag]);
	return true;
}

/*
 * Reads n types, and appends them to the array `to`, which has *slots types and room for 2 * n
 * further types.  Increases *slots by 1 for each type, or by 2 for a long or double.  Fails if
 * *slots then exceeds `max`.
 */
static bool read_types(struct verifier *v, struct maps *m, uint32_t n, struct vtype *to,
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
	return *slots <= max || vf_bad(v, "a frame in StackMapTable has too many types");
}

static bool is_uninit(const struct vframe *f)
{
	for (uint32_t i = 0; i < f->n_locals; i++) {
		if (f->locals[i].kind == V_UNINIT_THIS)
			return true;
	}
	return false;
}

/* Removes the last n local variables. */
static bool chop(struct verifier *v, struct vframe *f, uint32_t n)
{
	while (n-- > 0) {
		if (f->n_locals == 0)
			return vf_bad(v, "StackMapTable removes more variables than exist");
		f->n_locals -= vt_is_second(f->locals[f->n_locals - 1]) ? 2 : 1;
	}
	return vf_spend(v, f->n_locals);
}

/*
 * Appends n local variables.  Copies the existing variables to new memory, because the previous
 * frame still uses the old memory.
 */
static bool append(struct verifier *v, struct maps *m, uint32_t n)
{
	struct vtype *cells = vf_cells(v, m->last.n_locals + 2 * (size_t)n);

	if (!cells)
		return false;
	for (uint32_t i = 0; i < m->last.n_locals; i++)
		cells[i] = m->last.locals[i];
	m->last.locals = cells;
	return read_types(v, m, n, cells, &m->last.n_locals, v->code.max_locals);
}

static bool read_stack(struct verifier *v, struct maps *m, uint32_t n)
{
	m->last.n_stack = 0;
	if (n == 0)
		return true;
	m->last.stack = vf_cells(v, 2 * (size_t)n);
	return m->last.stack &&
	       read_types(v, m, n, m->last.stack, &m->last.n_stack, v->code.max_stack);
}

static bool read_frame(struct verifier *v, struct maps *m)
{
	struct cf_map_entry entry = cf_map_entry(&m->bytes);

	if (cf_map_is_reserved(entry.frame_type))
		return malformed(v, "StackMapTable has a frame of unknown kind");
	m->last.pc += entry.delta + 1u;
	if (entry.frame_type == CF_MAP_FULL)
		m->last.n_locals = 0;
	if (!chop(v, &m->last, entry.n_chopped))
		return false;
	m->last.uninit = is_uninit(&m->last);
	return (entry.n_locals == 0 || append(v, m, entry.n_locals)) &&
	       read_stack(v, m, cf_map_stack(&m->bytes, &entry));
}

static bool read_table(struct verifier *v, struct maps *m, uint32_t n)
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

bool vf_read_maps(struct verifier *v)
{
	struct cf_attribute a;
	struct maps m = { .last = v->now };
	uint32_t n;

	if (!cf_find_attribute(v->code.attributes, "StackMapTable", &a) || a.len == 0)
		return true;
	m.bytes = cf_bytes_init(a.data, a.len);
	n = cf_u2(&m.bytes);
	if (m.bytes.failed || n > cf_bytes_left(&m.bytes))
		return malformed(v, "StackMapTable ends too early");
	/* A frame's pc is last.pc + 1 + its delta, but the pc of the first frame is its delta. */
	m.last.pc = UINT32_MAX;
	/* The first entry modifies the frame that the parameters imply: start with a copy of it. */
	return append(v, &m, 0) && read_table(v, &m, n);
}

static void load_map(struct verifier *v, const struct vframe *map)
{
	for (uint32_t i = 0; i < v->code.max_locals; i++)
		v->now.locals[i] = i < map->n_locals ? map->locals[i] : vt_kind(V_TOP);
	for (uint32_t i = 0; i < map->n_stack; i++)
		v->now.stack[i] = map->stack[i];
	v->now.n_stack = map->n_stack;
	v->now.uninit = map->uninit;
	v->changed = true;
}

/*
 * If the stack map has a frame for the current instruction, continues with the types of this frame.
 * If control cannot reach the instruction from the previous one (`reached` is false), there must be
 * a frame.
 */
static bool apply_map(struct verifier *v, uint32_t *next, bool reached)
{
	const struct vframe *map;

	if (*next == v->n_frames || v->frames[*next].pc != v->now.pc)
		return reached || vf_bad(v, "StackMapTable has no frame after a jump or return");
	map = &v->frames[*next];
	if (reached && !vf_compare(v, map, v->now.stack, v->now.n_stack, v->now.uninit))
		return false;
	load_map(v, map);
	(*next)++;
	return vf_spend(v, v->code.max_locals);
}

bool vf_follow_maps(struct verifier *v)
{
	struct cf_insn insn;
	uint32_t next = 0;
	bool reached = true;

	for (uint32_t pc = 0; pc < v->code.len; pc += insn.len) {
		v->now.pc = pc;
		if (!cf_insn(v->code.code, v->code.len, pc, &insn))
			return vf_bad(v, "illegal or incomplete instruction");
		if (!apply_map(v, &next, reached))
			return false;
		if ((v->changed || v->map[pc] & MAP_RANGE) && !vf_at_handlers(v, v->now.uninit))
			return false;
		v->changed = false;
		if (!vf_step(v, &insn) || !vf_at_targets(v, &insn))
			return false;
		reached = !cf_ends_flow(&insn);
	}
	return !reached || vf_bad(v, "control falls off the end of the code");
}
