/*
 * Hooks, called as instrumented methods would, in a JVM that is made for them: what is told of
 * calls, how it is bounded, and that nothing is left behind, whatever call fails and whoever is
 * in a hook while a trace ends.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake_hooks.h"
#include "jvm/trace_state.h"

#define MEM ((size_t)64 << 20)
#define TEXT_MAX 16384

static struct ag_mem mem = { .budget = MEM };
static struct ag_jvm jvm;

static jlong (JNICALL *enter)(JNIEnv *, jclass, jint);
static void (JNICALL *arg_i)(JNIEnv *, jclass, jlong, jint);
static void (JNICALL *arg_j)(JNIEnv *, jclass, jlong, jlong);
static void (JNICALL *arg_f)(JNIEnv *, jclass, jlong, jfloat);
static void (JNICALL *arg_d)(JNIEnv *, jclass, jlong, jdouble);
static void (JNICALL *arg_l)(JNIEnv *, jclass, jlong, jobject);
static void (JNICALL *leave)(JNIEnv *, jclass, jlong, jint);
static void (JNICALL *leave_i)(JNIEnv *, jclass, jint, jlong, jint);
static void (JNICALL *leave_l)(JNIEnv *, jclass, jobject, jlong, jint);
static void (JNICALL *throw_out)(JNIEnv *, jclass, jthrowable, jlong, jint);

/* Once: threads may call them. */
static void bind(void)
{
	if (enter)
		return;
	*(void **)&enter = fake_native("enter");
	*(void **)&arg_i = fake_native("argI");
	*(void **)&arg_j = fake_native("argJ");
	*(void **)&arg_f = fake_native("argF");
	*(void **)&arg_d = fake_native("argD");
	*(void **)&arg_l = fake_native("argL");
	*(void **)&leave = fake_native("exit");
	*(void **)&leave_i = fake_native("exitI");
	*(void **)&leave_l = fake_native("exitL");
	*(void **)&throw_out = fake_native("fail");
}

/* A session's thread is the last. */
static void start(void)
{
	jvm = (struct ag_jvm){
		.ti = fake_ti(), .jni = fake_jni(FAKE_THREADS - 1), .mem = &mem,
	};
	for (unsigned i = 0; i < FAKE_THREADS; i++)
		(void)fake_jni(i);
}

static void nothing_is_left(void)
{
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert_int_eq(fake.blocks, 0);
	ck_assert_int_eq(fake.references, 0);
	ck_assert_int_eq(fake.globals, 0);
	ck_assert_int_eq(fake.frames, 0);
	ck_assert(!fake.exception);
}

static struct ag_trace *begin(struct ag_trace_wanted wanted, uint32_t n)
{
	struct ag_trace *trace = ag_trace_new(&jvm, &wanted, n);

	ck_assert_ptr_nonnull(trace);
	bind();
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

/* A call of the first method, which takes nothing and gives nothing. */
static void call(struct ag_trace *trace, JNIEnv *jni)
{
	leave(jni, NULL, enter(jni, NULL, id_of(trace, 0)), id_of(trace, 0));
}

static struct ag_trace_state state_of(const struct ag_trace *trace)
{
	struct ag_trace_state state;

	ag_trace_state(trace, &state);
	return state;
}

/* What is taken: the last call, and how many. */
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

	ck_assert_int_eq(ag_trace_take(&jvm, trace, tell, &t), 0);
	return t;
}

#define ASSERT_BYTES(bytes, len, expected) do { \
	ck_assert_uint_eq((len), sizeof(expected) - 1); \
	ck_assert_mem_eq((bytes), (expected), sizeof(expected) - 1); \
} while (0)

START_TEST(a_call_is_told_of)
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

/* Without values an exception's class is told all the same. */
START_TEST(an_exception_is_told_of)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .min_ns = UINT32_MAX }, 1);
	jint id = id_of(trace, 0);
	struct taken t;

	throw_out(fake_jni(0), NULL, (jthrowable)&fake_thrown, enter(fake_jni(0), NULL, id), id);
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

	bind();
	id = id_of(trace, 0);
	ck_assert_int_eq(ag_trace_describe(&jvm, trace, 0,
		"(ZJFDLa;Ljava/lang/String;[ILa;La;La;La;[La;La;La;)La;"), 0);
	ag_trace_begin(trace);
	token = enter(jni, NULL, id);
	ck_assert_int_ne(token, 0);
	arg_i(jni, NULL, token, 1);
	arg_j(jni, NULL, token, -2);
	arg_f(jni, NULL, token, 1.0f);
	arg_d(jni, NULL, token, 1.0);
	arg_l(jni, NULL, token, NULL);
	arg_l(jni, NULL, token, (jobject)&fake_string);
	arg_l(jni, NULL, token, (jobject)&fake_ints);
	arg_l(jni, NULL, token, (jobject)&fake_integer);
	arg_l(jni, NULL, token, (jobject)&fake_color);
	arg_l(jni, NULL, token, (jobject)&fake_special_color);
	arg_l(jni, NULL, token, (jobject)&fake_object);
	arg_l(jni, NULL, token, (jobject)&fake_objects);
	arg_l(jni, NULL, token, (jobject)&fake_long_string);
	arg_l(jni, NULL, token, (jobject)&fake_thrown);
	arg_l(jni, NULL, token, NULL); /* one too many */
	leave_l(jni, NULL, (jobject)&fake_string, token, id);
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

	token = enter(jni, NULL, id);
	throw_out(jni, NULL, (jthrowable)&fake_thrown, token, id);
	t = take(trace);
	ck_assert(t.last.threw);
	ASSERT_BYTES(t.result, t.last.result_len, "t\0\x0bLp/Failure;s\0\0\0\2\0\2\0n\0o");
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Part of a String is more than nothing; then it is said that there was no room. */
START_TEST(room_ends)
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

	bind();
	id = id_of(trace, 0);
	for (int i = 0; i < 120; i++)
		memcpy(descriptor + strlen(descriptor), "La;", 3);
	memcpy(descriptor + strlen(descriptor), ")V", 2);
	ck_assert_int_eq(ag_trace_describe(&jvm, trace, 0, descriptor), 0);
	ag_trace_begin(trace);
	token = enter(jni, NULL, id);
	for (int i = 0; i < 120; i++)
		arg_l(jni, NULL, token, i == 0 ? (jobject)&fake_objects :
						 (jobject)&fake_long_string);
	leave(jni, NULL, token, id);
	t = take(trace);
	ck_assert_uint_gt(t.last.values_len, 8180);
	ck_assert_uint_le(t.last.values_len, 8192);
	ck_assert_int_eq(t.values[t.last.values_len - 1], '-');
	/* An array that is an element: as an object. */
	ck_assert_mem_eq(t.values + 28 + 13 + 1, "o\0\2[I", 5);
	finish(trace);
	nothing_is_left();
}
END_TEST

START_TEST(the_rate_is_kept)
{
	const struct ag_trace_wanted wanted = { .per_second = 3 };
	struct ag_trace *trace = begin(wanted, 1);

	for (int i = 0; i < 10; i++)
		call(trace, fake_jni(i));
	ck_assert_uint_eq(take(trace).n, 3);
	ck_assert_uint_eq(state_of(trace).too_many, 7);
	ag_trace_allow(trace, 333333333);
	call(trace, fake_jni(0));
	ck_assert_uint_eq(take(trace).n, 0);
	ag_trace_allow(trace, 1);
	call(trace, fake_jni(0));
	ck_assert_uint_eq(take(trace).n, 1);
	ag_trace_allow(trace, UINT64_MAX);
	ag_trace_allow(trace, UINT64_MAX);
	for (int i = 0; i < 10; i++)
		call(trace, fake_jni(i));
	ck_assert_uint_eq(take(trace).n, 3);
	ck_assert_uint_eq(state_of(trace).calls, 22);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* With values the rate comes at the entry, but with a least time at the end. */
START_TEST(the_rate_is_for_calls_that_are_told_of)
{
	struct ag_trace_wanted wanted = { .flags = WIRE_TRACE_VALUES, .per_second = 1 };
	struct ag_trace *trace = begin(wanted, 1);
	jint id = id_of(trace, 0);
	JNIEnv *jni = fake_jni(0);

	ck_assert_int_ne(enter(jni, NULL, id), 0);
	ck_assert_int_eq(enter(jni, NULL, id), 0);
	leave(jni, NULL, 0, id);
	ck_assert_uint_eq(state_of(trace).calls, 1);
	ck_assert_uint_eq(state_of(trace).too_many, 1);
	finish(trace);

	wanted.min_ns = UINT32_MAX;
	trace = begin(wanted, 1);
	id = id_of(trace, 0);
	for (int i = 0; i < 20000; i++)
		call(trace, jni);
	for (int i = 0; i < 2; i++)
		throw_out(jni, NULL, (jthrowable)&fake_thrown, enter(jni, NULL, id), id);
	ck_assert_uint_eq(state_of(trace).too_many, 1);
	ck_assert_uint_eq(take(trace).n, 1);
	ck_assert_uint_eq(state_of(trace).calls, 20002);
	finish(trace);
	nothing_is_left();
}
END_TEST

START_TEST(records_run_out_and_come_back)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	static jlong tokens[10000];
	JNIEnv *jni = fake_jni(0);
	jint id = id_of(trace, 1);
	struct taken t = { .stop_at = 5 };
	unsigned n = trace->pool.n;

	for (unsigned i = 0; i < n; i++)
		tokens[i] = enter(jni, NULL, id);
	for (unsigned i = 0; i < n; i++)
		leave_i(jni, NULL, (jint)i, tokens[n - 1 - i], id);
	ck_assert_int_eq(enter(jni, NULL, id), 0);
	ck_assert_uint_eq(state_of(trace).no_room, 1);
	leave_i(jni, NULL, 5, 0, id);
	ck_assert_uint_eq(state_of(trace).calls, n + 1);
	ck_assert_int_eq(ag_trace_take(&jvm, trace, tell, &t), 7);
	ck_assert_uint_eq(t.n, 5);
	ck_assert_uint_eq(t.result[4], 4);
	ck_assert_uint_eq(take(trace).n, n - 5);
	ck_assert_int_ne(enter(jni, NULL, id), 0);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* However many calls begin and never end, the next one has a record; it takes another's. */
START_TEST(calls_without_an_end_lose_their_records)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 1);
	JNIEnv *jni = fake_jni(0);
	jint id = id_of(trace, 0);
	jlong first = enter(jni, NULL, id), token = 0;

	for (unsigned i = 0; i < 3 * trace->pool.n; i++) {
		token = enter(jni, NULL, id);
		ck_assert_int_ne(token, 0);
	}
	ck_assert_uint_eq(state_of(trace).no_room, 0);
	leave_i(jni, NULL, 42, token, id);
	leave_i(jni, NULL, 43, first, id);
	ck_assert_uint_eq(state_of(trace).calls, 2);
	ck_assert_uint_eq(state_of(trace).no_room, 1); /* the first one's record is gone */
	ck_assert_uint_eq(take(trace).n, 1);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* But not to short ones that are merely more than the client takes. */
START_TEST(a_long_call_keeps_its_record)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	JNIEnv *jni = fake_jni(0);
	jint id = id_of(trace, 1);
	jlong token = enter(jni, NULL, id);
	unsigned n = trace->pool.n;
	struct taken t;

	for (unsigned i = 0; i < 3 * n; i++)
		call(trace, jni);
	leave_i(jni, NULL, 42, token, id);
	t = take(trace);
	ck_assert_uint_eq(t.n, n);
	ck_assert_uint_eq(t.last.method, 1);
	ck_assert_uint_eq(state_of(trace).no_room, 2 * n + 1);
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Tokens that are none, of a call that has ended, or of another trace. */
START_TEST(tokens_are_good_once)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	JNIEnv *jni = fake_jni(0);
	jint id = id_of(trace, 1);
	jlong token = enter(jni, NULL, id), other;

	arg_i(jni, NULL, token, 9);
	leave_i(jni, NULL, 1, token, id);
	arg_i(jni, NULL, token, 8);
	leave_i(jni, NULL, 2, token, id);
	ck_assert_uint_eq(take(trace).n, 1);
	other = enter(jni, NULL, id);
	ck_assert_int_ne(other, token);
	for (int bit = 0; bit < 64; bit++) {
		jlong wrong = (jlong)((uint64_t)other ^ UINT64_C(1) << bit);

		arg_i(jni, NULL, wrong, 8);
		leave_i(jni, NULL, 2, wrong, id);
	}
	ck_assert_uint_eq(take(trace).n, 0);
	leave_i(jni, NULL, 3, other, id);
	ck_assert_uint_eq(take(trace).last.values_len, 0);
	other = enter(jni, NULL, id);
	/* With one of another method's call, what is told is of the type that the hook has. */
	leave_i(jni, NULL, 4, enter(jni, NULL, id_of(trace, 0)), id);
	ck_assert_uint_eq(take(trace).last.result_len, 5);
	finish(trace);

	trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	ck_assert_int_ne(id_of(trace, 0), id);
	ck_assert_int_ne(id_of(trace, 1), id);
	(void)enter(jni, NULL, id_of(trace, 1));
	arg_i(jni, NULL, other, 8);
	leave_i(jni, NULL, 3, other, id);
	ck_assert_int_eq(enter(jni, NULL, id), 0);
	ck_assert_uint_eq(take(trace).n, 0);
	ck_assert_uint_eq(state_of(trace).calls, 0);
	finish(trace);
	nothing_is_left();
}
END_TEST

START_TEST(hooks_do_nothing_before_after_and_on_our_thread)
{
	const struct ag_trace_wanted wanted = { 0 };
	struct ag_trace *trace = ag_trace_new(&jvm, &wanted, 1);
	jlong token;
	jint id;

	bind();
	id = id_of(trace, 0);
	ck_assert_int_eq(enter(fake_jni(0), NULL, id), 0);
	leave(fake_jni(0), NULL, 0, id);
	ag_trace_begin(trace);
	ck_assert_int_eq(enter(jvm.jni, NULL, id), 0);
	leave(jvm.jni, NULL, 1, id);
	leave(fake_jni(0), NULL, 0, id); /* it began before */
	ck_assert_int_eq(enter(fake_jni(0), NULL, id + (1 << AG_PLACE_BITS)), 0);
	ck_assert_int_eq(enter(fake_jni(0), NULL, id - (1 << AG_PLACE_BITS)), 0);
	ck_assert_int_eq(enter(fake_jni(0), NULL, id + 1), 0);
	token = enter(fake_jni(0), NULL, id);
	ck_assert_int_ne(token, 0);
	ag_trace_end(trace);
	leave(fake_jni(0), NULL, token, id);
	ck_assert_uint_eq(take(trace).n, 0);
	ck_assert_uint_eq(state_of(trace).calls, 0);
	finish(trace);
	leave(fake_jni(0), NULL, token, id);
	nothing_is_left();
}
END_TEST

START_TEST(there_are_places_for_some)
{
	struct ag_trace *traces[AG_TRACES];
	const struct ag_trace_wanted wanted = { 0 };

	fake.taken = 2;
	for (int i = 0; i < AG_TRACES; i++) {
		traces[i] = begin(wanted, 1);
		for (int k = 0; k < i; k++)
			ck_assert_int_ne(id_of(traces[i], 0), id_of(traces[k], 0));
	}
	ck_assert_uint_eq(fake.defined, 1);
	ck_assert_str_eq(fake.hooks, "java/jtool/Hooks3");
	ck_assert_str_eq(ag_trace_hooks(), "java/jtool/Hooks3");
	ck_assert_ptr_null(ag_trace_new(&jvm, &wanted, 1));
	ck_assert_ptr_nonnull(jvm.err.what);
	ag_forgive(&jvm);
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
 * A hook that does not come back keeps the trace's memory, and its place until it does.  The next
 * trace there has nothing of it, whatever it is made for.
 */
START_TEST(who_stays_keeps_the_memory)
{
	const struct ag_trace_wanted wanted = { 0 };
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_SUMMED }, 1);
	struct ag_trace *others[AG_TRACES - 1], left;
	struct ag_presence *at = &trace->presence[0];
	uint64_t range = trace->range;
	struct ag_sum sum;

	call(trace, fake_jni(0));
	ck_assert(ag_trace_come(trace, at, range));
	ag_trace_end(trace);
	ck_assert(!ag_trace_come(trace, at, range));
	ck_assert_int_eq(ag_trace_free(&jvm, trace), -1);
	left = *trace;
	ck_assert_uint_gt(mem.blocks, 0);
	for (int i = 0; i < AG_TRACES - 1; i++)
		others[i] = begin(wanted, 1);
	ck_assert_ptr_null(ag_trace_new(&jvm, &wanted, 1));
	ag_forgive(&jvm);
	ag_trace_go(at);
	ck_assert_ptr_eq(begin(wanted, 1), trace);
	ck_assert(!ag_trace_take_sum(trace, 0, &sum));
	finish(trace);
	ag_free(&mem, left.methods);
	ag_sums_release(&jvm, &left.sums);
	for (int i = 0; i < AG_TRACES - 1; i++)
		finish(others[i]);
	nothing_is_left();
}
END_TEST

/* The trace ends while the JVM is asked: its environment is asked for nothing more. */
static struct ag_trace *ending;

static void end_it(void)
{
	fake.meanwhile = NULL;
	ck_assert_int_eq(ag_trace_free(&jvm, ending), -1);
	jvm.ti = NULL;
}

START_TEST(a_hook_notices_the_end)
{
	struct ag_trace *trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 2);
	jint id = id_of(trace, 0);
	JNIEnv *jni = fake_jni(0);
	jlong token = enter(jni, NULL, id);
	unsigned calls;

	ending = trace;
	fake.meanwhile = end_it;
	calls = fake.calls;
	throw_out(jni, NULL, (jthrowable)&fake_thrown, token, id);
	ck_assert_uint_le(fake.calls - calls, 2); /* the class, and the message's characters */
	ck_assert_int_eq(fake.blocks, 1);
	ck_assert_int_eq(fake.references, 0);
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
	jlong token = enter(jni, NULL, id);

	arg_l(jni, NULL, token, (jobject)&fake_objects);
	arg_l(jni, NULL, token, (jobject)&fake_ints);
	arg_l(jni, NULL, token, (jobject)&fake_special_color);
	arg_l(jni, NULL, token, (jobject)&fake_object);
	arg_l(jni, NULL, token, (jobject)&fake_long_string);
	leave_l(jni, NULL, (jobject)&fake_integer, token, id);
	token = enter(jni, NULL, id);
	throw_out(jni, NULL, (jthrowable)&fake_thrown, token, id);
}

/* On JDK 19 to 24 a thread has to name itself: the fake JVM waits for ever if it does not. */
START_TEST(stacks_wait_for_nobody)
{
	const struct ag_trace_wanted wanted = { .flags = WIRE_TRACE_STACKS };
	const unsigned releases[] = { 17, 21, 25 };

	for (size_t i = 0; i < 2 * sizeof(releases) / sizeof(releases[0]); i++) {
		struct ag_trace *trace;

		fake.release = releases[i / 2];
		fake.is_virtual = i % 2;
		trace = begin(wanted, 1);
		ck_assert(!ag_trace_refuses(trace, "Ljava/lang/Thread;"));
		ck_assert_int_eq(ag_trace_refuses(trace, "Ljava/lang/VirtualThread;") != NULL,
				 fake.release == 21);
		call(trace, fake_jni(0));
		ck_assert_uint_eq(take(trace).last.n_frames, 2);
		finish(trace);
	}
	nothing_is_left();
}
END_TEST

/* Only stacks are dangerous. */
START_TEST(virtual_threads_may_be_timed)
{
	struct ag_trace *trace;

	fake.release = 21;
	trace = begin((struct ag_trace_wanted){ .flags = WIRE_TRACE_VALUES }, 1);
	ck_assert(!ag_trace_refuses(trace, "Ljava/lang/VirtualThread;"));
	finish(trace);
	nothing_is_left();
}
END_TEST

/* Each call fails in turn, of the session's thread and of hooks. */
static bool survives(unsigned fail_at, bool early)
{
	const struct ag_trace_wanted wanted = {
		.flags = WIRE_TRACE_VALUES | WIRE_TRACE_STACKS, .chars = 80, .elements = 3,
	};
	struct ag_trace *trace;

	fake.calls = 0;
	fake.fail_at = fail_at;
	fake.early_names = early;
	fake.release = 21;
	fake.is_virtual = early;
	trace = ag_trace_new(&jvm, &wanted, 1);
	if (trace) {
		struct taken t;

		bind();
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
		ag_forgive(&jvm);
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
			ag_forgive(&jvm);
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
	leave(fake_jni(0), NULL, enter(fake_jni(0), NULL, id_of(trace, 19999)),
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

/* Sums, against times that are made up: an entry's token is when it was. */
static void add(struct ag_trace *trace, JNIEnv *jni, uint32_t i, uint64_t ns, struct ag_sum *own)
{
	ck_assert(ag_sums_add(&trace->sums, jni, i, ns, false));
	own->calls++;
	own->ns += ns;
	own->buckets[sums_bucket(ns)]++;
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
	ck_assert(!ag_trace_take_sum(trace, 0, &sum));
	ck_assert(ag_trace_take_sum(trace, 1, &sum));
	ck_assert_mem_eq(&sum, &own, sizeof(sum));
	ck_assert(!ag_trace_take_sum(trace, 1, &sum));
	ck_assert(!ag_trace_take_sum(trace, 2, &sum));
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
		jlong token = enter(jni, NULL, id);

		if (i % 10 == 0)
			throw_out(jni, NULL, (jthrowable)&fake_thrown, token, id);
		else
			leave(jni, NULL, token, id);
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
			if (!ag_trace_take_sum(trace, i, &sum))
				continue;
			calls += sum.calls;
			threw += sum.threw;
			for (int b = 0; b < SUMS_BUCKETS; b++)
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

/* Every call is told of, or counted as passed over. */
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
		ag_trace_allow(trace, 1000000);
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

/* Hooks of traces that begin and end all the time, with ids that are old or not given yet. */
static uint32_t some_id;

static void *call_anything(void *arg)
{
	JNIEnv *jni = fake_jni((unsigned)(uintptr_t)arg);
	uint32_t n = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint32_t id = __atomic_load_n(&some_id, __ATOMIC_RELAXED);
		jint one = (jint)(n % 8 == 7 ? id - (n % 5 << AG_PLACE_BITS) : id);
		jlong token = enter(jni, NULL, one);

		arg_l(jni, NULL, token, (jobject)&fake_objects);
		if (n++ % 16 == 0)
			throw_out(jni, NULL, (jthrowable)&fake_thrown, token, one);
		else if (n % 2)
			leave_l(jni, NULL, (jobject)&fake_color, token, one);
		else
			leave(jni, NULL, token, one);
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
	/* Until hooks have met traces of either kind, however busy the machine is. */
	for (unsigned round = 0; round < 200 || told == 0 || summed == 0; round++) {
		struct ag_trace *trace = begin((struct ag_trace_wanted){
			.flags = flags[round % 4], .chars = 5, .elements = 2,
		}, 3);

		__atomic_store_n(&some_id, ag_trace_id(trace, 1), __ATOMIC_RELAXED);
		for (int i = 0; i < 5; i++) {
			struct ag_sum sum;

			told += take(trace).n;
			summed += ag_trace_take_sum(trace, 1, &sum);
		}
		finish(trace);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	join_threads(threads);
	nothing_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace_hooks");
	TCase *t = tcase_create("hooks");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, start, NULL);
	tcase_set_timeout(t, 60); /* also by itself, with sanitizers on a busy machine */
	tcase_add_test(t, a_call_is_told_of);
	tcase_add_test(t, an_exception_is_told_of);
	tcase_add_test(t, values_are_described);
	tcase_add_test(t, room_ends);
	tcase_add_test(t, the_rate_is_kept);
	tcase_add_test(t, the_rate_is_for_calls_that_are_told_of);
	tcase_add_test(t, records_run_out_and_come_back);
	tcase_add_test(t, calls_without_an_end_lose_their_records);
	tcase_add_test(t, a_long_call_keeps_its_record);
	tcase_add_test(t, tokens_are_good_once);
	tcase_add_test(t, hooks_do_nothing_before_after_and_on_our_thread);
	tcase_add_test(t, there_are_places_for_some);
	tcase_add_test(t, who_stays_keeps_the_memory);
	tcase_add_test(t, a_hook_notices_the_end);
	tcase_add_test(t, stacks_wait_for_nobody);
	tcase_add_test(t, virtual_threads_may_be_timed);
	tcase_add_test(t, each_call_may_fail);
	tcase_add_test(t, memory_may_run_out);
	tcase_add_test(t, the_most_methods_fit);
	tcase_add_test(t, sums_are_right);
	tcase_add_test(t, no_call_is_lost_in_sums);
	tcase_add_test(t, no_call_is_lost);
	tcase_add_test(t, traces_end_under_hooks);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
