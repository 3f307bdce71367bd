/* One method with its hooks. */
#include "classfile/frames.h"
#include "classfile/versions.h"

#define TOKEN_SLOTS 2
/* On the stack besides the method's own: the token, and as the only things; the id comes to it. */
#define EXIT_STACK 2
#define ENTER_STACK 4 /* also that of a handler */
#define ARGUMENTS_MAX 255 /* slots; JVMS 4.3.3 */

static bool parameters_fit(const struct injecting *m)
{
	struct cf_text rest = m->parameters;
	uint32_t slots = !m->is_static;
	struct cf_type type;

	while (cf_type_next(&rest, &type))
		slots += cf_type_slots(&type);
	return slots <= ARGUMENTS_MAX && slots <= m->code.max_locals;
}

static uint32_t stack_wanted(const struct injecting *m)
{
	uint32_t id = inj_number_stack(m->probe->id);
	uint32_t wanted = m->code.max_stack + EXIT_STACK + id;

	if (m->probe->values && m->result != INJ_VOID)
		wanted += m->result == INJ_J || m->result == INJ_D ? 2 : 1;
	return wanted < ENTER_STACK + id ? ENTER_STACK + id : wanted;
}

/* The new variable and what a hook needs on the stack. */
static enum cf_refusal make_room(struct injecting *m)
{
	m->token = m->code.max_locals;
	m->max_locals = m->token + TOKEN_SLOTS;
	m->max_stack = stack_wanted(m);
	return m->max_locals > UINT16_MAX || frames_are_too_many(m) ? CF_TOO_MANY : CF_HOOKED;
}

/* All that is known of the method before anything is put. */
static enum cf_refusal look(struct injecting *m)
{
	struct cf_type result;

	if (m->method.access & (CF_ACC_NATIVE | CF_ACC_ABSTRACT) || !cf_code(&m->method, &m->code))
		return CF_NO_CODE;
	if (!cf_method_types(m->method.descriptor, &m->parameters, &result))
		return CF_MALFORMED;
	m->result = inj_kind(&result);
	/* <clinit> is static also where it is not said (JVMS 4.6). */
	m->is_static = m->method.access & CF_ACC_STATIC || cf_text_is(m->method.name, "<clinit>");
	m->is_init = cf_text_is(m->method.name, "<init>");
	if (!m->sites && m->is_init && cf_text_is(cf_name(m->class), "java/lang/Object"))
		return CF_ROOT;
	if (m->code.len == 0 || m->code.len > INJ_CODE_MAX || !parameters_fit(m) ||
	    (m->is_init && m->is_static))
		return CF_MALFORMED;
	m->with_maps = m->class->major >= JAVA_6;
	m->maps = (struct cf_attribute){ .data = NULL };
	if (m->with_maps &&
	    cf_find_attribute(m->code.attributes, "StackMapTable", &m->maps) && m->maps.len == 0)
		m->maps.data = NULL;
	return CF_HOOKED;
}

static enum cf_refusal plan_probe(struct injecting *m)
{
	enum cf_refusal refusal = make_room(m);

	if (refusal != CF_HOOKED)
		return refusal;
	inj_put_enter(m);
	inj_put_exit(m);
	refusal = inj_lay_out(m);
	return refusal == CF_HOOKED ? inj_cover(m) : refusal;
}

static enum cf_refusal plan_sites(struct injecting *m)
{
	m->max_locals = m->code.max_locals;
	inj_find_sites(m);
	return m->inserted.len == 0 ? CF_NOT_FOUND : inj_lay_out(m);
}

static enum cf_refusal plan(struct injecting *m)
{
	enum cf_refusal refusal = m->sites ? plan_sites(m) : plan_probe(m);

	return refusal == CF_HOOKED && m->max_stack > UINT16_MAX ? CF_TOO_MANY : refusal;
}

static enum cf_refusal put_new_code(struct injecting *m, size_t begin)
{
	enum cf_refusal refusal = inj_put_code(m);

	m->caught = m->caught_early = 0;
	if (m->n_usual > 0) {
		m->caught = (uint32_t)(m->body.len - begin);
		inj_put_handler(m);
	}
	if (m->n_early > 0) {
		m->caught_early = (uint32_t)(m->body.len - begin);
		inj_put_handler(m);
	}
	if (refusal == CF_HOOKED && m->body.len - begin > INJ_CODE_MAX)
		refusal = CF_TOO_LONG;
	return refusal;
}

/* Length and counts are known behind what they stand in front of. */
static enum cf_refusal put_code_attribute(struct injecting *m, uint16_t name)
{
	size_t len = m->body.len + 2, begin = len + 12;
	enum cf_refusal refusal;

	cf_put_u2(&m->body, name);
	cf_put_u4(&m->body, 0);
	cf_put_u2(&m->body, (uint16_t)m->max_stack);
	cf_put_u2(&m->body, (uint16_t)m->max_locals);
	cf_put_u4(&m->body, 0);
	refusal = put_new_code(m, begin);
	cf_set_u4(&m->body, begin - 4, (uint32_t)(m->body.len - begin));
	if (refusal == CF_HOOKED)
		refusal = inj_put_handlers(m);
	if (refusal == CF_HOOKED)
		refusal = inj_put_tables(m);
	cf_set_u4(&m->body, len, (uint32_t)(m->body.len - len - 4));
	return refusal;
}

enum cf_refusal inj_put_method(struct injecting *m, const uint8_t *header)
{
	struct cf_attributes list = m->method.attributes;
	enum cf_refusal refusal = look(m);
	struct cf_attribute a;
	bool done = false;

	if (refusal == CF_HOOKED)
		refusal = plan(m);
	if (refusal != CF_HOOKED)
		return refusal;
	cf_put(&m->body, header, 8); /* modifiers, name, descriptor, how many attributes */
	while (refusal == CF_HOOKED && cf_next_attribute(&list, &a)) {
		if (!done && cf_text_is(a.name, "Code")) {
			refusal = put_code_attribute(m, cf_peek_u2(a.data - 6));
			done = true;
		} else {
			cf_put(&m->body, a.data - 6, a.len + (size_t)6);
		}
	}
	return refusal;
}
