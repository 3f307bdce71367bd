#include "classfile/inject/injection.h"

const char inj_no_memory[] = "not enough memory to hook methods";

bool inj_open(struct injection *in, const struct cf_class *class, const char *hooks)
{
	struct ag_mem *mem = class->pool.mem;

	*in = (struct injection){
		.class = class,
		.hooks_class = hooks,
		.body.mem = mem,
		.added = { .enter.mem = mem, .exit.mem = mem, .insertions.mem = mem },
		.layout = ag_alloc(mem, 1, sizeof(*in->layout)),
		.handlers.ranges.mem = mem,
		.cells = ag_alloc(mem, INJ_CODE_MAX + 1, sizeof(*in->cells)),
	};
	return inj_constants_open(&in->constants, &class->pool, mem) && in->layout && in->cells;
}

void inj_close(struct injection *in)
{
	inj_constants_release(&in->constants);
	cf_output_release(&in->body);
	cf_output_release(&in->added.enter);
	cf_output_release(&in->added.exit);
	cf_output_release(&in->handlers.ranges);
	cf_output_release(&in->added.insertions);
	ag_free(in->class->pool.mem, in->layout);
	ag_free(in->class->pool.mem, in->cells);
}

/* Writes every method, with hooks or unchanged.  Returns true if at least one has hooks. */
static bool put_methods(struct injection *in, inj_put_hooked *put, void *arg)
{
	struct cf_members list = cf_methods(in->class);
	bool hooked = false;

	for (uint32_t i = 0; i < in->class->n_methods && !in->body.failed; i++) {
		const uint8_t *header = list.bytes.at;
		size_t before = in->body.len;

		if (!cf_next_member(&list, &in->method.member))
			break;
		if (put(in, i, header, arg)) {
			hooked = true;
			continue;
		}
		in->body.len = before;
		cf_put(&in->body, header, (size_t)(list.bytes.at - header));
	}
	return hooked;
}

/* Writes everything that follows the constants.  Copies the parts that are not methods. */
static bool put_body(struct injection *in, inj_put_hooked *put, void *arg)
{
	const struct cf_class *class = in->class;
	uint32_t begin = class->interfaces - 8; /* offset of access_flags: 4 u2 earlier */
	uint32_t end = class->attributes - 2;
	bool hooked;

	cf_put(&in->body, class->data + begin, class->methods - begin);
	hooked = put_methods(in, put, arg);
	cf_put(&in->body, class->data + end, class->len - end);
	return hooked;
}

static bool out_of_memory(const struct injection *in)
{
	return in->body.failed || in->constants.added.failed || in->added.enter.failed ||
	       in->added.exit.failed || in->handlers.ranges.failed || in->added.insertions.failed;
}

static const char *put_class_file(struct injection *in, struct cf_output *out)
{
	const struct cf_class *class = in->class;
	const struct cf_output *added = &in->constants.added;
	size_t pool = (size_t)(class->pool.data - class->data);

	if (in->constants.full)
		return "the constant pool would have more than 65,535 entries";
	cf_put(out, class->data, class->interfaces - 8);
	cf_set_u2(out, pool - 2, (uint16_t)in->constants.count);
	cf_put(out, added->data, added->len);
	cf_put(out, in->body.data, in->body.len);
	return out_of_memory(in) || out->failed ? inj_no_memory : NULL;
}

const char *inj_put_class(struct injection *in, inj_put_hooked *put, void *arg,
			  struct cf_output *out)
{
	const char *why = NULL;

	if (put_body(in, put, arg) || out_of_memory(in))
		why = put_class_file(in, out);
	if (why)
		cf_output_release(out);
	return why;
}
