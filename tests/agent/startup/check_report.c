/* The report of a recording, to the letter, and whatever fails as it is written. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/fake_profile.h"
#include "agent/fake_transform.h"
#include "report.h"
#include "wire/frame.h"

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_report report;
static char directory[] = "/tmp/check_report.XXXXXX";
static char path[100];

static void setup(void)
{
	fake = (struct fake_transform){ 0 };
	fake_profile = (struct fake_profile){ .sites = 3 };
	mem = (struct ag_mem){ .budget = AG_REPORT_MEMORY };
	jvm = (struct ag_jvm){ .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(), .mem = &mem };
	ck_assert_ptr_nonnull(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/out", directory);
	report = (struct ag_report){
		.path = path, .wanted = { .depth = 64, .age = 2, .flags = WIRE_ALLOC_LIVE },
	};
}

static void nothing_is_left(void)
{
	ag_report_release(&jvm, &report);
	ck_assert_int_eq(fake.blocks, 0);
	ck_assert_uint_eq(mem.blocks, 0);
	(void)unlink(path);
	ck_assert_int_eq(rmdir(directory), 0);
}

static const char *read_report(void)
{
	static char text[10000];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	return text;
}

#define HEADER(mode, live) \
	"# jtool allocations 1\n# version 9.9\n# pid 12\n# mode " mode "# depth 64\n" live \
	"# begin 0.000\n# seconds 0.000\n# samples 3\n# bytes 4\n# dropped 5\n" \
	"# collections 7\n# classes 8 9\n# paused 0.000\n"
#define SAMPLED "sampled\n# interval 6\n" \
	"# estimator a sample stands for 1/p objects, p = 1 - exp(-size/interval)\n"
#define COLUMNS "# OBJECTS BYTES SAMPLES LIVE_OBJECTS LIVE_BYTES CLASS\n"
#define STACK "\tat p.A.run(Unknown Source)\n" \
	"\tat p.B.<init>(Native Method)\n\tat (unloaded).?(Unknown Source)\n"

START_TEST(to_the_letter)
{
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ag_report_learn(&jvm, &report, INT64_MAX);
	ck_assert_uint_eq(report.next_site, 3);
	ck_assert_ptr_null(ag_report_write(&jvm, &report, 12, true));
	ck_assert_str_eq(read_report(), HEADER(SAMPLED, "# live 2\n")
			 "# note 3 5 \n# sites 3 3\n" COLUMNS
			 "3 48 1 1 16 int[]\n" STACK
			 "2 32 1 1 16 p.A\n" STACK
			 "1 16 1 1 16 int[]\n" STACK
			 "# end 3\n");
	nothing_is_left();
}
END_TEST

/* What is live was wanted, and is not known; of the sites two are wanted. */
START_TEST(not_live)
{
	report.wanted.flags |= WIRE_ALLOC_EXACT;
	report.sites = 2;
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ag_report_learn(&jvm, &report, INT64_MAX);
	(void)ag_fail(&jvm, "count", "no\nheap");
	ck_assert_ptr_null(ag_report_write(&jvm, &report, 12, false));
	ck_assert_str_eq(read_report(), HEADER("exact\n", "")
			 "# note 4 0 no?heap\n# note 3 5 \n# sites 2 3\n" COLUMNS
			 "3 48 1 - - int[]\n" STACK
			 "2 32 1 - - p.A\n" STACK
			 "# end 2\n");
	nothing_is_left();
}
END_TEST

/* Names that there was no time for are not known. */
START_TEST(in_time)
{
	fake_profile.sites = 1;
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ag_report_learn(&jvm, &report, 0);
	ck_assert_uint_eq(report.next_site, 0);
	ck_assert_ptr_null(ag_report_write(&jvm, &report, 12, true));
	ck_assert_ptr_nonnull(strstr(read_report(), ".?(Unknown Source)\n# end 1\n"));
	nothing_is_left();
}
END_TEST

/* The largest first, whatever order they came in; what is equal as it came. */
START_TEST(many)
{
	const char *at;
	unsigned long last = 100000, n = 0;

	fake_profile.sites = 57;
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ck_assert_ptr_null(ag_report_write(&jvm, &report, 12, true));
	at = strstr(read_report(), COLUMNS) + strlen(COLUMNS);
	for (; *at >= '0' && *at <= '9'; n++) {
		unsigned long objects = strtoul(at, NULL, 10);

		ck_assert_uint_lt(objects, last);
		last = objects;
		do {
			at = strchr(at, '\n') + 1;
		} while (*at == '\t');
	}
	ck_assert_uint_eq(n, 57);
	ck_assert_str_eq(at, "# end 57\n");
	nothing_is_left();
}
END_TEST

/* Each call of the JVM, and each allocation. */
START_TEST(everything_fails)
{
	const char *why = "no memory";

	fake.fail_at = (unsigned)_i + 1;
	if (ag_report_init(&jvm, &report) == 0) {
		ag_report_learn(&jvm, &report, INT64_MAX);
		why = ag_report_write(&jvm, &report, 12, true);
	}
	if (why)
		ck_assert_str_eq(why, "no memory");
	else
		ck_assert_ptr_nonnull(strstr(read_report(), "\n# end 3\n"));
	ck_assert(!fake.exception);
	if (_i == 49)
		ck_assert_uint_lt(fake.calls, 50); /* that was all of them */
	nothing_is_left();
}
END_TEST

START_TEST(there_is_no_place)
{
	ck_assert_ptr_null(ag_report_try(path, 12));
	ck_assert_int_ne(access(path, F_OK), 0);
	report.path = "/nonexistent/out";
	ck_assert_str_eq(ag_report_try(report.path, 12), "there is no such directory");
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ck_assert_str_eq(ag_report_write(&jvm, &report, 12, true), "there is no such directory");
	nothing_is_left();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/report");
	TCase *tc = tcase_create("report");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, to_the_letter);
	tcase_add_test(tc, not_live);
	tcase_add_test(tc, in_time);
	tcase_add_test(tc, many);
	tcase_add_loop_test(tc, everything_fails, 0, 50);
	tcase_add_test(tc, there_is_no_place);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
