#include <check.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "cli/options.h"

struct values {
	bool all, quiet, verbose;
	const char *file, *filter;
	unsigned count, limit;
	unsigned wait_ms;
	uint64_t min_ns;
	uint64_t room, most;
	int sort, mode;
	unsigned level;
};

struct common {
	bool json, verbose, help;
};

static const char *const sorts[] = { "bytes", "count", "name", NULL };

static const struct opt rows[] = {
	{ 'a', "all", OPT_FLAG, offsetof(struct values, all), NULL, "every one", NULL },
	{ 0, "filter", OPT_TEXT, offsetof(struct values, filter), "GLOB", "only these", NULL },
	{ 'q', NULL, OPT_FLAG, offsetof(struct values, quiet), NULL, "pids only", NULL },
	{ 'v', NULL, OPT_FLAG, offsetof(struct values, verbose), NULL, "flags", NULL },
	{ 'f', "file", OPT_TEXT, offsetof(struct values, file), "FILE", "where", NULL },
	{ 'n', "count", OPT_NUMBER, offsetof(struct values, count), "N", "how many", NULL },
	{ 0, "wait", OPT_SECONDS, offsetof(struct values, wait_ms), "SECONDS", "how long", NULL },
	{ 0, "min", OPT_NANOS, offsetof(struct values, min_ns), "TIME", "from when on", NULL },
	{ 0, "room", OPT_BYTES, offsetof(struct values, room), "BYTES", "how much", NULL },
	{ 0, "sort", OPT_CHOICE, offsetof(struct values, sort), "KEY", "order", sorts },
	{ 0, "most", OPT_MB, offsetof(struct values, most), "SIZE", "at most", NULL },
	{ 0, "mode", OPT_MODE, offsetof(struct values, mode), "KEY", "how", sorts },
	{ 0, "level", OPT_LEVEL, offsetof(struct values, level), "LEVEL", "how much", NULL },
	{ 0, "rows", OPT_LIMIT, offsetof(struct values, limit), "N", "rows", NULL },
	OPT_END,
};

static const struct opt common_rows[] = {
	{ 0, "json", OPT_FLAG, offsetof(struct common, json), NULL, "JSON", NULL },
	{ 'v', "verbose", OPT_FLAG, offsetof(struct common, verbose), NULL, "steps", NULL },
	{ 'h', "help", OPT_FLAG, offsetof(struct common, help), NULL, "help", NULL },
	OPT_END,
};

#define WORDS_MAX 16

/* A parsed command line. */
struct parsed {
	struct values values;
	struct common common;
	struct err err;
	int n;                  /* what opt_parse() returned */
	char *words[WORDS_MAX]; /* the words that are not options */
	char line[256];
};

/* Splits the line at spaces and parses it. */
static void parse_with(struct parsed *p, const char *line, int free_words, bool dash_words)
{
	const struct opt_set sets[2] = { { rows, &p->values, dash_words },
					 { common_rows, &p->common, false } };
	char *rest = p->line;
	int argc = 0;

	memset(p, 0, sizeof(*p));
	ck_assert_uint_lt(strlen(line), sizeof(p->line));
	memcpy(p->line, line, strlen(line) + 1);
	while (rest && *rest && argc < WORDS_MAX)
		p->words[argc++] = strsep(&rest, " ");
	p->n = opt_parse(sets, p->words, argc, free_words, &p->err);
}

static void parse(struct parsed *p, const char *line, int free_words)
{
	parse_with(p, line, free_words, false);
}

static void refused(const char *line, const char *text)
{
	struct parsed p;

	parse(&p, line, -1);
	ck_assert_int_eq(p.n, -1);
	ck_assert_int_eq(p.err.code, EXIT_USAGE);
	ck_assert_str_eq(p.err.text, text);
}

START_TEST(words_and_options_may_alternate)
{
	struct parsed p;

	parse(&p, "one -a two --file x three", -1);
	ck_assert_int_eq(p.n, 3);
	ck_assert_str_eq(p.words[0], "one");
	ck_assert_str_eq(p.words[1], "two");
	ck_assert_str_eq(p.words[2], "three");
	ck_assert(p.values.all);
	ck_assert_str_eq(p.values.file, "x");
	parse(&p, "", -1);
	ck_assert_int_eq(p.n, 0);
}
END_TEST

START_TEST(short_options_cluster_and_take_values)
{
	struct parsed p;

	parse(&p, "-aqn5", -1);
	ck_assert_int_eq(p.n, 0);
	ck_assert(p.values.all && p.values.quiet);
	ck_assert_uint_eq(p.values.count, 5);
	parse(&p, "-n 6 -fx=y -", -1);
	ck_assert_uint_eq(p.values.count, 6);
	ck_assert_str_eq(p.values.file, "x=y");
	ck_assert_int_eq(p.n, 1);
	ck_assert_str_eq(p.words[0], "-");
}
END_TEST

START_TEST(megabytes_need_no_unit)
{
	struct parsed p;

	parse(&p, "--most 16", -1);
	ck_assert_uint_eq(p.values.most, 16 << 20);
	parse(&p, "--most=16k", -1);
	ck_assert_uint_eq(p.values.most, 16 << 10);
	parse(&p, "--most 2g", -1);
	ck_assert_uint_eq(p.values.most, UINT64_C(2) << 30);
	refused("--most 17592186044416",
		"--most: invalid size '17592186044416': expected a size such as 512m, 2g, or 512, "
		"which is in MiB");
	refused("--most 16mb",
		"--most: invalid size '16mb': expected a size such as 512m, 2g, or 512, which is "
		"in MiB");
}
END_TEST

START_TEST(limit_of_0_differs_from_no_limit)
{
	struct parsed p;

	parse(&p, "", -1);
	ck_assert_uint_eq(p.values.limit, 0);
	parse(&p, "--rows 0", -1);
	ck_assert_uint_eq(p.values.limit, UINT_MAX);
	parse(&p, "--rows=7", -1);
	ck_assert_uint_eq(p.values.limit, 7);
	refused("--rows=-1", "--rows: invalid number '-1': expected a whole number");
}
END_TEST

START_TEST(long_options_take_values_with_and_without_equals_sign)
{
	struct parsed p;

	parse(&p, "--count=7 --file --all", -1);
	ck_assert_uint_eq(p.values.count, 7);
	ck_assert_str_eq(p.values.file, "--all");
	ck_assert(!p.values.all);
	parse(&p, "--file=", -1);
	ck_assert_str_eq(p.values.file, "");
	parse(&p, "--file=a=b --file=c", -1);
	ck_assert_str_eq(p.values.file, "c");
}
END_TEST

START_TEST(unique_prefixes_of_long_options_are_accepted)
{
	struct parsed p;

	parse(&p, "--al --c=3 --j --verb", -1);
	ck_assert_int_eq(p.n, 0);
	ck_assert(p.values.all && p.common.json && p.common.verbose);
	ck_assert_uint_eq(p.values.count, 3);
}
END_TEST

START_TEST(letters_of_a_command_hide_common_letters)
{
	struct parsed p;

	parse(&p, "-vh", -1);
	ck_assert(p.values.verbose && p.common.help);
	ck_assert(!p.common.verbose);
	ck_assert(opt_has_letter(rows, 'v'));
	ck_assert(!opt_has_letter(rows, 'h'));
	ck_assert(!opt_has_letter(NULL, 'h'));
}
END_TEST

START_TEST(times_are_parsed_with_units)
{
	static const struct {
		const char *text;
		unsigned ms;
	} times[] = {
		{ "10", 10000 }, { "2.5s", 2500 }, { "500ms", 500 }, { "1m", 60000 }, { "0", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct parsed p;
		char line[64];

		(void)snprintf(line, sizeof(line), "--wait %s", times[i].text);
		parse(&p, line, -1);
		ck_assert_msg(p.n == 0, "%s", line);
		ck_assert_uint_eq(p.values.wait_ms, times[i].ms);
	}
}
END_TEST

START_TEST(sizes_are_parsed_with_units)
{
	struct parsed p;

	parse(&p, "--room 512k", -1);
	ck_assert_uint_eq(p.values.room, 524288);
	parse(&p, "--room=7", -1);
	ck_assert_uint_eq(p.values.room, 7);
}
END_TEST

START_TEST(choices_are_stored_as_indexes)
{
	struct parsed p;

	parse(&p, "--sort name", -1);
	ck_assert_int_eq(p.values.sort, 2);
	parse(&p, "--sort=bytes", -1);
	ck_assert_int_eq(p.values.sort, 0);
}
END_TEST

START_TEST(optional_values_follow_an_equals_sign)
{
	struct parsed p;

	parse(&p, "--mode word --level", -1);
	ck_assert_int_eq(p.n, 1);
	ck_assert_str_eq(p.words[0], "word");
	ck_assert_int_eq(p.values.mode, 1); /* 1 + the index of the first choice */
	ck_assert_uint_eq(p.values.level, 1);
	parse(&p, "--mode=name --level=9", -1);
	ck_assert_int_eq(p.values.mode, 3);
	ck_assert_uint_eq(p.values.level, 9);
	parse(&p, "word", -1);
	ck_assert_int_eq(p.values.mode, 0);
	refused("--mode=size", "--mode: unknown value 'size': choose from bytes, count, name");
	refused("--level=0", "--level: invalid level '0': expected 1 to 9");
}
END_TEST

START_TEST(double_dash_ends_options)
{
	struct parsed p;

	parse(&p, "-a -- -q --file", -1);
	ck_assert_int_eq(p.n, 2);
	ck_assert_str_eq(p.words[0], "-q");
	ck_assert_str_eq(p.words[1], "--file");
	ck_assert(p.values.all && !p.values.quiet);
}
END_TEST

START_TEST(words_after_the_free_words_are_not_parsed)
{
	struct parsed p;

	parse(&p, "-a 42 -q GC.heap_dump -all --file", 2);
	ck_assert_int_eq(p.n, 4);
	ck_assert_str_eq(p.words[0], "42");
	ck_assert_str_eq(p.words[1], "GC.heap_dump");
	ck_assert_str_eq(p.words[2], "-all");
	ck_assert_str_eq(p.words[3], "--file");
	ck_assert(p.values.all && p.values.quiet);
	parse(&p, "42 cmd -- x", 2);
	ck_assert_int_eq(p.n, 4);
	ck_assert_str_eq(p.words[2], "--");
}
END_TEST

START_TEST(dash_words_are_accepted_where_allowed)
{
	struct parsed p;

	parse_with(&p, "-UseFoo -a -XX:+Bar --all -n5 -v", -1, true);
	ck_assert_int_eq(p.n, 2);
	ck_assert_str_eq(p.words[0], "-UseFoo");
	ck_assert_str_eq(p.words[1], "-XX:+Bar");
	ck_assert(p.values.all && p.values.verbose);
	ck_assert_uint_eq(p.values.count, 5);
	parse_with(&p, "-x", -1, true);
	ck_assert_int_eq(p.n, -1);
	refused("-UseFoo", "unknown option '-U': --help lists them");
}
END_TEST

START_TEST(unknown_and_ambiguous_options_are_reported)
{
	refused("--bogus", "unknown option '--bogus': --help lists them");
	refused("--bogus=3", "unknown option '--bogus': --help lists them");
	refused("--lvel", "unknown option '--lvel': did you mean --level?");
	refused("--fliter=x", "unknown option '--fliter': did you mean --filter?");
	refused("--jsno", "unknown option '--jsno': did you mean --json?");
	refused("--mxx", "unknown option '--mxx': --help lists them");
	refused("--fi", "ambiguous option '--fi': --help lists them");
	refused("-z", "unknown option '-z': --help lists them");
	refused("-aqz", "unknown option '-z': --help lists them");
	refused("---", "unknown option '---': --help lists them");
	refused("--=3", "ambiguous option '--': --help lists them");
}
END_TEST

START_TEST(missing_and_superfluous_values_are_reported)
{
	refused("--all=1", "--all takes no value: omit '=' and what follows");
	refused("--file", "--file needs a value: FILE");
	refused("-n", "-n needs a value: N");
	refused("-an", "-n needs a value: N");
}
END_TEST

START_TEST(invalid_values_are_reported)
{
	refused("-n x", "-n: invalid number 'x': expected a whole number");
	refused("-n -1", "-n: invalid number '-1': expected a whole number");
	refused("-n 5x", "-n: invalid number '5x': expected a whole number");
	refused("--count=4294967296",
		"--count: invalid number '4294967296': expected a whole number");
	refused("--count=99999999999999999999",
		"--count: invalid number '99999999999999999999': expected a whole number");
	refused("--count=", "--count: invalid number '': expected a whole number");
	refused("--min 5",
		"--min: invalid time '5': expected a time with a unit, such as 10ms, 500us or 1s");
	refused("--wait 5d",
		"--wait: invalid time '5d': expected a time such as 500ms or 2.5s; "
		"a bare number is in seconds");
	refused("--wait .5",
		"--wait: invalid time '.5': expected a time such as 500ms or 2.5s; "
		"a bare number is in seconds");
	refused("--wait 2147484",
		"--wait: invalid time '2147484': expected a time such as 500ms or 2.5s; "
		"a bare number is in seconds");
	refused("--room 5kb",
		"--room: invalid size '5kb': expected a size such as 4096, 512k or 1g");
	refused("--sort size", "--sort: unknown value 'size': choose from bytes, count, name");
	refused("--sort=", "--sort: unknown value '': choose from bytes, count, name");
}
END_TEST

START_TEST(help_has_one_aligned_line_per_option)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	opt_help(rows, out);
	opt_help(NULL, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text,
			 "  -a, --all            every one\n"
			 "      --filter GLOB    only these\n"
			 "  -q                   pids only\n"
			 "  -v                   flags\n"
			 "  -f, --file FILE      where\n"
			 "  -n, --count N        how many\n"
			 "      --wait SECONDS   how long\n"
			 "      --min TIME       from when on\n"
			 "      --room BYTES     how much\n"
			 "      --sort KEY       order\n"
			 "      --most SIZE      at most\n"
			 "      --mode[=KEY]     how\n"
			 "      --level[=LEVEL]  how much\n"
			 "      --rows N         rows\n");
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cli/options");
	TCase *tc = tcase_create("cli/options");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, words_and_options_may_alternate);
	tcase_add_test(tc, short_options_cluster_and_take_values);
	tcase_add_test(tc, megabytes_need_no_unit);
	tcase_add_test(tc, limit_of_0_differs_from_no_limit);
	tcase_add_test(tc, long_options_take_values_with_and_without_equals_sign);
	tcase_add_test(tc, unique_prefixes_of_long_options_are_accepted);
	tcase_add_test(tc, letters_of_a_command_hide_common_letters);
	tcase_add_test(tc, times_are_parsed_with_units);
	tcase_add_test(tc, sizes_are_parsed_with_units);
	tcase_add_test(tc, choices_are_stored_as_indexes);
	tcase_add_test(tc, optional_values_follow_an_equals_sign);
	tcase_add_test(tc, double_dash_ends_options);
	tcase_add_test(tc, words_after_the_free_words_are_not_parsed);
	tcase_add_test(tc, dash_words_are_accepted_where_allowed);
	tcase_add_test(tc, unknown_and_ambiguous_options_are_reported);
	tcase_add_test(tc, missing_and_superfluous_values_are_reported);
	tcase_add_test(tc, invalid_values_are_reported);
	tcase_add_test(tc, help_has_one_aligned_line_per_option);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
