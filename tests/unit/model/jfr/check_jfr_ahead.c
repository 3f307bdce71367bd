/* A reader whose events are read ahead finds the same events as one that reads them itself. */
#include <check.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_reader.h"
#include "render/jfr/jfr_event_json.h"
#include "unit/support/jfr_profile_writer.h"

#define CHUNKS 4
#define BLOCK_MAX 4096
#define TAIL_MAX 600

/* Reads ahead from memory.  Two buffers: a block is overwritten as soon as that is allowed. */
static struct {
	struct jfr_writer w;
	size_t block; /* size of a block in bytes */
	unsigned refuse; /* every how many-th call of next() returns NULL; 0: none */
	uint64_t at, end;
	unsigned calls, given, starts;
	uint8_t data[2][TAIL_MAX + BLOCK_MAX];
} fake;

static int read_bytes(void *arg, uint64_t at, void *data, size_t len)
{
	(void)arg;
	return w_read(&fake.w.file, at, data, len);
}

static void start(void *arg, uint64_t at, uint64_t end)
{
	(void)arg;
	ck_assert_uint_le(at, end);
	ck_assert_uint_le(end, fake.w.file.len);
	fake.at = at;
	fake.end = end;
	fake.starts++;
	memset(fake.data, 0xff, sizeof(fake.data));
}

static const uint8_t *next(void *arg, const uint8_t *tail, size_t tail_len, size_t *len)
{
	uint8_t *to = fake.data[fake.given % 2], *old = fake.data[(fake.given + 1) % 2];
	size_t left = (size_t)(fake.end - fake.at), n = left < fake.block ? left : fake.block;

	(void)arg;
	if (n == 0 || tail_len > TAIL_MAX || (fake.refuse && ++fake.calls % fake.refuse == 0))
		return NULL;
	memcpy(to, tail, tail_len);
	memcpy(to + tail_len, fake.w.file.data + fake.at, n);
	memset(old, 0xff, sizeof(fake.data[0]));
	fake.at += n;
	fake.given++;
	*len = tail_len + n;
	return to;
}

/* Returns the JSON of all events, and "BROKEN" if a problem was noted. */
static struct buf read_all(bool is_ahead)
{
	const struct jfr_ahead ahead = { .start = start, .next = next };
	struct jfr_reader *r = jfr_reader_new(read_bytes, NULL, fake.w.file.len, 64u << 20);
	struct err err = { .code = EXIT_DONE };
	struct buf json = BUF_INIT;
	struct jfr_event e;
	int rc;

	if (is_ahead)
		jfr_read_ahead(r, &ahead);
	while ((rc = jfr_next_chunk(r, &err)) > 0) {
		while (jfr_next_event(r, &e)) {
			struct json *object = json_object();

			if (e.type && e.type->is_event)
				jfr_event_put(&e, object);
			json_add(&json, object);
			json_free(object);
			buf_addf(&json, " %llu\n", (unsigned long long)e.at);
		}
	}
	ck_assert_int_eq(rc, 0);
	buf_adds(&json, jfr_problems(r)[0] ? "BROKEN" : "whole");
	jfr_reader_free(r);
	return json;
}

static void check_same(const char *expected)
{
	struct buf json;

	fake.given = 0;
	json = read_all(true);
	ck_assert_str_eq(buf_str(&json), expected);
	buf_release(&json);
}

static void setup(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.w.major = 2;
	for (unsigned i = 0; i < CHUNKS; i++)
		w_chunk(&fake.w);
}

static void teardown(void)
{
	w_release(&fake.w);
}

START_TEST(events_are_the_same_with_every_size_of_block)
{
	struct buf expected = read_all(false);

	ck_assert_ptr_nonnull(strstr(buf_str(&expected), "whole"));
	for (fake.block = 1; fake.block <= 700; fake.block++) {
		fake.starts = 0;
		check_same(buf_str(&expected));
		ck_assert_uint_eq(fake.starts, CHUNKS);
		ck_assert_uint_gt(fake.given, 0);
	}
	buf_release(&expected);
}
END_TEST

START_TEST(events_are_the_same_if_blocks_are_missing)
{
	struct buf expected = read_all(false);

	for (fake.block = 1; fake.block <= 700; fake.block += 9) {
		for (fake.refuse = 1; fake.refuse < 12; fake.refuse++)
			check_same(buf_str(&expected));
	}
	buf_release(&expected);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/ahead");
	TCase *t = tcase_create("model/jfr/ahead");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, events_are_the_same_with_every_size_of_block);
	tcase_add_test(t, events_are_the_same_if_blocks_are_missing);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
