/* Compares the running and the new class: superclass, interfaces, nest, permitted subclasses. */
#include "base/xalloc.h"
#include "model/class/javasig.h"
#include "model/redefine/redefinition_limits.h"
#include "model/redefine/redefinition_members.h"

struct class_attribute limits_attribute(const struct limits *l, const struct cf_class *class,
					const char *name, unsigned release)
{
	if (l->jvm->release < release || class->major < 44 + release)
		return (struct class_attribute){ 0 };
	return class_attribute_open(cf_class_attributes(class), name);
}

unsigned limits_release(const struct limits *l)
{
	return l->running->major > 52 ? l->running->major - 44u : 8;
}

static struct cf_text nest_host(const struct limits *l, const struct cf_class *class)
{
	struct class_attribute attribute = limits_attribute(l, class, "NestHost", 11);
	struct cf_text name = { NULL, 0 };

	/* If the class has no attribute NestHost, like most classes, `name` stays empty. */
	(void)class_attribute_class(&attribute, &name);
	return name;
}

struct names {
	struct cf_text *all; /* sorted */
	size_t n;
};

static int name_compare(const void *a, const void *b)
{
	return members_text_compare(*(const struct cf_text *)a, *(const struct cf_text *)b);
}

static struct names names_of_interfaces(const struct cf_class *class)
{
	struct names names = { 0 };

	names.all = xcalloc((size_t)class->n_interfaces + 1, sizeof(*names.all));
	for (; names.n < class->n_interfaces; names.n++)
		names.all[names.n] = cf_interface(class, (uint16_t)names.n);
	qsort(names.all, names.n, sizeof(*names.all), name_compare);
	return names;
}

static struct names names_of_attribute(const struct limits *l, const struct cf_class *class,
				       const char *attribute, unsigned release)
{
	struct class_attribute list = limits_attribute(l, class, attribute, release);
	struct names names = { 0 };

	names.all = xcalloc((size_t)list.left + 1, sizeof(*names.all));
	while (class_attribute_class(&list, &names.all[names.n]))
		names.n++;
	qsort(names.all, names.n, sizeof(*names.all), name_compare);
	return names;
}

struct list {
	const char *noun, *rule;
	enum limit limit;
};

static void report_name(struct limits *l, const struct list *list, struct cf_text name,
			const char *how)
{
	buf_addf(&l->line, "%s ", list->noun);
	javasig_class_name(&l->line, name);
	buf_addf(&l->line, " was %s%s", how, list->rule);
	limits_report(l, list->limit);
}

/*
 * Reports the names that are in only one of the two lists, and frees both lists.  Returns true if
 * there were such names.
 */
static bool report_names(struct limits *l, const struct list *list, struct names running,
			 struct names new)
{
	size_t i = 0, k = 0, before = l->n_reported;

	while (i < running.n || k < new.n) {
		int rc = i == running.n ? 1 :
			 k == new.n     ? -1 :
					  name_compare(&running.all[i], &new.all[k]);

		if (rc < 0)
			report_name(l, list, running.all[i], "removed");
		else if (rc > 0)
			report_name(l, list, new.all[k], "added");
		i += rc <= 0;
		k += rc >= 0;
	}
	free(running.all);
	free(new.all);
	return l->n_reported > before;
}

static void report_superclass(struct limits *l)
{
	struct cf_text before = cf_super(l->running), now = cf_super(l->new);

	if (members_text_compare(before, now) == 0)
		return;
	buf_adds(&l->line, "the superclass is now ");
	javasig_class_name(&l->line, now);
	buf_adds(&l->line, " and was ");
	javasig_class_name(&l->line, before);
	limits_report(l, LIMIT_HIERARCHY_CHANGED);
}

static void report_interface_order(struct limits *l)
{
	for (uint16_t i = 0; i < l->running->n_interfaces; i++) {
		if (members_text_compare(cf_interface(l->running, i), cf_interface(l->new, i)) == 0)
			continue;
		buf_adds(&l->line, "interface ");
		javasig_class_name(&l->line, cf_interface(l->new, i));
		buf_adds(&l->line, " is at another position: the order must not change");
		limits_report(l, LIMIT_HIERARCHY_CHANGED);
		return;
	}
}

void limits_hierarchy(struct limits *l)
{
	const struct list list = { "interface", "", LIMIT_HIERARCHY_CHANGED };

	limits_begin(l);
	report_superclass(l);
	if (!report_names(l, &list, names_of_interfaces(l->running), names_of_interfaces(l->new)))
		report_interface_order(l);
	limits_end(l, "interfaces");
}

/*
 * If the nest differs, and only one of the two class files is for JDK 11 or later, adds a hint
 * about the compiler: class files for earlier JDKs do not describe nests, so the difference may
 * come from another --release.
 */
static void report_compiler(struct limits *l)
{
	bool was = l->running->major >= 55, is = l->new->major >= 55;

	if (l->n_reported == 0 || was == is)
		return;
	buf_addf(&l->line, "the running class was compiled for JDK %u, the new one for JDK %u: "
			   "compile it with --release %u",
		 l->running->major - 44u, l->new->major - 44u, limits_release(l));
	limits_report(l, LIMIT_CLASS_ATTRIBUTE_CHANGED);
}

void limits_nest(struct limits *l)
{
	const struct list list = {
		"nested class",
		": the nest must not change (it includes anonymous and local classes, and one that "
		"javac may generate for a switch on an enum)",
		LIMIT_CLASS_ATTRIBUTE_CHANGED,
	};
	struct cf_text before = nest_host(l, l->running), now = nest_host(l, l->new);

	limits_begin(l);
	if (members_text_compare(before, now) != 0) {
		buf_adds(&l->line, "the nest host is now ");
		javasig_class_name(&l->line, now.data ? now : cf_name(l->new));
		buf_adds(&l->line, " and was ");
		javasig_class_name(&l->line, before.data ? before : cf_name(l->running));
		limits_report(l, LIMIT_CLASS_ATTRIBUTE_CHANGED);
	}
	report_names(l, &list, names_of_attribute(l, l->running, "NestMembers", 11),
		     names_of_attribute(l, l->new, "NestMembers", 11));
	report_compiler(l);
	limits_end(l, "nest members");
}

void limits_permitted(struct limits *l)
{
	const struct list list = { "permitted subclass", "", LIMIT_CLASS_ATTRIBUTE_CHANGED };

	limits_begin(l);
	report_names(l, &list, names_of_attribute(l, l->running, "PermittedSubclasses", 17),
		     names_of_attribute(l, l->new, "PermittedSubclasses", 17));
	limits_end(l, "permitted subclasses");
}
