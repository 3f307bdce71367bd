/* Limits of redefinition in HotSpot; tests/live/redefine/limits.sh compares them with JVMs. */
#include <check.h>
#include <stdint.h>
#include <stdio.h>

#include "unit/support/sample_class.h"
#include "model/redefine/redefinition.h"

static struct ag_mem mem = { .budget = SIZE_MAX };
static struct buf why;

static void release_why(void)
{
	buf_release(&why);
	ck_assert_uint_eq(mem.blocks, 0);
}

static int check_files(const struct buf *running, const struct buf *new,
		       const struct redefinition_jvm *jvm)
{
	struct cf_class before, now;
	int code;

	ck_assert_ptr_null(cf_open(&before, running->data, running->len, &mem));
	ck_assert_ptr_null(cf_open(&now, new->data, new->len, &mem));
	buf_reset(&why);
	code = redefinition_check(&before, &now, jvm, &why);
	cf_release(&before);
	cf_release(&now);
	ck_assert_int_eq(code == 0, why.len == 0);
	return code;
}

static int check_on(const struct class_spec *running, const struct class_spec *new,
		    const struct redefinition_jvm *jvm)
{
	struct buf before = build_class(running), now = build_class(new);
	int code = check_files(&before, &now, jvm);

	buf_release(&before);
	buf_release(&now);
	return code;
}

static int check(unsigned release, const struct class_spec *running, const struct class_spec *new)
{
	const struct redefinition_jvm jvm = { .release = release };

	return check_on(running, new, &jvm);
}

static const unsigned releases[] = { 8, 11, 17, 21, 25, 27 };

/* Checks JVMTI error code and message on every release; code 0: the new class is allowed. */
static void breaks(int code, const char *words, const struct class_spec *running,
		   const struct class_spec *new)
{
	for (size_t i = 0; i < ARRAY_SIZE(releases); i++) {
		ck_assert_int_eq(check(releases[i], running, new), code);
		ck_assert_str_eq(buf_str(&why), words);
	}
}

static void passes(const struct class_spec *running, const struct class_spec *new)
{
	breaks(0, "", running, new);
}

START_TEST(unchanged_class_is_allowed)
{
	struct class_spec a = { .interfaces = { "I", "K" },
				.fields = { { 2, "x", "I" } },
				.methods = { { 1, "f", "()V" }, { 1, "f", "(I)V" } } };

	passes(&a, &a);
}
END_TEST

START_TEST(class_file_version_must_suit_the_jvm)
{
	struct class_spec a = { 0 }, b = { .major = 61 };
	const struct redefinition_jvm preview = { .release = 17, .may_preview = true };

	ck_assert_int_eq(check(11, &a, &b), 68);
	ck_assert_str_eq(buf_str(&why), "class file version 61 is too new for JDK 11, which "
					"accepts up to 55: compile it with --release 8\n");
	ck_assert_int_eq(check(17, &a, &b), 0);
	b.minor = 65535;
	ck_assert_int_eq(check(17, &a, &b), 68);
	ck_assert_str_eq(buf_str(&why), "it uses preview features, and the JVM was started without "
					"--enable-preview\n");
	ck_assert_int_eq(check_on(&a, &b, &preview), 0);
	ck_assert_int_eq(check(21, &a, &b), 68);
	ck_assert_str_eq(buf_str(&why),
			 "it uses preview features of JDK 17, which other JDKs do not accept\n");
	b.minor = 1;
	ck_assert_int_eq(check(21, &a, &b), 68);
	ck_assert_str_eq(buf_str(&why), "class file version 61.1 does not exist\n");
	b.major = 44;
	ck_assert_int_eq(check(8, &a, &b), 68);
	b.major = 99;
	b.minor = 0;
	ck_assert_int_eq(check(0, &a, &b), 0);
}
END_TEST

START_TEST(minor_versions_of_old_class_files_are_checked)
{
	struct class_spec a = { 0 }, b = { .major = 50, .minor = 3 };

	ck_assert_int_eq(check(8, &a, &b), 0);
	ck_assert_int_eq(check(11, &a, &b), 68);
	ck_assert_int_eq(check(17, &a, &b), 0);
	b.major = 45;
	passes(&a, &b);
	b.major = 52;
	ck_assert_int_eq(check(8, &a, &b), 68);
}
END_TEST

START_TEST(class_name_must_stay)
{
	struct class_spec a = { .fields = { { 0, "x", "I" } } }, b = { .name = "p/q/D" };

	breaks(69, "it is class p.q.D, not p.C\n", &a, &b);
}
END_TEST

START_TEST(superclass_and_interfaces_must_stay)
{
	struct class_spec a = { .interfaces = { "I", "K" } };
	struct class_spec b = { .super = "p/S", .interfaces = { "K", "p/L" } };
	struct class_spec c = { .interfaces = { "K", "I" } };

	breaks(66,
	       "the superclass is now p.S and was java.lang.Object\n"
	       "interface I was removed\n"
	       "interface p.L was added\n",
	       &a, &b);
	breaks(66, "interface K is at another position: the order must not change\n", &a, &c);
}
END_TEST

START_TEST(class_modifiers_must_stay)
{
	struct class_spec a = { .access = 0x0021 }, b = { .access = 0x0420 };
	struct class_spec c = { .access = 0x0061 };
	struct class_spec old = { .major = 49, .access = 0x0200 };
	struct class_spec new = { .major = 50, .access = 0x0600 };

	breaks(70, "the class is no longer public and is now abstract\n", &a, &b);
	passes(&a, &c);
	passes(&old, &new); /* compilers of JDK 5 omit ACC_ABSTRACT in interfaces */
}
END_TEST

START_TEST(fields_must_stay)
{
	struct class_spec a = { .fields = { { 2, "x", "I" },
					    { 0, "name", "Ljava/lang/String;" },
					    { 1, "n", "[J" } } };
	struct class_spec b = { .fields = { { 0x11, "x", "I" },
					    { 1, "n", "[[J" },
					    { 0x1018, "$assertionsDisabled", "Z" } } };
	struct class_spec c = { .fields = { a.fields[1], a.fields[0], a.fields[2] } };

	breaks(64,
	       "field int x is no longer private and is now public, final\n"
	       "field java.lang.String name was removed\n"
	       "field long[] n became long[][] n\n"
	       "field boolean $assertionsDisabled was added (javac adds it for the first assert)\n",
	       &a, &b);
	breaks(64,
	       "field java.lang.String name is now where int x was: the order of fields must "
	       "not change\n",
	       &a, &c);
}
END_TEST

START_TEST(synthetic_attribute_equals_the_flag)
{
	struct class_spec a = { .fields = { { 0, "x", "I", .synthetic = true } },
				.methods = { { 1, "f", "()V", .synthetic = true } } };
	struct class_spec b = { .fields = { { 0x1000, "x", "I" } },
				.methods = { { 0x1001, "f", "()V" } } };

	passes(&a, &b);
}
END_TEST

START_TEST(methods_must_stay)
{
	struct class_spec a = { .methods = { { 1, "f", "(J)I" },
					     { 1, "g", "()V" },
					     { 1, "h", "()V" } } };
	struct class_spec b = { .methods = { { 0x101, "h", "()V" }, /* ACC_NATIVE may be added */
					     { 0x22, "g", "()V" },
					     { 1, "f", "(I)I" },
					     { 0xc1, "k", "([I)V" },
					     { 8, "<clinit>", "()V" } } };

	ck_assert_int_eq(check(17, &a, &b), 67);
	ck_assert_str_eq(
		buf_str(&why),
		"method int f(long) became int f(int): parameters and result must not change\n"
		"method void g() is no longer public and is now private, synchronized\n"
		"method void k(int[]) was added; JDK 17 cannot add or remove methods\n"
		"the static initialiser was added (javac generates it to compute values of "
		"static fields); JDK 17 cannot add or remove methods\n");
	a.methods[0] = b.methods[2];
	ck_assert_int_eq(check(17, &a, &b), 71);
	a.methods[1] = b.methods[1];
	ck_assert_int_eq(check(17, &a, &b), 63);
}
END_TEST

/* Only private static and private final methods may be added or removed. */
START_TEST(private_methods_may_be_added_or_removed_in_jdk_8_and_11)
{
	struct class_spec a = { .methods = { { 1, "f", "()V" } } };
	struct class_spec b = { .methods = { { 1, "f", "()V" },
					     { 0x100a, "lambda$f$0", "()V" },
					     { 0x12, "g", "(I)V" } } };
	const struct redefinition_jvm flag = { .release = 21, .may_add_delete = true };

	ck_assert_int_eq(check(8, &a, &b), 0);
	ck_assert_int_eq(check(11, &b, &a), 0);
	ck_assert_int_eq(check_on(&a, &b, &flag), 0);
	ck_assert_int_eq(check(17, &b, &a), 67);
	ck_assert_int_eq(check(17, &a, &b), 63);
	ck_assert_str_eq(
		buf_str(&why),
		"method void lambda$f$0() was added (javac generates it for a lambda: keep the "
		"lambdas and their order); JDK 17 cannot add or remove methods, not even "
		"private ones, unless started with -XX:+AllowRedefinitionToAddDeleteMethods\n"
		"method void g(int) was added; JDK 17 cannot add or remove methods, not even "
		"private ones, unless started with -XX:+AllowRedefinitionToAddDeleteMethods\n");
	b.methods[1].access = 2;
	ck_assert_int_eq(check(11, &a, &b), 63);
	ck_assert_str_eq(
		buf_str(&why),
		"method void lambda$f$0() was added (javac generates it for a lambda: keep the "
		"lambdas and their order); only private static and private final methods can be "
		"added or removed\n");
}
END_TEST

/* The JVM ignores flags of <clinit> that the class file version does not define. */
START_TEST(static_initialiser_flags_depend_on_the_version)
{
	struct class_spec a = { .major = 50, .methods = { { 0, "<clinit>", "()V" } } };
	struct class_spec b = { .major = 50, .methods = { { 9, "<clinit>", "()V" } } };

	passes(&a, &b);
	b.major = 52;
	passes(&a, &b);
	b.methods[0].access = 0x808;
	breaks(71, "the static initialiser is now strictfp\n", &a, &b);
}
END_TEST

START_TEST(nest_must_stay)
{
	struct class_spec a = { .major = 55, .nest_members = { "p/C$1", "p/C$In" } };
	struct class_spec b = { .major = 55, .nest_members = { "p/C$In", "p/C$2" } };
	struct class_spec c = { .major = 55, .nest_members = { "p/C$In", "p/C$1" } };
	struct class_spec d = { .major = 55, .nest_host = "p/H" };
	struct class_spec old = { .major = 52 };
	const char *rule = ": the nest must not change (it includes anonymous and local classes, "
			   "and one that javac may generate for a switch on an enum)\n";
	char words[512];

	ck_assert_int_eq(check(11, &a, &b), 72);
	snprintf(words, sizeof(words),
		 "nested class p.C$1 was removed%snested class p.C$2 was added%s", rule, rule);
	ck_assert_str_eq(buf_str(&why), words);
	ck_assert_int_eq(check(17, &a, &c), 0);
	ck_assert_int_eq(check(17, &old, &d), 72);
	ck_assert_str_eq(buf_str(&why),
			 "the nest host is now p.H and was p.C\n"
			 "the running class was compiled for JDK 8, the new one for JDK 11: "
			 "compile it with --release 8\n");
	a.major = b.major = 54;
	ck_assert_int_eq(check(17, &a, &b), 0);
}
END_TEST

START_TEST(record_components_must_stay)
{
	struct class_spec a = { .major = 60,
				.record = true,
				.components = { { 0, "a", "I" },
						{ 0, "l", "Ljava/util/List;",
						  "Ljava/util/List<TT;>;" } } };
	struct class_spec b = a, c = a, d = a, e = { .major = 60 };

	ck_assert_int_eq(check(17, &a, &a), 0);
	b.components[0].descriptor = "J";
	b.components[1].signature = NULL;
	ck_assert_int_eq(check(17, &a, &b), 72);
	ck_assert_str_eq(buf_str(&why), "record component int a became long a\n"
					"record component java.util.List l has another generic "
					"type\n");
	c.components[0] = a.components[1];
	c.components[1] = a.components[0];
	ck_assert_int_eq(check(17, &a, &c), 72);
	ck_assert_str_eq(buf_str(&why), "record component java.util.List l is now where int a "
					"was: the order of record components must not change\n");
	d.components[2] = (struct member_spec){ .name = "z", .descriptor = "Z" };
	ck_assert_int_eq(check(17, &a, &d), 72);
	ck_assert_str_eq(buf_str(&why), "record component boolean z was added\n");
	ck_assert_int_eq(check(17, &a, &e), 72);
	ck_assert_str_eq(buf_str(&why), "the class is no longer a record\n");
}
END_TEST

START_TEST(permitted_subclasses_must_stay)
{
	struct class_spec a = { .major = 61, .permitted = { "p/D", "p/E" } };
	struct class_spec b = { .major = 61, .permitted = { "p/E", "p/F" } };

	ck_assert_int_eq(check(17, &a, &b), 72);
	ck_assert_str_eq(buf_str(&why), "permitted subclass p.D was removed\n"
					"permitted subclass p.F was added\n");
	a.major = b.major = 60;
	ck_assert_int_eq(check(17, &a, &b), 0);
}
END_TEST

START_TEST(merged_constant_pool_is_limited)
{
	struct class_spec a = { .filler = "a", .n_fillers = 40000 };
	struct class_spec b = { .filler = "b", .n_fillers = 40000 };
	struct redefinition_jvm jvm = { .release = 17 };

	passes(&a, &a);
	breaks(113,
	       "the merged constant pool of both classes would have about 80005 entries; the "
	       "limit is 65535\n",
	       &a, &b);
	b.n_fillers = 20;
	ck_assert_int_eq(check_on(&a, &b, &jvm), 0);
	jvm.pool_count = 65530;
	ck_assert_int_eq(check_on(&a, &b, &jvm), 113);
	/* NaN is not equal to itself, so a merge adds the constant again. */
	b.n_fillers = 0;
	jvm.pool_count = 65535;
	ck_assert_int_eq(check_on(&b, &b, &jvm), 0);
	b.nan = 0x7fc00000;
	ck_assert_int_eq(check_on(&b, &b, &jvm), 113);
	/* A NaN of the running class is counted twice, that of the new class once. */
	jvm.pool_count = 65532;
	ck_assert_int_eq(check_on(&b, &b, &jvm), 0);
	jvm.pool_count++;
	ck_assert_int_eq(check_on(&b, &b, &jvm), 113);
	jvm.pool_count = 65535;
	b.nan = 0x7f800000;
	ck_assert_int_eq(check_on(&b, &b, &jvm), 0);
}
END_TEST

START_TEST(long_pauses_of_jdk_8_are_estimated)
{
	struct redefinition_jvm jvm = { .release = 8 };

	ck_assert_uint_eq(redefinition_pause_s(&jvm, 1, 30000), 0);
	ck_assert_uint_eq(redefinition_pause_s(&jvm, 5000, 10000), 10);
	ck_assert_uint_eq(redefinition_pause_s(&jvm, 5000, 30000), 30);
	jvm.release = 11;
	ck_assert_uint_eq(redefinition_pause_s(&jvm, 5000, 30000), 0);
}
END_TEST

START_TEST(first_violation_gives_the_code_and_all_are_listed)
{
	struct class_spec a = { .access = 0x21, .fields = { { 0, "x", "I" } } };
	struct class_spec b = { .access = 0x20, .interfaces = { "I" } };

	b.methods[0] = (struct member_spec){ .name = "f", .descriptor = "()V" };
	ck_assert_int_eq(check(17, &a, &b), 66);
	ck_assert_str_eq(buf_str(&why), "interface I was added\n"
					"the class is no longer public\n"
					"field int x was removed\n"
					"method void f() was added; JDK 17 cannot add or remove "
					"methods\n");
}
END_TEST

START_TEST(number_of_listed_violations_is_limited)
{
	struct buf files[2] = { BUF_INIT, BUF_INIT };
	const struct redefinition_jvm jvm = { .release = 17 };
	unsigned n = 0;

	for (int i = 0; i < 2; i++) {
		struct class_builder m = { 0 };

		put_u2(&m.rest, 0x21);
		put_u2(&m.rest, put_class_name(&m, "C"));
		put_u2(&m.rest, put_class_name(&m, "java/lang/Object"));
		put_u2(&m.rest, 0);
		put_u2(&m.rest, 5000);
		for (int k = 0; k < 5000; k++) {
			char name[32];

			snprintf(name, sizeof(name), "%c%d", "ab"[i], k);
			put_u2(&m.rest, 0);
			put_member(&m, &m.rest,
				    &(struct member_spec){ .name = name, .descriptor = "I" },
				    false);
		}
		put_u4(&m.rest, 0);
		put_u4(&files[i], 0xcafebabe);
		put_u4(&files[i], 52);
		put_u2(&files[i], m.n_constants + 1);
		buf_add(&files[i], m.pool.data, m.pool.len);
		buf_add(&files[i], m.rest.data, m.rest.len);
		buf_release(&m.pool);
		buf_release(&m.rest);
	}
	ck_assert_int_eq(check_files(&files[0], &files[1], &jvm), 64);
	for (const char *at = buf_str(&why); (at = strchr(at, '\n')); at++)
		n++;
	ck_assert_uint_eq(n, 13);
	ck_assert_ptr_nonnull(strstr(buf_str(&why), "\nand 9988 more fields\n"));
	buf_release(&files[0]);
	buf_release(&files[1]);
}
END_TEST

START_TEST(hostile_names_are_escaped)
{
	struct class_spec a = { 0 }, b = { .fields = { { 0, "x\nall is well\033", "I" } } };

	breaks(64, "field int x\\x0Aall is well\\x1B was added\n", &a, &b);
}
END_TEST

/* Invalid code is reported even if the JVM does not verify the class. */
START_TEST(invalid_code_is_reported_with_method_and_instruction)
{
	struct class_spec a = { .methods = { { 1, "f", "(J)V" } } };
	struct class_spec b = { .methods = { { 1, "f", "(J)V", .code = "\x00\x60\xb1",
					       .code_len = 3 } } };
	struct redefinition_jvm jvm = { .release = 17 };

	ck_assert_int_eq(check_on(&a, &b, &jvm), 62);
	ck_assert_int_eq(strncmp(buf_str(&why), "method void f(long), instruction 1: ", 36), 0);
	ck_assert_ptr_null(strstr(buf_str(&why), "JDK 17"));
	jvm.unverified = true;
	ck_assert_int_eq(check_on(&a, &b, &jvm), 62);
	ck_assert_ptr_nonnull(strstr(buf_str(&why), " (JDK 17 does not verify this class"));
}
END_TEST

/* In the code, an ifnull jumps over a return, to an instruction with no stack map frame. */
START_TEST(missing_stack_map_is_an_error_only_if_verified)
{
	struct class_spec a = { .methods = { { 1, "f", "()V" } } };
	struct class_spec b = { .methods = { { 1, "f", "()V", .code = "\x2a\xc6\x00\x04\xb1\xb1",
					       .code_len = 6 } } };
	struct redefinition_jvm jvm = { .release = 17 };

	ck_assert_int_eq(check_on(&a, &b, &jvm), 62);
	jvm.unverified = true;
	ck_assert_int_eq(check_on(&a, &b, &jvm), 0);
}
END_TEST

START_TEST(invalid_field_descriptor_is_an_error)
{
	struct class_spec a = { 0 }, b = { .fields = { { 0, "x", "Q" } } };

	ck_assert_int_eq(check(17, &a, &b), 60);
	ck_assert_ptr_nonnull(strchr(buf_str(&why), 'x'));
}
END_TEST

static void check_notes(const struct class_spec *running, const struct class_spec *new,
			const char *words)
{
	struct buf before = build_class(running), now = build_class(new);
	struct cf_class a, b;

	ck_assert_ptr_null(cf_open(&a, before.data, before.len, &mem));
	ck_assert_ptr_null(cf_open(&b, now.data, now.len, &mem));
	buf_reset(&why);
	redefinition_notes(&a, &b, &why);
	ck_assert_str_eq(buf_str(&why), words);
	cf_release(&a);
	cf_release(&b);
	buf_release(&before);
	buf_release(&now);
}

START_TEST(changes_without_effect_are_noted)
{
	struct class_spec a = { .fields = { { 0x18, "X", "I", .value = 1 },
					    { 0x18, "Y", "I", .value = 5 },
					    { 0x10, "z", "I", .value = 7 } },
				.methods = { { 8, "<clinit>", "()V" } } };
	struct class_spec b = a;

	check_notes(&a, &b, "");
	b.fields[0].value = 2;
	b.fields[2].value = 8;
	b.methods[0].code = "\xb1";
	b.methods[0].code_len = 1;
	check_notes(&a, &b, "the static initialiser changed but is not run again\n"
			    "field int X keeps its current value\n");
}
END_TEST

START_TEST(jvmti_errors_have_texts)
{
	static const int codes[] = { 60, 61, 62, 63, 64, 66, 67, 68, 69, 70, 71, 72, 79, 113 };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		ck_assert_uint_gt(strlen(redefinition_error(codes[i])), 10);
		ck_assert_str_ne(redefinition_error(codes[i]), redefinition_error(-1));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/redefine/redefinition");
	TCase *tcase = tcase_create("model/redefine/redefinition");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, NULL, release_why);
	tcase_add_test(tcase, unchanged_class_is_allowed);
	tcase_add_test(tcase, class_file_version_must_suit_the_jvm);
	tcase_add_test(tcase, minor_versions_of_old_class_files_are_checked);
	tcase_add_test(tcase, class_name_must_stay);
	tcase_add_test(tcase, superclass_and_interfaces_must_stay);
	tcase_add_test(tcase, class_modifiers_must_stay);
	tcase_add_test(tcase, fields_must_stay);
	tcase_add_test(tcase, synthetic_attribute_equals_the_flag);
	tcase_add_test(tcase, methods_must_stay);
	tcase_add_test(tcase, private_methods_may_be_added_or_removed_in_jdk_8_and_11);
	tcase_add_test(tcase, static_initialiser_flags_depend_on_the_version);
	tcase_add_test(tcase, nest_must_stay);
	tcase_add_test(tcase, record_components_must_stay);
	tcase_add_test(tcase, permitted_subclasses_must_stay);
	tcase_add_test(tcase, merged_constant_pool_is_limited);
	tcase_add_test(tcase, long_pauses_of_jdk_8_are_estimated);
	tcase_add_test(tcase, first_violation_gives_the_code_and_all_are_listed);
	tcase_add_test(tcase, number_of_listed_violations_is_limited);
	tcase_add_test(tcase, hostile_names_are_escaped);
	tcase_add_test(tcase, invalid_code_is_reported_with_method_and_instruction);
	tcase_add_test(tcase, missing_stack_map_is_an_error_only_if_verified);
	tcase_add_test(tcase, invalid_field_descriptor_is_an_error);
	tcase_add_test(tcase, changes_without_effect_are_noted);
	tcase_add_test(tcase, jvmti_errors_have_texts);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
