/*
 * CAPTURE and its modules in a fake JVM: the outcome for each kind of class, that no other class is
 * affected, and that nothing is left in the JVM when a call fails.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/fake/jvm_parts.h"
#include "classfile/code.h"
#include "cmd/command.h"
#include "jvm/capture/capture.h"
#include "jvm/class_index.h"
#include "wire/frame.h"

#define FILE_MAX 65536
#define METHODS_MAX 32
#define OVERPASS (CF_ACC_PUBLIC | CF_ACC_VOLATILE | CF_ACC_SYNTHETIC)

#define CLASS(...) { .signature = "Lp/Sample;", __VA_ARGS__ }

static struct fake_object loader, other_loader;
static struct fake_object app = CLASS(.loader = &loader);
static struct fake_object namesake = CLASS(.loader = &other_loader);
static struct fake_object changed = CLASS(.loader = &loader); /* its first method differs */
static struct fake_object overpass = CLASS(); /* it has a method that the JVM generated */
static struct fake_object unlinked = CLASS(.unprepared = true);
static struct fake_object array = { .signature = "[Lp/Sample;" };
static struct fake_object hidden = { .signature = "Lp/Sample.0x12;", .unmodifiable = true };
static struct fake_object anonymous = { .signature = "Lp/Sample$$Lambda$1/123;" };
static struct fake_object exception_class = {
	.signature = "Ljava/lang/UnsupportedClassVersionError;",
};
static struct fake_object bystander;
static struct fake_object *const known[] = { &exception_class };

static struct {
	/* How the JVM behaves */
	jint version;  /* what JNI's GetVersion() returns */
	bool swallows; /* another agent's hook clears the exception */
	jvmtiError refuses;

	/* What happened */
	unsigned hooked, real, touched_others;
} jvm;

static jvmtiInterface_1 all_functions; /* the fake JVM's; the test replaces some */
static jboolean(JNICALL *same_object)(JNIEnv *jni, jobject a, jobject b);

static uint8_t sample[FILE_MAX];
static size_t sample_len;
static struct ag_mem sample_mem = { .budget = SIZE_MAX };
static struct cf_class sample_class;
static struct cf_member methods[METHODS_MAX];
static jint n_methods;

/* Returns the environment with the hook, which the agent creates. */
static struct fake_environment *hook_environment(void)
{
	return fake_environment_at(1);
}

/* Fails the test for an array and for a VM-anonymous class: a call on it may crash the JVM. */
static void look_at(const struct fake_object *class)
{
	ck_assert_ptr_ne(class, &anonymous);
	ck_assert_ptr_ne(class, &array);
}

static jint JNICALL get_version(JNIEnv *jni)
{
	(void)jni;
	return jvm.version;
}

static jint JNICALL throw(JNIEnv *jni, jthrowable thrown)
{
	(void)jni;
	ck_assert_ptr_eq(fake_object_of(thrown)->class, &exception_class);
	ck_assert_uint_eq(fake.other_thread, 0);
	if (fake_fails())
		return JNI_ERR;
	fake.exception = true;
	return JNI_OK;
}

static jboolean JNICALL is_same_object(JNIEnv *jni, jobject a, jobject b)
{
	ck_assert_uint_eq(fake.other_thread, 0);
	return same_object(jni, a, b);
}

static jvmtiError JNICALL get_thread_local_storage(jvmtiEnv *ti, jthread thread, void **data)
{
	ck_assert_ptr_eq(ti, hook_environment());
	FAKE_TI_FAILS();
	return all_functions.GetThreadLocalStorage(ti, thread, data);
}

static jvmtiError JNICALL get_constant_pool(jvmtiEnv *ti, jclass class, jint *count, jint *len,
					    unsigned char **bytes)
{
	look_at(fake_object_of(class));
	ck_assert(fake_environment(ti)->capabilities.can_get_constant_pool);
	FAKE_TI_FAILS();
	*count = sample_class.pool.count;
	*len = 100;
	*bytes = memcpy(fake_block(100), sample_class.pool.data, 100);
	return JVMTI_ERROR_NONE;
}

/* The hook */

static void call_hook(jclass class, jobject from, const char *name, const uint8_t *bytes,
		      size_t len)
{
	unsigned char *new_bytes = NULL;
	jint new_len = 0;

	struct fake_environment *e = hook_environment();

	if (!fake_enabled(e, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK))
		return;
	jvm.hooked++;
	ck_assert(!e->capabilities.can_tag_objects);
	ck_assert_uint_eq(e->events & (e->events - 1), 0); /* at most one event is enabled */
	ck_assert_uint_eq(fake_environment_at(0)->events, 0);
	ck_assert_ptr_null(fake_environment_at(0)->callbacks.ClassFileLoadHook);
	ck_assert_ptr_null(fake_environment_at(0)->thread_storage[0]);
	e->callbacks.ClassFileLoadHook((jvmtiEnv *)e, fake_jni(fake.other_thread), class, from,
				       name, NULL, (jint)len, bytes, &new_len, &new_bytes);
	ck_assert_ptr_null(new_bytes);
}

/* Calls the hook as HotSpot does, and also for other classes and on another thread. */
static jvmtiError operate(jclass class, const uint8_t *bytes, size_t len)
{
	struct fake_object *c = fake_object_of(class);
	jobject from = (jobject)c->loader;
	const char *name = "p/Sample";
	unsigned calls;

	ck_assert(!fake.exception);
	look_at(c);
	ck_assert(!c->unmodifiable);
	if (jvm.refuses)
		return jvm.refuses;
	call_hook(class, NULL, "java/lang/WeakPairMap$Pair$Weak", bytes, len);
	call_hook(class, (jobject)&bystander, name, bytes, len);
	calls = fake.calls;
	call_hook(NULL, from, name, bytes, len);
	ck_assert_uint_eq(fake.calls, calls); /* no call: loading is not delayed */
	call_hook((jobject)&bystander, from, name, bytes, len);
	call_hook(class, from, NULL, bytes, len);
	fake.other_thread = 1;
	call_hook(class, from, name, bytes, len);
	fake.other_thread = 0;
	jvm.touched_others += fake.exception;
	call_hook(class, from, name, bytes, len);
	if (jvm.swallows)
		fake.exception = false;
	if (!fake.exception) {
		jvm.real++;
		return JVMTI_ERROR_NONE;
	}
	fake.exception = false;
	return JVMTI_ERROR_UNSUPPORTED_VERSION;
}

static jvmtiError JNICALL retransform_classes(jvmtiEnv *ti, jint n, const jclass *classes)
{
	ck_assert_ptr_eq(ti, hook_environment());
	ck_assert(fake_environment(ti)->capabilities.can_retransform_classes);
	ck_assert_int_eq(n, 1);
	FAKE_TI_FAILS();
	return operate(*classes, sample, sample_len);
}

static jvmtiError JNICALL redefine_classes(jvmtiEnv *ti, jint n,
					   const jvmtiClassDefinition *definitions)
{
	ck_assert_ptr_eq(ti, hook_environment());
	ck_assert(fake_environment(ti)->capabilities.can_retransform_classes);
	ck_assert_int_eq(n, 1);
	FAKE_TI_FAILS();
	return operate(definitions->klass, definitions->class_bytes,
		       (size_t)definitions->class_byte_count);
}

/* A request and its answer */

static struct fake_object *const things[] = { &app,    &namesake, &changed, &overpass, &unlinked,
					&array,  &hidden,   &anonymous };
enum { N_THINGS = sizeof(things) / sizeof(things[0]) };

struct told {
	uint32_t outcome, methods, bytes;
	int32_t code;
	bool memory;
};

struct seen {
	int rc;
	uint32_t n; /* the number of classes */
	struct told told[N_THINGS];
	bool end;
};

/*
 * The class `changed` has the methods `differing`; all other classes have `same`.  Only `overpass`
 * has the last method of `same`.
 */
static struct fake_method same[METHODS_MAX], differing[METHODS_MAX];
static unsigned char other_code[FILE_MAX];

static char *text_of(struct cf_text text)
{
	char *copy = strndup(text.data, text.len);

	ck_assert_ptr_nonnull(copy);
	return copy;
}

static void make_methods(void)
{
	for (jint i = 0; i < n_methods; i++) {
		struct cf_code code = { 0 };

		(void)cf_code(&methods[i], &code);
		same[i] = (struct fake_method){
			.name = text_of(methods[i].name),
			.descriptor = text_of(methods[i].descriptor),
			.modifiers = methods[i].access,
			.code = code.code,
			.len = (jint)code.len,
		};
	}
	same[n_methods] = (struct fake_method){ .name = "made$up", .descriptor = "()V",
		.modifiers = OVERPASS, .code = (const unsigned char *)"\xb1", .len = 1 };
	memcpy(differing, same, sizeof(same));
	ck_assert_int_gt(same[0].len, 0);
	memcpy(other_code, same[0].code, (size_t)same[0].len);
	other_code[0] ^= 1;
	differing[0].code = other_code;
	for (size_t i = 0; i < N_THINGS; i++) {
		things[i]->methods = things[i] == &changed ? differing : same;
		things[i]->n_methods = (size_t)n_methods + (things[i] == &overpass);
	}
}

static void start(void)
{
	fake_add_objects();
	fake_add_classes();
	fake_add_environments();
	all_functions = fake_ti_table;
	fake_jni_table.GetVersion = get_version;
	if (!same_object)
		same_object = fake_jni_table.IsSameObject;
	fake_jni_table.IsSameObject = is_same_object;
	fake_jni_table.Throw = throw;
	fake_ti_table.GetConstantPool = get_constant_pool;
	fake_ti_table.GetThreadLocalStorage = get_thread_local_storage;
	fake_ti_table.RedefineClasses = redefine_classes;
	fake_ti_table.RetransformClasses = retransform_classes;
	fake = (struct fake_jvm){ .on_class = look_at, .loaded = known, .n_loaded = 1 };
	memset(&jvm, 0, sizeof(jvm));
	jvm.version = JNI_VERSION_1_8;
	(void)fake_ti();
	fake_mark();
}

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
	make_methods();
	start();
}

static void release_sample(void)
{
	for (jint i = 0; i < n_methods; i++) {
		free((char *)(uintptr_t)same[i].name);
		free((char *)(uintptr_t)same[i].descriptor);
	}
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
	struct ag_class_index class_index = { .classes = { (jclass *)things, N_THINGS } };
	struct ag_jvm agent = { .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem,
				.class_index = &class_index };
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
	fake.in_agent = true;
	seen.rc = ag_cmd_capture(&agent, &chan, &request);
	fake.in_agent = false;
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	ag_chan_release(&chan);
	ag_chan_close(&chan);
	see_frames(&seen, ends[1]);
	close(ends[1]);
	ck_assert(seen.rc == 0 || agent.err.what);
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert(!fake_has_capabilities(fake_environment(fake_ti())));
	ck_assert_uint_eq(jvm.touched_others, 0);
	fake_nothing_left();
	return seen;
}

START_TEST(each_class_has_an_outcome)
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

/* Each method with code is sent, also of a hidden class, but none of a VM-anonymous class. */
START_TEST(memory_of_all_methods_is_sent)
{
	struct seen seen = run(WIRE_CAPTURE_MEMORY, N_THINGS);
	uint32_t n = seen.told[0].methods;

	ck_assert_uint_gt(n, 2);
	ck_assert_uint_le(n, (uint32_t)n_methods);
	ck_assert_uint_eq(seen.told[3].methods, n); /* the JVM's own method is not sent */
	ck_assert_uint_eq(seen.told[4].methods, 0);
	ck_assert_uint_eq(seen.told[5].methods, 0);
	ck_assert_uint_eq(seen.told[6].methods, n);
	ck_assert_uint_eq(seen.told[7].methods, 0);
}
END_TEST

/* In JDK 8, only VM-anonymous classes have names such as "p/Sample/1"; later, any class may. */
START_TEST(digits_are_a_class_name_from_jdk_9_on)
{
	static struct fake_object odd = { .signature = "Lp/Sample/1;" };
	struct ag_mem mem = { .budget = 1 << 20 };
	struct ag_jvm agent = { .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
	struct ag_captured captured;

	ck_assert_int_eq(ag_capture_can(&agent, (jclass)&odd, odd.signature, &captured), 0);
	ck_assert_uint_eq(captured.outcome, WIRE_CAPTURED_ANONYMOUS);
	jvm.version = JNI_VERSION_9;
	ck_assert_int_eq(ag_capture_can(&agent, (jclass)&odd, odd.signature, &captured), 1);
}
END_TEST

/* If the class was really retransformed, this is reported and the capture ends. */
START_TEST(real_retransformation_ends_the_capture)
{
	struct seen seen;

	jvm.swallows = true;
	seen = run(0, N_THINGS);
	ck_assert_uint_eq(seen.told[0].outcome, WIRE_CAPTURED_RETRANSFORMED);
	ck_assert_uint_eq(seen.told[1].outcome, WIRE_CAPTURED_SKIPPED);
	ck_assert_uint_eq(jvm.real, 1);
	ck_assert_int_eq(seen.rc, 0);
}
END_TEST

/* An error does not end the capture. */
START_TEST(errors_are_reported_for_each_class)
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

START_TEST(incomplete_request_is_rejected)
{
	struct seen seen = run(0, N_THINGS + 1);

	ck_assert_int_eq(seen.rc, -1);
	ck_assert_uint_eq(seen.n, N_THINGS);
	ck_assert(!seen.end);
}
END_TEST

static const uint32_t all_flags[] = { 0, WIRE_CAPTURE_MEMORY };

/* run() checks that nothing is left. */
START_TEST(each_call_may_fail)
{
	unsigned n_real = 0, n = 0;
	struct seen seen;

	do {
		release_sample();
		read_sample();
		fake.fail_at = ++n;
		seen = run(all_flags[_i], N_THINGS);
		ck_assert_int_eq(seen.end, seen.rc == 0);
		n_real += jvm.real;
	} while (fake.calls >= n);
	ck_assert_uint_gt(n, 50);
	ck_assert_int_eq(seen.rc, 0);
	/* The JVM retransforms a class if the hook does not know its thread or cannot throw. */
	ck_assert_uint_eq(n_real, 2 * 5);
}
END_TEST

START_TEST(the_jvm_may_exit_at_each_call)
{
	unsigned n = 0;

	do {
		release_sample();
		read_sample();
		fake.leaving = true;
		fake.fail_at = ++n;
		(void)run(all_flags[_i], N_THINGS);
	} while (fake.calls >= n);
}
END_TEST

START_TEST(bytes_of_a_redefinition_are_captured)
{
	struct ag_mem mem = { .budget = 1 << 20 };
	struct ag_jvm agent = { .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
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
	fake_nothing_left();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/jvm/capture/capture");
	TCase *tc = tcase_create("capture");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, read_sample, release_sample);
	tcase_add_test(tc, each_class_has_an_outcome);
	tcase_add_test(tc, memory_of_all_methods_is_sent);
	tcase_add_test(tc, digits_are_a_class_name_from_jdk_9_on);
	tcase_add_test(tc, real_retransformation_ends_the_capture);
	tcase_add_loop_test(tc, errors_are_reported_for_each_class, 0, 2);
	tcase_add_test(tc, incomplete_request_is_rejected);
	tcase_add_loop_test(tc, each_call_may_fail, 0, 2);
	tcase_add_loop_test(tc, the_jvm_may_exit_at_each_call, 0, 2);
	tcase_add_test(tc, bytes_of_a_redefinition_are_captured);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
