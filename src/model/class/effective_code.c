#include "model/class/effective_code.h"

#include <string.h>

#include "base/xalloc.h"

static struct cf_text text_of(const char *s)
{
	return (struct cf_text){ s, strlen(s) };
}

static void index_memory(struct effective_code *r)
{
	const struct class_capture *c = r->captured;

	if (cf_member_index_init(&r->in_memory, (uint32_t)c->n_methods, &r->mem) < 0)
		xalloc_die();
	for (uint32_t i = 0; i < c->n_methods; i++) {
		const struct cf_member member = { .name = text_of(c->methods[i].name),
						  .descriptor = text_of(c->methods[i].descriptor) };

		cf_member_index_add(&r->in_memory, &member, i);
	}
	cf_member_index_sort(&r->in_memory);
}

const char *effective_code_open(struct effective_code *r, const struct cf_class *class,
				const struct class_capture *captured)
{
	const char *why;
	size_t len;

	*r = (struct effective_code){ .class = class,
				      .captured = captured,
				      .mem = { .budget = SIZE_MAX } };
	if (class) {
		r->left = cf_methods(class);
		if (cf_bootstraps_open(&r->bootstraps, class, &r->mem) < 0 ||
		    cf_member_index_read(&r->in_file, r->left, &r->mem) < 0)
			xalloc_die();
	}
	if (!captured || captured->n_methods == 0)
		return NULL;
	len = captured->pool.len;
	why = cf_pool_open(&r->pool, buf_str(&captured->pool), &len, captured->pool_count,
			   &r->mem);
	if (!why)
		index_memory(r);
	return why;
}

void effective_code_release(struct effective_code *r)
{
	cf_bootstraps_release(&r->bootstraps);
	cf_member_index_release(&r->in_file);
	cf_member_index_release(&r->in_memory);
	if (r->pool.at)
		cf_pool_release(&r->pool);
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
	const struct cf_indexed *found = cf_member_index_find(&r->in_memory, name, descriptor);

	return found ? &r->captured->methods[found->number] : NULL;
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
	return cf_member_index_find(&r->in_file, text_of(m->name), text_of(m->descriptor));
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
	const struct cf_indexed *found = cf_member_index_find(&r->in_file, name, descriptor);
	const struct captured_method *captured;

	if (found) {
		from_file(r, &found->member, m);
		return true;
	}
	captured = find_in_memory(r, name, descriptor);
	if (captured)
		from_memory(r, captured, m);
	return captured;
}
