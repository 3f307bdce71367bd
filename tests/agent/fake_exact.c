#include "fake_exact.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct fake_exact fake;

#include "fake_counts.h"

__thread jvmtiFrameInfo fake_stack[FAKE_FRAMES];
__thread jint fake_depth;
__thread struct fake_thing *fake_current;

static const struct JNINativeInterface_ jni_table;
static const struct jvmtiInterface_1_ ti_table;
static JNIEnv environments[FAKE_THREADS];
static jvmtiEnv the_ti = &ti_table;

struct fake_thing fake_object = { .class = &fake_class, .signature = "Ljava/lang/Object;",
	.hash = 1 };
struct fake_thing fake_class = { .class = &fake_class, .signature = "Ljava/lang/Class;",
	.super = &fake_object, .hash = 2 };
struct fake_thing fake_thread = { .class = &fake_class, .signature = "Ljava/lang/Thread;",
	.super = &fake_object, .hash = 3 };
struct fake_thing fake_virtual = { .class = &fake_class,
	.signature = "Ljava/lang/VirtualThread;", .super = &fake_thread, .hash = 4 };
static int carrier_field;

/* JNI */

static jobject JNICALL new_local(JNIEnv *jni, jobject object)
{
	(void)jni;
	return refer(thing(object));
}

static jweak JNICALL new_weak(JNIEnv *jni, jobject object)
{
	(void)jni;
	if (fails())
		return NULL;
	add(&fake.weak, 1);
	return object;
}

static void JNICALL delete_weak(JNIEnv *jni, jweak object)
{
	(void)jni, (void)object;
	add(&fake.weak, -1);
}

static jboolean JNICALL same(JNIEnv *jni, jobject a, jobject b)
{
	(void)jni;
	return a == b;
}

static jboolean JNICALL instance_of(JNIEnv *jni, jobject object, jclass class)
{
	(void)jni;
	return thing(object)->class == thing(class);
}

static jobject JNICALL object_field(JNIEnv *jni, jobject object, jfieldID field)
{
	(void)jni, (void)object;
	if ((void *)field != &carrier_field)
		abort();
	return refer(fake.carrier);
}

static jclass JNICALL find_class(JNIEnv *jni, const char *name)
{
	(void)jni, (void)name;
	if (fails()) {
		fake.exception = true;
		return NULL;
	}
	return refer(&fake_object);
}

/* An array that is only to be measured: one at a time. */
static jobject new_array(jsize n, jlong element)
{
	static struct fake_thing array;
	jlong header = (fake.header + element - 1) / element * element;

	if (fails()) {
		fake.exception = true;
		return NULL;
	}
	array.size = (header + n * element + fake.align - 1) / fake.align * fake.align;
	return refer(&array);
}

static jbyteArray JNICALL new_bytes(JNIEnv *jni, jsize n)
{
	(void)jni;
	return new_array(n, 1);
}

static jshortArray JNICALL new_shorts(JNIEnv *jni, jsize n)
{
	(void)jni;
	return new_array(n, 2);
}

static jintArray JNICALL new_ints(JNIEnv *jni, jsize n)
{
	(void)jni;
	return new_array(n, 4);
}

static jlongArray JNICALL new_longs(JNIEnv *jni, jsize n)
{
	(void)jni;
	return new_array(n, 8);
}

static jobjectArray JNICALL new_objects(JNIEnv *jni, jsize n, jclass class, jobject value)
{
	(void)jni, (void)class, (void)value;
	return new_array(n, fake.reference);
}

static jsize JNICALL array_length(JNIEnv *jni, jarray array)
{
	(void)jni;
	return thing(array)->len;
}

static jobject JNICALL element(JNIEnv *jni, jobjectArray array, jsize i)
{
	(void)jni;
	if (i < 0 || i >= thing(array)->len)
		abort();
	return refer(thing(array)->elements[i]);
}

static const struct JNINativeInterface_ jni_table = {
	.GetObjectClass = get_class,
	.GetSuperclass = get_super,
	.NewLocalRef = new_local,
	.DeleteLocalRef = delete_local,
	.NewWeakGlobalRef = new_weak,
	.DeleteWeakGlobalRef = delete_weak,
	.NewGlobalRef = new_global,
	.DeleteGlobalRef = delete_global,
	.IsSameObject = same,
	.IsInstanceOf = instance_of,
	.GetObjectField = object_field,
	.ExceptionCheck = exception_check,
	.ExceptionClear = exception_clear,
	.PushLocalFrame = push_frame,
	.PopLocalFrame = pop_frame,
	.EnsureLocalCapacity = ensure_capacity,
	.FindClass = find_class,
	.NewByteArray = new_bytes,
	.NewShortArray = new_shorts,
	.NewIntArray = new_ints,
	.NewLongArray = new_longs,
	.NewObjectArray = new_objects,
	.GetArrayLength = array_length,
	.GetObjectArrayElement = element,
};

JNIEnv *fake_jni(unsigned i)
{
	environments[i] = &jni_table;
	return &environments[i];
}

/* JVMTI */

static struct fake_method *method_of(jmethodID id)
{
	return (struct fake_method *)(void *)id;
}

static jvmtiError JNICALL object_size(jvmtiEnv *ti, jobject object, jlong *size)
{
	TI_FAULT();
	*size = thing(object)->size;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL hash_code(jvmtiEnv *ti, jobject object, jint *hash)
{
	TI_FAULT();
	*hash = thing(object)->hash;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_signature(jvmtiEnv *ti, jclass class, char **signature,
					  char **generic)
{
	(void)generic;
	TI_FAULT();
	*signature = copy(thing(class)->signature);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL loaded_classes(jvmtiEnv *ti, jint *n, jclass **list)
{
	TI_FAULT();
	*n = fake.n_loaded;
	*list = block(sizeof(**list) * (size_t)fake.n_loaded);
	for (jint i = 0; i < fake.n_loaded; i++)
		(*list)[i] = refer(fake.loaded[i]);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL capabilities(jvmtiEnv *ti, const jvmtiCapabilities *wanted)
{
	(void)wanted;
	TI_FAULT();
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL notify(jvmtiEnv *ti, jvmtiEventMode mode, jvmtiEvent event,
				 jthread thread, ...)
{
	(void)ti, (void)mode, (void)event, (void)thread;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_methods(jvmtiEnv *ti, jclass class, jint *n, jmethodID **list)
{
	TI_FAULT();
	*n = thing(class)->clone != NULL;
	*list = block(sizeof(**list));
	(*list)[0] = (jmethodID)(void *)thing(class)->clone;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL method_name(jvmtiEnv *ti, jmethodID method, char **name,
				      char **descriptor, char **generic)
{
	(void)generic;
	TI_FAULT();
	*name = copy(method_of(method)->name);
	if (descriptor)
		*descriptor = copy(method_of(method)->descriptor);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL method_class(jvmtiEnv *ti, jmethodID method, jclass *class)
{
	TI_FAULT();
	*class = refer(method_of(method)->class);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL bytecodes(jvmtiEnv *ti, jmethodID method, jint *len,
				    unsigned char **code)
{
	TI_FAULT();
	*len = method_of(method)->len;
	*code = block((size_t)*len);
	memcpy(*code, method_of(method)->code, (size_t)*len);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL current_thread(jvmtiEnv *ti, jthread *thread)
{
	TI_FAULT();
	*thread = refer(fake_current);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL stack_trace(jvmtiEnv *ti, jthread thread, jint from, jint max,
				      jvmtiFrameInfo *frames, jint *n)
{
	if (!thread || thing(thread) != fake_current)
		abort();
	(void)__atomic_fetch_add(&fake.walks, 1, __ATOMIC_RELAXED);
	TI_FAULT();
	if (fake.meanwhile)
		fake.meanwhile();
	*n = 0;
	for (jint i = from; i < fake_depth && *n < max; i++)
		frames[(*n)++] = fake_stack[i];
	return JVMTI_ERROR_NONE;
}

/* A virtual thread has one. */
static jvmtiError JNICALL class_fields(jvmtiEnv *ti, jclass class, jint *n, jfieldID **list)
{
	TI_FAULT();
	*n = thing(class) == &fake_virtual;
	*list = block(sizeof(**list));
	(*list)[0] = (jfieldID)(void *)&carrier_field;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL field_name(jvmtiEnv *ti, jclass class, jfieldID field, char **name,
				     char **descriptor, char **generic)
{
	(void)class, (void)field, (void)generic;
	TI_FAULT();
	*name = copy("carrierThread");
	*descriptor = copy("Ljava/lang/Thread;");
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL field_modifiers(jvmtiEnv *ti, jclass class, jfieldID field, jint *is)
{
	(void)class, (void)field;
	TI_FAULT();
	*is = 0;
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ ti_table = {
	.Deallocate = deallocate,
	.GetObjectSize = object_size,
	.GetObjectHashCode = hash_code,
	.GetClassSignature = class_signature,
	.GetLoadedClasses = loaded_classes,
	.AddCapabilities = capabilities,
	.SetEventNotificationMode = notify,
	.GetClassMethods = class_methods,
	.GetMethodName = method_name,
	.GetMethodDeclaringClass = method_class,
	.GetBytecodes = bytecodes,
	.GetCurrentThread = current_thread,
	.GetStackTrace = stack_trace,
	.GetClassFields = class_fields,
	.GetFieldName = field_name,
	.GetFieldModifiers = field_modifiers,
};

jvmtiEnv *fake_ti(void)
{
	return &the_ti;
}
