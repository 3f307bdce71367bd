#include "classfile/code_equal.h"

#include <string.h>

/*
 * Limits: the nesting depth of bootstrap methods, and the total number of their arguments in the
 * methods of a class.  A hostile dynamic constant may be its own argument many times.
 */
#define DEPTH_MAX 16
#define ARGUMENTS_MAX (1u << 20)

/*
 * One of the two bodies, with n instructions.  number[pc] is the number, from 1 on, of the
 * instruction that begins at pc, or 0 if none begins there.
 */
struct side {
	const struct cf_body *body;
	uint32_t *number;
	uint32_t n;
};

static bool same_bytes(const struct cf_pool *a, uint16_t i, const struct cf_pool *b, uint16_t k,
		       uint8_t tag, size_t len)
{
	return memcmp(cf_constant(a, i, tag), cf_constant(b, k, tag), len) == 0;
}

static bool same_ref(const struct cf_pool *a, uint16_t i, const struct cf_pool *b, uint16_t k)
{
	struct cf_ref x, y;

	if (!cf_ref(a, i, &x) || !cf_ref(b, k, &y) || x.tag != y.tag)
		return false;
	if (x.class.data && !cf_text_same(x.class, y.class))
		return false;
	return cf_text_same(x.name, y.name) && cf_text_same(x.descriptor, y.descriptor);
}

static bool same_name_and_type(const struct cf_pool *a, uint16_t i, const struct cf_pool *b,
			       uint16_t k)
{
	const uint8_t *x = cf_constant(a, i, CF_NAME_AND_TYPE);
	const uint8_t *y = cf_constant(b, k, CF_NAME_AND_TYPE);

	return cf_text_same(cf_utf8(a, cf_peek_u2(x)), cf_utf8(b, cf_peek_u2(y))) &&
	       cf_text_same(cf_utf8(a, cf_peek_u2(x + 2)), cf_utf8(b, cf_peek_u2(y + 2)));
}

static bool same_handle(const struct cf_pool *a, uint16_t i, const struct cf_pool *b, uint16_t k)
{
	const uint8_t *x = cf_constant(a, i, CF_METHOD_HANDLE);
	const uint8_t *y = cf_constant(b, k, CF_METHOD_HANDLE);

	return x[0] == y[0] && same_ref(a, cf_peek_u2(x + 1), b, cf_peek_u2(y + 1));
}

bool cf_constant_equal(const struct cf_pool *a, uint16_t i, const struct cf_pool *b, uint16_t k)
{
	uint8_t tag = cf_tag(a, i);

	if (tag != cf_tag(b, k))
		return false;
	switch (tag) {
	case CF_UTF8:
		return cf_text_same(cf_utf8(a, i), cf_utf8(b, k));
	case CF_INTEGER:
	case CF_FLOAT:
		return same_bytes(a, i, b, k, tag, 4);
	case CF_LONG:
	case CF_DOUBLE:
		return same_bytes(a, i, b, k, tag, 8);
	case CF_CLASS:
	case CF_STRING:
	case CF_METHOD_TYPE:
	case CF_MODULE:
	case CF_PACKAGE:
		return cf_text_same(cf_named(a, i, tag), cf_named(b, k, tag));
	case CF_NAME_AND_TYPE:
		return same_name_and_type(a, i, b, k);
	case CF_METHOD_HANDLE:
		return same_handle(a, i, b, k);
	default:
		return same_ref(a, i, b, k);
	}
}

static bool same_bootstrap(const struct cf_body *a, uint16_t i, const struct cf_body *b,
			   uint16_t k, unsigned depth);

static bool has_bootstraps(const struct cf_body *body)
{
	return body->bootstraps && body->bootstraps->data;
}

/*
 * Compares two constants, including their bootstrap methods if these are known for both bodies.
 * `depth` is the number of bootstrap methods around the constants.
 */
static bool same_value(const struct cf_body *a, uint16_t i, const struct cf_body *b, uint16_t k,
		       unsigned depth)
{
	struct cf_ref x, y;

	if (!cf_constant_equal(a->pool, i, b->pool, k))
		return false;
	if (!has_bootstraps(a) || !has_bootstraps(b) || !cf_ref(a->pool, i, &x) ||
	    !cf_ref(b->pool, k, &y) || x.class.data)
		return true;
	return same_bootstrap(a, x.bootstrap, b, y.bootstrap, depth);
}

int cf_bootstraps_open(struct cf_bootstraps *b, const struct cf_class *class, struct ag_mem *mem)
{
	struct cf_attribute attribute;
	struct cf_bytes bytes;
	uint16_t n;

	*b = (struct cf_bootstraps){ .mem = mem };
	if (!cf_find_attribute(cf_class_attributes(class), "BootstrapMethods", &attribute))
		return 0;
	bytes = cf_bytes_init(attribute.data, attribute.len);
	n = cf_u2(&bytes);
	b->at = ag_alloc(mem, (size_t)n + 1, sizeof(*b->at));
	if (!b->at)
		return -1;
	b->data = attribute.data;
	while (b->n < n) {
		b->at[b->n] = (uint32_t)(bytes.at - b->data);
		(void)cf_u2(&bytes);
		if (!cf_take(&bytes, (size_t)cf_u2(&bytes) * 2))
			break;
		b->n++;
	}
	return 0;
}

void cf_bootstraps_release(struct cf_bootstraps *b)
{
	if (b->at)
		ag_free(b->mem, b->at);
	*b = (struct cf_bootstraps){ 0 };
}

/* Finds an entry.  Sets *arguments to its first argument.  Returns false if there is no entry. */
static bool find_bootstrap(const struct cf_bootstraps *b, uint16_t index,
			   const uint8_t **arguments, uint16_t *method, uint16_t *n)
{
	const uint8_t *entry;

	if (index >= b->n)
		return false;
	entry = b->data + b->at[index];
	*method = cf_peek_u2(entry);
	*n = cf_peek_u2(entry + 2);
	*arguments = entry + 4;
	return true;
}

static bool same_bootstrap(const struct cf_body *a, uint16_t i, const struct cf_body *b,
			   uint16_t k, unsigned depth)
{
	const uint8_t *x, *y;
	uint16_t method_x, method_y, n_x, n_y;

	if (depth == DEPTH_MAX || !find_bootstrap(a->bootstraps, i, &x, &method_x, &n_x) ||
	    !find_bootstrap(b->bootstraps, k, &y, &method_y, &n_y) || n_x != n_y ||
	    !cf_constant_equal(a->pool, method_x, b->pool, method_y))
		return false;
	for (; n_x > 0; n_x--, x += 2, y += 2) {
		if (a->bootstraps->n_compared == ARGUMENTS_MAX)
			return false;
		a->bootstraps->n_compared++;
		if (!same_value(a, cf_peek_u2(x), b, cf_peek_u2(y), depth + 1))
			return false;
	}
	return true;
}

/* Returns the number (struct side) of the instruction to which a jump leads; 0 if there is none. */
static uint32_t target(const struct side *s, const struct cf_insn *insn, int32_t offset)
{
	int64_t at = (int64_t)insn->pc + offset;

	return at >= 0 && at < s->body->len ? s->number[at] : 0;
}

static bool same_target(const struct side *a, const struct cf_insn *x, int32_t from_x,
			const struct side *b, const struct cf_insn *y, int32_t from_y)
{
	uint32_t number = target(a, x, from_x);

	return number > 0 && number == target(b, y, from_y);
}

static bool same_switch(const struct side *a, const struct cf_insn *x, const struct side *b,
			const struct cf_insn *y)
{
	if (x->n != y->n || !same_target(a, x, x->otherwise, b, y, y->otherwise))
		return false;
	for (uint32_t i = 0; i < x->n; i++) {
		struct cf_case c = cf_case(x, i), d = cf_case(y, i);

		if (c.key != d.key || !same_target(a, x, c.offset, b, y, d.offset))
			return false;
	}
	return true;
}

/* Returns the short form of a long opcode such as ldc_w; any other opcode unchanged. */
static uint8_t short_opcode(uint8_t opcode)
{
	switch (opcode) {
	case OP_ldc_w:
		return OP_ldc;
	case OP_goto_w:
		return OP_goto;
	case OP_jsr_w:
		return OP_jsr;
	default:
		return opcode;
	}
}

static bool same_insn(const struct side *a, const struct cf_insn *x, const struct side *b,
		      const struct cf_insn *y)
{
	if (short_opcode(x->opcode) != short_opcode(y->opcode))
		return false;
	switch (x->operands) {
	case CF_OP_LDC:
	case CF_OP_CONSTANT:
	case CF_OP_INTERFACE:
	case CF_OP_DYNAMIC:
	case CF_OP_MULTI:
		return x->value == y->value &&
		       same_value(a->body, x->index, b->body, y->index, 0);
	case CF_OP_BRANCH:
	case CF_OP_BRANCH_W:
		return same_target(a, x, x->value, b, y, y->value);
	case CF_OP_TABLE:
	case CF_OP_LOOKUP:
		return same_switch(a, x, b, y);
	default:
		return x->index == y->index && x->value == y->value;
	}
}

/*
 * Fills s->number, which the caller has zeroed.  Returns false if the code is empty or malformed.
 */
static bool number_instructions(struct side *s)
{
	struct cf_insn insn;

	for (uint32_t pc = 0; pc < s->body->len; pc += insn.len) {
		if (!cf_insn(s->body->code, s->body->len, pc, &insn))
			return false;
		s->number[pc] = ++s->n;
	}
	s->number[s->body->len] = s->n + 1;
	return s->n > 0;
}

static bool same_instructions(const struct side *a, const struct side *b)
{
	uint32_t i = 0, k = 0;
	struct cf_insn x, y;

	while (i < a->body->len && k < b->body->len) {
		if (!cf_insn(a->body->code, a->body->len, i, &x) ||
		    !cf_insn(b->body->code, b->body->len, k, &y) ||
		    !same_insn(a, &x, b, &y))
			return false;
		i += x.len;
		k += y.len;
	}
	return i == a->body->len && k == b->body->len;
}

/*
 * Returns the number of the instruction at the pc `at`, or 0 if none begins there.  The end of the
 * code counts as an instruction.
 */
static uint32_t number_at(const struct side *s, uint16_t at)
{
	return at <= s->body->len ? s->number[at] : 0;
}

static bool same_handlers(const struct side *a, const struct side *b)
{
	const struct cf_code x = { .handlers = a->body->handlers };
	const struct cf_code y = { .handlers = b->body->handlers };

	if (!x.handlers || !y.handlers)
		return true;
	if (a->body->n_handlers != b->body->n_handlers)
		return false;
	for (uint16_t i = 0; i < a->body->n_handlers; i++) {
		struct cf_handler h = cf_handler(&x, i), k = cf_handler(&y, i);

		if (number_at(a, h.start) != number_at(b, k.start) ||
		    number_at(a, h.end) != number_at(b, k.end) ||
		    number_at(a, h.handler) != number_at(b, k.handler) || !h.type != !k.type ||
		    (h.type && !cf_constant_equal(a->body->pool, h.type, b->body->pool, k.type)))
			return false;
	}
	return true;
}

struct cf_body cf_body(const struct cf_class *class, const struct cf_code *code,
		       struct cf_bootstraps *bootstraps)
{
	return (struct cf_body){
		.pool = &class->pool,
		.code = code->code,
		.len = code->len,
		.bootstraps = bootstraps,
		.handlers = code->handlers,
		.n_handlers = code->n_handlers,
	};
}

int cf_code_equal(const struct cf_body *a, const struct cf_body *b, struct ag_mem *mem)
{
	struct side x = { .body = a }, y = { .body = b };
	int same = -1;

	if (a->len == 0 || b->len == 0)
		return 0;
	x.number = ag_alloc(mem, (size_t)a->len + 1, sizeof(*x.number));
	y.number = ag_alloc(mem, (size_t)b->len + 1, sizeof(*y.number));
	if (x.number && y.number)
		same = number_instructions(&x) && number_instructions(&y) && x.n == y.n &&
		       same_instructions(&x, &y) && same_handlers(&x, &y);
	ag_free(mem, x.number);
	ag_free(mem, y.number);
	return same;
}
