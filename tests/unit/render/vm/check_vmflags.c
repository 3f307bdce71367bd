/* VM flags as JDK 8 to 27 list them, and the values that they accept. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/vm/vmflags_table.h"
#include "unit/support/data.h"

/* Parses a copy of exactly `len` bytes, so that ASan detects a read past its end. */
static int parse(struct vmflags *flags, const char *text, size_t len)
{
	_cleanup_free_ char *exact = xmalloc(len);

	memcpy(exact, text, len);
	*flags = (struct vmflags){ 0 };
	return vmflags_parse(flags, exact, len);
}

/* Returns "type|value|kind|origin" of a flag; the caller frees it. */
static char *describe(const struct vmflags *flags, const char *name)
{
	const struct vmflag *f = vmflags_find(flags, name);

	return f ? xasprintf("%s|%s|%s|%s", f->type, f->value, f->kind, f->origin)
		 : xstrdup("none");
}

static const struct {
	int jdk;
	size_t n;
} lists[] = { { 8, 34 }, { 11, 42 }, { 17, 43 }, { 21, 45 }, { 25, 44 }, { 27, 44 } };

static const struct {
	int jdk; /* release; 0: all */
	const char *name, *description, *expected8;
} flags_of_all[] = {
	{ 0, "HeapDumpOnOutOfMemoryError", "bool|true|manageable|command line",
	  "bool|true|manageable|changed" },
	{ 0, "HeapDumpBeforeFullGC", "bool|true|manageable|attach",
	  "bool|true|manageable|changed" },
	{ 0, "PrintConcurrentLocks", "bool|true|manageable|config file",
	  "bool|true|manageable|changed" },
	{ 0, "MaxHeapFreeRatio", "uintx|71|manageable|environment",
	  "uintx|71|manageable|changed" },
	{ 0, "HeapDumpPath", "ccstr|/tmp/one\n/tmp/two {x}|manageable|attach",
	  "ccstr|/tmp/one\n/tmp/two {x}|manageable|changed" },
	{ 0, "CompileOnly", "ccstrlist|a.B::c\nd.E|product|command line",
	  "ccstrlist|a.B::c\nd.E|product|changed" },
	{ 0, "OnError", "ccstrlist|echo a b; echo {c}|product|command line",
	  "ccstrlist|echo a b; echo {c}|product|changed" },
	{ 0, "OnOutOfMemoryError", "ccstrlist| echo x|product|command line",
	  "ccstrlist| echo x|product|changed" },
	{ 0, "MaxRAMPercentage", "double|25.000000|product|default",
	  "double|25.000000|product|default" },
	{ 0, "MaxHeapSize", "size_t|67108864|product|command line",
	  "uintx|67108864|product|changed" },
	{ 8, "PrintHeapAtGC", NULL, "bool|false|product rw|default" },
	{ 8, "ArrayAllocatorMallocLimit", NULL,
	  "uintx|18446744073709551615|experimental|default" },
	{ 27, "AOTCache", "ccstr||product|default", NULL },
	{ 27, "SoftMaxHeapSize", "size_t|67108864|manageable|ergonomic", NULL },
	{ 27, "AOTCompatibleOopCompression", "bool|false|diagnostic lp64_product|ergonomic",
	  NULL },
	{ 27, "ShenandoahGenerationalTenuringMortalityRateThreshold",
	  "double|0.100000|experimental|default", NULL },
};

START_TEST(flag_lists_of_every_jdk_are_parsed)
{
	_cleanup_free_ char *file = xasprintf("flags/vm_flags-%d.txt", lists[_i].jdk);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct vmflags flags;

	read_data(file, &text);
	ck_assert_int_eq(parse(&flags, text.data, text.len), 0);
	ck_assert_uint_eq(flags.n, lists[_i].n);
	for (size_t i = 0; i < ARRAY_SIZE(flags_of_all); i++) {
		_cleanup_free_ char *description = describe(&flags, flags_of_all[i].name);

		if (flags_of_all[i].jdk && flags_of_all[i].jdk != lists[_i].jdk)
			continue;
		ck_assert_str_eq(description, lists[_i].jdk == 8 ? flags_of_all[i].expected8
							  : flags_of_all[i].description);
	}
	ck_assert_ptr_null(vmflags_find(&flags, "HeapDumpPat"));
	vmflags_release(&flags);
}
END_TEST

/* Truncation between two flags cannot be detected; anywhere else it is refused. */
START_TEST(truncated_list_is_refused_within_a_flag)
{
	_cleanup_free_ char *file = xasprintf("flags/vm_flags-%d.txt", lists[_i].jdk);
	_cleanup_buf_ struct buf text = BUF_INIT;

	read_data(file, &text);
	for (size_t len = 0; len < text.len; len++) {
		struct vmflags flags;
		int rc = parse(&flags, text.data, len);
		bool complete = len > sizeof("[Global flags]") && text.data[len - 1] == '\n' &&
			     text.data[len - 2] == '}';

		ck_assert_int_eq(rc, complete ? 0 : -EBADMSG);
		ck_assert_uint_lt(flags.n, lists[_i].n);
		vmflags_release(&flags);
	}
}
END_TEST

static const char *const malformed_texts[] = {
	"",
	"\n",
	"[Global flags]\n",
	"[Global flags]\n\n",
	"[Global flags\n bool A = true {product} {default}\n",
	"[Global flags]\n bool A = true {product} {default}",
	"[Global flags]\n bool A = true {product} {default}\n bool B = true product} {default}\n",
	"[Global flags]\n bool A + true {product} {default}\n",
	"[Global flags]\n bool A\n",
	"[Global flags]\n A += x {product} {default}\n",
	"[Global flags]\n ccstr A = x\n B += y {product} {default}\n",
	"[Global flags]\n ccstr A = x {product}\n A += y {default}\n",
	"[Global flags]\n bool A = true {product} {default}\n bool B = true {product}\n",
	"java.lang.IllegalArgumentException: Unknown diagnostic command\n",
};

START_TEST(malformed_lists_are_refused)
{
	struct vmflags flags;

	ck_assert_int_eq(parse(&flags, malformed_texts[_i], strlen(malformed_texts[_i])), -EBADMSG);
	vmflags_release(&flags);
}
END_TEST

/* Braces in a value are not parsed as kind or origin, whichever flag is the first. */
START_TEST(braces_in_values_are_not_kind_or_origin)
{
	static const char eight[] = "[Global flags]\n ccstr A = a {b} {c} {product}\n"
				    " intx B := 7 {product rw}\n";
	static const char later[] = "[Global flags]\n ccstr A = a {b} {c} {product} {default}\n"
				    " ccstr C = {product} {default}\n"
				    " intx B := 7 {C2 pd product} {command line, ergonomic}\n";
	struct vmflags flags;
	char *description;

	ck_assert_int_eq(parse(&flags, eight, sizeof(eight) - 1), 0);
	ck_assert_str_eq(description = describe(&flags, "A"), "ccstr|a {b} {c}|product|default");
	free(description);
	ck_assert_str_eq(description = describe(&flags, "B"), "intx|7|product rw|changed");
	free(description);
	vmflags_release(&flags);
	ck_assert_int_eq(parse(&flags, later, sizeof(later) - 1), 0);
	ck_assert_str_eq(description = describe(&flags, "A"), "ccstr|a {b} {c}|product|default");
	free(description);
	ck_assert_str_eq(description = describe(&flags, "B"),
			 "intx|7|C2 pd product|command line, ergonomic");
	free(description);
	vmflags_release(&flags);
}
END_TEST

START_TEST(filter_keeps_matching_names)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct vmflags flags;

	read_data("flags/vm_flags-27.txt", &text);
	ck_assert_int_eq(parse(&flags, text.data, text.len), 0);
	vmflags_filter(&flags, "HeapDump*");
	ck_assert_uint_eq(flags.n, 4);
	ck_assert_str_eq(flags.items[0].name, "HeapDumpBeforeFullGC");
	vmflags_filter(&flags, "x");
	ck_assert_uint_eq(flags.n, 0);
	vmflags_release(&flags);
}
END_TEST

static struct vmflag create(const char *type, const char *value, const char *kind)
{
	return (struct vmflag){
		.type = (char *)type,
		.name = (char *)"Foo",
		.value = (char *)value,
		.kind = (char *)kind,
		.origin = (char *)"default",
	};
}

static const struct {
	const char *type, *value, *spelled, *json;
} spellings[] = {
	{ "bool", "true", "-XX:+Foo", "true" },
	{ "bool", "false", "-XX:-Foo", "false" },
	{ "intx", "-1", "-XX:Foo=-1", "-1" },
	{ "int", "0", "-XX:Foo=0", "0" },
	{ "uintx", "18446744073709551615", "-XX:Foo=18446744073709551615",
	  "18446744073709551615" },
	{ "uint64_t", "9223372036854775807", "-XX:Foo=9223372036854775807",
	  "9223372036854775807" },
	{ "size_t", "99999999999999999999", "-XX:Foo=99999999999999999999",
	  "\"99999999999999999999\"" },
	{ "double", "0.950000", "-XX:Foo=0.950000", "0.95" },
	{ "ccstr", "", "-XX:Foo=", "\"\"" },
	{ "ccstr", "a b", "-XX:Foo=a b", "\"a b\"" },
	{ "ccstrlist", "a\nb", "-XX:Foo=a -XX:Foo=b", "\"a\\nb\"" },
	{ "newtype", "7", "-XX:Foo=7", "\"7\"" },
};

START_TEST(flag_is_printed_as_an_option_and_as_json)
{
	const struct vmflag flag = create(spellings[_i].type, spellings[_i].value, "C2 manageable");
	_cleanup_buf_ struct buf spelled = BUF_INIT;
	_cleanup_free_ char *expected =
		xasprintf("{\"schema\":1,\"pid\":42,\"name\":\"Foo\",\"type\":\"%s\",\"value\":%s,"
			  "\"kind\":\"C2 manageable\",\"origin\":\"default\","
			  "\"manageable\":true,\"old\":%s}\n",
			  spellings[_i].type, spellings[_i].json, spellings[_i].json);
	struct json *doc = vmflag_json(&flag, &flag, 42);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	vmflag_append_option(&flag, &spelled);
	ck_assert_str_eq(buf_str(&spelled), spellings[_i].spelled);
	json_print(doc, out);
	json_free(doc);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, expected);
	free(text);
}
END_TEST

/* The table prints a value as the JVM wrote it, JSON prints it with its type. */
START_TEST(list_is_printed_as_a_table_and_as_json)
{
	struct vmflag items[] = {
		create("double", "25.000000", "product"),
		create("uintx", "18446744073709551615", "manageable"),
	};
	const struct vmflags flags = { .items = items, .n = ARRAY_SIZE(items) };
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	vmflags_output(&flags, 42, false, out);
	vmflags_output(&flags, 42, true, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text,
			 "NAME  TYPE    KIND        ORIGIN   VALUE\n"
			 "Foo   double  product     default  25.000000\n"
			 "Foo   uintx   manageable  default  18446744073709551615\n"
			 "{\"schema\":1,\"pid\":42,\"flags\":["
			 "{\"name\":\"Foo\",\"type\":\"double\",\"value\":25,"
			 "\"kind\":\"product\",\"origin\":\"default\",\"manageable\":false},"
			 "{\"name\":\"Foo\",\"type\":\"uintx\",\"value\":18446744073709551615,"
			 "\"kind\":\"manageable\",\"origin\":\"default\",\"manageable\":true}"
			 "]}\n");
	free(text);
}
END_TEST

START_TEST(only_manageable_flags_are_writable)
{
	struct vmflag flag = create("bool", "true", "product rw");

	ck_assert(!vmflag_is_manageable(&flag));
	flag.kind = (char *)"manageable";
	ck_assert(vmflag_is_manageable(&flag));
}
END_TEST

static const struct {
	const char *type, *value, *wire; /* wire NULL: the value is refused */
} values[] = {
	{ "bool", "true", "1" },
	{ "bool", "FALSE", "0" },
	{ "bool", "1", "1" },
	{ "bool", "0", "0" },
	{ "bool", "2", NULL },
	{ "bool", "yes", NULL },
	{ "bool", "", NULL },
	{ "uintx", "0", "0" },
	{ "uintx", "512m", "536870912" },
	{ "uintx", "512M", "536870912" },
	{ "size_t", "3g", "3221225472" },
	{ "size_t", "1T", "1099511627776" },
	{ "uint64_t", "4k", "4096" },
	{ "uint64_t", "18446744073709551615", "18446744073709551615" },
	{ "uint64_t", "18446744073709551616", NULL },
	{ "uint64_t", "16777215t", "18446742974197923840" },
	{ "uint64_t", "16777216t", NULL },
	{ "uint", "4294967295", "4294967295" },
	{ "uint", "4g", NULL },
	{ "uintx", "-1", NULL },
	{ "uintx", "+1", NULL },
	{ "uintx", " 1", NULL },
	{ "uintx", "1 ", NULL },
	{ "uintx", "1x", NULL },
	{ "uintx", "1mb", NULL },
	{ "uintx", "0x10", NULL },
	{ "uintx", "", NULL },
	{ "int", "-2147483648", "-2147483648" },
	{ "int", "-2147483649", NULL },
	{ "int", "2g", NULL },
	{ "int", "-2g", "-2147483648" },
	{ "intx", "-9223372036854775808", "-9223372036854775808" },
	{ "intx", "9223372036854775808", NULL },
	{ "intx", "-", NULL },
	{ "intx", "--1", NULL },
	{ "double", "0.5", "0.5" },
	{ "double", "-1", "-1" },
	{ "double", "1e2", "1e2" },
	{ "double", "0.5x", NULL },
	{ "double", "nan", NULL },
	{ "double", "0x1p3", NULL },
	{ "double", ".", NULL },
	{ "double", "", NULL },
	{ "ccstr", "", "" },
	{ "ccstr", "a b\n", "a b\n" },
	{ "ccstrlist", "1", "1" },
};

START_TEST(values_are_validated_for_their_type)
{
	const struct vmflag flag = create(values[_i].type, "", "manageable");
	_cleanup_buf_ struct buf wire = BUF_INIT;
	struct err err = { .code = EXIT_DONE };
	int rc = vmflag_wire_value(&flag, values[_i].value, &wire, &err);

	if (values[_i].wire) {
		ck_assert_int_eq(rc, 0);
		ck_assert_str_eq(buf_str(&wire), values[_i].wire);
		return;
	}
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(err.code, EXIT_ANSWER);
	ck_assert_ptr_nonnull(strstr(err.text, "Foo"));
}
END_TEST

static struct {
	const char *name, *value;
	bool archiving;
} archives[] = {
	{ "ArchiveClassesAtExit", "", false },
	{ "ArchiveClassesAtExit", "/tmp/a.jsa", true },
	{ "RecordDynamicDumpInfo", "false", false },
	{ "RecordDynamicDumpInfo", "true", true },
	{ "AOTMode", "", false },
	{ "AOTMode", "auto", false },
	{ "AOTMode", "create", false },
	{ "AOTMode", "record", true },
	{ "AOTCache", "/tmp/a.aot", false },
};

START_TEST(archive_written_at_exit_is_detected)
{
	char name[64], value[64];
	struct vmflag items[] = {
		{ .name = (char[]){ "UseG1GC" }, .value = (char[]){ "true" } },
		{ .name = name, .value = value },
	};
	const struct vmflags flags = { .items = items, .n = ARRAY_SIZE(items) };
	const struct vmflag *found;

	(void)snprintf(name, sizeof(name), "%s", archives[_i].name);
	(void)snprintf(value, sizeof(value), "%s", archives[_i].value);
	found = vmflags_archiving(&flags);
	ck_assert_ptr_eq(found, archives[_i].archiving ? &items[1] : NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("render/vm/vmflags");
	TCase *tc = tcase_create("render/vm/vmflags");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, flag_lists_of_every_jdk_are_parsed, 0, ARRAY_SIZE(lists));
	tcase_add_loop_test(tc, truncated_list_is_refused_within_a_flag, 0, ARRAY_SIZE(lists));
	tcase_add_loop_test(tc, malformed_lists_are_refused, 0, ARRAY_SIZE(malformed_texts));
	tcase_add_test(tc, braces_in_values_are_not_kind_or_origin);
	tcase_add_test(tc, filter_keeps_matching_names);
	tcase_add_loop_test(tc, flag_is_printed_as_an_option_and_as_json, 0, ARRAY_SIZE(spellings));
	tcase_add_test(tc, list_is_printed_as_a_table_and_as_json);
	tcase_add_test(tc, only_manageable_flags_are_writable);
	tcase_add_loop_test(tc, values_are_validated_for_their_type, 0, ARRAY_SIZE(values));
	tcase_add_loop_test(tc, archive_written_at_exit_is_detected, 0, ARRAY_SIZE(archives));
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
