/*
 * CAPTURE, and what stands below it, in a JVM that is made for it: what comes out when all goes
 * well, that nobody else's class is touched, and that nothing is left behind, whatever call fails.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "classfile/code.h"
#include "cmd/cmd.h"
#include "jvm/capture.h"
#include "jvm/roster.h"
#include "wire/frame.h"

#define FILE_MAX 65536
#define METHODS_MAX 32
#define OVERPASS (CF_ACC_PUBLIC | CF_ACC_VOLATILE | CF_ACC_SYNTHETIC)

/* A class, or a loader; a reference is its address. */
struct thing {
	const char *signature;
	struct thing *loader;
	bool unmodifiable;
	bool unlinked;
	bool changed;   /* its first method does another thing in memory */
	bool overpass;  /* and it has a method that no file has */
};

static struct thing loader, other_loader;
static struct thing app = { .signature = "Lp/Sample;", .loader = &loader };
static struct thing namesake = { .signature = "Lp/Sample;", .loader = &other_loader };
static struct thing changed = { .signature = "Lp/Sample;", .loader = &loader, .changed = true };
static struct thing overpass = { .signature = "Lp/Sample;", .overpass = true };
static struct thing unlinked = { .signature = "Lp/Sample;", .unlinked = true };
static struct thing array = { .signature = "[Lp/Sample;" };
static struct thing hidden = { .signature = "Lp/Sample.0x12;", .unmodifiable = true };
static struct thing anonymous = { .signature = "Lp/Sample$$Lambda$1/123;" };
static struct thing exception_class, exception, bystander;

static struct {
	/* How the JVM is to be */
	jint version;
	bool swallows; /* somebody else's hook clears the exception */
	jvmtiError refuses;
	unsigned fail_at;
	bool leaving;

	/* What came of it */
	unsigned calls, hooked, real, touched_others;
	long blocks, references, frames, environments, capabilities;
	bool pending;
} jvm;

/* The second environment, with the hook. */
static struct {
	jvmtiEventCallbacks callbacks;
	bool enabled;
	void *storage;
	bool other_thread; /* that is running now */
} env;

static uint8_t sample[FILE_MAX];
static size_t sample_len;
static struct ag_mem sample_mem = { .budget = SIZE_MAX };
static struct cf_class sample_class;
static struct cf_member methods[METHODS_MAX];
static jint n_methods;

static const struct JNINativeInterface_ jni_table;
static const jvmtiInterface_1 ti_table;
static const struct JNIInvokeInterface_ vm_table;
static JNIEnv the_jni = &jni_table;
static jvmtiEnv session_ti = &ti_table, hook_ti = &ti_table;
static JavaVM the_vm = &vm_table;

static bool fault(void)
{
	return ++jvm.calls == jvm.fail_at && !jvm.leaving;
}

static jvmtiError ti_fault(void)
{
	bool now = fault();

	if (jvm.leaving && jvm.fail_at && jvm.calls >= jvm.fail_at)
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
void *__wrap_calloc(size_t n, size_t size);
static bool in_agent;

void *__wrap_calloc(size_t n, size_t size)
{
	return in_agent && fault() ? NULL : __real_calloc(n, size);
}

static struct thing *of(jobject reference)
{
	return (struct thing *)reference;
}

static jobject ref_to(struct thing *thing)
{
	if (thing)
		jvm.references++;
	return (jobject)thing;
}

/* JNI */

static jint JNICALL get_version(JNIEnv *jni)
{
	(void)jni;
	return jvm.version;
}

static jclass JNICALL find_class(JNIEnv *jni, const char *name)
{
	(void)jni;
	ck_assert_str_eq(name, "java/lang/UnsupportedClassVersionError");
	jvm.pending = fault();
	return jvm.pending ? NULL : ref_to(&exception_class);
}

static jobject JNICALL alloc_object(JNIEnv *jni, jclass class)
{
	(void)jni;
	ck_assert_ptr_eq(of(class), &exception_class);
	jvm.pending = fault();
	return jvm.pending ? NULL : ref_to(&exception);
}

static jint JNICALL throw(JNIEnv *jni, jthrowable thrown)
{
	(void)jni;
	ck_assert_ptr_eq(of(thrown), &exception);
	ck_assert(!env.other_thread);
	if (fault())
		return JNI_ERR;
	jvm.pending = true;
	return JNI_OK;
}

static void JNICALL delete_local_ref(JNIEnv *jni, jobject ref)
{
	(void)jni, (void)ref;
	jvm.references--;
}

static jint JNICALL ensure_local_capacity(JNIEnv *jni, jint n)
{
	(void)jni, (void)n;
	return JNI_OK;
}

static jboolean JNICALL exception_check(JNIEnv *jni)
{
	(void)jni;
	return jvm.pending;
}

static void JNICALL exception_clear(JNIEnv *jni)
{
	(void)jni;
	jvm.pending = false;
}

static jboolean JNICALL is_same_object(JNIEnv *jni, jobject a, jobject b)
{
	(void)jni;
	ck_assert(!env.other_thread);
	return a == b;
}

static jint JNICALL push_local_frame(JNIEnv *jni, jint n)
{
	(void)jni, (void)n;
	if (fault())
		return JNI_ENOMEM;
	jvm.frames++;
	return JNI_OK;
}

static jobject JNICALL pop_local_frame(JNIEnv *jni, jobject result)
{
	(void)jni;
	jvm.frames--;
	return result;
}

/* JVMTI: what is told */

static void *ti_alloc(const void *data, size_t len)
{
	void *p = __real_calloc(1, len ? len : 1);

	ck_assert_ptr_nonnull(p);
	memcpy(p, data, len);
	jvm.blocks++;
	return p;
}

static char *ti_text(const char *text, size_t len)
{
	char *copy = ti_alloc("", 0);

	copy = realloc(copy, len + 1);
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *p)
{
	(void)ti;
	free(p);
	jvm.blocks--;
	return JVMTI_ERROR_NONE;
}

/* Whatever is asked of it, a VM-anonymous class ends the JVM. */
static void looked_at(jclass class)
{
	ck_assert_ptr_ne(of(class), &anonymous);
	ck_assert_ptr_ne(of(class), &array);
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *ti, jclass class, char **signature,
					      char **generic)
{
	const char *text = of(class)->signature;

	(void)ti, (void)generic;
	TI_FAULT();
	*signature = ti_text(text, strlen(text));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_loader(jvmtiEnv *ti, jclass class, jobject *result)
{
	(void)ti;
	TI_FAULT();
	looked_at(class);
	*result = ref_to(of(class)->loader);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL is_modifiable_class(jvmtiEnv *ti, jclass class, jboolean *modifiable)
{
	(void)ti;
	TI_FAULT();
	looked_at(class);
	*modifiable = !of(class)->unmodifiable;
	return JVMTI_ERROR_NONE;
}

/* A method is known by its place; the last is the overpass. */
static jvmtiError JNICALL get_class_methods(jvmtiEnv *ti, jclass class, jint *n, jmethodID **ids)
{
	struct thing *thing = of(class);

	(void)ti;
	TI_FAULT();
	looked_at(class);
	if (thing->unlinked)
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*n = n_methods + thing->overpass;
	*ids = ti_alloc("", 0);
	*ids = realloc(*ids, (size_t)*n * sizeof(**ids));
	for (jint i = 0; i < *n; i++)
		(*ids)[i] = (jmethodID)(uintptr_t)(thing->changed ? 1000 + i : 1 + i);
	return JVMTI_ERROR_NONE;
}

static jint index_of(jmethodID method)
{
	uintptr_t number = (uintptr_t)method;

	return (jint)(number >= 1000 ? number - 1000 : number - 1);
}

static jvmtiError JNICALL get_bytecodes(jvmtiEnv *ti, jmethodID method, jint *len,
					unsigned char **code)
{
	jint i = index_of(method);
	struct cf_code has;

	(void)ti;
	TI_FAULT();
	if (i == n_methods) {
		*len = 1;
		*code = ti_alloc("\xb1", 1);
		return JVMTI_ERROR_NONE;
	}
	if (methods[i].access & CF_ACC_NATIVE)
		return JVMTI_ERROR_NATIVE_METHOD;
	*len = 0;
	*code = NULL;
	if (!cf_code(&methods[i], &has))
		return JVMTI_ERROR_NONE;
	*len = (jint)has.len;
	*code = ti_alloc(has.code, has.len);
	if ((uintptr_t)method == 1000)
		**code ^= 1;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *ti, jmethodID method, char **name,
					  char **descriptor, char **generic)
{
	static const struct cf_member made_up = { .name = { "made$up", 7 },
						  .descriptor = { "()V", 3 } };
	jint i = index_of(method);
	const struct cf_member *m = i == n_methods ? &made_up : &methods[i];

	(void)ti, (void)generic;
	TI_FAULT();
	*name = ti_text(m->name.data, m->name.len);
	*descriptor = ti_text(m->descriptor.data, m->descriptor.len);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_modifiers(jvmtiEnv *ti, jmethodID method, jint *modifiers)
{
	jint i = index_of(method);

	(void)ti;
	TI_FAULT();
	*modifiers = i == n_methods ? OVERPASS : methods[i].access;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_constant_pool(jvmtiEnv *ti, jclass class, jint *count, jint *len,
					    unsigned char **bytes)
{
	(void)ti;
	TI_FAULT();
	looked_at(class);
	*count = sample_class.pool.count;
	*len = 100;
	*bytes = ti_alloc(sample_class.pool.data, 100);
	return JVMTI_ERROR_NONE;
}

/* JVMTI: environments and their hook */

static jvmtiError JNICALL get_potential_capabilities(jvmtiEnv *ti, jvmtiCapabilities *caps)
{
	(void)ti;
	TI_FAULT();
	memset(caps, 0xff, sizeof(*caps));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *caps)
{
	TI_FAULT();
	if (ti == &session_ti)
		jvm.capabilities++;
	else
		ck_assert(caps->can_retransform_classes && !caps->can_tag_objects);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL relinquish_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *caps)
{
	(void)ti, (void)caps;
	jvm.capabilities--;
	return ti_fault();
}

static jvmtiError JNICALL set_thread_local_storage(jvmtiEnv *ti, jthread thread, const void *data)
{
	ck_assert_ptr_eq(ti, &hook_ti);
	ck_assert_ptr_null(thread);
	TI_FAULT();
	env.storage = (void *)data;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_thread_local_storage(jvmtiEnv *ti, jthread thread, void **data)
{
	ck_assert_ptr_eq(ti, &hook_ti);
	ck_assert_ptr_null(thread);
	TI_FAULT();
	*data = env.other_thread ? NULL : env.storage;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event_callbacks(jvmtiEnv *ti, const jvmtiEventCallbacks *callbacks,
					      jint size)
{
	ck_assert_ptr_eq(ti, &hook_ti);
	ck_assert_int_eq(size, sizeof(*callbacks));
	TI_FAULT();
	env.callbacks = *callbacks;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event_notification_mode(jvmtiEnv *ti, jvmtiEventMode mode,
						      jvmtiEvent event, jthread thread, ...)
{
	ck_assert_ptr_eq(ti, &hook_ti);
	ck_assert_int_eq(event, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
	ck_assert_ptr_null(thread);
	TI_FAULT();
	env.enabled = mode == JVMTI_ENABLE;
	return JVMTI_ERROR_NONE;
}

static void call_hook(jclass class, jobject from, const char *name, const uint8_t *bytes,
		      size_t len)
{
	unsigned char *new_bytes = NULL;
	jint new_len = 0;

	if (!env.enabled)
		return;
	jvm.hooked++;
	env.callbacks.ClassFileLoadHook(&hook_ti, &the_jni, class, from, name, NULL, (jint)len,
					bytes, &new_len, &new_bytes);
	ck_assert_ptr_null(new_bytes);
}

/* As HotSpot does it, with everything that may come in between. */
static jvmtiError operate(jclass class, const uint8_t *bytes, size_t len)
{
	struct thing *thing = of(class);
	const char *name = "p/Sample";
	unsigned calls;

	ck_assert(!jvm.pending);
	looked_at(class);
	ck_assert(!thing->unmodifiable);
	if (jvm.refuses)
		return jvm.refuses;
	call_hook(class, NULL, "java/lang/WeakPairMap$Pair$Weak", bytes, len);
	call_hook(class, ref_to(&bystander), name, bytes, len);
	calls = jvm.calls;
	call_hook(NULL, (jobject)thing->loader, name, bytes, len);
	ck_assert_uint_eq(jvm.calls, calls); /* what is merely loaded is not held up */
	call_hook(ref_to(&bystander), (jobject)thing->loader, name, bytes, len);
	call_hook(class, (jobject)thing->loader, NULL, bytes, len);
	jvm.references -= 2;
	env.other_thread = true;
	call_hook(class, (jobject)thing->loader, name, bytes, len);
	env.other_thread = false;
	jvm.touched_others += jvm.pending;
	call_hook(class, (jobject)thing->loader, name, bytes, len);
	if (jvm.swallows)
		jvm.pending = false;
	if (!jvm.pending) {
		jvm.real++;
		return JVMTI_ERROR_NONE;
	}
	jvm.pending = false;
	return JVMTI_ERROR_UNSUPPORTED_VERSION;
}

static jvmtiError JNICALL retransform_classes(jvmtiEnv *ti, jint n, const jclass *classes)
{
	ck_assert_ptr_eq(ti, &hook_ti);
	ck_assert_int_eq(n, 1);
	TI_FAULT();
	return operate(*classes, sample, sample_len);
}

static jvmtiError JNICALL redefine_classes(jvmtiEnv *ti, jint n,
					   const jvmtiClassDefinition *definitions)
{
	ck_assert_ptr_eq(ti, &hook_ti);
	ck_assert_int_eq(n, 1);
	TI_FAULT();
	return operate(definitions->klass, definitions->class_bytes,
		       (size_t)definitions->class_byte_count);
}

static jvmtiError JNICALL dispose_environment(jvmtiEnv *ti)
{
	ck_assert_ptr_eq(ti, &hook_ti);
	jvm.environments--;
	memset(&env, 0, sizeof(env));
	return JVMTI_ERROR_NONE;
}

static jint JNICALL get_env(JavaVM *vm, void **out, jint version)
{
	(void)vm, (void)version;
	if (fault())
		return JNI_EVERSION;
	jvm.environments++;
	*out = &hook_ti;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ vm_table = { .GetEnv = get_env };

static const struct JNINativeInterface_ jni_table = {
	.AllocObject = alloc_object,
	.DeleteLocalRef = delete_local_ref,
	.EnsureLocalCapacity = ensure_local_capacity,
	.ExceptionCheck = exception_check,
	.ExceptionClear = exception_clear,
	.FindClass = find_class,
	.GetVersion = get_version,
	.IsSameObject = is_same_object,
	.PopLocalFrame = pop_local_frame,
	.PushLocalFrame = push_local_frame,
	.Throw = throw,
};

static const jvmtiInterface_1 ti_table = {
	.AddCapabilities = add_capabilities,
	.Deallocate = deallocate,
	.DisposeEnvironment = dispose_environment,
	.GetBytecodes = get_bytecodes,
	.GetClassLoader = get_class_loader,
	.GetClassMethods = get_class_methods,
	.GetClassSignature = get_class_signature,
	.GetConstantPool = get_constant_pool,
	.GetMethodModifiers = get_method_modifiers,
	.GetMethodName = get_method_name,
	.GetPotentialCapabilities = get_potential_capabilities,
	.GetThreadLocalStorage = get_thread_local_storage,
	.IsModifiableClass = is_modifiable_class,
	.RedefineClasses = redefine_classes,
	.RelinquishCapabilities = relinquish_capabilities,
	.RetransformClasses = retransform_classes,
	.SetEventCallbacks = set_event_callbacks,
	.SetEventNotificationMode = set_event_notification_mode,
	.SetThreadLocalStorage = set_thread_local_storage,
};

/* A request, and what comes of it. */

static struct thing *const things[] = { &app,	 &namesake, &changed, &overpass, &unlinked,
					&array,	 &hidden,   &anonymous };
enum { N_THINGS = sizeof(things) / sizeof(things[0]) };

struct told {
	uint32_t outcome, methods, bytes;
	int32_t code;
	bool memory;
};

struct seen {
	int rc;
	uint32_t n; /* of classes */
	struct told told[N_THINGS];
	bool end;
};

static void read_sample(void)
{
	const char *top = getenv("top_srcdir");
	char path[256];
	struct cf_members list;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/classfile/Sample.class", top ? top : ".");
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	sample_len = fread(sample, 1, sizeof(sample), f);
	fclose(f);
	ck_assert_ptr_null(cf_open(&sample_class, sample, sample_len, &sample_mem));
	list = cf_methods(&sample_class);
	for (n_methods = 0; cf_next_member(&list, &methods[n_methods]); n_methods++)
		ck_assert_int_lt(n_methods, METHODS_MAX - 1);
	memset(&jvm, 0, sizeof(jvm));
	jvm.version = JNI_VERSION_1_8;
}

static void release_sample(void)
{
	cf_release(&sample_class);
	ck_assert_uint_eq(sample_mem.blocks, 0);
}

static void see_frame(struct seen *seen, uint16_t type, struct wire_reader r)
{
	struct told *last = seen->n ? &seen->told[seen->n - 1] : NULL;

	switch (type) {
	case WIRE_CAPTURED:
		ck_assert_uint_lt(seen->n, N_THINGS);
		last = &seen->told[seen->n];
		ck_assert_uint_eq(wire_get_u32(&r), seen->n++);
		last->outcome = wire_get_u32(&r);
		last->code = wire_get_i32(&r);
		ck_assert_uint_eq(wire_get_u32(&r),
				  last->outcome == WIRE_CAPTURED_FILE ? sample_len : 0);
		break;
	case WIRE_BYTES:
		last->bytes += (uint32_t)wire_get_text(&r).len;
		break;
	case WIRE_MEMORY:
		last->memory = true;
		break;
	case WIRE_MEMORY_METHOD:
		ck_assert(last->memory);
		last->methods++;
		break;
	case WIRE_CAPTURE_END:
		seen->end = true;
		ck_assert_uint_eq(wire_get_u32(&r), seen->n);
		break;
	default:
		ck_abort_msg("a frame of type %u", (unsigned)type);
	}
	ck_assert(wire_reader_ok(&r));
}

static void see_frames(struct seen *seen, int fd)
{
	static uint8_t payload[WIRE_PAYLOAD_MAX];
	uint8_t raw[WIRE_HEADER_LEN];

	while (recv(fd, raw, sizeof(raw), MSG_WAITALL) == sizeof(raw)) {
		struct wire_header header;

		ck_assert(wire_header_read(raw, &header));
		ck_assert_int_eq(recv(fd, payload, header.len, MSG_WAITALL), header.len);
		see_frame(seen, header.type, wire_reader_init(payload, header.len));
	}
}

static struct seen run(uint32_t flags, uint32_t n)
{
	struct ag_mem mem = { .budget = 1 << 20 };
	struct ag_roster roster = { .classes = { (jclass *)things, N_THINGS } };
	struct ag_jvm agent = { .vm = &the_vm, .ti = &session_ti, .jni = &the_jni, .mem = &mem,
				.roster = &roster };
	struct seen seen = { 0 };
	uint8_t data[4 * (2 + N_THINGS + 1)];
	struct wire_writer w = wire_writer_init(data, sizeof(data));
	struct wire_reader request;
	struct ag_chan chan;
	int ends[2];

	wire_put_u32(&w, flags);
	wire_put_u32(&w, n);
	for (uint32_t i = 0; i < n && i < N_THINGS; i++)
		wire_put_u32(&w, i);
	request = wire_reader_init(data, w.len);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(ag_chan_init(&chan, &mem, ends[0]), 0);
	in_agent = true;
	seen.rc = ag_cmd_capture(&agent, &chan, &request);
	in_agent = false;
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	ag_chan_release(&chan);
	ag_chan_close(&chan);
	see_frames(&seen, ends[1]);
	close(ends[1]);
	ck_assert(seen.rc == 0 || agent.err.what);
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_int_eq(jvm.blocks, 0);
	ck_assert_int_eq(jvm.references, 0);
	ck_assert_int_eq(jvm.frames, 0);
	ck_assert_int_eq(jvm.environments, 0);
	ck_assert_int_eq(jvm.capabilities, 0);
	ck_assert_uint_eq(jvm.touched_others, 0);
	ck_assert(!jvm.pending);
	return seen;
}

START_TEST(everything)
{
	static const struct told want[N_THINGS] = {
		{ .outcome = WIRE_CAPTURED_FILE },
		{ .outcome = WIRE_CAPTURED_FILE },
		{ .outcome = WIRE_CAPTURED_FILE, .methods = 1 },
		{ .outcome = WIRE_CAPTURED_FILE },
		{ .outcome = WIRE_CAPTURED_FILE },
		{ .outcome = WIRE_CAPTURED_ARRAY },
		{ .outcome = WIRE_CAPTURED_HIDDEN },
		{ .outcome = WIRE_CAPTURED_ANONYMOUS },
	};
	struct seen seen = run(0, N_THINGS);

	ck_assert_int_eq(seen.rc, 0);
	ck_assert(seen.end);
	ck_assert_uint_eq(seen.n, N_THINGS);
	for (uint32_t i = 0; i < N_THINGS; i++) {
		ck_assert_uint_eq(seen.told[i].outcome, want[i].outcome);
		ck_assert_uint_eq(seen.told[i].methods, want[i].methods);
		ck_assert_uint_eq(seen.told[i].memory, want[i].methods > 0);
		if (want[i].outcome == WIRE_CAPTURED_FILE)
			ck_assert_uint_ge(seen.told[i].bytes, sample_len);
	}
	ck_assert_uint_eq(jvm.real, 0);
	ck_assert_uint_eq(jvm.hooked, 5 * 7);
}
END_TEST

/* Every method with code, of hidden classes, too; never of a VM-anonymous one. */
START_TEST(all_memory)
{
	struct seen seen = run(WIRE_CAPTURE_MEMORY, N_THINGS);
	uint32_t n = seen.told[0].methods;

	ck_assert_uint_gt(n, 2);
	ck_assert_uint_le(n, (uint32_t)n_methods);
	ck_assert_uint_eq(seen.told[3].methods, n); /* the JVM's own method is not told */
	ck_assert_uint_eq(seen.told[4].methods, 0);
	ck_assert_uint_eq(seen.told[5].methods, 0);
	ck_assert_uint_eq(seen.told[6].methods, n);
	ck_assert_uint_eq(seen.told[7].methods, 0);
}
END_TEST

/* From JDK 9 on a class that is called so is a class. */
START_TEST(digits_are_a_name)
{
	static struct thing odd = { .signature = "Lp/Sample/1;" };
	struct ag_mem mem = { .budget = 1 << 20 };
	struct ag_jvm agent = { .vm = &the_vm, .ti = &session_ti, .jni = &the_jni, .mem = &mem };
	struct ag_captured captured;

	ck_assert_int_eq(ag_capture_can(&agent, (jclass)&odd, odd.signature, &captured), 0);
	ck_assert_uint_eq(captured.outcome, WIRE_CAPTURED_ANONYMOUS);
	jvm.version = JNI_VERSION_9;
	ck_assert_int_eq(ag_capture_can(&agent, (jclass)&odd, odd.signature, &captured), 1);
}
END_TEST

/* The JVM went on: that is told, and not done again. */
START_TEST(stops_when_it_is_real)
{
	struct seen seen;

	jvm.swallows = true;
	seen = run(0, N_THINGS);
	ck_assert_uint_eq(seen.told[0].outcome, WIRE_CAPTURED_REAL);
	ck_assert_uint_eq(seen.told[1].outcome, WIRE_CAPTURED_NOT_ASKED);
	ck_assert_uint_eq(jvm.real, 1);
	ck_assert_int_eq(seen.rc, 0);
}
END_TEST

/* An error is one class's. */
START_TEST(tells_errors)
{
	struct seen seen;

	jvm.refuses = _i ? JVMTI_ERROR_FAILS_VERIFICATION : JVMTI_ERROR_UNSUPPORTED_VERSION;
	seen = run(0, N_THINGS);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.n, N_THINGS);
	ck_assert_uint_eq(seen.told[1].outcome, WIRE_CAPTURED_ERROR);
	ck_assert_int_eq(seen.told[1].code, jvm.refuses);
}
END_TEST

START_TEST(refuses_requests_that_are_not_whole)
{
	struct seen seen = run(0, N_THINGS + 1);

	ck_assert_int_eq(seen.rc, -1);
	ck_assert_uint_eq(seen.n, N_THINGS);
	ck_assert(!seen.end);
}
END_TEST

static const uint32_t all_flags[] = { 0, WIRE_CAPTURE_MEMORY };

/* The n-th call, for every n: whatever it was, run() sees that nothing is left. */
START_TEST(any_call_fails)
{
	unsigned n_real = 0, n = 0;
	struct seen seen;

	do {
		release_sample();
		read_sample();
		jvm.fail_at = ++n;
		seen = run(all_flags[_i], N_THINGS);
		n_real += jvm.real;
	} while (jvm.calls >= n);
	ck_assert_uint_gt(n, 50);
	ck_assert_int_eq(seen.rc, 0);
	/* Nothing stops the JVM where the hook does not know its thread, or cannot throw. */
	ck_assert_uint_eq(n_real, _i == 2 ? 0 : 2 * 5);
}
END_TEST

START_TEST(the_jvm_leaves)
{
	unsigned n = 0;

	do {
		release_sample();
		read_sample();
		jvm.leaving = true;
		jvm.fail_at = ++n;
		(void)run(all_flags[_i], N_THINGS);
	} while (jvm.calls >= n);
}
END_TEST

START_TEST(a_redefinition)
{
	struct ag_mem mem = { .budget = 1 << 20 };
	struct ag_jvm agent = { .vm = &the_vm, .ti = &session_ti, .jni = &the_jni, .mem = &mem };
	struct ag_captured captured;
	struct ag_capture capture;

	ck_assert_int_eq(ag_capture_open(&agent, &capture), 0);
	ck_assert_int_eq(ag_capture_redefinition(&agent, &capture, (jclass)&app,
						 (const uint8_t *)"other", 5, &captured), 0);
	ck_assert_uint_eq(captured.outcome, WIRE_CAPTURED_FILE);
	ck_assert_uint_eq(capture.len, 5);
	ck_assert_mem_eq(capture.bytes, "other", 5);
	ck_assert_int_eq(ag_capture_redefinition(&agent, &capture, (jclass)&app, sample,
						 (size_t)INT32_MAX + 1, &captured), -1);
	ag_capture_close(&agent, &capture);
	ck_assert_uint_eq(jvm.real, 0);
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_int_eq(jvm.environments, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("capture");
	TCase *tc = tcase_create("capture");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, read_sample, release_sample);
	tcase_add_test(tc, everything);
	tcase_add_test(tc, all_memory);
	tcase_add_test(tc, digits_are_a_name);
	tcase_add_test(tc, stops_when_it_is_real);
	tcase_add_loop_test(tc, tells_errors, 0, 2);
	tcase_add_test(tc, refuses_requests_that_are_not_whole);
	tcase_add_loop_test(tc, any_call_fails, 0, 2);
	tcase_add_loop_test(tc, the_jvm_leaves, 0, 2);
	tcase_add_test(tc, a_redefinition);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
