/* Hooks where objects are made without a constructor, and in the constructor of all. */
#include <string.h>

#include "classfile/injecting.h"

enum opcode {
	OP_NOP = 0x00,
	OP_ACONST_NULL = 0x01,
	OP_ICONST_0 = 0x03,
	OP_ALOAD_0 = 0x2a,
	OP_DUP = 0x59,
	OP_INVOKEVIRTUAL = 0xb6,
	OP_INVOKESPECIAL = 0xb7,
	OP_INVOKESTATIC = 0xb8,
	OP_INVOKEINTERFACE = 0xb9,
	OP_NEWARRAY = 0xbc,
	OP_ANEWARRAY = 0xbd,
	OP_ARRAYLENGTH = 0xbe,
	OP_MULTIANEWARRAY = 0xc5,
};

/* On the stack behind a site besides what is there: a copy, and a length or another. */
#define ARRAY_STACK 2
#define RESULT_STACK 1

/* The bits say of which JDKs. */
enum jdk { JDK_8 = 1, JDK_9 = 2, JDK_ALL = 3 };

static bool is(struct cf_text text, const char *s, size_t len)
{
	return text.len == len && memcmp(text.data, s, len) == 0;
}

#define IS(text, literal) is(text, literal, sizeof(literal) - 1)

enum row { ROW_NONE, ROW_QUIET, ROW_ALLOCATOR, ROW_ALLOCATOR_IF_NULL };

static enum row row_of(const struct cf_ref *ref, enum jdk jdk)
{
#define ROW(row, jdks, owner, method, type) \
	if (IS(ref->name, method) && IS(ref->descriptor, type) && IS(ref->class, owner)) \
		return jdk & (jdks) ? row : ROW_NONE;
#define ALLOCATOR(...) ROW(ROW_ALLOCATOR, __VA_ARGS__)
#define ALLOCATOR_IF_NULL(...) ROW(ROW_ALLOCATOR_IF_NULL, __VA_ARGS__)
#define QUIET(...) ROW(ROW_QUIET, __VA_ARGS__)
#include "classfile/allocators.def"
#undef QUIET
#undef ALLOCATOR_IF_NULL
#undef ALLOCATOR
#undef ROW
	return ROW_NONE;
}

/* What it makes is told of behind its calls, or by the constructor that its caller calls. */
static bool is_quiet(const struct cf_class *class, const struct cf_member *method, enum jdk jdk)
{
	struct cf_ref ref = { .class = cf_name(class), .name = method->name,
			      .descriptor = method->descriptor };

	return row_of(&ref, jdk) != ROW_NONE;
}

static bool is_call(uint8_t opcode)
{
	return opcode >= OP_INVOKEVIRTUAL && opcode <= OP_INVOKESTATIC;
}

static bool calls_allocator(const struct cf_pool *pool, const struct cf_insn *insn,
			    uint8_t before, enum jdk jdk, struct cf_site *site)
{
	struct cf_ref ref;
	enum row row;

	if (!cf_ref(pool, insn->index, &ref) || !ref.class.data)
		return false;
	site->owner = ref.class;
	if (insn->opcode != OP_INVOKESTATIC && IS(ref.name, "clone") &&
	    IS(ref.descriptor, "()Ljava/lang/Object;")) {
		site->kind = insn->opcode == OP_INVOKESPECIAL ? CF_SITE_CLONE_SPECIAL
							      : CF_SITE_CLONE;
		return true;
	}
	site->kind = CF_SITE_RESULT;
	row = row_of(&ref, jdk);
	return row == ROW_ALLOCATOR || (row == ROW_ALLOCATOR_IF_NULL && before == OP_ACONST_NULL);
}

/* Is it a place where an object is made without a constructor?  before: the opcode before it. */
static bool is_site(const struct cf_pool *pool, const struct cf_insn *insn, uint8_t before,
		    enum jdk jdk, struct cf_site *site)
{
	static const char types[] = "ZCFDBSIJ"; /* from 4 on (JVMS table 6.5.newarray-A) */

	*site = (struct cf_site){ .pc = insn->pc };
	if (is_call(insn->opcode))
		return calls_allocator(pool, insn, before, jdk, site);
	if (insn->opcode == OP_NEWARRAY) {
		if (insn->value < 4 || insn->value > 11)
			return false;
		site->dimensions = 1;
		site->primitive = types[insn->value - 4];
		return true;
	}
	if (insn->opcode != OP_ANEWARRAY && insn->opcode != OP_MULTIANEWARRAY)
		return false;
	site->element = cf_class_name(pool, insn->index);
	site->dimensions = insn->opcode == OP_ANEWARRAY;
	site->kind = site->dimensions ? CF_SITE_ARRAY : CF_SITE_ARRAYS;
	return site->element.data != NULL;
}

/* Any object may come to these. */
static bool takes_any(const struct cf_class *class, const struct cf_member *method)
{
	return (IS(cf_name(class), "java/lang/String") && IS(method->name, "valueOf")) ||
	       (IS(cf_name(class), "java/lang/StringConcatHelper") &&
		IS(method->name, "stringOf"));
}

/* May it be the end of a StringBuilder that C2 sees all of? */
static bool ends_string(const struct cf_class *class, const struct cf_member *method,
			const struct cf_insn *insn)
{
	struct cf_ref ref;

	if ((insn->opcode != OP_INVOKEVIRTUAL && insn->opcode != OP_INVOKEINTERFACE) ||
	    !cf_ref(&class->pool, insn->index, &ref) || !IS(ref.name, "toString") ||
	    !IS(ref.descriptor, "()Ljava/lang/String;"))
		return false;
	return IS(ref.class, "java/lang/StringBuilder") ||
	       IS(ref.class, "java/lang/StringBuffer") ||
	       IS(ref.class, "java/lang/CharSequence") ||
	       (IS(ref.class, "java/lang/Object") && takes_any(class, method));
}

/* A piece in front of the instruction at pc; its length is put when it is known. */
static size_t begin_piece(struct injecting *m, uint32_t pc)
{
	cf_put_u4(&m->inserted, pc);
	cf_put_u1(&m->inserted, 0);
	return m->inserted.len;
}

static void end_piece(struct injecting *m, size_t begin)
{
	cf_set_u1(&m->inserted, begin - 1, (uint8_t)(m->inserted.len - begin));
}

static void want_stack(struct injecting *m, uint32_t stack)
{
	if (m->max_stack < stack)
		m->max_stack = stack;
}

static void put_site(struct injecting *m, const struct cf_site *site, uint32_t behind,
		     uint32_t id)
{
	struct cf_output *out = &m->inserted;
	size_t begin = begin_piece(m, behind);
	enum inj_hook hook = INJ_result;

	cf_put_u1(out, OP_DUP);
	if (site->kind == CF_SITE_ARRAY) {
		cf_put_u1(out, OP_DUP);
		cf_put_u1(out, OP_ARRAYLENGTH);
		hook = INJ_array;
	} else if (site->kind == CF_SITE_ARRAYS) {
		hook = INJ_arrays;
	}
	inj_put_number(out, id);
	inj_put_call(m, out, hook);
	end_piece(m, begin);
	want_stack(m, m->code.max_stack + inj_number_stack(id) +
			      (hook == INJ_array ? ARRAY_STACK : RESULT_STACK));
	m->n_sites++;
}

/* Show it to somebody, with the number of no place. */
static void put_kept(struct injecting *m, uint32_t pc)
{
	size_t begin = begin_piece(m, pc);

	cf_put_u1(&m->inserted, OP_DUP);
	cf_put_u1(&m->inserted, OP_ICONST_0);
	inj_put_call(m, &m->inserted, INJ_result);
	end_piece(m, begin);
	want_stack(m, m->code.max_stack + RESULT_STACK + 1);
	m->n_kept++;
}

/* The verifier takes `this` for an object: java.lang.Object has no constructor to be called. */
static void put_made(struct injecting *m)
{
	struct inj_constants *c = &m->constants;
	uint16_t object = m->class->this_class;
	size_t begin = begin_piece(m, 0);

	cf_put_u1(&m->inserted, OP_ALOAD_0);
	cf_put_u1(&m->inserted, OP_ALOAD_0);
	cf_put_u1(&m->inserted, OP_INVOKEVIRTUAL);
	cf_put_u2(&m->inserted, inj_method(c, object, "getClass", "()Ljava/lang/Class;"));
	cf_put_u1(&m->inserted, OP_INVOKEVIRTUAL);
	cf_put_u2(&m->inserted, inj_method(c, object, "hashCode", "()I"));
	inj_put_call(m, &m->inserted, INJ_made);
	end_piece(m, begin);
	want_stack(m, 2);
	m->n_roots++;
}

static bool is_root(const struct injecting *m)
{
	return m->is_init && m->sites->made && IS(cf_name(m->class), "java/lang/Object");
}

void inj_find_sites(struct injecting *m)
{
	enum jdk jdk = m->sites->sun_unsafe ? JDK_8 : JDK_9;
	struct cf_insn insn = { .opcode = OP_NOP };
	struct cf_site site;
	uint32_t id;

	m->inserted.len = 0;
	m->n_sites = m->n_roots = m->n_kept = 0;
	m->max_stack = m->code.max_stack;
	if (is_root(m))
		put_made(m);
	if (is_quiet(m->class, &m->method, jdk))
		return;
	for (uint32_t pc = 0; pc < m->code.len; pc += insn.len) {
		uint8_t before = insn.opcode;

		if (!cf_insn(m->code.code, m->code.len, pc, &insn))
			return; /* as will be said when it is laid out */
		if (m->sites->strings && ends_string(m->class, &m->method, &insn))
			put_kept(m, pc);
		if (!is_site(&m->class->pool, &insn, before, jdk, &site))
			continue;
		site.method = m->method.name;
		id = m->sites->id(m->sites->arg, &site);
		if (id != 0)
			put_site(m, &site, pc + insn.len, id);
	}
}

static bool put_method(struct injecting *m, const uint8_t *header)
{
	struct cf_sites *sites = m->sites;
	enum cf_refusal refusal;

	m->inserted.len = 0;
	refusal = inj_put_method(m, header);
	if (refusal == CF_HOOKED) {
		sites->hooked += m->n_sites;
		sites->roots += m->n_roots;
		sites->kept += m->n_kept;
		return true;
	}
	if (m->inserted.len > 0) {
		sites->refused++;
		sites->why = refusal;
	}
	return false;
}

static bool put_methods(struct injecting *m, void *arg)
{
	struct cf_members list = cf_methods(m->class);
	bool hooked = false;

	(void)arg;
	for (uint32_t i = 0; i < m->class->n_methods && !m->body.failed; i++) {
		const uint8_t *begin = list.bytes.at;
		size_t before = m->body.len;

		if (!cf_next_member(&list, &m->method))
			break;
		if (put_method(m, begin)) {
			hooked = true;
			continue;
		}
		m->body.len = before;
		cf_put(&m->body, begin, (size_t)(list.bytes.at - begin));
	}
	return hooked;
}

const char *cf_inject_sites(const struct cf_class *class, const char *hooks,
			    struct cf_sites *sites, struct cf_output *out)
{
	const char *why = inj_no_memory;
	struct injecting m;

	sites->hooked = sites->roots = sites->kept = sites->refused = 0;
	sites->why = CF_HOOKED;
	if (inj_open(&m, class, hooks)) {
		m.sites = sites;
		why = inj_put_class(&m, put_methods, NULL, out);
	}
	inj_close(&m);
	return why;
}

static bool has_sites(const struct cf_class *class, const struct cf_member *method)
{
	struct cf_code code;
	struct cf_insn insn;
	struct cf_site site;

	if (!cf_code(method, &code))
		return false;
	for (uint32_t pc = 0; pc < code.len; pc += insn.len) {
		if (!cf_insn(code.code, code.len, pc, &insn))
			return false;
		if (is_site(&class->pool, &insn, OP_ACONST_NULL, JDK_ALL, &site) ||
		    ends_string(class, method, &insn))
			return true;
	}
	return false;
}

bool cf_has_sites(const struct cf_class *class)
{
	struct cf_members methods = cf_methods(class);
	struct cf_member method;

	while (cf_next_member(&methods, &method)) {
		if (has_sites(class, &method))
			return true;
	}
	return false;
}
