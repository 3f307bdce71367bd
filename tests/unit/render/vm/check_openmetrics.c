#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "render/vm/openmetrics.h"
#include "unit/support/sample_counters.h"

static const struct sample_counter serial[] = {
	{ "sun.os.hrt.frequency", 1e9, NULL },
	{ "sun.gc.generation.0.space.0.used", 1048576, NULL },
	{ "sun.gc.generation.1.space.0.used", 123456789012, NULL },
	{ "sun.gc.collector.0.name", 0, "Copy" },
	{ "sun.gc.collector.0.invocations", 3, NULL },
	{ "sun.gc.collector.0.time", 1500000, NULL },
	{ "java.threads.live", 6, NULL },
	{ NULL, 0, NULL },
};

#define HOSTILE_MAIN "a\"b\\c\nd\x1b[2J} 1\xff"
#define SHOWN_MAIN "a\\\"b\\\\c\\\\x0Ad\\\\x1B[2J} 1\\\\xFF"

/* Counters of an untrusted hsperfdata file. */
static const struct sample_counter hostile[] = {
	{ "sun.os.hrt.frequency", 1e9, NULL },
	{ "sun.gc.generation.0.space.0.used", -1, NULL },
	{ "java.threads.live", 0, "many" },
	{ "sun.gc.collector.0.name", 0, "\x1b" },
	{ "sun.gc.collector.0.invocations", 1, NULL },
	{ "sun.gc.collector.0.time", 1, NULL },
	{ "sun.gc.collector.1.name", 0, "\\x1B" }, /* the escaped name of collector 0 */
	{ "sun.gc.collector.1.invocations", 2, NULL },
	{ "sun.gc.collector.1.time", 2, NULL },
	{ "sun.gc.collector.2.name", 0, "no time" },
	{ "sun.gc.collector.2.invocations", 2, NULL },
	{ "sun.gc.collector.3.name", 0, "negative" },
	{ "sun.gc.collector.3.invocations", -2, NULL },
	{ "sun.gc.collector.3.time", 2, NULL },
	{ NULL, 0, NULL },
};

static char *printed_with(const struct openmetrics_jvm *jvms, size_t n,
			  const struct openmetrics_self *self)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	openmetrics_print(jvms, n, self, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static char *printed(const struct openmetrics_jvm *jvms, size_t n)
{
	return printed_with(jvms, n, NULL);
}

START_TEST(each_family_is_printed_once_for_all_jvms)
{
	const struct openmetrics_jvm jvms[] = {
		{ .pid = 7, .main = "a.b.C", .version = "17.0.15", .vm = "VM", .gc = "Serial",
		  .uptime = 1.25, .source = sample_counters(serial) },
		{ .pid = 42, .main = "x.jar", .container = "0123", .uptime = NAN,
		  .source = sample_counters(serial + 6) },
	};
	char *text = printed(jvms, ARRAY_SIZE(jvms));

	ck_assert_str_eq(text,
		"# TYPE jvm_info gauge\n"
		"# HELP jvm_info Identity of the JVM; always 1.\n"
		"jvm_info{pid=\"7\",main=\"a.b.C\",container=\"\",version=\"17.0.15\",vm=\"VM\","
		"gc=\"Serial\"} 1\n"
		"jvm_info{pid=\"42\",main=\"x.jar\",container=\"0123\",version=\"\",vm=\"\","
		"gc=\"\"} 1\n"
		"# TYPE jvm_uptime_seconds gauge\n"
		"# UNIT jvm_uptime_seconds seconds\n"
		"# HELP jvm_uptime_seconds Time since the start of the JVM.\n"
		"jvm_uptime_seconds{pid=\"7\",main=\"a.b.C\",container=\"\"} 1.25\n"
		"# TYPE jvm_memory_pool_used_bytes gauge\n"
		"# UNIT jvm_memory_pool_used_bytes bytes\n"
		"# HELP jvm_memory_pool_used_bytes Memory in use, by pool; compressed class space "
		"is a part of metaspace.\n"
		"jvm_memory_pool_used_bytes{pid=\"7\",main=\"a.b.C\",container=\"\","
		"pool=\"eden\"} 1048576\n"
		"jvm_memory_pool_used_bytes{pid=\"7\",main=\"a.b.C\",container=\"\","
		"pool=\"old\"} 123456789012\n"
		"# TYPE jvm_gc_collection_seconds summary\n"
		"# UNIT jvm_gc_collection_seconds seconds\n"
		"# HELP jvm_gc_collection_seconds Pauses for garbage collection, by collector; "
		"of Shenandoah with its concurrent phases.\n"
		"jvm_gc_collection_seconds_count{pid=\"7\",main=\"a.b.C\",container=\"\","
		"gc=\"Copy\"} 3\n"
		"jvm_gc_collection_seconds_sum{pid=\"7\",main=\"a.b.C\",container=\"\","
		"gc=\"Copy\"} 0.0015\n"
		"# TYPE jvm_threads_live gauge\n"
		"# HELP jvm_threads_live Live Java threads.\n"
		"jvm_threads_live{pid=\"7\",main=\"a.b.C\",container=\"\"} 6\n"
		"jvm_threads_live{pid=\"42\",main=\"x.jar\",container=\"0123\"} 6\n"
		"# EOF\n");
	free(text);
}
END_TEST

START_TEST(hostile_counters_are_escaped_or_omitted)
{
	const struct openmetrics_jvm jvm = {
		.pid = 7, .main = HOSTILE_MAIN, .uptime = NAN,
		.source = sample_counters(hostile),
	};
	char *text = printed(&jvm, 1);

	ck_assert_str_eq(text,
		"# TYPE jvm_info gauge\n"
		"# HELP jvm_info Identity of the JVM; always 1.\n"
		"jvm_info{pid=\"7\",main=\"" SHOWN_MAIN "\",container=\"\","
		"version=\"\",vm=\"\",gc=\"\"} 1\n"
		"# TYPE jvm_gc_collection_seconds summary\n"
		"# UNIT jvm_gc_collection_seconds seconds\n"
		"# HELP jvm_gc_collection_seconds Pauses for garbage collection, by collector; "
		"of Shenandoah with its concurrent phases.\n"
		"jvm_gc_collection_seconds_count{pid=\"7\","
		"main=\"" SHOWN_MAIN "\",container=\"\",gc=\"\\\\x1B\"} 1\n"
		"jvm_gc_collection_seconds_sum{pid=\"7\","
		"main=\"" SHOWN_MAIN "\",container=\"\",gc=\"\\\\x1B\"} "
		"1e-09\n"
		"# EOF\n");
	free(text);
}
END_TEST

/* A label has at most 256 bytes, and does not end within a character. */
START_TEST(long_labels_are_truncated)
{
	char main_class[400];
	const struct openmetrics_jvm jvm = {
		.pid = 7, .main = main_class, .uptime = NAN,
		.source = sample_counters(serial + 7),
	};
	char *text, *end;

	main_class[0] = 'x'; /* so that byte 256 is half a character */
	for (size_t i = 1; i + 2 < sizeof(main_class); i += 2)
		(void)snprintf(main_class + i, 3, "\xc3\xa4");
	text = printed(&jvm, 1);
	end = strstr(text, "\",container");
	ck_assert_ptr_nonnull(end);
	ck_assert_int_eq(end - (strstr(text, "main=\"") + 6), 255);
	ck_assert_ptr_null(strstr(text, "\\x"));
	free(text);
}
END_TEST

START_TEST(empty_list_is_a_valid_document)
{
	char *text = printed(NULL, 0);

	ck_assert_str_eq(text, "# EOF\n");
	free(text);
}
END_TEST

START_TEST(names_of_kubernetes_are_labels)
{
	const struct openmetrics_jvm jvm = {
		.pid = 7, .main = "A", .container = "01", .namespace = "prod", .pod = "shop-1",
		.container_name = "app", .pod_uid = "6c2d", .uptime = 2,
		.source = sample_counters(serial + 7),
	};
	char *text = printed(&jvm, 1);

	ck_assert_ptr_nonnull(strstr(text,
		"jvm_info{pid=\"7\",main=\"A\",container=\"01\",namespace=\"prod\","
		"pod=\"shop-1\",container_name=\"app\",version=\"\",vm=\"\",gc=\"\","
		"pod_uid=\"6c2d\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(text,
		"jvm_uptime_seconds{pid=\"7\",main=\"A\",container=\"01\",namespace=\"prod\","
		"pod=\"shop-1\",container_name=\"app\"} 2\n"));
	free(text);
}
END_TEST

START_TEST(exporter_reports_itself)
{
	const struct openmetrics_self self = { .found = 3, .skipped = 1, .seconds = 0.25 };
	char *text = printed_with(NULL, 0, &self);

	ck_assert_str_eq(text,
		"# TYPE jtool_jvms gauge\n"
		"# HELP jtool_jvms JVMs that jtool has found.\n"
		"jtool_jvms 3\n"
		"# TYPE jtool_jvms_skipped gauge\n"
		"# HELP jtool_jvms_skipped JVMs without series: they publish no counters, or jtool "
		"may not read them.\n"
		"jtool_jvms_skipped 1\n"
		"# TYPE jtool_scrape_seconds gauge\n"
		"# UNIT jtool_scrape_seconds seconds\n"
		"# HELP jtool_scrape_seconds Time to find and read the JVMs.\n"
		"jtool_scrape_seconds 0.25\n"
		"# EOF\n");
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/vm/openmetrics");
	TCase *tc = tcase_create("render/vm/openmetrics");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, each_family_is_printed_once_for_all_jvms);
	tcase_add_test(tc, hostile_counters_are_escaped_or_omitted);
	tcase_add_test(tc, long_labels_are_truncated);
	tcase_add_test(tc, empty_list_is_a_valid_document);
	tcase_add_test(tc, names_of_kubernetes_are_labels);
	tcase_add_test(tc, exporter_reports_itself);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
