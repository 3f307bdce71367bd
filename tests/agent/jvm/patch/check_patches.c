/*
 * REDEFINE, RESTORE and PATCHES in a fake JVM with another agent: all classes are replaced or none,
 * the changes of both agents are preserved when a call fails, and nothing is left in the JVM when
 * all is restored.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/fake/jvm_transform.h"
#include "agent/fake/peer.h"
#include "cmd/command.h"
#include "jvm/patch/patch_table.h"
#include "jvm/patch/patches.h"
#include "jvm/class_index.h"

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_chan chan;
static struct ag_class_index class_index;
static jclass listed[N_CLASSES];
static struct peer client;

static void setup(void)
{
	fake_transform_start();
	mem = (struct ag_mem){ .budget = 1 << 20 };
	jvm = (struct ag_jvm){
		.vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem,
		.class_index = &class_index,
	};
	for (int i = 0; i < N_CLASSES; i++)
		listed[i] = fake_class(i);
	class_index.classes = (struct ag_classes){ listed, N_CLASSES };
	peer_open(&client, &chan, &mem);
}

/* Reads the agent's next frame into `payload`.  Returns its type, or 0 if there is none. */
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

/* Returns 0, the JVMTI error of the request, or -1 if the request could not be tried. */
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
	ck_assert_int_eq(fake.counts.frames, 0);
	if (rc != 0) {
		ck_assert(jvm.err.what || jvm.stopping);
		return -1;
	}
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	ck_assert_uint_ne(hear(payload), 0);
	r = wire_reader_init(payload, 8);
	rc = wire_get_i32(&r);
	*n = wire_get_u32(&r);
	return rc;
}

/* Sends the frames of one patch: the class file of the class with this number. */
static void send_patch(uint32_t number, const char *file, const char *bytes)
{
	uint8_t data[1000];
	struct wire_writer w = wire_writer_init(data, sizeof(data));

	wire_put_u32(&w, number);
	wire_put_text(&w, file, strlen(file));
	wire_put_text(&w, "digest", 6);
	wire_put_u32(&w, (uint32_t)strlen(bytes));
	peer_send(client.fd, WIRE_PATCH, &w);
	w = wire_writer_init(data, sizeof(data));
	wire_put_text(&w, bytes, strlen(bytes));
	peer_send(client.fd, WIRE_BYTES, &w);
}

/* Replaces the classes with these numbers in one request by class files with these bytes. */
static int redefine_classes(const uint32_t *numbers, uint32_t n, const char *bytes,
			    uint32_t *others)
{
	uint8_t first[4], data[100];
	struct wire_writer request = wire_writer_init(first, sizeof(first));
	int rc;

	wire_put_u32(&request, n);
	for (uint32_t i = 0; i < n; i++)
		send_patch(numbers[i], "file", bytes);
	rc = answer(ag_cmd_redefine, &request, others);
	/* If the command did not read the complete request, the channel is broken. */
	while (recv(chan.fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		ck_assert(chan.broken);
	if (rc != 0)
		chan.broken = false;
	return rc;
}

/* Replaces the first n classes. */
static int redefine(uint32_t n, const char *bytes, uint32_t *others)
{
	static const uint32_t numbers[] = { 0, 1, 2 };

	ck_assert_uint_le(n, sizeof(numbers) / sizeof(numbers[0]));
	return redefine_classes(numbers, n, bytes, others);
}

static int restore(uint32_t *n)
{
	uint8_t data[4];
	struct wire_writer request = wire_writer_init(data, sizeof(data));

	wire_put_u32(&request, 0);
	return answer(ag_cmd_restore, &request, n);
}

/* Returns the number of patches; -1: the request failed. */
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

/* Patches leave only two raw monitors and the environment of these monitors. */
static void nothing_is_left(void)
{
	const struct ag_patches *p = ag_patches();

	ck_assert(!fake.exception);
	ck_assert_int_eq(fake.counts.frames, 0);
	ck_assert_int_eq(fake.counts.globals, 0);
	ck_assert_int_eq(fake.locks, 0);
	ck_assert_int_eq(fake.counts.weak, 0);
	ck_assert_int_eq(fake.counts.tags, 0);
	ck_assert_int_eq(fake.counts.blocks, 0);
	ck_assert_int_eq(fake.counts.references, N_CLASSES);
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

START_TEST(classes_are_replaced_and_restored)
{
	uint32_t n;

	fake_transform.drops_cache = _i;
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

/* Other frames fill the buffer, so that each row waits for the client. */
START_TEST(rows_are_sent_without_a_lock)
{
	const size_t full = AG_CHAN_PAYLOAD / 2; /* bytes that are sent before a row is added */
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

START_TEST(long_file_name_is_cut)
{
	uint8_t data[4], payload[1000] = { 0 };
	struct wire_writer request = wire_writer_init(data, sizeof(data));
	struct wire_reader r = wire_reader_init(payload, 0);
	char name[AG_PATCH_TEXT + 2];
	uint32_t n;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	wire_put_u32(&request, 1);
	send_patch(0, name + _i, "second"); /* of 513, 512, 511 or 510 bytes */
	ck_assert_int_eq(answer(ag_cmd_redefine, &request, &n), 0);
	ck_assert_int_eq(ag_cmd_patches(&jvm, &chan, &r), 0);
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	ck_assert_uint_eq(hear(payload), WIRE_PATCH_ROW);
	r = wire_reader_init(payload, sizeof(payload));
	(void)wire_get_u64(&r); /* id */
	(void)wire_get_u64(&r); /* time */
	(void)wire_get_u32(&r); /* loader */
	(void)wire_get_text(&r); /* signature */
	ck_assert_uint_eq(wire_get_text(&r).len, AG_PATCH_TEXT - (_i < 3 ? 1 : 2));
	ck_assert_uint_eq(wire_get_text(&r).len, 6);
	ck_assert_uint_eq(hear(payload), WIRE_PATCHES_END);
	all_is_put_back("first", "first");
}
END_TEST

START_TEST(all_classes_are_replaced_or_none)
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

START_TEST(changes_of_an_earlier_agent_are_preserved)
{
	uint32_t n;

	fake_transform.drops_cache = _i;
	fake_other_starts();
	fake_other_retransforms(0);
	runs("first+", "first");
	ck_assert_int_eq(redefine(1, "second", &n), 0);
	ck_assert_uint_eq(n, 1);
	runs("second+", "first");
	fake_other_retransforms(0);
	ck_assert_ptr_null(fake.thread); /* the hook received no new bytes */

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

START_TEST(changes_of_a_later_agent_are_preserved)
{
	uint32_t n;

	fake_transform.drops_cache = _i;
	ck_assert_int_eq(redefine(1, "second", &n), 0);
	fake_other_starts();
	fake_other_retransforms(0);
	runs("second+", "first");
	fake_other_works(false);
	fake_other_retransforms(0);
	runs("second", "first");
	fake_other_works(true);
	fake_other_retransforms(0);
	ck_assert_int_eq(redefine(1, "third", &n), 0);
	runs("third+", "first");
	ck_assert_ptr_null(fake.thread); /* the bytes that the hook receives are unchanged */
	fake_other_ends();
	fake_other_retransforms(0);
	runs("third", "first");
	all_is_put_back("first", "first");
}
END_TEST

static void other_retransforms(void)
{
	fake_transform.before_install = NULL;
	fake_other_retransforms(0);
}

/* The other agent receives the old code, and installs it before the patch is installed. */
START_TEST(concurrent_retransformation_is_repeated)
{
	uint32_t n;

	fake_other_starts();
	fake_transform.before_install = other_retransforms;
	ck_assert_int_eq(redefine(1, "second", &n), 0);
	runs("second+", "first");
	ck_assert_uint_eq(fake_transform.retransformations, 3); /* other agent, patch, patch */
	fake_transform.before_install = other_retransforms;
	ck_assert_int_eq(restore(&n), 0);
	runs("first+", "first");
	ck_assert_uint_eq(fake_transform.retransformations, 6);
	fake_run_thread();
	nothing_is_left();
}
END_TEST

/* The fake JVM rejects a second thread of the agent. */
START_TEST(one_thread_installs_all_stale_patches)
{
	uint32_t n;

	fake_other_starts();
	ck_assert_int_eq(redefine(2, "second", &n), 0);
	runs("second+", "second+");
	fake_other_works(false);
	fake_other_retransforms(0);
	ck_assert_ptr_nonnull(fake.thread);
	fake_other_retransforms(1);
	fake_run_thread();
	runs("second", "second");
	all_is_put_back("first", "first");
}
END_TEST

START_TEST(patch_of_an_unloaded_class_is_removed)
{
	uint32_t n;

	ck_assert_int_eq(redefine(2, "second", &n), 0);
	fake_unload(0);
	ck_assert_int_eq(patches(), 1);
	ck_assert_int_eq(redefine(0, "none", &n), 0);
	ck_assert_int_eq(fake.counts.weak, 1);
	fake_unload(1);
	ck_assert_int_eq(restore(&n), 0);
	ck_assert_uint_eq(n, 0);
	nothing_is_left();
}
END_TEST

START_TEST(invalid_requests_are_rejected)
{
	uint8_t data[64];
	struct wire_writer w = wire_writer_init(data, sizeof(data));
	uint32_t n;

	wire_put_u32(&w, 7); /* ids are missing */
	ck_assert_int_eq(answer(ag_cmd_restore, &w, &n), -1);
	w = wire_writer_init(data, sizeof(data));
	wire_put_u32(&w, UINT32_MAX);
	ck_assert_int_eq(answer(ag_cmd_restore, &w, &n), -1);
	w = wire_writer_init(data, sizeof(data));
	wire_put_u32(&w, 99); /* no such class */
	wire_put_text(&w, "", 0);
	wire_put_text(&w, "", 0);
	wire_put_u32(&w, 0);
	peer_send(client.fd, WIRE_PATCH, &w);
	w = wire_writer_init(data, sizeof(data));
	wire_put_u32(&w, 1);
	ck_assert_int_eq(answer(ag_cmd_redefine, &w, &n), -1);
	ck_assert(!chan.broken); /* the request's frames were all read */
	peer_send(client.fd, WIRE_RESTORE, &w); /* where a PATCH frame is due */
	ck_assert_int_eq(answer(ag_cmd_redefine, &w, &n), -1);
	ck_assert(chan.broken);
	runs("first", "first");
}
END_TEST

/* The second patch of the class would free the first one while the request still uses it. */
START_TEST(class_that_is_given_twice_is_rejected)
{
	static const uint32_t twice[] = { 0, 1, 0 };
	uint32_t n;

	ck_assert_int_eq(redefine_classes(twice, 3, "second", &n), -1);
	ck_assert_str_eq(jvm.err.why, "a class is given twice");
	ck_assert(!chan.broken);
	runs("first", "first");
	nothing_is_left();
	ck_assert_int_eq(redefine(2, "second", &n), 0);
	all_is_put_back("first", "first");
}
END_TEST

/* No local reference can be made of the weak reference to the class with the number _i. */
START_TEST(no_class_is_replaced_if_one_has_no_reference)
{
	struct ag_patched patched = { .n_others = 77 };
	struct ag_new_patch new = { .class = listed[0], .len = 6 };
	uint32_t n;

	fake.weak_fails_at = (unsigned)_i + 1;
	ck_assert_int_eq(redefine(3, "second", &n), JVMTI_ERROR_OUT_OF_MEMORY);
	ck_assert_uint_eq(fake.weak_fails_at, 0);
	fake.weak_fails_at = 1;
	new.bytes = ag_alloc(&mem, new.len, 1);
	memcpy(new.bytes, "second", new.len);
	ck_assert_int_eq(ag_patches_install(&jvm, &new, 1, &patched), 0);
	ag_free(&mem, new.bytes);
	ck_assert_int_eq(patched.code, JVMTI_ERROR_OUT_OF_MEMORY);
	ck_assert_uint_eq(patched.n_others, 0);
	ck_assert_int_eq(patches(), 0);
	runs("first", "first");
	nothing_is_left();
}
END_TEST

/* Lets one call fail, with two classes and another agent.  Returns true after the last call. */
static bool one_call_fails(unsigned fail_at)
{
	int first, second, third;
	unsigned calls;
	uint32_t n;

	fake_other_starts();
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

/*
 * Lets the JVM shut down at a call while another thread retransforms the class.  Checks that no
 * memory is freed that the hook can still find.  Returns true after the last call.
 */
static bool jvm_shuts_down(unsigned fail_at)
{
	const struct ag_patches *p;
	uint32_t n;

	fake_other_starts();
	fake_transform.before_install = other_retransforms;
	fake.calls = 0;
	fake.fail_at = fail_at;
	fake.leaving = true;
	(void)redefine(1, "second", &n);
	p = ag_patches();
	ck_assert(!p || !p->list || p->mem.blocks > 0);
	return fake.calls < fail_at;
}

/* Runs each call in a process of its own: some objects are allocated once per process. */
static int for_each_call(bool (*fails)(unsigned fail_at))
{
	int status = 0, n = 0;

	do {
		pid_t pid;

		ck_assert_int_lt(n++, 2000);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			_exit(fails((unsigned)n) ? 77 : 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFEXITED(status), "call %d", n);
		ck_assert_msg(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77, "call %d", n);
	} while (WEXITSTATUS(status) != 77);
	return n;
}

START_TEST(each_call_may_fail)
{
	ck_assert_int_gt(for_each_call(one_call_fails), 150);
}
END_TEST

START_TEST(linked_patches_are_not_freed_when_the_jvm_shuts_down)
{
	ck_assert_int_gt(for_each_call(jvm_shuts_down), 30);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/patch/patches");
	TCase *c = tcase_create("patches");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, classes_are_replaced_and_restored, 0, 2);
	tcase_add_test(c, rows_are_sent_without_a_lock);
	tcase_add_loop_test(c, long_file_name_is_cut, 0, 4);
	tcase_add_test(c, all_classes_are_replaced_or_none);
	tcase_add_loop_test(c, changes_of_an_earlier_agent_are_preserved, 0, 2);
	tcase_add_loop_test(c, changes_of_a_later_agent_are_preserved, 0, 2);
	tcase_add_test(c, concurrent_retransformation_is_repeated);
	tcase_add_test(c, one_thread_installs_all_stale_patches);
	tcase_add_test(c, patch_of_an_unloaded_class_is_removed);
	tcase_add_test(c, invalid_requests_are_rejected);
	tcase_add_test(c, class_that_is_given_twice_is_rejected);
	tcase_add_loop_test(c, no_class_is_replaced_if_one_has_no_reference, 0, 3);
	tcase_add_test(c, each_call_may_fail);
	tcase_add_test(c, linked_patches_are_not_freed_when_the_jvm_shuts_down);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
