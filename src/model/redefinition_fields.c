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

/* Components are read as fields without flags (JVMS 4.7.30). */
static struct members components_read(const struct cf_pool *pool,
				      const struct cf_attribute *record)
{
	struct cf_bytes bytes = cf_bytes_init(record->data, record->len);
	size_t left = cf_u2(&bytes);
	struct members m = { .all = xcalloc(left + 1, sizeof(*m.all)) };
	struct cf_attribute skipped;

	for (; left > 0; left--) {
		struct cf_member *component = &m.all[m.n].cf;
		struct cf_attributes rest;

		component->name = cf_utf8(pool, cf_u2(&bytes));
		component->descriptor = cf_utf8(pool, cf_u2(&bytes));
		rest = (struct cf_attributes){ .pool = pool, .left = cf_u2(&bytes) };
		rest.bytes = bytes;
		component->attributes = rest;
		while (cf_next_attribute(&rest, &skipped))
			;
		bytes = rest.bytes;
		if (bytes.failed)
			break;
		m.n++;
	}
	members_sort(&m);
	return m;
}

static struct cf_text signature(const struct cf_member *member)
{
	struct cf_attribute attribute;

	if (!cf_find_attribute(member->attributes, "Signature", &attribute) || attribute.len != 2)
		return (struct cf_text){ NULL, 0 };
	return cf_utf8(member->attributes.pool, cf_peek_u2(attribute.data));
}

static void say_signatures(struct limits *l, const struct layout *layout,
			   const struct members *running, const struct members *new)
{
	for (size_t i = 0; i < running->n; i++) {
		const struct member *before = &running->all[i];
		const struct member *now = members_find(new, before);

		if (!now || members_text_compare(signature(&before->cf), signature(&now->cf)) == 0)
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
	struct cf_attribute running_record, new_record;
	bool was = limits_attribute(l, l->running, "Record", 16, &running_record);
	bool is = limits_attribute(l, l->new, "Record", 16, &new_record);

	limits_begin(l);
	if (was && is) {
		_cleanup_members_ struct members running =
			components_read(&l->running->pool, &running_record);
		_cleanup_members_ struct members new =
			components_read(&l->new->pool, &new_record);

		say_layout(l, &layout, &running, &new);
		say_signatures(l, &layout, &running, &new);
	} else if (was || is) {
		buf_addf(&l->line, "the class is %s a record", was ? "no longer" : "now");
		limits_say(l, layout.limit);
	}
	limits_end(l, layout.plural);
}
