/*
 * Checks attributes (JVMS 4.7): for each attribute its location, its length and its indexes.
 */
#include "classfile/verify/check_internal.h"
#include "classfile/verify/names.h"

static uint16_t u2_at(const struct cf_attribute *a, size_t offset)
{
	return cf_peek_u2(a->data + offset);
}

/*
 * Returns true if the attribute consists of a u2 n and n elements of `size` bytes each.
 */
static bool is_table(const struct cf_attribute *a, size_t size)
{
	return a->len >= 2 && a->len == 2 + u2_at(a, 0) * size;
}

static bool check_text(struct check *c, const struct cf_attribute *a)
{
	return chk_is_utf8(c, u2_at(a, 0)) || chk_wrong(c, "an attribute does not refer to a text");
}

static bool check_class_index(struct check *c, const struct cf_attribute *a)
{
	return chk_is_class(c, u2_at(a, 0)) ||
	       chk_wrong(c, "an attribute does not refer to a class");
}

/* Checks Exceptions or NestMembers, which are lists of classes. */
static bool check_classes(struct check *c, const struct cf_attribute *a)
{
	if (!is_table(a, 2))
		return chk_wrong(c, "a class list has the wrong length");
	for (size_t at = 2; at < a->len; at += 2) {
		if (!chk_is_class(c, u2_at(a, at)))
			return chk_wrong(c, "a class list has an entry that is not a class");
	}
	return true;
}

static bool check_permitted(struct check *c, const struct cf_attribute *a)
{
	if (c->class->access & CF_ACC_FINAL)
		return chk_wrong(c, "a final class permits subclasses");
	return check_classes(c, a);
}

static bool check_enclosing(struct check *c, const struct cf_attribute *a)
{
	uint16_t method = u2_at(a, 2);

	if (method != 0 && cf_tag(c->pool, method) != CF_NAME_AND_TYPE)
		return chk_wrong(c, "EnclosingMethod does not refer to a method");
	return check_class_index(c, a);
}

/* Checks the ConstantValue of a static field; the JVM ignores that of other fields (JVMS 4.7.2). */
static bool check_constant_value(struct check *c, const struct cf_attribute *a)
{
	uint8_t tag = cf_tag(c->pool, u2_at(a, 0)), wanted;

	switch (c->member.descriptor.data[0]) {
	case 'J':
		wanted = CF_LONG;
		break;
	case 'F':
		wanted = CF_FLOAT;
		break;
	case 'D':
		wanted = CF_DOUBLE;
		break;
	case 'L':
		wanted = cf_text_is(c->member.descriptor, "Ljava/lang/String;") ? CF_STRING : 0;
		break;
	case '[':
		wanted = 0;
		break;
	default:
		wanted = CF_INTEGER;
	}
	return (wanted && tag == wanted) ||
	       chk_wrong(c, "ConstantValue does not match the field's type");
}

static bool check_parameters(struct check *c, const struct cf_attribute *a)
{
	return (a->len >= 1 && a->len == 1 + a->data[0] * 4u) ||
	       chk_wrong(c, "MethodParameters has the wrong length");
}

static bool check_inner_class(struct check *c, const uint8_t *at)
{
	const uint16_t known = 0x7631 | CF_ACC_PRIVATE | CF_ACC_PROTECTED | CF_ACC_STATIC;
	uint16_t inner = cf_peek_u2(at), outer = cf_peek_u2(at + 2), name = cf_peek_u2(at + 4);

	if (!chk_is_class(c, inner) || (outer != 0 && !chk_is_class(c, outer)) ||
	    (name != 0 && !chk_is_utf8(c, name)))
		return chk_wrong(c, "InnerClasses does not refer to classes and names");
	if (inner == outer || (outer != 0 && cf_class_name(c->pool, outer).data[0] == '['))
		return chk_wrong(c, "a class is nested in itself or in an array");
	return chk_class_flags(c, cf_peek_u2(at + 6) & (known | CF_ACC_MODULE)) ||
	       chk_wrong(c, "illegal combination of inner class modifiers");
}

static bool check_inner_classes(struct check *c, const struct cf_attribute *a)
{
	size_t n = a->len / 8;
	uint64_t *keys;
	bool duplicate;

	if (!is_table(a, 8))
		return chk_wrong(c, "InnerClasses has the wrong length");
	keys = ag_alloc(c->pool->mem, n + 1, sizeof(*keys));
	if (!keys)
		return chk_no_memory(c);
	for (size_t i = 0; i < n; i++)
		keys[i] = (uint64_t)cf_peek_u4(a->data + 2 + i * 8) << 32 |
			  cf_peek_u4(a->data + 2 + i * 8 + 4);
	duplicate = chk_has_duplicate(keys, n);
	ag_free(c->pool->mem, keys);
	if (duplicate && c->class->major >= JAVA_5)
		return chk_wrong(c, "InnerClasses has a duplicate entry");
	for (size_t i = 0; i < n; i++) {
		if (!check_inner_class(c, a->data + 2 + i * 8))
			return false;
	}
	return true;
}

static bool is_loadable(uint8_t tag)
{
	return (tag >= CF_INTEGER && tag <= CF_STRING) || tag == CF_METHOD_HANDLE ||
	       tag == CF_METHOD_TYPE || tag == CF_DYNAMIC;
}

static bool check_bootstraps(struct check *c, const struct cf_attribute *a)
{
	struct cf_bytes bytes = cf_bytes_init(a->data, a->len);
	uint16_t n = cf_u2(&bytes);

	if (c->last_bootstrap >= n)
		return chk_wrong(c, "a constant refers to a missing bootstrap method");
	c->last_bootstrap = -1; /* check_seen() need not report that BootstrapMethods is missing */
	for (; n > 0 && !bytes.failed; n--) {
		if (cf_tag(c->pool, cf_u2(&bytes)) != CF_METHOD_HANDLE)
			return chk_wrong(c, "a bootstrap method is not a MethodHandle constant");
		for (uint16_t left = cf_u2(&bytes); left > 0 && !bytes.failed; left--) {
			if (!is_loadable(cf_tag(c->pool, cf_u2(&bytes))))
				return chk_wrong(c, "a bootstrap argument is not loadable");
		}
	}
	return (!bytes.failed && cf_bytes_left(&bytes) == 0) ||
	       chk_wrong(c, "BootstrapMethods has the wrong length");
}

static bool check_component(struct check *c, struct cf_bytes *bytes)
{
	struct cf_text name = cf_utf8(c->pool, cf_u2(bytes));
	struct cf_text type = cf_utf8(c->pool, cf_u2(bytes));
	struct cf_attributes list = { .pool = c->pool, .bytes = *bytes };

	if (!names_valid(name, NAME_FIELD, c->class->major) ||
	    !names_valid_field_type(type, c->class->major))
		return chk_wrong(c, "a record component has an illegal name or type");
	list.left = cf_u2(&list.bytes);
	*bytes = list.bytes;
	for (uint16_t left = list.left; left > 0 && !bytes->failed; left--) {
		(void)cf_u2(bytes);
		(void)cf_take(bytes, cf_u4(bytes));
	}
	if (bytes->failed)
		return chk_wrong(c, "a record component ends too early");
	return chk_attributes(c, list, AT_COMPONENT);
}

static bool check_record(struct check *c, const struct cf_attribute *a)
{
	struct cf_bytes bytes = cf_bytes_init(a->data, a->len);

	for (uint16_t n = cf_u2(&bytes); n > 0; n--) {
		if (!check_component(c, &bytes))
			return false;
	}
	return (!bytes.failed && cf_bytes_left(&bytes) == 0) ||
	       chk_wrong(c, "Record has the wrong length");
}

static bool check_lines(struct check *c, const struct cf_attribute *a)
{
	if (!is_table(a, 4))
		return chk_wrong(c, "LineNumberTable has the wrong length");
	for (size_t at = 2; at < a->len; at += 4) {
		if (u2_at(a, at) >= c->code.len)
			return chk_wrong(c, "LineNumberTable has a pc after the end of the code");
	}
	return true;
}

/* Checks LocalVariableTable or LocalVariableTypeTable, but not the latter's signatures. */
static bool check_variables(struct check *c, const struct cf_attribute *a)
{
	bool typed = cf_text_is(a->name, "LocalVariableTable");
	struct cf_text type;

	if (!is_table(a, 10))
		return chk_wrong(c, "a local variable table has the wrong length");
	for (size_t at = 2; at < a->len; at += 10) {
		uint32_t start = u2_at(a, at), index = u2_at(a, at + 8);

		type = cf_utf8(c->pool, u2_at(a, at + 6));
		if (start >= c->code.len || start + u2_at(a, at + 2) > c->code.len)
			return chk_wrong(c, "a local variable's range is not within the code");
		if (!names_valid(cf_utf8(c->pool, u2_at(a, at + 4)), NAME_FIELD, c->class->major) ||
		    !type.data || (typed && !names_valid_field_type(type, c->class->major)))
			return chk_wrong(c, "a local variable has an illegal name or type");
		index += typed && (type.data[0] == 'J' || type.data[0] == 'D');
		if (index >= c->code.max_locals)
			return chk_wrong(c, "a local variable's index is not below max_locals");
	}
	return true;
}

/*
 * Returns the number of variables in all attributes with the name `table`.  Unless `keys` is NULL,
 * packs start, length, name and index of each variable into an element of `keys`.
 */
static size_t variable_keys(const struct check *c, const char *table, uint64_t *keys)
{
	struct cf_attributes list = c->code.attributes;
	struct cf_attribute a;
	size_t n = 0;

	while (cf_next_attribute(&list, &a)) {
		if (!cf_text_is(a.name, table))
			continue;
		for (size_t at = 2; at < a.len; at += 10, n++) {
			if (keys)
				keys[n] = (uint64_t)cf_peek_u4(a.data + at) << 32 |
					  (uint32_t)u2_at(&a, at + 4) << 16 | u2_at(&a, at + 8);
		}
	}
	return n;
}

/* Returns true if `list` contains each element of `subset`.  Both must be sorted. */
static bool contains(const uint64_t *list, size_t n, const uint64_t *subset, size_t n_subset)
{
	size_t at = 0;

	for (size_t i = 0; i < n_subset; i++) {
		while (at < n && list[at] < subset[i])
			at++;
		if (at == n || list[at] != subset[i])
			return false;
	}
	return true;
}

/*
 * Checks that LocalVariableTable has no variable twice, that LocalVariableTypeTable has no variable
 * twice, and that each variable of LocalVariableTypeTable is also in LocalVariableTable.
 */
static bool check_all_variables(struct check *c)
{
	size_t n = variable_keys(c, "LocalVariableTable", NULL);
	size_t n_typed = variable_keys(c, "LocalVariableTypeTable", NULL);
	uint64_t *keys, *typed;
	bool valid;

	if (n == 0 || c->class->major < JAVA_5)
		return true;
	keys = ag_alloc(c->pool->mem, n + n_typed, sizeof(*keys));
	if (!keys)
		return chk_no_memory(c);
	typed = keys + n;
	(void)variable_keys(c, "LocalVariableTable", keys);
	(void)variable_keys(c, "LocalVariableTypeTable", typed);
	valid = !chk_has_duplicate(keys, n) && !chk_has_duplicate(typed, n_typed) &&
		contains(keys, n, typed, n_typed);
	ag_free(c->pool->mem, keys);
	return valid || chk_wrong(c, "the local variable tables are inconsistent");
}

static bool check_handlers(struct check *c)
{
	for (uint16_t i = 0; i < c->code.n_handlers; i++) {
		struct cf_handler h = cf_handler(&c->code, i);

		if (h.start >= h.end || h.end > c->code.len)
			return chk_wrong(c, "an exception handler's range is not within the code");
		if (h.handler >= c->code.len)
			return chk_wrong(c, "an exception handler is not within the code");
		if (h.type != 0 && !chk_is_class(c, h.type))
			return chk_wrong(c, "an exception handler's type is not a class");
	}
	return true;
}

static bool check_code(struct check *c, const struct cf_attribute *a)
{
	(void)a; /* c->code has the content of this attribute */
	if (c->member.access & (CF_ACC_NATIVE | CF_ACC_ABSTRACT))
		return chk_wrong(c, "a native or abstract method has code");
	if (c->code.len == 0 || c->code.len > UINT16_MAX)
		return chk_wrong(c, "the code is empty or longer than 65535 bytes");
	return check_handlers(c) && chk_attributes(c, c->code.attributes, AT_CODE) &&
	       check_all_variables(c);
}

#define AT_ALL (AT_CLASS | AT_FIELD | AT_METHOD)
#define AT_ANY (AT_ALL | AT_COMPONENT)

static const struct rule {
	const char *name;
	/* locations: set of enum attribute_location; since: lowest major version with the rule */
	uint8_t locations, since;
	bool once;
	int8_t len; /* required length; -1: any */
	bool (*check)(struct check *c, const struct cf_attribute *a);
} rules[] = {
	{ "AnnotationDefault", AT_METHOD, JAVA_5, true, -1, NULL },
	{ "BootstrapMethods", AT_CLASS, JAVA_7, true, -1, check_bootstraps },
	{ "Code", AT_METHOD, 0, true, -1, check_code },
	{ "ConstantValue", AT_FIELD, 0, true, 2, check_constant_value },
	{ "Deprecated", AT_ALL, 0, false, 0, NULL },
	{ "EnclosingMethod", AT_CLASS, JAVA_5, true, 4, check_enclosing },
	{ "Exceptions", AT_METHOD, 0, true, -1, check_classes },
	{ "InnerClasses", AT_CLASS, 0, true, -1, check_inner_classes },
	{ "LineNumberTable", AT_CODE, 0, false, -1, check_lines },
	{ "LocalVariableTable", AT_CODE, 0, false, -1, check_variables },
	{ "LocalVariableTypeTable", AT_CODE, JAVA_5, false, -1, check_variables },
	{ "MethodParameters", AT_METHOD, 0, true, -1, check_parameters },
	{ "NestHost", AT_CLASS, JAVA_11, true, 2, check_class_index },
	{ "NestMembers", AT_CLASS, JAVA_11, true, -1, check_classes },
	{ "PermittedSubclasses", AT_CLASS, JAVA_17, true, -1, check_permitted },
	{ "Record", AT_CLASS, JAVA_16, true, -1, check_record },
	{ "RuntimeInvisibleAnnotations", AT_ANY, JAVA_5, true, -1, NULL },
	{ "RuntimeInvisibleParameterAnnotations", AT_METHOD, JAVA_5, true, -1, NULL },
	{ "RuntimeInvisibleTypeAnnotations", AT_ANY, JAVA_5, true, -1, NULL },
	{ "RuntimeVisibleAnnotations", AT_ANY, JAVA_5, true, -1, NULL },
	{ "RuntimeVisibleParameterAnnotations", AT_METHOD, JAVA_5, true, -1, NULL },
	{ "RuntimeVisibleTypeAnnotations", AT_ANY, JAVA_5, true, -1, NULL },
	{ "Signature", AT_ANY, JAVA_5, true, 2, check_text },
	{ "SourceDebugExtension", AT_CLASS, 0, true, -1, NULL },
	{ "SourceFile", AT_CLASS, 0, true, 2, check_text },
	{ "StackMapTable", AT_CODE, JAVA_6, true, -1, NULL },
	{ "Synthetic", AT_ALL, 0, false, 0, NULL },
};
#define N_RULES (sizeof(rules) / sizeof(rules[0]))

/*
 * Returns the index in `rules` of the rule for the attribute `name` at the location `at`; N_RULES
 * if there is no rule, so that the attribute is not checked.
 */
static size_t find_rule(const struct check *c, struct cf_text name, enum attribute_location at)
{
	size_t i = 0;

	while (i < N_RULES && !(rules[i].locations & at && rules[i].since <= c->class->major &&
				cf_text_is(name, rules[i].name)))
		i++;
	if (i < N_RULES && rules[i].check == check_constant_value &&
	    !(c->member.access & CF_ACC_STATIC))
		return N_RULES;
	return i;
}

/*
 * Checks that required attributes are present, and mutually exclusive ones are not both present.
 * Bit i of `seen` is set if the attribute of rules[i] was found.
 */
static bool check_seen(struct check *c, uint32_t seen, enum attribute_location at)
{
	struct cf_attribute a;

	if (at == AT_CLASS && c->last_bootstrap >= 0)
		return chk_wrong(c, "BootstrapMethods is missing");
	if (at == AT_CLASS && cf_find_attribute(cf_class_attributes(c->class), "NestHost", &a) &&
	    cf_find_attribute(cf_class_attributes(c->class), "NestMembers", &a) &&
	    c->class->major >= JAVA_11)
		return chk_wrong(c, "it has both NestHost and NestMembers");
	if (at == AT_METHOD && !(c->member.access & (CF_ACC_NATIVE | CF_ACC_ABSTRACT)) &&
	    !(seen & 1u << find_rule(c, (struct cf_text){ "Code", 4 }, AT_METHOD)))
		return chk_wrong(c, "the method has no code");
	return true;
}

bool chk_attributes(struct check *c, struct cf_attributes list, enum attribute_location at)
{
	struct cf_attribute a;
	uint32_t seen = 0;

	while (cf_next_attribute(&list, &a)) {
		size_t i = find_rule(c, a.name, at);

		if (!a.name.data)
			return chk_wrong(c, "an attribute has no name");
		if (i == N_RULES)
			continue;
		if (rules[i].once && seen & 1u << i)
			return chk_wrong(c, "an attribute that is allowed once occurs twice");
		if (rules[i].len >= 0 && a.len != (uint32_t)rules[i].len)
			return chk_wrong(c, "a fixed-length attribute has the wrong length");
		seen |= 1u << i;
		if (rules[i].check && !rules[i].check(c, &a))
			return false;
	}
	return check_seen(c, seen, at);
}
