/* Messages about the limits that a redefinition breaks, and about JVMTI errors of redefinitions. */
#include "base/printable.h"
#include "model/redefine/redefinition_limits.h"

#define LINES_MAX 12 /* maximum number of lines that are shown for a group of differences */

void limits_begin(struct limits *l)
{
	l->n_reported = 0;
}

bool limits_are_full(const struct limits *l)
{
	return l->n_reported >= LINES_MAX;
}

void limits_report(struct limits *l, enum limit limit)
{
	if (!limits_are_full(l)) {
		printable_add(l->why, buf_str(&l->line), l->line.len);
		buf_addc(l->why, '\n');
	}
	l->n_reported++;
	buf_reset(&l->line);
	if (!l->first)
		l->first = limit;
}

void limits_end(struct limits *l, const char *what)
{
	if (l->n_reported > LINES_MAX)
		buf_addf(l->why, "and %zu more %s\n", l->n_reported - LINES_MAX, what);
}

/* Names of modifier bits: the Java keyword or, for bits without a keyword, javac's term. */
static const struct {
	unsigned flag;
	/*
	 * name of the bit in a class, field or method (enum limits_flags); NULL: the bit is not a
	 * modifier there
	 */
	const char *names[3];
} flags[] = {
	{ CF_ACC_PUBLIC, { "public", "public", "public" } },
	{ CF_ACC_PRIVATE, { NULL, "private", "private" } },
	{ CF_ACC_PROTECTED, { NULL, "protected", "protected" } },
	{ CF_ACC_STATIC, { NULL, "static", "static" } },
	{ CF_ACC_FINAL, { "final", "final", "final" } },
	{ CF_ACC_SYNCHRONIZED, { "ACC_SUPER", NULL, "synchronized" } },
	{ CF_ACC_VOLATILE, { NULL, "volatile", "a bridge" } },
	{ CF_ACC_TRANSIENT, { NULL, "transient", "of variable arity (...)" } },
	{ CF_ACC_NATIVE, { NULL, NULL, "native" } },
	{ CF_ACC_INTERFACE, { "an interface", NULL, NULL } },
	{ CF_ACC_ABSTRACT, { "abstract", NULL, "abstract" } },
	{ CF_ACC_STRICT, { NULL, NULL, "strictfp" } },
	{ CF_ACC_SYNTHETIC, { "synthetic", "synthetic", "synthetic" } },
	{ CF_ACC_ANNOTATION, { "an annotation", NULL, NULL } },
	{ CF_ACC_ENUM, { "an enum", "an enum constant", NULL } },
};

static void add_flags(struct buf *line, enum limits_flags of, unsigned access, const char *intro)
{
	const char *between = intro;

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!(access & flags[i].flag) || !flags[i].names[of])
			continue;
		buf_addf(line, "%s%s", between, flags[i].names[of]);
		between = ", ";
	}
}

void limits_add_flags(struct buf *line, enum limits_flags of, unsigned before, unsigned now)
{
	unsigned removed = before & ~now, added = now & ~before;

	add_flags(line, of, removed, " is no longer ");
	if (removed && added)
		buf_adds(line, " and");
	add_flags(line, of, added, " is now ");
}

unsigned limits_synthetic(struct cf_attributes attributes)
{
	struct cf_attribute attribute;

	return cf_find_attribute(attributes, "Synthetic", &attribute) ? CF_ACC_SYNTHETIC : 0;
}

static const struct {
	int code;
	const char *words;
} errors[] = {
	{ 21, "its static initialiser failed, or a class that it needs is missing: such a class "
	      "cannot be redefined" },
	{ LIMIT_INVALID_FORMAT, "it is not a valid class file" },
	{ 61, "it would be its own superclass or interface" },
	{ LIMIT_FAILS_VERIFICATION, "its bytecode does not pass the verifier" },
	{ LIMIT_METHOD_ADDED, "a method was added" },
	{ LIMIT_SCHEMA_CHANGED, "fields were added, removed, moved, or changed their type or "
				"modifiers" },
	{ LIMIT_HIERARCHY_CHANGED, "its superclass or its interfaces changed" },
	{ LIMIT_METHOD_DELETED, "a method was removed, or changed its parameters or result" },
	{ LIMIT_UNSUPPORTED_VERSION, "its class file version is too new for this JVM, or it uses "
				     "preview features" },
	{ LIMIT_NAMES_DONT_MATCH, "it is a class of another name, or its superclass or an "
				  "interface cannot be found" },
	{ LIMIT_CLASS_MODIFIERS_CHANGED, "the modifiers of the class changed" },
	{ LIMIT_METHOD_MODIFIERS_CHANGED, "the modifiers of a method changed" },
	{ LIMIT_CLASS_ATTRIBUTE_CHANGED, "its nest, record components or permitted subclasses "
					 "changed" },
	{ 79, "the JVM cannot change this class: arrays, hidden classes and some JDK classes are "
	      "not modifiable" },
	{ 99, "the JVM did not grant the capability to redefine classes" },
	{ LIMIT_OUT_OF_MEMORY, "the JVM is out of memory" },
	{ 112, "the JVM is shutting down" },
	{ LIMIT_INTERNAL, "internal error of the JVM: the merged constant pool may exceed 65,535 "
			  "entries, or the running class cannot be linked" },
};

const char *redefinition_error(int jvmti_error)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i].code == jvmti_error)
			return errors[i].words;
	}
	return "unexpected JVMTI error";
}
