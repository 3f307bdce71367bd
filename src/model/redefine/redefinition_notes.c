/* Writes notes on changes that the JVM accepts but that may have no effect. */
#include "base/xalloc.h"
#include "classfile/code.h"
#include "classfile/code_equal.h"
#include "model/class/class_attributes.h"
#include "model/redefine/redefinition_limits.h"
#include "model/redefine/redefinition_members.h"

static unsigned static_access(const struct cf_class *class, const struct cf_member *member)
{
	(void)class;
	return member->access & CF_ACC_STATIC;
}

/* Returns true if the ConstantValue attribute of a field has changed (JVMS 4.7.2). */
static bool value_changed(const struct compared_member *before, const struct compared_member *now)
{
	uint16_t value = class_attribute_index(before->cf.attributes, "ConstantValue");
	uint16_t new_value = class_attribute_index(now->cf.attributes, "ConstantValue");

	if (!value != !new_value)
		return true;
	return value && !cf_constant_equal(before->cf.attributes.pool, value,
					   now->cf.attributes.pool, new_value);
}

static void note_values(struct limits *notes)
{
	_cleanup_members_ struct members fields =
		members_read(cf_fields(notes->running), static_access, notes->running);
	_cleanup_members_ struct members now =
		members_read(cf_fields(notes->new), static_access, notes->new);

	limits_begin(notes);
	for (size_t i = 0; i < fields.n; i++) {
		const struct compared_member *field = members_find(&now, &fields.all[i]);

		if (!field || !field->access || !value_changed(&fields.all[i], field))
			continue;
		members_add(&notes->line, "field", field);
		buf_adds(&notes->line, " keeps its current value");
		limits_report(notes, LIMIT_NONE);
	}
	limits_end(notes, "fields");
}

static bool initialiser(const struct cf_class *class, struct cf_bootstraps *bootstraps,
			struct cf_body *body)
{
	const struct cf_text name = { "<clinit>", 8 }, descriptor = { "()V", 3 };
	struct cf_member method;
	struct cf_code code;

	if (!cf_find_member(cf_methods(class), name, descriptor, &method) ||
	    !cf_code(&method, &code))
		return false;
	*body = cf_body(class, &code, bootstraps);
	return true;
}

/* Returns true if both classes have a static initialiser, with different code. */
static bool initialiser_changed(const struct cf_class *running, const struct cf_class *new)
{
	struct ag_mem *mem = new->pool.mem;
	struct cf_bootstraps running_bootstraps, new_bootstraps;
	struct cf_body before, now;
	bool changed;

	if (cf_bootstraps_open(&running_bootstraps, running, mem) < 0 ||
	    cf_bootstraps_open(&new_bootstraps, new, mem) < 0)
		xalloc_die();
	changed = initialiser(running, &running_bootstraps, &before) &&
		  initialiser(new, &new_bootstraps, &now) && cf_code_equal(&before, &now, mem) == 0;
	cf_bootstraps_release(&running_bootstraps);
	cf_bootstraps_release(&new_bootstraps);
	return changed;
}

static void note_initialiser(struct limits *notes)
{
	limits_begin(notes);
	if (!initialiser_changed(notes->running, notes->new))
		return;
	buf_adds(&notes->line, "the static initialiser changed but is not run again");
	limits_report(notes, LIMIT_NONE);
}

void redefinition_notes(const struct cf_class *running, const struct cf_class *new,
			struct buf *notes)
{
	struct limits l = { .running = running, .new = new, .why = notes };

	note_initialiser(&l);
	note_values(&l);
	buf_release(&l.line);
}
