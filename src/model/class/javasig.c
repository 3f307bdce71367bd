#include "model/class/javasig.h"

#include <string.h>

#include "model/class/class_attributes.h"
#include "model/class/javasig_read.h"

static void cut(struct buf *out, size_t len)
{
	if (out->len == len)
		return;
	out->len = len;
	out->data[len] = '\0';
}

void javasig_type(struct buf *out, struct cf_text type)
{
	struct javasig_reader r = { .rest = type, .out = out };
	size_t start = out->len;

	if (javasig_read_type(&r) && r.rest.len == 0)
		return;
	cut(out, start);
	javasig_text(out, type);
}

void javasig_class_name(struct buf *out, struct cf_text name)
{
	if (name.len > 0 && name.data[0] == '[')
		javasig_type(out, name);
	else
		javasig_dotted(out, name);
}

/*
 * What a modifier can belong to: the bits of modifiers[].of.  The table has the modifiers in the
 * order in which javap prints them, then the modifiers that Java has no keyword for.
 */
enum {
	CLASS = 1, FIELD = 2, METHOD = 4, MEMBER = FIELD | METHOD, ANY = CLASS | MEMBER,
	HIDDEN = 8, /* javap shows this modifier only with -v, as a flag ACC_… */
};
static const struct {
	uint16_t bit;
	uint8_t of;
	const char *word;
} modifiers[] = {
	{ CF_ACC_PUBLIC, ANY, "public " },
	{ CF_ACC_PRIVATE, MEMBER, "private " },
	{ CF_ACC_PROTECTED, MEMBER, "protected " },
	{ CF_ACC_STATIC, MEMBER, "static " },
	{ CF_ACC_FINAL, ANY, "final " },
	{ CF_ACC_SYNCHRONIZED, METHOD, "synchronized " },
	{ CF_ACC_VOLATILE, FIELD, "volatile " },
	{ CF_ACC_TRANSIENT, FIELD, "transient " },
	{ CF_ACC_NATIVE, METHOD, "native " },
	{ CF_ACC_ABSTRACT, CLASS | METHOD, "abstract " },
	{ CF_ACC_STRICT, METHOD, "strictfp " },
	{ CF_ACC_SYNTHETIC, ANY | HIDDEN, "synthetic " },
	{ CF_ACC_VOLATILE, METHOD | HIDDEN, "bridge " },
	{ CF_ACC_TRANSIENT, METHOD | HIDDEN, "varargs " },
	{ CF_ACC_ENUM, FIELD | HIDDEN, "enum " },
};

static void add_modifiers(struct buf *out, unsigned access, uint8_t of)
{
	for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++) {
		if ((access & modifiers[i].bit) && (modifiers[i].of & of & ANY) &&
		    !(modifiers[i].of & HIDDEN & ~of))
			buf_adds(out, modifiers[i].word);
	}
}

void javasig_class_modifiers(struct buf *out, unsigned access, bool hidden)
{
	/* "abstract" is implicit in interfaces, so it is omitted. */
	add_modifiers(out, access & CF_ACC_INTERFACE ? access & ~(unsigned)CF_ACC_ABSTRACT : access,
		      hidden ? CLASS | HIDDEN : CLASS);
}

void javasig_member_modifiers(struct buf *out, const struct javasig_member *member)
{
	bool method = member->descriptor.len > 0 && member->descriptor.data[0] == '(';
	size_t start = out->len;

	add_modifiers(out, member->access, method ? METHOD | HIDDEN : FIELD | HIDDEN);
	if (out->len > start)
		cut(out, out->len - 1);
}

/*
 * Adds the modifiers of a member that apply to the kinds `of` (FIELD, METHOD).  Omits ACC_VARARGS
 * (the bit of ACC_TRANSIENT), because the parameter list of the method has "..." for it.
 */
static void add_member_modifiers(struct buf *out, const struct javasig_member *m, uint8_t of)
{
	unsigned shown = of & METHOD ? m->access & ~(unsigned)CF_ACC_TRANSIENT : m->access;

	add_modifiers(out, shown, m->hidden ? of | HIDDEN : of);
}

/* Returns the generic signature of a class or member; empty if there is none. */
static struct cf_text signature_of(struct cf_attributes attributes)
{
	return cf_utf8(attributes.pool, class_attribute_index(attributes, "Signature"));
}

struct javasig_member javasig_member(const struct cf_member *member)
{
	struct javasig_member m = {
		.access = member->access,
		.name = member->name,
		.descriptor = member->descriptor,
		.signature = signature_of(member->attributes),
		.pool = member->attributes.pool,
	};
	struct cf_attribute a;

	if (cf_find_attribute(member->attributes, "Synthetic", &a))
		/* Before Java 5, compilers wrote this attribute and did not set ACC_SYNTHETIC. */
		m.access |= CF_ACC_SYNTHETIC;
	if (cf_find_attribute(member->attributes, "Exceptions", &a) && a.len >= 2 &&
	    a.len == 2 + 2u * cf_peek_u2(a.data)) {
		m.n_throws = cf_peek_u2(a.data);
		m.throws = a.data + 2;
	}
	return m;
}

void javasig_field(struct buf *out, const struct javasig_member *field)
{
	struct javasig_reader r = { .rest = field->signature, .out = out };
	size_t start;

	add_member_modifiers(out, field, FIELD);
	start = out->len;
	if (!javasig_read_type(&r) || r.rest.len > 0) {
		cut(out, start);
		javasig_type(out, field->descriptor);
	}
	buf_addc(out, ' ');
	javasig_text(out, field->name);
}

/* Replaces the last "[]" of a parameter list by "...". */
static void mark_varargs(struct buf *arguments)
{
	for (size_t i = arguments->len; i-- > 1;) {
		if (memcmp(arguments->data + i - 1, "[]", 2) != 0)
			continue;
		buf_addc(arguments, ' ');
		memmove(arguments->data + i + 2, arguments->data + i + 1, arguments->len - i - 2);
		memcpy(arguments->data + i - 1, "...", 3);
		return;
	}
}

/*
 * Reads the exceptions of a signature, such as "^TE;^Ljava/io/IOException;", and adds " throws E,
 * java.io.IOException".
 */
static bool read_throws(struct javasig_reader *r)
{
	for (const char *between = " throws "; javasig_eat(r, '^'); between = ", ") {
		buf_adds(r->out, between);
		if (!javasig_read_type(r))
			return false;
	}
	return true;
}

static bool is_initializer(struct cf_text name)
{
	return cf_text_is(name, "<clinit>");
}

/* Adds result type, name and parameters; for a static initializer only "{}". */
static void add_head(struct buf *out, const struct javasig_member *m, struct cf_text class,
		     const struct buf *result, const struct buf *arguments)
{
	if (is_initializer(m->name)) {
		buf_adds(out, "{}");
		return;
	}
	if (cf_text_is(m->name, "<init>")) {
		javasig_dotted(out, class.data ? class : m->name);
	} else {
		buf_add(out, result->data, result->len);
		buf_addc(out, ' ');
		javasig_text(out, m->name);
	}
	buf_add(out, arguments->data, arguments->len);
}

/*
 * Adds the part of a method's declaration that follows the modifiers, except the exceptions, which
 * are added to `throws`.  Returns false if `signature` is malformed.
 */
static bool add_method(struct buf *out, const struct javasig_member *m, struct cf_text class,
		       struct cf_text signature, struct buf *throws)
{
	_cleanup_buf_ struct buf result = BUF_INIT, arguments = BUF_INIT;
	struct javasig_reader r = { .rest = signature, .out = out };

	if (!javasig_read_parameters(&r, " "))
		return false;
	r.out = &arguments;
	if (!javasig_read_arguments(&r))
		return false;
	r.out = &result;
	if (!javasig_read_type(&r))
		return false;
	r.out = throws;
	if (!read_throws(&r) || r.rest.len > 0)
		return false;
	if (m->access & CF_ACC_TRANSIENT) /* ACC_VARARGS and ACC_TRANSIENT are the same bit */
		mark_varargs(&arguments);
	add_head(out, m, class, &result, &arguments);
	return true;
}

/*
 * Adds the declared exceptions: those of the signature (`generic`) or, if it has none, those of the
 * Exceptions attribute.  If the method of a class file has no Exceptions attribute, ignores the
 * signature and adds nothing, as javap does.
 */
static void add_throws(struct buf *out, const struct javasig_member *m, const struct buf *generic)
{
	if (generic->len > 0 && (m->n_throws > 0 || !m->pool)) {
		buf_add(out, generic->data, generic->len);
		return;
	}
	for (uint16_t i = 0; i < m->n_throws; i++) {
		buf_adds(out, i == 0 ? " throws " : ", ");
		javasig_dotted(out, cf_class_name(m->pool, cf_peek_u2(m->throws + 2u * i)));
	}
}

static void add_declaration(struct buf *out, const struct javasig_member *m, struct cf_text class)
{
	_cleanup_buf_ struct buf throws = BUF_INIT;
	size_t start = out->len;

	if (m->signature.len == 0 || !add_method(out, m, class, m->signature, &throws)) {
		cut(out, start);
		cut(&throws, 0);
		if (!add_method(out, m, class, m->descriptor, &throws)) {
			cut(out, start);
			javasig_text(out, m->name);
			javasig_text(out, m->descriptor);
		}
	}
	add_throws(out, m, &throws);
}

void javasig_method(struct buf *out, const struct javasig_member *method, struct cf_text class,
		    bool interface)
{
	add_member_modifiers(out, method, METHOD);
	if (interface && !is_initializer(method->name) &&
	    !(method->access & (CF_ACC_ABSTRACT | CF_ACC_STATIC | CF_ACC_PRIVATE)))
		buf_adds(out, "default ");
	add_declaration(out, method, class);
}

void javasig_member_name(struct buf *out, struct cf_text name, struct cf_text descriptor)
{
	const struct javasig_member m = { .name = name, .descriptor = descriptor };

	if (is_initializer(name)) {
		buf_adds(out, "static {}");
	} else if (descriptor.len > 0 && descriptor.data[0] == '(') {
		add_declaration(out, &m, (struct cf_text){ NULL, 0 });
	} else {
		javasig_field(out, &m);
	}
}

/*
 * Adds type parameters, superclass and interfaces from a class's signature: "<T> extends p.D<T>
 * implements p.I<T>, p.K".  Returns false if the signature is malformed.
 */
static bool add_generic_ancestors(struct buf *out, struct cf_text signature, bool interface)
{
	_cleanup_buf_ struct buf discarded = BUF_INIT;
	struct javasig_reader r = { .rest = signature, .out = out };
	bool was_object;

	if (!javasig_read_parameters(&r, ""))
		return false;
	if (interface)
		r.out = &discarded; /* omit the superclass of an interface, which is Object */
	if (!javasig_read_unless_object(&r, " extends ", &was_object))
		return false;
	r.out = out;
	for (const char *between = interface ? " extends " : " implements "; r.rest.len > 0;
	     between = ", ") {
		buf_adds(out, between);
		if (!javasig_read_type(&r))
			return false;
	}
	return true;
}

static void add_ancestors(struct buf *out, const struct cf_class *class, bool interface)
{
	struct cf_text super = cf_super(class);

	if (!interface && super.data && !cf_text_is(super, "java/lang/Object")) {
		buf_adds(out, " extends ");
		javasig_dotted(out, super);
	}
	for (uint16_t i = 0; i < class->n_interfaces; i++) {
		buf_adds(out, i > 0 ? "," : interface ? " extends " : " implements ");
		javasig_dotted(out, cf_interface(class, i));
	}
}

void javasig_class(struct buf *out, const struct cf_class *class, bool synthetic)
{
	bool interface = class->access & CF_ACC_INTERFACE;
	struct cf_text signature = signature_of(cf_class_attributes(class));
	size_t start;

	javasig_class_modifiers(out, class->access, false);
	if (synthetic)
		buf_adds(out, "synthetic ");
	buf_adds(out, interface ? "interface " : "class ");
	javasig_dotted(out, cf_name(class));
	start = out->len;
	if (signature.len > 0 && add_generic_ancestors(out, signature, interface))
		return;
	cut(out, start);
	add_ancestors(out, class, interface);
}
