#include "fake_hooks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NATIVES 32

struct fake_hooks fake;

#include "fake_counts.h"

static const struct JNINativeInterface_ jni_table;
static const struct jvmtiInterface_1_ ti_table;
static JNIEnv environments[FAKE_THREADS];
static jvmtiEnv the_ti = &ti_table;
static JNINativeMethod natives[N_NATIVES];
static size_t n_natives;

/* Classes and objects */

static struct fake_thing object_class = { .signature = "Ljava/lang/Object;" };
static struct fake_thing enum_class = { .signature = "Ljava/lang/Enum;", .super = &object_class };
static struct fake_thing throwable_class = { .signature = "Ljava/lang/Throwable;",
	.super = &object_class };
static struct fake_thing thread_class = { .signature = "Ljava/lang/Thread;",
	.super = &object_class };
static struct fake_thing integer_class = { .signature = "Ljava/lang/Integer;",
	.super = &object_class };
static struct fake_thing string_class = { .signature = "Ljava/lang/String;",
	.super = &object_class };
static struct fake_thing app_class = { .signature = "Lp/App;", .super = &object_class };
static struct fake_thing color_class = { .signature = "Lp/Color;", .super = &enum_class };
static struct fake_thing special_class = { .signature = "Lp/Color$1;", .super = &color_class };
static struct fake_thing ints_class = { .signature = "[I", .super = &object_class };
static struct fake_thing objects_class = { .signature = "[Ljava/lang/Object;",
	.super = &object_class };
static struct fake_thing failure_class = { .signature = "Lp/Failure;", .super = &throwable_class };
static struct fake_thing virtual_class = { .signature = "Ljava/lang/VirtualThread;",
	.super = &thread_class };
static struct fake_thing *const loaded[] = {
	&object_class, &enum_class, &throwable_class, &thread_class, &integer_class,
	&string_class, &app_class, &virtual_class,
};
#define N_LOADED (sizeof(loaded) / sizeof(loaded[0]))

struct fake_thing fake_object = { .class = &app_class };
struct fake_thing fake_string = { .class = &string_class, .text = "abc" };
struct fake_thing fake_long_string = { .class = &string_class,
	.text = "0123456789012345678901234567890123456789012345678901234567890123456789" };
struct fake_thing fake_integer = { .class = &integer_class, .field = { .i = -5 } };
static struct fake_thing red = { .class = &string_class, .text = "RED" };
struct fake_thing fake_color = { .class = &color_class, .field = { .l = (jobject)&red } };
struct fake_thing fake_special_color = { .class = &special_class, .field = { .l = (jobject)&red } };
static const jvalue three[] = { { .i = 1 }, { .i = -2 }, { .i = 3 } };
struct fake_thing fake_ints = { .class = &ints_class, .len = 3, .elements = three };
static const jvalue some[] = {
	{ .l = (jobject)&fake_string }, { .l = NULL }, { .l = (jobject)&fake_ints },
};
struct fake_thing fake_objects = { .class = &objects_class, .len = 3, .elements = some };
static struct fake_thing message = { .class = &string_class, .text = "no" };
struct fake_thing fake_thrown = { .class = &failure_class, .field = { .l = (jobject)&message } };
static struct fake_thing worker = { .class = &string_class, .text = "worker" };
static struct fake_thing thread = { .class = &thread_class };
static struct fake_thing virtual_thread = { .class = &virtual_class };

/* Fields of which there is one each; a jfieldID is the row's address. */
static const struct field {
	const struct fake_thing *class;
	const char *name, *signature;
} fields[] = {
	{ &enum_class, "name", "Ljava/lang/String;" },
	{ &throwable_class, "detailMessage", "Ljava/lang/String;" },
	{ &thread_class, "name", "Ljava/lang/String;" },
	{ &thread_class, "tid", "J" },
	{ &integer_class, "value", "I" },
};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static const struct field *field_of(jfieldID id)
{
	return (const struct field *)(void *)id;
}

/* JNI */

static jclass JNICALL define_class(JNIEnv *jni, const char *name, jobject loader,
				   const jbyte *bytes, jsize len)
{
	(void)jni;
	if (loader || len < 100 || (uint8_t)bytes[0] != 0xca)
		abort();
	if (fails() || fake.taken > 0) {
		fake.taken -= fake.taken > 0;
		fake.exception = true;
		return NULL;
	}
	fake.defined++;
	(void)snprintf(fake.hooks, sizeof(fake.hooks), "%s", name);
	return refer(&app_class);
}

static jint JNICALL register_natives(JNIEnv *jni, jclass class, const JNINativeMethod *methods,
				     jint n)
{
	(void)jni, (void)class;
	if (fails())
		return JNI_ERR;
	memcpy(natives, methods, (size_t)n * sizeof(*methods));
	n_natives = (size_t)n;
	return JNI_OK;
}

void *fake_native(const char *name)
{
	for (size_t i = 0; i < n_natives; i++) {
		if (strcmp(natives[i].name, name) == 0)
			return natives[i].fnPtr;
	}
	abort();
}

static jsize JNICALL string_length(JNIEnv *jni, jstring s)
{
	(void)jni;
	return (jsize)strlen(thing(s)->text);
}

static void JNICALL string_region(JNIEnv *jni, jstring s, jsize from, jsize n, jchar *to)
{
	if (fails()) {
		fake.exception = true;
		return;
	}
	if (from < 0 || n < 0 || from + n > string_length(jni, s))
		abort();
	for (jsize i = 0; i < n; i++)
		to[i] = (jchar)thing(s)->text[from + i];
}

static void JNICALL string_utf_region(JNIEnv *jni, jstring s, jsize from, jsize n, char *to)
{
	(void)jni;
	if (fails()) {
		fake.exception = true;
		return;
	}
	memcpy(to, thing(s)->text + from, (size_t)n);
}

static jobject JNICALL object_field(JNIEnv *jni, jobject object, jfieldID id)
{
	(void)jni;
	if (field_of(id)->class == &thread_class)
		return refer(&worker);
	return refer(thing(thing(object)->field.l));
}

static jint JNICALL int_field(JNIEnv *jni, jobject object, jfieldID id)
{
	(void)jni;
	if (field_of(id)->class != &integer_class)
		abort();
	return thing(object)->field.i;
}

/* The thread's id is its JNIEnv's number. */
static jlong JNICALL long_field(JNIEnv *jni, jobject object, jfieldID id)
{
	(void)object;
	if (field_of(id)->class != &thread_class)
		abort();
	return jni - environments;
}

static jsize JNICALL array_length(JNIEnv *jni, jarray array)
{
	(void)jni;
	return thing(array)->len;
}

static void JNICALL int_region(JNIEnv *jni, jintArray array, jsize from, jsize n, jint *to)
{
	(void)jni;
	if (fails()) {
		fake.exception = true;
		return;
	}
	for (jsize i = 0; i < n; i++)
		to[i] = thing(array)->elements[from + i].i;
}

static jobject JNICALL element(JNIEnv *jni, jobjectArray array, jsize i)
{
	(void)jni;
	if (fails()) {
		fake.exception = true;
		return NULL;
	}
	return refer(thing(thing(array)->elements[i].l));
}

/* Java's own are linked for it. */
static jfieldID JNICALL field_id(JNIEnv *jni, jclass class, const char *name, const char *signature)
{
	(void)jni;
	if (fails()) {
		fake.exception = true;
		return NULL;
	}
	for (size_t i = 0; i < N_FIELDS; i++) {
		if (fields[i].class == thing(class) && strcmp(fields[i].name, name) == 0 &&
		    strcmp(fields[i].signature, signature) == 0)
			return (jfieldID)(uintptr_t)&fields[i];
	}
	fake.exception = true;
	return NULL;
}

static const struct JNINativeInterface_ jni_table = {
	.PushLocalFrame = push_frame,
	.PopLocalFrame = pop_frame,
	.EnsureLocalCapacity = ensure_capacity,
	.ExceptionCheck = exception_check,
	.ExceptionClear = exception_clear,
	.DeleteLocalRef = delete_local,
	.NewGlobalRef = new_global,
	.DeleteGlobalRef = delete_global,
	.DefineClass = define_class,
	.RegisterNatives = register_natives,
	.GetObjectClass = get_class,
	.GetSuperclass = get_super,
	.GetFieldID = field_id,
	.GetStringLength = string_length,
	.GetStringRegion = string_region,
	.GetStringUTFRegion = string_utf_region,
	.GetObjectField = object_field,
	.GetIntField = int_field,
	.GetLongField = long_field,
	.GetArrayLength = array_length,
	.GetIntArrayRegion = int_region,
	.GetObjectArrayElement = element,
};

JNIEnv *fake_jni(unsigned i)
{
	environments[i] = &jni_table;
	return &environments[i];
}

/* JVMTI */

static jvmtiError JNICALL loaded_classes(jvmtiEnv *ti, jint *n, jclass **list)
{
	TI_FAULT();
	*n = N_LOADED;
	*list = block(sizeof(**list) * N_LOADED);
	for (size_t i = 0; i < N_LOADED; i++)
		(*list)[i] = refer(loaded[i]);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_signature(jvmtiEnv *ti, jclass class, char **signature,
					  char **generic)
{
	(void)generic;
	TI_FAULT();
	*signature = copy(thing(class)->signature);
	__atomic_store_n(&fake.last_signature, *signature, __ATOMIC_RELAXED);
	if (fake.meanwhile)
		fake.meanwhile();
	return JVMTI_ERROR_NONE;
}

/* Nobody has used an Integer yet. */
static bool is_linked(jclass class)
{
	return thing(class) != &integer_class;
}

static jvmtiError JNICALL class_status(jvmtiEnv *ti, jclass class, jint *status)
{
	(void)ti;
	if (fails())
		return JVMTI_ERROR_INVALID_CLASS;
	*status = is_linked(class) ? JVMTI_CLASS_STATUS_PREPARED : 0;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL version_number(jvmtiEnv *ti, jint *version)
{
	(void)ti;
	if (fails())
		return JVMTI_ERROR_INTERNAL;
	*version = (jint)(fake.release << JVMTI_VERSION_SHIFT_MAJOR);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_fields(jvmtiEnv *ti, jclass class, jint *n, jfieldID **list)
{
	TI_FAULT();
	if (!is_linked(class))
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*n = 0;
	*list = block(sizeof(**list) * N_FIELDS);
	for (size_t i = 0; i < N_FIELDS; i++) {
		if (fields[i].class == thing(class))
			(*list)[(*n)++] = (jfieldID)(uintptr_t)&fields[i];
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL field_name(jvmtiEnv *ti, jclass class, jfieldID id, char **name,
				     char **signature, char **generic)
{
	const struct field *f = field_of(id);
	bool early = fake.early_names && f->class == &thread_class && f->signature[0] == 'L';

	(void)class, (void)generic;
	TI_FAULT();
	*name = copy(f->name);
	*signature = copy(early ? "[C" : f->signature);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL field_modifiers(jvmtiEnv *ti, jclass class, jfieldID id,
					  jint *modifiers)
{
	(void)class, (void)id;
	TI_FAULT();
	*modifiers = 2; /* private */
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL hash_code(jvmtiEnv *ti, jobject object, jint *hash)
{
	(void)object;
	TI_FAULT();
	*hash = 0x12345678;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL current_thread(jvmtiEnv *ti, jthread *current)
{
	TI_FAULT();
	*current = refer(fake.is_virtual ? &virtual_thread : &thread);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL thread_info(jvmtiEnv *ti, jthread of, jvmtiThreadInfo *info)
{
	(void)ti;
	if (of)
		abort();
	if (fails())
		return JVMTI_ERROR_OUT_OF_MEMORY;
	*info = (jvmtiThreadInfo){
		.name = copy("early worker"), .thread_group = refer(&fake_object),
	};
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL stack_trace(jvmtiEnv *ti, jthread of, jint depth, jint max,
				      jvmtiFrameInfo *frames, jint *n)
{
	(void)ti;
	if (depth != 1 || max < 2)
		abort();
	/* The JVM waits for itself: see ag_value_stack(). */
	if (fake.release == 21 && of != (jthread)(fake.is_virtual ? &virtual_thread : &thread))
		abort();
	if (fails())
		return JVMTI_ERROR_OUT_OF_MEMORY;
	frames[0] = (jvmtiFrameInfo){ (jmethodID)(uintptr_t)&fake_object, 10 };
	frames[1] = (jvmtiFrameInfo){ (jmethodID)(uintptr_t)&fake_string, 20 };
	*n = 2;
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ ti_table = {
	.Deallocate = deallocate,
	.GetLoadedClasses = loaded_classes,
	.GetClassSignature = class_signature,
	.GetClassFields = class_fields,
	.GetClassStatus = class_status,
	.GetVersionNumber = version_number,
	.GetFieldName = field_name,
	.GetFieldModifiers = field_modifiers,
	.GetObjectHashCode = hash_code,
	.GetCurrentThread = current_thread,
	.GetThreadInfo = thread_info,
	.GetStackTrace = stack_trace,
};

jvmtiEnv *fake_ti(void)
{
	return &the_ti;
}
