/* A class with hooks in some of its methods. */
#include "base/hash.h"
#include "classfile/injecting.h"

const char inj_no_memory[] = "there is no memory to hook its methods";

/* A method, and in a hash of all of them: the first and the next of a chain, from 1 on. */
struct target {
	struct cf_text name, descriptor;
	size_t probe;          /* its number + 1; 0: it has none */
	uint32_t first, next;
};

static struct target *head_of(struct target *targets, uint32_t n, struct cf_text name,
			      struct cf_text descriptor)
{
	uint64_t hash = ag_hash(name.data, name.len) ^ 3 * ag_hash(descriptor.data, descriptor.len);

	return &targets[hash % n];
}

static void list_targets(const struct cf_class *class, struct target *targets)
{
	struct cf_members methods = cf_methods(class);
	struct cf_member method;

	for (uint32_t i = 0; i < class->n_methods && cf_next_member(&methods, &method); i++) {
		struct target *head = head_of(targets, class->n_methods, method.name,
					      method.descriptor);

		targets[i].name = method.name;
		targets[i].descriptor = method.descriptor;
		targets[i].next = head->first;
		head->first = i + 1;
	}
}

static bool is_meant(const struct cf_probe *probe, const struct target *target)
{
	return target->probe == 0 && cf_text_same(probe->name, target->name) &&
	       cf_text_same(probe->descriptor, target->descriptor);
}

/* Which probe each method has. */
static void match(const struct cf_class *class, struct cf_probe *probes, size_t n,
		  struct target *targets)
{
	uint32_t n_targets = class->n_methods;

	list_targets(class, targets);
	for (size_t p = 0; p < n; p++) {
		uint32_t i = n_targets == 0 ? 0 :
			head_of(targets, n_targets, probes[p].name, probes[p].descriptor)->first;

		while (i != 0 && !is_meant(&probes[p], &targets[i - 1]))
			i = targets[i - 1].next;
		probes[p].refused = i == 0 ? CF_NOT_FOUND : CF_HOOKED;
		if (i != 0)
			targets[i - 1].probe = p + 1;
	}
}

struct matched {
	struct cf_probe *probes;
	const struct target *targets;
};

static bool put_methods(struct injecting *m, void *arg)
{
	const struct matched *matched = arg;
	const struct target *targets = matched->targets;
	struct cf_members list = cf_methods(m->class);
	bool hooked = false;

	for (uint32_t i = 0; i < m->class->n_methods && !m->body.failed; i++) {
		const uint8_t *begin = list.bytes.at;
		size_t before = m->body.len;

		if (!cf_next_member(&list, &m->method))
			break;
		if (targets[i].probe != 0) {
			struct cf_probe *probe = &matched->probes[targets[i].probe - 1];

			m->probe = probe;
			probe->refused = inj_put_method(m, begin);
			if (probe->refused == CF_HOOKED) {
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
static bool put_body(struct injecting *m, inj_put_methods *put, void *arg)
{
	const struct cf_class *class = m->class;
	uint32_t begin = class->interfaces - 8; /* modifiers, names and a count are before them */
	uint32_t end = class->attributes - 2;
	bool hooked;

	cf_put(&m->body, class->data + begin, class->methods - begin);
	hooked = put(m, arg);
	cf_put(&m->body, class->data + end, class->len - end);
	return hooked;
}

static bool lacks_memory(const struct injecting *m)
{
	return m->body.failed || m->constants.more.failed || m->enter.failed || m->exit.failed ||
	       m->covered.failed || m->inserted.failed;
}

static const char *put_whole(struct injecting *m, struct cf_output *out)
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
	return lacks_memory(m) || out->failed ? inj_no_memory : NULL;
}

const char *inj_put_class(struct injecting *m, inj_put_methods *put, void *arg,
			  struct cf_output *out)
{
	const char *why = NULL;

	if (put_body(m, put, arg) || lacks_memory(m))
		why = put_whole(m, out);
	if (why)
		cf_output_release(out);
	return why;
}

bool inj_open(struct injecting *m, const struct cf_class *class, const char *hooks)
{
	struct ag_mem *mem = class->pool.mem;

	*m = (struct injecting){
		.class = class,
		.hooks_class = hooks,
		.room = ag_alloc(mem, 1, sizeof(*m->room)),
		.body.mem = mem,
		.enter.mem = mem,
		.exit.mem = mem,
		.covered.mem = mem,
		.inserted.mem = mem,
	};
	return inj_constants_open(&m->constants, &class->pool, mem) && m->room;
}

void inj_close(struct injecting *m)
{
	inj_constants_release(&m->constants);
	cf_output_release(&m->body);
	cf_output_release(&m->enter);
	cf_output_release(&m->exit);
	cf_output_release(&m->covered);
	cf_output_release(&m->inserted);
	ag_free(m->class->pool.mem, m->room);
}

const char *cf_inject(const struct cf_class *class, const char *hooks, struct cf_probe *probes,
		      size_t n, struct cf_output *out)
{
	struct ag_mem *mem = class->pool.mem;
	struct target *targets = ag_alloc(mem, class->n_methods + (size_t)1, sizeof(*targets));
	struct matched matched = { probes, targets };
	const char *why = inj_no_memory;
	struct injecting m;

	if (inj_open(&m, class, hooks) && targets) {
		match(class, probes, n, targets);
		why = inj_put_class(&m, put_methods, &matched, out);
	}
	inj_close(&m);
	ag_free(mem, targets);
	return why;
}
