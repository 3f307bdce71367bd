/*
 * CODE in a fake JVM: all code is sent, new code on other threads is not, and nothing is left in
 * the JVM when a call fails.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake/jvm_parts.h"
#include "agent/fake/peer.h"
#include "cmd/command.h"
#include "jvm/code_map.h"

#define MANY 4000      /* stubs that take several blocks of memory and several frames */
#define TOO_MANY 40000 /* stubs that take more than a megabyte */
#define ROWS_MAX 8

static struct fake_object shop = { .signature = "Lp/Shop;" };
static struct fake_object handle = { .signature = "Ljava/lang/invoke/MethodHandle;" };
static struct fake_object gone = { .signature = "Lp/Gone;" };
static const struct fake_method sell = { .class = &shop, .name = "sell", .descriptor = "(I)V" };
static const struct fake_method buy = { .class = &shop, .name = "buy", .descriptor = "()J" };
static const struct fake_method link = { .class = &handle, .name = "linkToStatic",
					 .descriptor = "()V" };
static const struct fake_method type = { .class = &handle, .name = "type", .descriptor = "()I" };
static struct fake_method dead = { .class = &gone, .name = "f", .descriptor = "()V",
				   .unloaded = true };

static struct {
	unsigned many; /* stubs that the JVM has in addition */
	unsigned replays;
} jvm;

/* What the client has received. */
static struct {
	struct {
		uint64_t address;
		uint32_t size;
		char text[64]; /* "CLASS NAME DESCRIPTOR" */
	} rows[ROWS_MAX];
	uint32_t n, n_end, unloaded;
	unsigned ends;
} seen;

static struct peer client;

static void *at(uintptr_t address)
{
	return (void *)address;
}

static jmethodID id_of(const struct fake_method *method)
{
	return (jmethodID)(uintptr_t)method;
}

static void load(struct fake_environment *e, const struct fake_method *method, uintptr_t address,
		 jint locations)
{
	e->callbacks.CompiledMethodLoad((jvmtiEnv *)e, id_of(method), 0x40, at(address), locations,
					NULL, NULL);
}

static void generate(struct fake_environment *e, const char *name, uintptr_t address, jint size)
{
	e->callbacks.DynamicCodeGenerated((jvmtiEnv *)e, name, at(address), size);
}

static void replay_methods(struct fake_environment *e)
{
	ck_assert(e->capabilities.can_generate_compiled_method_load_events);
	load(e, &sell, 0x1000, 3);
	load(e, &dead, 0x1100, 1);
	fake.other_thread = 1;
	load(e, &buy, 0x1200, 1);
	fake.other_thread = 0;
	load(e, &buy, 0x1300, 0);
	load(e, &link, 0x1400, 0);
	load(e, &type, 0x1500, 1);
}

static void replay_stubs(struct fake_environment *e)
{
	generate(e, "Interpreter", 0x7fffffff0000, 0x20000);
	fake.other_thread = 1;
	generate(e, "vtable stub", 0x2000, 0x10);
	fake.other_thread = 0;
	generate(e, NULL, 0x3000, -1);
	for (unsigned i = 0; i < jvm.many; i++)
		generate(e, "I2C/C2I adapters", 0x10000 + 0x10 * (uintptr_t)i, 0x10);
}

/* At most one event is enabled, and only in the environment that is replayed. */
static jvmtiError JNICALL generate_events(jvmtiEnv *ti, jvmtiEvent event)
{
	struct fake_environment *e = fake_environment(ti);

	ck_assert_ptr_ne(ti, fake_ti());
	ck_assert(fake_enabled(e, event));
	ck_assert_uint_eq(e->events & (e->events - 1), 0);
	ck_assert_uint_eq(fake_environment(fake_ti())->events, 0);
	FAKE_TI_FAILS();
	jvm.replays++;
	if (event == JVMTI_EVENT_COMPILED_METHOD_LOAD)
		replay_methods(e);
	else
		replay_stubs(e);
	return JVMTI_ERROR_NONE;
}

static void start(void)
{
	fake_add_objects();
	fake_add_classes();
	fake_add_environments();
	fake_ti_table.GenerateEvents = generate_events;
	fake = (struct fake_jvm){ .release = 1 };
	memset(&jvm, 0, sizeof(jvm));
	memset(&seen, 0, sizeof(seen));
	(void)fake_ti();
	fake_mark();
}

static void add_text(char *out, size_t size, struct wire_text text, const char *end)
{
	size_t len = strlen(out);

	ck_assert_uint_lt(len + text.len + strlen(end), size);
	memcpy(out + len, text.data, text.len);
	memcpy(out + len + text.len, end, strlen(end) + 1);
}

static void take_row(struct wire_reader *r)
{
	uint64_t address = wire_get_u64(r);
	uint32_t size = wire_get_u32(r);
	char text[64] = "";

	add_text(text, sizeof(text), wire_get_text(r), " ");
	add_text(text, sizeof(text), wire_get_text(r), " ");
	add_text(text, sizeof(text), wire_get_text(r), "");
	if (seen.n < ROWS_MAX) {
		seen.rows[seen.n].address = address;
		seen.rows[seen.n].size = size;
		memcpy(seen.rows[seen.n].text, text, sizeof(text));
	}
	seen.n++;
}

static void take(uint16_t type_of_frame, struct wire_reader *r)
{
	if (type_of_frame == WIRE_CODE_END) {
		seen.n_end = wire_get_u32(r);
		seen.unloaded = wire_get_u32(r);
		seen.ends++;
		return;
	}
	ck_assert_uint_eq(type_of_frame, WIRE_CODE_ROWS);
	for (uint32_t n = wire_get_u32(r); n > 0; n--)
		take_row(r);
}

/* Runs one request with this budget of memory.  Returns what the handler returns. */
static int run(size_t budget)
{
	struct ag_mem mem = { .budget = budget };
	struct ag_jvm agent = { .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
	struct wire_reader request = wire_reader_init(NULL, 0);
	struct ag_chan chan;
	int rc;

	peer_open(&client, &chan, &mem);
	client.n_unread = 0;
	fake.in_agent = true;
	rc = ag_cmd_code(&agent, &chan, &request);
	fake.in_agent = false;
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	ck_assert(rc == 0 || agent.err.what);
	peer_receive(&client, take);
	peer_close(&client);
	ag_chan_release(&chan);
	ag_chan_close(&chan);
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert(!fake_has_capabilities(fake_environment(fake_ti())));
	ck_assert_uint_eq(fake_environment(fake_ti())->events, 0);
	fake_nothing_left();
	return rc;
}

static void is_row(uint32_t i, uint64_t address, uint32_t size, const char *text)
{
	ck_assert_uint_eq(seen.rows[i].address, address);
	ck_assert_uint_eq(seen.rows[i].size, size);
	ck_assert_str_eq(seen.rows[i].text, text);
}

START_TEST(all_code_is_sent)
{
	ck_assert_int_eq(run(1 << 20), 0);
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(seen.n, 6);
	ck_assert_uint_eq(seen.n_end, 6);
	ck_assert_uint_eq(seen.unloaded, 1);
	is_row(0, 0x7fffffff0000, 0x20000, " Interpreter ");
	is_row(1, 0x3000, 0, "  ");
	is_row(2, 0x1000, 0x40, "Lp/Shop; sell (I)V");
	is_row(3, 0x1300, 0x40, "Lp/Shop; buy ()J");
	is_row(4, 0x1400, 0x40, " method handle intrinsic ");
	is_row(5, 0x1500, 0x40, "Ljava/lang/invoke/MethodHandle; type ()I");
}
END_TEST

START_TEST(much_code_is_sent_in_several_frames)
{
	jvm.many = MANY;
	ck_assert_int_eq(run((size_t)8 << 20), 0);
	ck_assert_uint_eq(seen.n, 6 + MANY);
	ck_assert_uint_eq(seen.n_end, seen.n);
}
END_TEST

/* An incomplete map is not sent. */
START_TEST(too_little_memory_is_an_error)
{
	jvm.many = TOO_MANY;
	ck_assert_int_eq(run((size_t)1 << 20), -1);
	ck_assert_uint_eq(seen.n, 0);
	ck_assert_uint_eq(seen.ends, 0);
}
END_TEST

/* Runs one request for each call that may fail; in this request, the call fails. */
static void fail_every_call(bool leaving)
{
	unsigned n = 0, n_errors = 0;

	do {
		int rc;

		start();
		fake.fail_at = ++n;
		fake.leaving = leaving;
		rc = run(1 << 20);
		n_errors += rc != 0;
		/* No code is left out without an error. */
		ck_assert_msg(seen.n_end == (rc == 0 ? 6 : 0), "call %u", n);
	} while (fake.calls >= n);
	ck_assert_uint_gt(n, 20);
	ck_assert_uint_gt(n_errors, 15);
}

START_TEST(each_call_may_fail)
{
	fail_every_call(false);
}
END_TEST

START_TEST(the_jvm_may_exit_at_each_call)
{
	fail_every_call(true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/cmd/code");
	TCase *c = tcase_create("code");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(c, start, NULL);
	tcase_add_test(c, all_code_is_sent);
	tcase_add_test(c, much_code_is_sent_in_several_frames);
	tcase_add_test(c, too_little_memory_is_an_error);
	tcase_add_test(c, each_call_may_fail);
	tcase_add_test(c, the_jvm_may_exit_at_each_call);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
