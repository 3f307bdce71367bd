#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/pod_names.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

START_TEST(link_of_the_kubelet_has_four_parts)
{
	struct pod_name name;

	ck_assert_int_eq(pod_name_parse("shop-7d4b9-x2x_my-ns_app-1-" ID_A ".log", &name), 0);
	ck_assert_str_eq(name.pod, "shop-7d4b9-x2x");
	ck_assert_str_eq(name.namespace, "my-ns");
	ck_assert_str_eq(name.container, "app-1");
	ck_assert_str_eq(name.id, ID_A);
	pod_name_release(&name);
}
END_TEST

START_TEST(other_names_are_rejected)
{
	static const char *const links[] = {
		"", "_", "__", "__-", ".", "a_b_c", "a_b_c-" ID_A, "a_b_c-" ID_A ".log.1",
		"a_b_c-0" ID_A ".log", "a_b_c-0123.log", "_b_c-" ID_A ".log", "a__c-" ID_A ".log",
		"a_b_-" ID_A ".log", "a_b_" ID_A ".log", "a_b_c_d-" ID_A ".log",
		"a\"_b_c-" ID_A ".log", "a_b\n_c-" ID_A ".log", "A_b_c-" ID_A ".log",
	};

	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		struct pod_name name;

		ck_assert_msg(pod_name_parse(links[i], &name) < 0, "%s", links[i]);
	}
}
END_TEST

START_TEST(directory_is_read_and_searched)
{
	char dir[] = "/tmp/check_pod_names.XXXXXX", path[256];
	static const char *const files[] = {
		"web_default_nginx-" ID_B ".log", "shop_prod_app-" ID_A ".log", "README",
	};
	struct pod_names names;
	const struct pod_name *found;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		ck_assert_int_eq(symlink("/nowhere", path), 0);
	}
	pod_names_read(&names, dir);
	ck_assert_uint_eq(names.n, 2);
	found = pod_names_find(&names, ID_A);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->pod, "shop");
	ck_assert_ptr_nonnull(pod_names_find(&names, ID_B));
	ck_assert_ptr_null(pod_names_find(&names, "0"));
	ck_assert_ptr_null(pod_names_find(&names, NULL));
	pod_names_release(&names);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		ck_assert_int_eq(unlink(path), 0);
	}
	ck_assert_int_eq(rmdir(dir), 0);
	pod_names_read(&names, dir); /* it does not exist */
	ck_assert_ptr_null(pod_names_find(&names, ID_A));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc/pod_names");
	TCase *tc = tcase_create("proc/pod_names");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, link_of_the_kubelet_has_four_parts);
	tcase_add_test(tc, other_names_are_rejected);
	tcase_add_test(tc, directory_is_read_and_searched);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
