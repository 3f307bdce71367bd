/* Traces: the agent's frames, method names and refusals. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "classfile/inject/inject.h"
#include "unit/support/sample_trace.h"

static struct trace trace;

enum { ORDER, ORDER_INT, PAY, TWIN };

static void setup(void)
{
	trace = (struct trace){ 0 };
	ck_assert_uint_eq(trace_add(&trace, "a.b.Shop", "order",
				    "(Ljava/lang/String;[I)Z"), ORDER);
	ck_assert_uint_eq(trace_add(&trace, "a.b.Shop", "order", "(I)Z"), ORDER_INT);
	ck_assert_uint_eq(trace_add(&trace, "a.b.Shop", "pay", "()V"), PAY);
	ck_assert_uint_eq(trace_add(&trace, "a.b.Shop", "pay", "()V"), TWIN);
}

static void teardown(void)
{
	trace_release(&trace);
}

static int take(uint16_t type, const struct payload *p)
{
	return take_frame(&trace, type, p, p->w.len, NULL, NULL);
}

static void check_cut_rejected(uint16_t type, const struct payload *p)
{
	ck_assert(wire_writer_ok(&p->w));
	for (size_t len = 0; len < p->w.len; len++)
		ck_assert_msg(take_frame(&trace, type, p, len, NULL, NULL) == -EBADMSG,
			      "%s of %zu bytes", wire_type_name(type), len);
}

static void check_name(uint32_t method, const char *expected)
{
	struct buf name = BUF_INIT;

	trace_method_name(&trace, method, &name);
	ck_assert_str_eq(buf_str(&name), expected);
	buf_release(&name);
}

START_TEST(overloaded_methods_are_shown_with_types)
{
	check_name(ORDER, "a.b.Shop.order(java.lang.String, int[])");
	check_name(ORDER_INT, "a.b.Shop.order(int)");
	check_name(PAY, "a.b.Shop.pay"); /* PAY and TWIN: classes of two loaders */
	check_name(TWIN, "a.b.Shop.pay");
	(void)trace_add(&trace, "a.b.Shop", "pay", "(J)V");
	check_name(PAY, "a.b.Shop.pay()");
	check_name(TWIN, "a.b.Shop.pay()");
	check_name(4, "a.b.Shop.pay(long)");
	(void)trace_add(&trace, "a.b.Other", "pay", "(J)V");
	check_name(5, "a.b.Other.pay");
	/* A bridge method of an override differs only in its result. */
	(void)trace_add(&trace, "a.b.Bridge", "get", "()La/b/D;");
	(void)trace_add(&trace, "a.b.Bridge", "get", "()Ljava/lang/Object;");
	(void)trace_add(&trace, "a.b.Bridge", "get", "()V");
	check_name(6, "a.b.Bridge.get(): a.b.D");
	check_name(7, "a.b.Bridge.get(): java.lang.Object");
	check_name(8, "a.b.Bridge.get(): void");
	/* Modified UTF-8 encodes a character above U+FFFF as a surrogate pair. */
	(void)trace_add(&trace, "a.b.Other", "\xed\xa0\xbd\xed\xb8\x80", "(J)V");
	check_name(9, "a.b.Other.\xf0\x9f\x98\x80");
}
END_TEST

static void refuse(uint32_t method, uint32_t refusal, int32_t code, const char *why)
{
	struct payload p;
	struct wire_writer *w = begin(&p);

	wire_put_u32(w, method);
	wire_put_u32(w, refusal);
	wire_put_i32(w, code);
	put_text(w, why);
	check_cut_rejected(WIRE_TRACE_REFUSED, &p);
	ck_assert_int_eq(take(WIRE_TRACE_REFUSED, &p), method < trace.n ? 0 : -EBADMSG);
}

START_TEST(reasons_of_refusals_are_shown)
{
	refuse(ORDER, CF_NO_CODE, 0, "");
	ck_assert_str_eq(trace.methods[ORDER].refused, "is native or abstract");
	refuse(ORDER_INT, 0, 0, "too many\nconstants");
	ck_assert_str_eq(trace.methods[ORDER_INT].refused,
			 "cannot be instrumented: too many\\x0Aconstants");
	refuse(PAY, 0, 62, "");
	ck_assert_str_eq(trace.methods[PAY].refused,
			 "cannot be instrumented: its bytecode does not pass the verifier "
			 "(JVMTI error 62)");
	refuse(PAY, 4711, 0, ""); /* a second refusal with an unknown reason */
	ck_assert_str_eq(trace.methods[PAY].refused, "cannot be hooked");
	ck_assert_ptr_null(trace.methods[TWIN].refused);
	refuse(4, CF_NO_CODE, 0, "");
}
END_TEST

START_TEST(begin_frame_is_accepted_once)
{
	struct payload p;

	wire_put_u32(begin(&p), 5); /* more hooks than methods */
	wire_put_u64(&p.w, 1234);
	ck_assert_int_eq(take(WIRE_TRACE_BEGUN, &p), -EBADMSG);
	wire_put_u32(begin(&p), 4);
	wire_put_u64(&p.w, 1234);
	check_cut_rejected(WIRE_TRACE_BEGUN, &p);
	ck_assert(!trace.begun);
	ck_assert_int_eq(take(WIRE_TRACE_BEGUN, &p), 0);
	ck_assert(trace.begun);
	ck_assert_uint_eq(trace.n_hooked, 4);
	ck_assert_uint_eq(trace.install_ns, 1234);
	ck_assert_int_eq(take(WIRE_TRACE_BEGUN, &p), -EBADMSG);
}
END_TEST

static void put_frame(struct wire_writer *w, const char *class, const char *method,
		      const char *file, int32_t line)
{
	put_text(w, class);
	put_text(w, method);
	put_text(w, file);
	wire_put_i32(w, line);
}

static void send_frames(void)
{
	struct payload p;

	wire_put_u32(begin(&p), 5);
	put_frame(&p.w, "La/b/Shop;", "pay", "Shop.java", 12);
	put_frame(&p.w, "La/b/Shop$1;", "run", "Shop.java", -1);
	put_frame(&p.w, "Ljava/lang/Thread;", "sleep", "Thread.java", -2);
	put_frame(&p.w, "Lc;", "<init>", "", 7);
	put_frame(&p.w, "", "m", "", -1);
	ck_assert_int_eq(take(WIRE_FRAMES, &p), 0);
}

START_TEST(stack_frames_are_shown_in_java_syntax)
{
	static const char *const expected[] = {
		"a.b.Shop.pay(Shop.java:12)", "a.b.Shop$1.run(Shop.java)",
		"java.lang.Thread.sleep(Native Method)", "c.<init>(Unknown Source)",
		"(unloaded).m(Unknown Source)",
	};
	struct payload p;

	send_frames();
	ck_assert_uint_eq(trace.frames.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_str_eq(trace.frames.texts[i], expected[i]);
	wire_put_u32(begin(&p), 1);
	put_frame(&p.w, "LC;", "m", "C.java", 1);
	check_cut_rejected(WIRE_FRAMES, &p);
	ck_assert_uint_eq(trace.frames.n, ARRAY_SIZE(expected));
	wire_put_u32(begin(&p), 1);
	put_frame(&p.w, "a/b/C", "m", "C.java", 1);
	ck_assert_int_eq(take(WIRE_FRAMES, &p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_frame(&p.w, "LC;", "m", "C.java", -3);
	ck_assert_int_eq(take(WIRE_FRAMES, &p), -EBADMSG);
}
END_TEST

/* A hostile agent sends stack frames without end. */
START_TEST(number_of_stack_frames_is_limited)
{
	size_t len = 1000000, sent = 0;
	_cleanup_free_ uint8_t *data = xmalloc(len + 100);
	_cleanup_free_ char *file = xmalloc(len + 1);
	struct wire_writer w = wire_writer_init(data, len + 100);
	struct wire_reader r;

	memset(file, 'x', len);
	file[len] = '\0';
	wire_put_u32(&w, 1);
	put_frame(&w, "LC;", "m", file, 1);
	ck_assert(wire_writer_ok(&w));
	do {
		ck_assert_uint_lt(sent++, 200);
		r = wire_reader_init(data, w.len);
	} while (trace_take(&trace, WIRE_FRAMES, &r, ignore_call, NULL) == 0);
	ck_assert_uint_gt(sent, 100);
	ck_assert_uint_eq(trace.frames.n, sent - 1);
}
END_TEST

/* The calls that were passed to the callback. */
struct seen {
	unsigned n;
	struct trace_call last;
	uint32_t frames[WIRE_TRACE_DEPTH];
};

static void note_call(const struct trace *t, const struct trace_call *call, void *arg)
{
	struct seen *seen = arg;

	ck_assert_ptr_eq(t, &trace);
	seen->n++;
	seen->last = *call;
	memcpy(seen->frames, call->frames, call->n_frames * sizeof(*call->frames));
}

static void put_call_of(struct wire_writer *w, uint32_t method, const char *args,
			const char *result, uint32_t n_frames)
{
	put_call(w, method, 1240000, "main", method == ORDER_INT);
	put_text(w, args);
	put_text(w, result);
	wire_put_u32(w, n_frames);
	for (uint32_t i = 0; i < n_frames; i++)
		wire_put_u32(w, i % 5);
}

START_TEST(calls_are_passed_to_the_callback)
{
	struct seen seen = { 0 };
	struct payload p;

	send_frames();
	wire_put_u32(begin(&p), 3);
	put_call_of(&p.w, PAY, "", "", 0);
	put_call_of(&p.w, ORDER, "", "N", 0);
	put_call_of(&p.w, ORDER_INT, "N", "", WIRE_TRACE_DEPTH);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_CALLS, &p, p.w.len, note_call, &seen), 0);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_uint_eq(seen.last.method, ORDER_INT);
	ck_assert_uint_eq(seen.last.when_ns, UINT64_C(1751371245123456789));
	ck_assert_uint_eq(seen.last.ns, 1240000);
	ck_assert_uint_eq(seen.last.thread_id, 41);
	ck_assert_uint_eq(seen.last.thread.len, 4);
	ck_assert(seen.last.threw);
	ck_assert(seen.last.has_args && !seen.last.is_void);
	ck_assert_uint_eq(seen.last.args.len, 1);
	ck_assert_uint_eq(seen.last.result.len, 0);
	ck_assert_uint_eq(seen.last.n_frames, WIRE_TRACE_DEPTH);
	ck_assert_uint_eq(seen.frames[63], 3);
	check_cut_rejected(WIRE_TRACE_CALLS, &p);
}
END_TEST

START_TEST(calls_have_arguments_and_results)
{
	struct seen seen = { 0 };
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_call_of(&p.w, PAY, "", "", 0);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_CALLS, &p, p.w.len, note_call, &seen), 0);
	ck_assert(seen.last.has_args && seen.last.is_void && !seen.last.threw);
	wire_put_u32(begin(&p), 1);
	put_call_of(&p.w, ORDER, "", "", 0);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_CALLS, &p, p.w.len, note_call, &seen), 0);
	ck_assert(!seen.last.has_args && !seen.last.is_void);
}
END_TEST

/* A call has unknown numbers, too many stack frames, or a boolean that is neither 0 nor 1. */
START_TEST(inconsistent_calls_are_rejected)
{
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_call_of(&p.w, PAY, "", "", 1);
	ck_assert_int_eq(take(WIRE_TRACE_CALLS, &p), -EBADMSG);
	send_frames();
	ck_assert_int_eq(take(WIRE_TRACE_CALLS, &p), 0);
	wire_put_u32(begin(&p), 1);
	put_call_of(&p.w, 4, "", "", 0);
	ck_assert_int_eq(take(WIRE_TRACE_CALLS, &p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_call_of(&p.w, PAY, "", "", WIRE_TRACE_DEPTH + 1);
	ck_assert_int_eq(take(WIRE_TRACE_CALLS, &p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_call(&p.w, PAY, 1, "main", 2);
	put_text(&p.w, "");
	put_text(&p.w, "");
	wire_put_u32(&p.w, 0);
	ck_assert_int_eq(take(WIRE_TRACE_CALLS, &p), -EBADMSG);
	wire_put_u32(begin(&p), UINT32_MAX);
	ck_assert_int_eq(take(WIRE_TRACE_CALLS, &p), -EBADMSG);
	wire_put_u32(begin(&p), 0);
	ck_assert_int_eq(take(WIRE_TRACE_STOP, &p), -EBADMSG);
}
END_TEST

START_TEST(state_and_end_are_parsed)
{
	struct payload p;

	put_state(begin(&p), 7, 2, 1);
	check_cut_rejected(WIRE_TRACE_STATE, &p);
	ck_assert_int_eq(take(WIRE_TRACE_STATE, &p), 0);
	ck_assert_uint_eq(trace.state.calls, 7);
	ck_assert_uint_eq(trace.state.too_many, 2);
	ck_assert_uint_eq(trace.state.no_room, 1);
	ck_assert_uint_eq(trace.state.hooks_ns, 1000);
	wire_put_u32(begin(&p), WIRE_TRACED_FORCED + 1);
	wire_put_i32(&p.w, 0);
	put_state(&p.w, 9, 2, 1);
	ck_assert_int_eq(take(WIRE_TRACE_END, &p), -EBADMSG);
	wire_put_u32(begin(&p), WIRE_TRACED_COST);
	wire_put_i32(&p.w, 110);
	put_state(&p.w, 9, 2, 1);
	check_cut_rejected(WIRE_TRACE_END, &p);
	ck_assert(!trace.ended);
	ck_assert_int_eq(take(WIRE_TRACE_END, &p), 1);
	ck_assert(trace.ended);
	ck_assert_uint_eq(trace.end, WIRE_TRACED_COST);
	ck_assert_int_eq(trace.code, 110);
	ck_assert_uint_eq(trace.state.calls, 9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/profile/trace");
	TCase *c = tcase_create("model/profile/trace");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, overloaded_methods_are_shown_with_types);
	tcase_add_test(c, reasons_of_refusals_are_shown);
	tcase_add_test(c, begin_frame_is_accepted_once);
	tcase_add_test(c, stack_frames_are_shown_in_java_syntax);
	tcase_add_test(c, number_of_stack_frames_is_limited);
	tcase_add_test(c, calls_are_passed_to_the_callback);
	tcase_add_test(c, calls_have_arguments_and_results);
	tcase_add_test(c, inconsistent_calls_are_rejected);
	tcase_add_test(c, state_and_end_are_parsed);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
