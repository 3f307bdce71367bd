/* Mappings, the answers of JVMs about their memory, and the parts that follow from both. */
#include <check.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "model/memory/heap_limit.h"
#include "render/vm/memory_view.h"
#include "unit/support/data.h"

#define K INT64_C(1024)
#define M (1024 * K)
#define CUTS 6000 /* bytes: each cut parses the text again */

static void read_fixture(const char *kind, const char *jvm, struct buf *out)
{
	_cleanup_free_ char *path = xasprintf("memory/%s-%s", kind, jvm);

	read_data(path, out);
}

static bool is_agent(const char *path)
{
	return strcmp(path, "/tmp/jtool.so") == 0;
}

static int64_t sum_of(const struct memory_parts *parts)
{
	int64_t sum = 0;

	for (int i = 0; i < N_MEMORY_PARTS; i++) {
		ck_assert_int_ge(parts->part[i].resident, 0);
		ck_assert_int_ge(parts->part[i].anonymous, 0);
		ck_assert_int_le(parts->part[i].anonymous, parts->part[i].resident);
		ck_assert_int_ge(parts->part[i].committed, parts->part[i].resident);
		ck_assert_int_ge(parts->part[i].reserved, parts->part[i].committed);
		sum += parts->part[i].resident;
	}
	return sum;
}

/* Recorded JVMs, with the expected sizes of parts of their memory in KiB; -1: unknown. */
static const struct jvm {
	const char *name;
	bool has_metaspace, has_code, has_malloc, has_tracking;
	int64_t heap_max;
	int64_t rss, heap, metaspace, code_used;
} jvms[] = {
	{ "jdk8-parallel", false, false, false, false, 256 * M, 35484, 2720, 4352, -1 },
	{ "jdk11-zgc", true, true, false, false, 256 * M, 68324, 2960, 4456, 1204 },
	{ "jdk17-g1", true, true, false, true, 256 * M, 39948, 1080, 136, 1100 },
	{ "jdk25-serial", true, true, true, false, 256 * M, 43308, 1544, 148, 1178 },
};

static void ask(const struct jvm *jvm, struct jvm_memory *m)
{
	const struct {
		bool has;
		const char *kind;
		void (*parse)(struct jvm_memory *m, const char *text);
	} answers[] = {
		{ true, "heap_info", jvm_memory_heap_info },
		{ jvm->has_metaspace, "metaspace", jvm_memory_metaspace },
		{ jvm->has_code, "codecache", jvm_memory_code_cache },
		{ jvm->has_malloc, "native_heap", jvm_memory_native_heap },
		{ jvm->has_tracking, "native_memory", jvm_memory_tracking },
	};

	jvm_memory_init(m);
	m->heap_max = jvm->heap_max;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		if (!answers[i].has)
			continue;
		read_fixture(answers[i].kind, jvm->name, &text);
		answers[i].parse(m, buf_str(&text));
	}
}

static void parse(const char *jvm, struct mappings *maps)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	read_fixture("smaps", jvm, &text);
	ck_assert_int_eq(mappings_parse(maps, text.data, text.len), 0);
}

/* A mapping of two parts is divided: the values may differ by a few pages. */
static void near_kb(const char *what, int64_t got, int64_t kb)
{
	int64_t slack = 64 * K + kb * K / 50;

	ck_assert_msg(got >= kb * K - slack && got <= kb * K + slack, "%s: %lld, not %lld KiB",
		      what, (long long)(got / K), (long long)kb);
}

START_TEST(parts_add_up_to_the_resident_memory)
{
	const struct jvm *jvm = &jvms[_i];
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	parse(jvm->name, &maps);
	ask(jvm, &m);
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(sum_of(&parts), parts.resident);
	ck_assert_int_eq(parts.resident, jvm->rss * K);
	near_kb("heap", parts.part[PART_HEAP].resident, jvm->heap);
	near_kb("metaspace", parts.part[PART_METASPACE].resident, jvm->metaspace);
	ck_assert_int_eq(parts.part[PART_CODE].used, jvm->code_used < 0 ? -1 : jvm->code_used * K);
	ck_assert_int_gt(parts.part[PART_LIBRARIES].resident, 10 * M);
	ck_assert_int_gt(parts.part[PART_STACKS].resident, M);
	ck_assert_int_gt(parts.part[PART_MALLOC].resident, M / 2);
	ck_assert_int_lt(parts.part[PART_UNEXPLAINED].resident, M);
	jvm_memory_release(&m);
	mappings_release(&maps);
}
END_TEST

/* Without the JVM's answers, the heap is found by its size. */
START_TEST(heap_is_found_without_attaching)
{
	const struct jvm *jvm = &jvms[_i];
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	parse(jvm->name, &maps);
	jvm_memory_init(&m);
	m.heap_max = jvm->heap_max;
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(sum_of(&parts), parts.resident);
	near_kb("heap", parts.part[PART_HEAP].resident, jvm->heap);
	ck_assert_int_eq(parts.part[PART_HEAP].used, -1);
	mappings_release(&maps);
}
END_TEST

START_TEST(truncated_mappings_are_refused_or_complete)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t complete = 0;

	read_fixture("smaps", jvms[_i].name, &text);
	for (size_t len = 0; len < CUTS && len < text.len; len++) {
		_cleanup_free_ char *cut = xmalloc(len ? len : 1);
		struct mappings maps = { .list = NULL };

		memcpy(cut, text.data, len);
		complete += mappings_parse(&maps, cut, len) == 0;
		mappings_release(&maps);
	}
	ck_assert_uint_gt(complete, 0);
	ck_assert_uint_lt(complete, CUTS / 20);
}
END_TEST

#define MAP(range) range " rw-p 00000000 00:00 0 \n"
#define SIZES "Rss:  4 kB\nAnonymous: 4 kB\n"

static const char *const malformed[] = {
	"", "\n", "Rss: 4 kB\n", MAP("1000-2000"), MAP("1000-2000") "Rss: 4 kB\n",
	MAP("2000-1000") SIZES, MAP("1000-1000") SIZES, MAP("1000") SIZES,
	MAP("12345678901234567-22345678901234567") SIZES,
	MAP("1000-3000") SIZES MAP("2000-4000") SIZES,
	MAP("1000-2000") "Rss: 4 MB\nAnonymous: 4 kB\n",
	MAP("1000-2000") "Rss: -4 kB\nAnonymous: 4 kB\n",
	MAP("1000-2000") "Rss: 99999999999999999999 kB\nAnonymous: 4 kB\n",
	MAP("1000-2000") SIZES "no colon\n", "1000-2000 rw\n" SIZES,
};

START_TEST(malformed_mappings_are_refused)
{
	struct mappings maps = { .list = NULL };

	ck_assert_int_eq(mappings_parse(&maps, malformed[_i], strlen(malformed[_i])), -EBADMSG);
	mappings_release(&maps);
}
END_TEST

static const struct {
	const char *kind, *jvm;
	void (*parse)(struct jvm_memory *m, const char *text);
	size_t ranges;
} answers[] = {
	{ "heap_info", "jdk8-parallel", jvm_memory_heap_info, 1 },
	{ "heap_info", "jdk11-zgc", jvm_memory_heap_info, 0 },
	{ "heap_info", "jdk17-g1", jvm_memory_heap_info, 1 },
	{ "heap_info", "jdk21-shenandoah", jvm_memory_heap_info, 1 },
	{ "heap_info", "jdk25-serial", jvm_memory_heap_info, 1 },
	{ "metaspace", "jdk11-g1", jvm_memory_metaspace, 2 },
	{ "metaspace", "jdk11-zgc", jvm_memory_metaspace, 1 },
	{ "metaspace", "jdk17-g1", jvm_memory_metaspace, 2 },
	{ "metaspace", "jdk25-serial", jvm_memory_metaspace, 2 },
	{ "codecache", "jdk11-zgc", jvm_memory_code_cache, 3 },
	{ "codecache", "jdk17-g1", jvm_memory_code_cache, 3 },
	{ "codecache", "jdk25-serial", jvm_memory_code_cache, 3 },
	{ "codecache", "jdk27-zgc", jvm_memory_code_cache, 3 },
	{ "native_heap", "jdk25-serial", jvm_memory_native_heap, 0 },
	{ "native_memory", "jdk8-g1", jvm_memory_tracking, 0 },
	{ "native_memory", "jdk17-g1", jvm_memory_tracking, 0 },
	{ "native_memory", "jdk25-g1", jvm_memory_tracking, 0 },
};

START_TEST(answers_have_ranges)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct jvm_memory m;

	read_fixture(answers[_i].kind, answers[_i].jvm, &text);
	jvm_memory_init(&m);
	answers[_i].parse(&m, buf_str(&text));
	ck_assert_uint_eq(m.n_ranges, answers[_i].ranges);
	for (size_t i = 0; i < m.n_ranges; i++) {
		ck_assert_uint_lt(m.ranges[i].start, m.ranges[i].end);
		ck_assert_uint_eq(m.ranges[i].start % 4096, 0);
	}
	jvm_memory_release(&m);
}
END_TEST

/* The copy has the exact length: ASan detects reads past the end. */
START_TEST(answers_cut_at_every_byte_are_parsed)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	read_fixture(answers[_i].kind, answers[_i].jvm, &text);
	for (size_t len = 0; len <= text.len && len < CUTS; len++) {
		_cleanup_free_ char *cut = xstrndup(text.data, len);
		struct jvm_memory m;

		jvm_memory_init(&m);
		answers[_i].parse(&m, cut);
		ck_assert_uint_le(m.n_ranges, answers[_i].ranges);
		ck_assert_int_ge(m.malloc_free, -1);
		ck_assert_int_ge(m.nmt_malloc, -1);
		jvm_memory_release(&m);
	}
}
END_TEST

START_TEST(amounts_are_those_of_the_answers)
{
	_cleanup_buf_ struct buf malloc_text = BUF_INIT, nmt = BUF_INIT;
	struct jvm_memory m;

	jvm_memory_init(&m);
	read_fixture("native_heap", "jdk25-serial", &malloc_text);
	jvm_memory_native_heap(&m, buf_str(&malloc_text));
	ck_assert_int_eq(m.malloc_arenas, 4104192);
	ck_assert_int_eq(m.malloc_mapped, 1167360);
	ck_assert_int_ge(m.malloc_free, 2043311);
	read_fixture("native_memory", "jdk17-g1", &nmt);
	jvm_memory_tracking(&m, buf_str(&nmt));
	ck_assert(m.has_nmt);
	ck_assert_int_eq(m.nmt_gc, 33184 * K);
	ck_assert_int_eq(m.nmt_gc_malloc, (4870 + 3 + 165) * K);
	jvm_memory_tracking(&m, "Native memory tracking is not enabled\n");
	ck_assert(!m.has_nmt);
	ck_assert_int_eq(m.nmt_malloc, -1);
	jvm_memory_release(&m);
}
END_TEST

START_TEST(limit_of_metaspace_is_that_of_the_flags)
{
	struct jvm_memory m;

	jvm_memory_init(&m);
	ck_assert_int_eq(m.metaspace_max, -1);
	jvm_memory_flags(&m, "-XX:MaxHeapSize=64 -XX:MaxMetaspaceSize=41943040 -XX:+UseG1GC ");
	ck_assert_int_eq(m.metaspace_max, 40 * M);
	jvm_memory_flags(&m, "-XX:MaxHeapSize=67108864 -XX:+UseG1GC\n");
	ck_assert_int_eq(m.metaspace_max, -1);
	jvm_memory_flags(&m, "-XX:MaxMetaspaceSize=18446744073709547520");
	ck_assert_int_eq(m.metaspace_max, -1);
	jvm_memory_flags(&m, "-XX:MaxMetaspaceSize=");
	ck_assert_int_eq(m.metaspace_max, -1);
	jvm_memory_release(&m);
}
END_TEST

static bool says(const struct memory_view *v, const char *words)
{
	struct json *doc = memory_view_json(v);
	_cleanup_buf_ struct buf text = BUF_INIT;

	json_add(&text, doc);
	json_free(doc);
	return strstr(buf_str(&text), words) != NULL;
}

START_TEST(metaspace_that_is_nearly_full_is_reported)
{
	struct memory_view v = { .pid = 7, .metaspace_max = 100 * M, .group_limit = -1 };

	v.parts.part[PART_METASPACE].committed = 60 * M;
	v.parts.part[PART_CLASS_SPACE].committed = 30 * M - 1;
	ck_assert(says(&v, "committed, of at most 100 MiB\""));
	ck_assert(says(&v, "\"metaspace_max\":104857600,"));
	v.parts.part[PART_CLASS_SPACE].committed = 30 * M;
	ck_assert(says(&v, "90.0 MiB of metaspace, with class space, are committed, of at most "
			   "100 MiB: nearly full; jtool retained 7 --suspects finds"));
	v.metaspace_max = -1;
	ck_assert(!says(&v, "committed, of at most"));
	ck_assert(says(&v, "\"metaspace_max\":null,"));
}
END_TEST

/* Linux before 6.7 does not mark stacks: a guard precedes them. */
START_TEST(stacks_are_found_by_their_guards)
{
	static const char smaps[] =
		"7f0000000000-7f0000004000 ---p 00000000 00:00 0 \nRss: 0 kB\nAnonymous: 0 kB\n"
		"7f0000004000-7f0000100000 rw-p 00000000 00:00 0 \nRss: 88 kB\nAnonymous: 88 kB\n"
		"7f0000200000-7f0000300000 rw-p 00000000 00:00 0 \nRss: 8 kB\nAnonymous: 8 kB\n";
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	jvm_memory_init(&m);
	ck_assert_int_eq(mappings_parse(&maps, smaps, sizeof(smaps) - 1), 0);
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(parts.part[PART_STACKS].resident, 88 * K);
	ck_assert_int_eq(parts.part[PART_MALLOC].resident, 8 * K);
	mappings_release(&maps);
}
END_TEST

/* glibc 2.36 reserves arenas with MAP_NORESERVE, too, but changes their protection in place. */
START_TEST(arenas_of_older_glibc_are_malloc)
{
	static const char smaps[] =
		"7f5150000000-7f515007c000 rw-p 00000000 00:00 0 \nRss: 456 kB\n"
		"Anonymous: 456 kB\nVmFlags: rd wr mr mw me nr \n"
		"7f515007c000-7f5154000000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
		"Anonymous: 0 kB\nVmFlags: mr mw me nr \n"
		"7f5200000000-7f5200020000 rw-p 00000000 00:00 0 \nRss: 72 kB\n"
		"Anonymous: 72 kB\nVmFlags: rd wr mr mw me ac \n"
		"7f5200020000-7f5204000000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
		"Anonymous: 0 kB\nVmFlags: mr mw me nr \n";
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	jvm_memory_init(&m);
	ck_assert_int_eq(mappings_parse(&maps, smaps, sizeof(smaps) - 1), 0);
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(parts.part[PART_MALLOC].resident, 456 * K);
	ck_assert_int_eq(parts.part[PART_GC].resident, 72 * K);
	mappings_release(&maps);
}
END_TEST

#define MAPPING(range, perms, rss, flags) range " " perms " 00000000 00:00 0 \nRss: " rss \
	" kB\nAnonymous: " rss " kB\nVmFlags: " flags "\n"

/* The kernel merges blocks of malloc with the committed start of a reservation. */
START_TEST(blocks_before_a_reservation_are_malloc)
{
	static const char smaps[] =
		MAPPING("7fe500000000-7fe503000000", "rw-p", "49000", "rd wr mr mw me ac")
		MAPPING("7fe503000000-7fe503400000", "---p", "0", "mr mw me nr");
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	jvm_memory_init(&m);
	m.heap_max = 64 * M;
	ck_assert_int_eq(mappings_parse(&maps, smaps, sizeof(smaps) - 1), 0);
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(sum_of(&parts), 49000 * K);
	ck_assert_int_lt(parts.part[PART_GC].resident, 4 * M);
	ck_assert_int_gt(parts.part[PART_MALLOC].resident, 44 * M);
	ck_assert_int_lt(parts.part[PART_GC].committed, 6 * M);
	mappings_release(&maps);
}
END_TEST

/* Native Memory Tracking does not count what libraries such as zlib allocate. */
START_TEST(memory_of_native_libraries_is_not_the_collectors)
{
	static const char smaps[] =
		MAPPING("7fe500000000-7fe504000000", "rw-p", "65536", "rd wr mr mw me ac")
		MAPPING("7fe508000000-7fe50c000000", "rw-p", "65536", "rd wr mr mw me ac");
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	jvm_memory_init(&m);
	m.has_nmt = true;
	m.nmt_malloc = 8 * M;
	m.nmt_gc = 0;
	m.nmt_gc_malloc = 5 * M;
	m.malloc_arenas = 128 * M;
	m.malloc_free = 0;
	ck_assert_int_eq(mappings_parse(&maps, smaps, sizeof(smaps) - 1), 0);
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(sum_of(&parts), 128 * M);
	ck_assert_int_eq(parts.part[PART_GC].resident, 5 * M);
	ck_assert_int_eq(parts.part[PART_MALLOC].resident, 123 * M);
	mappings_release(&maps);
}
END_TEST

START_TEST(malloc_has_the_blocks_that_were_never_touched)
{
	static const char smaps[] =
		MAPPING("7fe500000000-7fe504000000", "rw-p", "65536", "rd wr mr mw me ac")
		MAPPING("7fe508100000-7fe508900000", "rw-p", "4", "rd wr mr mw me ac");
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	jvm_memory_init(&m);
	m.malloc_arenas = 64 * M;
	m.malloc_free = 0;
	m.malloc_mapped = 6 * M;
	ck_assert_int_eq(mappings_parse(&maps, smaps, sizeof(smaps) - 1), 0);
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(sum_of(&parts), 64 * M + 4 * K);
	ck_assert_int_eq(parts.part[PART_MALLOC].used, 70 * M);
	ck_assert_int_eq(parts.part[PART_MALLOC].committed, 70 * M);
	ck_assert_int_eq(parts.part[PART_UNEXPLAINED].committed, 2 * M);
	mappings_release(&maps);
}
END_TEST

/*
 * The smallest run of adjacent mappings that has room for the maximum heap (40 MB) is the code
 * cache (48 MB), because the class space follows the heap in JDK 8 (1064 MB).
 */
START_TEST(reserve_of_the_code_cache_is_not_the_heap)
{
	static const char smaps[] =
		MAPPING("fd800000-100080000", "rw-p", "1800", "rd wr mr mw me ac")
		MAPPING("100080000-140000000", "---p", "0", "mr mw me nr")
		MAPPING("7fc300000000-7fc300270000", "rwxp", "700", "rd wr ex mr mw me ac")
		MAPPING("7fc300270000-7fc303000000", "---p", "0", "mr mw me nr");
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	jvm_memory_init(&m);
	m.heap_max = 40 * M;
	ck_assert_int_eq(mappings_parse(&maps, smaps, sizeof(smaps) - 1), 0);
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(parts.part[PART_HEAP].committed, 40 * M);
	near_kb("heap", parts.part[PART_HEAP].resident, 1288); /* the rest is the class space's */
	mappings_release(&maps);
}
END_TEST

/* A JVM may report its other ranges and not its heap. */
START_TEST(range_of_metaspace_is_not_the_heap)
{
	static const char smaps[] =
		MAPPING("f0000000-f4000000", "rw-p", "1800", "rd wr mr mw me ac");
	struct mappings maps = { .list = NULL };
	struct memory_parts parts;
	struct jvm_memory m;

	jvm_memory_init(&m);
	m.heap_max = 60 * M;
	m.ranges = xcalloc(1, sizeof(*m.ranges));
	m.ranges[0] = (struct jvm_range){ JVM_RANGE_METASPACE, 0xf0400000, 0xf0800000 };
	m.n_ranges = m.cap_ranges = 1;
	ck_assert_int_eq(mappings_parse(&maps, smaps, sizeof(smaps) - 1), 0);
	memory_parts_of(&maps, &m, is_agent, &parts);
	ck_assert_int_eq(sum_of(&parts), 1800 * K);
	ck_assert_int_eq(parts.part[PART_METASPACE].reserved, 4 * M);
	mappings_release(&maps);
	jvm_memory_release(&m);
}
END_TEST

START_TEST(limit_is_compared_with_the_largest_heap)
{
	struct memory_parts parts = { .resident = 0 };

	parts.part[PART_HEAP] = (struct memory_size){ .resident = 50 * M, .anonymous = 50 * M };
	parts.part[PART_MALLOC] = (struct memory_size){ .resident = 30 * M, .anonymous = 30 * M };
	parts.part[PART_LIBRARIES] = (struct memory_size){ .resident = 20 * M, .anonymous = M };
	ck_assert_int_eq(heap_limit_of(&parts, 100 * M, 131 * M).excess, 0);
	ck_assert_int_eq(heap_limit_of(&parts, 100 * M, 131 * M - 1).excess, 1);
	ck_assert_int_eq(heap_limit_of(&parts, 100 * M, 132 * M).excess, -M);
	ck_assert_int_eq(heap_limit_of(&parts, 100 * M, -1).outside, 31 * M);
	ck_assert(!heap_limit_of(&parts, 100 * M, -1).known);
	ck_assert(!heap_limit_of(&parts, -1, 131 * M).known);
	ck_assert(!heap_limit_of(&parts, INT64_MAX, 131 * M).known);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/memory");
	TCase *tc = tcase_create("model/memory");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, parts_add_up_to_the_resident_memory, 0, ARRAY_SIZE(jvms));
	tcase_add_loop_test(tc, heap_is_found_without_attaching, 0, ARRAY_SIZE(jvms));
	tcase_add_loop_test(tc, truncated_mappings_are_refused_or_complete, 0, ARRAY_SIZE(jvms));
	tcase_add_loop_test(tc, malformed_mappings_are_refused, 0, ARRAY_SIZE(malformed));
	tcase_add_loop_test(tc, answers_have_ranges, 0, ARRAY_SIZE(answers));
	tcase_add_loop_test(tc, answers_cut_at_every_byte_are_parsed, 0, ARRAY_SIZE(answers));
	tcase_add_test(tc, amounts_are_those_of_the_answers);
	tcase_add_test(tc, limit_of_metaspace_is_that_of_the_flags);
	tcase_add_test(tc, metaspace_that_is_nearly_full_is_reported);
	tcase_add_test(tc, stacks_are_found_by_their_guards);
	tcase_add_test(tc, arenas_of_older_glibc_are_malloc);
	tcase_add_test(tc, blocks_before_a_reservation_are_malloc);
	tcase_add_test(tc, memory_of_native_libraries_is_not_the_collectors);
	tcase_add_test(tc, malloc_has_the_blocks_that_were_never_touched);
	tcase_add_test(tc, reserve_of_the_code_cache_is_not_the_heap);
	tcase_add_test(tc, range_of_metaspace_is_not_the_heap);
	tcase_add_test(tc, limit_is_compared_with_the_largest_heap);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
