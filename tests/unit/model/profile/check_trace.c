#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "classfile/inject.h"
#include "trace_made.h"

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

/* Whatever its end is missing, the frame is refused. */
static void refused_when_cut(uint16_t type, const struct payload *p)
{
	ck_assert(wire_writer_ok(&p->w));
	for (size_t len = 0; len < p->w.len; len++)
		ck_assert_msg(take_frame(&trace, type, p, len, NULL, NULL) == -EBADMSG,
			      "%s of %zu bytes", wire_type_name(type), len);
}

static void name_is(uint32_t method, const char *expected)
{
	struct buf name = BUF_INIT;

	trace_method_name(&trace, method, &name);
	ck_assert_str_eq(buf_str(&name), expected);
	buf_release(&name);
}

START_TEST(names_have_types_where_they_need_them)
{
	name_is(ORDER, "a.b.Shop.order(java.lang.String, int[])");
	name_is(ORDER_INT, "a.b.Shop.order(int)");
	name_is(PAY, "a.b.Shop.pay"); /* of two loaders */
	name_is(TWIN, "a.b.Shop.pay");
	(void)trace_add(&trace, "a.b.Shop", "pay", "(J)V");
	name_is(PAY, "a.b.Shop.pay()");
	name_is(TWIN, "a.b.Shop.pay()");
	name_is(4, "a.b.Shop.pay(long)");
	(void)trace_add(&trace, "a.b.Other", "pay", "(J)V");
	name_is(5, "a.b.Other.pay");
	/* Differs in its result alone: an override's bridge. */
	(void)trace_add(&trace, "a.b.Bridge", "get", "()La/b/D;");
	(void)trace_add(&trace, "a.b.Bridge", "get", "()Ljava/lang/Object;");
	(void)trace_add(&trace, "a.b.Bridge", "get", "()V");
	name_is(6, "a.b.Bridge.get(): a.b.D");
	name_is(7, "a.b.Bridge.get(): java.lang.Object");
	name_is(8, "a.b.Bridge.get(): void");
	/* A character beyond the 16-bit ones, as the JVM has it. */
	(void)trace_add(&trace, "a.b.Other", "\xed\xa0\xbd\xed\xb8\x80", "(J)V");
	name_is(9, "a.b.Other.\xf0\x9f\x98\x80");
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
	refused_when_cut(WIRE_TRACE_REFUSED, &p);
	ck_assert_int_eq(take(WIRE_TRACE_REFUSED, &p), method < trace.n ? 0 : -EBADMSG);
}

START_TEST(refusals_are_words)
{
	refuse(ORDER, CF_NO_CODE, 0, "");
	ck_assert_str_eq(trace.methods[ORDER].refused, "is native or abstract");
	refuse(ORDER_INT, 0, 0, "too many\nconstants");
	ck_assert_str_eq(trace.methods[ORDER_INT].refused,
			 "stays as it is: too many\\x0Aconstants");
	refuse(PAY, 0, 62, "");
	ck_assert_str_eq(trace.methods[PAY].refused, "stays as it is: its bytecode does not pass "
						     "the verifier (JVMTI error 62)");
	refuse(PAY, 4711, 0, ""); /* twice, and one that is not known yet */
	ck_assert_str_eq(trace.methods[PAY].refused, "cannot be hooked");
	ck_assert_ptr_null(trace.methods[TWIN].refused);
	refuse(4, CF_NO_CODE, 0, "");
}
END_TEST

START_TEST(begun)
{
	struct payload p;

	wire_put_u32(begin(&p), 5); /* more than there are */
	wire_put_u64(&p.w, 1234);
	ck_assert_int_eq(take(WIRE_TRACE_BEGUN, &p), -EBADMSG);
	wire_put_u32(begin(&p), 4);
	wire_put_u64(&p.w, 1234);
	refused_when_cut(WIRE_TRACE_BEGUN, &p);
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

static void tell_frames(void)
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

START_TEST(frames_are_as_java_prints_them)
{
	static const char *const expected[] = {
		"a.b.Shop.pay(Shop.java:12)", "a.b.Shop$1.run(Shop.java)",
		"java.lang.Thread.sleep(Native Method)", "c.<init>(Unknown Source)",
		"(unloaded).m(Unknown Source)",
	};
	struct payload p;

	tell_frames();
	ck_assert_uint_eq(trace.frames.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_str_eq(trace.frames.texts[i], expected[i]);
	wire_put_u32(begin(&p), 1);
	put_frame(&p.w, "LC;", "m", "C.java", 1);
	refused_when_cut(WIRE_FRAMES, &p);
	ck_assert_uint_eq(trace.frames.n, ARRAY_SIZE(expected));
	wire_put_u32(begin(&p), 1);
	put_frame(&p.w, "a/b/C", "m", "C.java", 1);
	ck_assert_int_eq(take(WIRE_FRAMES, &p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_frame(&p.w, "LC;", "m", "C.java", -3);
	ck_assert_int_eq(take(WIRE_FRAMES, &p), -EBADMSG);
}
END_TEST

/* An agent that tells frames for ever is not believed for ever. */
START_TEST(frames_are_bounded)
{
	size_t len = 1000000, told = 0;
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
		ck_assert_uint_lt(told++, 200);
		r = wire_reader_init(data, w.len);
	} while (trace_take(&trace, WIRE_FRAMES, &r, ignore_call, NULL) == 0);
	ck_assert_uint_gt(told, 100);
	ck_assert_uint_eq(trace.frames.n, told - 1);
}
END_TEST

/* What was told of calls. */
struct seen {
	unsigned n;
	struct trace_call last;
	uint32_t frames[WIRE_TRACE_DEPTH];
};

static void see(const struct trace *t, const struct trace_call *call, void *arg)
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

START_TEST(calls_are_told)
{
	struct seen seen = { 0 };
	struct payload p;

	tell_frames();
	wire_put_u32(begin(&p), 3);
	put_call_of(&p.w, PAY, "", "", 0);
	put_call_of(&p.w, ORDER, "", "N", 0);
	put_call_of(&p.w, ORDER_INT, "N", "", WIRE_TRACE_DEPTH);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_CALLS, &p, p.w.len, see, &seen), 0);
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
	refused_when_cut(WIRE_TRACE_CALLS, &p);
}
END_TEST

START_TEST(what_was_told_of_values)
{
	struct seen seen = { 0 };
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_call_of(&p.w, PAY, "", "", 0);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_CALLS, &p, p.w.len, see, &seen), 0);
	ck_assert(seen.last.has_args && seen.last.is_void && !seen.last.threw);
	wire_put_u32(begin(&p), 1);
	put_call_of(&p.w, ORDER, "", "", 0);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_CALLS, &p, p.w.len, see, &seen), 0);
	ck_assert(!seen.last.has_args && !seen.last.is_void);
}
END_TEST

/* Numbers of what was never told; more frames than a stack has; a truth that is neither. */
START_TEST(calls_that_make_no_sense)
{
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_call_of(&p.w, PAY, "", "", 1);
	ck_assert_int_eq(take(WIRE_TRACE_CALLS, &p), -EBADMSG);
	tell_frames();
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

START_TEST(state_and_end)
{
	struct payload p;

	put_state(begin(&p), 7, 2, 1);
	refused_when_cut(WIRE_TRACE_STATE, &p);
	ck_assert_int_eq(take(WIRE_TRACE_STATE, &p), 0);
	ck_assert_uint_eq(trace.state.calls, 7);
	ck_assert_uint_eq(trace.state.too_many, 2);
	ck_assert_uint_eq(trace.state.no_room, 1);
	ck_assert_uint_eq(trace.state.hooks_ns, 1000);
	wire_put_u32(begin(&p), WIRE_TRACED_NOTHING + 1);
	wire_put_i32(&p.w, 0);
	put_state(&p.w, 9, 2, 1);
	ck_assert_int_eq(take(WIRE_TRACE_END, &p), -EBADMSG);
	wire_put_u32(begin(&p), WIRE_TRACED_COST);
	wire_put_i32(&p.w, 110);
	put_state(&p.w, 9, 2, 1);
	refused_when_cut(WIRE_TRACE_END, &p);
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
	Suite *s = suite_create("trace");
	TCase *c = tcase_create("trace");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, names_have_types_where_they_need_them);
	tcase_add_test(c, refusals_are_words);
	tcase_add_test(c, begun);
	tcase_add_test(c, frames_are_as_java_prints_them);
	tcase_add_test(c, frames_are_bounded);
	tcase_add_test(c, calls_are_told);
	tcase_add_test(c, what_was_told_of_values);
	tcase_add_test(c, calls_that_make_no_sense);
	tcase_add_test(c, state_and_end);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
