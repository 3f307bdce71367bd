#include <check.h>
#include <string.h>
#include <time.h>

#include "base/xalloc.h"
#include "render/json.h"
#include "render/profile/trace_call.h"
#include "unit/support/sample_trace.h"

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

static void add_frames(void)
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
	add_frames();
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

/* Gives the call the values in `args` and `result`, and empties the output. */
static void put_values(void)
{
	call.args = text_in(&args);
	call.result = text_in(&result);
	buf_reset(&out);
}

static void assert_line(const char *expected)
{
	put_values();
	trace_text_add(&text, &out, &trace, &call);
	ck_assert_str_eq(buf_str(&out), expected);
	buf_reset(&args);
	buf_reset(&result);
}

static void assert_object(const char *expected)
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

START_TEST(call_is_one_line)
{
	put_order();
	assert_line("14:00:45.123  main  1.24 ms  a.b.Shop.order(7, \"tea\") = true\n");
	put_order();
	call.thread = text_of("http-8080");
	call.ns = 800;
	assert_line("14:00:45.123  http-8080   800 ns  a.b.Shop.order(7, \"tea\") = true\n");
	call.thread = text_of("");
	call.is_void = true;
	call.method = PAY;
	assert_line("14:00:45.123  #41         800 ns  a.b.Shop.pay()\n");
}
END_TEST

START_TEST(exceptions_follow_an_exclamation_mark)
{
	put_narrow(&args, 'I', 7);
	buf_addc(&args, '-');
	put_thrown("no\nmore");
	assert_line("14:00:45.123  main  1.24 ms  a.b.Shop.order(7, ...) ! "
		    "java.io.IOException: no\\nmore\n");
	call.method = PAY;
	put_thrown(NULL);
	assert_line("14:00:45.123  main  1.24 ms  a.b.Shop.pay() ! java.io.IOException\n");
	assert_line("14:00:45.123  main  1.24 ms  a.b.Shop.pay() ! java.lang.Throwable\n");
}
END_TEST

START_TEST(calls_without_values_show_types_or_dots)
{
	call.has_args = false;
	assert_line("14:00:45.123  main  1.24 ms  a.b.Shop.order(...)\n");
	call.method = SELL;
	assert_line("14:00:45.123  main  1.24 ms  a.b.Shop.sell(int[], java.lang.String)\n");
}
END_TEST

START_TEST(overloaded_methods_show_parameter_types)
{
	call.method = SELL;
	put_array(&args, "[I", 2, 1);
	put_narrow(&args, 'I', 5);
	buf_addc(&args, 'N');
	assert_line("14:00:45.123  main  1.24 ms  "
		    "a.b.Shop.sell(int[] [5, ... 2 in all], String null)\n");
	call.method = SELL_INT;
	put_narrow(&args, 'I', 5);
	put_narrow(&args, 'I', 6); /* one more than the method has parameters */
	put_narrow(&result, 'I', 7);
	assert_line("14:00:45.123  main  1.24 ms  a.b.Shop.sell(int 5, 6) = 7\n");
}
END_TEST

/* The thread name has control characters, and the values are malformed. */
START_TEST(hostile_texts_do_not_break_the_line)
{
	call.thread = text_of("a\x1b[2J\nb\xff");
	buf_adds(&args, "x");
	buf_adds(&result, "I");
	call.frames = stack;
	call.n_frames = 2;
	assert_line("14:00:45.123  a\\x1B[2J\\x0Ab\\xFF  1.24 ms  a.b.Shop.order(...) = ...\n"
		    "    at a.b.Shop.order(Shop.java:10)\n"
		    "    at a.b.Shop.ru\\x0An(Shop.java:20)\n");
}
END_TEST

#define HEAD                                                                       \
	"{\"schema\":1," \
	"\"time\":\"2025-07-01T12:00:45.123456Z\",\"thread\":\"main\",\"thread_id\":41," \
	"\"method\":\"a.b.Shop."

START_TEST(call_is_one_json_object)
{
	put_order();
	assert_object(HEAD "order\",\"nanos\":1240000,\"args\":[7,\"tea\"],\"returned\":\"value\","
		       "\"result\":true,\"exception\":null,\"cut\":false,\"stack\":null}\n");
	call.method = PAY;
	call.is_void = true;
	call.frames = stack;
	call.n_frames = 2;
	assert_object(HEAD "pay\",\"nanos\":1240000,\"args\":[],\"returned\":\"void\","
		       "\"result\":null,\"exception\":null,\"cut\":false,\"stack\":"
		       "[\"a.b.Shop.order(Shop.java:10)\",\"a.b.Shop.ru\\nn(Shop.java:20)\"]}\n");
}
END_TEST

START_TEST(exception_is_never_null_in_json)
{
	put_thrown("no\nmore");
	assert_object(HEAD "order\",\"nanos\":1240000,\"args\":[],\"returned\":\"exception\","
		       "\"result\":null,\"exception\":\"java.io.IOException: no\\nmore\","
		       "\"cut\":false,\"stack\":null}\n");
	buf_addc(&result, '-');
	assert_object(HEAD "order\",\"nanos\":1240000,\"args\":[],\"returned\":\"exception\","
		       "\"result\":null,\"exception\":\"java.lang.Throwable\","
		       "\"cut\":true,\"stack\":null}\n");
}
END_TEST

START_TEST(values_that_were_not_sent_are_null_in_json)
{
	call.has_args = false;
	assert_object(HEAD "order\",\"nanos\":1240000,\"args\":null,\"returned\":null,"
		       "\"result\":null,\"exception\":null,\"cut\":false,\"stack\":null}\n");
	call.has_args = true;
	buf_addc(&result, 'N');
	assert_object(HEAD "order\",\"nanos\":1240000,\"args\":[],\"returned\":\"value\","
		       "\"result\":null,\"exception\":null,\"cut\":false,\"stack\":null}\n");
}
END_TEST

/* Compares the arguments in JSON, and whether they are marked as cut. */
static void check_args(const char *expected, bool cut)
{
	_cleanup_free_ char *complete_object = xasprintf(
		HEAD "order\",\"nanos\":1240000,\"args\":[%s],\"returned\":null,\"result\":null,"
		     "\"exception\":null,\"cut\":%s,\"stack\":null}\n",
		expected, cut ? "true" : "false");

	assert_object(complete_object);
}

START_TEST(values_are_printed_as_json)
{
	put_wide(&args, 'J', 1ull << 63);
	put_narrow(&args, 'Z', 0);
	put_narrow(&args, 'C', 'x');
	put_narrow(&args, 'F', 0x3dcccccd);
	put_wide(&args, 'D', UINT64_C(0x3fb999999999999a));
	put_narrow(&args, 'F', 0x7fc00000);
	put_wide(&args, 'D', UINT64_C(0xfff0000000000000));
	check_args("-9223372036854775808,false,\"x\",0.1,0.1,\"NaN\",\"-Infinity\"", false);
	buf_addc(&args, 'N');
	put_class(&args, 'e', "LTea;");
	put_string(&args, "GREEN", 5);
	put_object(&args, "La/B;", 0x1f2e);
	put_array(&args, "[Ljava/lang/String;", 2, 2);
	put_string(&args, "a", 1);
	buf_addc(&args, 'N');
	check_args("null,\"GREEN\",\"a.B@1f2e\",{\"class\":\"java.lang.String[]\",\"length\":2,"
		   "\"elements\":[\"a\",null]}",
		   false);
}
END_TEST

START_TEST(truncated_values_are_marked_in_json)
{
	put_string(&args, "te", 3);
	check_args("\"te\"", true);
	put_array(&args, "[I", 3, 0);
	check_args("{\"class\":\"int[]\",\"length\":3,\"elements\":[]}", true);
	put_array(&args, "[Ljava/lang/String;", 1, 1);
	put_string(&args, "te", 3);
	check_args("{\"class\":\"java.lang.String[]\",\"length\":1,\"elements\":[\"te\"]}", true);
	put_narrow(&args, 'I', 1);
	buf_addc(&args, '-');
	check_args("1", true);
	buf_adds(&args, "x");
	check_args("", true);
}
END_TEST

static void check_state(uint64_t calls, uint64_t too_many, uint64_t no_room, const char *expected)
{
	const struct trace_state state = { calls, too_many, no_room, 0 };

	buf_reset(&out);
	trace_text_state(&out, &state);
	ck_assert_str_eq(buf_str(&out), expected);
}

START_TEST(state_counts_calls_and_skipped_calls)
{
	check_state(0, 0, 0, "0 calls");
	check_state(1, 0, 0, "1 call");
	check_state(1204, 7, 0, "1,204 calls, 7 of them skipped: 7 above the rate limit");
	check_state(1204, 0, 5, "1,204 calls, 5 of them skipped: 5 for lack of buffer space");
	check_state(1204, 1000, 5,
		    "1,204 calls, 1,005 of them skipped: 1,000 above the rate limit, "
		    "5 for lack of buffer space");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/profile/trace_call");
	TCase *c = tcase_create("render/profile/trace_call");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, call_is_one_line);
	tcase_add_test(c, exceptions_follow_an_exclamation_mark);
	tcase_add_test(c, calls_without_values_show_types_or_dots);
	tcase_add_test(c, overloaded_methods_show_parameter_types);
	tcase_add_test(c, hostile_texts_do_not_break_the_line);
	tcase_add_test(c, call_is_one_json_object);
	tcase_add_test(c, exception_is_never_null_in_json);
	tcase_add_test(c, values_that_were_not_sent_are_null_in_json);
	tcase_add_test(c, values_are_printed_as_json);
	tcase_add_test(c, truncated_values_are_marked_in_json);
	tcase_add_test(c, state_counts_calls_and_skipped_calls);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
