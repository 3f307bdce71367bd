/* Flags, as JDK 8 to 27 list them; what they may be set to. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/vmflags_show.h"
#include "data.h"

/* Parse a copy of the very length, so that ASan sees a read behind it. */
static int parse(struct vmflags *flags, const char *text, size_t len)
{
	_cleanup_free_ char *exact = xmalloc(len);

	memcpy(exact, text, len);
	*flags = (struct vmflags){ 0 };
	return vmflags_parse(flags, exact, len);
}

/* "type value kind origin" of a flag, separated by bars; the caller's. */
static char *look(const struct vmflags *flags, const char *name)
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
	int jdk; /* 0: all */
	const char *name, *seen, *seen8;
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

START_TEST(lists_of_jvms)
{
	_cleanup_free_ char *file = xasprintf("flags/vm_flags-%d.txt", lists[_i].jdk);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct vmflags flags;

	read_data(file, &text);
	ck_assert_int_eq(parse(&flags, text.data, text.len), 0);
	ck_assert_uint_eq(flags.n, lists[_i].n);
	for (size_t i = 0; i < ARRAY_SIZE(flags_of_all); i++) {
		_cleanup_free_ char *seen = look(&flags, flags_of_all[i].name);

		if (flags_of_all[i].jdk && flags_of_all[i].jdk != lists[_i].jdk)
			continue;
		ck_assert_str_eq(seen, lists[_i].jdk == 8 ? flags_of_all[i].seen8
							  : flags_of_all[i].seen);
	}
	ck_assert_ptr_null(vmflags_find(&flags, "HeapDumpPat"));
	vmflags_release(&flags);
}
END_TEST

/* A list that was cut off is refused, but between two flags, where that cannot be seen. */
START_TEST(lists_cut_off)
{
	_cleanup_free_ char *file = xasprintf("flags/vm_flags-%d.txt", lists[_i].jdk);
	_cleanup_buf_ struct buf text = BUF_INIT;

	read_data(file, &text);
	for (size_t len = 0; len < text.len; len++) {
		struct vmflags flags;
		int rc = parse(&flags, text.data, len);
		bool whole = len > sizeof("[Global flags]") && text.data[len - 1] == '\n' &&
			     text.data[len - 2] == '}';

		ck_assert_int_eq(rc, whole ? 0 : -EBADMSG);
		ck_assert_uint_lt(flags.n, lists[_i].n);
		vmflags_release(&flags);
	}
}
END_TEST

static const char *const no_lists[] = {
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

START_TEST(what_is_no_list)
{
	struct vmflags flags;

	ck_assert_int_eq(parse(&flags, no_lists[_i], strlen(no_lists[_i])), -EBADMSG);
	vmflags_release(&flags);
}
END_TEST

/* Braces of a text are taken for no origin, whatever stands first in the list. */
START_TEST(braces_in_texts)
{
	static const char eight[] = "[Global flags]\n ccstr A = a {b} {c} {product}\n"
				    " intx B := 7 {product rw}\n";
	static const char later[] = "[Global flags]\n ccstr A = a {b} {c} {product} {default}\n"
				    " ccstr C = {product} {default}\n"
				    " intx B := 7 {C2 pd product} {command line, ergonomic}\n";
	struct vmflags flags;
	char *seen;

	ck_assert_int_eq(parse(&flags, eight, sizeof(eight) - 1), 0);
	ck_assert_str_eq(seen = look(&flags, "A"), "ccstr|a {b} {c}|product|default");
	free(seen);
	ck_assert_str_eq(seen = look(&flags, "B"), "intx|7|product rw|changed");
	free(seen);
	vmflags_release(&flags);
	ck_assert_int_eq(parse(&flags, later, sizeof(later) - 1), 0);
	ck_assert_str_eq(seen = look(&flags, "A"), "ccstr|a {b} {c}|product|default");
	free(seen);
	ck_assert_str_eq(seen = look(&flags, "B"),
			 "intx|7|C2 pd product|command line, ergonomic");
	free(seen);
	vmflags_release(&flags);
}
END_TEST

START_TEST(filtered)
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

static struct vmflag make(const char *type, const char *value, const char *kind)
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

START_TEST(spelled_and_shown)
{
	const struct vmflag flag = make(spellings[_i].type, spellings[_i].value, "C2 manageable");
	_cleanup_buf_ struct buf spelled = BUF_INIT;
	_cleanup_free_ char *wanted =
		xasprintf("{\"pid\":42,\"name\":\"Foo\",\"type\":\"%s\",\"value\":%s,"
			  "\"kind\":\"C2 manageable\",\"origin\":\"default\","
			  "\"manageable\":true,\"old\":%s}\n",
			  spellings[_i].type, spellings[_i].json, spellings[_i].json);
	struct json *doc = vmflag_json(&flag, &flag, 42);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	vmflag_spell(&flag, &spelled);
	ck_assert_str_eq(buf_str(&spelled), spellings[_i].spelled);
	json_print(doc, out);
	json_free(doc);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, wanted);
	free(text);
}
END_TEST

START_TEST(manageable)
{
	struct vmflag flag = make("bool", "true", "product rw");

	ck_assert(!vmflag_is_manageable(&flag));
	flag.kind = (char *)"manageable";
	ck_assert(vmflag_is_manageable(&flag));
}
END_TEST

static const struct {
	const char *type, *value, *wire; /* NULL: refused */
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

START_TEST(values_to_set)
{
	const struct vmflag flag = make(values[_i].type, "", "manageable");
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

START_TEST(archives_to_come)
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
	Suite *suite = suite_create("vmflags");
	TCase *tc = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, lists_of_jvms, 0, ARRAY_SIZE(lists));
	tcase_add_loop_test(tc, lists_cut_off, 0, ARRAY_SIZE(lists));
	tcase_add_loop_test(tc, what_is_no_list, 0, ARRAY_SIZE(no_lists));
	tcase_add_test(tc, braces_in_texts);
	tcase_add_test(tc, filtered);
	tcase_add_loop_test(tc, spelled_and_shown, 0, ARRAY_SIZE(spellings));
	tcase_add_test(tc, manageable);
	tcase_add_loop_test(tc, values_to_set, 0, ARRAY_SIZE(values));
	tcase_add_loop_test(tc, archives_to_come, 0, ARRAY_SIZE(archives));
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
