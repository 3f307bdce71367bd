#include <check.h>
#include <string.h>
#include <time.h>

#include "base/xalloc.h"
#include "render/json.h"
#include "render/trace_json.h"
#include "render/trace_text.h"
#include "trace_made.h"

static struct trace trace;
static struct trace_call call;
static struct buf args, result, out;
static struct trace_text text;

enum { ORDER, PAY, SELL, SELL_INT };

static const uint32_t stack[] = { 0, 1 };

static struct wire_text text_of(const char *s)
{
	return (struct wire_text){ s, strlen(s) };
}

static void tell_frames(void)
{
	struct payload p;

	wire_put_u32(begin(&p), 2);
	for (int32_t i = 1; i <= 2; i++) {
		put_text(&p.w, "La/b/Shop;");
		put_text(&p.w, i == 1 ? "order" : "ru\nn");
		put_text(&p.w, "Shop.java");
		wire_put_i32(&p.w, 10 * i);
	}
	ck_assert_int_eq(take_frame(&trace, WIRE_FRAMES, &p, p.w.len, NULL, NULL), 0);
}

static void setup(void)
{
	ck_assert_int_eq(setenv("TZ", "UTC-2", 1), 0);
	tzset();
	trace = (struct trace){ 0 };
	(void)trace_add(&trace, "a.b.Shop", "order", "(ILjava/lang/String;)Z");
	(void)trace_add(&trace, "a.b.Shop", "pay", "()V");
	(void)trace_add(&trace, "a.b.Shop", "sell", "([ILjava/lang/String;)V");
	(void)trace_add(&trace, "a.b.Shop", "sell", "(I)I");
	tell_frames();
	args = result = out = (struct buf)BUF_INIT;
	text = (struct trace_text){ 0 };
	call = (struct trace_call){
		.when_ns = UINT64_C(1751371245123456789),
		.ns = 1240000,
		.thread_id = 41,
		.thread = text_of("main"),
		.has_args = true,
	};
}

static void teardown(void)
{
	trace_release(&trace);
	buf_release(&args);
	buf_release(&result);
	buf_release(&out);
}

/* The call with the values that stand in args and result, which are empty then. */
static void put_values(void)
{
	call.args = text_in(&args);
	call.result = text_in(&result);
	buf_reset(&out);
}

static void line_is(const char *expected)
{
	put_values();
	trace_text_add(&text, &out, &trace, &call);
	ck_assert_str_eq(buf_str(&out), expected);
	buf_reset(&args);
	buf_reset(&result);
}

static void object_is(const char *expected)
{
	struct json *json;

	put_values();
	trace_json_add(&out, &trace, &call);
	ck_assert_str_eq(buf_str(&out), expected);
	json = json_parse(buf_str(&out), out.len - 1);
	ck_assert_ptr_nonnull(json);
	json_free(json);
	buf_reset(&args);
	buf_reset(&result);
}

static void put_order(void)
{
	put_narrow(&args, 'I', 7);
	put_string(&args, "tea", 3);
	put_narrow(&result, 'Z', 1);
}

static void put_thrown(const char *message)
{
	call.threw = true;
	put_class(&result, 't', "Ljava/io/IOException;");
	if (message)
		put_string(&result, message, (uint32_t)strlen(message));
	else
		buf_addc(&result, 'N');
}

START_TEST(a_call_is_a_line)
{
	put_order();
	line_is("14:00:45.123  main  1.24 ms  a.b.Shop.order(7, \"tea\") = true\n");
	put_order();
	call.thread = text_of("http-8080");
	call.ns = 800;
	line_is("14:00:45.123  http-8080   800 ns  a.b.Shop.order(7, \"tea\") = true\n");
	call.thread = text_of("");
	call.is_void = true;
	call.method = PAY;
	line_is("14:00:45.123  #41         800 ns  a.b.Shop.pay()\n");
}
END_TEST

START_TEST(exceptions)
{
	put_narrow(&args, 'I', 7);
	buf_addc(&args, '-');
	put_thrown("no\nmore");
	line_is("14:00:45.123  main  1.24 ms  a.b.Shop.order(7, ...) ! "
		"java.io.IOException: no\\nmore\n");
	call.method = PAY;
	put_thrown(NULL);
	line_is("14:00:45.123  main  1.24 ms  a.b.Shop.pay() ! java.io.IOException\n");
	line_is("14:00:45.123  main  1.24 ms  a.b.Shop.pay() ! java.lang.Throwable\n");
}
END_TEST

START_TEST(without_values)
{
	call.has_args = false;
	line_is("14:00:45.123  main  1.24 ms  a.b.Shop.order(...)\n");
	call.method = SELL;
	line_is("14:00:45.123  main  1.24 ms  a.b.Shop.sell(int[], java.lang.String)\n");
}
END_TEST

START_TEST(overloads_tell_types)
{
	call.method = SELL;
	put_array(&args, "[I", 2, 1);
	put_narrow(&args, 'I', 5);
	buf_addc(&args, 'N');
	line_is("14:00:45.123  main  1.24 ms  "
		"a.b.Shop.sell(int[] [5, ... 2 in all], String null)\n");
	call.method = SELL_INT;
	put_narrow(&args, 'I', 5);
	put_narrow(&args, 'I', 6); /* one more than there are */
	put_narrow(&result, 'I', 7);
	line_is("14:00:45.123  main  1.24 ms  a.b.Shop.sell(int 5, 6) = 7\n");
}
END_TEST

/* Nor does what makes no sense. */
START_TEST(nothing_breaks_a_line)
{
	call.thread = text_of("a\x1b[2J\nb\xff");
	buf_adds(&args, "x");
	buf_adds(&result, "I");
	call.frames = stack;
	call.n_frames = 2;
	line_is("14:00:45.123  a\\x1B[2J\\x0Ab\\xFF  1.24 ms  a.b.Shop.order(...) = ...\n"
		"    at a.b.Shop.order(Shop.java:10)\n"
		"    at a.b.Shop.ru\\x0An(Shop.java:20)\n");
}
END_TEST

#define HEAD                                                                       \
	"{\"time\":\"2025-07-01T12:00:45.123456Z\",\"thread\":\"main\",\"thread_id\":41," \
	"\"method\":\"a.b.Shop."

START_TEST(a_call_is_an_object)
{
	put_order();
	object_is(HEAD "order\",\"nanos\":1240000,\"args\":[7,\"tea\"],\"returned\":\"value\","
		       "\"result\":true,\"exception\":null,\"cut\":false,\"stack\":null}\n");
	call.method = PAY;
	call.is_void = true;
	call.frames = stack;
	call.n_frames = 2;
	object_is(HEAD "pay\",\"nanos\":1240000,\"args\":[],\"returned\":\"void\","
		       "\"result\":null,\"exception\":null,\"cut\":false,\"stack\":"
		       "[\"a.b.Shop.order(Shop.java:10)\",\"a.b.Shop.ru\\nn(Shop.java:20)\"]}\n");
}
END_TEST

START_TEST(an_exception_is_never_null)
{
	put_thrown("no\nmore");
	object_is(HEAD "order\",\"nanos\":1240000,\"args\":[],\"returned\":\"exception\","
		       "\"result\":null,\"exception\":\"java.io.IOException: no\\nmore\","
		       "\"cut\":false,\"stack\":null}\n");
	buf_addc(&result, '-');
	object_is(HEAD "order\",\"nanos\":1240000,\"args\":[],\"returned\":\"exception\","
		       "\"result\":null,\"exception\":\"java.lang.Throwable\","
		       "\"cut\":true,\"stack\":null}\n");
}
END_TEST

START_TEST(what_was_not_told_is_null)
{
	call.has_args = false;
	object_is(HEAD "order\",\"nanos\":1240000,\"args\":null,\"returned\":null,"
		       "\"result\":null,\"exception\":null,\"cut\":false,\"stack\":null}\n");
	call.has_args = true;
	buf_addc(&result, 'N');
	object_is(HEAD "order\",\"nanos\":1240000,\"args\":[],\"returned\":\"value\","
		       "\"result\":null,\"exception\":null,\"cut\":false,\"stack\":null}\n");
}
END_TEST

/* args is what stands between the brackets. */
static void values_are(const char *expected, bool cut)
{
	_cleanup_free_ char *whole = xasprintf(
		HEAD "order\",\"nanos\":1240000,\"args\":[%s],\"returned\":null,\"result\":null,"
		     "\"exception\":null,\"cut\":%s,\"stack\":null}\n",
		expected, cut ? "true" : "false");

	object_is(whole);
}

START_TEST(values_are_json)
{
	put_wide(&args, 'J', 1ull << 63);
	put_narrow(&args, 'Z', 0);
	put_narrow(&args, 'C', 'x');
	put_narrow(&args, 'F', 0x3dcccccd);
	put_wide(&args, 'D', UINT64_C(0x3fb999999999999a));
	put_narrow(&args, 'F', 0x7fc00000);
	put_wide(&args, 'D', UINT64_C(0xfff0000000000000));
	values_are("-9223372036854775808,false,\"x\",0.1,0.1,\"NaN\",\"-Infinity\"", false);
	buf_addc(&args, 'N');
	put_class(&args, 'e', "LTea;");
	put_string(&args, "GREEN", 5);
	put_object(&args, "La/B;", 0x1f2e);
	put_array(&args, "[Ljava/lang/String;", 2, 2);
	put_string(&args, "a", 1);
	buf_addc(&args, 'N');
	values_are("null,\"GREEN\",\"a.B@1f2e\",{\"class\":\"java.lang.String[]\",\"length\":2,"
		   "\"elements\":[\"a\",null]}",
		   false);
}
END_TEST

START_TEST(cut_values_are_said_to_be_cut)
{
	put_string(&args, "te", 3);
	values_are("\"te\"", true);
	put_array(&args, "[I", 3, 0);
	values_are("{\"class\":\"int[]\",\"length\":3,\"elements\":[]}", true);
	put_array(&args, "[Ljava/lang/String;", 1, 1);
	put_string(&args, "te", 3);
	values_are("{\"class\":\"java.lang.String[]\",\"length\":1,\"elements\":[\"te\"]}", true);
	put_narrow(&args, 'I', 1);
	buf_addc(&args, '-');
	values_are("1", true);
	buf_adds(&args, "x");
	values_are("", true);
}
END_TEST

static void state_is(uint64_t calls, uint64_t too_many, uint64_t no_room, const char *expected)
{
	const struct trace_state state = { calls, too_many, no_room, 0 };

	buf_reset(&out);
	trace_text_state(&out, &state);
	ck_assert_str_eq(buf_str(&out), expected);
}

START_TEST(state)
{
	state_is(0, 0, 0, "0 calls");
	state_is(1, 0, 0, "1 call");
	state_is(1204, 7, 0, "1,204 calls, 7 of them passed over: 7 beyond the rate");
	state_is(1204, 0, 5, "1,204 calls, 5 of them passed over: 5 for lack of room");
	state_is(1204, 1000, 5, "1,204 calls, 1,005 of them passed over: 1,000 beyond the rate, "
				"5 for lack of room");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace_shown");
	TCase *c = tcase_create("trace_shown");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_call_is_a_line);
	tcase_add_test(c, exceptions);
	tcase_add_test(c, without_values);
	tcase_add_test(c, overloads_tell_types);
	tcase_add_test(c, nothing_breaks_a_line);
	tcase_add_test(c, a_call_is_an_object);
	tcase_add_test(c, an_exception_is_never_null);
	tcase_add_test(c, what_was_not_told_is_null);
	tcase_add_test(c, values_are_json);
	tcase_add_test(c, cut_values_are_said_to_be_cut);
	tcase_add_test(c, state);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
