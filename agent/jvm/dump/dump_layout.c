#include "jvm/dump/dump_layout.h"

#include "jvm/jni_refs.h"

#define ACC_STATIC 0x0008 /* JVMS table 4.5-A */
#define FIELDS_FIRST 8192
#define SYMBOLS_FIRST 16384

struct reading {
	struct ag_jvm *jvm;
	struct ag_hprof *out;
	struct ag_dump_layout *layout;
};

uint32_t ag_dump_symbol(struct ag_jvm *jvm, struct ag_hprof *out, struct ag_dump_layout *layout,
			const char *text)
{
	uint32_t symbol = ag_hprof_symbol(out, &layout->symbols, text, strlen(text));

	if (symbol == 0)
		(void)ag_fail_memory(jvm);
	return symbol;
}

/*
 * Returns the symbol of the name of a class: the name is "com/acme/Cart" for "Lcom/acme/Cart;", and
 * the unchanged signature for an array class.  In the signature of a hidden class JVMTI has a dot
 * before the address; the dot becomes a plus sign, as in the JVM's own dump.
 */
static uint32_t class_symbol(struct reading *r, char *signature)
{
	size_t len = strlen(signature);
	char *dot;

	while ((dot = strchr(signature, '.')) != NULL)
		*dot = '+';
	if (*signature == 'L' && len > 2) {
		signature[len - 1] = '\0';
		signature++;
	}
	return ag_dump_symbol(r->jvm, r->out, r->layout, signature);
}

static void set_kind(struct ag_dump_class *c, const char *signature)
{
	c->kind = AG_DUMP_INSTANCE;
	if (*signature == '[') {
		c->element = (uint8_t)ag_hprof_type_of(signature[1]);
		c->kind = c->element == AG_HPROF_OBJECT ? AG_DUMP_OBJECTS : AG_DUMP_PRIMITIVES;
	} else if (strcmp(signature, "Ljava/lang/Class;") == 0) {
		c->kind = AG_DUMP_CLASS;
	} else if (strcmp(signature, "Ljdk/internal/vm/StackChunk;") == 0) {
		c->kind = AG_DUMP_STACK;
	}
	c->is_object = strcmp(signature, "Ljava/lang/Object;") == 0;
	c->is_virtual_thread = strcmp(signature, "Ljava/lang/VirtualThread;") == 0;
}

static int grow(struct reading *r)
{
	struct ag_dump_layout *l = r->layout;
	uint32_t cap = l->cap_fields ? l->cap_fields * 2 : FIELDS_FIRST;
	struct ag_dump_field *fields = ag_jvm_alloc(r->jvm, cap, sizeof(*fields));

	if (!fields)
		return -1;
	if (l->n_fields)
		memcpy(fields, l->fields, l->n_fields * sizeof(*fields));
	ag_free(r->jvm->mem, l->fields);
	l->fields = fields;
	l->cap_fields = cap;
	return 0;
}

static int read_field(struct reading *r, jclass class, jfieldID id)
{
	struct ag_dump_layout *l = r->layout;
	char *name = NULL, *signature = NULL;
	struct ag_dump_field field = { .id = id };
	jint modifiers = 0;

	if (l->n_fields == l->cap_fields && grow(r) != 0)
		return -1;
	if (AG_JVMTI(r->jvm, GetFieldName, class, id, &name, &signature, NULL) == 0 &&
	    AG_JVMTI(r->jvm, GetFieldModifiers, class, id, &modifiers) == 0) {
		field.type = (uint8_t)ag_hprof_type_of(*signature);
		field.is_static = modifiers & ACC_STATIC;
		field.name = ag_dump_symbol(r->jvm, r->out, l, name);
	}
	ag_jvmti_free(r->jvm, name);
	ag_jvmti_free(r->jvm, signature);
	if (field.name == 0)
		return -1;
	if (field.type == AG_HPROF_NONE)
		return ag_fail(r->jvm, "read the fields", "one has an unknown type");
	l->fields[l->n_fields++] = field;
	return 0;
}

/*
 * Finds the field classLoader among the fields of `c`, which is java.lang.Class.  JDK 8 to 27 have
 * this field, although reflection does not show it.
 */
static int find_class_loader(struct reading *r, const struct ag_dump_class *c)
{
	struct ag_dump_layout *l = r->layout;
	uint32_t name = ag_dump_symbol(r->jvm, r->out, l, "classLoader");

	for (uint32_t i = c->first; i < l->n_fields; i++) {
		if (l->fields[i].name == name && !l->fields[i].is_static) {
			l->class_loader = i;
			return 0;
		}
	}
	return ag_fail(r->jvm, "read the fields", "Class.classLoader is missing");
}

static int read_instance(struct reading *r, jclass class, struct ag_dump_class *c)
{
	jfieldID *ids = NULL;
	jint n = 0, status;
	int rc;

	if (AG_JVMTI(r->jvm, GetClassStatus, class, &status) != 0)
		return -1;
	if (!(status & JVMTI_CLASS_STATUS_PREPARED)) {
		c->kind = AG_DUMP_UNKNOWN;
		return 0;
	}
	rc = AG_JVMTI(r->jvm, GetClassFields, class, &n, &ids);
	for (jint i = 0; i < n && rc == 0; i++)
		rc = read_field(r, class, ids[i]);
	c->n = (uint32_t)n;
	ag_jvmti_free(r->jvm, ids);
	return rc == 0 && c->kind == AG_DUMP_CLASS ? find_class_loader(r, c) : rc;
}

static int read_class(struct reading *r, jclass class, struct ag_dump_class *c)
{
	char *signature = ag_class_signature(r->jvm, class);
	jobject loader;
	bool new;

	if (!signature)
		return -1;
	set_kind(c, signature);
	c->name = class_symbol(r, signature);
	c->first = r->layout->n_fields;
	c->super = AG_DUMP_NONE;
	c->super_ref = ag_ref_super(r->jvm, class);
	ag_jvmti_free(r->jvm, signature);
	if (c->name == 0)
		return -1;
	if (c->kind < AG_DUMP_OBJECTS)
		return read_instance(r, class, c);
	if (ag_class_loader(r->jvm, class, &loader) != 0)
		return -1;
	return ag_ids_take(r->jvm, &r->layout->loaders, loader, &c->loader, &new);
}

int ag_dump_layout_read(struct ag_jvm *jvm, struct ag_hprof *out, const struct ag_classes *list,
			struct ag_dump_layout *layout)
{
	struct reading r = { jvm, out, layout };

	*layout = (struct ag_dump_layout){ .n = list->n };
	layout->classes = ag_jvm_alloc(jvm, list->n, sizeof(*layout->classes));
	if (!layout->classes)
		return -1;
	if (ag_hash_map_init(&layout->symbols, jvm->mem, SYMBOLS_FIRST) != 0)
		return ag_fail_memory(jvm);
	/* For references to superclasses and loaders, and for those of find_new() later. */
	if (ag_ref_expect(jvm, 3 * (jint)list->n + 256) != 0)
		return -1;
	for (uint32_t i = 0; i < list->n; i++) {
		if (read_class(&r, list->list[i], &layout->classes[i]) != 0)
			return -1;
	}
	return out->chan->broken ? -1 : 0;
}

void ag_dump_layout_release(struct ag_jvm *jvm, struct ag_dump_layout *layout)
{
	for (uint32_t i = 0; layout->classes && i < layout->n; i++)
		ag_ref_drop(jvm, layout->classes[i].super_ref);
	ag_free(jvm->mem, layout->classes);
	ag_free(jvm->mem, layout->fields);
	ag_ids_release(jvm, &layout->loaders);
	ag_hash_map_release(&layout->symbols, jvm->mem);
	*layout = (struct ag_dump_layout){ 0 };
}
