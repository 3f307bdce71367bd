/* A class with hooks in some of its methods. */
#include "classfile/injecting.h"

static const char no_memory[] = "there is no memory to hook its methods";

static bool is_meant(const struct cf_probe *probe, const struct cf_member *method)
{
	return cf_text_same(probe->name, method->name) &&
	       cf_text_same(probe->descriptor, method->descriptor);
}

/*
 * Which probe each method has: its number + 1, in `of`.  Each probe is looked for from where the
 * one before it was found, round to there again.
 */
static void match(const struct cf_class *class, struct cf_probe *probes, size_t n, size_t *of)
{
	struct cf_members rest = cf_methods(class);
	struct cf_member method;

	for (size_t p = 0; p < n; p++) {
		probes[p].refused = CF_NOT_FOUND;
		for (uint32_t looks = class->n_methods; looks > 0; looks--) {
			uint32_t i;

			if (rest.left == 0)
				rest = cf_methods(class);
			i = (uint32_t)class->n_methods - rest.left;
			if (!cf_next_member(&rest, &method))
				break;
			if (of[i] == 0 && is_meant(&probes[p], &method)) {
				of[i] = p + 1;
				probes[p].refused = CF_HOOKED;
				break;
			}
		}
	}
}

/* True when something was hooked. */
static bool put_methods(struct injecting *m, struct cf_probe *probes, const size_t *of)
{
	struct cf_members list = cf_methods(m->class);
	bool hooked = false;

	for (uint32_t i = 0; i < m->class->n_methods && !m->body.failed; i++) {
		const uint8_t *begin = list.bytes.at;
		size_t before = m->body.len;

		if (!cf_next_member(&list, &m->method))
			break;
		if (of[i] != 0) {
			m->probe = &probes[of[i] - 1];
			probes[of[i] - 1].refused = inj_put_method(m, begin);
			if (m->probe->refused == CF_HOOKED) {
				hooked = true;
				continue;
			}
			m->body.len = before;
		}
		cf_put(&m->body, begin, (size_t)(list.bytes.at - begin));
	}
	return hooked;
}

/* All that is behind the constants; what is not a method's is as it was. */
static bool put_body(struct injecting *m, struct cf_probe *probes, const size_t *of)
{
	const struct cf_class *class = m->class;
	uint32_t begin = class->interfaces - 8; /* modifiers, names and a count are before them */
	uint32_t end = class->attributes - 2;
	bool hooked;

	cf_put(&m->body, class->data + begin, class->methods - begin);
	hooked = put_methods(m, probes, of);
	cf_put(&m->body, class->data + end, class->len - end);
	return hooked;
}

static const char *put_class(struct injecting *m, struct cf_output *out)
{
	const struct cf_class *class = m->class;
	const struct cf_output *more = &m->constants.more;
	size_t pool = (size_t)(class->pool.data - class->data);

	if (m->constants.full)
		return "the constant pool would have more than 65,535 entries";
	cf_put(out, class->data, class->interfaces - 8);
	cf_set_u2(out, pool - 2, (uint16_t)m->constants.count);
	cf_put(out, more->data, more->len);
	cf_put(out, m->body.data, m->body.len);
	if (m->body.failed || more->failed || m->enter.failed || m->exit.failed ||
	    m->covered.failed || out->failed)
		return no_memory;
	return NULL;
}

static const char *inject(struct injecting *m, struct cf_probe *probes, size_t n, size_t *of,
			  struct cf_output *out)
{
	const char *why = NULL;

	match(m->class, probes, n, of);
	if (put_body(m, probes, of) || m->body.failed)
		why = put_class(m, out);
	if (why)
		cf_output_release(out);
	return why;
}

const char *cf_inject(const struct cf_class *class, const char *hooks, struct cf_probe *probes,
		      size_t n, struct cf_output *out)
{
	struct ag_mem *mem = class->pool.mem;
	struct injecting m = {
		.class = class,
		.hooks_class = hooks,
		.room = ag_alloc(mem, 1, sizeof(*m.room)),
		.body.mem = mem,
		.enter.mem = mem,
		.exit.mem = mem,
		.covered.mem = mem,
	};
	size_t *of = ag_alloc(mem, class->n_methods + (size_t)1, sizeof(*of));
	const char *why = no_memory;

	if (inj_constants_open(&m.constants, &class->pool, mem) && m.room && of)
		why = inject(&m, probes, n, of, out);
	inj_constants_release(&m.constants);
	cf_output_release(&m.body);
	cf_output_release(&m.enter);
	cf_output_release(&m.exit);
	cf_output_release(&m.covered);
	ag_free(mem, of);
	ag_free(mem, m.room);
	return why;
}
