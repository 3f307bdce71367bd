/*
 * Is the format of a class right (JVMS 4.8)?  The rules and their limits to class file versions
 * are those of HotSpot's classFileParser.cpp with verification on, as it is for applications'
 * classes; it looks less closely at the classes of the boot loader.
 */
#include <stdlib.h>

#include "classfile/checking.h"
#include "classfile/legal.h"

#define MAX_SLOTS 255 /* of parameters and this: JVMS 4.3.3 */
#define ANY_OF(access, flags) (((access) & (flags)) != 0)

bool chk_wrong(struct checking *c, const char *what)
{
	c->fault->name = c->member.name;
	c->fault->descriptor = c->member.descriptor;
	c->fault->pc = UINT32_MAX;
	c->fault->what = what;
	c->fault->format = true;
	return false;
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool chk_is_twice(uint64_t *keys, size_t n)
{
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < n; i++) {
		if (keys[i] == keys[i - 1])
			return true;
	}
	return false;
}

bool chk_class_flags(const struct checking *c, uint16_t access)
{
	bool is_interface = access & CF_ACC_INTERFACE;
	uint16_t major = c->class->major;

	if (is_interface && major < JAVA_6)
		access |= CF_ACC_ABSTRACT; /* which old compilers left out */
	if (major >= JAVA_9 && access & CF_ACC_MODULE)
		return false;
	if (ANY_OF(access, CF_ACC_ABSTRACT) ? ANY_OF(access, CF_ACC_FINAL) : is_interface)
		return false;
	if (major < JAVA_5)
		return true;
	/* What is ACC_SYNCHRONIZED of a method is ACC_SUPER of a class. */
	return is_interface ? !ANY_OF(access, CF_ACC_SYNCHRONIZED | CF_ACC_ENUM)
			    : !ANY_OF(access, CF_ACC_ANNOTATION);
}

static bool one_visibility(uint16_t access)
{
	uint16_t seen = access & (CF_ACC_PUBLIC | CF_ACC_PRIVATE | CF_ACC_PROTECTED);

	return (seen & (seen - 1)) == 0;
}

/* JVMS 4.5 */
static bool field_flags(const struct checking *c, uint16_t access)
{
	const uint16_t constant = CF_ACC_PUBLIC | CF_ACC_STATIC | CF_ACC_FINAL;
	uint16_t never = CF_ACC_PRIVATE | CF_ACC_PROTECTED | CF_ACC_VOLATILE | CF_ACC_TRANSIENT;

	if (!(c->class->access & CF_ACC_INTERFACE))
		return one_visibility(access) && (access & (CF_ACC_FINAL | CF_ACC_VOLATILE)) !=
							 (CF_ACC_FINAL | CF_ACC_VOLATILE);
	if (c->class->major >= JAVA_5)
		never |= CF_ACC_ENUM;
	return (access & constant) == constant && !(access & never);
}

/* What strictfp stands for from Java 5 to 16; later every method is so (JEP 306). */
static uint16_t strict(uint16_t major)
{
	return major < JAVA_17 ? CF_ACC_STRICT : 0;
}

static bool interface_method_flags(uint16_t access, uint16_t major)
{
	uint16_t never = CF_ACC_FINAL | CF_ACC_NATIVE;

	if (major >= JAVA_8) {
		if (ANY_OF(access, CF_ACC_ABSTRACT))
			never |= CF_ACC_PRIVATE | CF_ACC_STATIC | strict(major);
		never |= CF_ACC_PROTECTED | CF_ACC_SYNCHRONIZED;
		return !(access & never) &&
		       ANY_OF(access, CF_ACC_PUBLIC) != ANY_OF(access, CF_ACC_PRIVATE);
	}
	never |= CF_ACC_STATIC;
	if (major >= JAVA_5)
		never |= CF_ACC_PRIVATE | CF_ACC_PROTECTED | CF_ACC_SYNCHRONIZED | CF_ACC_STRICT;
	return ANY_OF(access, CF_ACC_PUBLIC) && ANY_OF(access, CF_ACC_ABSTRACT) &&
	       !(access & never);
}

/* JVMS 4.6 */
static bool method_flags(const struct checking *c, uint16_t access)
{
	uint16_t major = c->class->major, never = 0;
	bool is_interface = c->class->access & CF_ACC_INTERFACE;

	if (cf_text_is(c->member.name, "<clinit>"))
		return major < JAVA_7 || access & CF_ACC_STATIC;
	if (cf_text_is(c->member.name, "<init>")) {
		never = CF_ACC_STATIC | CF_ACC_FINAL | CF_ACC_SYNCHRONIZED | CF_ACC_NATIVE |
			CF_ACC_ABSTRACT;
		if (major >= JAVA_5)
			never |= CF_ACC_VOLATILE; /* ACC_BRIDGE */
		return !is_interface && one_visibility(access) && !(access & never);
	}
	if (is_interface)
		return interface_method_flags(access, major);
	if (access & CF_ACC_ABSTRACT) {
		never = CF_ACC_FINAL | CF_ACC_NATIVE | CF_ACC_PRIVATE | CF_ACC_STATIC;
		if (major >= JAVA_5)
			never |= CF_ACC_SYNCHRONIZED | strict(major);
	}
	return one_visibility(access) && !(access & never);
}

static bool check_field(struct checking *c)
{
	uint16_t major = c->class->major;

	if (!legal_name(c->member.name, LEGAL_FIELD, major))
		return chk_wrong(c, "the field has no legal name");
	if (!c->member.descriptor.data || !legal_field_type(c->member.descriptor, major))
		return chk_wrong(c, "the field has no legal type");
	if (!field_flags(c, c->member.access))
		return chk_wrong(c, "the field's modifiers do not go together");
	return chk_attributes(c, c->member.attributes, AT_FIELD);
}

static bool check_method(struct checking *c)
{
	uint16_t major = c->class->major, access = c->member.access;
	bool is_static = access & CF_ACC_STATIC;
	size_t slots;

	if (!legal_name(c->member.name, LEGAL_METHOD, major))
		return chk_wrong(c, "the method has no legal name");
	if (!c->member.descriptor.data ||
	    !legal_method_types(c->member.name, c->member.descriptor, major, &slots))
		return chk_wrong(c, "the method has no legal type");
	if (!method_flags(c, access))
		return chk_wrong(c, "the method's modifiers do not go together");
	if (cf_text_is(c->member.name, "<clinit>")) {
		is_static = true; /* the other flags of <clinit> do not count (JVMS 4.6) */
		c->member.access = CF_ACC_STATIC;
	}
	slots += !is_static;
	if (slots > MAX_SLOTS)
		return chk_wrong(c, "the method has more than 255 parameters");
	if (cf_code(&c->member, &c->code) && slots > c->code.max_locals)
		return chk_wrong(c, "the method's parameters do not fit into its local variables");
	return chk_attributes(c, c->member.attributes, AT_METHOD);
}

/* Each member of a list, and whether one is there twice. */
static bool check_members(struct checking *c, struct cf_members list,
			  bool (*check)(struct checking *))
{
	uint64_t *keys = ag_alloc(c->pool->mem, (size_t)list.left + 1, sizeof(*keys));
	bool right = keys != NULL;
	size_t n = 0;

	if (!keys) {
		c->fault->memory = true;
		return chk_wrong(c, "there is no memory to check it");
	}
	for (const uint8_t *at = list.bytes.at; right && cf_next_member(&list, &c->member);
	     at = list.bytes.at) {
		right = check(c); /* then name and type are texts */
		if (right)
			keys[n++] = (uint64_t)c->same[cf_peek_u2(at + 2)] << 16 |
				    c->same[cf_peek_u2(at + 4)];
	}
	c->member = (struct cf_member){ 0 };
	if (right && chk_is_twice(keys, n))
		right = chk_wrong(c, check == check_field ? "it has a field twice"
							  : "it has a method twice");
	ag_free(c->pool->mem, keys);
	return right;
}

static bool check_interfaces(struct checking *c)
{
	size_t n = c->class->n_interfaces;
	uint64_t *keys;
	bool twice;

	for (size_t i = 0; i < n; i++) {
		struct cf_text name = cf_interface(c->class, (uint16_t)i);

		if (!name.data || name.data[0] == '[')
			return chk_wrong(c, "an interface that it implements is none");
	}
	keys = ag_alloc(c->pool->mem, n + 1, sizeof(*keys));
	if (!keys) {
		c->fault->memory = true;
		return chk_wrong(c, "there is no memory to check it");
	}
	for (size_t i = 0; i < n; i++) {
		const uint8_t *at = c->class->data + c->class->interfaces + i * 2;

		keys[i] = c->same[cf_peek_u2(cf_constant(c->pool, cf_peek_u2(at), CF_CLASS))];
	}
	twice = chk_is_twice(keys, n);
	ag_free(c->pool->mem, keys);
	return !twice || chk_wrong(c, "it implements an interface twice");
}

static bool check_names(struct checking *c)
{
	struct cf_text super = cf_super(c->class);
	bool is_object = cf_text_is(cf_name(c->class), "java/lang/Object");

	if (!chk_class_flags(c, c->class->access))
		return chk_wrong(c, "the class's modifiers do not go together");
	if (!chk_is_class(c, c->class->this_class) || cf_name(c->class).data[0] == '[')
		return chk_wrong(c, "the class has no name");
	if (c->class->super_class == 0 ? !is_object : !super.data || super.data[0] == '[')
		return chk_wrong(c, "the class has no superclass");
	if (is_object && c->class->n_interfaces > 0)
		return chk_wrong(c, "java.lang.Object implements an interface");
	if (c->class->access & CF_ACC_INTERFACE && super.data &&
	    !cf_text_is(super, "java/lang/Object"))
		return chk_wrong(c, "an interface has another superclass than java.lang.Object");
	return true;
}

bool cf_check(const struct cf_class *class, struct cf_fault *fault)
{
	struct checking c = {
		.class = class,
		.pool = &class->pool,
		.fault = fault,
		.last_bootstrap = -1,
	};
	bool right;

	*fault = (struct cf_fault){ .pc = UINT32_MAX };
	right = chk_pool(&c) && check_names(&c) && check_interfaces(&c) &&
		check_members(&c, cf_fields(class), check_field) &&
		check_members(&c, cf_methods(class), check_method) &&
		chk_attributes(&c, cf_class_attributes(class), AT_CLASS);
	ag_free(class->pool.mem, c.same);
	return right;
}
