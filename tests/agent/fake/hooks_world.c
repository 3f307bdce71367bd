#include "agent/fake/hooks_world.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define N_NATIVES 32
#define ACC_PRIVATE 0x0002
#define CLASS(name, ...) static struct fake_object name##_class = { __VA_ARGS__ }
#define OBJECT(of, ...) { .class = &of##_class, __VA_ARGS__ }
#define REF(object) { .l = (jobject)&(object) }

struct hooks_world hooks_world;
static JNINativeMethod natives[N_NATIVES];
static size_t n_natives;

CLASS(object, .signature = "Ljava/lang/Object;");
CLASS(enum, .signature = "Ljava/lang/Enum;", .super = &object_class);
CLASS(throwable, .signature = "Ljava/lang/Throwable;", .super = &object_class);
CLASS(thread, .signature = "Ljava/lang/Thread;", .super = &object_class);
CLASS(virtual, .signature = "Ljava/lang/VirtualThread;", .super = &thread_class);
/* The class is not linked, as if no Integer had been used. */
CLASS(integer, .signature = "Ljava/lang/Integer;", .super = &object_class, .unprepared = true);
CLASS(string, .signature = "Ljava/lang/String;", .super = &object_class);
CLASS(app, .signature = "Lp/App;", .super = &object_class);
CLASS(color, .signature = "Lp/Color;", .super = &enum_class);
CLASS(special, .signature = "Lp/Color$1;", .super = &color_class);
CLASS(failure, .signature = "Lp/Failure;", .super = &throwable_class);
CLASS(ints, .signature = "[I", .super = &object_class);
CLASS(objects, .signature = "[Ljava/lang/Object;", .super = &object_class);

static struct fake_object *const loaded[] = {
	&object_class, &enum_class, &throwable_class, &thread_class, &integer_class,
	&string_class, &app_class, &virtual_class,
};

static struct fake_object red = OBJECT(string, .text = "RED");
static struct fake_object message = OBJECT(string, .text = "no");
static struct fake_object worker = OBJECT(string, .text = "worker");
static struct fake_object thread =
	OBJECT(thread, .text = "early worker", .fields = { REF(worker) });
static struct fake_object virtual_thread =
	OBJECT(virtual, .text = "early worker", .fields = { REF(worker) });
static const jvalue three[] = { { .i = 1 }, { .i = -2 }, { .i = 3 } };
static const jvalue mixed[] = { REF(fake_string), { .l = NULL }, REF(fake_ints) };

struct fake_object fake_object = OBJECT(app);
struct fake_object fake_string = OBJECT(string, .text = "abc");
struct fake_object fake_long_string = OBJECT(string,
	.text = "0123456789012345678901234567890123456789012345678901234567890123456789");
struct fake_object fake_integer = OBJECT(integer, .fields = { { .i = -5 } });
struct fake_object fake_color = OBJECT(color, .fields = { REF(red) });
struct fake_object fake_special_color = OBJECT(special, .fields = { REF(red) });
struct fake_object fake_ints = OBJECT(ints, .len = 3, .elements = three);
struct fake_object fake_objects = OBJECT(objects, .len = 3, .elements = mixed);
struct fake_object fake_thrown = OBJECT(failure, .fields = { REF(message) });

enum { THREAD_NAME };
static struct fake_field fields[] = {
	[THREAD_NAME] = { &thread_class, "name", "Ljava/lang/String;", 0, ACC_PRIVATE },
	{ &thread_class, "tid", "J", 1, ACC_PRIVATE },
	{ &enum_class, "name", "Ljava/lang/String;", 0, ACC_PRIVATE },
	{ &throwable_class, "detailMessage", "Ljava/lang/String;", 0, ACC_PRIVATE },
	{ &integer_class, "value", "I", 0, ACC_PRIVATE },
};

/* A frame of the hook, and two with arbitrary jmethodIDs, which are never looked up. */
static const jvmtiFrameInfo stack[] = {
	{ NULL, -1 }, { (jmethodID)&fake_object, 10 }, { (jmethodID)&fake_string, 20 },
};

static jclass JNICALL define_class(JNIEnv *jni, const char *name, jobject loader,
				   const jbyte *bytes, jsize len)
{
	(void)jni;
	ck_assert_ptr_null(loader);
	ck_assert_int_ge(len, 100);
	ck_assert_uint_eq((uint8_t)bytes[0], 0xca);
	if (fake_throws())
		return NULL;
	if (hooks_world.taken > 0) {
		hooks_world.taken--;
		fake.exception = true;
		return NULL;
	}
	hooks_world.defined++;
	(void)snprintf(hooks_world.hooks, sizeof(hooks_world.hooks), "%s", name);
	return fake_ref(&app_class);
}

static jint JNICALL register_natives(JNIEnv *jni, jclass class, const JNINativeMethod *methods,
				     jint n)
{
	(void)jni, (void)class;
	ck_assert_int_le(n, N_NATIVES);
	if (fake_fails())
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
	ck_abort_msg("no native method %s", name);
}

/* Returns the number of the caller's JNIEnv as the id of its thread. */
static jlong JNICALL get_long_field(JNIEnv *jni, jobject object, jfieldID id)
{
	(void)object;
	if (((const struct fake_field *)(void *)id)->signature[0] != 'J')
		ck_abort_msg("not a long");
	return fake_thread_of(jni);
}

void hooks_world_virtual(bool is_virtual)
{
	fake.current_thread = is_virtual ? &virtual_thread : &thread;
}

void hooks_world_early_names(bool early)
{
	fields[THREAD_NAME].signature = early ? "[C" : "Ljava/lang/String;";
}

void hooks_world_start(void)
{
	fake_add_objects();
	fake_add_classes();
	fake_add_threads();
	fake_add_environments();
	fake_jni_table.DefineClass = define_class;
	fake_jni_table.GetLongField = get_long_field;
	fake_jni_table.RegisterNatives = register_natives;
	fake = (struct fake_jvm){
		.frames_are_empty = true,
		.loaded = loaded,
		.n_loaded = sizeof(loaded) / sizeof(loaded[0]),
		.fields = fields,
		.n_fields = sizeof(fields) / sizeof(fields[0]),
		.hash = 0x12345678,
		.thread_group = &fake_object,
		.stack = stack,
		.depth = 3,
	};
	hooks_world_virtual(false);
	(void)fake_ti();
	fake_mark();
}
