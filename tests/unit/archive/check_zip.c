/* The zip reader, with ordinary jars and with malformed ones. */
#include <check.h>
#include <unistd.h>

#include "fileio/io.h"
#include "archive/zip.h"
#include "unit/support/zip_writer.h"

#define ANY_SIZE (1u << 20)

static struct zip_writer jar;
static struct zip zip;
static char large[100000];

static void setup(void)
{
	/* Text that deflate compresses, but not by a factor of 1000. */
	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = "abcdefg"[i * i / 7 * 2654435761u % 4294967291u % 7];
}

static void teardown(void)
{
	zip_release(&zip);
	zip_writer_release(&jar);
}

/* Opens an exact copy of the first `len` bytes, so that ASan detects a read past its end. */
static const char *open_copy(size_t len)
{
	static char *copy;

	free(copy);
	copy = xmalloc(len);
	if (len)
		memcpy(copy, jar.zip.data, len);
	return zip_open(&zip, &(struct zip_bytes){ .data = copy, .len = len });
}

static const char *open_jar(void)
{
	return open_copy(jar.zip.len);
}

static const char *read_entry(const char *name, struct buf *out)
{
	struct zip_entry entry;

	for (size_t at = 0; zip_next(&zip, &at, &entry);) {
		if (entry.name_len == strlen(name) &&
		    memcmp(entry.name, name, entry.name_len) == 0)
			return zip_read(&zip, &entry, ANY_SIZE, out);
	}
	return "there is no such entry";
}

static void assert_entry(const char *name, const void *data, size_t len)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	buf_adds(&b, "before");
	ck_assert_pstr_eq(read_entry(name, &b), NULL);
	ck_assert_uint_eq(b.len, 6 + len);
	ck_assert(memcmp(b.data, "before", 6) == 0 && memcmp(b.data + 6, data, len) == 0);
	ck_assert_int_eq(b.data[b.len], '\0');
}

static void add_entries(void)
{
	zip_add(&jar, "a/B.class", 0, "stored", 6);
	zip_add(&jar, "a/", 0, "", 0);
	zip_add(&jar, "a/C.class", 8, large, sizeof(large));
	zip_add(&jar, "empty", 8, "", 0);
}

static void assert_entries(void)
{
	assert_entry("a/B.class", "stored", 6);
	assert_entry("a/C.class", large, sizeof(large));
	assert_entry("empty", "", 0);
}

START_TEST(archive_in_memory_is_read)
{
	struct zip_entry entry;
	size_t at = 0, n = 0;

	add_entries();
	zip_end(&jar);
	ck_assert_pstr_eq(open_jar(), NULL);
	assert_entries();
	while (zip_next(&zip, &at, &entry))
		n++;
	ck_assert_uint_eq(n, 4);
}
END_TEST

static int as_file(void)
{
	int fd = io_unnamed_file();

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_write_all(fd, jar.zip.data, jar.zip.len, DEADLINE_NEVER), 0);
	return fd;
}

START_TEST(archive_in_a_file_is_read_and_may_change)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int fd;

	add_entries();
	zip_end(&jar);
	fd = as_file();
	ck_assert_pstr_eq(zip_open(&zip, &(struct zip_bytes){ .fd = fd, .len = jar.zip.len }),
			  NULL);
	assert_entries();
	/* Another process truncates the file. */
	ck_assert_int_eq(ftruncate(fd, 50), 0);
	assert_entry("a/B.class", "stored", 6);
	buf_adds(&b, "kept");
	ck_assert_pstr_ne(read_entry("a/C.class", &b), NULL);
	ck_assert_str_eq(buf_str(&b), "kept");
	zip_release(&zip);
	ck_assert_pstr_ne(zip_open(&zip, &(struct zip_bytes){ .fd = fd, .len = jar.zip.len }),
			  NULL);
	zip = (struct zip){ 0 };
	(void)close(fd);
}
END_TEST

/* Offsets may count from the start of the script or from the start of the archive after it. */
START_TEST(archive_after_a_script_is_read)
{
	buf_adds(&jar.zip, "#!/bin/sh\nexec java -jar \"$0\"\n");
	jar.base = _i ? jar.zip.len : 0;
	add_entries();
	zip_end(&jar);
	ck_assert_pstr_eq(open_jar(), NULL);
	assert_entries();
}
END_TEST

START_TEST(archive_with_a_comment_is_read)
{
	size_t end;

	add_entries();
	zip_end(&jar);
	end = jar.zip.len;
	zip_end_at(&jar, 5000, 0); /* an invalid end record in the comment */
	while (jar.zip.len < end + 65535)
		buf_addc(&jar.zip, 'P');
	memset(jar.zip.data + end - 2, 0xff, 2);
	ck_assert_pstr_eq(open_jar(), NULL);
	assert_entries();
}
END_TEST

/* Tools write zip64 if there are more than 65,535 entries, or if the output is a pipe. */
START_TEST(zip64_archive_is_read)
{
	size_t offset, at = jar.directory.len;

	add_entries();
	/* The first entry has its sizes and offset in a zip64 field, after another extra field. */
	memset(jar.directory.data + at + 20, 0xff, 8);
	memset(jar.directory.data + at + 42, 0xff, 4);
	jar.directory.data[at + 30] = 34;
	{
		_cleanup_buf_ struct buf rest = BUF_INIT;

		at += 46 + strlen("a/B.class");
		buf_add(&rest, jar.directory.data + at, jar.directory.len - at);
		jar.directory.len = at;
		put32(&jar.directory, 0x2cafe);
		put16(&jar.directory, 0);
		put32(&jar.directory, 24 << 16 | 1);
		put64(&jar.directory, 6);
		put64(&jar.directory, 6);
		put64(&jar.directory, 0);
		buf_add(&jar.directory, rest.data, rest.len);
	}
	offset = jar.zip.len;
	buf_add(&jar.zip, jar.directory.data, jar.directory.len);
	put32(&jar.zip, 0x06064b50);
	put64(&jar.zip, 44);
	for (int i = 0; i < 3; i++)
		put32(&jar.zip, 0);
	put64(&jar.zip, jar.n);
	put64(&jar.zip, jar.n);
	put64(&jar.zip, jar.directory.len);
	put64(&jar.zip, offset);
	put32(&jar.zip, 0x07064b50);
	put32(&jar.zip, 0);
	put64(&jar.zip, offset + jar.directory.len);
	put32(&jar.zip, 1);
	jar.n = 0xffff;
	zip_end_at(&jar, UINT32_MAX, UINT32_MAX);
	ck_assert_pstr_eq(open_jar(), NULL);
	assert_entries();
}
END_TEST

START_TEST(nested_archive_is_read)
{
	struct zip_writer outer = { 0 };
	struct zip outside;
	struct zip_entry entry;
	size_t at = 0;
	int fd;

	add_entries();
	zip_end(&jar);
	buf_adds(&outer.zip, "#!/bin/sh\n");
	zip_add(&outer, "other", 8, large, sizeof(large));
	zip_add(&outer, "inner.jar", _i ? 8 : 0, jar.zip.data, jar.zip.len);
	zip_end(&outer);
	zip_writer_release(&jar);
	jar = outer;
	fd = as_file();
	ck_assert_pstr_eq(zip_open(&outside, &(struct zip_bytes){ .fd = fd, .len = jar.zip.len }),
			  NULL);
	ck_assert(zip_next(&outside, &at, &entry));
	ck_assert_pstr_ne(zip_open_inner(&zip, &outside, &entry, ANY_SIZE), NULL);
	ck_assert(zip_next(&outside, &at, &entry));
	if (_i)
		ck_assert_pstr_ne(zip_open_inner(&zip, &outside, &entry, entry.size - 1), NULL);
	ck_assert_pstr_eq(zip_open_inner(&zip, &outside, &entry, ANY_SIZE), NULL);
	assert_entries();
	zip_release(&outside);
	(void)close(fd);
}
END_TEST

START_TEST(truncated_archive_is_refused)
{
	zip_add(&jar, "a/B.class", 0, "stored", 6);
	zip_add(&jar, "a/C.class", 8, large, 2000);
	zip_end(&jar);
	for (size_t len = 0; len < jar.zip.len; len++) {
		ck_assert_pstr_ne(open_copy(len), NULL);
		zip = (struct zip){ 0 };
	}
}
END_TEST

/* Flips every bit: each entry is read with its original content, or refused. */
START_TEST(damaged_archive_yields_correct_content_or_none)
{
	zip_add(&jar, "a/B.class", 0, "stored", 6);
	zip_add(&jar, "a/C.class", 8, large, 300);
	zip_end(&jar);
	for (size_t i = 0; i < jar.zip.len * 8; i++) {
		struct zip_entry entry;

		jar.zip.data[i / 8] ^= (char)(1 << i % 8);
		if (!open_jar()) {
			for (size_t at = 0; zip_next(&zip, &at, &entry);) {
				_cleanup_buf_ struct buf b = BUF_INIT;

				if (!zip_read(&zip, &entry, ANY_SIZE, &b))
					ck_assert(memcmp(b.data, b.len == 6 ? "stored" : large,
							 b.len) == 0);
			}
			zip_release(&zip);
		}
		zip = (struct zip){ 0 };
		jar.zip.data[i / 8] ^= (char)(1 << i % 8);
	}
}
END_TEST

/* Offsets of fields in a directory entry. */
enum { FLAGS = 8, METHOD = 10, CRC = 16, PACKED = 20, SIZE = 24, OFFSET = 42 };

static void poke32(size_t field, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		jar.directory.data[field + (size_t)i] = (char)(v >> 8 * i);
}

static const struct {
	size_t field;
	uint32_t value;
	const char *open_error, *read_error;
} cases[] = {
	{ FLAGS, 1 | 8 << 16, NULL, "it is encrypted" },
	{ METHOD, 12, NULL, "its compression method is not supported" },
	{ CRC, 0, NULL, "it is damaged" },
	{ PACKED, 100, NULL, "it is damaged" },
	{ PACKED, 1, NULL, "its uncompressed size is inconsistent" },
	{ PACKED, 1u << 30, "its entries overlap", NULL },
	{ SIZE, sizeof(large) - 1, NULL, "it is damaged" },
	{ SIZE, sizeof(large) + 1, NULL, "it is damaged" },
	{ SIZE, 0, NULL, "it is damaged" },
	{ SIZE, ANY_SIZE + 1, NULL, "it is too large" },
	{ SIZE, UINT32_MAX - 1, NULL, "its uncompressed size is inconsistent" },
	{ SIZE, UINT32_MAX, "its directory is damaged", NULL }, /* no zip64 field follows */
	{ OFFSET, 1, NULL, "it is not where the directory says" },
	{ OFFSET, UINT32_MAX - 1, "its directory points outside of it", NULL },
};

START_TEST(inconsistent_directory_fields_are_refused)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	zip_add(&jar, "a", 8, large, sizeof(large));
	zip_add(&jar, "behind", 0, large, 2000); /* stays readable */
	poke32(cases[_i].field, cases[_i].value);
	zip_end(&jar);
	ck_assert_pstr_eq(open_jar(), cases[_i].open_error);
	if (cases[_i].open_error) {
		zip = (struct zip){ 0 };
		return;
	}
	ck_assert_pstr_eq(read_entry("a", &b), cases[_i].read_error);
	ck_assert_uint_eq(b.len, 0);
	assert_entry("behind", large, 2000);
}
END_TEST

/* A zip bomb: many directory entries share one content. */
START_TEST(overlapping_entries_are_refused)
{
	size_t len;

	zip_add(&jar, "a", 8, large, sizeof(large));
	len = jar.directory.len;
	for (int i = 0; i < 1000; i++) {
		_cleanup_buf_ struct buf one = BUF_INIT;

		buf_add(&one, jar.directory.data, len);
		buf_add(&jar.directory, one.data, len);
	}
	zip_end(&jar);
	ck_assert_pstr_eq(open_jar(), "its entries overlap");
	zip = (struct zip){ 0 };
}
END_TEST

/* The first archive has a wrong entry count and a name with "..", the second a name with NUL. */
START_TEST(wrong_entry_count_is_accepted_and_nul_in_a_name_refused)
{
	add_entries();
	zip_add(&jar, "../../etc/passwd", 0, "x", 1);
	jar.n = _i ? 0xfffe : 0;
	zip_end(&jar);
	ck_assert_pstr_eq(open_jar(), NULL);
	assert_entries();
	assert_entry("../../etc/passwd", "x", 1);
	zip_release(&zip);
	zip_writer_release(&jar);

	jar = (struct zip_writer){ 0 };
	zip_add_raw(&jar, "a\0.class", 8, 0, "x", 1);
	zip_end(&jar);
	ck_assert_pstr_eq(open_jar(), "its directory is damaged");
	zip = (struct zip){ 0 };
}
END_TEST

/* Each archive consists of an end record only: first a consistent one, then inconsistent ones. */
START_TEST(archive_without_entries_needs_a_consistent_end_record)
{
	zip_end(&jar);
	ck_assert_pstr_eq(open_jar(), NULL);
	zip_release(&zip);
	zip_writer_release(&jar);

	zip_end_at(&jar, 1, 0);
	ck_assert_pstr_ne(open_jar(), NULL);
	zip_writer_release(&jar);
	zip_end_at(&jar, 0, 1);
	ck_assert_pstr_ne(open_jar(), NULL);
	zip_writer_release(&jar);
	zip_end_at(&jar, UINT32_MAX, UINT32_MAX);
	ck_assert_pstr_ne(open_jar(), NULL);
	zip = (struct zip){ 0 };
}
END_TEST

int main(void)
{
	Suite *s = suite_create("archive/zip");
	TCase *tc = tcase_create("archive/zip");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, archive_in_memory_is_read);
	tcase_add_test(tc, archive_in_a_file_is_read_and_may_change);
	tcase_add_loop_test(tc, archive_after_a_script_is_read, 0, 2);
	tcase_add_test(tc, archive_with_a_comment_is_read);
	tcase_add_test(tc, zip64_archive_is_read);
	tcase_add_loop_test(tc, nested_archive_is_read, 0, 2);
	tcase_add_test(tc, truncated_archive_is_refused);
	tcase_add_test(tc, damaged_archive_yields_correct_content_or_none);
	tcase_add_loop_test(tc, inconsistent_directory_fields_are_refused, 0, ARRAY_SIZE(cases));
	tcase_add_test(tc, overlapping_entries_are_refused);
	tcase_add_loop_test(tc, wrong_entry_count_is_accepted_and_nul_in_a_name_refused, 0, 2);
	tcase_add_test(tc, archive_without_entries_needs_a_consistent_end_record);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
