#include "render/class/class_record.h"

#include <string.h>

#include "model/class/class_attributes.h"
#include "model/class/instrumentation_hints.h"
#include "model/class/javasig.h"

enum {
	DECLARED, DECLARATION, CLASS, KIND, LINKED_TEXT, LINKED, MODIFIERS, ANNOTATIONS, LOADER,
	MODULE,
	SOURCE, SOURCE_FILE, VERSION, MAJOR, MINOR, CONSTANTS,
	SUPERS, INTERFACES, PERMITTED, NEST_HOST, NEST_MEMBERS, COMPONENTS,
	INSTRUMENTED, DIFFERS_TEXT, DIFFERS, PATCHED_TEXT, PATCHED, WHY_NOT,
	GAP_FIELDS, FIELDS, GAP_METHODS, METHODS,
	N_FIELDS,
};

/* clang-format off */
static const struct field fields[N_FIELDS] = {
	[DECLARED]     = { "Class", NULL, NULL, CELL_TEXT },
	[DECLARATION]  = { NULL, NULL, "declaration", CELL_TEXT },
	[CLASS]        = { NULL, NULL, "class", CELL_TEXT },
	[KIND]         = { "Kind", NULL, "kind", CELL_TEXT },
	[LINKED_TEXT]  = { "Kind", NULL, NULL, CELL_TEXT },
	[LINKED]       = { NULL, NULL, "linked", CELL_BOOL },
	[MODIFIERS]    = { NULL, NULL, "modifiers", CELL_TEXT },
	[ANNOTATIONS]  = { "Annotations", NULL, "annotations", CELL_ITEMS },
	[LOADER]       = { "Loader", NULL, "loader", CELL_TEXT },
	[MODULE]       = { "Module", NULL, "module", CELL_TEXT },
	[SOURCE]       = { "Source", NULL, "source", CELL_TEXT },
	[SOURCE_FILE]  = { "Compiled from", NULL, "source_file", CELL_TEXT },
	[VERSION]      = { "Compiled from", "class file version %", NULL, CELL_TEXT },
	[MAJOR]        = { NULL, NULL, "major", CELL_NUMBER },
	[MINOR]        = { NULL, NULL, "minor", CELL_NUMBER },
	[CONSTANTS]    = { NULL, NULL, "constants", CELL_NUMBER },
	[SUPERS]       = { "Superclasses", NULL, "superclasses", CELL_ITEMS },
	[INTERFACES]   = { "Interfaces", NULL, "interfaces", CELL_ITEMS },
	[PERMITTED]    = { "Permits", NULL, "permitted_subclasses", CELL_ITEMS },
	[NEST_HOST]    = { "Nest host", NULL, "nest_host", CELL_TEXT },
	[NEST_MEMBERS] = { "Nest members", NULL, "nest_members", CELL_ITEMS },
	[COMPONENTS]   = { "Components", NULL, "record_components", CELL_ITEMS },
	[INSTRUMENTED] = { "Instrumented", NULL, "instrumented_by", CELL_ITEMS },
	[DIFFERS_TEXT] = { "In memory", "differs from the class file in % methods: see -b",
			   NULL, CELL_NUMBER },
	[DIFFERS]      = { NULL, NULL, "memory_differs", CELL_NUMBER },
	[PATCHED_TEXT] = { "Patched", NULL, NULL, CELL_TEXT },
	[PATCHED]      = { NULL, NULL, "patched", CELL_BOOL },
	[WHY_NOT]      = { "Unavailable", NULL, "not_told", CELL_TEXT },
	[GAP_FIELDS]   = { "", NULL, NULL, CELL_TEXT },
	[FIELDS]       = { "Fields", NULL, "fields", CELL_ITEMS },
	[GAP_METHODS]  = { "", NULL, NULL, CELL_TEXT },
	[METHODS]      = { "Methods", NULL, "methods", CELL_ITEMS },
};

enum { ANCESTOR, ANCESTOR_LOADER_TEXT, ANCESTOR_LOADER, N_ANCESTOR };
static const struct field ancestor_fields[N_ANCESTOR] = {
	[ANCESTOR]             = { "", NULL, "class", CELL_TEXT },
	[ANCESTOR_LOADER_TEXT] = { "", "loaded by %", NULL, CELL_TEXT },
	[ANCESTOR_LOADER]      = { NULL, NULL, "loader", CELL_TEXT },
};

static const struct field name_fields[] = { { "", NULL, "class", CELL_TEXT } };
static const struct field tool_fields[] = { { "", NULL, "sign", CELL_TEXT } };

enum {
	MEMBER_DECLARED, MEMBER, MEMBER_NAME, MEMBER_DESCRIPTOR, MEMBER_SIGNATURE, MEMBER_ACCESS,
	MEMBER_MODIFIERS, N_MEMBER,
};
static const struct field member_fields[N_MEMBER] = {
	[MEMBER_DECLARED]   = { "", NULL, NULL, CELL_TEXT },
	[MEMBER]            = { NULL, NULL, "declaration", CELL_TEXT },
	[MEMBER_NAME]       = { NULL, NULL, "name", CELL_TEXT },
	[MEMBER_DESCRIPTOR] = { NULL, NULL, "descriptor", CELL_TEXT },
	[MEMBER_SIGNATURE]  = { NULL, NULL, "signature", CELL_TEXT },
	[MEMBER_ACCESS]     = { NULL, NULL, "access", CELL_NUMBER },
	[MEMBER_MODIFIERS]  = { NULL, NULL, "modifiers", CELL_TEXT },
};
/* clang-format on */

static struct cf_text cf_text_of(const char *s)
{
	return (struct cf_text){ s, strlen(s) };
}

/* Sets a field to the Java form of `name`, which is a class name as in a class file. */
static void set_name(struct record *s, size_t field, struct cf_text name)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	javasig_class_name(&text, name);
	record_text(s, field, buf_str(&text));
}

static void add_names(struct record *s, size_t field, const struct cf_class *file,
		      const char *attribute)
{
	struct class_attribute a = class_attribute_open(cf_class_attributes(file), attribute);
	struct cf_text name;

	while (class_attribute_class(&a, &name))
		set_name(record_item(s, field, name_fields, 1), 0, name);
}

static void add_annotations(struct record *s, const struct cf_class *file)
{
	struct class_attribute a =
		class_attribute_open(cf_class_attributes(file), "RuntimeVisibleAnnotations");
	struct cf_text type;

	while (class_attribute_annotation(&a, &type)) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		javasig_type(&text, type);
		record_text(record_item(s, ANNOTATIONS, name_fields, 1), 0, buf_str(&text));
	}
}

static void set_text_len(struct record *s, size_t field, struct cf_text text)
{
	_cleanup_buf_ struct buf copy = BUF_INIT;

	if (text.len == 0)
		return;
	javasig_text(&copy, text);
	record_text(s, field, buf_str(&copy));
}

/*
 * Adds a member.  `declared` is its declaration for the text output, with all modifiers;
 * `declaration` is its declaration for JSON, exactly as javap prints it.
 */
static void add_member(struct record *s, size_t field, const struct javasig_member *m,
		       const struct buf *declared, const struct buf *declaration)
{
	struct record *item = record_item(s, field, member_fields, N_MEMBER);
	_cleanup_buf_ struct buf modifiers = BUF_INIT;

	javasig_member_modifiers(&modifiers, m);
	record_text(item, MEMBER_DECLARED, buf_str(declared));
	record_text(item, MEMBER, buf_str(declaration));
	set_text_len(item, MEMBER_NAME, m->name);
	set_text_len(item, MEMBER_DESCRIPTOR, m->descriptor);
	set_text_len(item, MEMBER_SIGNATURE, m->signature);
	record_number(item, MEMBER_ACCESS, m->access);
	record_text(item, MEMBER_MODIFIERS, buf_str(&modifiers));
}

static void add_field(struct record *s, size_t field, const struct javasig_member *m)
{
	_cleanup_buf_ struct buf declared = BUF_INIT, declaration = BUF_INIT;
	struct javasig_member all = *m;

	all.hidden = true;
	javasig_field(&declared, &all);
	javasig_field(&declaration, m);
	add_member(s, field, m, &declared, &declaration);
}

static void add_method(struct record *s, const struct class_view *view,
		       const struct javasig_member *m)
{
	_cleanup_buf_ struct buf declared = BUF_INIT, declaration = BUF_INIT;
	/*
	 * Take the class name from the signature, but omit the suffix of a hidden class.  The name
	 * of an array, which an agent may claim to have methods, is longer than its signature.
	 */
	size_t len = strcspn(view->row->name, "/"), rest = strlen(view->row->signature) - 1;
	struct cf_text class = { view->row->signature + 1, len < rest ? len : rest };
	bool interface = class_is_interface(view->row);
	struct javasig_member all = *m;

	all.hidden = true;
	javasig_method(&declared, &all, class, interface);
	javasig_method(&declaration, m, class, interface);
	add_member(s, METHODS, m, &declared, &declaration);
}

static void add_components(struct record *s, const struct cf_class *file)
{
	struct class_attribute a = class_attribute_open(cf_class_attributes(file), "Record");
	struct cf_member component;

	while (class_attribute_component(&a, &component)) {
		struct javasig_member m = javasig_member(&component);

		add_field(s, COMPONENTS, &m);
	}
}

/*
 * Returns a member.  Takes its checked exceptions from the class file, because JVMTI does not
 * report them, and everything else from JVMTI.
 */
static struct javasig_member jvm_member(const struct class_view *view,
					const struct class_member *reported)
{
	struct javasig_member m = {
		.access = reported->modifiers,
		.name = cf_text_of(reported->name),
		.descriptor = cf_text_of(reported->descriptor),
		.signature = cf_text_of(reported->generic),
	};
	struct cf_member found;

	if (view->file && cf_find_member(cf_methods(view->file), m.name, m.descriptor, &found)) {
		struct javasig_member from_file = javasig_member(&found);

		m.pool = from_file.pool;
		m.throws = from_file.throws;
		m.n_throws = from_file.n_throws;
	}
	return m;
}

static void add_jvm_members(struct record *s, const struct class_view *view)
{
	for (size_t i = 0; i < view->info->fields.n; i++) {
		struct javasig_member m = jvm_member(view, &view->info->fields.list[i]);

		add_field(s, FIELDS, &m);
	}
	for (size_t i = 0; i < view->info->methods.n; i++) {
		struct javasig_member m = jvm_member(view, &view->info->methods.list[i]);

		add_method(s, view, &m);
	}
}

static void add_file_members(struct record *s, const struct class_view *view)
{
	struct cf_members list = cf_fields(view->file);
	struct cf_member member;

	while (cf_next_member(&list, &member)) {
		struct javasig_member m = javasig_member(&member);

		add_field(s, FIELDS, &m);
	}
	list = cf_methods(view->file);
	while (cf_next_member(&list, &member)) {
		struct javasig_member m = javasig_member(&member);

		add_method(s, view, &m);
	}
}

/*
 * Adds the members that JVMTI reports.  If JVMTI reports none, because the class is not linked,
 * adds the members in the class file.
 */
static void add_members(struct record *s, const struct class_view *view)
{
	bool reported = view->info->fields.n + view->info->methods.n > 0;

	record_items(s, FIELDS);
	record_items(s, METHODS);
	if (reported || !view->file)
		add_jvm_members(s, view);
	else
		add_file_members(s, view);
}

static void add_ancestors(struct record *s, size_t field, const struct class_view *view,
			  const struct class_supers *list)
{
	record_items(s, field);
	for (size_t i = 0; i < list->n; i++) {
		struct record *item = record_item(s, field, ancestor_fields, N_ANCESTOR);
		const char *loader = class_origins_loader(view->origins, list->list[i].loader);

		record_text(item, ANCESTOR, list->list[i].name);
		record_text(item, ANCESTOR_LOADER, loader);
		if (list->list[i].loader && list->list[i].loader != view->row->loader)
			record_text(item, ANCESTOR_LOADER_TEXT, loader);
	}
}

/*
 * Appends the declaration.  If there is no class file, the declaration does not contain the
 * superclass and the interfaces.  The record's fields SUPERS and INTERFACES always have them.
 */
static void add_declaration(struct buf *out, const struct class_view *view, bool hidden)
{
	const struct class_row *row = view->row;

	if (view->file) {
		javasig_class(out, view->file, hidden && (row->modifiers & CF_ACC_SYNTHETIC));
	} else if (class_is_array(row)) {
		buf_adds(out, row->name);
	} else {
		javasig_class_modifiers(out, row->modifiers, hidden);
		buf_adds(out, class_is_interface(row) ? "interface " : "class ");
		buf_adds(out, row->name);
	}
}

static void set_declaration(struct record *s, const struct class_view *view)
{
	_cleanup_buf_ struct buf declared = BUF_INIT, declaration = BUF_INIT;

	add_declaration(&declared, view, true);
	add_declaration(&declaration, view, false);
	record_text(s, DECLARED, buf_str(&declared));
	record_text(s, DECLARATION, buf_str(&declaration));
}

static void set_version(struct record *s, const struct class_info *info)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (info->major == 0)
		return;
	buf_addf(&text, "%u.%u", info->major, info->minor);
	/*
	 * JVMS table 4.1-A: version 49 is Java 5.  For lower versions no release is printed,
	 * because the earlier releases have names such as 1.4.
	 */
	if (info->major >= 49)
		buf_addf(&text, " of Java %u", info->major - 44);
	if (info->minor == UINT16_MAX)
		buf_adds(&text, " with preview features");
	record_text(s, VERSION, buf_str(&text));
	record_number(s, MAJOR, info->major);
	record_number(s, MINOR, info->minor);
}

static void set_identity(struct record *s, const struct class_view *view)
{
	const struct class_row *row = view->row;
	char modifiers[96];
	bool linked = class_is_linked(row) || view->info->methods.n + view->info->fields.n > 0;

	record_text(s, CLASS, row->name);
	record_text(s, KIND, class_kind(row));
	record_bool(s, LINKED, linked);
	if (!linked)
		record_text(s, LINKED_TEXT, "not linked yet");
	record_text(s, MODIFIERS, class_modifiers(row, modifiers, sizeof(modifiers)));
	record_text(s, LOADER, class_origins_loader(view->origins, row->loader));
	record_text(s, MODULE, class_origins_module(view->origins, row->module));
	record_text(s, SOURCE, class_origins_source(view->origins, row->source));
	if (*view->info->file)
		record_text(s, SOURCE_FILE, view->info->file);
	set_version(s, view->info);
	if (view->info->constants)
		record_number(s, CONSTANTS, view->info->constants);
}

/*
 * Adds the interfaces that JVMTI reports.  If JVMTI reports none, because the class is not linked,
 * adds the interfaces in the class file.
 */
static void add_interfaces(struct record *s, const struct class_view *view)
{
	add_ancestors(s, INTERFACES, view, &view->info->interfaces);
	if (view->info->interfaces.n > 0 || !view->file)
		return;
	for (uint16_t i = 0; i < view->file->n_interfaces; i++)
		set_name(record_item(s, INTERFACES, ancestor_fields, N_ANCESTOR), ANCESTOR,
			 cf_interface(view->file, i));
}

static void set_attributes(struct record *s, const struct cf_class *file)
{
	struct class_attribute host = class_attribute_open(cf_class_attributes(file), "NestHost");
	struct cf_text name;

	record_items(s, ANNOTATIONS);
	record_items(s, PERMITTED);
	record_items(s, NEST_MEMBERS);
	add_annotations(s, file);
	add_names(s, PERMITTED, file, "PermittedSubclasses");
	if (class_attribute_class(&host, &name))
		set_name(s, NEST_HOST, name);
	add_names(s, NEST_MEMBERS, file, "NestMembers");
	add_components(s, file);
}

/*
 * Sets the fields that say whether the class was changed, and which tools have changed it; the
 * tools are only a guess.
 */
static void set_changes(struct record *s, const struct class_view *view)
{
	const char *signs[INSTRUMENTATION_HINT_MAX];
	size_t n = instrumentation_hint(view->file, view->memory, signs);
	size_t differs = class_capture_differences(view->captured, NULL);

	record_items(s, INSTRUMENTED);
	for (size_t i = 0; i < n; i++)
		record_text(record_item(s, INSTRUMENTED, tool_fields, 1), 0, signs[i]);
	if (view->file)
		record_number(s, DIFFERS, (int64_t)differs);
	if (view->file && differs > 0)
		record_number(s, DIFFERS_TEXT, (int64_t)differs);
	record_bool(s, PATCHED, class_is_patched(view->row));
	if (class_is_patched(view->row))
		record_text(s, PATCHED_TEXT, "by jtool, see 'jtool patches'");
	record_text(s, WHY_NOT, view->why_not);
}

struct record *class_record(const struct class_view *view)
{
	struct record *s = record_new(fields, N_FIELDS);

	set_declaration(s, view);
	set_identity(s, view);
	add_ancestors(s, SUPERS, view, &view->info->supers);
	add_interfaces(s, view);
	if (view->file)
		set_attributes(s, view->file);
	set_changes(s, view);
	add_members(s, view);
	return s;
}
