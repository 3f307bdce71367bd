/*
 * Hooks of traces, called as instrumented methods call them, in a fake JVM: the reports of
 * calls and their limits, and that nothing is left in the JVM when a call fails or a hook is in
 * flight at the end of a trace.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake/fake_time.h"
#include "agent/fake/hooks_world.h"
#include "jvm/instrument/hook_natives.h"
#include "jvm/trace/trace_state.h"

#define MEM ((size_t)64 << 20)
#define TEXT_MAX 16384

static struct ag_mem mem = { .budget = MEM };
static struct ag_jvm jvm;

/* The session's thread has the last JNI environment. */
static void start(void)
{
	hooks_world_start();
	jvm = (struct ag_jvm){
		.ti = fake_ti(), .jni = fake_jni(FAKE_THREADS - 1), .mem = &mem,
	};
}

/* On JDK 19 to 24, GetStackTrace() needs the current thread, not NULL: see ag_value_stack(). */
static void set_release(int release, bool is_virtual)
{
	fake.release = release;
	fake.named_threads = release >= 19 && release <= 24;
	hooks_world_virtual(is_virtual);
}

static void nothing_is_left(void)
{
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(mem.blocks, 0);
	fake_nothing_left();
}

static struct ag_trace *begin(struct ag_trace_wanted wanted, uint32_t n)
{
	struct ag_trace *trace = ag_trace_new(&jvm, &wanted, n);

	ck_assert_ptr_nonnull(trace);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_int_eq(ag_trace_describe(&jvm, trace, i, i == 0 ? "()V" : "(I)I"), 0);
	ag_trace_begin(trace);
	return trace;
}

static void finish(struct ag_trace *trace)
{
	ag_trace_end(trace);
	ck_assert_int_eq(ag_trace_free(&jvm, trace), 0);
}

static jint id_of(const struct ag_trace *trace, uint32_t i)
{
	return (jint)ag_trace_id(trace, i);
}

/* Calls the hooks of the first method, which has no parameters and no result. */
static void call(struct ag_trace *trace, JNIEnv *jni)
{
	ag_hook_exit(jni, NULL, ag_hook_enter(jni, NULL, id_of(trace, 0)), id_of(trace, 0));
}

static struct ag_trace_state state_of(const struct ag_trace *trace)
{
	struct ag_trace_state state;

	ag_trace_state(trace, &state);
	return state;
}

/* The drained calls: their number, and the last call. */
struct taken {
	unsigned n, stop_at;
	struct ag_call last;
	uint64_t last_end;
	char thread[64];
	uint8_t values[TEXT_MAX], result[TEXT_MAX];
	jvmtiFrameInfo frames[WIRE_TRACE_DEPTH];
};

static int tell(struct ag_jvm *of, const struct ag_call *c, void *arg)
{
	struct taken *t = arg;

	ck_assert_ptr_eq(of, &jvm);
	ck_assert_uint_ge(c->when_ns + c->ns, t->last_end);
	t->last_end = c->when_ns + c->ns;
	t->last = *c;
	ck_assert_uint_lt(c->values_len, TEXT_MAX);
	ck_assert_uint_lt(c->result_len, TEXT_MAX);
	memcpy(t->values, c->values, c->values_len);
	memcpy(t->result, c->result, c->result_len);
	memcpy(t->frames, c->frames, c->n_frames * sizeof(*c->frames));
	memset(t->thread, 0, sizeof(t->thread));
	memcpy(t->thread, c->thread, strnlen(c->thread, sizeof(t->thread) - 1));
	return ++t->n == t->stop_at ? 7 : 0;
}

static struct taken take(struct ag_trace *trace)
{
	struct taken t = { 0 };

	ck_assert_int_eq(ag_trace_drain(&jvm, trace, tell, &t), 0);
	return t;
}

#define ASSERT_BYTES(bytes, len, expected) do { \
	ck_assert_uint_eq((len), sizeof(expected) - 1); \
	ck_assert_mem_eq((bytes), (expected), sizeof(expected) - 1); \
} while (0)

START_TEST(a_call_is_reported)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ 0 }, 2);
	struct taken t;

	call(trace, fake_jni(3));
	t = take(trace);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_uint_eq(t.last.method, 0);
	ck_assert_uint_lt(t.last.ns, 10000000000);
	ck_assert_uint_gt(t.last.when_ns, 1700000000000000000);
	ck_assert_uint_eq(t.last.thread_id, 3);
	ck_assert_str_eq(t.thread, "worker");
	ck_assert(!t.last.threw);
	ck_assert_uint_eq(t.last.values_len + t.last.result_len + t.last.n_frames, 0);
	ck_assert_uint_eq(take(trace).n, 0);
	ck_assert_uint_eq(state_of(trace).calls, 1);
	finish(trace);
	nothing_is_left();
}
END_TEST

static void JNICALL get_byte_array_region(JNIEnv *jni, jbyteArray array, jsize from, jsize n,
					  jbyte *to)
{
	(void)jni;
	ck_assert(from >= 0 && n >= 0 && from + n <= fake_object_of(array)->len);
	for (jsize i = 0; i < n; i++)
		to[i] = (jbyte)-(from + i);
}

START_TEST(bytes_are_described)
{
	struct fake_object class = *fake_ints.class, bytes = fake_ints;
	struct ag_trace *trace = ag_trace_new(&jvm, &(struct ag_trace_wanted){
		.flags = WIRE_TRACE_VALUES, .elements = 3,
	}, 1);
	jint id = id_of(trace, 0);
	struct taken t;
	jlong token;

	class.signature = "[B";
	bytes.class = &class;
	fake_jni_table.GetByteArrayRegion = get_byte_array_region;
	ck_assert_int_eq(ag_trace_describe(&jvm, trace, 0, "([B)V"), 0);
	ag_trace_begin(trace);
	token = ag_hook_enter(fake_jni(0), NULL, id);
	ag_hook_argL(fake_jni(0), NULL, token, (jobject)&bytes);
	ag_hook_exit(fake_jni(0), NULL, token, id);
	t = take(trace);
	ASSERT_BYTES(t.values, t.last.values_len,
		     "a\0\2[B\0\0\0\3\0\3B\0\0\0\0B\377\377\377\377B\377\377\377\376");
	finish(trace);
	nothing_is_left();
}
END_TEST

/* The class of an exception is reported even if values are not requested. */
START_TEST(an_exception_is_reported)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .min_ns = UINT32_MAX }, 1);
	jint id = id_of(trace, 0);
	struct taken t;

	ag_hook_fail(fake_jni(0), NULL, (jthrowable)&fake_thrown,
		     ag_hook_enter(fake_jni(0), NULL, id), id);
	call(trace, fake_jni(0));
	t = take(trace);
	ck_assert_uint_eq(t.n, 1);
	ck_assert(t.last.threw);
	ASSERT_BYTES(t.result, t.last.result_len, "t\0\x0bLp/Failure;N");
	ck_assert_uint_eq(state_of(trace).calls, 2);
	finish(trace);
	nothing_is_left();
}
END_TEST

START_TEST(values_are_described)
{
	const struct ag_trace_wanted wanted = {
		.flags = WIRE_TRACE_VALUES | WIRE_TRACE_STACKS, .chars = 4, .elements = 2,
	};
	struct ag_trace *trace = ag_trace_new(&jvm, &wanted, 1);
	JNIEnv *jni = fake_jni(1);
	struct taken t;
	jlong token;
	jint id;

	id = id_of(trace, 0);
	ck_assert_int_eq(ag_trace_describe(&jvm, trace, 0,
		"(ZJFDLa;Ljava/lang/String;[ILa;La;La;La;[La;La;La;)La;"), 0);
	ag_trace_begin(trace);
	token = ag_hook_enter(jni, NULL, id);
	ck_assert_int_ne(token, 0);
	ag_hook_argI(jni, NULL, token, 1);
	ag_hook_argJ(jni, NULL, token, -2);
	ag_hook_argF(jni, NULL, token, 1.0f);
	ag_hook_argD(jni, NULL, token, 1.0);
	ag_hook_argL(jni, NULL, token, NULL);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_string);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_ints);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_integer);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_color);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_special_color);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_object);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_objects);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_long_string);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_thrown);
	ag_hook_argL(jni, NULL, token, NULL); /* one too many */
	ag_hook_exitL(jni, NULL, (jobject)&fake_string, token, id);
	t = take(trace);
	ck_assert_uint_eq(t.n, 1);
	ASSERT_BYTES(t.values, t.last.values_len,
		     "Z\0\0\0\1" "J\377\377\377\377\377\377\377\376" "F\x3f\x80\0\0"
		     "D\x3f\xf0\0\0\0\0\0\0" "N" "s\0\0\0\3\0\3\0a\0b\0c"
		     "a\0\2[I\0\0\0\3\0\2I\0\0\0\1I\377\377\377\376"
		     "bI\377\377\377\373"
		     "e\0\x09Lp/Color;s\0\0\0\3\0\3\0R\0E\0D"
		     "e\0\x09Lp/Color;s\0\0\0\3\0\3\0R\0E\0D"
		     "o\0\7Lp/App;\x12\x34\x56\x78"
		     "a\0\x13[Ljava/lang/Object;\0\0\0\3\0\2s\0\0\0\3\0\3\0a\0b\0cN"
		     "s\0\0\0\x46\0\4\0" "0\0" "1\0" "2\0" "3"
		     "o\0\x0bLp/Failure;\x12\x34\x56\x78");
	ASSERT_BYTES(t.result, t.last.result_len, "s\0\0\0\3\0\3\0a\0b\0c");
	ck_assert_uint_eq(t.last.n_frames, 2);
	ck_assert_int_eq(t.frames[1].location, 20);

	token = ag_hook_enter(jni, NULL, id);
	ag_hook_fail(jni, NULL, (jthrowable)&fake_thrown, token, id);
	t = take(trace);
	ck_assert(t.last.threw);
	ASSERT_BYTES(t.result, t.last.result_len, "t\0\x0bLp/Failure;s\0\0\0\2\0\2\0n\0o");
	finish(trace);
	nothing_is_left();
}
END_TEST

/* A String is cut at the end of the record, and the mark '-' says that there was no more room. */
START_TEST(values_are_cut_at_the_end_of_the_record)
{
	const struct ag_trace_wanted wanted = {
		.flags = WIRE_TRACE_VALUES, .chars = 60000, .elements = 60000,
	};
	struct ag_trace *trace = ag_trace_new(&jvm, &wanted, 1);
	JNIEnv *jni = fake_jni(1);
	char descriptor[500] = "(";
	struct taken t;
	jlong token;
	jint id;

	id = id_of(trace, 0);
	for (int i = 0; i < 120; i++)
		memcpy(descriptor + strlen(descriptor), "La;", 3);
	memcpy(descriptor + strlen(descriptor), ")V", 2);
	ck_assert_int_eq(ag_trace_describe(&jvm, trace, 0, descriptor), 0);
	ag_trace_begin(trace);
	token = ag_hook_enter(jni, NULL, id);
	for (int i = 0; i < 120; i++)
		ag_hook_argL(jni, NULL, token,
			     i == 0 ? (jobject)&fake_objects : (jobject)&fake_long_string);
	ag_hook_exit(jni, NULL, token, id);
	t = take(trace);
	ck_assert_uint_gt(t.last.values_len, 8180);
	ck_assert_uint_le(t.last.values_len, 8192);
	ck_assert_int_eq(t.values[t.last.values_len - 1], '-');
	/* An array that is an element is reported like an object. */
	ck_assert_mem_eq(t.values + 28 + 13 + 1, "o\0\2[I", 5);
	finish(trace);
	nothing_is_left();
}
END_TEST

START_TEST(rate_limits_the_calls)
{
	const struct ag_trace_wanted wanted = { .per_second = 3 };
	struct ag_trace *trace = begin(wanted, 1);

	for (int i = 0; i < 10; i++)
		call(trace, fake_jni(i));
	ck_assert_uint_eq(take(trace).n, 3);
	ck_assert_uint_eq(state_of(trace).too_many, 7);
	ag_trace_tick(trace, 333333333);
	call(trace, fake_jni(0));
	ck_assert_uint_eq(take(trace).n, 0);
	ag_trace_tick(trace, 1);
	call(trace, fake_jni(0));
	ck_assert_uint_eq(take(trace).n, 1);
	ag_trace_tick(trace, UINT64_MAX);
	ag_trace_tick(trace, UINT64_MAX);
	for (int i = 0; i < 10; i++)
		call(trace, fake_jni(i));
	ck_assert_uint_eq(take(trace).n, 3);
	ck_assert_uint_eq(state_of(trace).calls, 22);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* With values, the rate is applied at the entry of a method; with a minimal time, at the exit. */
START_TEST(rate_counts_only_reported_calls)
{
	struct ag_trace_wanted wanted = { .flags = WIRE_TRACE_VALUES, .per_second = 1 };
	struct ag_trace *trace = begin(wanted, 1);
	jint id = id_of(trace, 0);
	JNIEnv *jni = fake_jni(0);

	ck_assert_int_ne(ag_hook_enter(jni, NULL, id), 0);
	ck_assert_int_eq(ag_hook_enter(jni, NULL, id), 0);
	ag_hook_exit(jni, NULL, 0, id);
	ck_assert_uint_eq(state_of(trace).calls, 1);
	ck_assert_uint_eq(state_of(trace).too_many, 1);
	finish(trace);

	wanted.min_ns = UINT32_MAX;
	trace = begin(wanted, 1);
	id = id_of(trace, 0);
	for (int i = 0; i < 20000; i++)
		call(trace, jni);
	for (int i = 0; i < 2; i++)
		ag_hook_fail(jni, NULL, (jthrowable)&fake_thrown, ag_hook_enter(jni, NULL, id), id);
	ck_assert_uint_eq(state_of(trace).too_many, 1);
	ck_assert_uint_eq(take(trace).n, 1);
	ck_assert_uint_eq(state_of(trace).calls, 20002);
	finish(trace);
	nothing_is_left();
}
END_TEST

START_TEST(records_are_reused)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	static jlong tokens[10000];
	JNIEnv *jni = fake_jni(0);
	jint id = id_of(trace, 1);
	struct taken t = { .stop_at = 5 };
	unsigned n = trace->pool.n;

	for (unsigned i = 0; i < n; i++)
		tokens[i] = ag_hook_enter(jni, NULL, id);
	for (unsigned i = 0; i < n; i++)
		ag_hook_exitI(jni, NULL, (jint)i, tokens[n - 1 - i], id);
	ck_assert_int_eq(ag_hook_enter(jni, NULL, id), 0);
	ck_assert_uint_eq(state_of(trace).no_room, 1);
	ag_hook_exitI(jni, NULL, 5, 0, id);
	ck_assert_uint_eq(state_of(trace).calls, n + 1);
	ck_assert_int_eq(ag_trace_drain(&jvm, trace, tell, &t), 7);
	ck_assert_uint_eq(t.n, 5);
	ck_assert_uint_eq(t.result[4], 4);
	ck_assert_uint_eq(take(trace).n, n - 5);
	ck_assert_int_ne(ag_hook_enter(jni, NULL, id), 0);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* When many calls never end, the next call takes the record of one of them. */
START_TEST(calls_without_an_end_lose_their_records)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 1);
	JNIEnv *jni = fake_jni(0);
	jint id = id_of(trace, 0);
	jlong first = ag_hook_enter(jni, NULL, id), token = 0;

	for (unsigned i = 0; i < 3 * trace->pool.n; i++) {
		token = ag_hook_enter(jni, NULL, id);
		ck_assert_int_ne(token, 0);
	}
	ck_assert_uint_eq(state_of(trace).no_room, 0);
	ag_hook_exitI(jni, NULL, 42, token, id);
	ag_hook_exitI(jni, NULL, 43, first, id);
	ck_assert_uint_eq(state_of(trace).calls, 2);
	ck_assert_uint_eq(state_of(trace).no_room, 1); /* the first call's record was taken */
	ck_assert_uint_eq(take(trace).n, 1);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Short calls that are not drained in time do not take the records of calls in progress. */
START_TEST(a_long_call_retains_its_record)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	JNIEnv *jni = fake_jni(0);
	jint id = id_of(trace, 1);
	jlong token = ag_hook_enter(jni, NULL, id);
	unsigned n = trace->pool.n;
	struct taken t;

	for (unsigned i = 0; i < 3 * n; i++)
		call(trace, jni);
	ag_hook_exitI(jni, NULL, 42, token, id);
	t = take(trace);
	ck_assert_uint_eq(t.n, n);
	ck_assert_uint_eq(t.last.method, 1);
	ck_assert_uint_eq(state_of(trace).no_room, 2 * n + 1);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Hooks ignore invalid tokens, and tokens of a call that has ended or of another trace. */
START_TEST(tokens_are_valid_once)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	JNIEnv *jni = fake_jni(0);
	jint id = id_of(trace, 1);
	jlong token = ag_hook_enter(jni, NULL, id), other;

	ag_hook_argI(jni, NULL, token, 9);
	ag_hook_exitI(jni, NULL, 1, token, id);
	ag_hook_argI(jni, NULL, token, 8);
	ag_hook_exitI(jni, NULL, 2, token, id);
	ck_assert_uint_eq(take(trace).n, 1);
	other = ag_hook_enter(jni, NULL, id);
	ck_assert_int_ne(other, token);
	for (int bit = 0; bit < 64; bit++) {
		jlong wrong = (jlong)((uint64_t)other ^ UINT64_C(1) << bit);

		ag_hook_argI(jni, NULL, wrong, 8);
		ag_hook_exitI(jni, NULL, 2, wrong, id);
	}
	ck_assert_uint_eq(take(trace).n, 0);
	ag_hook_exitI(jni, NULL, 3, other, id);
	ck_assert_uint_eq(take(trace).last.values_len, 0);
	other = ag_hook_enter(jni, NULL, id);
	/* With the token of another method's call, the result has the type of the hook. */
	ag_hook_exitI(jni, NULL, 4, ag_hook_enter(jni, NULL, id_of(trace, 0)), id);
	ck_assert_uint_eq(take(trace).last.result_len, 5);
	finish(trace);

	trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	ck_assert_int_ne(id_of(trace, 0), id);
	ck_assert_int_ne(id_of(trace, 1), id);
	(void)ag_hook_enter(jni, NULL, id_of(trace, 1));
	ag_hook_argI(jni, NULL, other, 8);
	ag_hook_exitI(jni, NULL, 3, other, id);
	ck_assert_int_eq(ag_hook_enter(jni, NULL, id), 0);
	ck_assert_uint_eq(take(trace).n, 0);
	ck_assert_uint_eq(state_of(trace).calls, 0);
	finish(trace);
	nothing_is_left();
}
END_TEST

START_TEST(hooks_do_nothing_outside_a_trace_and_on_the_agent_thread)
{
	const struct ag_trace_wanted wanted = { 0 };
	struct ag_trace *trace = ag_trace_new(&jvm, &wanted, 1);
	jlong token;
	jint id;

	id = id_of(trace, 0);
	ck_assert_int_eq(ag_hook_enter(fake_jni(0), NULL, id), 0);
	ag_hook_exit(fake_jni(0), NULL, 0, id);
	ag_trace_begin(trace);
	ck_assert_int_eq(ag_hook_enter(jvm.jni, NULL, id), 0);
	ag_hook_exit(jvm.jni, NULL, 1, id);
	ag_hook_exit(fake_jni(0), NULL, 0, id); /* the call began before the trace */
	ck_assert_int_eq(ag_hook_enter(fake_jni(0), NULL, id + (1 << AG_TRACE_SLOT_BITS)), 0);
	ck_assert_int_eq(ag_hook_enter(fake_jni(0), NULL, id - (1 << AG_TRACE_SLOT_BITS)), 0);
	ck_assert_int_eq(ag_hook_enter(fake_jni(0), NULL, id + 1), 0);
	token = ag_hook_enter(fake_jni(0), NULL, id);
	ck_assert_int_ne(token, 0);
	ag_trace_end(trace);
	ag_hook_exit(fake_jni(0), NULL, token, id);
	ck_assert_uint_eq(take(trace).n, 0);
	ck_assert_uint_eq(state_of(trace).calls, 0);
	finish(trace);
	ag_hook_exit(fake_jni(0), NULL, token, id);
	nothing_is_left();
}
END_TEST

START_TEST(number_of_traces_is_limited)
{
	struct ag_trace *traces[AG_TRACES];
	const struct ag_trace_wanted wanted = { 0 };

	for (int i = 0; i < AG_TRACES; i++) {
		traces[i] = begin(wanted, 1);
		for (int k = 0; k < i; k++)
			ck_assert_int_ne(id_of(traces[i], 0), id_of(traces[k], 0));
	}
	ck_assert_ptr_null(ag_trace_new(&jvm, &wanted, 1));
	ck_assert_ptr_nonnull(jvm.err.what);
	ag_clear_error(&jvm);
	for (int i = 0; i < AG_TRACES; i++)
		call(traces[i], fake_jni(1));
	for (int i = 0; i < AG_TRACES; i++) {
		ck_assert_uint_eq(take(traces[i]).n, 1);
		finish(traces[i]);
	}
	finish(begin(wanted, 1));
	nothing_is_left();
}
END_TEST

/*
 * A hook that does not return retains the trace's memory and its slot.  The next trace in that slot
 * uses nothing of the former one.
 */
START_TEST(suspended_hook_retains_its_memory)
{
	const struct ag_trace_wanted wanted = { 0 };
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_SUMMED }, 1);
	struct ag_trace *others[AG_TRACES - 1], left;
	struct ag_trace_counters *at = &trace->presence[0];
	uint64_t range = trace->range;
	struct ag_sum sum;

	call(trace, fake_jni(0));
	ck_assert(ag_trace_enter(trace, at, range));
	ag_trace_end(trace);
	ck_assert(!ag_trace_enter(trace, at, range));
	ck_assert_int_eq(ag_trace_free(&jvm, trace), -1);
	left = *trace;
	ck_assert_uint_gt(mem.blocks, 0);
	for (int i = 0; i < AG_TRACES - 1; i++)
		others[i] = begin(wanted, 1);
	ck_assert_ptr_null(ag_trace_new(&jvm, &wanted, 1));
	ag_clear_error(&jvm);
	ag_quiesce_leave(&at->count);
	ck_assert_ptr_eq(begin(wanted, 1), trace);
	ck_assert(!ag_trace_drain_sum(trace, 0, &sum));
	finish(trace);
	ag_free(&mem, left.methods);
	ag_sums_release(&jvm, &left.sums);
	for (int i = 0; i < AG_TRACES - 1; i++)
		finish(others[i]);
	nothing_is_left();
}
END_TEST

/* The trace ends during a call of JVMTI: the hook makes no more calls. */
static struct ag_trace *ending;

static void end_it(void)
{
	fake.in_signature = NULL;
	ck_assert_int_eq(ag_trace_free(&jvm, ending), -1);
	jvm.ti = NULL;
}

START_TEST(a_hook_notices_the_end)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	jint id = id_of(trace, 0);
	JNIEnv *jni = fake_jni(0);
	jlong token = ag_hook_enter(jni, NULL, id);
	unsigned calls;

	ending = trace;
	fake.in_signature = end_it;
	calls = fake.calls;
	ag_hook_fail(jni, NULL, (jthrowable)&fake_thrown, token, id);
	ck_assert_uint_le(fake.calls - calls, 2); /* for the class, and for the message */
	ck_assert_int_eq(fake.counts.blocks, 1);
	ck_assert_int_eq(fake.counts.references, 0);
	free(fake.last_signature);
	ag_free(&mem, trace->methods[0].kinds);
	ag_free(&mem, trace->methods[1].kinds);
	ag_free(&mem, trace->methods);
	ag_pool_release(&jvm, &trace->pool);
}
END_TEST

static void use_everything(struct ag_trace *trace)
{
	JNIEnv *jni = fake_jni(2);
	jint id = id_of(trace, 0);
	jlong token = ag_hook_enter(jni, NULL, id);

	ag_hook_argL(jni, NULL, token, (jobject)&fake_objects);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_ints);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_special_color);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_object);
	ag_hook_argL(jni, NULL, token, (jobject)&fake_long_string);
	ag_hook_exitL(jni, NULL, (jobject)&fake_integer, token, id);
	token = ag_hook_enter(jni, NULL, id);
	ag_hook_fail(jni, NULL, (jthrowable)&fake_thrown, token, id);
}

/* The fake JVM checks which thread is given. */
START_TEST(stacks_are_walked_by_named_threads)
{
	const struct ag_trace_wanted wanted = { .flags = WIRE_TRACE_STACKS };
	const int releases[] = { 17, 18, 19, 24, 25 };

	for (size_t i = 0; i < 2 * sizeof(releases) / sizeof(releases[0]); i++) {
		struct ag_trace *trace;

		set_release(releases[i / 2], i % 2);
		trace = begin(wanted, 1);
		ck_assert(!ag_trace_refuses(trace, "Ljava/lang/Thread;"));
		ck_assert_int_eq(ag_trace_refuses(trace, "Ljava/lang/VirtualThread;") != NULL,
				 fake.named_threads);
		call(trace, fake_jni(0));
		ck_assert_uint_eq(take(trace).last.n_frames, 2);
		finish(trace);
	}
	nothing_is_left();
}
END_TEST

/* On JDK 21, methods of VirtualThread are refused only if stacks are requested. */
START_TEST(virtual_threads_may_be_timed)
{
	struct ag_trace *trace;

	set_release(21, false);
	trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 1);
	ck_assert(!ag_trace_refuses(trace, "Ljava/lang/VirtualThread;"));
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Lets one call of the session's thread or of a hook fail.  Returns true after the last call. */
static bool survives(unsigned fail_at, bool early)
{
	const struct ag_trace_wanted wanted = {
		.flags = WIRE_TRACE_VALUES | WIRE_TRACE_STACKS, .chars = 80, .elements = 3,
	};
	struct ag_trace *trace;

	fake.calls = 0;
	fake.fail_at = fail_at;
	hooks_world_early_names(early);
	set_release(21, early);
	trace = ag_trace_new(&jvm, &wanted, 1);
	if (trace) {
		struct taken t;

		ck_assert_int_eq(ag_trace_describe(&jvm, trace, 0, "(La;La;La;La;La;)La;"), 0);
		ag_trace_begin(trace);
		use_everything(trace);
		ck_assert(!fake.exception);
		t = take(trace);
		ck_assert_uint_eq(t.n, 2);
		ck_assert_str_eq(t.thread, fail_at ? t.thread : early ? "early worker" : "worker");
		finish(trace);
	} else {
		ck_assert_ptr_nonnull(jvm.err.what);
		ag_clear_error(&jvm);
	}
	nothing_is_left();
	return fake.calls < fail_at;
}

START_TEST(each_call_may_fail)
{
	for (int early = 0; early < 2; early++) {
		unsigned at = 0;

		while (!survives(at, early != 0))
			at++;
		ck_assert_uint_gt(at, 50);
	}
}
END_TEST

START_TEST(memory_may_run_out)
{
	const struct ag_trace_wanted kinds[] = { { .flags = WIRE_TRACE_SUMMED }, { 0 } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		bool done = false;

		for (mem.budget = 0; !done; mem.budget += 50000) {
			struct ag_trace *trace = ag_trace_new(&jvm, &kinds[i], 100);

			done = trace != NULL;
			if (trace)
				finish(trace);
			else
				ck_assert_ptr_nonnull(jvm.err.what);
			ag_clear_error(&jvm);
			nothing_is_left();
		}
	}
}
END_TEST

START_TEST(the_most_methods_fit)
{
	const struct ag_trace_wanted summed = { .flags = WIRE_TRACE_SUMMED };
	const struct ag_trace_wanted values = { .flags = WIRE_TRACE_VALUES | WIRE_TRACE_STACKS,
		.chars = UINT32_MAX, .elements = UINT32_MAX };
	struct ag_trace *trace;

	mem.budget = MEM / 2;
	trace = begin(summed, WIRE_TRACE_METHODS_MAX);
	ag_hook_exit(fake_jni(0), NULL, ag_hook_enter(fake_jni(0), NULL, id_of(trace, 19999)),
		     id_of(trace, 19999));
	finish(trace);
	trace = begin(values, WIRE_TRACE_METHODS_MAX);
	ck_assert_uint_ge(trace->pool.n, 256);
	call(trace, fake_jni(0));
	ck_assert_uint_eq(take(trace).n, 1);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Adds a generated time of method i to the trace's sums and to the test's own. */
static void add(struct ag_trace *trace, JNIEnv *jni, uint32_t i, uint64_t ns, struct ag_sum *own)
{
	ck_assert(ag_sums_add(&trace->sums, jni, i, ns, false));
	own->calls++;
	own->ns += ns;
	own->buckets[log_histogram_bucket(ns)]++;
	if (ns < own->min_ns)
		own->min_ns = ns;
	if (ns > own->max_ns)
		own->max_ns = ns;
}

START_TEST(sums_are_right)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_SUMMED }, 3);
	struct ag_sum own = { .min_ns = UINT64_MAX }, sum;
	uint64_t ns = 1;

	for (int i = 0; i < 5000; i++) {
		ns = ns * 6364136223846793005u + 1442695040888963407u;
		add(trace, fake_jni((unsigned)i % FAKE_THREADS), 1, ns >> (i % 64), &own);
	}
	ck_assert(!ag_trace_drain_sum(trace, 0, &sum));
	ck_assert(ag_trace_drain_sum(trace, 1, &sum));
	ck_assert_mem_eq(&sum, &own, sizeof(sum));
	ck_assert(!ag_trace_drain_sum(trace, 1, &sum));
	ck_assert(!ag_trace_drain_sum(trace, 2, &sum));
	ck_assert_uint_eq(take(trace).n, 0);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Threads */

#define N_THREADS 6
#define CALLS 20000

static struct ag_trace *volatile shared;
static uint32_t stop;

static void *call_often(void *arg)
{
	JNIEnv *jni = fake_jni((unsigned)(uintptr_t)arg);
	jint id = id_of(shared, (uint32_t)(uintptr_t)arg % 2);

	for (int i = 0; i < CALLS; i++) {
		jlong token = ag_hook_enter(jni, NULL, id);

		if (i % 10 == 0)
			ag_hook_fail(jni, NULL, (jthrowable)&fake_thrown, token, id);
		else
			ag_hook_exit(jni, NULL, token, id);
	}
	return NULL;
}

static void run_threads(pthread_t *threads, void *(*run)(void *))
{
	for (uintptr_t i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, run, (void *)i), 0);
}

static void join_threads(const pthread_t *threads)
{
	for (int i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

START_TEST(no_call_is_lost_in_sums)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_SUMMED }, 2);
	uint64_t calls = 0, threw = 0, in_buckets = 0;
	pthread_t threads[N_THREADS];
	struct ag_sum sum;

	shared = trace;
	run_threads(threads, call_often);
	for (int round = 0; round < 1000; round++) {
		if (round == 999) {
			join_threads(threads);
			ag_trace_end(trace);
		}
		for (uint32_t i = 0; i < 2; i++) {
			if (!ag_trace_drain_sum(trace, i, &sum))
				continue;
			calls += sum.calls;
			threw += sum.threw;
			for (int b = 0; b < HISTOGRAM_BUCKETS; b++)
				in_buckets += sum.buckets[b];
		}
	}
	ck_assert_uint_eq(calls, (uint64_t)N_THREADS * CALLS);
	ck_assert_uint_eq(in_buckets, calls);
	ck_assert_uint_eq(threw, calls / 10);
	ck_assert_uint_eq(state_of(trace).calls, calls);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Checks that each call is reported or counted as skipped. */
static void hammer_calls(struct ag_trace_wanted wanted)
{
	struct ag_trace *trace = begin(wanted, 2);
	struct ag_trace_state state;
	pthread_t threads[N_THREADS];
	uint64_t told = 0;

	shared = trace;
	run_threads(threads, call_often);
	for (int round = 0; round < 300; round++) {
		told += take(trace).n;
		ag_trace_tick(trace, 1000000);
	}
	join_threads(threads);
	ag_trace_end(trace);
	told += take(trace).n;
	state = state_of(trace);
	ck_assert_uint_eq(state.calls, (uint64_t)N_THREADS * CALLS);
	ck_assert_uint_eq(told + state.too_many + state.no_room, state.calls);
	ck_assert_uint_gt(told, 0);
	finish(trace);
	nothing_is_left();
}

START_TEST(no_call_is_lost)
{
	hammer_calls((struct ag_trace_wanted){ 0 });
	hammer_calls((struct ag_trace_wanted){ .per_second = 5000 });
	hammer_calls((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES, .chars = 10 });
	hammer_calls((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES, .per_second = 1000 });
}
END_TEST

/* Traces begin and end while hooks run with ids that may be old or not assigned yet. */
static uint32_t some_id;

static void *call_anything(void *arg)
{
	JNIEnv *jni = fake_jni((unsigned)(uintptr_t)arg);
	uint32_t n = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		fake_time_round((unsigned)(uintptr_t)arg);
		uint32_t id = __atomic_load_n(&some_id, __ATOMIC_RELAXED);
		jint one = (jint)(n % 8 == 7 ? id - (n % 5 << AG_TRACE_SLOT_BITS) : id);
		jlong token = ag_hook_enter(jni, NULL, one);

		ag_hook_argL(jni, NULL, token, (jobject)&fake_objects);
		if (n++ % 16 == 0)
			ag_hook_fail(jni, NULL, (jthrowable)&fake_thrown, token, one);
		else if (n % 2)
			ag_hook_exitL(jni, NULL, (jobject)&fake_color, token, one);
		else
			ag_hook_exit(jni, NULL, token, one);
	}
	return NULL;
}

START_TEST(traces_end_under_hooks)
{
	const uint32_t flags[] = {
		0, WIRE_TRACE_VALUES, WIRE_TRACE_SUMMED, WIRE_TRACE_VALUES | WIRE_TRACE_STACKS,
	};
	pthread_t threads[N_THREADS];
	unsigned told = 0, summed = 0;

	finish(begin((struct ag_trace_wanted){ 0 }, 1));
	run_threads(threads, call_anything);
	fake_time.workers = N_THREADS;
	/* Repeats until hooks have run in traces that report calls, and in traces of sums. */
	for (unsigned round = 0; round < 200 || told == 0 || summed == 0; round++) {
		struct ag_trace *trace = begin((struct ag_trace_wanted){
			.flags = flags[round % 4], .chars = 5, .elements = 2,
		}, 3);

		__atomic_store_n(&some_id, ag_trace_id(trace, 1), __ATOMIC_RELAXED);
		for (int i = 0; i < 5; i++) {
			struct ag_sum sum;

			told += take(trace).n;
			summed += ag_trace_drain_sum(trace, 1, &sum);
		}
		finish(trace);
	}
	fake_time.workers = 0;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	join_threads(threads);
	nothing_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/trace/trace_hooks");
	TCase *t = tcase_create("hooks"), *threads = tcase_create("threads");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, start, NULL);
	tcase_add_checked_fixture(threads, start, NULL);
	tcase_set_timeout(t, 60); /* with sanitizers on a busy machine */
	tcase_set_timeout(threads, 60);
	tcase_add_test(t, a_call_is_reported);
	tcase_add_test(t, an_exception_is_reported);
	tcase_add_test(t, values_are_described);
	tcase_add_test(t, bytes_are_described);
	tcase_add_test(t, values_are_cut_at_the_end_of_the_record);
	tcase_add_test(t, rate_limits_the_calls);
	tcase_add_test(t, rate_counts_only_reported_calls);
	tcase_add_test(t, records_are_reused);
	tcase_add_test(t, calls_without_an_end_lose_their_records);
	tcase_add_test(t, a_long_call_retains_its_record);
	tcase_add_test(t, tokens_are_valid_once);
	tcase_add_test(t, hooks_do_nothing_outside_a_trace_and_on_the_agent_thread);
	tcase_add_test(t, number_of_traces_is_limited);
	tcase_add_test(t, suspended_hook_retains_its_memory);
	tcase_add_test(t, a_hook_notices_the_end);
	tcase_add_test(t, stacks_are_walked_by_named_threads);
	tcase_add_test(t, virtual_threads_may_be_timed);
	tcase_add_test(t, each_call_may_fail);
	tcase_add_test(t, memory_may_run_out);
	tcase_add_test(t, the_most_methods_fit);
	tcase_add_test(t, sums_are_right);
	tcase_add_test(threads, no_call_is_lost_in_sums);
	tcase_add_test(threads, no_call_is_lost);
	tcase_add_test(threads, traces_end_under_hooks);
	suite_add_tcase(s, t);
	suite_add_tcase(s, threads);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
