#include "agent/fake_jvm.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x7f0000000000)
#define SHIFT 6
#define FIELDS 5
#define OBJECTS_MAX 512
#define REFS_MAX 1024
#define FRAMES_MAX 16

enum class {
	NONE, OBJECT, CLASS, THREAD, STRING, INTS, LONGS, BYTES, OBJECTS, LOADER, MODULE, LAYER,
	DOMAIN, CODE_SOURCE, URL, ENUM, RECORD, SHAPE, COLOR, COLOR_BODY, POINT, ANONYMOUS,
	UNLINKED, REFERENCE, SOFT, WEAK, FINAL, PHANTOM, APP_WEAK, APP_ONE, APP_TWO, MANY,
	LISTED = MANY + FAKE_MANY, LATE = LISTED, CLASSES
};

static const struct {
	const char *signature;
	enum class super;
	int loader; /* 0: bootstrap */
	jint modifiers;
} classes[CLASSES] = {
	[OBJECT] = { "Ljava/lang/Object;", NONE, 0, 0x0001 },
	[CLASS] = { "Ljava/lang/Class;", OBJECT, 0, 0x0001 },
	[THREAD] = { "Ljava/lang/Thread;", OBJECT, 0, 0x0001 },
	[STRING] = { "Ljava/lang/String;", OBJECT, 0, 0x0001 },
	[INTS] = { "[I", OBJECT, 0, 0x0001 },
	[LONGS] = { "[J", OBJECT, 0, 0x0001 },
	[BYTES] = { "[B", OBJECT, 0, 0x0001 },
	[OBJECTS] = { "[Ljava/lang/Object;", OBJECT, 0, 0x0001 },
	[LOADER] = { "Ljava/lang/ClassLoader;", OBJECT, 0, 0x0001 },
	[MODULE] = { "Ljava/lang/Module;", OBJECT, 0, 0x0001 },
	[LAYER] = { "Ljava/lang/ModuleLayer;", OBJECT, 0, 0x0011 },
	[DOMAIN] = { "Ljava/security/ProtectionDomain;", OBJECT, 0, 0x0001 },
	[CODE_SOURCE] = { "Ljava/security/CodeSource;", OBJECT, 0, 0x0001 },
	[URL] = { "Ljava/net/URL;", OBJECT, 0, 0x0011 },
	[ENUM] = { "Ljava/lang/Enum;", OBJECT, 0, 0x0401 },
	[RECORD] = { "Ljava/lang/Record;", OBJECT, 0, 0x0401 },
	[SHAPE] = { "LShape;", NONE, 1, 0x0601 },
	[COLOR] = { "LColor;", ENUM, 1, 0x4401 },
	[COLOR_BODY] = { "LColor$1;", COLOR, 1, 0x4010 },
	[POINT] = { "LPoint;", RECORD, 1, 0x0011 },
	[ANONYMOUS] = { "LApp$$Lambda$1/1234;", OBJECT, 1, 0x1010 },
	[UNLINKED] = { "LUnlinked;", OBJECT, 1, 0x0001 },
	[REFERENCE] = { "Ljava/lang/ref/Reference;", OBJECT, 0, 0x0401 },
	[SOFT] = { "Ljava/lang/ref/SoftReference;", REFERENCE, 0, 0x0001 },
	[WEAK] = { "Ljava/lang/ref/WeakReference;", REFERENCE, 0, 0x0001 },
	[FINAL] = { "Ljava/lang/ref/FinalReference;", REFERENCE, 0, 0x0000 },
	[PHANTOM] = { "Ljava/lang/ref/PhantomReference;", REFERENCE, 0, 0x0001 },
	[APP_WEAK] = { "LAppWeak;", WEAK, 1, 0x0001 },
	[APP_ONE] = { "LApp;", OBJECT, 1, 0x0001 },
	[APP_TWO] = { "LApp;", OBJECT, 2, 0x0001 },
	[MANY ... LISTED - 1] = { "LMany;", OBJECT, 1, 0x0001 },
	[LATE] = { "LLate;", OBJECT, 1, 0x0001 },
};

/* A field is known by its address in this table. */
static const struct field {
	enum class of;
	const char *name, *signature;
	int index; /* -1: static */
} fields[] = {
	{ THREAD, "blockerLock", "Ljava/lang/Object;", -1 },
	{ THREAD, "name", "Ljava/lang/String;", 0 },
	{ THREAD, "interruptLock", "Ljava/lang/Object;", 1 },
	{ STRING, "value", "[B", 0 },
	{ LOADER, "name", "Ljava/lang/String;", 0 },
	{ MODULE, "name", "Ljava/lang/String;", 0 },
	{ MODULE, "layer", "Ljava/lang/ModuleLayer;", 1 },
	{ DOMAIN, "codesource", "Ljava/security/CodeSource;", 0 },
	{ CODE_SOURCE, "location", "Ljava/net/URL;", 0 },
	{ URL, "protocol", "Ljava/lang/String;", 0 },
	{ URL, "authority", "Ljava/lang/String;", 1 },
	{ URL, "path", "Ljava/lang/String;", 2 },
	{ URL, "query", "Ljava/lang/String;", 3 },
	{ URL, "ref", "Ljava/lang/String;", 4 },
	{ CLASS, "protectionDomain", "Ljava/security/ProtectionDomain;", 0 }, /* JDK 25 on */
	{ APP_ONE, "list", "Ljava/util/List;", 0 },
	{ THREAD, "tid", "J", FIELDS },
	{ REFERENCE, "discovered", "Ljava/lang/ref/Reference;", 1 },
	{ REFERENCE, "referent", "Ljava/lang/Object;", 0 },
	{ SHAPE, "SIDES", "I", -1 },
};

/* The same of a method; the first is how a class tells its protection domain before JDK 25. */
static const struct method {
	enum class of;
	const char *name, *signature;
} methods[] = {
	{ CLASS, "getProtectionDomain0", "()Ljava/security/ProtectionDomain;" },
	{ THREAD, "<init>", "(Ljava/lang/String;)V" },
	{ APP_ONE, "<init>", "()V" },
	{ APP_ONE, "run", "(I)V" },
};

struct object {
	enum class class, mirrors; /* mirrors: which class a java.lang.Class stands for */
	bool visited;
	jint length; /* -1: no array */
	jlong size, tag;
	const char *text;
	struct object *fields[FIELDS];
	struct object **elements;
	size_t n_elements;
	uint64_t words[]; /* what the agent sees */
};

struct fake_jvm fake;

static struct object *heap[OBJECTS_MAX];
static size_t n_heap;
static struct object *mirrors[CLASSES], *loaders[3], *modules[2], *current_thread;
static struct object *app_thread;

/* A reference is the address of a slot, which holds the object's, or NULL when it is free. */
static uint64_t *refs[REFS_MAX];
static size_t n_refs, frames[FRAMES_MAX];

static const struct JNIInvokeInterface_ invoke_table;
static const struct JNINativeInterface_ jni_table;
static const jvmtiInterface_1 ti_table;
static JavaVM the_vm = &invoke_table;
static JNIEnv the_jni = &jni_table;
static jvmtiEnv the_ti = &ti_table;

static bool fault(void)
{
	return ++fake.calls == fake.fail_at && !fake.leaving;
}

static jvmtiError ti_fault(void)
{
	bool now = fault();

	if (fake.leaving && fake.fail_at && fake.calls >= fake.fail_at)
		return JVMTI_ERROR_WRONG_PHASE;
	return now ? JVMTI_ERROR_OUT_OF_MEMORY : JVMTI_ERROR_NONE;
}

#define TI_FAULT()                          \
	do {                                \
		jvmtiError e_ = ti_fault(); \
		if (e_)                     \
			return e_;          \
	} while (0)

/* Linked with --wrap=calloc: the agent's may fail, the JVM's does not. */
void *__real_calloc(size_t n, size_t size);

static void *zeroed(size_t size)
{
	void *p = __real_calloc(1, size ? size : 1);

	if (!p)
		abort();
	return p;
}

/* Objects */

static uint64_t klass_address(enum class class)
{
	return BASE + ((uint64_t)class << SHIFT);
}

static void write_header(struct object *o, jsize length)
{
	char *bytes = (char *)o->words;
	uint64_t address = klass_address(o->class);
	uint32_t narrow = o->class;
	size_t length_at = 12;

	switch (fake.layout) {
	case FAKE_NARROW:
		memcpy(bytes + 8, &narrow, sizeof(narrow));
		break;
	case FAKE_WIDE:
		memcpy(bytes + 8, &address, sizeof(address));
		length_at = 16;
		break;
	case FAKE_COMPACT:
		o->words[0] = (uint64_t)narrow << 42 | 1;
		length_at = 8;
	}
	if (length >= 0)
		memcpy(bytes + length_at, &length, sizeof(length));
}

static struct object *new_object(enum class class, jlong size, jsize length)
{
	struct object *o;

	if (n_heap == OBJECTS_MAX)
		abort();
	o = zeroed(sizeof(*o) + (size_t)size);
	o->class = class;
	o->size = size;
	o->length = length;
	write_header(o, length);
	heap[n_heap++] = o;
	return o;
}

static struct object *new_string(const char *text)
{
	struct object *s = new_object(STRING, 24, -1);

	s->text = text;
	s->fields[0] = new_object(BYTES, 32, 4);
	return s;
}

static struct object *new_named(enum class class, const char *name)
{
	struct object *o = new_object(class, 40, -1);

	o->fields[0] = name ? new_string(name) : NULL;
	return o;
}

static void new_crowd(void)
{
	for (int i = 0; i < fake.crowd; i++) {
		struct object *o = new_object(LATE, 16, -1);
		uint32_t narrow = CLASSES + (uint32_t)i;

		memcpy((char *)o->words + 8, &narrow, sizeof(narrow));
	}
}

static void crowd_is_listed(void)
{
	for (size_t i = 0; i < n_heap; i++) {
		if (heap[i]->class == LATE)
			write_header(heap[i], -1);
	}
}

static void new_mirrors(void)
{
	for (int c = OBJECT; c < CLASSES; c++) {
		uint64_t address = klass_address((enum class)c);

		mirrors[c] = new_object(CLASS, 96, -1);
		mirrors[c]->mirrors = (enum class)c;
		mirrors[c]->words[4] = address;
		mirrors[c]->words[6] = fake.two_klass_words ? address : 0;
	}
}

/* The first loader's classes come from a jar. */
static void new_domain(void)
{
	struct object *domain = new_object(DOMAIN, 40, -1);
	struct object *source = new_object(CODE_SOURCE, 40, -1);
	struct object *url = new_object(URL, 64, -1);

	domain->fields[0] = source;
	source->fields[0] = url;
	url->fields[0] = new_string("file");
	url->fields[2] = new_string("/app/a.jar");
	url->fields[3] = new_string("q");
	for (int c = OBJECT; c < CLASSES; c++) {
		if (classes[c].loader == 1)
			mirrors[c]->fields[0] = domain;
	}
}

/* A WeakReference and one of the application's own. */
static void new_references(void)
{
	for (int c = WEAK; c <= APP_WEAK; c += APP_WEAK - WEAK) {
		struct object *o = new_object((enum class)c, 48, -1);

		o->fields[0] = new_named(MODULE, "weakly");
		o->fields[1] = new_named(MODULE, "strongly");
	}
}

void fake_start(void)
{
	n_heap = n_refs = 0;
	fake.n_reports = 0;
	new_mirrors();
	new_domain();
	loaders[1] = new_named(LOADER, "first");
	loaders[2] = new_named(LOADER, NULL);
	modules[0] = new_named(MODULE, "a.module");
	modules[0]->fields[1] = new_object(LAYER, 40, -1);
	modules[1] = new_named(MODULE, NULL);
	current_thread = app_thread = new_named(THREAD, "Attach Listener");
	for (int i = 0; i < FAKE_APP_ONE; i++)
		(void)new_object(APP_ONE, 24, -1);
	for (int i = 0; i < FAKE_LATE; i++)
		(void)new_object(LATE, 16, -1);
	for (int i = 0; i < FAKE_APP_TWO; i++)
		(void)new_object(APP_TWO, 32, -1);
	for (int i = 0; i < FAKE_MANY; i++)
		(void)new_object((enum class)(MANY + i), 48, -1);
	new_crowd();
	new_references();
}

void fake_stop(void)
{
	for (size_t i = 0; i < n_heap; i++) {
		free(heap[i]->elements);
		free(heap[i]);
	}
	n_heap = 0;
}

size_t fake_tagged(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_heap; i++)
		n += heap[i]->tag != 0;
	return n;
}

/* References */

static jobject ref_to(struct object *o)
{
	if (!o)
		return NULL;
	if (n_refs == REFS_MAX)
		abort();
	refs[n_refs] = o->words;
	fake.references++;
	return (jobject)((char *)&refs[n_refs++] + (fake.odd_references ? 1 : 0));
}

static uint64_t **slot_of(jobject ref)
{
	uint64_t **slot = (uint64_t **)((uintptr_t)ref & ~(uintptr_t)7);

	if (!slot || !*slot)
		abort(); /* null, or let go before */
	return slot;
}

static struct object *of(jobject ref)
{
	return (struct object *)((char *)*slot_of(ref) - offsetof(struct object, words));
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject ref)
{
	(void)env;
	*slot_of(ref) = NULL;
	fake.references--;
}

static jint JNICALL push_local_frame(JNIEnv *env, jint capacity)
{
	(void)env, (void)capacity;
	if (fault()) {
		fake.exception = true;
		return JNI_ERR;
	}
	if (fake.frames == FRAMES_MAX)
		abort();
	frames[fake.frames++] = n_refs;
	return JNI_OK;
}

static jobject JNICALL pop_local_frame(JNIEnv *env, jobject result)
{
	(void)env;
	if (fake.frames == 0 || result)
		abort();
	for (size_t i = frames[--fake.frames]; i < n_refs; i++) {
		fake.references -= refs[i] != NULL;
		refs[i] = NULL;
	}
	n_refs = frames[fake.frames];
	return NULL;
}

static jint JNICALL ensure_local_capacity(JNIEnv *env, jint capacity)
{
	(void)env, (void)capacity;
	fake.exception = fault();
	return fake.exception ? JNI_ERR : JNI_OK;
}

/* JNI */

static jboolean JNICALL exception_check(JNIEnv *env)
{
	(void)env;
	return fake.exception;
}

static void JNICALL exception_clear(JNIEnv *env)
{
	(void)env;
	fake.exception = false;
}

/* What JNI makes: NULL with an exception when it fails. */
static jobject made(struct object *(*make)(jsize), jsize length)
{
	if (fake.exception)
		abort(); /* no call with an exception pending */
	fake.exception = fault();
	return fake.exception ? NULL : ref_to(make(length));
}

static struct object *make_ints(jsize length)
{
	return new_object(INTS, 24 + 8 * length, length);
}

static struct object *make_longs(jsize length)
{
	return new_object(LONGS, 24 + 8 * length, length);
}

static struct object *make_objects(jsize length)
{
	struct object *o = new_object(OBJECTS, 24 + 8 * length, length);

	o->n_elements = (size_t)length;
	o->elements = zeroed(o->n_elements * sizeof(struct object *));
	return o;
}

static struct object *make_object(jsize length)
{
	(void)length;
	return new_object(OBJECT, 16, -1);
}

static struct object *make_string(jsize length)
{
	(void)length;
	return new_string("jtool agent");
}

static struct object *make_thread(jsize length)
{
	struct object *thread = new_named(THREAD, "jtool agent");

	(void)length;
	thread->fields[1] = new_object(OBJECT, 16, -1);
	return thread;
}

static jintArray JNICALL new_int_array(JNIEnv *env, jsize length)
{
	(void)env;
	return made(make_ints, length);
}

static jlongArray JNICALL new_long_array(JNIEnv *env, jsize length)
{
	(void)env;
	return made(make_longs, length);
}

static jobjectArray JNICALL new_object_array(JNIEnv *env, jsize length, jclass class, jobject fill)
{
	(void)env, (void)class, (void)fill;
	return made(make_objects, length);
}

static void JNICALL set_object_array_element(JNIEnv *env, jobjectArray array, jsize i, jobject v)
{
	(void)env;
	fake.exception = fault();
	if (!fake.exception)
		of(array)->elements[i] = of(v);
}

static jobject JNICALL alloc_object(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	return made(make_object, 0);
}

static jstring JNICALL new_string_utf(JNIEnv *env, const char *text)
{
	(void)env, (void)text;
	return made(make_string, 0);
}

static jobject JNICALL new_thread(JNIEnv *env, jclass class, jmethodID constructor, ...)
{
	(void)env, (void)constructor;
	if (of(class)->mirrors != THREAD)
		abort();
	return made(make_thread, 0);
}

static jmethodID JNICALL get_method_id(JNIEnv *env, jclass class, const char *name, const char *sig)
{
	(void)env;
	fake.exception = fault();
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]) && !fake.exception; i++) {
		if (methods[i].of == of(class)->mirrors && strcmp(methods[i].name, name) == 0 &&
		    strcmp(methods[i].signature, sig) == 0)
			return (jmethodID)&methods[i];
	}
	fake.exception = true;
	return NULL;
}

static jobject JNICALL call_object_method(JNIEnv *env, jobject object, jmethodID method, ...)
{
	(void)env;
	if (method != (jmethodID)&methods[0])
		abort();
	fake.exception = fault();
	return fake.exception ? NULL : ref_to(of(object)->fields[0]);
}

static jobject JNICALL new_local_ref(JNIEnv *env, jobject object)
{
	(void)env;
	return fault() ? NULL : ref_to(of(object));
}

static jclass JNICALL get_object_class(JNIEnv *env, jobject object)
{
	(void)env;
	return ref_to(mirrors[of(object)->class]);
}

static jclass JNICALL get_superclass(JNIEnv *env, jclass class)
{
	(void)env;
	return ref_to(mirrors[classes[of(class)->mirrors].super]);
}

static jobject JNICALL get_object_field(JNIEnv *env, jobject object, jfieldID field)
{
	const struct field *f = (const struct field *)field;

	(void)env;
	if (f->index < 0)
		abort(); /* HotSpot would read anywhere */
	return ref_to(of(object)->fields[f->index]);
}

static jlong JNICALL get_long_field(JNIEnv *env, jobject object, jfieldID field)
{
	(void)env;
	if (((const struct field *)field)->index != FIELDS)
		abort();
	return of(object) == app_thread ? FAKE_APP_THREAD : FAKE_OWN_THREAD;
}

static jboolean JNICALL is_assignable_from(JNIEnv *env, jclass class, jclass super)
{
	enum class c = of(class)->mirrors;

	(void)env;
	while (c != NONE && c != of(super)->mirrors)
		c = classes[c].super;
	return c != NONE;
}

static jint JNICALL get_version(JNIEnv *env)
{
	(void)env;
	return fake.release == 1 ? JNI_VERSION_1_8 : JNI_VERSION_10;
}

static jobject JNICALL get_module(JNIEnv *env, jclass class)
{
	(void)env;
	if (fake.release == 1)
		abort(); /* no such function before JDK 9 */
	fake.exception = fault();
	return fake.exception ? NULL : ref_to(modules[classes[of(class)->mirrors].loader != 0]);
}

static jsize JNICALL get_string_length(JNIEnv *env, jstring s)
{
	(void)env;
	return (jsize)strlen(of(s)->text);
}

static void JNICALL get_string_utf_region(JNIEnv *env, jstring s, jsize start, jsize len, char *out)
{
	(void)env;
	fake.exception = fault();
	if (!fake.exception)
		memcpy(out, of(s)->text + start, (size_t)len);
}

static jboolean JNICALL is_same_object(JNIEnv *env, jobject a, jobject b)
{
	(void)env;
	return of(a) == of(b);
}

/* JVMTI */

static void *ti_alloc(size_t size)
{
	fake.blocks++;
	return zeroed(size);
}

static char *ti_text(const char *text)
{
	return strcpy(ti_alloc(strlen(text) + 1), text);
}

/* Also when it fails: a JVM that could not free has no use for the block either. */
static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *p)
{
	(void)env;
	free(p);
	fake.blocks--;
	return fault() ? JVMTI_ERROR_INTERNAL : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL allocate(jvmtiEnv *env, jlong size, unsigned char **p)
{
	(void)env;
	TI_FAULT();
	*p = ti_alloc((size_t)size);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_all_threads(jvmtiEnv *env, jint *n, jthread **list)
{
	(void)env;
	TI_FAULT();
	*n = 2;
	*list = ti_alloc(2 * sizeof(jthread));
	(*list)[0] = ref_to(app_thread);
	(*list)[1] = ref_to(current_thread);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_thread_info(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *info)
{
	(void)env;
	TI_FAULT();
	*info = (jvmtiThreadInfo){
		.name = ti_text(of(thread)->fields[0]->text),
		.thread_group = ref_to(modules[0]),
		.context_class_loader = ref_to(loaders[1]),
	};
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_version_number(jvmtiEnv *env, jint *version)
{
	(void)env;
	TI_FAULT();
	*version = 0x30000000 | fake.release << 16;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_loaded_classes(jvmtiEnv *env, jint *n, jclass **list)
{
	int end = fake.crowd && fake.listings++ ? CLASSES : LISTED;

	(void)env;
	TI_FAULT();
	if (end == CLASSES)
		crowd_is_listed();
	*n = end - OBJECT;
	*list = ti_alloc((size_t)*n * sizeof(jclass));
	for (int c = OBJECT; c < end; c++)
		(*list)[c - OBJECT] = ref_to(mirrors[c]);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *env, jclass class, char **sig, char **gen)
{
	(void)env, (void)gen;
	TI_FAULT();
	*sig = ti_text(classes[of(class)->mirrors].signature);
	return JVMTI_ERROR_NONE;
}

static bool is_array(jclass class)
{
	return classes[of(class)->mirrors].signature[0] == '[';
}

static bool is_prepared(jclass class)
{
	return of(class)->mirrors != UNLINKED;
}

static jvmtiError JNICALL get_class_modifiers(jvmtiEnv *env, jclass class, jint *modifiers)
{
	(void)env;
	TI_FAULT();
	*modifiers = classes[of(class)->mirrors].modifiers;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_status(jvmtiEnv *env, jclass class, jint *status)
{
	(void)env;
	TI_FAULT();
	*status = is_array(class) ? JVMTI_CLASS_STATUS_ARRAY
		  : is_prepared(class) ? JVMTI_CLASS_STATUS_PREPARED : 0;
	return JVMTI_ERROR_NONE;
}

/* As JDK 8 has it: the anonymous class is said to be modifiable, too. */
static jvmtiError JNICALL is_modifiable_class(jvmtiEnv *env, jclass class, jboolean *modifiable)
{
	(void)env;
	TI_FAULT();
	*modifiable = !is_array(class) &&
		      (fake.release == 1 || of(class)->mirrors != ANONYMOUS);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_implemented_interfaces(jvmtiEnv *env, jclass class, jint *n,
						     jclass **list)
{
	(void)env;
	TI_FAULT();
	if (!is_prepared(class))
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*n = of(class)->mirrors == APP_ONE || of(class)->mirrors == APP_WEAK;
	*list = ti_alloc(sizeof(jclass));
	if (*n)
		(*list)[0] = ref_to(mirrors[SHAPE]);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_methods(jvmtiEnv *env, jclass class, jint *n,
					    jmethodID **list)
{
	size_t count = sizeof(methods) / sizeof(methods[0]);

	(void)env;
	TI_FAULT();
	if (!is_prepared(class))
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*n = 0;
	*list = ti_alloc(count * sizeof(jmethodID));
	for (size_t i = 0; i < count; i++) {
		if (methods[i].of == of(class)->mirrors)
			(*list)[(*n)++] = (jmethodID)&methods[i];
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *env, jmethodID id, char **name,
					  char **signature, char **generic)
{
	const struct method *m = (const struct method *)id;

	(void)env;
	TI_FAULT();
	*name = ti_text(m->name);
	if (signature)
		*signature = ti_text(m->signature);
	if (generic)
		*generic = NULL;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_declaring_class(jvmtiEnv *env, jmethodID id, jclass *class)
{
	(void)env;
	TI_FAULT();
	*class = ref_to(mirrors[((const struct method *)id)->of]);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_modifiers(jvmtiEnv *env, jmethodID id, jint *modifiers)
{
	(void)env, (void)id;
	TI_FAULT();
	*modifiers = 0x0001;
	return JVMTI_ERROR_NONE;
}

/* One constant: Utf8 "x".  HotSpot of JDK 8 crashes when it is asked for an anonymous class's. */
static jvmtiError JNICALL get_constant_pool(jvmtiEnv *env, jclass class, jint *count, jint *len,
					    unsigned char **bytes)
{
	(void)env;
	if (!fake.held.can_get_constant_pool)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	if (fake.release == 1 && of(class)->mirrors == ANONYMOUS)
		abort();
	TI_FAULT();
	if (is_array(class))
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*count = 2;
	*len = 4;
	*bytes = memcpy(ti_alloc(4), "\1\0\1x", 4);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_version_numbers(jvmtiEnv *env, jclass class, jint *minor,
						    jint *major)
{
	(void)env;
	TI_FAULT();
	if (is_array(class))
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*minor = 0;
	*major = 52;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_source_file_name(jvmtiEnv *env, jclass class, char **name)
{
	(void)env;
	if (!fake.held.can_get_source_file_name)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	TI_FAULT();
	if (of(class)->mirrors != APP_ONE)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*name = ti_text("App.java");
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_loader(jvmtiEnv *env, jclass class, jobject *loader)
{
	(void)env;
	TI_FAULT();
	*loader = ref_to(loaders[classes[of(class)->mirrors].loader]);
	return JVMTI_ERROR_NONE;
}

/* All the same: the agent must live with collisions. */
static jvmtiError JNICALL get_object_hash_code(jvmtiEnv *env, jobject object, jint *hash)
{
	(void)env, (void)object;
	TI_FAULT();
	*hash = 0x1234;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_fields(jvmtiEnv *env, jclass class, jint *n, jfieldID **list)
{
	size_t count = sizeof(fields) / sizeof(fields[0]);

	(void)env;
	TI_FAULT();
	if (!is_prepared(class))
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*n = 0;
	*list = ti_alloc(count * sizeof(jfieldID));
	for (size_t i = 0; i < count; i++) {
		if (fields[i].of == of(class)->mirrors &&
		    (fields[i].of != CLASS || fake.release >= 25))
			(*list)[(*n)++] = (jfieldID)&fields[i];
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_field_name(jvmtiEnv *env, jclass class, jfieldID field, char **name,
					 char **signature, char **generic)
{
	(void)env, (void)class;
	TI_FAULT();
	*name = ti_text(((const struct field *)field)->name);
	*signature = ti_text(((const struct field *)field)->signature);
	if (generic)
		*generic = ti_text("Ljava/util/List<LApp;>;");
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_field_modifiers(jvmtiEnv *env, jclass class, jfieldID field,
					      jint *modifiers)
{
	(void)env, (void)class;
	TI_FAULT();
	*modifiers = ((const struct field *)field)->index < 0 ? 0x0008 : 0;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_tag(jvmtiEnv *env, jobject object, jlong tag)
{
	(void)env;
	if (!fake.held.can_tag_objects)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	TI_FAULT();
	of(object)->tag = tag;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_tag(jvmtiEnv *env, jobject object, jlong *tag)
{
	(void)env;
	TI_FAULT();
	*tag = of(object)->tag;
	return JVMTI_ERROR_NONE;
}

static bool one_of(jlong tag, jint n, const jlong *tags)
{
	for (jint i = 0; i < n; i++) {
		if (tags[i] == tag)
			return true;
	}
	return false;
}

static jvmtiError JNICALL get_objects_with_tags(jvmtiEnv *env, jint n, const jlong *tags,
						jint *count, jobject **objects, jlong **found)
{
	(void)env;
	TI_FAULT();
	*count = 0;
	*objects = ti_alloc(n_heap * sizeof(jobject));
	*found = ti_alloc(n_heap * sizeof(jlong));
	for (size_t i = 0; i < n_heap; i++) {
		if (!one_of(heap[i]->tag, n, tags))
			continue;
		(*found)[*count] = heap[i]->tag;
		(*objects)[(*count)++] = ref_to(heap[i]);
	}
	return JVMTI_ERROR_NONE;
}

/* HotSpot's CallbackWrapper: {object, size, tag}, or another that nobody has seen yet. */
struct wrapper {
	jlong words[4];
};

static jlong *wrap(struct wrapper *w, const struct object *o)
{
	size_t tag = fake.other_wrapper ? 3 : 2;

	memset(w, 0, sizeof(*w));
	w->words[0] = (jlong)(uintptr_t)o->words;
	w->words[1] = o->size;
	w->words[tag] = o->tag;
	return &w->words[tag];
}

static jvmtiError JNICALL iterate_over_heap(jvmtiEnv *env, jvmtiHeapObjectFilter filter,
					    jvmtiHeapObjectCallback callback, const void *user)
{
	(void)env, (void)filter;
	TI_FAULT();
	for (size_t i = 0; i < n_heap; i++) {
		struct wrapper w;
		jlong *tag = wrap(&w, heap[i]);
		jvmtiIterationControl c = callback(mirrors[heap[i]->class]->tag, heap[i]->size,
						   tag, (void *)user);

		heap[i]->tag = *tag;
		if (c == JVMTI_ITERATION_ABORT)
			break;
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL iterate_through_heap(jvmtiEnv *env, jint filter, jclass class,
					       const jvmtiHeapCallbacks *callbacks,
					       const void *user)
{
	(void)env, (void)filter;
	TI_FAULT();
	for (size_t i = 0; i < n_heap; i++) {
		struct wrapper w;

		if (heap[i]->class == of(class)->mirrors)
			(void)callbacks->heap_iteration_callback(0, heap[i]->size,
								 wrap(&w, heap[i]), -1,
								 (void *)user);
	}
	return JVMTI_ERROR_NONE;
}

/* A walk along references. */
struct following {
	const jvmtiHeapCallbacks *callbacks;
	void *user;
	struct object *stack[4 * OBJECTS_MAX];
	size_t depth;
	bool over;
};

static void note_report(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
			const struct object *referrer, const struct object *o)
{
	struct fake_report r = {
		.kind = kind,
		.object = (uintptr_t)o->words,
		.size = o->size,
		.length = o->length,
		.referrer = referrer ? (uintptr_t)referrer->words : 0,
		.of_class = classes[referrer ? referrer->class : NONE].signature,
	};

	if (info)
		memcpy(&r.info, info, sizeof(r.info));
	if (fake.n_reports == FAKE_REPORTS_MAX)
		abort();
	fake.reports[fake.n_reports++] = r;
}

static void report(struct following *f, jvmtiHeapReferenceKind kind,
		   const jvmtiHeapReferenceInfo *info, struct object *referrer, struct object *o)
{
	struct {
		struct wrapper object, referrer; /* HotSpot's TwoOopCallbackWrapper */
	} two;
	jlong *tag, *referrer_tag = NULL;
	jint visit;

	if (!o)
		return;
	tag = wrap(&two.object, o);
	if (referrer) {
		two.referrer = (struct wrapper){ { 0, (jlong)(uintptr_t)referrer->words } };
		referrer_tag = &two.referrer.words[fake.other_referrer ? 3 : 2];
		if (referrer == o)
			referrer_tag = tag;
	}
	visit = f->callbacks->heap_reference_callback(kind, info, 0, 0, o->size, tag,
						      referrer_tag, o->length, f->user);
	o->tag = *tag;
	if (visit & JVMTI_VISIT_ABORT) {
		f->over = true;
		return;
	}
	note_report(kind, info, referrer, o);
	if (visit & JVMTI_VISIT_OBJECTS && !o->visited)
		f->stack[f->depth++] = o;
}

static void report_at(struct following *f, jvmtiHeapReferenceKind kind, jint index,
		      struct object *referrer, struct object *o)
{
	jvmtiHeapReferenceInfo info = { .field.index = index };

	if (!f->over)
		report(f, kind, &info, referrer, o);
}

static void report_stack(struct following *f, jlong thread, jint depth, struct object *o)
{
	jvmtiHeapReferenceInfo info = {
		.stack_local = { .thread_id = thread, .depth = depth,
				 .method = (jmethodID)&methods[1 + depth] },
	};

	report(f, JVMTI_HEAP_REFERENCE_STACK_LOCAL, &info, NULL, o);
}

static void visit_class(struct following *f, struct object *o)
{
	enum class c = o->mirrors;

	if (c == UNLINKED || classes[c].signature[0] == '[')
		return;
	if (classes[c].super != NONE && classes[c].super != OBJECT)
		report_at(f, JVMTI_HEAP_REFERENCE_SUPERCLASS, -1, o, mirrors[classes[c].super]);
	report_at(f, JVMTI_HEAP_REFERENCE_CLASS_LOADER, -1, o, loaders[classes[c].loader]);
	report_at(f, JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN, -1, o, o->fields[0]);
	report_at(f, JVMTI_HEAP_REFERENCE_CONSTANT_POOL, 3, o, o);
	if (c != APP_ONE)
		return;
	report_at(f, JVMTI_HEAP_REFERENCE_INTERFACE, -1, o, mirrors[SHAPE]);
	for (size_t i = 0; i < n_heap; i++) {
		if (heap[i]->class > UNLINKED)
			report_at(f, JVMTI_HEAP_REFERENCE_STATIC_FIELD, (jint)i, o, heap[i]);
	}
}

/* Behind the fields of interfaces; what a Reference has it is declared in the other order. */
static jint field_index(const struct object *o, jint i)
{
	if (o->class < REFERENCE || o->class > APP_WEAK)
		return i;
	return (o->class == APP_WEAK) + 1 - i;
}

static void visit(struct following *f, struct object *o)
{
	if (o->class == CLASS) {
		visit_class(f, o);
		return;
	}
	if (o->class == APP_TWO)
		report_stack(f, FAKE_VIRTUAL_THREAD, 1, o); /* say it is a virtual thread */
	report_at(f, JVMTI_HEAP_REFERENCE_CLASS, -1, o, mirrors[o->class]);
	for (jint i = 0; i < FIELDS; i++)
		report_at(f, JVMTI_HEAP_REFERENCE_FIELD, field_index(o, i), o, o->fields[i]);
	for (size_t i = 0; i < o->n_elements; i++)
		report_at(f, JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, (jint)i, o, o->elements[i]);
}

/* A character of two bytes and then the text. */
static void tell_string(struct following *f, struct object *o)
{
	struct wrapper w;
	jchar units[64];
	jint n = (jint)strlen(o->text) + 1;

	units[0] = 0xe4f6;
	for (jint i = 1; i < n; i++)
		units[i] = (jchar)o->text[i - 1];
	(void)f->callbacks->string_primitive_value_callback(0, o->size, wrap(&w, o), units, n,
							    f->user);
}

/* From the roots of one thread: like HotSpot's, the walk stops only after the last of them. */
static void report_own_stack(struct following *f)
{
	const jvmtiHeapReferenceInfo info = { .jni_local.thread_id = FAKE_OWN_THREAD };

	for (size_t i = 0; i < n_refs; i++) {
		if (refs[i])
			report(f, JVMTI_HEAP_REFERENCE_JNI_LOCAL, &info, NULL,
			       of((jobject)&refs[i]));
	}
}

static void report_roots(struct following *f)
{
	report(f, JVMTI_HEAP_REFERENCE_THREAD, NULL, NULL, app_thread);
	report_stack(f, FAKE_APP_THREAD, 0, loaders[1]);
	report_stack(f, FAKE_APP_THREAD, 2, mirrors[APP_ONE]);
	report(f, JVMTI_HEAP_REFERENCE_THREAD, NULL, NULL, current_thread);
	report_own_stack(f);
	for (int c = OBJECT; c < APP_ONE && !f->over; c++)
		report(f, JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, NULL, NULL, mirrors[c]);
	if (!f->over)
		report(f, JVMTI_HEAP_REFERENCE_JNI_GLOBAL, NULL, NULL, modules[0]);
	if (!f->over)
		report(f, JVMTI_HEAP_REFERENCE_MONITOR, NULL, NULL, modules[1]);
	if (!f->over)
		report(f, JVMTI_HEAP_REFERENCE_OTHER, NULL, NULL, app_thread->fields[0]);
}

static void follow(struct following *f)
{
	while (f->depth > 0 && !f->over) {
		struct object *o = f->stack[--f->depth];

		if (o->visited)
			continue;
		o->visited = true;
		visit(f, o);
		if (o->text && f->callbacks->string_primitive_value_callback && !f->over)
			tell_string(f, o);
	}
}

static jvmtiError JNICALL follow_references(jvmtiEnv *env, jint filter, jclass class,
					    jobject initial, const jvmtiHeapCallbacks *callbacks,
					    const void *user)
{
	struct following f = { .callbacks = callbacks, .user = (void *)user };

	(void)env, (void)filter, (void)class;
	TI_FAULT();
	for (size_t i = 0; i < n_heap; i++)
		heap[i]->visited = false;
	fake.n_reports = 0;
	if (initial)
		visit(&f, of(initial));
	else
		report_roots(&f);
	follow(&f);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_current_thread(jvmtiEnv *env, jthread *thread)
{
	(void)env;
	TI_FAULT();
	*thread = ref_to(current_thread);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_object_size(jvmtiEnv *env, jobject object, jlong *size)
{
	(void)env;
	TI_FAULT();
	*size = of(object)->size;
	return JVMTI_ERROR_NONE;
}

static void change_held(const jvmtiCapabilities *caps, bool hold)
{
	const unsigned char *bits = (const unsigned char *)caps;
	unsigned char *held = (unsigned char *)&fake.held;

	for (size_t i = 0; i < sizeof(*caps); i++)
		held[i] = (unsigned char)(hold ? held[i] | bits[i] : held[i] & ~bits[i]);
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *caps)
{
	(void)env;
	TI_FAULT();
	change_held(caps, true);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL relinquish_capabilities(jvmtiEnv *env, const jvmtiCapabilities *caps)
{
	(void)env;
	change_held(caps, false);
	return ti_fault();
}

static jvmtiError JNICALL force_garbage_collection(jvmtiEnv *env)
{
	(void)env;
	TI_FAULT();
	fake.collections++;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_environment_local_storage(jvmtiEnv *env, const void *data)
{
	(void)env, (void)data;
	TI_FAULT();
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL run_agent_thread(jvmtiEnv *env, jthread thread, jvmtiStartFunction run,
					   const void *arg, jint priority)
{
	(void)env, (void)priority;
	TI_FAULT();
	if (of(thread)->class != THREAD)
		abort();
	current_thread = of(thread);
	fake.thread = run;
	fake.thread_arg = (void *)arg;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose_environment(jvmtiEnv *env)
{
	(void)env;
	fake.environment = false;
	return JVMTI_ERROR_NONE;
}

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
	(void)vm;
	if (fault())
		return JNI_EVERSION;
	if (version == JNI_VERSION_1_6) {
		*env = &the_jni;
		return JNI_OK;
	}
	fake.environment = true;
	*env = &the_ti;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ invoke_table = { .GetEnv = get_env };

static const struct JNINativeInterface_ jni_table = {
	.AllocObject = alloc_object,
	.CallObjectMethod = call_object_method,
	.DeleteLocalRef = delete_local_ref,
	.EnsureLocalCapacity = ensure_local_capacity,
	.ExceptionCheck = exception_check,
	.ExceptionClear = exception_clear,
	.GetMethodID = get_method_id,
	.GetLongField = get_long_field,
	.GetModule = get_module,
	.GetObjectClass = get_object_class,
	.GetObjectField = get_object_field,
	.GetStringLength = get_string_length,
	.GetStringUTFRegion = get_string_utf_region,
	.GetSuperclass = get_superclass,
	.GetVersion = get_version,
	.IsAssignableFrom = is_assignable_from,
	.IsSameObject = is_same_object,
	.NewIntArray = new_int_array,
	.NewLocalRef = new_local_ref,
	.NewLongArray = new_long_array,
	.NewObject = new_thread,
	.NewObjectArray = new_object_array,
	.NewStringUTF = new_string_utf,
	.PopLocalFrame = pop_local_frame,
	.PushLocalFrame = push_local_frame,
	.SetObjectArrayElement = set_object_array_element,
};

static const jvmtiInterface_1 ti_table = {
	.AddCapabilities = add_capabilities,
	.Allocate = allocate,
	.Deallocate = deallocate,
	.DisposeEnvironment = dispose_environment,
	.FollowReferences = follow_references,
	.ForceGarbageCollection = force_garbage_collection,
	.GetAllThreads = get_all_threads,
	.GetClassFields = get_class_fields,
	.GetClassLoader = get_class_loader,
	.GetClassMethods = get_class_methods,
	.GetClassModifiers = get_class_modifiers,
	.GetClassSignature = get_class_signature,
	.GetClassStatus = get_class_status,
	.GetClassVersionNumbers = get_class_version_numbers,
	.GetConstantPool = get_constant_pool,
	.GetCurrentThread = get_current_thread,
	.GetFieldModifiers = get_field_modifiers,
	.GetFieldName = get_field_name,
	.GetImplementedInterfaces = get_implemented_interfaces,
	.GetLoadedClasses = get_loaded_classes,
	.GetMethodDeclaringClass = get_method_declaring_class,
	.GetMethodModifiers = get_method_modifiers,
	.GetMethodName = get_method_name,
	.GetObjectHashCode = get_object_hash_code,
	.GetObjectSize = get_object_size,
	.GetObjectsWithTags = get_objects_with_tags,
	.GetSourceFileName = get_source_file_name,
	.GetTag = get_tag,
	.GetThreadInfo = get_thread_info,
	.GetVersionNumber = get_version_number,
	.IsModifiableClass = is_modifiable_class,
	.IterateOverHeap = iterate_over_heap,
	.IterateThroughHeap = iterate_through_heap,
	.RelinquishCapabilities = relinquish_capabilities,
	.RunAgentThread = run_agent_thread,
	.SetEnvironmentLocalStorage = set_environment_local_storage,
	.SetTag = set_tag,
};

JavaVM *fake_vm(void)
{
	return &the_vm;
}

void fake_run_thread(void)
{
	fake.thread(&the_ti, &the_jni, fake.thread_arg);
}
