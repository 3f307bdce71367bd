/* Which libraries the JVM is asked to load, with a JVM that answers as a test wants. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "session/agent_load.h"

#define MAPPED "/tmp/jtool-agent-mapped.so"
#define STAGED "/tmp/jtool-agent-staged.so"

static const struct jvm jvm = { .pid = 1, .nspid = 1 };
static struct loaded_agent mapped = { .path = (char *)MAPPED, .this_build = true };
static struct loaded_agents images;

/* The JVM's answers to the requests, in this order, and what was requested. */
static struct {
	enum exit_code error; /* EXIT_DONE: the JVM answers with `code` */
	int code;
} answers[2];
static const char *files[2];
static unsigned n_requests;

static int confirm(void *arg, struct err *err)
{
	(void)arg;
	(void)err;
	return 0;
}

int __wrap_attach_execute(const struct jvm *target, const struct attach_opts *opts,
			  const struct attach_request *req, struct attach_reply *reply,
			  struct err *err);
int __wrap_attach_execute(const struct jvm *target, const struct attach_opts *opts,
			  const struct attach_request *req, struct attach_reply *reply,
			  struct err *err)
{
	unsigned i = n_requests++;

	(void)target;
	ck_assert(opts->confirm == confirm && opts->confirm_arg == &images);
	ck_assert_uint_lt(i, 2);
	ck_assert_str_eq(req->op, "load");
	files[i] = req->args[0];
	if (answers[i].error != EXIT_DONE)
		return err_set(err, answers[i].error, "failure %u", i);
	*reply = (struct attach_reply){ answers[i].code, SPOOL_INIT };
	return answers[i].code == 0 ? spool_add(&reply->output, "return code: 0\n", 15) : 0;
}

static void setup(void)
{
	images = (struct loaded_agents){ .list = &mapped, .n = 1 };
	memset(answers, 0, sizeof(answers));
	n_requests = 0;
}

static int load(struct err *err)
{
	const struct attach_opts opts = {
		.timeout_ms = 1000, .confirm = confirm, .confirm_arg = &images
	};
	const struct agent_load request = {
		.socket_path = "/tmp/s", .token = "t", .remedy = "restart the JVM",
	};

	*err = (struct err){ .code = EXIT_DONE };
	return agent_load_own(&jvm, &opts, &images, STAGED, request, err);
}

START_TEST(mapped_agent_is_loaded_by_its_path)
{
	struct err err;

	ck_assert_int_eq(load(&err), 0);
	ck_assert_uint_eq(n_requests, 1);
	ck_assert_str_eq(files[0], MAPPED);
}
END_TEST

START_TEST(staged_agent_is_loaded_if_none_is_mapped)
{
	struct err err;

	images.n = 0;
	ck_assert_int_eq(load(&err), 0);
	ck_assert_uint_eq(n_requests, 1);
	ck_assert_str_eq(files[0], STAGED);
}
END_TEST

START_TEST(staged_agent_is_loaded_on_musl)
{
	struct err err;

	images.musl = true;
	ck_assert_int_eq(load(&err), 0);
	ck_assert_uint_eq(n_requests, 1);
	ck_assert_str_eq(files[0], STAGED);
}
END_TEST

START_TEST(staged_agent_is_loaded_if_the_jvm_refuses_the_mapped_one)
{
	struct err err;

	answers[0].code = -1;
	ck_assert_int_eq(load(&err), 0);
	ck_assert_uint_eq(n_requests, 2);
	ck_assert_str_eq(files[1], STAGED);
}
END_TEST

START_TEST(error_is_that_of_the_staged_agent_if_both_are_refused)
{
	struct err err;

	answers[0].code = -1;
	answers[1].error = EXIT_PARTIAL;
	ck_assert_int_eq(load(&err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_str_eq(err.text, "failure 1");
}
END_TEST

/* The JVM may still load the library, so a second request could make it load two. */
START_TEST(agent_is_requested_once_if_the_jvm_does_not_answer)
{
	static const enum exit_code codes[] = { EXIT_ATTACH, EXIT_PARTIAL, EXIT_PERMISSION };
	struct err err;

	answers[0].error = codes[_i];
	ck_assert_int_eq(load(&err), -1);
	ck_assert_uint_eq(n_requests, 1);
	ck_assert_int_eq(err.code, codes[_i]);
	ck_assert_str_eq(err.text, "failure 0");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session/agent_load");
	TCase *tc = tcase_create("load");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, mapped_agent_is_loaded_by_its_path);
	tcase_add_test(tc, staged_agent_is_loaded_if_none_is_mapped);
	tcase_add_test(tc, staged_agent_is_loaded_on_musl);
	tcase_add_test(tc, staged_agent_is_loaded_if_the_jvm_refuses_the_mapped_one);
	tcase_add_test(tc, error_is_that_of_the_staged_agent_if_both_are_refused);
	tcase_add_loop_test(tc, agent_is_requested_once_if_the_jvm_does_not_answer, 0, 3);
	suite_add_tcase(s, tc);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
