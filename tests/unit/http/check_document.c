#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fileio/io.h"
#include "http/document.h"


static int write_text(void *arg, FILE *out, struct err *err)
{
	(void)err;
	return fputs(arg, out) < 0 ? -1 : 0;
}

static int refuse(void *arg, FILE *out, struct err *err)
{
	(void)arg;
	(void)out;
	return err_set(err, EXIT_PERMISSION, "no /proc");
}

static int crash(void *arg, FILE *out, struct err *err)
{
	(void)arg;
	(void)out;
	(void)err;
	(void)signal(SIGTERM, SIG_DFL);
	return raise(SIGTERM);
}

static int hang(void *arg, FILE *out, struct err *err)
{
	(void)arg;
	(void)out;
	(void)err;
	return pause();
}

static int write_much(void *arg, FILE *out, struct err *err)
{
	(void)err;
	(void)signal(SIGXFSZ, SIG_IGN); /* as main() does */
	for (int i = 0; i <= DOCUMENT_MAX / 1024; i++)
		(void)fprintf(out, "%1024s", (const char *)arg);
	return 0;
}

/* Runs a job to its end.  Returns its document, or NULL with err set. */
static struct document *run(document_write *write, void *arg, unsigned ms, struct err *err)
{
	struct document_job job = DOCUMENT_JOB_INIT;
	struct document *doc;

	ck_assert_int_eq(document_begin(&job, write, arg, ms, err), 0);
	(void)!io_wait(job.sock, POLLIN, job.deadline); /* document_end() sees a timeout */
	doc = document_end(&job, err);
	ck_assert_int_eq(job.sock, -1);
	ck_assert_int_eq(job.fd, -1);
	return doc;
}

START_TEST(document_is_what_the_child_writes)
{
	struct err err = { .code = EXIT_DONE };
	struct document *doc = run(write_text, (char *)"metrics\n", 10000, &err);
	char text[16];

	ck_assert_ptr_nonnull(doc);
	ck_assert_int_eq(doc->len, 8);
	ck_assert_int_eq(pread(doc->fd, text, sizeof(text), 0), 8);
	ck_assert_int_eq(memcmp(text, "metrics\n", 8), 0);
	document_unref(document_ref(doc));
	ck_assert_int_eq(doc->refs, 1);
	document_unref(doc);
}
END_TEST

START_TEST(failures_of_the_child_are_errors)
{
	static const struct {
		document_write *write;
		unsigned ms;
		const char *text;
	} cases[] = {
		{ refuse, 10000, "no /proc" },
		{ crash, 10000, "was killed by signal 15" },
		{ hang, 50, "not read in time" },
		{ write_much, 60000, "cannot store the metrics in memory: File too large" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { .code = EXIT_DONE };

		ck_assert_ptr_null(run(cases[i].write, (char *)"x", cases[i].ms, &err));
		ck_assert_msg(strstr(err.text, cases[i].text) != NULL, "%s", err.text);
	}
}
END_TEST

START_TEST(document_can_begin_after_one_that_took_too_long)
{
	struct document_job job = DOCUMENT_JOB_INIT;
	struct err err = { .code = EXIT_DONE };

	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(document_begin(&job, hang, NULL, 1, &err), 0);
		(void)poll(NULL, 0, 2);
		ck_assert_ptr_null(document_end(&job, &err));
	}
}
END_TEST

/* Starts a process that does not end, and writes its pid. */
static int leave_orphan(void *arg, FILE *out, struct err *err)
{
	pid_t pid = fork();

	(void)arg;
	(void)err;
	if (pid == 0) {
		closefrom(STDERR_FILENO + 1); /* the socket, whose end of file ends the job */
		(void)pause();
	}
	return pid > 0 && fprintf(out, "%d", (int)pid) > 0 ? 0 : -1;
}

START_TEST(orphans_of_children_are_reaped)
{
	struct document_job job = DOCUMENT_JOB_INIT;
	struct err err = { .code = EXIT_DONE };
	struct document *doc;
	char pid[16] = "";

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert(!document_reap_orphans(&job));
	doc = run(leave_orphan, NULL, 10000, &err);
	ck_assert_ptr_nonnull(doc);
	ck_assert_int_gt(pread(doc->fd, pid, sizeof(pid) - 1, 0), 0);
	document_unref(doc);
	ck_assert(document_reap_orphans(&job));
	ck_assert_int_eq(kill((pid_t)strtol(pid, NULL, 10), SIGKILL), 0);
	while (document_reap_orphans(&job))
		(void)poll(NULL, 0, 1);
}
END_TEST

/* If it kept the pid, document_cancel() would kill another process that gets the pid. */
START_TEST(child_that_was_given_up_and_is_reaped_with_orphans_is_forgotten)
{
	struct document_job job = DOCUMENT_JOB_INIT;

	job.pid = fork();
	if (job.pid == 0)
		_exit(0);
	ck_assert_int_gt(job.pid, 0);
	while (document_reap_orphans(&job))
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(job.pid, 0);
	document_cancel(&job);
}
END_TEST

START_TEST(cancelled_job_leaves_nothing_open)
{
	struct document_job job = DOCUMENT_JOB_INIT;
	struct err err = { .code = EXIT_DONE };
	int before = dup(0);

	ck_assert_int_eq(close(before), 0);
	ck_assert_int_eq(document_begin(&job, hang, NULL, 10000, &err), 0);
	document_cancel(&job);
	ck_assert_int_eq(dup(0), before);
	document_cancel(&job); /* no effect */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("http/document");
	TCase *tc = tcase_create("http/document");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, document_is_what_the_child_writes);
	tcase_add_test(tc, failures_of_the_child_are_errors);
	tcase_add_test(tc, document_can_begin_after_one_that_took_too_long);
	tcase_add_test(tc, orphans_of_children_are_reaped);
	tcase_add_test(tc, child_that_was_given_up_and_is_reaped_with_orphans_is_forgotten);
	tcase_add_test(tc, cancelled_job_leaves_nothing_open);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
