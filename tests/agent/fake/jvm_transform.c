#include "agent/fake/jvm_transform.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX 64

struct text {
	char data[BYTES_MAX];
	size_t len; /* 0: none */
};

struct fake_transform fake_transform;

static struct fake_object class_class = { .class = &class_class, .signature = "Ljava/lang/Class;" };
static struct fake_object loader_class = { .class = &class_class, .signature = "Lp/Loader;" };
static struct fake_object loader = { .class = &loader_class }, thread;
static struct fake_object classes[N_CLASSES + 1] = {
	{ .signature = "Lp/A;" },
	{ .signature = "Lp/B;", .source = "B.java" },
	{ .signature = "[I" },
	{ .signature = "Lp/C;", .source = "B.java" },
	{ .signature = "Lp/D;", .source = "B.java" },
	[OBJECT] = { .signature = "Ljava/lang/Object;", .source = "B.java" },
};
static struct fake_object *const loaded[] = {
	&classes[0], &classes[1], &classes[2], &classes[3], &classes[4], &classes[OBJECT],
};

const struct fake_method fake_methods[FAKE_METHODS] = {
	[FAKE_RUN] = { .class = &classes[0], .name = "run", .obsolete = true },
	[FAKE_INIT] = { .class = &classes[1], .name = "<init>" },
	[FAKE_RUN_B] = { .class = &classes[1], .name = "run" },
	[FAKE_UNLOADED] = { .unloaded = true },
};
/* The methods that JNI finds: own_method in the loader's class, other_method in any other class. */
static const struct fake_method own_method, other_method;

static const jvmtiFrameInfo stack[] = {
	{ FAKE_METHOD(FAKE_RUN), 0 }, { FAKE_METHOD(FAKE_RUN), 0 }, { FAKE_METHOD(FAKE_RUN_B), 0 },
};

/* The code that a class runs, and the code before the first hook that changed it. */
static struct text runs[N_CLASSES + 1], cached[N_CLASSES + 1];
static struct fake_environment *other;
static bool other_is_idle;

static struct text text_of(const void *data, size_t len)
{
	struct text text = { .len = len };

	ck_assert_msg(len > 0 && len < BYTES_MAX, "code of %zu bytes", len);
	memcpy(text.data, data, len);
	return text;
}

jclass fake_class(int i)
{
	return fake_ref(&classes[i]);
}

void fake_is_absent(int i)
{
	classes[i].absent = true;
}

const char *fake_running(int i)
{
	return runs[i].data;
}

void fake_is(int i, const char *bytes)
{
	runs[i] = text_of(bytes, strlen(bytes));
}

static int number_of(const struct fake_object *class)
{
	ck_assert_msg(class >= classes && class <= &classes[OBJECT], "not one of the classes");
	return (int)(class - classes);
}

/* Tags; each environment has its own */

static jlong *tag_of(jvmtiEnv *ti, const struct fake_object *o)
{
	return &fake_environment(ti)->tags[o == &loader ? N_CLASSES + 1 : number_of(o)];
}

void fake_unload(int i)
{
	struct fake_environment *e;

	classes[i].unloaded = true;
	for (size_t k = 0; (e = fake_environment_at(k)); k++) {
		fake.counts.tags -= e->tags[i] != 0;
		e->tags[i] = 0;
	}
}

/* Never fails: a hook that cannot read the tag would leave the class unchanged. */
static jvmtiError JNICALL get_tag(jvmtiEnv *ti, jobject object, jlong *tag)
{
	*tag = *tag_of(ti, fake_object_of(object));
	return JVMTI_ERROR_NONE;
}

/* Never fails for tag 0: a tag can always be removed. */
static jvmtiError JNICALL set_tag(jvmtiEnv *ti, jobject object, jlong tag)
{
	const struct fake_object *o = fake_object_of(object);
	jlong *its = tag_of(ti, o);

	if (o->unloaded)
		return JVMTI_ERROR_INVALID_OBJECT;
	if (tag != 0)
		FAKE_TI_FAILS();
	fake.counts.tags += (tag != 0) - (*its != 0);
	*its = tag;
	return JVMTI_ERROR_NONE;
}

/* Hooks */

static jobject loader_of(int class)
{
	return fake_transform.loader && class == 3 ? fake_ref(&loader) : NULL;
}

static void delete(jobject ref)
{
	if (ref)
		fake_jni_table.DeleteLocalRef(fake_jni(0), ref);
}

/* Returns true when the hook has changed the bytes. */
static bool call_hook(struct fake_environment *e, int i, struct text *bytes)
{
	char name[32] = "";
	unsigned char *new = NULL;
	jint new_len = 0;
	jclass class = classes[i].absent ? NULL : fake_class(i);
	jobject from = loader_of(i);

	memcpy(name, classes[i].signature + 1, strlen(classes[i].signature) - 2);
	e->callbacks.ClassFileLoadHook((jvmtiEnv *)e, fake_jni(fake.other_thread > 0), class, from,
				       name, NULL, (jint)bytes->len, (unsigned char *)bytes->data,
				       &new_len, &new);
	delete(class);
	delete(from);
	if (!new)
		return false;
	ck_assert_int_gt(new_len, 0);
	*bytes = text_of(new, (size_t)new_len);
	fake_add(&fake.counts.blocks, -1);
	free(new);
	return true;
}

/* Calls all hooks in the order of their environments.  `kept`: the text before the first change. */
static void call_hooks(int i, struct text *bytes, struct text *kept)
{
	struct fake_environment *e;
	bool changed = false;

	for (size_t k = 0; (e = fake_environment_at(k)); k++) {
		struct text before = *bytes;

		if (!e->capabilities.can_retransform_classes ||
		    !fake_enabled(e, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK))
			continue;
		if (!call_hook(e, i, bytes))
			continue;
		changed = true;
		if (kept->len == 0)
			*kept = before;
	}
	if (!changed && fake_transform.drops_cache)
		kept->len = 0;
}

void fake_load(int i, const char *bytes)
{
	struct text code = text_of(bytes, strlen(bytes)), kept = { .len = 0 };
	bool was_pending = fake.exception;

	fake.other_thread++;
	fake.loading++;
	call_hooks(i, &code, &kept);
	fake.loading--;
	fake.other_thread--;
	ck_assert_int_eq(fake.exception, was_pending);
	classes[i].absent = false;
	runs[i] = code;
	cached[i] = kept;
}

/* Retransformation and redefinition */

/* Computes the new code of class i and the text to cache for it, or returns an error. */
static jvmtiError transform_one(int i, const jvmtiClassDefinition *definition, struct text *new,
				struct text *kept)
{
	*kept = cached[i];
	if (definition)
		*new = text_of(definition->class_bytes, (size_t)definition->class_byte_count);
	else
		*new = kept->len ? *kept : runs[i];
	call_hooks(i, new, kept);
	if (fake.exception) {
		fake.exception = false;
		return JVMTI_ERROR_UNSUPPORTED_VERSION;
	}
	return strncmp(new->data, "bad", 3) == 0 ? JVMTI_ERROR_FAILS_VERIFICATION
						 : JVMTI_ERROR_NONE;
}

static jvmtiError transform(jint n, const jclass *list, const jvmtiClassDefinition *definitions)
{
	struct text new[N_CLASSES + 1], kept[N_CLASSES + 1];

	FAKE_TI_FAILS();
	ck_assert_int_ge(n, 0);
	ck_assert(!fake.exception);
	for (jint k = 0; k < n; k++) {
		const jvmtiClassDefinition *d = definitions ? &definitions[k] : NULL;
		int i = number_of(fake_object_of(d ? d->klass : list[k]));
		jvmtiError code = transform_one(i, d, &new[i], &kept[i]);

		if (code != JVMTI_ERROR_NONE)
			return code;
	}
	if (fake_transform.before_install && !fake.other_thread)
		fake_transform.before_install();
	for (jint k = 0; k < n; k++) {
		int i = number_of(fake_object_of(list ? list[k] : definitions[k].klass));

		runs[i] = new[i];
		cached[i] = kept[i];
		fake_transform.retransformations++;
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL retransform_classes(jvmtiEnv *ti, jint n, const jclass *list)
{
	if (!fake_environment(ti)->capabilities.can_retransform_classes)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	return transform(n, list, NULL);
}

static jvmtiError JNICALL redefine_classes(jvmtiEnv *ti, jint n,
					   const jvmtiClassDefinition *definitions)
{
	(void)fake_environment(ti);
	return transform(n, NULL, definitions);
}

/* The loader: the methods that it declares, and Class.forName() */

static jmethodID JNICALL get_method_id(JNIEnv *jni, jclass class, const char *name, const char *sig)
{
	bool own = fake_transform.own_methods && fake_object_of(class) == &loader_class;

	(void)jni, (void)name, (void)sig;
	if (fake_throws())
		return NULL;
	return (jmethodID)(uintptr_t)(own ? &own_method : &other_method);
}

static jfieldID JNICALL get_field_id(JNIEnv *jni, jclass class, const char *name, const char *sig)
{
	return (jfieldID)(void *)get_method_id(jni, class, name, sig);
}

static jobject JNICALL get_object_field(JNIEnv *jni, jobject object, jfieldID field)
{
	(void)jni, (void)fake_object_of(object), (void)field;
	return NULL;
}

static jobject JNICALL call_static_object_method(JNIEnv *jni, jclass class, jmethodID method,
						 const jvalue *arguments)
{
	(void)jni, (void)fake_object_of(class), (void)method, (void)arguments;
	fake_transform.asked++;
	if (fake_transform.in_loader)
		fake_transform.in_loader();
	if (fake_throws())
		return NULL;
	fake.exception = !fake_transform.finds;
	return fake.exception ? NULL : fake_ref(fake_plain(NULL));
}

static jvmtiError JNICALL get_class_loader(jvmtiEnv *ti, jclass class, jobject *result)
{
	(void)ti;
	FAKE_TI_FAILS();
	if (fake.in_class_loader && fake.other_thread)
		fake.in_class_loader();
	*result = loader_of(number_of(fake_object_of(class)));
	return JVMTI_ERROR_NONE;
}

/* The other agent */

static void JNICALL other_hook(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject from,
			       const char *name, jobject domain, jint len,
			       const unsigned char *bytes, jint *new_len, unsigned char **new)
{
	(void)ti, (void)jni, (void)class, (void)from, (void)name, (void)domain;
	if (other_is_idle || bytes[len - 1] == '+')
		return;
	*new = fake_block((size_t)len + 1);
	memcpy(*new, bytes, (size_t)len);
	(*new)[len] = '+';
	*new_len = len + 1;
}

void fake_other_starts(void)
{
	other = fake_environment(fake_new_ti());
	other->capabilities.can_retransform_classes = 1;
	other->events = ~UINT64_C(0);
	other->callbacks.ClassFileLoadHook = other_hook;
}

void fake_other_ends(void)
{
	(void)fake_ti_table.DisposeEnvironment((jvmtiEnv *)other);
}

void fake_other_works(bool works)
{
	other_is_idle = !works;
}

void fake_other_retransforms(int i)
{
	jclass class = fake_class(i);
	int locks = fake.locks, brief_locks = fake.brief_locks;
	jvmtiError code;

	fake.other_thread++;
	fake.locks = 0;
	code = transform(1, &class, NULL);
	fake.locks = locks;
	fake.other_thread--;
	ck_assert(code == JVMTI_ERROR_NONE || fake.fail_at);
	ck_assert_int_eq(fake.brief_locks, brief_locks);
	delete(class);
}

void fake_transform_start(void)
{
	fake_add_objects();
	fake_add_classes();
	fake_add_threads();
	fake_add_environments();
	fake_jni_table.CallStaticObjectMethodA = call_static_object_method;
	fake_jni_table.GetFieldID = get_field_id;
	fake_jni_table.GetMethodID = fake_jni_table.GetStaticMethodID = get_method_id;
	fake_jni_table.GetObjectField = get_object_field;
	fake_ti_table.GetClassLoader = get_class_loader;
	fake_ti_table.GetTag = get_tag;
	fake_ti_table.RedefineClasses = redefine_classes;
	fake_ti_table.RetransformClasses = retransform_classes;
	fake_ti_table.SetTag = set_tag;
	thread.class = fake_plain(NULL);
	fake_transform = (struct fake_transform){ 0 };
	fake = (struct fake_jvm){
		.in_agent = true,
		.loaded = loaded,
		.n_loaded = sizeof(loaded) / sizeof(loaded[0]),
		.current_thread = &thread,
		.app_thread = &thread,
		.stack = stack,
		.depth = 3,
	};
	for (int i = 0; i <= N_CLASSES; i++) {
		classes[i].class = &class_class;
		runs[i] = runs[i].len ? runs[i] : text_of("first", 5);
	}
}
