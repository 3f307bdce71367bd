/*
 * Checks the format of a class (JVMS 4.8).  The rules are those that HotSpot applies to application
 * classes of the class's version (classFileParser.cpp); HotSpot checks boot classes less strictly.
 */
#include "classfile/verify/check_internal.h"
#include "classfile/verify/names.h"

#define MAX_SLOTS 255 /* limit for the slots of the parameters and `this` (JVMS 4.3.3) */

static bool check_field(struct check *c)
{
	uint16_t major = c->class->major;

	if (!names_valid(c->member.name, NAME_FIELD, major))
		return chk_wrong(c, "illegal field name");
	if (!c->member.descriptor.data || !names_valid_field_type(c->member.descriptor, major))
		return chk_wrong(c, "illegal field descriptor");
	if (!chk_field_flags(c, c->member.access))
		return chk_wrong(c, "illegal combination of field modifiers");
	return chk_attributes(c, c->member.attributes, AT_FIELD);
}

static bool check_method(struct check *c)
{
	uint16_t major = c->class->major, access = c->member.access;
	bool is_static = access & CF_ACC_STATIC;
	size_t slots;

	if (!names_valid(c->member.name, NAME_METHOD, major))
		return chk_wrong(c, "illegal method name");
	if (!c->member.descriptor.data ||
	    !names_valid_method_types(c->member.name, c->member.descriptor, major, &slots))
		return chk_wrong(c, "illegal method descriptor");
	if (!chk_method_flags(c, access))
		return chk_wrong(c, "illegal combination of method modifiers");
	if (cf_text_is(c->member.name, "<clinit>")) {
		is_static = true; /* the JVM ignores all other flags of <clinit> (JVMS 4.6) */
		c->member.access = CF_ACC_STATIC;
	}
	slots += !is_static;
	if (slots > MAX_SLOTS)
		return chk_wrong(c, "the parameters take more than 255 slots");
	if (cf_code(&c->member, &c->code) && slots > c->code.max_locals)
		return chk_wrong(c, "the method's parameters do not fit into its local variables");
	return chk_attributes(c, c->member.attributes, AT_METHOD);
}

/* Calls check() for each member, and checks that no two have the same name and descriptor. */
static bool check_members(struct check *c, struct cf_members list, bool (*check)(struct check *))
{
	uint64_t *keys = ag_alloc(c->pool->mem, (size_t)list.left + 1, sizeof(*keys));
	bool valid = keys != NULL;
	size_t n = 0;

	if (!keys)
		return chk_no_memory(c);
	for (const uint8_t *at = list.bytes.at; valid && cf_next_member(&list, &c->member);
	     at = list.bytes.at) {
		/*
		 * If check() succeeds, the name and the descriptor are Utf8 constants, so
		 * c->first has an element for both.
		 */
		valid = check(c);
		if (valid)
			keys[n++] = (uint64_t)c->first[cf_peek_u2(at + 2)] << 16 |
				    c->first[cf_peek_u2(at + 4)];
	}
	c->member = (struct cf_member){ 0 };
	if (valid && chk_has_duplicate(keys, n))
		valid = chk_wrong(c, check == check_field ? "it has a duplicate field"
							  : "it has a duplicate method");
	ag_free(c->pool->mem, keys);
	return valid;
}

static bool check_interfaces(struct check *c)
{
	size_t n = c->class->n_interfaces;
	uint64_t *keys;
	bool duplicate;

	for (size_t i = 0; i < n; i++) {
		struct cf_text name = cf_interface(c->class, (uint16_t)i);

		if (!name.data || name.data[0] == '[')
			return chk_wrong(c, "illegal interface name");
	}
	keys = ag_alloc(c->pool->mem, n + 1, sizeof(*keys));
	if (!keys)
		return chk_no_memory(c);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *at = c->class->data + c->class->interfaces + i * 2;

		keys[i] = c->first[cf_peek_u2(cf_constant(c->pool, cf_peek_u2(at), CF_CLASS))];
	}
	duplicate = chk_has_duplicate(keys, n);
	ag_free(c->pool->mem, keys);
	return !duplicate || chk_wrong(c, "it implements an interface twice");
}

static bool check_names(struct check *c)
{
	struct cf_text super = cf_super(c->class);
	bool is_object = cf_text_is(cf_name(c->class), "java/lang/Object");

	if (!chk_class_flags(c, c->class->access))
		return chk_wrong(c, "illegal combination of class modifiers");
	if (!chk_is_class(c, c->class->this_class) || cf_name(c->class).data[0] == '[')
		return chk_wrong(c, "illegal class name");
	if (c->class->super_class == 0 ? !is_object : !super.data || super.data[0] == '[')
		return chk_wrong(c, "the class has no valid superclass");
	if (is_object && c->class->n_interfaces > 0)
		return chk_wrong(c, "java.lang.Object implements an interface");
	if (c->class->access & CF_ACC_INTERFACE && super.data &&
	    !cf_text_is(super, "java/lang/Object"))
		return chk_wrong(c, "an interface's superclass is not java.lang.Object");
	return true;
}

bool cf_check(const struct cf_class *class, struct cf_fault *fault)
{
	struct check c = {
		.class = class,
		.pool = &class->pool,
		.fault = fault,
		.last_bootstrap = -1,
	};
	bool valid;

	*fault = (struct cf_fault){ .pc = UINT32_MAX };
	valid = chk_pool(&c) && check_names(&c) && check_interfaces(&c) &&
		check_members(&c, cf_fields(class), check_field) &&
		check_members(&c, cf_methods(class), check_method) &&
		chk_attributes(&c, cf_class_attributes(class), AT_CLASS);
	ag_free(class->pool.mem, c.first);
	return valid;
}
