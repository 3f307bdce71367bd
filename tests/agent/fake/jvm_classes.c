#include <check.h>
#include <string.h>

#include "agent/fake/jvm_parts.h"

#define ACC_NATIVE 0x0100

static bool is_array(jclass class)
{
	return fake_object_of(class)->signature[0] == '[';
}

/* Returns the class that a JVMTI function was called for, after on_class() has checked it. */
static struct fake_object *look_at(jclass class)
{
	struct fake_object *c = fake_object_of(class);

	if (fake.on_class)
		fake.on_class(c);
	return c;
}

static jvmtiError JNICALL get_loaded_classes(jvmtiEnv *ti, jint *n, jclass **list)
{
	(void)ti;
	FAKE_TI_FAILS();
	*n = 0;
	*list = fake_block((size_t)fake.n_loaded * sizeof(**list));
	for (jint i = 0; i < fake.n_loaded; i++) {
		if (!fake.loaded[i]->unloaded && !fake.loaded[i]->absent)
			(*list)[(*n)++] = fake_ref(fake.loaded[i]);
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *ti, jclass class, char **signature,
					      char **generic)
{
	(void)ti, (void)generic;
	FAKE_TI_FAILS();
	*signature = fake_text(fake_object_of(class)->signature);
	__atomic_store_n(&fake.last_signature, *signature, __ATOMIC_RELAXED);
	if (fake.in_signature)
		fake.in_signature();
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_loader(jvmtiEnv *ti, jclass class, jobject *loader)
{
	const struct fake_object *c = look_at(class);

	(void)ti;
	FAKE_TI_FAILS();
	if (fake.in_class_loader && fake.other_thread)
		fake.in_class_loader();
	*loader = fake_ref(c->loader);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_modifiers(jvmtiEnv *ti, jclass class, jint *modifiers)
{
	(void)ti;
	FAKE_TI_FAILS();
	*modifiers = fake_object_of(class)->modifiers;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_status(jvmtiEnv *ti, jclass class, jint *status)
{
	(void)ti;
	FAKE_TI_FAILS();
	*status = is_array(class)			? JVMTI_CLASS_STATUS_ARRAY
		  : fake_object_of(class)->unprepared ? 0
						      : JVMTI_CLASS_STATUS_PREPARED;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL is_modifiable_class(jvmtiEnv *ti, jclass class, jboolean *modifiable)
{
	const struct fake_object *c = look_at(class);

	(void)ti;
	FAKE_TI_FAILS();
	*modifiable = !is_array(class) && !c->unmodifiable;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_implemented_interfaces(jvmtiEnv *ti, jclass class, jint *n,
						     jclass **list)
{
	const struct fake_object *c = fake_object_of(class);

	(void)ti;
	FAKE_TI_FAILS();
	if (c->unprepared)
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*n = c->interface != NULL;
	*list = fake_block(sizeof(jclass));
	**list = fake_ref(c->interface);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_version_numbers(jvmtiEnv *ti, jclass class, jint *minor,
						    jint *major)
{
	(void)ti;
	FAKE_TI_FAILS();
	if (is_array(class))
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*minor = 0;
	*major = 52;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_source_file_name(jvmtiEnv *ti, jclass class, char **name)
{
	const struct fake_object *c = fake_object_of(class);

	if (!fake_environment(ti)->capabilities.can_get_source_file_name)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	FAKE_TI_FAILS();
	if (!c->source)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*name = fake_text(c->source);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_object_hash_code(jvmtiEnv *ti, jobject object, jint *hash)
{
	(void)ti;
	FAKE_TI_FAILS();
	*hash = fake.hash ? fake.hash : fake_object_of(object)->hash;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_object_size(jvmtiEnv *ti, jobject object, jlong *size)
{
	(void)ti;
	FAKE_TI_FAILS();
	*size = fake_object_of(object)->size;
	return JVMTI_ERROR_NONE;
}

/* Fields */

static const struct fake_field *field_of(jfieldID id)
{
	return (const struct fake_field *)(void *)id;
}

static jvmtiError JNICALL get_class_fields(jvmtiEnv *ti, jclass class, jint *n, jfieldID **list)
{
	const struct fake_object *c = fake_object_of(class);

	(void)ti;
	FAKE_TI_FAILS();
	if (c->unprepared)
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*n = 0;
	*list = fake_block(fake.n_fields * sizeof(**list));
	for (size_t i = 0; i < fake.n_fields; i++) {
		if (fake.fields[i].class == c)
			(*list)[(*n)++] = (jfieldID)(uintptr_t)&fake.fields[i];
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_field_name(jvmtiEnv *ti, jclass class, jfieldID id, char **name,
					 char **signature, char **generic)
{
	(void)ti, (void)class;
	FAKE_TI_FAILS();
	if (name)
		*name = fake_text(field_of(id)->name);
	*signature = fake_text(field_of(id)->signature);
	if (generic)
		*generic = fake_text("Ljava/util/List<LApp;>;");
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_field_modifiers(jvmtiEnv *ti, jclass class, jfieldID id,
					      jint *modifiers)
{
	(void)ti, (void)class;
	FAKE_TI_FAILS();
	*modifiers = field_of(id)->modifiers;
	return JVMTI_ERROR_NONE;
}

/* Methods */

static const struct fake_method *method_of(jmethodID id)
{
	return (const struct fake_method *)(void *)id;
}

static jvmtiError JNICALL get_class_methods(jvmtiEnv *ti, jclass class, jint *n, jmethodID **list)
{
	const struct fake_object *c = look_at(class);

	(void)ti;
	FAKE_TI_FAILS();
	if (c->unprepared)
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*n = (jint)c->n_methods;
	*list = fake_block(c->n_methods * sizeof(**list));
	for (jint i = 0; i < *n; i++)
		(*list)[i] = (jmethodID)(uintptr_t)&c->methods[i];
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *ti, jmethodID id, char **name,
					  char **descriptor, char **generic)
{
	(void)ti;
	FAKE_TI_FAILS();
	if (method_of(id)->unloaded)
		return JVMTI_ERROR_INVALID_METHODID;
	*name = fake_text(method_of(id)->name);
	if (descriptor)
		*descriptor = fake_text(method_of(id)->descriptor);
	if (generic)
		*generic = NULL;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_declaring_class(jvmtiEnv *ti, jmethodID id, jclass *class)
{
	(void)ti;
	FAKE_TI_FAILS();
	*class = fake_ref(method_of(id)->class);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_modifiers(jvmtiEnv *ti, jmethodID id, jint *modifiers)
{
	(void)ti;
	FAKE_TI_FAILS();
	*modifiers = method_of(id)->modifiers;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_bytecodes(jvmtiEnv *ti, jmethodID id, jint *len, unsigned char **code)
{
	const struct fake_method *m = method_of(id);

	(void)ti;
	FAKE_TI_FAILS();
	if (m->modifiers & ACC_NATIVE)
		return JVMTI_ERROR_NATIVE_METHOD;
	*len = m->len;
	*code = m->len ? memcpy(fake_block((size_t)m->len), m->code, (size_t)m->len) : NULL;
	return JVMTI_ERROR_NONE;
}

/* Returns lines in no order: line 10 from bytecode index 0, line 30 from 8, line 20 from 4. */
static jvmtiError JNICALL get_line_number_table(jvmtiEnv *ti, jmethodID id, jint *n,
						jvmtiLineNumberEntry **table)
{
	static const jvmtiLineNumberEntry lines[] = { { 0, 10 }, { 8, 30 }, { 4, 20 } };

	(void)ti, (void)id;
	FAKE_TI_FAILS();
	*table = memcpy(fake_block(sizeof(lines)), lines, sizeof(lines));
	*n = 3;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL is_method_obsolete(jvmtiEnv *ti, jmethodID id, jboolean *is)
{
	(void)ti;
	FAKE_TI_FAILS();
	*is = method_of(id)->obsolete;
	return JVMTI_ERROR_NONE;
}

void fake_add_classes(void)
{
	jvmtiInterface_1 *ti = &fake_ti_table;

	ti->GetBytecodes = get_bytecodes;
	ti->GetClassFields = get_class_fields;
	ti->GetClassLoader = get_class_loader;
	ti->GetClassMethods = get_class_methods;
	ti->GetClassModifiers = get_class_modifiers;
	ti->GetClassSignature = get_class_signature;
	ti->GetClassStatus = get_class_status;
	ti->GetClassVersionNumbers = get_class_version_numbers;
	ti->GetFieldModifiers = get_field_modifiers;
	ti->GetFieldName = get_field_name;
	ti->GetImplementedInterfaces = get_implemented_interfaces;
	ti->GetLineNumberTable = get_line_number_table;
	ti->GetLoadedClasses = get_loaded_classes;
	ti->GetMethodDeclaringClass = get_method_declaring_class;
	ti->GetMethodModifiers = get_method_modifiers;
	ti->GetMethodName = get_method_name;
	ti->GetObjectHashCode = get_object_hash_code;
	ti->GetObjectSize = get_object_size;
	ti->GetSourceFileName = get_source_file_name;
	ti->IsMethodObsolete = is_method_obsolete;
	ti->IsModifiableClass = is_modifiable_class;
}
