#include <string.h>

#include "session/image.h"
#include "shell.h"

#define HASH "0123456789abcdef"

/* A copy of a /proc with process 1. */
static struct jvm jvm = { .pid = 1, .nspid = 1 };
static struct ns ns = { .jvm = &jvm };
static struct images images;
static struct err err;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir 1");
	ck_assert_int_eq(procfs_open(&ns.proc, dir), 0);
	images = (struct images){ 0 };
	err = (struct err){ 0 };
}

static void teardown(void)
{
	images_release(&images);
	procfs_close(&ns.proc);
	shell("rm -r %s", dir);
}

static void map(const char *perms, const char *path)
{
	shell("echo '1000-2000 %s 00000000 fe:00 7   %s' >>1/maps", perms, path);
}

static void find(size_t n)
{
	ck_assert_int_eq(images_find(&ns, &images, &err), 0);
	ck_assert_uint_eq(images.n, n);
}

START_TEST(each_is_found_once)
{
	map("r--p", "/tmp/.jtool-0-1/jtool-agent-" HASH ".so (deleted)");
	map("r-xp", "/tmp/.jtool-0-1/jtool-agent-" HASH ".so (deleted)");
	map("r-xp", "/lib/libjvm.so");
	map("r-xp", "/lib/libc.so.6");
	map("r-xp", "/tmp/.jtool-0-1/jtool-agent-" HASH ".so (deleted)");
	map("r-xp", "/a dir/jtool-agent-fedcba9876543210.so");
	find(2);
	ck_assert(!images.musl);
	ck_assert_str_eq(images.paths[0], "/tmp/.jtool-0-1/jtool-agent-" HASH ".so");
	ck_assert_str_eq(images.paths[1], "/a dir/jtool-agent-fedcba9876543210.so");
	ck_assert_str_eq(images_named(&images, "jtool-agent-fedcba9876543210.so"),
			 images.paths[1]);
	ck_assert_ptr_null(images_named(&images, "jtool-agent-0000000000000000.so"));
}
END_TEST

START_TEST(paths_are_the_targets)
{
	shell("ln -s /var/box 1/root");
	map("r-xp", "/var/box/tmp/jtool-agent-" HASH ".so (deleted)");
	find(1);
	ck_assert_str_eq(images.paths[0], "/tmp/jtool-agent-" HASH ".so");
}
END_TEST

START_TEST(others_are_not_ours)
{
	static const char *const names[] = {
		"jtool-agent-.so", "jtool-agent-" HASH, "jtool-agent-" HASH "0.so",
		"xjtool-agent-" HASH ".so", "jtool-agent-" HASH ".so.1", "jtool-agent-0.so",
		"jtool-agent-0123456789ABCDEF.so", "jtool-agent-" HASH ".so/x",
	};
	char path[100];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "/tmp/%s", names[i]);
		map("r-xp", path);
	}
	map("rw-p", "/tmp/jtool-agent-" HASH ".so"); /* mapped, but not by a linker */
	find(0);
}
END_TEST

START_TEST(thousands_are_not_believed)
{
	shell("for i in $(seq -w 10000); do "
	      "echo \"1-2 r-xp 0 fe:00 7 /tmp/jtool-agent-00000000000$i.so\"; "
	      "done >1/maps");
	ck_assert_int_eq(images_find(&ns, &images, &err), 0);
	ck_assert_uint_lt(images.n, 100);
}
END_TEST

START_TEST(musl_is_told)
{
	static const char *const libs[] = { "/lib/ld-musl-x86_64.so.1", "/usr/lib/libc.so" };

	map("r-xp", libs[_i]);
	find(0);
	ck_assert(images.musl);
}
END_TEST

START_TEST(the_target_may_be_gone)
{
	ck_assert_int_eq(images_find(&ns, &images, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("image");
	TCase *c = tcase_create("image");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, each_is_found_once);
	tcase_add_test(c, paths_are_the_targets);
	tcase_add_test(c, others_are_not_ours);
	tcase_add_test(c, thousands_are_not_believed);
	tcase_add_loop_test(c, musl_is_told, 0, 2);
	tcase_add_test(c, the_target_may_be_gone);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
