/* Writes one method with its hooks. */
#include "classfile/inject/inject_maps.h"
#include "classfile/versions.h"

#define TOKEN_SLOTS 2
/*
 * Stack slots for the arguments of a hook, not counting the method's id.  At an exit of the method,
 * the method's own values may be on the stack, so EXIT_STACK slots are needed in addition to
 * max_stack.  At the entry and in the exception handler, the method has no values on the stack, so
 * ENTER_STACK slots are enough.
 */
#define EXIT_STACK 2
#define ENTER_STACK 4
#define COMPILED_MAX 8000 /* bytes of code; HugeMethodLimit of HotSpot's globals.hpp */
#define ARGUMENTS_MAX 255 /* maximum number of slots of a method's arguments (JVMS 4.3.3) */

static bool parameters_fit(const struct inj_method *m)
{
	struct cf_text rest = m->parameters;
	uint32_t slots = !m->is_static;
	struct cf_type type;

	while (cf_type_next(&rest, &type))
		slots += cf_type_slots(&type);
	return slots <= ARGUMENTS_MAX && slots <= m->code.max_locals;
}

static uint32_t stack_wanted(const struct inj_method *m, const struct cf_probe *probe)
{
	uint32_t id = inj_number_stack(probe->id);
	uint32_t wanted = m->code.max_stack + EXIT_STACK + id;

	if (probe->values && m->result != INJ_VOID)
		wanted += m->result == INJ_J || m->result == INJ_D ? 2 : 1;
	return wanted < ENTER_STACK + id ? ENTER_STACK + id : wanted;
}

/* Reserves the new local variable and the stack slots that hooks need. */
static enum cf_refusal reserve(struct injection *in)
{
	struct inj_added *added = &in->added;

	added->token = in->method.code.max_locals;
	added->max_locals = added->token + TOKEN_SLOTS;
	added->max_stack = stack_wanted(&in->method, in->probe);
	return added->max_locals > UINT16_MAX || inj_maps_take_too_long(in) ? CF_TOO_MANY
									   : CF_HOOKED;
}

/*
 * Fills in the members of *m that are declared after `member`.  Returns CF_HOOKED, or the reason
 * why the method cannot get hooks.
 */
static enum cf_refusal read_method(const struct injection *in, struct inj_method *m)
{
	struct cf_type result;

	if (m->member.access & (CF_ACC_NATIVE | CF_ACC_ABSTRACT) || !cf_code(&m->member, &m->code))
		return CF_NO_CODE;
	if (!cf_method_types(m->member.descriptor, &m->parameters, &result))
		return CF_MALFORMED;
	m->result = inj_kind(&result);
	/* <clinit> is static even without the flag (JVMS 4.6). */
	m->is_static = m->member.access & CF_ACC_STATIC || cf_text_is(m->member.name, "<clinit>");
	m->is_init = cf_text_is(m->member.name, "<init>");
	if (!in->sites && m->is_init && cf_text_is(cf_name(in->class), "java/lang/Object"))
		return CF_ROOT;
	if (m->code.len == 0 || m->code.len > INJ_CODE_MAX || !parameters_fit(m) ||
	    (m->is_init && m->is_static))
		return CF_MALFORMED;
	m->with_maps = in->class->major >= JAVA_6;
	m->maps = (struct cf_attribute){ .data = NULL };
	if (m->with_maps && cf_find_attribute(m->code.attributes, "StackMapTable", &m->maps) &&
	    m->maps.len == 0)
		m->maps.data = NULL;
	return CF_HOOKED;
}

static enum cf_refusal plan_probe(struct injection *in)
{
	enum cf_refusal refusal = reserve(in);

	if (refusal != CF_HOOKED)
		return refusal;
	inj_put_enter(in);
	inj_put_exit(in);
	refusal = inj_lay_out(in);
	return refusal == CF_HOOKED ? inj_cover(in) : refusal;
}

static enum cf_refusal plan_sites(struct injection *in)
{
	in->added.max_locals = in->method.code.max_locals;
	inj_find_sites(in);
	return in->added.insertions.len == 0 ? CF_NOT_FOUND : inj_lay_out(in);
}

static enum cf_refusal plan(struct injection *in)
{
	enum cf_refusal refusal = in->sites ? plan_sites(in) : plan_probe(in);

	return refusal == CF_HOOKED && in->added.max_stack > UINT16_MAX ? CF_TOO_MANY : refusal;
}

/*
 * HotSpot never compiles a method of more than COMPILED_MAX bytes (DontCompileHugeMethods, see
 * CompilationPolicy::can_be_compiled()).  A method that is compiled today would be interpreted with
 * hooks: 10 to 20 times slower.  Methods that would become so long by hooks at allocation sites are
 * hooked all the same: most of them fill tables and run once, and have a fifth of all sites.
 */
static enum cf_refusal check_length(const struct injection *in, size_t len)
{
	if (len > INJ_CODE_MAX)
		return CF_TOO_LONG;
	if (in->sites || len <= COMPILED_MAX || in->method.code.len > COMPILED_MAX)
		return CF_HOOKED;
	return CF_NOT_COMPILED;
}

static enum cf_refusal put_new_code(struct injection *in, size_t begin)
{
	enum cf_refusal refusal = inj_put_code(in);
	struct inj_handlers *h = &in->handlers;

	h->main = h->early = 0;
	if (h->n_main > 0) {
		h->main = (uint32_t)(in->body.len - begin);
		inj_put_handler(in);
	}
	if (h->n_early > 0) {
		h->early = (uint32_t)(in->body.len - begin);
		inj_put_handler(in);
	}
	if (refusal == CF_HOOKED)
		refusal = check_length(in, in->body.len - begin);
	return refusal;
}

/*
 * Writes the Code attribute with hooks.  First writes 0 as the length of the attribute and as the
 * length of the code; stores the true lengths when the attribute and the code are written.
 */
static enum cf_refusal put_code_attribute(struct injection *in, uint16_t name)
{
	size_t len = in->body.len + 2, begin = len + 12;
	enum cf_refusal refusal;

	cf_put_u2(&in->body, name);
	cf_put_u4(&in->body, 0);
	cf_put_u2(&in->body, (uint16_t)in->added.max_stack);
	cf_put_u2(&in->body, (uint16_t)in->added.max_locals);
	cf_put_u4(&in->body, 0);
	refusal = put_new_code(in, begin);
	cf_set_u4(&in->body, begin - 4, (uint32_t)(in->body.len - begin));
	if (refusal == CF_HOOKED)
		refusal = inj_put_handlers(in);
	if (refusal == CF_HOOKED)
		refusal = inj_put_tables(in);
	cf_set_u4(&in->body, len, (uint32_t)(in->body.len - len - 4));
	return refusal;
}

enum cf_refusal inj_put_method(struct injection *in, const uint8_t *header)
{
	struct cf_attributes list = in->method.member.attributes;
	enum cf_refusal refusal = read_method(in, &in->method);
	struct cf_attribute a;
	bool done = false;

	if (refusal == CF_HOOKED)
		refusal = plan(in);
	if (refusal != CF_HOOKED)
		return refusal;
	cf_put(&in->body, header, 8); /* access flags, name, descriptor, number of attributes */
	while (refusal == CF_HOOKED && cf_next_attribute(&list, &a)) {
		if (!done && cf_text_is(a.name, "Code")) {
			refusal = put_code_attribute(in, cf_peek_u2(a.data - 6));
			done = true;
		} else {
			cf_put(&in->body, a.data - 6, a.len + (size_t)6);
		}
	}
	return refusal;
}
