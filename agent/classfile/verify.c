#include "classfile/verifying.h"

/*
 * What hostile code can make us do: a second of work or so for a class, and 32 MB for a method.
 * The largest methods of the JDKs need less than a hundredth of either.
 */
#define WORK_MAX (1u << 28)
#define CELLS_MAX (1u << 22)
#define CHUNK 1024 /* cells */

struct vcells {
	struct vcells *next;
	size_t used, size;
	struct vtype cells[];
};

bool vf_bad(struct verifying *v, const char *what)
{
	if (v->fault->what)
		return false; /* what was found first is the cause */
	v->fault->name = v->method.name;
	v->fault->descriptor = v->method.descriptor;
	v->fault->pc = v->now.pc;
	v->fault->what = what;
	return false;
}

bool vf_no_memory(struct verifying *v)
{
	v->fault->memory = true;
	return vf_bad(v, "there is no memory to verify it");
}

bool vf_spend(struct verifying *v, uint64_t steps)
{
	v->work += steps;
	if (v->work <= WORK_MAX)
		return true;
	v->fault->memory = true;
	return vf_bad(v, "it takes too long to verify");
}

struct vtype *vf_cells(struct verifying *v, size_t n)
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

static struct vframe *find_frame(const struct verifying *v, uint32_t pc)
{
	uint32_t low = 0, high = v->n_frames;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v->frames[middle].pc == pc)
			return &v->frames[middle];
		if (v->frames[middle].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool vf_arrive(struct verifying *v, uint32_t pc, const struct vtype *stack, uint32_t n_stack,
	       bool uninit)
{
	struct vframe *frame = find_frame(v, pc);

	if (!frame)
		return vf_bad(v, "there is no frame in StackMapTable where it leads");
	return v->infer ? vf_merge(v, frame, stack, n_stack, uninit)
			: vf_compare(v, frame, stack, n_stack, uninit);
}

bool vf_at_handlers(struct verifying *v, bool uninit)
{
	if (!vf_spend(v, v->code.n_handlers))
		return false;
	for (uint16_t i = 0; i < v->code.n_handlers; i++) {
		struct cf_handler h = cf_handler(&v->code, i);
		struct vtype caught = vt_known("java/lang/Throwable");

		if (v->now.pc < h.start || v->now.pc >= h.end)
			continue;
		if (h.type != 0)
			caught = vt_class(v, cf_class_name(v->pool, h.type));
		if (v->code.max_stack == 0)
			return vf_bad(v, "the stack has no room for what is caught");
		if (!vf_arrive(v, h.handler, &caught, 1, uninit))
			return false;
	}
	return true;
}

static bool to(struct verifying *v, int32_t offset)
{
	return vf_arrive(v, v->now.pc + (uint32_t)offset, v->now.stack, v->now.n_stack,
			 v->now.uninit);
}

/*
 * Back behind every jsr that leads to the subroutine.  What each caller's types were is not
 * known here, only how deep the stack is.
 */
static bool come_back(struct verifying *v, struct vtype address)
{
	struct cf_insn jsr;

	for (uint32_t i = 0; i < v->code.max_locals; i++)
		v->now.locals[i] = vt_kind(V_ANY);
	for (uint32_t i = 0; i < v->now.n_stack; i++)
		v->now.stack[i] = vt_kind(V_ANY);
	for (uint32_t pc = 0; address.kind == V_ADDRESS && pc < v->code.len; pc++) {
		if (!(v->map[pc] & MAP_JSR) || !cf_insn(v->code.code, v->code.len, pc, &jsr) ||
		    pc + (uint32_t)jsr.value != address.at)
			continue;
		if (pc + jsr.len >= v->code.len)
			return vf_bad(v, "control falls out of the code's end");
		if (!vf_arrive(v, pc + jsr.len, v->now.stack, v->now.n_stack, v->now.uninit))
			return false;
	}
	return vf_spend(v, v->code.len + v->code.max_locals + v->now.n_stack);
}

bool vf_at_targets(struct verifying *v, const struct cf_insn *insn)
{
	switch (insn->operands) {
	case CF_OP_BRANCH:
	case CF_OP_BRANCH_W:
		return to(v, insn->value);
	case CF_OP_TABLE:
	case CF_OP_LOOKUP:
		if (!to(v, insn->otherwise))
			return false;
		for (uint32_t i = 0; i < insn->n; i++) {
			if (!to(v, cf_case(insn, i).offset))
				return false;
		}
		return true;
	case CF_OP_LOCAL:
		return insn->opcode != 0xa9 || come_back(v, v->now.locals[insn->index]);
	default:
		return true;
	}
}

/* The parameters stand in the first variables (JVMS 2.6.1). */
static bool fill_parameters(struct verifying *v)
{
	struct vtype *locals = v->now.locals;
	uint32_t max = v->code.max_locals, n = 0;
	struct cf_text rest;
	struct cf_type type;

	if (!cf_method_types(v->method.descriptor, &rest, &type))
		return vf_bad(v, "the method has no legal type");
	if (!(v->method.access & CF_ACC_STATIC) && n < max)
		locals[n++] = v->is_init ? vt_kind(V_UNINIT_THIS) : v->this_type;
	while (cf_type_next(&rest, &type)) {
		if (n + cf_type_slots(&type) > max)
			return vf_bad(v, "the parameters do not fit into the local variables");
		locals[n++] = vt_field(v, &type);
		if (vt_is_wide(locals[n - 1])) {
			locals[n] = vt_second(locals[n - 1]);
			n++;
		}
	}
	v->now.n_locals = n;
	return true;
}

static bool verify_code(struct verifying *v)
{
	v->now.locals = vf_cells(v, v->code.max_locals);
	v->now.stack = vf_cells(v, v->code.max_stack);
	v->map = ag_alloc(v->pool->mem, (size_t)v->code.len + 1, 1);
	if (!v->now.locals || !v->now.stack || !v->map)
		return vf_no_memory(v);
	if (!fill_parameters(v) || !vf_scan(v))
		return false;
	v->now.pc = 0;
	v->changed = true;
	return v->infer ? vf_follow_flow(v) : vf_read_maps(v) && vf_follow_maps(v);
}

static void release(struct verifying *v)
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

static bool verify_method(struct verifying *v)
{
	bool is_object = cf_text_is(cf_name(v->class), "java/lang/Object"), right;

	if (v->method.access & (CF_ACC_NATIVE | CF_ACC_ABSTRACT) || !cf_code(&v->method, &v->code))
		return true;
	v->is_init = !is_object && cf_text_is(v->method.name, "<init>");
	v->now = (struct vframe){ .uninit = v->is_init };
	v->lenient = false;
	if (cf_text_is(v->method.name, "<clinit>"))
		v->method.access |= CF_ACC_STATIC; /* also where it is not said: JVMS 4.6 */
	if (v->code.len == 0 || v->code.len > UINT16_MAX)
		return vf_bad(v, "the code has no bytes, or more than 65535");
	right = verify_code(v);
	release(v);
	return right;
}

static bool verify(const struct cf_class *class, struct cf_fault *fault, bool infer)
{
	struct verifying v = {
		.class = class,
		.pool = &class->pool,
		.fault = fault,
		.infer = infer,
	};
	struct cf_members methods = cf_methods(class);
	struct cf_text super = cf_super(class);

	*fault = (struct cf_fault){ .pc = UINT32_MAX };
	v.this_type = vt_class(&v, cf_name(class));
	v.super_type = super.data ? vt_class(&v, super) : vt_known("java/lang/Object");
	while (cf_next_member(&methods, &v.method)) {
		if (!verify_method(&v))
			return false;
	}
	return true;
}

bool cf_verify(const struct cf_class *class, struct cf_fault *fault)
{
	if (class->major < JAVA_6)
		return verify(class, fault, true);
	/* Of version 50 the JVM tries inference when the stack maps are missing or wrong. */
	return verify(class, fault, false) || (class->major == JAVA_6 && !fault->format &&
					       !fault->memory && verify(class, fault, true));
}

bool cf_verify_without_maps(const struct cf_class *class, struct cf_fault *fault)
{
	return verify(class, fault, true);
}
