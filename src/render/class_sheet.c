#include "render/class_sheet.h"

#include <string.h>

#include "model/classattr.h"
#include "model/instrumented.h"
#include "model/javasig.h"

enum {
	DECLARATION, CLASS, KIND, LINKED_TEXT, LINKED, MODIFIERS, ANNOTATIONS, LOADER, MODULE,
	SOURCE, SOURCE_FILE, VERSION, MAJOR, MINOR, CONSTANTS,
	SUPERS, INTERFACES, PERMITTED, NEST_HOST, NEST_MEMBERS, COMPONENTS,
	INSTRUMENTED, DIFFERS_TEXT, DIFFERS, PATCHED_TEXT, PATCHED, WHY_NOT,
	GAP_FIELDS, FIELDS, GAP_METHODS, METHODS,
	N_FIELDS,
};

/* clang-format off */
static const struct field fields[N_FIELDS] = {
	[DECLARATION]  = { "Class", NULL, "declaration", FIELD_TEXT },
	[CLASS]        = { NULL, NULL, "class", FIELD_TEXT },
	[KIND]         = { "Kind", NULL, "kind", FIELD_TEXT },
	[LINKED_TEXT]  = { "Kind", NULL, NULL, FIELD_TEXT },
	[LINKED]       = { NULL, NULL, "linked", FIELD_BOOL },
	[MODIFIERS]    = { NULL, NULL, "modifiers", FIELD_TEXT },
	[ANNOTATIONS]  = { "Annotations", NULL, "annotations", FIELD_ITEMS },
	[LOADER]       = { "Loader", NULL, "loader", FIELD_TEXT },
	[MODULE]       = { "Module", NULL, "module", FIELD_TEXT },
	[SOURCE]       = { "Source", NULL, "source", FIELD_TEXT },
	[SOURCE_FILE]  = { "Compiled from", NULL, "source_file", FIELD_TEXT },
	[VERSION]      = { "Compiled from", "class file version %", NULL, FIELD_TEXT },
	[MAJOR]        = { NULL, NULL, "major", FIELD_NUMBER },
	[MINOR]        = { NULL, NULL, "minor", FIELD_NUMBER },
	[CONSTANTS]    = { NULL, NULL, "constants", FIELD_NUMBER },
	[SUPERS]       = { "Superclasses", NULL, "superclasses", FIELD_ITEMS },
	[INTERFACES]   = { "Interfaces", NULL, "interfaces", FIELD_ITEMS },
	[PERMITTED]    = { "Permits", NULL, "permitted_subclasses", FIELD_ITEMS },
	[NEST_HOST]    = { "Nest host", NULL, "nest_host", FIELD_TEXT },
	[NEST_MEMBERS] = { "Nest members", NULL, "nest_members", FIELD_ITEMS },
	[COMPONENTS]   = { "Components", NULL, "record_components", FIELD_ITEMS },
	[INSTRUMENTED] = { "Instrumented", NULL, "instrumented_by", FIELD_ITEMS },
	[DIFFERS_TEXT] = { "In memory", "other code than in the class file in % methods: see -b",
			   NULL, FIELD_NUMBER },
	[DIFFERS]      = { NULL, NULL, "memory_differs", FIELD_NUMBER },
	[PATCHED_TEXT] = { "Patched", NULL, NULL, FIELD_TEXT },
	[PATCHED]      = { NULL, NULL, "patched", FIELD_BOOL },
	[WHY_NOT]      = { "Not told", NULL, "not_told", FIELD_TEXT },
	[GAP_FIELDS]   = { "", NULL, NULL, FIELD_TEXT },
	[FIELDS]       = { "Fields", NULL, "fields", FIELD_ITEMS },
	[GAP_METHODS]  = { "", NULL, NULL, FIELD_TEXT },
	[METHODS]      = { "Methods", NULL, "methods", FIELD_ITEMS },
};

enum { ANCESTOR, ANCESTOR_LOADER_TEXT, ANCESTOR_LOADER, N_ANCESTOR };
static const struct field ancestor_fields[N_ANCESTOR] = {
	[ANCESTOR]             = { "", NULL, "class", FIELD_TEXT },
	[ANCESTOR_LOADER_TEXT] = { "", "loaded by %", NULL, FIELD_TEXT },
	[ANCESTOR_LOADER]      = { NULL, NULL, "loader", FIELD_TEXT },
};

static const struct field name_fields[] = { { "", NULL, "class", FIELD_TEXT } };
static const struct field tool_fields[] = { { "", NULL, "sign", FIELD_TEXT } };

enum { MEMBER, MEMBER_NAME, MEMBER_DESCRIPTOR, MEMBER_SIGNATURE, MEMBER_ACCESS, N_MEMBER };
static const struct field member_fields[N_MEMBER] = {
	[MEMBER]            = { "", NULL, "declaration", FIELD_TEXT },
	[MEMBER_NAME]       = { NULL, NULL, "name", FIELD_TEXT },
	[MEMBER_DESCRIPTOR] = { NULL, NULL, "descriptor", FIELD_TEXT },
	[MEMBER_SIGNATURE]  = { NULL, NULL, "signature", FIELD_TEXT },
	[MEMBER_ACCESS]     = { NULL, NULL, "access", FIELD_NUMBER },
};
/* clang-format on */

static struct cf_text cf_text_of(const char *s)
{
	return (struct cf_text){ s, strlen(s) };
}

/* A class told by a class file, in Java's form. */
static void set_name(struct sheet *s, size_t field, struct cf_text name)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	javasig_class_name(&text, name);
	sheet_text(s, field, buf_str(&text));
}

static void add_names(struct sheet *s, size_t field, const struct cf_class *file,
		      const char *attribute)
{
	struct classattr a = classattr_open(cf_class_attributes(file), attribute);
	struct cf_text name;

	while (classattr_class(&a, &name))
		set_name(sheet_item(s, field, name_fields, 1), 0, name);
}

static void add_annotations(struct sheet *s, const struct cf_class *file)
{
	struct classattr a = classattr_open(cf_class_attributes(file),
					    "RuntimeVisibleAnnotations");
	struct cf_text type;

	while (classattr_annotation(&a, &type)) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		javasig_type(&text, type);
		sheet_text(sheet_item(s, ANNOTATIONS, name_fields, 1), 0, buf_str(&text));
	}
}

static void set_text_len(struct sheet *s, size_t field, struct cf_text text)
{
	_cleanup_buf_ struct buf copy = BUF_INIT;

	if (text.len == 0)
		return;
	javasig_text(&copy, text);
	sheet_text(s, field, buf_str(&copy));
}

static void add_member(struct sheet *s, size_t field, const struct javasig_member *m,
		       const struct buf *declaration)
{
	struct sheet *item = sheet_item(s, field, member_fields, N_MEMBER);

	sheet_text(item, MEMBER, buf_str(declaration));
	set_text_len(item, MEMBER_NAME, m->name);
	set_text_len(item, MEMBER_DESCRIPTOR, m->descriptor);
	set_text_len(item, MEMBER_SIGNATURE, m->signature);
	sheet_number(item, MEMBER_ACCESS, m->access);
}

static void add_field(struct sheet *s, size_t field, const struct javasig_member *m)
{
	_cleanup_buf_ struct buf declaration = BUF_INIT;

	javasig_field(&declaration, m);
	add_member(s, field, m, &declaration);
}

static void add_method(struct sheet *s, const struct class_view *view,
		       const struct javasig_member *m)
{
	_cleanup_buf_ struct buf declaration = BUF_INIT;
	/* Its own name in the signature, without the suffix of a hidden class. */
	struct cf_text class = { view->row->signature + 1, strcspn(view->row->name, "/") };

	javasig_method(&declaration, m, class, class_is_interface(view->row));
	add_member(s, METHODS, m, &declaration);
}

static void add_components(struct sheet *s, const struct cf_class *file)
{
	struct classattr a = classattr_open(cf_class_attributes(file), "Record");
	struct cf_member component;

	while (classattr_component(&a, &component)) {
		struct javasig_member m = javasig_member(&component);

		add_field(s, COMPONENTS, &m);
	}
}

/* As the JVM tells it, with what only the class file knows: checked exceptions. */
static struct javasig_member member_told(const struct class_view *view,
					 const struct class_member *told)
{
	struct javasig_member m = {
		.access = told->modifiers,
		.name = cf_text_of(told->name),
		.descriptor = cf_text_of(told->descriptor),
		.signature = cf_text_of(told->generic),
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

static void add_members_told(struct sheet *s, const struct class_view *view)
{
	for (size_t i = 0; i < view->told->fields.n; i++) {
		struct javasig_member m = member_told(view, &view->told->fields.list[i]);

		add_field(s, FIELDS, &m);
	}
	for (size_t i = 0; i < view->told->methods.n; i++) {
		struct javasig_member m = member_told(view, &view->told->methods.list[i]);

		add_method(s, view, &m);
	}
}

static void add_members_of_file(struct sheet *s, const struct class_view *view)
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

/* Of a class that is not linked the JVM tells no members. */
static void add_members(struct sheet *s, const struct class_view *view)
{
	bool told = view->told->fields.n + view->told->methods.n > 0;

	sheet_items(s, FIELDS);
	sheet_items(s, METHODS);
	if (told || !view->file)
		add_members_told(s, view);
	else
		add_members_of_file(s, view);
}

static void add_ancestors(struct sheet *s, size_t field, const struct class_view *view,
			  const struct class_supers *list)
{
	sheet_items(s, field);
	for (size_t i = 0; i < list->n; i++) {
		struct sheet *item = sheet_item(s, field, ancestor_fields, N_ANCESTOR);
		const char *loader = places_loader(view->places, list->list[i].loader);

		sheet_text(item, ANCESTOR, list->list[i].name);
		sheet_text(item, ANCESTOR_LOADER, loader);
		if (list->list[i].loader && list->list[i].loader != view->row->loader)
			sheet_text(item, ANCESTOR_LOADER_TEXT, loader);
	}
}

/* Without a class file: as the JVM has it, and what it extends stands below. */
static void set_declaration(struct sheet *s, const struct class_view *view)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	bool interface = class_is_interface(view->row);

	if (view->file) {
		javasig_class(&text, view->file);
	} else if (class_is_array(view->row)) {
		buf_adds(&text, view->row->name);
	} else {
		javasig_class_modifiers(&text, view->row->modifiers);
		buf_adds(&text, interface ? "interface " : "class ");
		buf_adds(&text, view->row->name);
	}
	sheet_text(s, DECLARATION, buf_str(&text));
}

static void set_version(struct sheet *s, const struct class_told *told)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (told->major == 0)
		return;
	buf_addf(&text, "%u.%u", told->major, told->minor);
	/* JVMS table 4.1-A: before 49, which is Java 5, there was 1.4 and so on. */
	if (told->major >= 49)
		buf_addf(&text, " of Java %u", told->major - 44);
	if (told->minor == UINT16_MAX)
		buf_adds(&text, " with preview features");
	sheet_text(s, VERSION, buf_str(&text));
	sheet_number(s, MAJOR, told->major);
	sheet_number(s, MINOR, told->minor);
}

static void set_places(struct sheet *s, const struct class_view *view)
{
	const struct class_row *row = view->row;
	char modifiers[96];
	bool linked = class_is_linked(row) || view->told->methods.n + view->told->fields.n > 0;

	sheet_text(s, CLASS, row->name);
	sheet_text(s, KIND, class_kind(row));
	sheet_bool(s, LINKED, linked);
	if (!linked)
		sheet_text(s, LINKED_TEXT, "not linked yet");
	sheet_text(s, MODIFIERS, class_modifiers(row, modifiers, sizeof(modifiers)));
	sheet_text(s, LOADER, places_loader(view->places, row->loader));
	sheet_text(s, MODULE, places_module(view->places, row->module));
	sheet_text(s, SOURCE, places_source(view->places, row->source));
	if (*view->told->file)
		sheet_text(s, SOURCE_FILE, view->told->file);
	set_version(s, view->told);
	if (view->told->constants)
		sheet_number(s, CONSTANTS, view->told->constants);
}

/* Of a class that is not linked the JVM tells no interfaces. */
static void add_interfaces(struct sheet *s, const struct class_view *view)
{
	add_ancestors(s, INTERFACES, view, &view->told->interfaces);
	if (view->told->interfaces.n > 0 || !view->file)
		return;
	for (uint16_t i = 0; i < view->file->n_interfaces; i++)
		set_name(sheet_item(s, INTERFACES, ancestor_fields, N_ANCESTOR), ANCESTOR,
			 cf_interface(view->file, i));
}

static void set_attributes(struct sheet *s, const struct cf_class *file)
{
	struct classattr host = classattr_open(cf_class_attributes(file), "NestHost");
	struct cf_text name;

	sheet_items(s, ANNOTATIONS);
	sheet_items(s, PERMITTED);
	sheet_items(s, NEST_MEMBERS);
	add_annotations(s, file);
	add_names(s, PERMITTED, file, "PermittedSubclasses");
	if (classattr_class(&host, &name))
		set_name(s, NEST_HOST, name);
	add_names(s, NEST_MEMBERS, file, "NestMembers");
	add_components(s, file);
}

/* Who changed the class, as far as that can be told. */
static void set_changes(struct sheet *s, const struct class_view *view)
{
	const char *signs[INSTRUMENTED_MAX];
	size_t n = instrumented_by(view->file, view->memory, signs);
	size_t differs = captured_differences(view->captured, NULL);

	sheet_items(s, INSTRUMENTED);
	for (size_t i = 0; i < n; i++)
		sheet_text(sheet_item(s, INSTRUMENTED, tool_fields, 1), 0, signs[i]);
	if (view->file)
		sheet_number(s, DIFFERS, (int64_t)differs);
	if (view->file && differs > 0)
		sheet_number(s, DIFFERS_TEXT, (int64_t)differs);
	sheet_bool(s, PATCHED, class_is_patched(view->row));
	if (class_is_patched(view->row))
		sheet_text(s, PATCHED_TEXT, "by jtool, see 'jtool patches'");
	sheet_text(s, WHY_NOT, view->why_not);
}

struct sheet *class_sheet(const struct class_view *view)
{
	struct sheet *s = sheet_new(fields, N_FIELDS);

	set_declaration(s, view);
	set_places(s, view);
	add_ancestors(s, SUPERS, view, &view->told->supers);
	add_interfaces(s, view);
	if (view->file)
		set_attributes(s, view->file);
	set_changes(s, view);
	add_members(s, view);
	return s;
}
