#include "agent/fake/heap_world.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x7f0000000000)
#define SHIFT 6
#define TID FAKE_HEAP_FIELDS
#define ACC_STATIC 0x0008

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

static const struct {
	enum class of;
	struct fake_field field; /* its class is set to mirrors[of] */
} field_rows[] = {
	{ THREAD, { NULL, "blockerLock", "Ljava/lang/Object;", 0, ACC_STATIC } },
	{ THREAD, { NULL, "name", "Ljava/lang/String;", 0, 0 } },
	{ THREAD, { NULL, "interruptLock", "Ljava/lang/Object;", 1, 0 } },
	{ STRING, { NULL, "value", "[B", 0, 0 } },
	{ LOADER, { NULL, "name", "Ljava/lang/String;", 0, 0 } },
	{ MODULE, { NULL, "name", "Ljava/lang/String;", 0, 0 } },
	{ MODULE, { NULL, "layer", "Ljava/lang/ModuleLayer;", 1, 0 } },
	{ DOMAIN, { NULL, "codesource", "Ljava/security/CodeSource;", 0, 0 } },
	{ CODE_SOURCE, { NULL, "location", "Ljava/net/URL;", 0, 0 } },
	{ URL, { NULL, "protocol", "Ljava/lang/String;", 0, 0 } },
	{ URL, { NULL, "authority", "Ljava/lang/String;", 1, 0 } },
	{ URL, { NULL, "path", "Ljava/lang/String;", 2, 0 } },
	{ URL, { NULL, "query", "Ljava/lang/String;", 3, 0 } },
	{ URL, { NULL, "ref", "Ljava/lang/String;", 4, 0 } },
	{ APP_ONE, { NULL, "list", "Ljava/util/List;", 0, 0 } },
	{ THREAD, { NULL, "tid", "J", TID, 0 } },
	{ REFERENCE, { NULL, "discovered", "Ljava/lang/ref/Reference;", 1, 0 } },
	{ REFERENCE, { NULL, "referent", "Ljava/lang/Object;", 0, 0 } },
	{ SHAPE, { NULL, "SIDES", "I", 0, ACC_STATIC } },
	{ CLASS, { NULL, "classLoader", "Ljava/lang/ClassLoader;", 4, 0 } },
	/* From JDK 25 on; has to be the last row */
	{ CLASS, { NULL, "protectionDomain", "Ljava/security/ProtectionDomain;", 0, 0 } },
};
#define N_FIELDS (sizeof(field_rows) / sizeof(field_rows[0]))

/* GET_DOMAIN returns the protection domain of a class before JDK 25. */
enum { GET_DOMAIN, THREAD_INIT, APP_INIT, APP_RUN, METHODS };
static struct fake_method methods[METHODS] = {
	[GET_DOMAIN] = { .name = "getProtectionDomain0",
			 .descriptor = "()Ljava/security/ProtectionDomain;" },
	[THREAD_INIT] = { .name = "<init>", .descriptor = "(Ljava/lang/String;)V" },
	[APP_INIT] = { .name = "<init>", .descriptor = "()V" },
	[APP_RUN] = { .name = "run", .descriptor = "(I)V" },
};

struct heap_world heap_world;

static struct fake_object *mirrors[CLASSES], *loaders[3], *modules[2];
static struct fake_field fields[N_FIELDS];

/* Objects */

static void set(struct fake_object *o, size_t field, struct fake_object *value)
{
	o->fields[field].l = (jobject)value;
}

static void write_header(struct fake_object *o, uint32_t klass)
{
	char *bytes = (char *)(o + 1);
	uint64_t address = BASE + ((uint64_t)klass << SHIFT), word = (uint64_t)klass << 42 | 1;
	size_t length_at = 12;

	switch (heap_world.layout) {
	case FAKE_NARROW:
		memcpy(bytes + 8, &klass, sizeof(klass));
		break;
	case FAKE_WIDE:
		memcpy(bytes + 8, &address, sizeof(address));
		length_at = 16;
		break;
	case FAKE_COMPACT:
		memcpy(bytes, &word, sizeof(word));
		length_at = 8;
	}
	if (o->len >= 0)
		memcpy(bytes + length_at, &o->len, sizeof(o->len));
}

static struct fake_object *new_object(enum class class, jlong size, jint len)
{
	struct fake_object *o = fake_zeroed(sizeof(*o) + (size_t)size);

	o->class = mirrors[class];
	o->size = size;
	o->len = len;
	write_header(o, class);
	fake_heap_put(o);
	return o;
}

static struct fake_object *new_string(const char *text)
{
	struct fake_object *s = new_object(STRING, 24, -1);

	s->text = text;
	set(s, 0, new_object(BYTES, 32, 4));
	return s;
}

static struct fake_object *new_named(enum class class, const char *name)
{
	struct fake_object *o = new_object(class, 40, -1);

	set(o, 0, name ? new_string(name) : NULL);
	return o;
}

static struct fake_object *new_thread(const char *name, jlong tid)
{
	struct fake_object *thread = new_named(THREAD, name);

	thread->fields[TID].j = tid;
	return thread;
}

/* Allocates an object for JNI.  A new string is "jtool agent"; a new thread has this name. */
static struct fake_object *allocate(const char *signature, jlong size, jint len)
{
	enum class c = OBJECT;
	struct fake_object *o;

	while (c < CLASSES && strcmp(classes[c].signature, signature) != 0)
		c++;
	ck_assert_int_lt(c, CLASSES);
	if (c == STRING)
		return new_string("jtool agent");
	if (c != THREAD) {
		o = new_object(c, size, len);
		if (c == OBJECTS) /* with 16 bytes before the elements, and without compression */
			o->slots = (uintptr_t *)(o + 1) + 2;
		return o;
	}
	o = new_thread("jtool agent", FAKE_OWN_THREAD);
	set(o, 1, new_object(OBJECT, 16, -1));
	return o;
}

static void new_crowd(void)
{
	for (int i = 0; i < heap_world.crowd; i++)
		write_header(new_object(LATE, 16, -1), CLASSES + (uint32_t)i);
}

static void list_crowd(void)
{
	const struct fake_object *o;

	for (size_t i = 0; (o = fake_heap_get(i)); i++) {
		if (o->class == mirrors[LATE])
			write_header(fake_heap_get(i), LATE);
	}
}

static void new_mirrors(void)
{
	for (int i = OBJECT; i < CLASSES; i++) {
		uint64_t address = BASE + ((uint64_t)i << SHIFT);
		struct fake_object *c = mirrors[i] = new_object(CLASS, 96, -1);

		memcpy((char *)(c + 1) + 32, &address, sizeof(address));
		if (heap_world.two_klass_words)
			memcpy((char *)(c + 1) + 48, &address, sizeof(address));
		c->klass = (uint32_t)i;
		c->signature = classes[i].signature;
		c->modifiers = classes[i].modifiers;
	}
	for (int i = OBJECT; i < CLASSES; i++) {
		mirrors[i]->class = mirrors[CLASS];
		mirrors[i]->super = mirrors[classes[i].super];
	}
}

static void set_methods(enum class class, size_t first, size_t n)
{
	mirrors[class]->methods = &methods[first];
	mirrors[class]->n_methods = n;
	for (size_t i = first; i < first + n; i++)
		methods[i].class = mirrors[class];
}

static void complete_classes(void)
{
	mirrors[UNLINKED]->unprepared = true;
	mirrors[ANONYMOUS]->unmodifiable = fake.release != 1; /* JDK 8 reports it as modifiable */
	mirrors[APP_ONE]->interface = mirrors[APP_WEAK]->interface = mirrors[SHAPE];
	mirrors[APP_ONE]->source = "App.java";
	set_methods(CLASS, GET_DOMAIN, 1);
	set_methods(THREAD, THREAD_INIT, 1);
	set_methods(APP_ONE, APP_INIT, 2);
	for (size_t i = 0; i < N_FIELDS; i++) {
		fields[i] = field_rows[i].field;
		fields[i].class = mirrors[field_rows[i].of];
	}
	for (int i = OBJECT; i < CLASSES; i++)
		mirrors[i]->loader = loaders[classes[i].loader];
}

/* Gives the first loader's classes a protection domain with the URL of a jar. */
static void new_domain(void)
{
	struct fake_object *domain = new_object(DOMAIN, 40, -1);
	struct fake_object *source = new_object(CODE_SOURCE, 40, -1);
	struct fake_object *url = new_object(URL, 64, -1);

	set(domain, 0, source);
	set(source, 0, url);
	set(url, 0, new_string("file"));
	set(url, 1, new_string("host"));
	set(url, 2, new_string("/app/a.jar"));
	set(url, 3, new_string("q"));
	for (int c = OBJECT; c < CLASSES; c++) {
		if (classes[c].loader == 1)
			set(mirrors[c], 0, domain);
	}
}

/* Adds a WeakReference, and one of an application class that extends WeakReference. */
static void new_references(void)
{
	for (int c = WEAK; c <= APP_WEAK; c += APP_WEAK - WEAK) {
		struct fake_object *o = new_object((enum class)c, 48, -1);

		set(o, 0, new_named(MODULE, "weakly"));
		set(o, 1, new_named(MODULE, "strongly"));
	}
}

static void new_objects(void)
{
	new_mirrors();
	new_domain();
	loaders[1] = new_named(LOADER, "first");
	loaders[2] = new_named(LOADER, NULL);
	modules[0] = new_named(MODULE, "a.module");
	set(modules[0], 1, new_object(LAYER, 40, -1));
	modules[1] = new_named(MODULE, NULL);
	fake.app_thread = fake.current_thread = new_thread("Attach Listener", FAKE_APP_THREAD);
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

/* Roots */

static void add_root(jvmtiHeapReferenceKind kind, struct fake_object *object)
{
	ck_assert_uint_lt(fake_heap.n_roots, FAKE_ROOTS_MAX);
	fake_heap.roots[fake_heap.n_roots++] = (struct fake_root){ .kind = kind, .object = object };
}

static struct fake_root stack_root(jlong thread, jint depth, struct fake_object *object)
{
	return (struct fake_root){
		.kind = JVMTI_HEAP_REFERENCE_STACK_LOCAL,
		.object = object,
		.info.stack_local = { .thread_id = thread, .depth = depth,
				      .method = (jmethodID)&methods[THREAD_INIT + depth] },
	};
}

static void add_roots(void)
{
	fake_heap.n_roots = 0;
	add_root(JVMTI_HEAP_REFERENCE_THREAD, fake.app_thread);
	for (int i = 0; i <= heap_world.locals; i++) {
		ck_assert_uint_lt(fake_heap.n_roots, FAKE_ROOTS_MAX);
		fake_heap.roots[fake_heap.n_roots++] = stack_root(FAKE_APP_THREAD, 0, loaders[1]);
	}
	fake_heap.roots[fake_heap.n_roots++] = stack_root(FAKE_APP_THREAD, 2, mirrors[APP_ONE]);
	add_root(JVMTI_HEAP_REFERENCE_THREAD, NULL); /* the current thread */
	add_root(JVMTI_HEAP_REFERENCE_JNI_LOCAL, NULL);
	for (int c = OBJECT; c < APP_ONE; c++)
		add_root(JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, mirrors[c]);
	add_root(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, modules[0]);
	add_root(JVMTI_HEAP_REFERENCE_MONITOR, modules[1]);
	add_root(JVMTI_HEAP_REFERENCE_OTHER, (struct fake_object *)fake.app_thread->fields[0].l);
	fake_heap.in_virtual = stack_root(FAKE_VIRTUAL_THREAD, 1, mirrors[APP_TWO]);
	fake_heap.class_class = mirrors[CLASS];
	fake_heap.reference_class = mirrors[REFERENCE];
	fake_heap.holder = mirrors[APP_ONE];
	fake_heap.held_from = UNLINKED + 1;
}

/* Functions of this JVM only */

static jobject JNICALL get_module(JNIEnv *jni, jclass class)
{
	const struct fake_object *c = fake_object_of(class);

	(void)jni;
	ck_assert_int_ne(fake.release, 1); /* no such function before JDK 9 */
	return fake_throws() ? NULL : fake_ref(modules[c->loader != NULL]);
}

static jobject JNICALL call_object_method(JNIEnv *jni, jobject object, jmethodID method, ...)
{
	struct fake_object *domain = (struct fake_object *)fake_object_of(object)->fields[0].l;

	(void)jni;
	ck_assert_ptr_eq(method, &methods[GET_DOMAIN]);
	return fake_throws() ? NULL : fake_ref(domain);
}

/* Writes elements after the header, see write_header(). */
static void write_elements(jobject array, const void *elements, size_t size)
{
	const size_t first[] = { [FAKE_NARROW] = 16, [FAKE_WIDE] = 24, [FAKE_COMPACT] = 12 };
	size_t at = first[heap_world.layout];

	if (!fake_throws())
		memcpy((char *)(fake_object_of(array) + 1) + at, elements, size);
}

static void JNICALL set_byte_array_region(JNIEnv *jni, jbyteArray array, jsize from, jsize n,
					  const jbyte *elements)
{
	(void)jni;
	ck_assert_int_eq(from, 0);
	write_elements(array, elements, (size_t)n);
}

static void JNICALL set_long_array_region(JNIEnv *jni, jlongArray array, jsize from, jsize n,
					  const jlong *elements)
{
	(void)jni;
	ck_assert_int_eq(from, 0);
	write_elements(array, elements, (size_t)n * sizeof(*elements));
}

/* Returns one constant, Utf8 "x".  HotSpot of JDK 8 crashes if the class is anonymous. */
static jvmtiError JNICALL get_constant_pool(jvmtiEnv *ti, jclass class, jint *count, jint *len,
					    unsigned char **bytes)
{
	const struct fake_object *c = fake_object_of(class);

	if (!fake_environment(ti)->capabilities.can_get_constant_pool)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	ck_assert(fake.release != 1 || c != mirrors[ANONYMOUS]);
	FAKE_TI_FAILS();
	if (c->signature[0] == '[')
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*count = 2;
	*len = 4;
	*bytes = memcpy(fake_block(4), "\1\0\1x", 4);
	return JVMTI_ERROR_NONE;
}

/* Lists the class "LLate;" only if there is a crowd, and then not in the first call. */
static jvmtiError JNICALL get_loaded_classes(jvmtiEnv *ti, jint *n, jclass **list)
{
	bool all = heap_world.crowd && heap_world.listings++;

	(void)ti;
	FAKE_TI_FAILS();
	if (all)
		list_crowd();
	*n = (all ? CLASSES : LISTED) - OBJECT;
	*list = fake_block((size_t)*n * sizeof(jclass));
	for (jint i = 0; i < *n; i++)
		(*list)[i] = fake_ref(mirrors[OBJECT + i]);
	return JVMTI_ERROR_NONE;
}

static void add_functions(void)
{
	fake_add_objects();
	fake_add_classes();
	fake_add_threads();
	fake_add_environments();
	fake_add_heap();
	fake_jni_table.CallObjectMethod = call_object_method;
	fake_jni_table.GetModule = get_module;
	fake_jni_table.SetByteArrayRegion = set_byte_array_region;
	fake_jni_table.SetLongArrayRegion = set_long_array_region;
	fake_ti_table.GetConstantPool = get_constant_pool;
	fake_ti_table.GetLoadedClasses = get_loaded_classes;
}

void heap_world_init(int release, enum fake_layout layout)
{
	fake = (struct fake_jvm){ .release = release };
	heap_world = (struct heap_world){ .layout = layout };
	memset(&fake_heap, 0, sizeof(fake_heap));
}

void heap_world_start(void)
{
	add_functions();
	new_objects();
	complete_classes();
	add_roots();
	fake.fields = fields;
	fake.n_fields = N_FIELDS - (fake.release < 25);
	fake.hash = 0x1234; /* of all objects: the agent must handle collisions */
	fake.allocate = allocate;
	fake.thread_group = modules[0];
	fake.context_loader = loaders[1];
	fake_mark();
}

void heap_world_stop(void)
{
	struct fake_object *o;

	for (size_t i = 0; (o = fake_heap_get(i)); i++) {
		free(o);
	}
	fake_heap_clear();
}
