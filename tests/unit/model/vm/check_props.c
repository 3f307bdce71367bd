/* Properties as JDK 8, 17 and 27 send them, and from a hostile JVM. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "base/suggest.h"
#include "model/vm/props.h"
#include "unit/support/data.h"

/* Parses a copy of exact length: ASan detects reads past the end. */
static int parse(struct props *props, const char *text, size_t len)
{
	_cleanup_free_ char *exact = xmalloc(len);

	memcpy(exact, text, len);
	*props = (struct props){ 0 };
	return props_parse(props, exact, len);
}

static void check_property(const struct props *props, const char *name, const char *value,
			   size_t len)
{
	const struct prop *prop = props_find(props, name);

	ck_assert_msg(prop != NULL, "no %s", name);
	ck_assert_uint_eq(prop->value_len, len);
	ck_assert_mem_eq(prop->value, value, len + 1);
}
#define CHECK_PROPERTY(props, name, value) check_property(props, name, value, sizeof(value) - 1)

static const struct {
	const char *file;
	size_t n;
} tables[] = {
	{ "props/properties-8.txt", 60 },
	{ "props/properties-17.txt", 54 },
	{ "props/properties-27.txt", 56 },
};

START_TEST(properties_of_jvms_are_parsed)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct props props;

	read_data(tables[_i].file, &text);
	ck_assert_int_eq(parse(&props, text.data, text.len), 0);
	ck_assert_uint_eq(props.n, tables[_i].n);
	CHECK_PROPERTY(&props, "line.separator", "\n");
	CHECK_PROPERTY(&props, "path.separator", ":");
	CHECK_PROPERTY(&props, "file.separator", "/");
	CHECK_PROPERTY(&props, "empty", "");
	CHECK_PROPERTY(&props, "", "emptykey");
	CHECK_PROPERTY(&props, "x.y", "a=b:c\\d");
	CHECK_PROPERTY(&props, "java.nl", "a\nb");
	CHECK_PROPERTY(&props, "nl", "a\nb\rc\fd\\e=f:g#h!i");
	CHECK_PROPERTY(&props, "lead", "  \t x");
	CHECK_PROPERTY(&props, "uml", "\xc3\xa4\xc3\xb6");
	CHECK_PROPERTY(&props, "uni",
		       "\xf0\x9f\x98\x80 \xef\xbf\xbd lone \xc3\xa4\xe2\x82\xac\x01\x7f\xc2\x85");
	CHECK_PROPERTY(&props, "odd key=:#! \xc3\xa9", "v\nw\0x");
	ck_assert_ptr_null(props_find(&props, "java.versio"));
	for (size_t i = 1; i < props.n; i++)
		ck_assert_int_lt(strcmp(props.items[i - 1].name, props.items[i].name), 0);
	props_release(&props);
}
END_TEST

START_TEST(agent_properties_are_parsed)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct props props;

	read_data("props/agentProperties-17.txt", &text);
	ck_assert_int_eq(parse(&props, text.data, text.len), 0);
	ck_assert_uint_eq(props.n, 3);
	CHECK_PROPERTY(&props, "sun.java.command", "Props");
	CHECK_PROPERTY(&props, "sun.jvm.flags", "+PrintConcurrentLocks");
	props_release(&props);
}
END_TEST

/* A cut between two lines cannot be detected. */
START_TEST(properties_cut_inside_a_line_are_rejected)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	read_data("props/properties-17.txt", &text);
	for (size_t len = 0; len < text.len; len++) {
		struct props props;
		int rc = parse(&props, text.data, len);
		bool complete = len == 0 || text.data[len - 1] == '\n';

		ck_assert_int_eq(rc, complete ? 0 : -EBADMSG);
		ck_assert_uint_lt(props.n, tables[1].n);
		props_release(&props);
	}
}
END_TEST

#define TEXT(s) (s), sizeof(s) - 1

static const struct {
	const char *text;
	size_t len;
	const char *name; /* NULL: the text is rejected */
	const char *value;
	size_t value_len;
} lines[] = {
	{ TEXT("a=b\n"), "a", TEXT("b") },
	{ TEXT("a:b\r\n"), "a", TEXT("b") },
	{ TEXT("a b\r"), "a", TEXT("b") },
	{ TEXT("  \ta \f=\t =b \n"), "a", TEXT("=b ") },
	{ TEXT("a\n"), "a", TEXT("") },
	{ TEXT("=\n"), "", TEXT("") },
	{ TEXT("# x=y\\\na=b\n"), "a", TEXT("b") },
	{ TEXT("\n\r\n ! x\n\na=b\n"), "a", TEXT("b") },
	{ TEXT("a=b\\\n  c\\\r\n\td\n"), "a", TEXT("bcd") },
	{ TEXT("a=b\\\n\n"), "a", TEXT("b") },
	{ TEXT("a\\ b\\=c\\:d=\\ e\n"), "a b=c:d", TEXT(" e") },
	{ TEXT("a=\\t\\n\\r\\f\\\\\\q\\\"\n"), "a", TEXT("\t\n\r\f\\q\"") },
	{ TEXT("a=b\\\\\nc=d\n"), "a", TEXT("b\\") },
	{ TEXT("a=\xe4\xff\n"), "a", TEXT("\xc3\xa4\xc3\xbf") },
	{ TEXT("a=\\u0041\\u00e4\\u20AC\\uffff\n"), "a",
	  TEXT("A\xc3\xa4\xe2\x82\xac\xef\xbf\xbf") },
	{ TEXT("a=\\uD83D\\uDE00\n"), "a", TEXT("\xf0\x9f\x98\x80") },
	{ TEXT("a=\\uD800\\uDC00\\uDBFF\\uDFFF\n"), "a",
	  TEXT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf") },
	{ TEXT("a=\\uD83D\n"), "a", TEXT("\xef\xbf\xbd") },
	{ TEXT("a=\\uDE00\\uD83D.\n"), "a", TEXT("\xef\xbf\xbd\xef\xbf\xbd.") },
	{ TEXT("a=\\uD83D\\uD83D\\uDE00\n"), "a", TEXT("\xef\xbf\xbd\xf0\x9f\x98\x80") },
	{ TEXT("\\uD83D=\\uDE00\n"), "\xef\xbf\xbd", TEXT("\xef\xbf\xbd") },
	{ TEXT("a\\u0000b=c\\u0000d\n"), "a\xef\xbf\xbd" "b", TEXT("c\0d") },
	{ TEXT("a\0b=c\0d\n"), "a\xef\xbf\xbd" "b", TEXT("c\0d") },
	{ TEXT("a=1\nb=x\na=2\na=3\n"), "a", TEXT("3") },
	{ TEXT("a=\\u004\n"), NULL, NULL, 0 },
	{ TEXT("a=\\u00g1\n"), NULL, NULL, 0 },
	{ TEXT("a=\\u"), NULL, NULL, 0 },
	{ TEXT("a=b"), NULL, NULL, 0 },
	{ TEXT("a=b\\"), NULL, NULL, 0 },
	{ TEXT("a=b\\\n"), NULL, NULL, 0 },
	{ TEXT("a"), NULL, NULL, 0 },
	{ TEXT("a ="), NULL, NULL, 0 },
	{ TEXT("# a"), NULL, NULL, 0 },
};

START_TEST(all_forms_of_lines_are_parsed)
{
	struct props props;
	int rc = parse(&props, lines[_i].text, lines[_i].len);

	if (lines[_i].name) {
		ck_assert_int_eq(rc, 0);
		check_property(&props, lines[_i].name, lines[_i].value, lines[_i].value_len);
	} else {
		ck_assert_int_eq(rc, -EBADMSG);
	}
	props_release(&props);
}
END_TEST

START_TEST(glob_selects_properties)
{
	static const char text[] = "b=1\na.b=2\na.c=3\nb=4\n";
	struct props props;

	ck_assert_int_eq(parse(&props, TEXT(text)), 0);
	ck_assert_uint_eq(props.n, 3);
	props_filter(&props, "a.?");
	ck_assert_uint_eq(props.n, 2);
	CHECK_PROPERTY(&props, "a.b", "2");
	CHECK_PROPERTY(&props, "a.c", "3");
	props_filter(&props, "x*");
	ck_assert_uint_eq(props.n, 0);
	ck_assert_ptr_null(props_find(&props, "a.b"));
	props_release(&props);
}
END_TEST

static const struct {
	const char *wanted, *name;
	bool near;
} names[] = {
	{ "java.versoin", "java.version", true },
	{ "java.VERSION", "java.version", true },
	{ "HeapDump", "FullGCHeapDumpLimit", true },
	{ "gc", "UseG1GC", true },
	{ "1g", "UseG1GC", true },
	{ "g", "UseG1GC", false },
	{ "", "UseG1GC", false },
	{ "java.home", "java.version", false },
};

START_TEST(similar_names_are_suggested)
{
	struct suggestions near = SUGGEST_INIT(names[_i].wanted);

	suggest_offer(&near, names[_i].name);
	ck_assert_uint_eq(near.n, names[_i].near);
	ck_assert_str_eq(buf_str(&near.names), names[_i].near ? names[_i].name : "");
	ck_assert_ptr_nonnull(strstr(suggest_hint(&near), names[_i].near ? names[_i].name : "all"));
	suggest_release(&near);
}
END_TEST

START_TEST(suggestions_are_limited_and_escaped)
{
	struct suggestions near = SUGGEST_INIT("aa");

	for (int i = 0; i < 100; i++)
		suggest_offer(&near, "aa\n");
	ck_assert_str_eq(suggest_hint(&near),
			 ": did you mean aa\\x0A, aa\\x0A, aa\\x0A, aa\\x0A, aa\\x0A?");
	suggest_release(&near);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/vm/props");
	TCase *tc = tcase_create("model/vm/props");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, properties_of_jvms_are_parsed, 0, ARRAY_SIZE(tables));
	tcase_add_test(tc, agent_properties_are_parsed);
	tcase_add_test(tc, properties_cut_inside_a_line_are_rejected);
	tcase_add_loop_test(tc, all_forms_of_lines_are_parsed, 0, ARRAY_SIZE(lines));
	tcase_add_test(tc, glob_selects_properties);
	tcase_add_loop_test(tc, similar_names_are_suggested, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, suggestions_are_limited_and_escaped);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
