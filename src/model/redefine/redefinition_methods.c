/* Methods: which came, which went, which have other modifiers. */
#include "model/javasig.h"
#include "model/redefinition_limits.h"
#include "model/redefinition_members.h"

/*
 * JVM_RECOGNIZED_METHOD_MODIFIERS; of a static initialiser only what ClassFileParser::parse_method
 * keeps.  Native may come and go.
 */
static unsigned method_access(const struct cf_class *class, const struct cf_member *method)
{
	const unsigned recognized = 0x1dff & ~CF_ACC_NATIVE;
	unsigned access = method->access & recognized;

	if (cf_text_is(method->name, "<clinit>")) {
		access &= CF_ACC_STATIC | (class->major <= 60 ? CF_ACC_STRICT : 0);
		if (class->major < 51)
			access = CF_ACC_STATIC;
	}
	return access | limits_synthetic(method->attributes);
}

/*
 * can_add_or_delete(): up to JDK 12 the JVM took private methods that nothing can override;
 * JDK 13 made that a flag, which is off (JDK-8192936).
 */
static bool is_addable(const struct member *method)
{
	return (method->access & CF_ACC_PRIVATE) &&
	       (method->access & (CF_ACC_STATIC | CF_ACC_FINAL));
}

static bool adding_is_on(const struct limits *l)
{
	return l->jvm->release < 13 || l->jvm->may_add_delete;
}

static void add_method_rule(struct limits *l, const struct member *method)
{
	if (adding_is_on(l))
		buf_adds(&l->line, "; only private static and private final ones may come and go");
	else
		buf_addf(&l->line, "; JDK %u lets no method come or go%s", l->jvm->release,
			 is_addable(method) ? ", not even a private one, unless started with "
					      "-XX:+AllowRedefinitionToAddDeleteMethods" :
					      "");
}

static void add_method(struct buf *line, const struct member *method)
{
	if (cf_text_is(method->cf.name, "<clinit>"))
		buf_adds(line, "the static initialiser");
	else if (cf_text_is(method->cf.name, "<init>"))
		members_add(line, "constructor", method);
	else
		members_add(line, "method", method);
}

static void say_deleted(struct limits *l, const struct member *before, const struct members *new)
{
	struct member *now = limits_are_full(l) ? NULL : members_find_name(new, before->cf.name);

	add_method(&l->line, before);
	if (now) {
		now->told = true;
		buf_adds(&l->line, " became ");
		javasig_member_name(&l->line, now->cf.name, now->cf.descriptor);
		buf_adds(&l->line, ": parameters and result must stay");
	} else {
		buf_adds(&l->line, " was removed");
		members_add_made(&l->line, before);
		add_method_rule(l, before);
	}
	limits_say(l, LIMIT_METHOD_DELETED);
}

static void say_matched(struct limits *l, const struct member *before, const struct member *now)
{
	if (before->access == now->access)
		return;
	add_method(&l->line, before);
	limits_add_flags(&l->line, FLAGS_METHOD, before->access, now->access);
	limits_say(l, LIMIT_METHOD_MODIFIERS_CHANGED);
}

static void say_added(struct limits *l, const struct member *method)
{
	add_method(&l->line, method);
	buf_adds(&l->line, " was added");
	members_add_made(&l->line, method);
	add_method_rule(l, method);
	limits_say(l, LIMIT_METHOD_ADDED);
}

/*
 * The JVM goes through both lists in the order of its symbols' addresses: a captured class file
 * lists its methods so, and that is the order here, but at which place a new name would come
 * cannot be known.  When methods come and go at once, its error may be either's.
 */
void limits_methods(struct limits *l)
{
	_cleanup_members_ struct members running =
		members_read(cf_methods(l->running), method_access, l->running);
	_cleanup_members_ struct members new =
		members_read(cf_methods(l->new), method_access, l->new);

	limits_begin(l);
	members_match(&running, &new);
	for (size_t i = 0; i < running.n; i++) {
		const struct member *before = &running.all[i];

		if (before->told)
			say_matched(l, before, members_find(&new, before));
		else if (!adding_is_on(l) || !is_addable(before))
			say_deleted(l, before, &new);
	}
	for (size_t i = 0; i < new.n; i++) {
		const struct member *now = &new.all[i];

		if (!now->told && (!adding_is_on(l) || !is_addable(now)))
			say_added(l, now);
	}
	limits_end(l, "methods");
}
