/* How limits are told. */
#include "base/text.h"
#include "model/redefinition_limits.h"

#define TOLD_MAX 12 /* of one kind */

void limits_begin(struct limits *l)
{
	l->n_told = 0;
}

bool limits_are_full(const struct limits *l)
{
	return l->n_told >= TOLD_MAX;
}

void limits_say(struct limits *l, enum limit limit)
{
	if (!limits_are_full(l)) {
		text_printable(l->why, buf_str(&l->line), l->line.len);
		buf_addc(l->why, '\n');
	}
	l->n_told++;
	buf_reset(&l->line);
	if (!l->first)
		l->first = limit;
}

void limits_end(struct limits *l, const char *what)
{
	if (l->n_told > TOLD_MAX)
		buf_addf(l->why, "and %zu more %s\n", l->n_told - TOLD_MAX, what);
}

/* What each bit is called; those without a keyword by what javac calls them. */
static const struct {
	unsigned flag;
	const char *names[3]; /* enum limits_flags */
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
	unsigned gone = before & ~now, come = now & ~before;

	add_flags(line, of, gone, " is no longer ");
	if (gone && come)
		buf_adds(line, " and");
	add_flags(line, of, come, " is now ");
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
	      "cannot be replaced" },
	{ LIMIT_INVALID_FORMAT, "it is no valid class file" },
	{ 61, "it would be its own superclass or interface" },
	{ LIMIT_FAILS_VERIFICATION, "its bytecode does not pass the verifier" },
	{ LIMIT_METHOD_ADDED, "a method was added" },
	{ LIMIT_SCHEMA_CHANGED, "fields were added, removed, moved, or changed their type or "
				"modifiers" },
	{ LIMIT_HIERARCHY_CHANGED, "its superclass or its interfaces are others" },
	{ LIMIT_METHOD_DELETED, "a method was removed, or changed its parameters or result" },
	{ LIMIT_UNSUPPORTED_VERSION, "its class file version is too new for this JVM, or it uses "
				     "preview features" },
	{ LIMIT_NAMES_DONT_MATCH, "it is another class's, or its superclass or an interface "
				  "cannot be found" },
	{ LIMIT_CLASS_MODIFIERS_CHANGED, "the class's modifiers are others" },
	{ LIMIT_METHOD_MODIFIERS_CHANGED, "a method's modifiers are others" },
	{ LIMIT_CLASS_ATTRIBUTE_CHANGED, "its nest, record components or permitted subclasses are "
					 "others" },
	{ 79, "the JVM lets nobody change this class: arrays, hidden classes and some of the "
	      "JDK's own" },
	{ 99, "the JVM did not give the right to replace classes" },
	{ LIMIT_OUT_OF_MEMORY, "the JVM has no memory for it" },
	{ 112, "the JVM is ending" },
	{ LIMIT_INTERNAL, "the JVM failed at it: the constants of both classes may be more than "
			  "65,535 together, or the running class cannot be linked" },
};

const char *redefinition_error(int jvmti_error)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i].code == jvmti_error)
			return errors[i].words;
	}
	return "the JVM refused it with an error that it does not explain";
}
