/* Fields and record components: nothing of them may change, nor may their order. */
#include "base/xalloc.h"
#include "model/javasig.h"
#include "model/redefinition_limits.h"
#include "model/redefinition_members.h"

/* What may not differ at all: a list whose order counts. */
struct layout {
	const char *noun, *plural;
	enum limit limit;
};

static void say_order(struct limits *l, const struct layout *layout,
		      const struct members *running, const struct members *new)
{
	size_t i = 0;

	while (i < running->n && members_compare(&(const struct member *){ &running->all[i] },
						&(const struct member *){ &new->all[i] }) == 0)
		i++;
	if (i == running->n)
		return;
	members_add(&l->line, layout->noun, &new->all[i]);
	buf_adds(&l->line, " stands where ");
	javasig_member_name(&l->line, running->all[i].cf.name, running->all[i].cf.descriptor);
	buf_addf(&l->line, " stood: the order of %s must stay", layout->plural);
	limits_say(l, layout->limit);
}

static void say_lost(struct limits *l, const struct layout *layout, const struct member *before,
		     const struct members *new)
{
	struct member *now = limits_are_full(l) ? NULL : members_find_name(new, before->cf.name);

	members_add(&l->line, layout->noun, before);
	if (now) {
		now->told = true;
		buf_adds(&l->line, " became ");
		javasig_member_name(&l->line, now->cf.name, now->cf.descriptor);
	} else {
		buf_adds(&l->line, " was removed");
		members_add_made(&l->line, before);
	}
	limits_say(l, layout->limit);
}

static void say_layout(struct limits *l, const struct layout *layout, struct members *running,
		       struct members *new)
{
	size_t n_matched = 0;

	members_match(running, new);
	for (size_t i = 0; i < running->n; i++) {
		const struct member *before = &running->all[i];

		if (!before->told) {
			say_lost(l, layout, before, new);
			continue;
		}
		n_matched++;
		if (before->access == members_find(new, before)->access)
			continue;
		members_add(&l->line, layout->noun, before);
		limits_add_flags(&l->line, FLAGS_FIELD, before->access,
				 members_find(new, before)->access);
		limits_say(l, layout->limit);
	}
	for (size_t i = 0; i < new->n; i++) {
		if (new->all[i].told)
			continue;
		members_add(&l->line, layout->noun, &new->all[i]);
		buf_adds(&l->line, " was added");
		members_add_made(&l->line, &new->all[i]);
		limits_say(l, layout->limit);
	}
	if (n_matched == running->n && n_matched == new->n)
		say_order(l, layout, running, new);
}

/* JVM_RECOGNIZED_FIELD_MODIFIERS (jvm_constants.h; jvm.h on 8) */
static unsigned field_access(const struct cf_class *class, const struct cf_member *field)
{
	const unsigned recognized = CF_ACC_PUBLIC | CF_ACC_PRIVATE | CF_ACC_PROTECTED |
				    CF_ACC_STATIC | CF_ACC_FINAL | CF_ACC_VOLATILE |
				    CF_ACC_TRANSIENT | CF_ACC_ENUM | CF_ACC_SYNTHETIC;

	(void)class;
	return (field->access & recognized) | limits_synthetic(field->attributes);
}

/*
 * The JVM compares offsets as well, which follow from names, types and order, but for
 * @Contended in the JDK's own classes: that is left to it.
 */
void limits_fields(struct limits *l)
{
	const struct layout layout = { "field", "fields", LIMIT_SCHEMA_CHANGED };
	_cleanup_members_ struct members running =
		members_read(cf_fields(l->running), field_access, l->running);
	_cleanup_members_ struct members new =
		members_read(cf_fields(l->new), field_access, l->new);

	limits_begin(l);
	say_layout(l, &layout, &running, &new);
	limits_end(l, layout.plural);
}

static struct members components_read(struct classattr record)
{
	struct members m = { .all = xcalloc((size_t)record.left + 1, sizeof(*m.all)) };

	while (classattr_component(&record, &m.all[m.n].cf))
		m.n++;
	members_sort(&m);
	return m;
}

static struct cf_text signature(const struct member *component)
{
	return javasig_member(&component->cf).signature;
}

static void say_signatures(struct limits *l, const struct layout *layout,
			   const struct members *running, const struct members *new)
{
	for (size_t i = 0; i < running->n; i++) {
		const struct member *before = &running->all[i];
		const struct member *now = members_find(new, before);

		if (!now || members_text_compare(signature(before), signature(now)) == 0)
			continue;
		members_add(&l->line, layout->noun, before);
		buf_adds(&l->line, " has another generic type");
		limits_say(l, layout->limit);
	}
}

void limits_record(struct limits *l)
{
	const struct layout layout = { "record component", "record components",
				       LIMIT_CLASS_ATTRIBUTE_CHANGED };
	struct classattr before = limits_attribute(l, l->running, "Record", 16);
	struct classattr now = limits_attribute(l, l->new, "Record", 16);

	limits_begin(l);
	if (before.found && now.found) {
		_cleanup_members_ struct members running = components_read(before);
		_cleanup_members_ struct members new = components_read(now);

		say_layout(l, &layout, &running, &new);
		say_signatures(l, &layout, &running, &new);
	} else if (before.found || now.found) {
		buf_addf(&l->line, "the class is %s a record",
			 before.found ? "no longer" : "now");
		limits_say(l, layout.limit);
	}
	limits_end(l, layout.plural);
}
