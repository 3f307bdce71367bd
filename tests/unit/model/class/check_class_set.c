/* Class files given by the user: single, in directories, in jars and in nested jars. */
#include <check.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "fileio/io.h"
#include "fileio/atomic_file.h"
#include "model/class/class_set.h"
#include "base/hash.h"
#include "unit/support/same_hash.h"
#include "unit/support/shell.h"
#include "unit/support/zip_writer.h"

static struct class_set set;
static struct err err;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	class_set_release(&set);
	shell("rm -rf %s", dir);
}

static void put_be16(struct buf *b, unsigned v)
{
	buf_addc(b, (char)(v >> 8));
	buf_addc(b, (char)v);
}

static void put_utf8(struct buf *b, const char *text)
{
	buf_addc(b, 1);
	put_be16(b, (unsigned)strlen(text));
	buf_adds(b, text);
}

/*
 * Makes a class file without members.  Its major version distinguishes it from files of the same
 * name.
 */
static void make_class(struct buf *b, const char *name, unsigned access, unsigned major)
{
	put_be16(b, 0xcafe);
	put_be16(b, 0xbabe);
	put_be16(b, 0);
	put_be16(b, major);
	put_be16(b, 5);
	put_utf8(b, name);
	buf_addc(b, 7);
	put_be16(b, 1);
	put_utf8(b, "java/lang/Object");
	buf_addc(b, 7);
	put_be16(b, 3);
	put_be16(b, access);
	put_be16(b, 2);
	put_be16(b, 4);
	for (int i = 0; i < 4; i++)
		put_be16(b, 0);
}

static void write_file(const char *name, const struct buf *b)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	struct atomic_file f;

	ck_assert_int_eq(atomic_file_open(&f, path, ATOMIC_FILE_REPLACE, 0644, &err), 0);
	ck_assert_int_eq(io_write_all(f.fd, b->data, b->len, DEADLINE_NEVER), 0);
	ck_assert_int_eq(atomic_file_commit(&f, NULL, &err), 0);
	atomic_file_release(&f);
}

static void write_class(const char *file, const char *name, unsigned major)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	make_class(&b, name, 0x21, major);
	write_file(file, &b);
}

static void jar_class(struct zip_writer *jar, const char *entry, const char *name, unsigned major)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	make_class(&b, name, 0x21, major);
	zip_add(jar, entry, 8, b.data, b.len);
}

static void write_jar(struct zip_writer *jar, const char *name)
{
	zip_end(jar);
	write_file(name, &jar->zip);
	zip_writer_release(jar);
}

static int add(const char *name, unsigned release)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);

	return class_set_add(&set, path, release, &err);
}

/* Returns names and major versions in the order of the set: "a.B 52, c.D 61". */
static const char *content(void)
{
	static struct buf text;

	buf_reset(&text);
	for (size_t i = 0; i < set.n; i++) {
		const struct class_file *f = &set.files[i];

		buf_addf(&text, "%s%s %d", i ? ", " : "", f->name, f->bytes.data[7]);
		ck_assert_ptr_eq(class_set_find(&set, f->name), f);
		ck_assert_int_eq(strncmp(f->where, dir, strlen(dir)), 0);
	}
	return buf_str(&text);
}

static const char *where(size_t i)
{
	return set.files[i].where + strlen(dir);
}

START_TEST(class_file_is_found_by_its_class_name)
{
	ck_assert_ptr_null(class_set_find(&set, "a.B"));
	write_class("anything", "a/B$C", 61);
	ck_assert_int_eq(add("anything", 17), 0);
	ck_assert_str_eq(content(), "a.B$C 61");
	ck_assert_str_eq(where(0), "/anything");
	ck_assert(set.files[0].named);
	ck_assert_ptr_null(class_set_find(&set, "a.B"));
	ck_assert_ptr_null(class_set_find(&set, "a/B$C"));
}
END_TEST

START_TEST(directory_is_searched_for_class_files)
{
	shell("mkdir -p out/b/c out/a out/empty && echo no >out/a/README");
	write_class("out/b/c/D.class", "b/c/D", 61);
	write_class("out/a/Z.class", "a/Z", 52);
	write_class("out/a/A.class", "not/As/The/File", 52);
	write_class("out/Top.class", "Top", 52);
	write_class("out/a/package-info.class", "a/package-info", 52);
	write_class("out/b/not-package-info.class", "b/not-package-info", 52);
	ck_assert_int_eq(add("out/", 8), 0);
	ck_assert_str_eq(content(), "Top 52, not.As.The.File 52, a.Z 52, b.c.D 61, "
				    "b.not-package-info 52");
	ck_assert_str_eq(where(3), "/out/b/c/D.class");
	ck_assert(!set.files[3].named);
}
END_TEST

START_TEST(first_file_of_a_class_wins)
{
	shell("mkdir one two");
	write_class("one/A.class", "A", 1);
	write_class("one/B.class", "A", 2);
	write_class("two/A.class", "A", 3);
	write_class("two/B.class", "B", 4);
	ck_assert_int_eq(add("one", 0), 0);
	ck_assert_int_eq(add("two", 0), 0);
	ck_assert_str_eq(content(), "A 1, B 4");
}
END_TEST

START_TEST(symbolic_links_are_followed_and_cycles_rejected)
{
	shell("mkdir -p real/a out && ln -s ../real out/linked && ln -s real again");
	write_class("real/a/A.class", "a/A", 52);
	ck_assert_int_eq(add("out", 0), 0);
	ck_assert_str_eq(content(), "a.A 52");
	ck_assert_int_eq(add("again", 0), 0);
	shell("ln -s ../../real real/a/round");
	ck_assert_int_eq(add("out", 0), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(err.text,
		"/out/linked/a/round' is a link to a directory that contains it; remove the link"));
}
END_TEST

static const struct {
	const char *prepare, *path, *start, *error;
} unusable[] = {
	{ "true", "nothing", "cannot read '", "nothing': No such file or directory" },
	{ "mkdir empty", "empty", "'", "empty' contains no class files" },
	{ "mkdir d; ln -s nowhere d/A.class", "d", "cannot read '", "d/A.class': No such file" },
	{ "mkdir d; mkfifo d/A.class", "d", "cannot read '", "d/A.class': not a regular file" },
	{ "mkfifo A", "A", "cannot read '", "A': not a regular file" },
	{ "mkdir d; echo no >d/A.class", "d", "'",
	  "d/A.class' is not a class file: " },
	{ "echo no >A.class", "A.class", "'",
	  "A.class' is not a class file: it does not" },
	{ "printf '\\312\\376\\272\\276' >A", "A", "'", "A' is not a class file: " },
	{ ": >A", "A", "'",
	  "A' is neither a class file nor a jar: it is not a zip file" },
};

START_TEST(unusable_paths_are_rejected)
{
	shell("%s", unusable[_i].prepare);
	ck_assert_int_eq(add(unusable[_i].path, 17), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	ck_assert_msg(strncmp(err.text, unusable[_i].start, strlen(unusable[_i].start)) == 0, "%s",
		      err.text);
	ck_assert_msg(strstr(err.text, unusable[_i].error), "%s", err.text);
}
END_TEST

START_TEST(classes_without_a_class_name_are_rejected)
{
	static const char *const invalid[] = { "", "[I" };
	_cleanup_buf_ struct buf b = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		write_class("A", invalid[i], 52);
		err = (struct err){ 0 };
		ck_assert_int_eq(add("A", 17), -1);
		ck_assert_ptr_nonnull(
			strstr(err.text, "A' is not a class file: the class has no name"));
	}
	make_class(&b, "module-info", 0x8000, 53);
	write_file("A", &b);
	err = (struct err){ 0 };
	ck_assert_int_eq(add("A", 17), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "A' contains no class files"));
}
END_TEST

static void make_multi_release(const char *manifest)
{
	struct zip_writer jar = { 0 };

	zip_add(&jar, "META-INF/", 0, "", 0);
	zip_add(&jar, "META-INF/MANIFEST.MF", 8, manifest, strlen(manifest));
	jar_class(&jar, "A.class", "A", 52);
	jar_class(&jar, "B.class", "B", 52);
	jar_class(&jar, "META-INF/versions/9/A.class", "A", 53);
	jar_class(&jar, "META-INF/versions/11/A.class", "A", 55);
	jar_class(&jar, "META-INF/versions/11/OnlyLater.class", "OnlyLater", 55);
	jar_class(&jar, "META-INF/versions/17/A.class", "A", 61);
	jar_class(&jar, "META-INF/versions/8/A.class", "A", 50);
	jar_class(&jar, "META-INF/versions/99999999999999999999/A.class", "A", 99);
	jar_class(&jar, "META-INF/versions/x/A.class", "A", 98);
	jar_class(&jar, "META-INF/lib/C.class", "C", 52);
	write_jar(&jar, "mr.jar");
}

static const struct {
	unsigned release;
	const char *content;
} releases[] = {
	{ 8, "A 52, B 52" },
	{ 9, "A 53, B 52" },
	{ 10, "A 53, B 52" },
	{ 11, "A 55, OnlyLater 55, B 52" },
	{ 17, "A 61, OnlyLater 55, B 52" },
	{ UINT32_MAX, "A 61, OnlyLater 55, B 52" },
};

START_TEST(jar_entries_match_the_java_release)
{
	make_multi_release("Manifest-Version: 1.0\r\nmulti-release: TRUE\r\n\r\nName: a\r\n");
	ck_assert_int_eq(add("mr.jar", releases[_i].release), 0);
	ck_assert_str_eq(content(), releases[_i].content);
}
END_TEST

START_TEST(jar_with_versions_is_rejected_if_the_java_release_is_unknown)
{
	make_multi_release("Multi-Release: true\n");
	ck_assert_int_eq(add("mr.jar", 0), -1);
	ck_assert_int_eq(err.code, EXIT_ANSWER);
	ck_assert_ptr_nonnull(strstr(err.text, "/mr.jar' has classes for several JDK releases"));
	ck_assert_str_eq(content(), "");
}
END_TEST

START_TEST(jar_without_versions_needs_no_java_release)
{
	static const char manifest[] = "Multi-Release: true\n";
	struct zip_writer jar = { 0 };

	zip_add(&jar, "META-INF/MANIFEST.MF", 8, manifest, strlen(manifest));
	zip_add(&jar, "META-INF/versions/9/note.txt", 0, "", 0);
	jar_class(&jar, "A.class", "A", 52);
	jar_class(&jar, "META-INF/versions/8/A.class", "A", 50);
	write_jar(&jar, "a.jar");
	ck_assert_int_eq(add("a.jar", 0), 0);
	ck_assert_str_eq(content(), "A 52");
	make_multi_release("Multi-Release: false\n");
	ck_assert_int_eq(add("mr.jar", 0), 0);
	ck_assert_str_eq(content(), "A 52, B 52");
}
END_TEST

static const char *const single[] = {
	"",
	"Manifest-Version: 1.0\nMulti-Release: false\n",
	"Manifest-Version: 1.0\n\nName: a\nMulti-Release: true\n",
	"Multi-Release: true!\n",
};

START_TEST(versions_of_a_jar_without_multi_release_are_ignored)
{
	make_multi_release(single[_i]);
	ck_assert_int_eq(add("mr.jar", 21), 0);
	ck_assert_str_eq(content(), "A 52, B 52");
}
END_TEST

/* Makes a multi-release jar with `class`, a newer `class` for JDK 11, and org.App. */
static void make_inner(struct zip_writer *jar, const char *class)
{
	static const char manifest[] = "Multi-Release: true\n";
	_cleanup_free_ char *plain = xasprintf("%s.class", class);
	_cleanup_free_ char *newer = xasprintf("META-INF/versions/11/%s.class", class);

	jar_class(jar, plain, class, 52);
	jar_class(jar, newer, class, 55);
	jar_class(jar, "org/App.class", "org/App", 1);
	zip_add(jar, "META-INF/MANIFEST.MF", 0, manifest, strlen(manifest));
	zip_end(jar);
}

START_TEST(nested_jars_are_searched)
{
	struct zip_writer jar = { 0 }, stored = { 0 }, packed = { 0 };

	make_inner(&stored, "Stored");
	make_inner(&packed, "Packed");
	buf_adds(&jar.zip, "#!/bin/bash\n");
	zip_add(&jar, "BOOT-INF/lib/stored.jar", 0, stored.zip.data, stored.zip.len);
	zip_add(&jar, "WEB-INF/lib/packed.jar", 8, packed.zip.data, packed.zip.len);
	zip_add(&jar, "elsewhere/other.jar", 0, "no jar", 6);
	jar_class(&jar, "org/Loader.class", "org/Loader", 52);
	jar_class(&jar, "BOOT-INF/classes/org/App.class", "org/App", 61);
	jar_class(&jar, "WEB-INF/classes/org/Web.class", "org/Web", 61);
	zip_writer_release(&stored);
	zip_writer_release(&packed);
	write_jar(&jar, "app.jar");
	ck_assert_int_eq(add("app.jar", 17), 0);
	ck_assert_str_eq(content(), "org.Loader 52, org.App 61, org.Web 61, Stored 55, Packed 55");
	ck_assert_str_eq(where(1), "/app.jar!/BOOT-INF/classes/org/App.class");
	ck_assert_str_eq(where(3),
			 "/app.jar!/BOOT-INF/lib/stored.jar!/META-INF/versions/11/Stored.class");
}
END_TEST

START_TEST(nested_jar_with_versions_is_rejected_if_the_java_release_is_unknown)
{
	struct zip_writer jar = { 0 }, inner = { 0 };

	make_inner(&inner, "Inner");
	zip_add(&jar, "BOOT-INF/lib/inner.jar", 0, inner.zip.data, inner.zip.len);
	zip_writer_release(&inner);
	write_jar(&jar, "app.jar");
	ck_assert_int_eq(add("app.jar", 0), -1);
	ck_assert_ptr_nonnull(
		strstr(err.text, "/app.jar!/BOOT-INF/lib/inner.jar' has classes for"));
}
END_TEST

START_TEST(damaged_jars_are_rejected)
{
	struct zip_writer jar = { 0 };

	zip_add(&jar, "a/B.class", 8, "no class", 8);
	write_jar(&jar, "a.jar");
	ck_assert_int_eq(add("a.jar", 17), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/a.jar!/a/B.class' is not a class file: "));
	ck_assert_int_eq(err.code, EXIT_USAGE);
	jar = (struct zip_writer){ 0 };
	err = (struct err){ 0 };
	zip_add(&jar, "BOOT-INF/lib/x.jar", 8, "no jar", 6);
	write_jar(&jar, "b.jar");
	ck_assert_int_eq(add("b.jar", 17), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot read '"));
	ck_assert_ptr_nonnull(strstr(err.text, "/b.jar!/BOOT-INF/lib/x.jar': "));
	jar = (struct zip_writer){ 0 };
	err = (struct err){ 0 };
	zip_add(&jar, "a/B.class", 8, "no class", 8);
	jar.directory.data[16]++; /* CRC of a/B.class */
	write_jar(&jar, "c.jar");
	ck_assert_int_eq(add("c.jar", 17), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot read '"));
	ck_assert_ptr_nonnull(strstr(err.text, "/c.jar!/a/B.class': it is damaged"));
}
END_TEST

static bool is_wanted(const char *name, const void *arg)
{
	return strcmp(name, arg) == 0;
}

START_TEST(unwanted_classes_are_skipped)
{
	set.wants = is_wanted;
	set.arg = "b.c.D";
	write_class("A.class", "A", 61);
	write_class("D.class", "b/c/D", 61);
	ck_assert_int_eq(add("A.class", 0), 0);
	ck_assert_int_eq(add("D.class", 0), 0);
	ck_assert_str_eq(content(), "b.c.D 61");
}
END_TEST

START_TEST(names_of_one_hash_are_two_classes)
{
	ck_assert_uint_eq(hash_bytes(same_hash[0], 16), hash_bytes(same_hash[1], 16));
	write_class("A.class", same_hash[0], 61);
	write_class("B.class", same_hash[1], 61);
	ck_assert_int_eq(add("A.class", 0), 0);
	ck_assert_ptr_null(class_set_find(&set, same_hash[1]));
	ck_assert_int_eq(add("B.class", 0), 0);
	ck_assert_uint_eq(set.n, 2);
	ck_assert_ptr_eq(class_set_find(&set, same_hash[0]), &set.files[0]);
	ck_assert_ptr_eq(class_set_find(&set, same_hash[1]), &set.files[1]);
}
END_TEST

START_TEST(a_thousand_classes_are_found)
{
	struct zip_writer jar = { 0 };

	for (int i = 0; i < 1000; i++) {
		_cleanup_free_ char *name = xasprintf("p%d/C%d", i % 7, i);

		jar_class(&jar, "x.class", name, 52);
	}
	write_jar(&jar, "a.jar");
	ck_assert_int_eq(add("a.jar", 17), 0);
	ck_assert_uint_eq(set.n, 1000);
	(void)content();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/class/class_set");
	TCase *tc = tcase_create("model/class/class_set");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, class_file_is_found_by_its_class_name);
	tcase_add_test(tc, directory_is_searched_for_class_files);
	tcase_add_test(tc, first_file_of_a_class_wins);
	tcase_add_test(tc, symbolic_links_are_followed_and_cycles_rejected);
	tcase_add_loop_test(tc, unusable_paths_are_rejected, 0, ARRAY_SIZE(unusable));
	tcase_add_test(tc, classes_without_a_class_name_are_rejected);
	tcase_add_loop_test(tc, jar_entries_match_the_java_release, 0, ARRAY_SIZE(releases));
	tcase_add_test(tc, jar_with_versions_is_rejected_if_the_java_release_is_unknown);
	tcase_add_test(tc, jar_without_versions_needs_no_java_release);
	tcase_add_loop_test(tc, versions_of_a_jar_without_multi_release_are_ignored, 0,
			    ARRAY_SIZE(single));
	tcase_add_test(tc, nested_jars_are_searched);
	tcase_add_test(tc, nested_jar_with_versions_is_rejected_if_the_java_release_is_unknown);
	tcase_add_test(tc, damaged_jars_are_rejected);
	tcase_add_test(tc, unwanted_classes_are_skipped);
	tcase_add_test(tc, names_of_one_hash_are_two_classes);
	tcase_add_test(tc, a_thousand_classes_are_found);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
