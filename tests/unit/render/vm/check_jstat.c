#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/vm/jstat.h"
#include "unit/support/sample_counters.h"

/* Counters of a Parallel collector; the last digits of some values depend on the rounding. */
static const struct sample_counter parallel[] = {
	{ "sun.os.hrt.frequency", 1e9, NULL },
	{ "sun.gc.generation.0.space.0.capacity", 16777216, NULL },
	{ "sun.gc.generation.0.space.0.used", 1346632, NULL },
	{ "sun.gc.generation.0.space.1.capacity", 2621440, NULL },
	{ "sun.gc.generation.0.space.1.used", 0, NULL },
	{ "sun.gc.generation.0.space.2.capacity", 0, NULL },
	{ "sun.gc.generation.0.space.2.used", 0, NULL },
	{ "sun.gc.generation.1.space.0.capacity", 45088768, NULL },
	{ "sun.gc.generation.1.space.0.used", 45088768, NULL },
	{ "sun.gc.metaspace.capacity", 4587520, NULL },
	{ "sun.gc.metaspace.used", 797824, NULL },
	{ "sun.gc.collector.0.invocations", 12, NULL },
	{ "sun.gc.collector.0.time", 34567890, NULL },
	{ "sun.gc.collector.1.invocations", 1, NULL },
	{ "sun.gc.collector.1.time", 1500000000, NULL },
	{ "java.cls.loadedClasses", 11, NULL },
	{ "java.cls.sharedLoadedClasses", 414, NULL },
	{ "sun.cls.loadedBytes", 24051, NULL },
	{ "sun.cls.sharedLoadedBytes", 1080975, NULL },
	{ "java.cls.unloadedClasses", 0, NULL },
	{ "sun.cls.time", 123456789, NULL },
	{ "sun.ci.totalCompiles", 1225, NULL },
	{ "sun.ci.totalBailouts", 1, NULL },
	{ "java.ci.totalTime", 571000000, NULL },
	{ "sun.ci.lastFailedType", 1, NULL },
	{ "sun.ci.lastFailedMethod", 0, "a/b/C m\x1b[1m" },
	{ NULL, 0, NULL },
};

static const struct sample_counter nothing[] = { { NULL, 0, NULL } };

static char *printed(enum jstat_table table, const struct sample_counter *counters)
{
	const struct counter_source r = sample_counters(counters);
	struct buf out = BUF_INIT;

	jstat_heading(&out, table);
	jstat_row(&out, table, &r);
	return buf_take(&out);
}

static const struct {
	enum jstat_table table;
	const struct sample_counter *counters;
	const char *expected;
} prints[] = {
	{ JSTAT_gcutil, parallel,
	  "  S0     S1     E      O      M     CCS    YGC     YGCT     FGC    FGCT     CGC    "
	  "CGCT       GCT   \n"
	  "  0.00      -   8.03 100.00  17.39      -     12     0.035     1     1.500     -    "
	  "     -     1.535\n" },
	{ JSTAT_gcutil, nothing,
	  "  S0     S1     E      O      M     CCS    YGC     YGCT     FGC    FGCT     CGC    "
	  "CGCT       GCT   \n"
	  "     -      -      -      -      -      -      -         -     -         -     -    "
	  "     -         -\n" },
	{ JSTAT_gc, parallel,
	  "    S0C         S1C         S0U         S1U          EC           EU           OC     "
	  "      OU          MC         MU       CCSC      CCSU     YGC     YGCT     FGC    FGCT "
	  "    CGC    CGCT       GCT   \n"
	  "     2560.0         0.0         0.0         0.0      16384.0       1315.1      44032.0"
	  "      44032.0     4480.0      779.1         -         -     12     0.035     1     1.500"
	  "     -         -     1.535\n" },
	{ JSTAT_class, parallel,
	  "Loaded  Bytes  Unloaded  Bytes     Time   \n"
	  "   425  1079.1        -       -       0.12\n" },
	{ JSTAT_compiler, parallel,
	  "Compiled Failed Invalid   Time   FailedType FailedMethod\n"
	  "    1225      1       -     0.57          1 a/b/C m\\x1B[1m\n" },
	{ JSTAT_compiler, nothing,
	  "Compiled Failed Invalid   Time   FailedType FailedMethod\n"
	  "       -      -       -        -          - -           \n" },
};

START_TEST(tables_match_jstat)
{
	char *text = printed(prints[_i].table, prints[_i].counters);

	ck_assert_str_eq(text, prints[_i].expected);
	free(text);
}
END_TEST

static void check_json(enum jstat_table table, const struct sample_counter *counters,
		       double timestamp, const char *expected)
{
	const struct counter_source r = sample_counters(counters);
	struct json *sample = jstat_json(table, &r, timestamp);
	_cleanup_buf_ struct buf text = BUF_INIT;

	json_add(&text, sample);
	ck_assert_str_eq(buf_str(&text), expected);
	json_free(sample);
}

/* Each name is unique in its table, so that no JSON object has two values of one key. */
START_TEST(keys_are_unique)
{
	for (int t = 0; jstat_tables[t]; t++) {
		const struct jstat_column *first = jstat_columns((enum jstat_table)t);

		for (const struct jstat_column *a = first; a->heading; a++) {
			for (const struct jstat_column *b = first; b < a; b++)
				ck_assert_str_ne(jstat_key(a), jstat_key(b));
		}
	}
}
END_TEST

START_TEST(json_has_the_same_values)
{
	check_json(JSTAT_gcutil, parallel, 12.34567,
		   "{\"Timestamp\":12.346,\"S0\":0,\"S1\":null,\"E\":8.03,\"O\":100,\"M\":17.39,"
		   "\"CCS\":null,\"YGC\":12,\"YGCT\":0.035,\"FGC\":1,\"FGCT\":1.5,\"CGC\":null,"
		   "\"CGCT\":null,\"GCT\":1.535}");
	check_json(JSTAT_class, parallel, NAN,
		   "{\"Timestamp\":null,\"Loaded\":425,\"Bytes\":1079.1,\"Unloaded\":null,"
		   "\"UnloadedBytes\":null,\"Time\":0.12}");
	check_json(JSTAT_compiler, parallel, 0,
		   "{\"Timestamp\":0,\"Compiled\":1225,\"Failed\":1,\"Invalid\":null,\"Time\":0.57,"
		   "\"FailedType\":1,\"FailedMethod\":\"a/b/C m\\u001b[1m\"}");
}
END_TEST

/* hsperfdata of JDK 21 has a clock; that of JDK 25 has only the time when the VM was created. */
START_TEST(timestamp_is_the_uptime_of_the_vm)
{
	static const struct sample_counter old[] = {
		{ "sun.os.hrt.frequency", 1e9, NULL },
		{ "sun.os.hrt.ticks", 2.5e9, NULL },
		{ "sun.rt.createVmBeginTime", 1000, NULL },
		{ NULL, 0, NULL },
	};
	const struct counter_source all = sample_counters(old), recent = sample_counters(old + 2),
				    none = sample_counters(nothing);

	ck_assert_double_eq(jstat_timestamp(&all, 9000), 2.5);
	ck_assert_double_eq(jstat_timestamp(&recent, 9500), 8.5);
	ck_assert_double_nan(jstat_timestamp(&recent, 999)); /* the system clock was set back */
	ck_assert_double_nan(jstat_timestamp(&none, 9000));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/vm/jstat");
	TCase *tc = tcase_create("render/vm/jstat");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, tables_match_jstat, 0, (int)ARRAY_SIZE(prints));
	tcase_add_test(tc, keys_are_unique);
	tcase_add_test(tc, json_has_the_same_values);
	tcase_add_test(tc, timestamp_is_the_uptime_of_the_vm);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
