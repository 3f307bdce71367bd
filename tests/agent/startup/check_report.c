/* The report of a recording: its exact text, and failures of each call that writes it. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/fake/fake_profile.h"
#include "agent/fake/jvm_transform.h"
#include "startup/report.h"
#include "wire/frame.h"

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_report report;
static char directory[] = "/tmp/check_report.XXXXXX";
static char path[100];

/* What write() does, beginning with the first call; afterwards it works. */
enum writing { WORKS, IS_INTERRUPTED, WRITES_ONE_BYTE, WRITES_NOTHING, FAILS };
static enum writing writing[4];
static size_t n_writes;

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	enum writing now = n_writes < 4 ? writing[n_writes] : WORKS;

	n_writes++;
	errno = now == IS_INTERRUPTED ? EINTR : EFBIG;
	if (now == IS_INTERRUPTED || now == FAILS)
		return -1;
	if (now == WRITES_NOTHING)
		return 0;
	return __real_write(fd, data, now == WRITES_ONE_BYTE ? 1 : len);
}

static void setup(void)
{
	fake_transform_start();
	fake_profile = (struct fake_profile){ .sites = 3 };
	mem = (struct ag_mem){ .budget = AG_REPORT_MEMORY };
	jvm = (struct ag_jvm){ .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
	fake_mark();
	ck_assert_ptr_nonnull(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/out", directory);
	report = (struct ag_report){
		.path = path, .wanted = { .depth = 64, .age = 2, .flags = WIRE_ALLOC_LIVE },
	};
}

static void nothing_is_left(void)
{
	ag_report_release(&jvm, &report);
	fake_nothing_left();
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert_uint_eq(mem.bytes, 0);
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

START_TEST(report_has_its_format)
{
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ag_report_resolve(&jvm, &report, INT64_MAX);
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

/* Live objects were requested, but could not be counted; only two of the sites are requested. */
START_TEST(live_counts_may_be_unknown)
{
	report.wanted.flags |= WIRE_ALLOC_EXACT;
	report.sites = 2;
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ag_report_resolve(&jvm, &report, INT64_MAX);
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

/* Names that were not looked up in time are unknown. */
START_TEST(names_are_looked_up_until_the_deadline)
{
	fake_profile.sites = 1;
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ag_report_resolve(&jvm, &report, 0);
	ck_assert_uint_eq(report.next_site, 0);
	ck_assert_ptr_null(ag_report_write(&jvm, &report, 12, true));
	ck_assert_ptr_nonnull(strstr(read_report(), ".?(Unknown Source)\n# end 1\n"));
	nothing_is_left();
}
END_TEST

/* The largest site is first; equal ones remain in their order. */
START_TEST(largest_sites_are_first)
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

/* Each JVM call and each allocation fails in turn. */
START_TEST(each_call_may_fail)
{
	const char *why = "no memory";

	fake.fail_at = (unsigned)_i + 1;
	if (ag_report_init(&jvm, &report) == 0) {
		ag_report_resolve(&jvm, &report, INT64_MAX);
		why = ag_report_write(&jvm, &report, 12, true);
	}
	if (why)
		ck_assert_str_eq(why, "no memory");
	else
		ck_assert_ptr_nonnull(strstr(read_report(), "\n# end 3\n"));
	ck_assert(!fake.exception);
	if (_i == 49)
		ck_assert_uint_lt(fake.calls, 50); /* 50 is enough for all calls */
	nothing_is_left();
}
END_TEST

START_TEST(interrupted_writes_are_completed)
{
	writing[0] = IS_INTERRUPTED;
	writing[1] = WRITES_ONE_BYTE;
	writing[2] = IS_INTERRUPTED;
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ag_report_resolve(&jvm, &report, INT64_MAX);
	ck_assert_ptr_null(ag_report_write(&jvm, &report, 12, true));
	ck_assert_uint_eq(n_writes, 4);
	ck_assert_int_eq(strncmp(read_report(), "# jtool allocations 1\n", 22), 0);
	ck_assert_ptr_nonnull(strstr(read_report(), "\n# end 3\n"));
	nothing_is_left();
}
END_TEST

/* The temporary file is removed; a file system that is full may write nothing without an error. */
START_TEST(failed_writes_are_reported)
{
	static const char *const whys[] = { "no space left on device", "file too large" };

	writing[0] = WRITES_ONE_BYTE;
	writing[1] = _i == 0 ? WRITES_NOTHING : FAILS;
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ck_assert_str_eq(ag_report_write(&jvm, &report, 12, true), whys[_i]);
	ck_assert_uint_eq(n_writes, 2);
	nothing_is_left();
}
END_TEST

START_TEST(missing_directory_is_reported)
{
	ck_assert_ptr_null(ag_report_try(path, 12));
	ck_assert_int_ne(access(path, F_OK), 0);
	report.path = "/nonexistent/out";
	ck_assert_str_eq(ag_report_try(report.path, 12), "no such directory");
	ck_assert_int_eq(ag_report_init(&jvm, &report), 0);
	ck_assert_str_eq(ag_report_write(&jvm, &report, 12, true), "no such directory");
	nothing_is_left();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/startup/report");
	TCase *tc = tcase_create("report");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, report_has_its_format);
	tcase_add_test(tc, live_counts_may_be_unknown);
	tcase_add_test(tc, names_are_looked_up_until_the_deadline);
	tcase_add_test(tc, largest_sites_are_first);
	tcase_add_loop_test(tc, each_call_may_fail, 0, 50);
	tcase_add_test(tc, interrupted_writes_are_completed);
	tcase_add_loop_test(tc, failed_writes_are_reported, 0, 2);
	tcase_add_test(tc, missing_directory_is_reported);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
