/*
 * REDEFINE, RESTORE and PATCHES in a JVM with another agent in it: all classes or none, each old
 * or new and never anything else, both agents' changes kept, whatever call fails, and nothing
 * left behind when all is put back.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/fake_transform.h"
#include "agent/peer.h"
#include "cmd/cmd.h"
#include "jvm/patch_table.h"
#include "jvm/patches.h"
#include "jvm/roster.h"

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_chan chan;
static struct ag_roster roster;
static jclass listed[N_CLASSES];
static struct peer client;

static void setup(void)
{
	fake = (struct fake_transform){ 0 };
	mem = (struct ag_mem){ .budget = 1 << 20 };
	jvm = (struct ag_jvm){
		.vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(), .mem = &mem, .roster = &roster,
	};
	for (int i = 0; i < N_CLASSES; i++)
		listed[i] = fake_class(i);
	roster.classes = (struct ag_classes){ listed, N_CLASSES };
	peer_comes(&client, &chan, &mem);
}

/* What the agent says next, into `payload`; 0: nothing. */
static uint16_t hear(uint8_t payload[static 1000])
{
	uint8_t raw[WIRE_HEADER_LEN];
	struct wire_header header;

	if (recv(client.fd, raw, sizeof(raw), MSG_DONTWAIT) != sizeof(raw))
		return 0;
	ck_assert(wire_header_read(raw, &header));
	ck_assert_uint_lt(header.len, 1000);
	if (header.len > 0)
		ck_assert_int_eq(recv(client.fd, payload, header.len, 0), header.len);
	return header.type;
}

/* 0: done; a JVMTI error; -1: it could not be tried. */
static int answer(ag_cmd_fn *run, const struct wire_writer *request, uint32_t *n)
{
	struct wire_reader r = wire_reader_init(request->data, request->len);
	uint8_t payload[1000];
	int rc;

	jvm.err = (struct ag_error){ 0 };
	rc = run(&jvm, &chan, &r);
	ag_free(&mem, chan.in);
	chan.in = NULL;
	ck_assert(!fake.exception);
	ck_assert_int_eq(fake.frames, 0);
	if (rc != 0) {
		ck_assert_ptr_nonnull(jvm.err.what);
		return -1;
	}
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	ck_assert_uint_ne(hear(payload), 0);
	r = wire_reader_init(payload, 8);
	rc = wire_get_i32(&r);
	*n = wire_get_u32(&r);
	return rc;
}

/* Replace the first n classes, in one go, by class files with these bytes. */
static int redefine(uint32_t n, const char *bytes, uint32_t *others)
{
	uint8_t first[4], data[100];
	struct wire_writer request = wire_writer_init(first, sizeof(first)), w;
	int rc;

	wire_put_u32(&request, n);
	for (uint32_t i = 0; i < n; i++) {
		w = wire_writer_init(data, sizeof(data));
		wire_put_u32(&w, i);
		wire_put_text(&w, "file", 4);
		wire_put_text(&w, "digest", 6);
		wire_put_u32(&w, (uint32_t)strlen(bytes));
		peer_says(client.fd, WIRE_PATCH, &w);
		w = wire_writer_init(data, sizeof(data));
		wire_put_text(&w, bytes, strlen(bytes));
		peer_says(client.fd, WIRE_BYTES, &w);
	}
	rc = answer(ag_cmd_redefine, &request, others);
	/* Whatever came of it, all of the request was read; or the session ends for another. */
	while (recv(chan.fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		ck_assert(chan.broken);
	if (rc != 0)
		chan.broken = false;
	return rc;
}

static int restore(uint32_t *n)
{
	uint8_t data[4];
	struct wire_writer request = wire_writer_init(data, sizeof(data));

	wire_put_u32(&request, 0);
	return answer(ag_cmd_restore, &request, n);
}

/* How many there are; -1: it could not be told. */
static int patches(void)
{
	uint8_t payload[1000] = { 0 };
	struct wire_reader r = wire_reader_init(payload, 0);
	uint16_t type;
	int n = 0;

	jvm.err = (struct ag_error){ 0 };
	if (ag_cmd_patches(&jvm, &chan, &r) != 0) {
		(void)ag_chan_flush(&chan);
		while (hear(payload) != 0)
			;
		return -1;
	}
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	while ((type = hear(payload)) == WIRE_PATCH_ROW)
		n++;
	ck_assert_uint_eq(type, WIRE_PATCHES_END);
	return n;
}

static void runs(const char *first, const char *second)
{
	ck_assert_msg(strcmp(fake_running(0), first) == 0 && strcmp(fake_running(1), second) == 0,
		      "'%s' and '%s' run, not '%s' and '%s'; the call that fails is %u",
		      fake_running(0), fake_running(1), first, second, fake.fail_at);
}

/* Of all that patches take nothing is left but two locks and the environment to use them by. */
static void nothing_is_left(void)
{
	const struct ag_patches *p = ag_patches();

	ck_assert_int_eq(fake.weak, 0);
	ck_assert_int_eq(fake.tags, 0);
	ck_assert_int_eq(fake.blocks, 0);
	ck_assert_int_eq(fake.references, N_CLASSES);
	ck_assert_uint_eq(mem.blocks, 1); /* the channel's */
	if (!p)
		return;
	ck_assert_uint_eq(p->mem.blocks, 0);
	ck_assert_ptr_null(p->hook);
	ck_assert_ptr_null(p->list);
}

static void all_is_put_back(const char *first, const char *second)
{
	uint32_t n;

	ck_assert_int_eq(restore(&n), 0);
	ck_assert_int_eq(patches(), 0);
	runs(first, second);
	nothing_is_left();
}

START_TEST(replaced_and_put_back)
{
	uint32_t n;

	fake.drops_cache = _i;
	ck_assert_int_eq(patches(), 0);
	ck_assert_int_eq(redefine(2, "second", &n), 0);
	ck_assert_uint_eq(n, 0);
	runs("second", "second");
	ck_assert_int_eq(patches(), 2);
	ck_assert(ag_patches_has(listed[0]));
	ck_assert(!ag_patches_has(listed[2]));
	ck_assert_int_eq(redefine(1, "third", &n), 0);
	runs("third", "second");
	ck_assert_int_eq(patches(), 2);
	ck_assert_int_eq(restore(&n), 0);
	ck_assert_uint_eq(n, 2);
	all_is_put_back("first", "first");
	ck_assert_ptr_null(fake.thread);
}
END_TEST

/* So much else is to be sent that each row has to wait for the client. */
START_TEST(nobody_waits_for_the_client)
{
	const size_t full = AG_CHAN_PAYLOAD / 2; /* it is sent before more is put behind it */
	struct wire_reader r = wire_reader_init("", 0);
	uint8_t *before = malloc(full);
	uint32_t n;

	ck_assert_int_eq(redefine(2, "second", &n), 0);
	chan.out_len = full;
	ck_assert_int_eq(ag_cmd_patches(&jvm, &chan, &r), 0);
	ck_assert_uint_lt(chan.out_len, full);
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	ck_assert_int_eq(recv(client.fd, before, full, MSG_WAITALL), full);
	free(before);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(hear((uint8_t[1000]){ 0 }),
				  i < 2 ? WIRE_PATCH_ROW : WIRE_PATCHES_END);
	all_is_put_back("first", "first");
}
END_TEST

START_TEST(all_or_none)
{
	uint32_t n;

	ck_assert_int_eq(redefine(3, "second", &n), JVMTI_ERROR_UNMODIFIABLE_CLASS);
	runs("first", "first");
	ck_assert_int_eq(redefine(2, "bad", &n), JVMTI_ERROR_FAILS_VERIFICATION);
	runs("first", "first");
	nothing_is_left();
	ck_assert_int_eq(redefine(1, "second", &n), 0);
	ck_assert_int_eq(redefine(2, "bad", &n), JVMTI_ERROR_FAILS_VERIFICATION);
	runs("second", "first");
	ck_assert_int_eq(patches(), 1);
	all_is_put_back("first", "first");
}
END_TEST

START_TEST(another_agent_came_before)
{
	uint32_t n;

	fake.drops_cache = _i;
	fake_other_comes();
	fake_other_retransforms(0);
	runs("first+", "first");
	ck_assert_int_eq(redefine(1, "second", &n), 0);
	ck_assert_uint_eq(n, 1);
	runs("second+", "first");
	fake_other_retransforms(0);
	ck_assert_ptr_null(fake.thread); /* nothing new */

	fake_other_works(false);
	fake_other_retransforms(0);
	fake_run_thread();
	runs("second", "first");
	fake_other_works(true);
	fake_other_retransforms(0);
	fake_run_thread();
	runs("second+", "first");
	fake_other_retransforms(0);
	ck_assert_ptr_null(fake.thread);
	all_is_put_back("first+", "first");
	fake_other_works(false);
	fake_other_retransforms(0);
	runs("first", "first");
}
END_TEST

START_TEST(another_agent_came_after)
{
	uint32_t n;

	fake.drops_cache = _i;
	ck_assert_int_eq(redefine(1, "second", &n), 0);
	fake_other_comes();
	fake_other_retransforms(0);
	runs("second+", "first");
	fake_other_works(false);
	fake_other_retransforms(0);
	runs("second", "first");
	fake_other_works(true);
	fake_other_retransforms(0);
	ck_assert_int_eq(redefine(1, "third", &n), 0);
	runs("third+", "first");
	ck_assert_ptr_null(fake.thread); /* what comes in is what it was */
	fake_other_goes();
	fake_other_retransforms(0);
	runs("third", "first");
	all_is_put_back("first", "first");
}
END_TEST

static void other_retransforms(void)
{
	fake.meanwhile = NULL;
	fake_other_retransforms(0);
}

/* It gets the old code, and installs it before we do ours, or after that: here, before. */
START_TEST(another_agent_comes_meanwhile)
{
	uint32_t n;

	fake_other_comes();
	fake.meanwhile = other_retransforms;
	ck_assert_int_eq(redefine(1, "second", &n), 0);
	runs("second+", "first");
	ck_assert_uint_eq(fake.retransformations, 3); /* theirs, ours, and ours once more */
	fake.meanwhile = other_retransforms;
	ck_assert_int_eq(restore(&n), 0);
	runs("first+", "first");
	ck_assert_uint_eq(fake.retransformations, 6);
	fake_run_thread();
	nothing_is_left();
}
END_TEST

START_TEST(a_class_is_unloaded)
{
	uint32_t n;

	ck_assert_int_eq(redefine(2, "second", &n), 0);
	fake_unload(0);
	ck_assert_int_eq(patches(), 1);
	ck_assert_int_eq(redefine(0, "none", &n), 0);
	ck_assert_int_eq(fake.weak, 1);
	fake_unload(1);
	ck_assert_int_eq(restore(&n), 0);
	ck_assert_uint_eq(n, 0);
	nothing_is_left();
}
END_TEST

START_TEST(requests_that_make_no_sense)
{
	uint8_t data[64];
	struct wire_writer w = wire_writer_init(data, sizeof(data));
	uint32_t n;

	wire_put_u32(&w, 7); /* ids that are not there */
	ck_assert_int_eq(answer(ag_cmd_restore, &w, &n), -1);
	w = wire_writer_init(data, sizeof(data));
	wire_put_u32(&w, UINT32_MAX);
	ck_assert_int_eq(answer(ag_cmd_restore, &w, &n), -1);
	w = wire_writer_init(data, sizeof(data));
	wire_put_u32(&w, 99); /* no such class */
	wire_put_text(&w, "", 0);
	wire_put_text(&w, "", 0);
	wire_put_u32(&w, 0);
	peer_says(client.fd, WIRE_PATCH, &w);
	w = wire_writer_init(data, sizeof(data));
	wire_put_u32(&w, 1);
	ck_assert_int_eq(answer(ag_cmd_redefine, &w, &n), -1);
	ck_assert(!chan.broken); /* what belongs to it was read, and the next one is one */
	peer_says(client.fd, WIRE_RESTORE, &w); /* where a patch is to come */
	ck_assert_int_eq(answer(ag_cmd_redefine, &w, &n), -1);
	ck_assert(chan.broken);
	runs("first", "first");
}
END_TEST

/* Two classes with the other agent before us; one call fails.  True when all were made. */
static bool one_call_fails(unsigned fail_at)
{
	int first, second, third;
	unsigned calls;
	uint32_t n;

	fake_other_comes();
	fake_other_retransforms(0);
	fake.calls = 0;
	fake.fail_at = fail_at;
	first = redefine(2, "second", &n);
	runs(first ? "first+" : "second+", first ? "first" : "second+");
	second = patches();
	ck_assert(second == -1 || second == (first ? 0 : 2));
	third = redefine(2, "third", &n);
	if (third == 0)
		runs("third+", "third+");
	else
		runs(first ? "first+" : "second+", first ? "first" : "second+");
	fake_other_works(false);
	fake_other_retransforms(0);
	fake_run_thread();
	fake_other_works(true);
	fake_other_retransforms(0);
	fake_run_thread();
	if (restore(&n) == 0)
		ck_assert_str_eq(fake_running(1), "first+");
	calls = fake.calls;
	fake.fail_at = 0;
	fake_run_thread();
	ck_assert_int_eq(restore(&n), 0);
	fake_other_retransforms(0);
	fake_other_retransforms(1);
	runs("first+", "first+");
	nothing_is_left();
	return calls < fail_at;
}

/* Each in a process of its own, for some things are made once in a library's life. */
START_TEST(any_call_may_fail)
{
	int status = 0, n = 0;

	do {
		pid_t pid;

		ck_assert_int_lt(n++, 2000);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			_exit(one_call_fails((unsigned)n) ? 77 : 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFEXITED(status), "call %d", n);
		ck_assert_msg(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77, "call %d", n);
	} while (WEXITSTATUS(status) != 77);
	ck_assert_int_gt(n, 150);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/patches");
	TCase *c = tcase_create("patches");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, replaced_and_put_back, 0, 2);
	tcase_add_test(c, nobody_waits_for_the_client);
	tcase_add_test(c, all_or_none);
	tcase_add_loop_test(c, another_agent_came_before, 0, 2);
	tcase_add_loop_test(c, another_agent_came_after, 0, 2);
	tcase_add_test(c, another_agent_comes_meanwhile);
	tcase_add_test(c, a_class_is_unloaded);
	tcase_add_test(c, requests_that_make_no_sense);
	tcase_add_test(c, any_call_may_fail);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
