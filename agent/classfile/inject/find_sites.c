/* Finds the allocations in a method's code that call no constructor, and writes their hooks. */
#include <string.h>

#include "classfile/inject/inject_internal.h"

/* Stack slots for the arguments of a hook, not counting the last argument, the site's id. */
#define ARRAY_STACK 2  /* hook `array`: the array and its length */
#define RESULT_STACK 1 /* hooks `arrays` and `result`: the object */

/* Sets of JDKs, as bits.  JDK_9 stands for JDK 9 and later. */
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
#include "classfile/inject/allocators.def"
#undef QUIET
#undef ALLOCATOR_IF_NULL
#undef ALLOCATOR
#undef ROW
	return ROW_NONE;
}

/* Returns true if allocators.def lists the method.  The body of such a method gets no hooks. */
static bool is_quiet(const struct cf_class *class, const struct cf_member *method, enum jdk jdk)
{
	struct cf_ref ref = { .class = cf_name(class), .name = method->name,
			      .descriptor = method->descriptor };

	return row_of(&ref, jdk) != ROW_NONE;
}

static bool is_call(uint8_t opcode)
{
	return opcode >= OP_invokevirtual && opcode <= OP_invokestatic;
}

static bool calls_allocator(const struct cf_pool *pool, const struct cf_insn *insn,
			    uint8_t before, enum jdk jdk, struct cf_site *site)
{
	struct cf_ref ref;
	enum row row;

	if (!cf_ref(pool, insn->index, &ref) || !ref.class.data)
		return false;
	site->owner = ref.class;
	if (insn->opcode != OP_invokestatic && IS(ref.name, "clone") &&
	    IS(ref.descriptor, "()Ljava/lang/Object;")) {
		site->kind = insn->opcode == OP_invokespecial ? CF_SITE_CLONE_SPECIAL
							      : CF_SITE_CLONE;
		return true;
	}
	site->kind = CF_SITE_RESULT;
	row = row_of(&ref, jdk);
	return row == ROW_ALLOCATOR || (row == ROW_ALLOCATOR_IF_NULL && before == OP_aconst_null);
}

/*
 * Returns true if insn allocates an object without a constructor call; then fills in *site.
 * `before` is the opcode of the previous instruction.
 */
static bool is_site(const struct cf_pool *pool, const struct cf_insn *insn, uint8_t before,
		    enum jdk jdk, struct cf_site *site)
{
	static const char types[] = "ZCFDBSIJ"; /* types 4 to 11 (JVMS table 6.5.newarray-A) */

	*site = (struct cf_site){ .pc = insn->pc };
	if (is_call(insn->opcode))
		return calls_allocator(pool, insn, before, jdk, site);
	if (insn->opcode == OP_newarray) {
		if (insn->value < 4 || insn->value > 11)
			return false;
		site->dimensions = 1;
		site->primitive = types[insn->value - 4];
		return true;
	}
	if (insn->opcode != OP_anewarray && insn->opcode != OP_multianewarray)
		return false;
	site->element = cf_class_name(pool, insn->index);
	site->dimensions = insn->opcode == OP_anewarray;
	site->kind = site->dimensions ? CF_SITE_ARRAY : CF_SITE_ARRAYS;
	return site->element.data != NULL;
}

/* Returns true for JDK methods that call toString() of an Object that may be a StringBuilder. */
static bool takes_any_object(const struct cf_class *class, const struct cf_member *method)
{
	return (IS(cf_name(class), "java/lang/String") && IS(method->name, "valueOf")) ||
	       (IS(cf_name(class), "java/lang/StringConcatHelper") &&
		IS(method->name, "stringOf"));
}

/*
 * Returns true if insn calls toString() of an object that may be a StringBuilder.  Without a hook
 * before the call, C2 may replace the builder by code that executes no hooks (inject_sites.h).
 */
static bool is_builder_to_string(const struct cf_class *class, const struct cf_member *method,
				 const struct cf_insn *insn)
{
	struct cf_ref ref;

	if ((insn->opcode != OP_invokevirtual && insn->opcode != OP_invokeinterface) ||
	    !cf_ref(&class->pool, insn->index, &ref) || !IS(ref.name, "toString") ||
	    !IS(ref.descriptor, "()Ljava/lang/String;"))
		return false;
	return IS(ref.class, "java/lang/StringBuilder") ||
	       IS(ref.class, "java/lang/StringBuffer") ||
	       IS(ref.class, "java/lang/CharSequence") ||
	       (IS(ref.class, "java/lang/Object") && takes_any_object(class, method));
}

/*
 * Begins an insertion before the instruction at pc.  The caller appends the code, then passes the
 * result to end_insertion(), which stores the number of bytes.
 */
static size_t begin_insertion(struct cf_output *insertions, uint32_t pc)
{
	cf_put_u4(insertions, pc);
	cf_put_u1(insertions, 0);
	return insertions->len;
}

static void end_insertion(struct cf_output *insertions, size_t begin)
{
	cf_set_u1(insertions, begin - 1, (uint8_t)(insertions->len - begin));
}

static void require_stack(struct inj_added *added, uint32_t stack)
{
	if (added->max_stack < stack)
		added->max_stack = stack;
}

/* Inserts the hook of a site.  `next` is the pc after the site's instruction. */
static void put_site(struct injection *in, const struct cf_site *site, uint32_t next, uint32_t id)
{
	struct cf_output *out = &in->added.insertions;
	size_t begin = begin_insertion(out, next);
	enum inj_hook hook = INJ_result;

	cf_put_u1(out, OP_dup);
	if (site->kind == CF_SITE_ARRAY) {
		cf_put_u1(out, OP_dup);
		cf_put_u1(out, OP_arraylength);
		hook = INJ_array;
	} else if (site->kind == CF_SITE_ARRAYS) {
		hook = INJ_arrays;
	}
	inj_put_number(out, id);
	inj_put_call(in, out, hook);
	end_insertion(out, begin);
	require_stack(&in->added, in->method.code.max_stack + inj_number_stack(id) +
					  (hook == INJ_array ? ARRAY_STACK : RESULT_STACK));
	in->sites->hooked++;
}

/* Inserts a hook before the call of toString() at pc.  Arguments: the StringBuilder, the id 0. */
static void put_builder(struct injection *in, uint32_t pc)
{
	struct cf_output *out = &in->added.insertions;
	size_t begin = begin_insertion(out, pc);

	cf_put_u1(out, OP_dup);
	cf_put_u1(out, OP_iconst_0);
	inj_put_call(in, out, INJ_result);
	end_insertion(out, begin);
	require_stack(&in->added, in->method.code.max_stack + RESULT_STACK + 1);
	in->sites->kept++;
}

/*
 * Adds a hook at the start of Object's constructor.  `this` is initialised there, because
 * Object's constructor calls no other constructor.
 */
static void put_object(struct injection *in)
{
	struct inj_constants *c = &in->constants;
	struct cf_output *out = &in->added.insertions;
	uint16_t object = in->class->this_class;
	size_t begin = begin_insertion(out, 0);

	cf_put_u1(out, OP_aload_0);
	cf_put_u1(out, OP_aload_0);
	cf_put_u1(out, OP_invokevirtual);
	cf_put_u2(out, inj_method(c, object, "getClass", "()Ljava/lang/Class;"));
	cf_put_u1(out, OP_invokevirtual);
	cf_put_u2(out, inj_method(c, object, "hashCode", "()I"));
	inj_put_call(in, out, INJ_made);
	end_insertion(out, begin);
	require_stack(&in->added, 2);
	in->sites->roots++;
}

static bool is_root(const struct injection *in)
{
	return in->method.is_init && in->sites->made && IS(cf_name(in->class), "java/lang/Object");
}

void inj_find_sites(struct injection *in)
{
	enum jdk jdk = in->sites->sun_unsafe ? JDK_8 : JDK_9;
	const struct cf_member *method = &in->method.member;
	const struct cf_code *code = &in->method.code;
	struct cf_insn insn = { .opcode = OP_nop };
	struct cf_site site;
	uint32_t id;

	in->added.insertions.len = 0;
	in->added.max_stack = code->max_stack;
	if (is_root(in))
		put_object(in);
	if (is_quiet(in->class, method, jdk))
		return;
	for (uint32_t pc = 0; pc < code->len; pc += insn.len) {
		uint8_t before = insn.opcode;

		if (!cf_insn(code->code, code->len, pc, &insn))
			return; /* inj_lay_out() then refuses the method */
		if (in->sites->strings && is_builder_to_string(in->class, method, &insn))
			put_builder(in, pc);
		if (!is_site(&in->class->pool, &insn, before, jdk, &site))
			continue;
		site.method = method->name;
		id = in->sites->id(in->sites->arg, &site);
		if (id != 0)
			put_site(in, &site, pc + insn.len, id);
	}
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
		if (is_site(&class->pool, &insn, OP_aconst_null, JDK_ALL, &site) ||
		    is_builder_to_string(class, method, &insn))
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
