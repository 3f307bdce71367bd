#include "model/class/effective_code.h"

#include <string.h>

#include "base/xalloc.h"

const char *effective_code_open(struct effective_code *r, const struct cf_class *class,
				const struct class_capture *captured)
{
	size_t len;

	*r = (struct effective_code){ .class = class,
				      .captured = captured,
				      .mem = { .budget = SIZE_MAX } };
	if (class) {
		r->left = cf_methods(class);
		if (cf_bootstraps_open(&r->bootstraps, class, &r->mem) < 0)
			xalloc_die();
	}
	if (!captured || captured->n_methods == 0)
		return NULL;
	len = captured->pool.len;
	return cf_pool_open(&r->pool, buf_str(&captured->pool), &len, captured->pool_count,
			    &r->mem);
}

void effective_code_release(struct effective_code *r)
{
	cf_bootstraps_release(&r->bootstraps);
	if (r->pool.at)
		cf_pool_release(&r->pool);
}

static struct cf_text text_of(const char *s)
{
	return (struct cf_text){ s, strlen(s) };
}

static struct cf_body body_in_memory(const struct effective_code *r,
				     const struct captured_method *m)
{
	return (struct cf_body){ .pool = &r->pool,
				 .code = (const uint8_t *)m->code.data,
				 .len = (uint32_t)m->code.len };
}

static const struct captured_method *find_in_memory(const struct effective_code *r,
						    struct cf_text name, struct cf_text descriptor)
{
	for (size_t i = 0; r->pool.at && i < r->captured->n_methods; i++) {
		const struct captured_method *m = &r->captured->methods[i];

		if (cf_text_is(name, m->name) && cf_text_is(descriptor, m->descriptor))
			return m;
	}
	return NULL;
}

static void from_memory(const struct effective_code *r, const struct captured_method *captured,
			struct effective_method *m)
{
	*m = (struct effective_method){
		.member = { .access = captured->modifiers,
			    .name = text_of(captured->name),
			    .descriptor = text_of(captured->descriptor) },
		.body = body_in_memory(r, captured),
		.memory = true,
	};
}

static void from_file(struct effective_code *r, const struct cf_member *member,
		      struct effective_method *m)
{
	const struct captured_method *captured =
		find_in_memory(r, member->name, member->descriptor);
	struct cf_body memory;

	*m = (struct effective_method){ .member = javasig_member(member) };
	if (cf_code(member, &m->file))
		m->body = cf_body(r->class, &m->file, &r->bootstraps);
	if (!captured || captured->code.len == 0)
		return;
	memory = body_in_memory(r, captured);
	if (m->body.code && cf_code_equal(&m->body, &memory, &r->mem) == 1)
		return;
	m->body = memory;
	m->memory = true;
}

static bool is_in_file(const struct effective_code *r, const struct captured_method *m)
{
	struct cf_member member;

	return r->class && cf_find_member(cf_methods(r->class), text_of(m->name),
					  text_of(m->descriptor), &member);
}

bool effective_code_next(struct effective_code *r, struct effective_method *m)
{
	struct cf_member member;

	if (cf_next_member(&r->left, &member)) {
		from_file(r, &member, m);
		return true;
	}
	while (r->pool.at && r->next < r->captured->n_methods) {
		const struct captured_method *captured = &r->captured->methods[r->next++];

		if (is_in_file(r, captured))
			continue;
		from_memory(r, captured, m);
		return true;
	}
	return false;
}

bool effective_code_find(struct effective_code *r, struct cf_text name, struct cf_text descriptor,
			 struct effective_method *m)
{
	const struct captured_method *captured;
	struct cf_member member;

	if (r->class && cf_find_member(cf_methods(r->class), name, descriptor, &member)) {
		from_file(r, &member, m);
		return true;
	}
	captured = find_in_memory(r, name, descriptor);
	if (captured)
		from_memory(r, captured, m);
	return captured;
}
