/*
 * Verification types, and which type is assignable to which.  HotSpot's verifier treats interfaces
 * as java.lang.Object.  This verifier loads no class, so usually it does not know whether one class
 * extends another, nor whether a name is that of an interface.  In doubt it assumes that a type is
 * assignable.
 */
#include "classfile/verify/verify_internal.h"

#include <string.h>

/*
 * Class names that the verifier uses although the class file need not contain them.  A type with
 * such a name has vtype.at >= KNOWN_BASE; for all other names, vtype.at is the name's position in
 * the class file.
 */
static const char known[] = "java/lang/Object\0java/lang/Throwable\0java/lang/String\0"
			    "java/lang/Class\0java/lang/invoke/MethodHandle\0"
			    "java/lang/invoke/MethodType\0java/lang/Cloneable\0"
			    "java/io/Serializable";
#define KNOWN_BASE (UINT32_MAX - (uint32_t)sizeof(known))

static struct cf_text vt_name(const struct verifier *v, struct vtype t)
{
	if (t.kind != V_OBJECT || t.len == 0)
		return (struct cf_text){ NULL, 0 };
	if (t.at >= KNOWN_BASE)
		return (struct cf_text){ known + (t.at - KNOWN_BASE), t.len };
	return (struct cf_text){ (const char *)v->class->data + t.at, t.len };
}

struct vtype vt_kind(enum vkind kind)
{
	return (struct vtype){ .kind = (uint8_t)kind };
}

struct vtype vt_known(const char *name)
{
	uint32_t at = 0;

	while (strcmp(known + at, name) != 0)
		at += (uint32_t)strlen(known + at) + 1;
	return (struct vtype){ KNOWN_BASE + at, (uint16_t)strlen(name), 0, V_OBJECT };
}

/*
 * Returns the kind of the primitive type with this letter in descriptors.  Other letters do not
 * occur, because the descriptors have been checked.
 */
static enum vkind kind_of(char letter)
{
	switch (letter) {
	case 'F':
		return V_FLOAT;
	case 'J':
		return V_LONG;
	case 'D':
		return V_DOUBLE;
	case 'V':
		return V_TOP;
	default:
		return V_INT;
	}
}

static struct vtype named(const struct verifier *v, struct cf_text name, uint8_t dims)
{
	uint32_t at = (uint32_t)((const uint8_t *)name.data - v->class->data);

	return (struct vtype){ at, (uint16_t)name.len, dims, V_OBJECT };
}

struct vtype vt_field(const struct verifier *v, const struct cf_type *type)
{
	if (type->kind != 'L')
		return vt_kind(kind_of(type->kind));
	if (type->element_kind == 'L')
		return named(v, type->element, type->dimensions);
	return (struct vtype){ (uint8_t)type->element_kind, 0, type->dimensions, V_PRIMS };
}

struct vtype vt_class(const struct verifier *v, struct cf_text name)
{
	struct cf_type type;

	if (name.len > 0 && name.data[0] == '[' && cf_type_next(&name, &type))
		return vt_field(v, &type);
	return named(v, name, 0);
}

bool vt_is_wide(struct vtype type)
{
	return type.kind == V_LONG || type.kind == V_DOUBLE;
}

bool vt_is_second(struct vtype type)
{
	return type.kind == V_LONG_2 || type.kind == V_DOUBLE_2;
}

bool vt_is_reference(struct vtype type)
{
	return type.kind == V_NULL || type.kind == V_OBJECT || type.kind == V_PRIMS;
}

struct vtype vt_second(struct vtype first)
{
	return vt_kind(first.kind == V_LONG ? V_LONG_2 : V_DOUBLE_2);
}

static bool same_class(const struct verifier *v, struct vtype a, struct vtype b)
{
	return (a.at == b.at && a.len == b.len) ||
	       (a.len == b.len && cf_text_same(vt_name(v, a), vt_name(v, b)));
}

bool vt_same(const struct verifier *v, struct vtype a, struct vtype b)
{
	if (a.kind != b.kind || a.dims != b.dims)
		return false;
	return a.kind == V_OBJECT ? same_class(v, a, b) : a.at == b.at;
}

static bool is_named(const struct verifier *v, struct vtype t, const char *name)
{
	return cf_text_is(vt_name(v, t), name);
}

static bool is_object(const struct verifier *v, struct vtype t)
{
	return is_named(v, t, "java/lang/Object");
}

/* Returns true if `t` is one of the interfaces that every array implements (JVMS 4.10.1.2). */
static bool is_array_interface(const struct verifier *v, struct vtype t)
{
	return is_named(v, t, "java/lang/Cloneable") || is_named(v, t, "java/io/Serializable");
}

/*
 * Returns true if the class is known to be final: a few frequent JDK classes, and the verified
 * class itself if it has the flag.
 */
static bool is_final(const struct verifier *v, struct vtype t)
{
	return is_named(v, t, "java/lang/String") || is_named(v, t, "java/lang/Class") ||
	       is_named(v, t, "java/lang/invoke/MethodType") ||
	       (v->class->access & CF_ACC_FINAL && same_class(v, t, v->this_type));
}

/* Returns true if the type is known to be a class, not an interface and not Object. */
static bool is_proper_class(const struct verifier *v, struct vtype t)
{
	if (is_final(v, t) || is_named(v, t, "java/lang/Throwable"))
		return true;
	return !(v->class->access & CF_ACC_INTERFACE) &&
	       (same_class(v, t, v->this_type) ||
		(same_class(v, t, v->super_type) && !is_object(v, t)));
}

/* Returns true if the class is known to have no superclass other than Object. */
static bool extends_object(const struct verifier *v, struct vtype t)
{
	if (same_class(v, t, v->this_type))
		return is_object(v, v->super_type);
	return is_object(v, t) || is_named(v, t, "java/lang/Throwable") || is_final(v, t);
}

/*
 * Returns true if `from` is certainly not assignable to `to`.  The two types must have different
 * names.
 */
static bool are_unrelated(const struct verifier *v, struct vtype from, struct vtype to)
{
	if (from.len == 0 || to.len == 0)
		return false;
	if (same_class(v, from, v->super_type) && same_class(v, to, v->this_type))
		return is_proper_class(v, to);
	return is_final(v, to) || (extends_object(v, from) && is_proper_class(v, to));
}

/*
 * Returns true if HotSpot may treat `t` as Object, to which arrays can be assigned.  HotSpot does
 * so if `t` is an interface and the class is verified by inference (file versions up to 50).
 */
static bool may_be_interface(const struct verifier *v, struct vtype t)
{
	return v->infer && v->class->major <= JAVA_6 && !is_proper_class(v, t);
}

/* Like vt_assignable(), but only for two reference types (vt_is_reference()). */
static bool reference_assignable(const struct verifier *v, struct vtype from, struct vtype to)
{
	if (from.kind == V_NULL)
		return true;
	if (to.kind != V_OBJECT || from.dims < to.dims)
		/* `to` is an array of primitives and not equal to `from`, or has more dimensions */
		return false;
	if (is_object(v, to))
		return from.dims > to.dims || from.kind == V_OBJECT;
	if (from.dims > to.dims)
		return to.len == 0 || is_array_interface(v, to) || may_be_interface(v, to);
	return from.kind == V_OBJECT && (same_class(v, from, to) || !are_unrelated(v, from, to));
}

bool vt_assignable(const struct verifier *v, struct vtype from, struct vtype to)
{
	if (to.kind == V_TOP || to.kind == V_ANY || from.kind == V_ANY || vt_same(v, from, to))
		return true;
	return vt_is_reference(from) && vt_is_reference(to) && to.kind != V_NULL &&
	       reference_assignable(v, from, to);
}

/* Returns Object or an array of Object: the common type if nothing more specific is known. */
static struct vtype objects(uint8_t dims)
{
	struct vtype t = vt_known("java/lang/Object");

	t.dims = dims;
	return t;
}

static struct vtype merge_references(const struct verifier *v, struct vtype a, struct vtype b)
{
	if (a.kind == V_NULL)
		return b;
	if (b.kind == V_NULL)
		return a;
	if (a.dims > b.dims) {
		struct vtype swap = a;

		a = b;
		b = swap;
	}
	if (a.kind == V_PRIMS)
		return objects((uint8_t)(a.dims - 1));
	if (a.dims < b.dims)
		return is_array_interface(v, a) ? a : objects(a.dims);
	if (b.kind == V_PRIMS)
		return objects((uint8_t)(b.dims - 1));
	if (is_object(v, a) || is_object(v, b))
		return objects(a.dims);
	return (struct vtype){ .dims = a.dims, .kind = V_OBJECT };
}

struct vtype vt_merge(const struct verifier *v, struct vtype a, struct vtype b)
{
	if (vt_same(v, a, b))
		return a;
	/* A variable that a subroutine does not use may have a different type for each caller. */
	if (v->lenient)
		return vt_kind(V_ANY);
	if (vt_is_reference(a) && vt_is_reference(b))
		return merge_references(v, a, b);
	return vt_kind(V_TOP);
}
