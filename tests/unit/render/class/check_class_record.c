/* The description of a class, from intact and from damaged class files. */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "classfile/read.h"
#include "unit/support/data.h"
#include "render/class/class_record.h"
#include "wire/frame.h"

static struct ag_mem mem = { .budget = SIZE_MAX };

/* A class as the JVM describes it: a name, and for some tests supertypes and members. */
struct fixture {
	struct class_row row;
	struct class_origins origins;
	struct class_info info;
	struct class_capture captured;
	struct class_view view;
};

static char file_name[] = "Sheet.java";

static void init_fixture(struct fixture *s, const char *name, const char *signature)
{
	*s = (struct fixture){
		.row = { .name = (char *)(uintptr_t)name,
			 .signature = (char *)(uintptr_t)signature,
			 .modifiers = 0x0010 },
		.info = { .major = 61, .minor = UINT16_MAX, .file = file_name },
	};
	s->view = (struct class_view){
		.row = &s->row, .origins = &s->origins, .info = &s->info, .captured = &s->captured
	};
}

static char *printed(const struct class_view *view)
{
	struct record *record = class_record(view);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	record_print(record, out);
	ck_assert_int_eq(fclose(out), 0);
	json_free(record_json(record));
	record_free(record);
	return text;
}

#define COMPILED \
	"Compiled from:  Sheet.java, class file version 61.65535 of Java 17 with preview " \
	"features\n"

static const struct {
	const char *file, *name, *signature, *text;
} samples[] = {
	{ "classsheet/Pair.class", "Sheet$Pair", "LSheet$Pair;",
	  "Class:          final class Sheet$Pair<T> extends java.lang.Record implements "
	  "Sheet$Kin\n"
	  "Kind:           record\n"
	  "Annotations:    Sheet$Mark\n"
	  "                java.lang.Deprecated\n"
	  "Loader:         bootstrap\n"
	  COMPILED
	  "Interfaces:     Sheet$Kin\n"
	  "Nest host:      Sheet\n"
	  "Components:     int first\n"
	  "                java.util.List<? super T> second\n"
	  "\n"
	  "Fields:         private final int first\n"
	  "                private final java.util.List<? super T> second\n"
	  "                static final long LIMIT\n"
	  "\n"
	  "Methods:        Sheet$Pair(int, java.util.List<? super T>)\n"
	  "                <E extends java.lang.Exception> T either(T[]...) throws "
	  "java.io.IOException\n"
	  "                public final java.lang.String toString()\n"
	  "                public final int hashCode()\n"
	  "                public final boolean equals(java.lang.Object)\n"
	  "                public int first()\n"
	  "                public java.util.List<? super T> second()\n" },
	{ "classsheet/Kin.class", "Sheet$Kin", "LSheet$Kin;",
	  "Class:          interface Sheet$Kin\n"
	  "Kind:           record\n"
	  "Loader:         bootstrap\n"
	  COMPILED
	  "Permits:        Sheet$Pair\n"
	  "                Sheet$Other\n"
	  "Nest host:      Sheet\n" },
	{ "classsheet/Sheet.class", "Sheet", "LSheet;",
	  "Class:          final class Sheet\n"
	  "Kind:           record\n"
	  "Loader:         bootstrap\n"
	  COMPILED
	  "Nest members:   Sheet$Pair\n"
	  "                Sheet$Other\n"
	  "                Sheet$Kin\n"
	  "                Sheet$Mark\n"
	  "                Sheet$Deep\n"
	  "\n"
	  "Methods:        Sheet()\n" },
};

START_TEST(class_file_is_described)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	_cleanup_free_ char *text = NULL;
	struct cf_class class;
	struct fixture s;

	read_data(samples[_i].file, &file);
	ck_assert_ptr_null(cf_open(&class, file.data, file.len, &mem));
	init_fixture(&s, samples[_i].name, samples[_i].signature);
	s.row.traits = WIRE_CLASS_LINKED | WIRE_CLASS_RECORD;
	s.view.file = &class;
	text = printed(&s.view);
	ck_assert_str_eq(text, samples[_i].text);
	cf_release(&class);
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

/* Damages each byte: the class is described, partly or completely, without a bad read. */
START_TEST(damaged_class_files_do_not_crash)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x40, 0x5b, 0xff };
	_cleanup_buf_ struct buf file = BUF_INIT;

	read_data("classsheet/Pair.class", &file);
	for (size_t at = 0; at < file.len; at++) {
		char was = file.data[at];

		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			struct cf_class class;
			struct fixture s;

			file.data[at] = (char)values[i];
			if (cf_open(&class, file.data, file.len, &mem))
				continue;
			init_fixture(&s, "Sheet$Pair", "LSheet$Pair;");
			s.view.file = &class;
			free(printed(&s.view));
			cf_release(&class);
		}
		file.data[at] = was;
	}
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

static char app[] = "app", late[] = "p.Late @1", init[] = "<init>", run[] = "run",
	    object[] = "java.lang.Object", runnable[] = "java.lang.Runnable", nothing[] = "",
	    void_of_nothing[] = "()V";

/* A hidden class has no class file: only the JVM describes it. */
START_TEST(class_without_class_file_is_described_by_jvmti)
{
	struct class_loader loaders[] = { { .label = app }, { .label = late } };
	struct class_super supers[] = { { object, 0 } }, interfaces[] = { { runnable, 1 } };
	struct class_member methods[] = { { 2, init, void_of_nothing, nothing },
					  { 1, run, void_of_nothing, nothing } };
	_cleanup_free_ char *text = NULL;
	struct fixture s;

	init_fixture(&s, "p.A$$Lambda/0x7f", "Lp/A$$Lambda.0x7f;");
	s.origins = (struct class_origins){ .loaders = loaders, .n_loaders = 2 };
	s.row.loader = 2;
	s.row.traits = WIRE_CLASS_LINKED | WIRE_CLASS_PATCHED;
	s.info.supers = (struct class_supers){ supers, 1, 1 };
	s.info.interfaces = (struct class_supers){ interfaces, 1, 1 };
	s.info.methods = (struct class_members){ methods, 2, 2 };
	s.info.minor = 0;
	s.info.file = nothing;
	s.view.why_not = "that";
	text = printed(&s.view);
	ck_assert_str_eq(text, "Class:          final class p.A$$Lambda/0x7f\n"
			       "Kind:           lambda\n"
			       "Loader:         p.Late @1\n"
			       "Compiled from:  class file version 61.0 of Java 17\n"
			       "Superclasses:   java.lang.Object\n"
			       "Interfaces:     java.lang.Runnable, loaded by app\n"
			       "Patched:        by jtool, see 'jtool patches'\n"
			       "Unavailable:    that\n"
			       "\n"
			       "Methods:        private p.A$$Lambda()\n"
			       "                public void run()\n");
}
END_TEST

START_TEST(array_class_has_only_name_kind_and_loader)
{
	_cleanup_free_ char *text = NULL;
	struct fixture s;

	init_fixture(&s, "int[][]", "[[I");
	s.row.traits = WIRE_CLASS_ARRAY;
	s.info = (struct class_info){ .file = nothing };
	text = printed(&s.view);
	ck_assert_str_eq(text, "Class:         int[][]\n"
			       "Kind:          array\n"
			       "Loader:        bootstrap\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("render/class/class_record");
	TCase *tc = tcase_create("render/class/class_record");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, class_file_is_described, 0, ARRAY_SIZE(samples));
	tcase_add_test(tc, damaged_class_files_do_not_crash);
	tcase_add_test(tc, class_without_class_file_is_described_by_jvmti);
	tcase_add_test(tc, array_class_has_only_name_kind_and_loader);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
