/* Checks the combinations of access flags that each class file version permits. */
#include "classfile/verify/check_internal.h"

#define ANY_OF(access, flags) (((access) & (flags)) != 0)

bool chk_class_flags(const struct check *c, uint16_t access)
{
	bool is_interface = access & CF_ACC_INTERFACE;
	uint16_t major = c->class->major;

	if (is_interface && major < JAVA_6)
		access |= CF_ACC_ABSTRACT; /* old compilers omit this flag */
	if (major >= JAVA_9 && access & CF_ACC_MODULE)
		return false;
	if (ANY_OF(access, CF_ACC_ABSTRACT) ? ANY_OF(access, CF_ACC_FINAL) : is_interface)
		return false;
	if (major < JAVA_5)
		return true;
	/* In the flags of a class, the bit of CF_ACC_SYNCHRONIZED means ACC_SUPER. */
	return is_interface ? !ANY_OF(access, CF_ACC_SYNCHRONIZED | CF_ACC_ENUM)
			    : !ANY_OF(access, CF_ACC_ANNOTATION);
}

static bool one_visibility(uint16_t access)
{
	uint16_t seen = access & (CF_ACC_PUBLIC | CF_ACC_PRIVATE | CF_ACC_PROTECTED);

	return (seen & (seen - 1)) == 0;
}

/* Returns true if a field may have these flags (JVMS 4.5). */
bool chk_field_flags(const struct check *c, uint16_t access)
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

/*
 * Returns the flag ACC_STRICT (strictfp), which an abstract method cannot have; but 0 for class
 * files of Java 17 and later, in which the JVM ignores the flag (JEP 306).
 */
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

/* Returns true if a method may have these flags (JVMS 4.6). */
bool chk_method_flags(const struct check *c, uint16_t access)
{
	uint16_t major = c->class->major, never = 0;
	bool is_interface = c->class->access & CF_ACC_INTERFACE;

	if (cf_text_is(c->member.name, "<clinit>"))
		return major < JAVA_7 || access & CF_ACC_STATIC;
	if (cf_text_is(c->member.name, "<init>")) {
		never = CF_ACC_STATIC | CF_ACC_FINAL | CF_ACC_SYNCHRONIZED | CF_ACC_NATIVE |
			CF_ACC_ABSTRACT;
		if (major >= JAVA_5)
			never |= CF_ACC_VOLATILE; /* the bit of ACC_BRIDGE */
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
