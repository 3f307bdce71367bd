/* The zip reader: what jars are like, and what no jar should be like. */
#include <check.h>
#include <unistd.h>

#include "base/io.h"
#include "model/zip.h"
#include "zip_make.h"

#define ANY_SIZE (1u << 20)

static struct zip_made made;
static struct zip zip;
static char large[100000];

static void setup(void)
{
	/* It can be compressed to a fifth, but not to a thousandth. */
	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = "abcdefg"[i * i / 7 * 2654435761u % 4294967291u % 7];
}

static void teardown(void)
{
	zip_release(&zip);
	made_release(&made);
}

/* In memory of its own: nothing around it may be looked at. */
static const char *open_copy(size_t len)
{
	static char *copy;

	free(copy);
	copy = xmalloc(len);
	if (len)
		memcpy(copy, made.zip.data, len);
	return zip_open(&zip, &(struct zip_bytes){ .data = copy, .len = len });
}

static const char *open_made(void)
{
	return open_copy(made.zip.len);
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

static void has(const char *name, const void *data, size_t len)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	buf_adds(&b, "before");
	ck_assert_pstr_eq(read_entry(name, &b), NULL);
	ck_assert_uint_eq(b.len, 6 + len);
	ck_assert(memcmp(b.data, "before", 6) == 0 && memcmp(b.data + 6, data, len) == 0);
	ck_assert_int_eq(b.data[b.len], '\0');
}

static void add_two(void)
{
	made_add(&made, "a/B.class", 0, "stored", 6);
	made_add(&made, "a/", 0, "", 0);
	made_add(&made, "a/C.class", 8, large, sizeof(large));
	made_add(&made, "empty", 8, "", 0);
}

static void has_two(void)
{
	has("a/B.class", "stored", 6);
	has("a/C.class", large, sizeof(large));
	has("empty", "", 0);
}

START_TEST(in_memory)
{
	struct zip_entry entry;
	size_t at = 0, n = 0;

	add_two();
	made_end(&made);
	ck_assert_pstr_eq(open_made(), NULL);
	has_two();
	while (zip_next(&zip, &at, &entry))
		n++;
	ck_assert_uint_eq(n, 4);
}
END_TEST

static int as_file(void)
{
	int fd = io_unnamed_file();

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_write_all(fd, made.zip.data, made.zip.len, IO_NO_DEADLINE), 0);
	return fd;
}

START_TEST(in_a_file)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int fd;

	add_two();
	made_end(&made);
	fd = as_file();
	ck_assert_pstr_eq(zip_open(&zip, &(struct zip_bytes){ .fd = fd, .len = made.zip.len }),
			  NULL);
	has_two();
	/* Somebody writes it anew. */
	ck_assert_int_eq(ftruncate(fd, 50), 0);
	has("a/B.class", "stored", 6);
	buf_adds(&b, "kept");
	ck_assert_pstr_ne(read_entry("a/C.class", &b), NULL);
	ck_assert_str_eq(buf_str(&b), "kept");
	zip_release(&zip);
	ck_assert_pstr_ne(zip_open(&zip, &(struct zip_bytes){ .fd = fd, .len = made.zip.len }),
			  NULL);
	zip = (struct zip){ 0 };
	(void)close(fd);
}
END_TEST

/* Each way of counting offsets: from the script's begin, or from the zip's. */
START_TEST(behind_a_script)
{
	buf_adds(&made.zip, "#!/bin/sh\nexec java -jar \"$0\"\n");
	made.base = _i ? made.zip.len : 0;
	add_two();
	made_end(&made);
	ck_assert_pstr_eq(open_made(), NULL);
	has_two();
}
END_TEST

START_TEST(before_a_comment)
{
	size_t end;

	add_two();
	made_end(&made);
	end = made.zip.len;
	made_end_at(&made, 5000, 0); /* part of the comment: it would lead to no directory */
	while (made.zip.len < end + 65535)
		buf_addc(&made.zip, 'P');
	memset(made.zip.data + end - 2, 0xff, 2);
	ck_assert_pstr_eq(open_made(), NULL);
	has_two();
}
END_TEST

/* As it is made of more than 65535 entries, or when it is written to a pipe. */
START_TEST(with_64_bits)
{
	size_t offset, at = made.directory.len;

	add_two();
	/* The first entry's numbers, in the order that the format has; another field before. */
	memset(made.directory.data + at + 20, 0xff, 8);
	memset(made.directory.data + at + 42, 0xff, 4);
	made.directory.data[at + 30] = 34;
	{
		_cleanup_buf_ struct buf rest = BUF_INIT;

		at += 46 + strlen("a/B.class");
		buf_add(&rest, made.directory.data + at, made.directory.len - at);
		made.directory.len = at;
		put32(&made.directory, 0x2cafe);
		put16(&made.directory, 0);
		put32(&made.directory, 24 << 16 | 1);
		put64(&made.directory, 6);
		put64(&made.directory, 6);
		put64(&made.directory, 0);
		buf_add(&made.directory, rest.data, rest.len);
	}
	offset = made.zip.len;
	buf_add(&made.zip, made.directory.data, made.directory.len);
	put32(&made.zip, 0x06064b50);
	put64(&made.zip, 44);
	for (int i = 0; i < 3; i++)
		put32(&made.zip, 0);
	put64(&made.zip, made.n);
	put64(&made.zip, made.n);
	put64(&made.zip, made.directory.len);
	put64(&made.zip, offset);
	put32(&made.zip, 0x07064b50);
	put32(&made.zip, 0);
	put64(&made.zip, offset + made.directory.len);
	put32(&made.zip, 1);
	made.n = 0xffff;
	made_end_at(&made, UINT32_MAX, UINT32_MAX);
	ck_assert_pstr_eq(open_made(), NULL);
	has_two();
}
END_TEST

START_TEST(within_another)
{
	struct zip_made outer = { 0 };
	struct zip outside;
	struct zip_entry entry;
	size_t at = 0;
	int fd;

	add_two();
	made_end(&made);
	buf_adds(&outer.zip, "#!/bin/sh\n");
	made_add(&outer, "other", 8, large, sizeof(large));
	made_add(&outer, "inner.jar", _i ? 8 : 0, made.zip.data, made.zip.len);
	made_end(&outer);
	made_release(&made);
	made = outer;
	fd = as_file();
	ck_assert_pstr_eq(zip_open(&outside, &(struct zip_bytes){ .fd = fd, .len = made.zip.len }),
			  NULL);
	ck_assert(zip_next(&outside, &at, &entry));
	ck_assert_pstr_ne(zip_open_inner(&zip, &outside, &entry, ANY_SIZE), NULL);
	ck_assert(zip_next(&outside, &at, &entry));
	if (_i)
		ck_assert_pstr_ne(zip_open_inner(&zip, &outside, &entry, entry.size - 1), NULL);
	ck_assert_pstr_eq(zip_open_inner(&zip, &outside, &entry, ANY_SIZE), NULL);
	has_two();
	zip_release(&outside);
	(void)close(fd);
}
END_TEST

START_TEST(truncated)
{
	made_add(&made, "a/B.class", 0, "stored", 6);
	made_add(&made, "a/C.class", 8, large, 2000);
	made_end(&made);
	for (size_t len = 0; len < made.zip.len; len++) {
		ck_assert_pstr_ne(open_copy(len), NULL);
		zip = (struct zip){ 0 };
	}
}
END_TEST

/* Whatever a byte becomes: the same content, or none. */
START_TEST(damaged)
{
	made_add(&made, "a/B.class", 0, "stored", 6);
	made_add(&made, "a/C.class", 8, large, 300);
	made_end(&made);
	for (size_t i = 0; i < made.zip.len * 8; i++) {
		struct zip_entry entry;

		made.zip.data[i / 8] ^= (char)(1 << i % 8);
		if (!open_made()) {
			for (size_t at = 0; zip_next(&zip, &at, &entry);) {
				_cleanup_buf_ struct buf b = BUF_INIT;

				if (!zip_read(&zip, &entry, ANY_SIZE, &b))
					ck_assert(memcmp(b.data, b.len == 6 ? "stored" : large,
							 b.len) == 0);
			}
			zip_release(&zip);
		}
		zip = (struct zip){ 0 };
		made.zip.data[i / 8] ^= (char)(1 << i % 8);
	}
}
END_TEST

/* Where the directory tells an entry's numbers. */
enum { FLAGS = 8, METHOD = 10, CRC = 16, PACKED = 20, SIZE = 24, OFFSET = 42 };

static void poke32(size_t field, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		made.directory.data[field + (size_t)i] = (char)(v >> 8 * i);
}

static const struct {
	size_t field;
	uint32_t value;
	const char *opened, *read;
} lies[] = {
	{ FLAGS, 1 | 8 << 16, NULL, "it is encrypted" },
	{ METHOD, 12, NULL, "it is compressed in a way that jars are not" },
	{ CRC, 0, NULL, "it is damaged" },
	{ PACKED, 100, NULL, "it is damaged" },
	{ PACKED, 1, NULL, "its size is a lie" },
	{ PACKED, 1u << 30, "its entries overlap", NULL },
	{ SIZE, sizeof(large) - 1, NULL, "it is damaged" },
	{ SIZE, sizeof(large) + 1, NULL, "it is damaged" },
	{ SIZE, 0, NULL, "it is damaged" },
	{ SIZE, ANY_SIZE + 1, NULL, "it is too large" },
	{ SIZE, UINT32_MAX - 1, NULL, "its size is a lie" },
	{ SIZE, UINT32_MAX, "its directory is damaged", NULL }, /* no 64 bits follow */
	{ OFFSET, 1, NULL, "it is not where the directory says" },
	{ OFFSET, UINT32_MAX - 1, "its directory leads out of it", NULL },
};

START_TEST(lied)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	made_add(&made, "a", 8, large, sizeof(large));
	made_add(&made, "behind", 0, large, 2000);
	poke32(lies[_i].field, lies[_i].value);
	made_end(&made);
	ck_assert_pstr_eq(open_made(), lies[_i].opened);
	if (lies[_i].opened) {
		zip = (struct zip){ 0 };
		return;
	}
	ck_assert_pstr_eq(read_entry("a", &b), lies[_i].read);
	ck_assert_uint_eq(b.len, 0);
	has("behind", large, 2000);
}
END_TEST

/* A bomb: many entries of the directory, one content. */
START_TEST(overlapping)
{
	size_t len;

	made_add(&made, "a", 8, large, sizeof(large));
	len = made.directory.len;
	for (int i = 0; i < 1000; i++) {
		_cleanup_buf_ struct buf one = BUF_INIT;

		buf_add(&one, made.directory.data, len);
		buf_add(&made.directory, one.data, len);
	}
	made_end(&made);
	ck_assert_pstr_eq(open_made(), "its entries overlap");
	zip = (struct zip){ 0 };
}
END_TEST

/* A number of entries that is none, and names that are none. */
START_TEST(strange)
{
	add_two();
	made_add(&made, "../../etc/passwd", 0, "x", 1);
	made.n = _i ? 0xfffe : 0;
	made_end(&made);
	ck_assert_pstr_eq(open_made(), NULL);
	has_two();
	has("../../etc/passwd", "x", 1);
	zip_release(&zip);
	made_release(&made);

	made = (struct zip_made){ 0 };
	made_entry(&made, "a\0.class", 8, 0, "x", 1);
	made_end(&made);
	ck_assert_pstr_eq(open_made(), "its directory is damaged");
	zip = (struct zip){ 0 };
}
END_TEST

/* The record at the end is all there is, or says what cannot be. */
START_TEST(ends)
{
	made_end(&made);
	ck_assert_pstr_eq(open_made(), NULL);
	zip_release(&zip);
	made_release(&made);

	made_end_at(&made, 1, 0);
	ck_assert_pstr_ne(open_made(), NULL);
	made_release(&made);
	made_end_at(&made, 0, 1);
	ck_assert_pstr_ne(open_made(), NULL);
	made_release(&made);
	made_end_at(&made, UINT32_MAX, UINT32_MAX);
	ck_assert_pstr_ne(open_made(), NULL);
	zip = (struct zip){ 0 };
}
END_TEST

int main(void)
{
	Suite *s = suite_create("zip");
	TCase *tc = tcase_create("zip");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, in_memory);
	tcase_add_test(tc, in_a_file);
	tcase_add_loop_test(tc, behind_a_script, 0, 2);
	tcase_add_test(tc, before_a_comment);
	tcase_add_test(tc, with_64_bits);
	tcase_add_loop_test(tc, within_another, 0, 2);
	tcase_add_test(tc, truncated);
	tcase_add_test(tc, damaged);
	tcase_add_loop_test(tc, lied, 0, ARRAY_SIZE(lies));
	tcase_add_test(tc, overlapping);
	tcase_add_loop_test(tc, strange, 0, 2);
	tcase_add_test(tc, ends);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
