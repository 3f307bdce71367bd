/* pprof: the message, field by field. */
#include <check.h>
#include <string.h>
#include <zlib.h>

#include "render/profile/pprof.h"

static struct call_tree tree, more;
static uint64_t period_ns;
static const char *jvm_file, *build_id;
static uint8_t message[65536];
static size_t len;

static void setup(void)
{
	call_tree_init(&tree, "bytes", "objects");
}

static void teardown(void)
{
	call_tree_release(&tree);
	call_tree_release(&more);
	period_ns = 0;
	jvm_file = build_id = NULL;
}

static void add(const char *const *names, uint64_t first, uint64_t second)
{
	const uint64_t values[CALL_TREE_VALUES] = { first, second };
	uint32_t node = 0;

	for (; *names; names++)
		node = call_tree_child(&tree, node, *names);
	call_tree_add(&tree, node, values);
}

static void render(void)
{
	const struct pprof_profile profile = {
		.trees = { &tree, more.n > 0 ? &more : NULL }, .time_ns = 1500000000,
		.duration_ns = 7, .period_ns = period_ns, .file = jvm_file, .build_id = build_id,
	};
	struct buf out = BUF_INIT;
	z_stream z = { .next_out = message, .avail_out = sizeof(message) };

	call_tree_sum(&tree);
	pprof_add(&out, &profile);
	z.next_in = (Bytef *)out.data;
	z.avail_in = (uInt)out.len;
	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	len = sizeof(message) - z.avail_out;
	ck_assert_int_eq(inflateEnd(&z), Z_OK);
	buf_release(&out);
}

static uint64_t varint(const uint8_t **p)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do
		value |= (uint64_t)(**p & 0x7f) << shift;
	while (shift += 7, *(*p)++ & 0x80);
	return value;
}

/* Returns the n-th (from 0) bytes of a field of the message. */
static const uint8_t *field(unsigned number, unsigned n, size_t *field_len)
{
	for (const uint8_t *p = message; p < message + len;) {
		uint64_t tag = varint(&p), size = varint(&p);

		if ((tag & 7) == 0)
			continue;
		if (tag >> 3 == number && n-- == 0) {
			*field_len = size;
			return p;
		}
		p += size;
	}
	ck_abort_msg("there is no field %u", number);
	return NULL;
}

/* Returns a number of the message; 0 if there is none. */
static uint64_t number_field(unsigned number)
{
	for (const uint8_t *p = message; p < message + len;) {
		uint64_t tag = varint(&p), value = varint(&p);

		if (tag == (number << 3))
			return value;
		p += (tag & 7) == 2 ? value : 0;
	}
	return 0;
}

static void assert_field(unsigned number, unsigned n, const char *bytes, size_t n_bytes)
{
	size_t size;
	const uint8_t *data = field(number, n, &size);

	ck_assert_uint_eq(size, n_bytes);
	ck_assert_mem_eq(data, bytes, n_bytes);
}

START_TEST(message_of_a_small_tree)
{
	static const char *const first[] = { "a.B.main(B.java:12)", "a.C.make", "byte[]", NULL };
	static const char *const second[] = { "a.B.main(B.java:12)", "a.D.<init>(Unknown Source)",
					      NULL };

	add(first, 300, 2);
	add(second, 5, 1);
	render();
	assert_field(6, 0, "", 0);
	assert_field(6, 1, "space", 5);
	assert_field(6, 2, "bytes", 5);
	assert_field(6, 3, "objects", 7);
	assert_field(6, 4, "count", 5);
	assert_field(1, 0, "\x08\x01\x10\x02", 4);
	assert_field(1, 1, "\x08\x03\x10\x04", 4);
	/* Locations 3, 2, 1, the innermost first; values 300 and 2. */
	assert_field(2, 0, "\x0a\x03\x03\x02\x01\x12\x03\xac\x02\x02", 10);
	assert_field(2, 1, "\x0a\x02\x04\x01\x12\x02\x05\x01", 8);
	/* Location 1 is line 12 of function 1, whose name and file are strings. */
	assert_field(4, 0, "\x08\x01\x22\x04\x08\x01\x10\x0c", 8);
	assert_field(5, 0, "\x08\x01\x10\x05\x18\x05\x20\x06", 8);
	assert_field(6, 5, "a.B.main", 8);
	assert_field(6, 6, "B.java", 6);
	assert_field(6, 7, "a.C.make", 8);
	assert_field(6, 9, "a.D.<init>(Unknown Source)", 26);
	ck_assert_uint_eq(number_field(9), 1500000000);
	ck_assert_uint_eq(number_field(10), 7);
	ck_assert_uint_eq(number_field(12), 0);
	ck_assert_uint_eq(number_field(14), 1); /* space */
}
END_TEST

START_TEST(samples_have_the_values_of_both_trees)
{
	static const uint64_t none[CALL_TREE_VALUES] = { 0 };
	static const char *const first[] = { "a", "b", NULL }, *const second[] = { "a", NULL };
	struct call_tree allocated;

	tree.prefix = "alloc_";
	add(first, 300, 2);
	add(second, 5, 1);
	allocated = tree;
	call_tree_init(&tree, "bytes", "objects");
	tree.prefix = "inuse_";
	add(first, 100, 1);
	call_tree_add(&tree, 1, none);
	call_tree_sum(&tree);
	more = tree;
	tree = allocated;
	period_ns = 20;
	render();
	assert_field(6, 1, "alloc_space", 11);
	assert_field(6, 3, "alloc_objects", 13);
	assert_field(6, 5, "inuse_space", 11);
	assert_field(6, 6, "inuse_objects", 13);
	/* Nodes in the order in which they were added. */
	assert_field(2, 0, "\x0a\x01\x01\x12\x04\x05\x01\x00\x00", 9);
	assert_field(2, 1, "\x0a\x02\x02\x01\x12\x05\xac\x02\x02\x64\x01", 11);
	ck_assert_uint_eq(number_field(14), 5); /* inuse_space */
	ck_assert_uint_eq(number_field(12), 20);
}
END_TEST

START_TEST(frame_without_a_file_has_its_line)
{
	static const char *const names[] = { "a.C.m:12", "a.C.n:", ":3", NULL };

	tree.prefix = "inuse_";
	add(names, 1, 1);
	render();
	assert_field(6, 1, "inuse_space", 11);
	assert_field(6, 3, "inuse_objects", 13);
	assert_field(4, 0, "\x08\x01\x22\x04\x08\x01\x10\x0c", 8);
	assert_field(5, 0, "\x08\x01\x10\x05\x18\x05", 6);
	assert_field(6, 5, "a.C.m", 5);
	assert_field(6, 6, "a.C.n:", 6);
	assert_field(6, 7, ":3", 2);
}
END_TEST

START_TEST(frames_are_mapped_to_the_jvm)
{
	static const char *const names[] = { "a.C.m", "a.C.n:3", NULL };

	jvm_file = "/jdk/lib/server/libjvm.so";
	build_id = "01ff";
	add(names, 1, 1);
	render();
	assert_field(6, 5, jvm_file, 25);
	assert_field(6, 6, build_id, 4);
	/* Mapping 1: file and build id are strings; functions, files and lines are resolved. */
	assert_field(3, 0, "\x08\x01\x28\x05\x30\x06\x38\x01\x40\x01\x48\x01", 12);
	/* Locations 1 and 2 are in mapping 1. */
	assert_field(4, 0, "\x08\x01\x10\x01\x22\x02\x08\x01", 8);
	assert_field(4, 1, "\x08\x02\x10\x01\x22\x04\x08\x02\x10\x03", 10);
	build_id = NULL;
	render();
	assert_field(3, 0, "\x08\x01\x28\x05\x38\x01\x40\x01\x48\x01", 10);
}
END_TEST

START_TEST(stacks_without_a_value_are_left_out)
{
	static const char *const names[] = { "a", NULL };
	size_t size;

	add(names, 0, 0);
	render();
	for (const uint8_t *p = message; p < message + len;) {
		uint64_t tag = varint(&p);

		size = varint(&p);
		ck_assert_uint_ne(tag, 2 << 3 | 2);
		p += (tag & 7) == 0 ? 0 : size;
	}
}
END_TEST

START_TEST(values_are_limited_to_63_bits)
{
	static const char *const names[] = { "a", NULL };
	const uint8_t *data;
	size_t size;

	add(names, UINT64_MAX, 1);
	render();
	data = field(2, 0, &size);
	data += 5; /* location ids, tag and length of the values */
	ck_assert_uint_eq(varint(&data), INT64_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/profile/pprof");
	TCase *tc = tcase_create("render/profile/pprof");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, message_of_a_small_tree);
	tcase_add_test(tc, samples_have_the_values_of_both_trees);
	tcase_add_test(tc, frame_without_a_file_has_its_line);
	tcase_add_test(tc, frames_are_mapped_to_the_jvm);
	tcase_add_test(tc, stacks_without_a_value_are_left_out);
	tcase_add_test(tc, values_are_limited_to_63_bits);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
