/* Class files of the user's, wherever they stand. */
#include <check.h>
#include <stdint.h>
#include <unistd.h>

#include "base/io.h"
#include "base/outfile.h"
#include "model/classset.h"
#include "shell.h"
#include "zip_make.h"

static struct classset set;
static struct err err;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	classset_release(&set);
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

/* A class file without members; what tells it from others of its name is its major version. */
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
	struct outfile f;

	ck_assert_int_eq(outfile_open(&f, path, OUTFILE_REPLACE, 0644, &err), 0);
	ck_assert_int_eq(io_write_all(f.fd, b->data, b->len, IO_NO_DEADLINE), 0);
	ck_assert_int_eq(outfile_commit(&f, NULL, &err), 0);
	outfile_release(&f);
}

static void write_class(const char *file, const char *name, unsigned major)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	make_class(&b, name, 0x21, major);
	write_file(file, &b);
}

static void jar_class(struct zip_made *jar, const char *entry, const char *name, unsigned major)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	make_class(&b, name, 0x21, major);
	made_add(jar, entry, 8, b.data, b.len);
}

static void write_jar(struct zip_made *jar, const char *name)
{
	made_end(jar);
	write_file(name, &jar->zip);
	made_release(jar);
}

static int add(const char *name, unsigned release)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);

	return classset_add(&set, path, release, &err);
}

/* All names and major versions, in their order: "a.B 52, c.D 61". */
static const char *content(void)
{
	static struct buf text;

	buf_reset(&text);
	for (size_t i = 0; i < set.n; i++) {
		const struct class_file *f = &set.files[i];

		buf_addf(&text, "%s%s %d", i ? ", " : "", f->name, f->bytes.data[7]);
		ck_assert_ptr_eq(classset_find(&set, f->name), f);
		ck_assert_int_eq(strncmp(f->where, dir, strlen(dir)), 0);
	}
	return buf_str(&text);
}

static const char *where(size_t i)
{
	return set.files[i].where + strlen(dir);
}

START_TEST(file)
{
	ck_assert_ptr_null(classset_find(&set, "a.B"));
	write_class("anything", "a/B$C", 61);
	ck_assert_int_eq(add("anything", 17), 0);
	ck_assert_str_eq(content(), "a.B$C 61");
	ck_assert_str_eq(where(0), "/anything");
	ck_assert(set.files[0].named);
	ck_assert_ptr_null(classset_find(&set, "a.B"));
	ck_assert_ptr_null(classset_find(&set, "a/B$C"));
}
END_TEST

START_TEST(directory)
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

START_TEST(first_wins)
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

START_TEST(links)
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
		"/out/linked/a/round is a link to a directory that it is in"));
}
END_TEST

static const struct {
	const char *furnish, *path, *error;
	enum exit_code code;
} unfit[] = {
	{ "true", "nothing", "nothing cannot be read: No such file or directory", EXIT_USAGE },
	{ "mkdir empty", "empty", "empty holds no class files", EXIT_USAGE },
	{ "mkdir d; ln -s nowhere d/A.class", "d", "d/A.class cannot be read: No such file",
	  EXIT_USAGE },
	{ "mkdir d; mkfifo d/A.class", "d", "d/A.class is no regular file", EXIT_USAGE },
	{ "mkfifo A", "A", "A is no regular file", EXIT_USAGE },
	{ "mkdir d; echo no >d/A.class", "d", "d/A.class is no class file: ", EXIT_ANSWER },
	{ "echo no >A.class", "A.class", "A.class is no class file: it does not", EXIT_ANSWER },
	{ "printf '\\312\\376\\272\\276' >A", "A", "A is no class file: ", EXIT_ANSWER },
	{ ": >A", "A", "A is neither class file nor jar: it is no zip file", EXIT_USAGE },
};

START_TEST(refused)
{
	shell("%s", unfit[_i].furnish);
	ck_assert_int_eq(add(unfit[_i].path, 17), -1);
	ck_assert_int_eq(err.code, unfit[_i].code);
	ck_assert_msg(strstr(err.text, unfit[_i].error), "%s", err.text);
}
END_TEST

START_TEST(names)
{
	static const char *const none[] = { "", "[I" };
	_cleanup_buf_ struct buf b = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		write_class("A", none[i], 52);
		err = (struct err){ 0 };
		ck_assert_int_eq(add("A", 17), -1);
		ck_assert_ptr_nonnull(strstr(err.text, "A is no class file: it has no name"));
	}
	make_class(&b, "module-info", 0x8000, 53);
	write_file("A", &b);
	err = (struct err){ 0 };
	ck_assert_int_eq(add("A", 17), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "A holds no class files"));
}
END_TEST

static void make_multi_release(const char *manifest)
{
	struct zip_made jar = { 0 };

	made_add(&jar, "META-INF/", 0, "", 0);
	made_add(&jar, "META-INF/MANIFEST.MF", 8, manifest, strlen(manifest));
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
	{ 0, "A 52, B 52" },
	{ 8, "A 52, B 52" },
	{ 9, "A 53, B 52" },
	{ 10, "A 53, B 52" },
	{ 11, "A 55, OnlyLater 55, B 52" },
	{ 17, "A 61, OnlyLater 55, B 52" },
	{ UINT32_MAX, "A 61, OnlyLater 55, B 52" },
};

START_TEST(multi_release)
{
	make_multi_release("Manifest-Version: 1.0\r\nmulti-release: TRUE\r\n\r\nName: a\r\n");
	ck_assert_int_eq(add("mr.jar", releases[_i].release), 0);
	ck_assert_str_eq(content(), releases[_i].content);
}
END_TEST

static const char *const single[] = {
	"",
	"Manifest-Version: 1.0\nMulti-Release: false\n",
	"Manifest-Version: 1.0\n\nName: a\nMulti-Release: true\n",
	"Multi-Release: true!\n",
};

START_TEST(single_release)
{
	make_multi_release(single[_i]);
	ck_assert_int_eq(add("mr.jar", 21), 0);
	ck_assert_str_eq(content(), "A 52, B 52");
}
END_TEST

/* A jar with a class of its own, and one that only a later release has. */
static void make_inner(struct zip_made *jar, const char *class)
{
	static const char manifest[] = "Multi-Release: true\n";
	_cleanup_free_ char *plain = xasprintf("%s.class", class);
	_cleanup_free_ char *later = xasprintf("META-INF/versions/11/%s.class", class);

	jar_class(jar, plain, class, 52);
	jar_class(jar, later, class, 55);
	jar_class(jar, "org/App.class", "org/App", 1);
	made_add(jar, "META-INF/MANIFEST.MF", 0, manifest, strlen(manifest));
	made_end(jar);
}

START_TEST(nested)
{
	struct zip_made jar = { 0 }, stored = { 0 }, packed = { 0 };

	make_inner(&stored, "Stored");
	make_inner(&packed, "Packed");
	buf_adds(&jar.zip, "#!/bin/bash\n");
	made_add(&jar, "BOOT-INF/lib/stored.jar", 0, stored.zip.data, stored.zip.len);
	made_add(&jar, "WEB-INF/lib/packed.jar", 8, packed.zip.data, packed.zip.len);
	made_add(&jar, "elsewhere/other.jar", 0, "no jar", 6);
	jar_class(&jar, "org/Loader.class", "org/Loader", 52);
	jar_class(&jar, "BOOT-INF/classes/org/App.class", "org/App", 61);
	jar_class(&jar, "WEB-INF/classes/org/Web.class", "org/Web", 61);
	made_release(&stored);
	made_release(&packed);
	write_jar(&jar, "app.jar");
	ck_assert_int_eq(add("app.jar", 17), 0);
	ck_assert_str_eq(content(), "org.Loader 52, org.App 61, org.Web 61, Stored 55, Packed 55");
	ck_assert_str_eq(where(1), "/app.jar!/BOOT-INF/classes/org/App.class");
	ck_assert_str_eq(where(3),
			 "/app.jar!/BOOT-INF/lib/stored.jar!/META-INF/versions/11/Stored.class");
}
END_TEST

START_TEST(damaged_jars)
{
	struct zip_made jar = { 0 };

	made_add(&jar, "a/B.class", 8, "no class", 8);
	write_jar(&jar, "a.jar");
	ck_assert_int_eq(add("a.jar", 17), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/a.jar!/a/B.class is no class file: "));
	jar = (struct zip_made){ 0 };
	err = (struct err){ 0 };
	made_add(&jar, "BOOT-INF/lib/x.jar", 8, "no jar", 6);
	write_jar(&jar, "b.jar");
	ck_assert_int_eq(add("b.jar", 17), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/b.jar!/BOOT-INF/lib/x.jar cannot be read: "));
	jar = (struct zip_made){ 0 };
	err = (struct err){ 0 };
	made_add(&jar, "a/B.class", 8, "no class", 8);
	jar.directory.data[16]++; /* its CRC */
	write_jar(&jar, "c.jar");
	ck_assert_int_eq(add("c.jar", 17), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/c.jar!/a/B.class cannot be read: it is damaged"));
}
END_TEST

static bool is_wanted(const char *name, const void *arg)
{
	return strcmp(name, arg) == 0;
}

START_TEST(wanted)
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

START_TEST(many)
{
	struct zip_made jar = { 0 };

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
	Suite *s = suite_create("classset");
	TCase *tc = tcase_create("classset");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, file);
	tcase_add_test(tc, directory);
	tcase_add_test(tc, first_wins);
	tcase_add_test(tc, links);
	tcase_add_loop_test(tc, refused, 0, ARRAY_SIZE(unfit));
	tcase_add_test(tc, names);
	tcase_add_loop_test(tc, multi_release, 0, ARRAY_SIZE(releases));
	tcase_add_loop_test(tc, single_release, 0, ARRAY_SIZE(single));
	tcase_add_test(tc, nested);
	tcase_add_test(tc, damaged_jars);
	tcase_add_test(tc, wanted);
	tcase_add_test(tc, many);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
