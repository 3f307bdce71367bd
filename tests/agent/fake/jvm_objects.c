#include <check.h>
#include <string.h>

#include "agent/fake/jvm_parts.h"

#define ACC_STATIC 0x0008

static jclass JNICALL get_object_class(JNIEnv *jni, jobject object)
{
	(void)jni;
	return fake_ref(fake_object_of(object)->class);
}

static jclass JNICALL get_superclass(JNIEnv *jni, jclass class)
{
	(void)jni;
	return fake_ref(fake_object_of(class)->super);
}

static bool extends(const struct fake_object *class, const struct fake_object *super)
{
	while (class && class != super)
		class = class->super;
	return class != NULL;
}

static jboolean JNICALL is_assignable_from(JNIEnv *jni, jclass class, jclass super)
{
	(void)jni;
	return extends(fake_object_of(class), fake_object_of(super));
}

static jboolean JNICALL is_instance_of(JNIEnv *jni, jobject object, jclass class)
{
	(void)jni;
	return extends(fake_object_of(object)->class, fake_object_of(class));
}

/* Returns the loaded class with this name, or fake_plain() if there is none. */
static jclass JNICALL find_class(JNIEnv *jni, const char *name)
{
	size_t len = strlen(name);

	(void)jni;
	if (fake_throws())
		return NULL;
	for (jint i = 0; i < fake.n_loaded; i++) {
		const char *signature = fake.loaded[i]->signature;

		if (strlen(signature) == len + 2 && strncmp(signature + 1, name, len) == 0)
			return fake_ref(fake.loaded[i]);
	}
	return fake_ref(fake_plain(NULL));
}

/* Fields */

static jfieldID JNICALL get_field_id(JNIEnv *jni, jclass class, const char *name, const char *sig)
{
	(void)jni;
	if (fake_throws())
		return NULL;
	for (size_t i = 0; i < fake.n_fields; i++) {
		const struct fake_field *f = &fake.fields[i];

		if (f->class == fake_object_of(class) && strcmp(f->name, name) == 0 &&
		    strcmp(f->signature, sig) == 0)
			return (jfieldID)(uintptr_t)f;
	}
	fake.exception = true;
	return NULL;
}

/* Fails the test for a static field or one of another class: HotSpot would misread memory. */
static jvalue field_of(jobject object, jfieldID id, const char *types)
{
	const struct fake_field *f = (const struct fake_field *)(void *)id;
	const struct fake_object *o = fake_object_of(object);

	if (!extends(o->class, f->class) || f->modifiers & ACC_STATIC ||
	    !strchr(types, f->signature[0]))
		ck_abort_msg("the object has no instance field %s of this type", f->name);
	return o->fields[f->index];
}

static jobject JNICALL get_object_field(JNIEnv *jni, jobject object, jfieldID field)
{
	jobject value = field_of(object, field, "L[").l;

	(void)jni;
	return value ? fake_ref(fake_object_of(value)) : NULL;
}

static jint JNICALL get_int_field(JNIEnv *jni, jobject object, jfieldID field)
{
	(void)jni;
	return field_of(object, field, "I").i;
}

static jlong JNICALL get_long_field(JNIEnv *jni, jobject object, jfieldID field)
{
	(void)jni;
	return field_of(object, field, "J").j;
}

/* Finds a method that the class itself declares, not an inherited one. */
static jmethodID JNICALL get_method_id(JNIEnv *jni, jclass class, const char *name, const char *sig)
{
	const struct fake_object *c = fake_object_of(class);

	(void)jni;
	if (fake_throws())
		return NULL;
	for (size_t i = 0; i < c->n_methods; i++) {
		if (strcmp(c->methods[i].name, name) == 0 &&
		    strcmp(c->methods[i].descriptor, sig) == 0)
			return (jmethodID)(uintptr_t)&c->methods[i];
	}
	fake.exception = true;
	return NULL;
}

/* Strings and arrays */

static jsize JNICALL get_string_length(JNIEnv *jni, jstring s)
{
	(void)jni;
	return (jsize)strlen(fake_object_of(s)->text);
}

static const char *part_of(jstring s, jsize from, jsize n)
{
	if (from < 0 || n < 0 || from + n > get_string_length(NULL, s))
		ck_abort_msg("characters after the end of a string");
	return fake_object_of(s)->text + from;
}

static void JNICALL get_string_region(JNIEnv *jni, jstring s, jsize from, jsize n, jchar *to)
{
	const char *text = part_of(s, from, n);

	(void)jni;
	for (jsize i = fake_throws() ? n : 0; i < n; i++)
		to[i] = (jchar)text[i];
}

static void JNICALL get_string_utf_region(JNIEnv *jni, jstring s, jsize from, jsize n, char *to)
{
	const char *text = part_of(s, from, n);

	(void)jni;
	if (!fake_throws())
		memcpy(to, text, (size_t)n);
}

static jsize JNICALL get_array_length(JNIEnv *jni, jarray array)
{
	(void)jni;
	return fake_object_of(array)->len;
}

static void JNICALL get_int_array_region(JNIEnv *jni, jintArray array, jsize from, jsize n,
					 jint *to)
{
	const struct fake_object *o = fake_object_of(array);

	(void)jni;
	if (from < 0 || n < 0 || from + n > o->len)
		ck_abort_msg("elements after the end of an array");
	for (jsize i = fake_throws() ? n : 0; i < n; i++)
		to[i] = o->elements[from + i].i;
}

static const jvalue *element_of(jobjectArray array, jsize i)
{
	const struct fake_object *o = fake_object_of(array);

	if (i < 0 || i >= o->len)
		ck_abort_msg("an element after the end of an array");
	return &o->elements[i];
}

static jobject JNICALL get_object_array_element(JNIEnv *jni, jobjectArray array, jsize i)
{
	jobject value = element_of(array, i)->l;

	(void)jni;
	if (fake_throws() || !value)
		return NULL;
	return fake_ref(fake_object_of(value));
}

static void JNICALL set_object_array_element(JNIEnv *jni, jobjectArray array, jsize i, jobject v)
{
	const struct fake_object *o = fake_object_of(array);

	(void)jni;
	if (fake_throws())
		return;
	if (o->slots)
		o->slots[i] = (uintptr_t)(fake_object_of(v) + 1);
	else
		((jvalue *)(uintptr_t)element_of(array, i))->l = (jobject)fake_object_of(v);
}

/* New objects */

static jobject new_object(const char *signature, struct fake_object *class, jlong size, jint len)
{
	struct fake_object *o;

	if (fake_throws())
		return NULL;
	if (fake.allocate)
		return fake_ref(fake.allocate(signature, size, len));
	o = fake_plain(class);
	o->size = size;
	o->len = len;
	return fake_ref(o);
}

static jobject new_array(const char *signature, jsize n, jlong element)
{
	jlong header, size = 24 + 8 * n;

	if (fake.align) {
		header = (fake.header + element - 1) / element * element;
		size = (header + n * element + fake.align - 1) / fake.align * fake.align;
	}
	return new_object(signature, NULL, size, n);
}

static jobject JNICALL alloc_object(JNIEnv *jni, jclass class)
{
	(void)jni;
	return new_object("Ljava/lang/Object;", fake_object_of(class), 16, -1);
}

static jobject JNICALL new_thread(JNIEnv *jni, jclass class, jmethodID constructor, ...)
{
	(void)jni, (void)constructor;
	if (fake.allocate && strcmp(fake_object_of(class)->signature, "Ljava/lang/Thread;") != 0)
		ck_abort_msg("a new object of another class than Thread");
	return new_object("Ljava/lang/Thread;", fake_object_of(class), 40, -1);
}

static jstring JNICALL new_string_utf(JNIEnv *jni, const char *text)
{
	(void)jni, (void)text;
	return new_object("Ljava/lang/String;", NULL, 24, -1);
}

static jbyteArray JNICALL new_byte_array(JNIEnv *jni, jsize n)
{
	(void)jni;
	return new_array("[B", n, 1);
}

static jshortArray JNICALL new_short_array(JNIEnv *jni, jsize n)
{
	(void)jni;
	return new_array("[S", n, 2);
}

static jintArray JNICALL new_int_array(JNIEnv *jni, jsize n)
{
	(void)jni;
	return new_array("[I", n, 4);
}

static jlongArray JNICALL new_long_array(JNIEnv *jni, jsize n)
{
	(void)jni;
	return new_array("[J", n, 8);
}

static jobjectArray JNICALL new_object_array(JNIEnv *jni, jsize n, jclass class, jobject fill)
{
	(void)jni, (void)class, (void)fill;
	return new_array("[Ljava/lang/Object;", n, fake.reference);
}

void fake_add_objects(void)
{
	struct JNINativeInterface_ *jni = &fake_jni_table;

	jni->AllocObject = alloc_object;
	jni->FindClass = find_class;
	jni->GetArrayLength = get_array_length;
	jni->GetFieldID = get_field_id;
	jni->GetIntArrayRegion = get_int_array_region;
	jni->GetIntField = get_int_field;
	jni->GetLongField = get_long_field;
	jni->GetMethodID = get_method_id;
	jni->GetObjectArrayElement = get_object_array_element;
	jni->GetObjectClass = get_object_class;
	jni->GetObjectField = get_object_field;
	jni->GetStringLength = get_string_length;
	jni->GetStringRegion = get_string_region;
	jni->GetStringUTFRegion = get_string_utf_region;
	jni->GetSuperclass = get_superclass;
	jni->IsAssignableFrom = is_assignable_from;
	jni->IsInstanceOf = is_instance_of;
	jni->NewByteArray = new_byte_array;
	jni->NewIntArray = new_int_array;
	jni->NewLongArray = new_long_array;
	jni->NewObject = new_thread;
	jni->NewObjectArray = new_object_array;
	jni->NewShortArray = new_short_array;
	jni->NewStringUTF = new_string_utf;
	jni->SetObjectArrayElement = set_object_array_element;
}
