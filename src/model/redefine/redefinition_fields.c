/*
 * Compares the fields and record components of the running class with those of the new class: they
 * must be equal and in the same order.
 */
#include "base/xalloc.h"
#include "model/class/javasig.h"
#include "model/redefine/redefinition_limits.h"
#include "model/redefine/redefinition_members.h"

/*
 * A kind of members: fields or record components.  The running and the new class must have the same
 * members of this kind, in the same order.
 */
struct layout {
	const char *noun, *plural;
	enum limit limit;
};

static void report_order(struct limits *l, const struct layout *layout,
			 const struct members *running, const struct members *new)
{
	size_t i = 0;

	while (i < running->n &&
	       members_compare(&(const struct compared_member *){ &running->all[i] },
			       &(const struct compared_member *){ &new->all[i] }) == 0)
		i++;
	if (i == running->n)
		return;
	members_add(&l->line, layout->noun, &new->all[i]);
	buf_adds(&l->line, " is now where ");
	javasig_member_name(&l->line, running->all[i].cf.name, running->all[i].cf.descriptor);
	buf_addf(&l->line, " was: the order of %s must not change", layout->plural);
	limits_report(l, layout->limit);
}

static void report_lost(struct limits *l, const struct layout *layout,
			const struct compared_member *before, const struct members *new)
{
	struct compared_member *now =
		limits_are_full(l) ? NULL : members_find_name(new, before->cf.name);

	members_add(&l->line, layout->noun, before);
	if (now) {
		now->handled = true;
		buf_adds(&l->line, " became ");
		javasig_member_name(&l->line, now->cf.name, now->cf.descriptor);
	} else {
		buf_adds(&l->line, " was removed");
		members_add_generated(&l->line, before);
	}
	limits_report(l, layout->limit);
}

static void report_layout(struct limits *l, const struct layout *layout, struct members *running,
			  struct members *new)
{
	size_t n_matched = 0;

	members_match(running, new);
	for (size_t i = 0; i < running->n; i++) {
		const struct compared_member *before = &running->all[i];

		if (!before->handled) {
			report_lost(l, layout, before, new);
			continue;
		}
		n_matched++;
		if (before->access == members_find(new, before)->access)
			continue;
		members_add(&l->line, layout->noun, before);
		limits_add_flags(&l->line, FLAGS_FIELD, before->access,
				 members_find(new, before)->access);
		limits_report(l, layout->limit);
	}
	for (size_t i = 0; i < new->n; i++) {
		if (new->all[i].handled)
			continue;
		members_add(&l->line, layout->noun, &new->all[i]);
		buf_adds(&l->line, " was added");
		members_add_generated(&l->line, &new->all[i]);
		limits_report(l, layout->limit);
	}
	if (n_matched == running->n && n_matched == new->n)
		report_order(l, layout, running, new);
}

/*
 * Returns those modifiers of the field that are in JVM_RECOGNIZED_FIELD_MODIFIERS (jvm_constants.h;
 * in JDK 8, jvm.h).
 */
static unsigned field_access(const struct cf_class *class, const struct cf_member *field)
{
	const unsigned recognized = CF_ACC_PUBLIC | CF_ACC_PRIVATE | CF_ACC_PROTECTED |
				    CF_ACC_STATIC | CF_ACC_FINAL | CF_ACC_VOLATILE |
				    CF_ACC_TRANSIENT | CF_ACC_ENUM | CF_ACC_SYNTHETIC;

	(void)class;
	return (field->access & recognized) | limits_synthetic(field->attributes);
}

/*
 * Compares fields by name, type and order.  The JVM compares the offsets of the fields as well.
 * This function need not: fields with equal names, types and order have equal offsets.  The
 * exception, fields with @Contended, is ignored.
 */
void limits_fields(struct limits *l)
{
	const struct layout layout = { "field", "fields", LIMIT_SCHEMA_CHANGED };
	_cleanup_members_ struct members running =
		members_read(cf_fields(l->running), field_access, l->running);
	_cleanup_members_ struct members new =
		members_read(cf_fields(l->new), field_access, l->new);

	limits_begin(l);
	report_layout(l, &layout, &running, &new);
	limits_end(l, layout.plural);
}

static struct members components_read(struct class_attribute record)
{
	struct members m = { .all = xcalloc((size_t)record.left + 1, sizeof(*m.all)) };

	while (class_attribute_component(&record, &m.all[m.n].cf))
		m.n++;
	members_sort(&m);
	return m;
}

static struct cf_text signature(const struct compared_member *component)
{
	return javasig_member(&component->cf).signature;
}

static void report_signatures(struct limits *l, const struct layout *layout,
			      const struct members *running, const struct members *new)
{
	for (size_t i = 0; i < running->n; i++) {
		const struct compared_member *before = &running->all[i];
		const struct compared_member *now = members_find(new, before);

		if (!now || members_text_compare(signature(before), signature(now)) == 0)
			continue;
		members_add(&l->line, layout->noun, before);
		buf_adds(&l->line, " has another generic type");
		limits_report(l, layout->limit);
	}
}

void limits_record(struct limits *l)
{
	const struct layout layout = { "record component", "record components",
				       LIMIT_CLASS_ATTRIBUTE_CHANGED };
	struct class_attribute before = limits_attribute(l, l->running, "Record", 16);
	struct class_attribute now = limits_attribute(l, l->new, "Record", 16);

	limits_begin(l);
	if (before.found && now.found) {
		_cleanup_members_ struct members running = components_read(before);
		_cleanup_members_ struct members new = components_read(now);

		report_layout(l, &layout, &running, &new);
		report_signatures(l, &layout, &running, &new);
	} else if (before.found || now.found) {
		buf_addf(&l->line, "the class is %s a record",
			 before.found ? "no longer" : "now");
		limits_report(l, layout.limit);
	}
	limits_end(l, layout.plural);
}
