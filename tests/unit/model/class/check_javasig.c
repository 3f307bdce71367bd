/* Descriptors and signatures in Java syntax: valid, truncated and invalid. */
#include <check.h>
#include <string.h>

#include "model/class/javasig.h"

static struct buf out;

static void release_out(void)
{
	buf_release(&out);
}

static struct cf_text text(const char *s)
{
	return (struct cf_text){ s, strlen(s) };
}

static void shows(const char *expected)
{
	ck_assert_str_eq(buf_str(&out), expected);
	buf_reset(&out);
}

START_TEST(modified_utf8_becomes_utf8)
{
	javasig_text(&out, text("plain \xc3\xa9"));
	shows("plain \xc3\xa9");
	javasig_text(&out, text("a\xed\xa0\xb4\xed\xb4\x9ez")); /* U+1D11E as a surrogate pair */
	shows("a\xf0\x9d\x84\x9ez");
	javasig_text(&out, text("\xed\xa0\xb4\xed\xb4")); /* an incomplete pair is copied */
	shows("\xed\xa0\xb4\xed\xb4");
	javasig_text(&out, text("\xed\xb4\x9e\xed\xa0\xb4"));
	shows("\xed\xb4\x9e\xed\xa0\xb4");
	javasig_text(&out, (struct cf_text){ NULL, 0 });
	shows("");
}
END_TEST

START_TEST(types_are_shown_in_java_syntax)
{
	static const char *const rows[][2] = {
		{ "I", "int" },
		{ "V", "void" },
		{ "[[Z", "boolean[][]" },
		{ "Ljava/lang/String;", "java.lang.String" },
		{ "[Lp/A$B;", "p.A$B[]" },
		{ "[TT;", "T[]" },
		{ "Ljava/util/Map<TK;+Lp/A;>;", "java.util.Map<K, ? extends p.A>" },
		{ "Lp/A<*-[I>.B<TT;>.C;", "p.A<?, ? super int[]>.B<T>.C" },
		/* Invalid types are copied. */
		{ "", "" },
		{ "X", "X" },
		{ "II", "II" },
		{ "L;", "L;" },
		{ "Lp/A", "Lp/A" },
		{ "T;", "T;" },
		{ "[", "[" },
		{ "Lp/A<>;", "Lp/A<>;" },
		{ "Lp/A<I;", "Lp/A<I;" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		javasig_type(&out, text(rows[i][0]));
		shows(rows[i][1]);
	}
	javasig_class_name(&out, text("p/A"));
	shows("p.A");
	javasig_class_name(&out, text("[[Lp/A;"));
	shows("p.A[][]");
}
END_TEST

/* Formats a signature with `depth` nested type arguments. */
static void nest(unsigned depth)
{
	_cleanup_buf_ struct buf signature = BUF_INIT;

	for (unsigned i = 0; i < depth; i++)
		buf_adds(&signature, "LA<");
	buf_adds(&signature, "TT;");
	for (unsigned i = 0; i < depth; i++)
		buf_adds(&signature, ">;");
	javasig_type(&out, (struct cf_text){ signature.data, signature.len });
}

START_TEST(nesting_depth_is_limited)
{
	nest(3);
	shows("A<A<A<T>>>");
	nest(50000); /* must not exhaust the stack */
	ck_assert_mem_eq(out.data, "LA<LA<", 6);
}
END_TEST

START_TEST(more_than_255_dimensions_are_not_a_type)
{
	char many[258];

	memset(many, '[', 256);
	many[256] = 'I';
	javasig_type(&out, (struct cf_text){ many, 257 });
	ck_assert_uint_eq(out.len, 257); /* unchanged: JVMS 4.3.2 allows 255 dimensions, not 256 */
	buf_reset(&out);
	javasig_type(&out, (struct cf_text){ many + 1, 256 });
	ck_assert_uint_eq(out.len, strlen("int") + 2 * 255);
}
END_TEST

static const char *method(unsigned access, const char *name, const char *descriptor,
			  const char *signature)
{
	const struct javasig_member m = { .access = access,
					  .name = text(name),
					  .descriptor = text(descriptor),
					  .signature = text(signature) };

	buf_reset(&out);
	javasig_method(&out, &m, text("p/C"), false);
	return buf_str(&out);
}

START_TEST(methods_are_shown_in_java_syntax)
{
	ck_assert_str_eq(method(0, "f", "(J[Ljava/lang/String;)I", ""),
			 "int f(long, java.lang.String[])");
	ck_assert_str_eq(method(CF_ACC_PUBLIC | CF_ACC_STATIC, "sort", "(Ljava/util/List;)V",
				"<T::Ljava/lang/Comparable<-TT;>;>(Ljava/util/List<TT;>;)V"),
			 "public static <T extends java.lang.Comparable<? super T>> void "
			 "sort(java.util.List<T>)");
	ck_assert_str_eq(method(0, "f", "()V", "<T:Ljava/lang/Object;U:TT;:Lp/I;>()V^TU;"),
			 "<T, U extends T & p.I> void f() throws U");
	ck_assert_str_eq(method(CF_ACC_PRIVATE, "<init>", "(I)V", ""), "private p.C(int)");
	ck_assert_str_eq(method(CF_ACC_STATIC, "<clinit>", "()V", ""), "static {}");
	ck_assert_str_eq(method(CF_ACC_TRANSIENT, "f", "([[I)V", ""), "void f(int[]...)");
	ck_assert_str_eq(method(CF_ACC_TRANSIENT, "f", "()V", ""), "void f()");
	ck_assert_str_eq(method(0xffff, "f", "()V", ""),
			 "public private protected static final synchronized native abstract "
			 "strictfp void f()");
	/* Invalid descriptors are copied. */
	ck_assert_str_eq(method(0, "f", "(I", "(I"), "f(I");
	ck_assert_str_eq(method(0, "f", "", ""), "f");
}
END_TEST

START_TEST(descriptor_replaces_a_truncated_signature)
{
	static const char complete[] = "<T:Ljava/lang/Object;:Ljava/lang/Runnable;>"
				       "(Ljava/util/Map<-TT;*>.B;[TT;)TT;^Lp/E;^TT;";
	char part[sizeof(complete)];
	size_t n_throws = 0;

	ck_assert_str_eq(method(0, "f", "()V", complete),
			 "<T extends java.lang.Runnable> T f(java.util.Map<? super T, ?>.B, T[]) "
			 "throws p.E, T");
	for (size_t len = 0; len + 1 < sizeof(complete); len++) {
		memcpy(part, complete, len);
		part[len] = '\0';
		(void)method(0, "f", "()V", part);
		if (strstr(out.data, "<T extends"))
			n_throws++;
		else
			ck_assert_str_eq(out.data, "void f()");
	}
	ck_assert_uint_eq(n_throws, 2); /* valid cuts: after the result, after "throws p.E" */
}
END_TEST

START_TEST(members_are_named_by_their_descriptors)
{
	javasig_member_name(&out, text("f"), text("(J)[I"));
	shows("int[] f(long)");
	javasig_member_name(&out, text("<init>"), text("(J)V"));
	shows("<init>(long)");
	javasig_member_name(&out, text("<clinit>"), text("()V"));
	shows("static {}");
	javasig_member_name(&out, text("x"), text("Lp/A;"));
	shows("p.A x");
}
END_TEST

START_TEST(fields_and_class_modifiers_are_shown_in_java_syntax)
{
	struct javasig_member f = { .access = 0xffff,
				    .name = text("x"),
				    .descriptor = text("Lp/A;"),
				    .signature = text("Lp/A<TT;>;") };

	javasig_field(&out, &f);
	shows("public private protected static final volatile transient p.A<T> x");
	f.access = 0;
	f.signature = text("Lp/A<TT;>");
	javasig_field(&out, &f);
	shows("p.A x");
	javasig_class_modifiers(&out, 0xffff, false);
	shows("public final ");
	javasig_class_modifiers(&out, 0xffff, true);
	shows("public final synthetic ");
	javasig_class_modifiers(&out, CF_ACC_ABSTRACT, false);
	shows("abstract ");
}
END_TEST

/* ACC_BRIDGE is the bit of ACC_VOLATILE, ACC_VARARGS that of ACC_TRANSIENT. */
START_TEST(modifiers_without_a_keyword_are_shown_on_request)
{
	struct javasig_member m = {
		.access = CF_ACC_PUBLIC | CF_ACC_SYNTHETIC | CF_ACC_VOLATILE | CF_ACC_TRANSIENT,
		.name = text("f"),
		.descriptor = text("([I)V"),
		.hidden = true,
	};

	javasig_method(&out, &m, text("p/C"), false);
	shows("public synthetic bridge void f(int...)");
	javasig_member_modifiers(&out, &m);
	shows("public synthetic bridge varargs");
	m.hidden = false;
	javasig_method(&out, &m, text("p/C"), false);
	shows("public void f(int...)");
	m.access = CF_ACC_FINAL | CF_ACC_SYNTHETIC | CF_ACC_ENUM;
	m.descriptor = text("I");
	m.hidden = true;
	javasig_field(&out, &m);
	shows("final synthetic enum int f");
	javasig_member_modifiers(&out, &m);
	shows("final synthetic enum");
	m.access = 0;
	javasig_member_modifiers(&out, &m);
	shows("");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/class/javasig");
	TCase *tc = tcase_create("model/class/javasig");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, NULL, release_out);
	tcase_add_test(tc, modified_utf8_becomes_utf8);
	tcase_add_test(tc, types_are_shown_in_java_syntax);
	tcase_add_test(tc, nesting_depth_is_limited);
	tcase_add_test(tc, more_than_255_dimensions_are_not_a_type);
	tcase_add_test(tc, methods_are_shown_in_java_syntax);
	tcase_add_test(tc, modifiers_without_a_keyword_are_shown_on_request);
	tcase_add_test(tc, descriptor_replaces_a_truncated_signature);
	tcase_add_test(tc, members_are_named_by_their_descriptors);
	tcase_add_test(tc, fields_and_class_modifiers_are_shown_in_java_syntax);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
