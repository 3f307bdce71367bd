/* Compares methods: finds those that were added or removed, or that have other modifiers. */
#include "model/class/javasig.h"
#include "model/redefine/redefinition_limits.h"
#include "model/redefine/redefinition_members.h"

/*
 * Returns those modifiers of the method that are in JVM_RECOGNIZED_METHOD_MODIFIERS, without
 * "native", because a redefinition may change "native".  Of a static initialiser's modifiers,
 * returns only those that ClassFileParser::parse_method retains.
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
 * Returns true if the method is private and also static or final.  HotSpot can add or remove only
 * such methods (can_add_or_delete()).  JDK 13 and later do so only if a flag of the JVM is on; it
 * is off by default (JDK-8192936), see adding_is_on().
 */
static bool is_addable(const struct compared_member *method)
{
	return (method->access & CF_ACC_PRIVATE) &&
	       (method->access & (CF_ACC_STATIC | CF_ACC_FINAL));
}

static bool adding_is_on(const struct limits *l)
{
	return l->jvm->release < 13 || l->jvm->may_add_delete;
}

static void add_method_rule(struct limits *l, const struct compared_member *method)
{
	if (adding_is_on(l))
		buf_adds(&l->line, "; only private static and private final methods can be added "
				   "or removed");
	else
		buf_addf(&l->line, "; JDK %u cannot add or remove methods%s", l->jvm->release,
			 is_addable(method) ? ", not even private ones, unless started with "
					      "-XX:+AllowRedefinitionToAddDeleteMethods" :
					      "");
}

static void add_method(struct buf *line, const struct compared_member *method)
{
	if (cf_text_is(method->cf.name, "<clinit>"))
		buf_adds(line, "the static initialiser");
	else if (cf_text_is(method->cf.name, "<init>"))
		members_add(line, "constructor", method);
	else
		members_add(line, "method", method);
}

static void report_deleted(struct limits *l, const struct compared_member *before,
			   const struct members *new)
{
	struct compared_member *now =
		limits_are_full(l) ? NULL : members_find_name(new, before->cf.name);

	add_method(&l->line, before);
	if (now) {
		now->handled = true;
		buf_adds(&l->line, " became ");
		javasig_member_name(&l->line, now->cf.name, now->cf.descriptor);
		buf_adds(&l->line, ": parameters and result must not change");
	} else {
		buf_adds(&l->line, " was removed");
		members_add_generated(&l->line, before);
		add_method_rule(l, before);
	}
	limits_report(l, LIMIT_METHOD_DELETED);
}

static void report_matched(struct limits *l, const struct compared_member *before,
			   const struct compared_member *now)
{
	if (before->access == now->access)
		return;
	add_method(&l->line, before);
	limits_add_flags(&l->line, FLAGS_METHOD, before->access, now->access);
	limits_report(l, LIMIT_METHOD_MODIFIERS_CHANGED);
}

static void report_added(struct limits *l, const struct compared_member *method)
{
	add_method(&l->line, method);
	buf_adds(&l->line, " was added");
	members_add_generated(&l->line, method);
	add_method_rule(l, method);
	limits_report(l, LIMIT_METHOD_ADDED);
}

/*
 * Compares the methods.  The JVM compares methods in the order of the addresses of their names
 * (Symbols), and reports the first error.  A captured class file has the methods in that order, but
 * the address of a new name is unknown.  So if the new class adds a method and lacks another one,
 * it is unknown which of the two errors the JVM reports.
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
		const struct compared_member *before = &running.all[i];

		if (before->handled)
			report_matched(l, before, members_find(&new, before));
		else if (!adding_is_on(l) || !is_addable(before))
			report_deleted(l, before, &new);
	}
	for (size_t i = 0; i < new.n; i++) {
		const struct compared_member *now = &new.all[i];

		if (!now->handled && (!adding_is_on(l) || !is_addable(now)))
			report_added(l, now);
	}
	limits_end(l, "methods");
}
