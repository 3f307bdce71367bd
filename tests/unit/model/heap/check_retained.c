/* model/retained, model/pieces, render/retained_*: a heap made by hand */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>

#include "made_heap.h"
#include "model/retained.h"
#include "render/retained.h"

enum { CLASS, CACHE, MAP, TABLE, ENTRY, VALUE, NODE, BUFFER, THREAD, STRING, SOFT, CLASSES };

static const char *const names[CLASSES] = {
	[CLASS] = "java.lang.Class",
	[CACHE] = "a.b.Cache",
	[MAP] = "a.b.Map",
	[TABLE] = "a.b.Map$Entry[]",
	[ENTRY] = "a.b.Map$Entry",
	[VALUE] = "byte[]",
	[NODE] = "c.Node",
	[BUFFER] = "c.Buffer",
	[THREAD] = "java.lang.Thread",
	[STRING] = "java.lang.String",
	[SOFT] = "java.lang.ref.SoftReference",
};

enum {
	CACHE_CLASS = 1,
	THE_CACHE,
	THE_MAP,
	THE_TABLE,
	A_THREAD,
	A_STRING,
	A_SOFT,
	SOFT_VALUE,
	ENTRIES = 1000, /* 1000 of them, and as many values */
	VALUES = 2000,
	NODES = 3000,   /* a list of 1000 */
	BUFFERS = 4000, /* 1000, each held by a root */
	GARBAGE = 5000, /* 2, which hold each other, and one beside them */
};

/* 1000 entries of 32 bytes with values of 72: 104,000 bytes. */
static void make_cache(struct made *m)
{
	made_root(m, CACHE_CLASS, TAPE_ROOT_CLASS, 0);
	made_mirror(m, CACHE_CLASS, CACHE, 96);
	made_edge(m, TAPE_STATIC, THE_CACHE, 1);
	made_object(m, THE_CACHE, CACHE, 16);
	made_edge(m, TAPE_FIELD, THE_MAP, 0);
	made_object(m, THE_MAP, MAP, 48);
	made_edge(m, TAPE_FIELD, THE_TABLE, 2);
	made_array(m, THE_TABLE, TABLE, 8016, 2000);
	for (uint32_t i = 0; i < 1000; i++)
		made_edge(m, TAPE_ELEMENT, ENTRIES + i, 2 * i);
	for (uint32_t i = 0; i < 1000; i++) {
		made_object(m, ENTRIES + i, ENTRY, 32);
		made_edge(m, TAPE_FIELD, VALUES + i, 0);
		made_array(m, VALUES + i, VALUE, 72, 56);
	}
}

/* A thread's list of 1000 nodes of 40 bytes, and its name. */
static void make_list(struct made *m)
{
	made_root(m, A_THREAD, TAPE_ROOT_THREAD, 7);
	made_object(m, A_THREAD, THREAD, 104);
	made_edge(m, TAPE_FIELD, NODES, 0);
	made_edge(m, TAPE_FIELD, A_STRING, 1);
	for (uint32_t i = 0; i < 1000; i++) {
		made_object(m, NODES + i, NODE, 40);
		if (i < 999)
			made_edge(m, TAPE_FIELD, NODES + i + 1, 0);
	}
	made_object(m, A_STRING, STRING, 24);
	made_record(m, (struct tape_record){
		.kind = TAPE_TEXT, .address = A_STRING, .form = TAPE_UTF16,
		.text = (const uint8_t *)"\0w\0o\xd8\x3d\xde\x00", .text_len = 8,
	});
}

/* 1000 of 50 bytes, and what a soft reference holds: 128. */
static void make_loose(struct made *m)
{
	for (uint32_t i = 0; i < 1000; i++) {
		made_root(m, BUFFERS + i, TAPE_ROOT_JNI_GLOBAL, 0);
		made_object(m, BUFFERS + i, BUFFER, i == 500 ? 56 : 48);
	}
	made_root(m, A_SOFT, TAPE_ROOT_JNI_GLOBAL, 0);
	made_object(m, A_SOFT, SOFT, 40);
	made_edge(m, TAPE_REFERENT, SOFT_VALUE, TAPE_SOFT);
	made_array(m, SOFT_VALUE, VALUE, 128, 112);
}

static void make_garbage(struct made *m)
{
	for (uint32_t i = 0; i < 2; i++) {
		made_object(m, GARBAGE + i, NODE, 40);
		made_edge(m, TAPE_FIELD, GARBAGE + 1 - i, 0);
	}
	made_array(m, GARBAGE + 2, VALUE, 256, 240);
}

#define CACHED (96 + 16 + 48 + 8016 + 104000)
#define LISTED 40000
#define LOOSE  (1000 * 48 + 8)
#define TOTAL  (CACHED + 104 + 24 + LISTED + LOOSE + 40 + 128)

static struct heap heap;
static struct graph_tree tree;

static void setup(void)
{
	struct made m = { .tape = BUF_INIT };

	make_cache(&m);
	make_list(&m);
	make_loose(&m);
	make_garbage(&m);
	heap = made_heap(&m, names, CLASSES);
	heap.threads = xcalloc(1, sizeof(*heap.threads));
	heap.threads[heap.n_threads++] = (struct heap_thread){ 7, xstrdup("worker-1") };
	graph_find_tree(heap.graph, false, &tree);
	ck_assert_uint_eq(tree.total, TOTAL);
}

static void teardown(void)
{
	graph_tree_release(&tree);
	heap_release(&heap);
}

static const struct retained_row *find(const struct retained *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->rows[i].name, name) == 0)
			return &r->rows[i];
	}
	ck_abort_msg("no %s", name);
}

static void is(const struct retained *r, const char *name, uint64_t instances, uint64_t shallow,
	       uint64_t retained)
{
	const struct graph_sum *sum = &find(r, name)->sum;

	ck_assert_msg(sum->instances == instances && sum->shallow == shallow &&
			      sum->retained == retained,
		      "%s: %" PRIu64 " %" PRIu64 " %" PRIu64, name, sum->instances, sum->shallow,
		      sum->retained);
}

START_TEST(classes)
{
	struct retained r;

	retained_sum_up(&r, &heap, &tree, HISTO_CLASS);
	ck_assert_uint_eq(r.n, CLASSES);
	is(&r, "a.b.Map", 1, 48, CACHED - 96 - 16);
	is(&r, "a.b.Map$Entry", 1000, 32000, 104000);
	is(&r, "byte[]", 1001, 72128, 72128);
	is(&r, "c.Node", 1000, LISTED, LISTED);
	is(&r, "java.lang.Class", 1, 96, CACHED);
	ck_assert_str_eq(find(&r, "c.Node")->loader, "app");
	retained_sort(&r, RETAINED_BY_RETAINED);
	ck_assert_str_eq(r.rows[0].name, "java.lang.Class");
	ck_assert_str_eq(r.rows[1].name, "a.b.Cache");
	retained_sort(&r, RETAINED_BY_SHALLOW);
	ck_assert_str_eq(r.rows[0].name, "byte[]");
	retained_sort(&r, RETAINED_BY_COUNT);
	ck_assert_str_eq(r.rows[0].name, "byte[]");
	ck_assert_str_eq(r.rows[1].name, "a.b.Map$Entry");
	retained_sort(&r, RETAINED_BY_NAME);
	ck_assert_str_eq(r.rows[0].name, "a.b.Cache");
	retained_filter(&r, "c.*");
	ck_assert_uint_eq(r.n, 2);
	retained_release(&r);
}
END_TEST

START_TEST(packages)
{
	struct retained r;

	retained_sum_up(&r, &heap, &tree, HISTO_PACKAGE);
	is(&r, "a.b", 1003, 16 + 48 + 8016 + 32000, CACHED - 96);
	is(&r, "c", 2000, LISTED + LOOSE, LISTED + LOOSE);
	is(&r, "(primitive arrays)", 1001, 72128, 72128);
	retained_release(&r);
	retained_sum_up(&r, &heap, &tree, HISTO_LOADER);
	ck_assert_uint_eq(r.n, 1);
	is(&r, "app", tree.n_reached, TOTAL, TOTAL);
	ck_assert_ptr_null(r.rows[0].loader);
	retained_release(&r);
}
END_TEST

static const char *pieces_text(const struct pieces *pieces, const struct pieces_sum *sum)
{
	static char text[256];
	_cleanup_buf_ struct buf b = BUF_INIT;

	retained_add_pieces(&b, &heap, pieces, sum);
	(void)snprintf(text, sizeof(text), "%s", buf_str(&b));
	return text;
}

/* The table and not what leads to it; the list's first node; the buffers, as a class. */
START_TEST(suspects)
{
	struct retained_suspects s;

	retained_suspects_find(&s, heap.graph, &tree, TOTAL / 10);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(graph_class(heap.graph, s.list[0].node), TABLE);
	ck_assert_uint_eq(s.list[0].instances, 1);
	ck_assert_uint_eq(s.list[0].retained, 112016);
	ck_assert_str_eq(pieces_text(&s.pieces, &s.list[0].held), "1000 a.b.Map$Entry (101K)");

	ck_assert_uint_eq(graph_class(heap.graph, s.list[1].node), BUFFER);
	ck_assert_uint_eq(graph_size(heap.graph, s.list[1].node), 56);
	ck_assert_uint_eq(s.list[1].instances, 1000);
	ck_assert_uint_eq(s.list[1].retained, LOOSE);

	ck_assert_uint_eq(graph_class(heap.graph, s.list[2].node), NODE);
	ck_assert_uint_eq(s.list[2].retained, LISTED);
	ck_assert_uint_eq(s.list[2].held.bytes, LISTED - 40);
	retained_suspects_release(&s);

	/* What no piece is smaller than is none. */
	retained_suspects_find(&s, heap.graph, &tree, TOTAL);
	ck_assert_uint_eq(s.n, 0);
	retained_suspects_release(&s);
	retained_suspects_find(&s, heap.graph, &tree, 1);
	ck_assert_uint_gt(s.n, 0);
	retained_suspects_release(&s);
}
END_TEST

/* What many small class objects hold together is nobody's in particular. */
START_TEST(class_objects_are_no_suspects_together)
{
	struct made m = { .tape = BUF_INIT };
	struct retained_suspects s;
	struct graph_tree whole;
	struct heap h;

	for (uint32_t i = 0; i < CLASSES; i++) {
		made_root(&m, 2 * i + 1, TAPE_ROOT_CLASS, 0);
		made_mirror(&m, 2 * i + 1, i, 96);
		made_root(&m, 2 * i + 2, TAPE_ROOT_JNI_GLOBAL, 0);
		made_object(&m, 2 * i + 2, BUFFER, 96);
	}
	h = made_heap(&m, names, CLASSES);
	graph_find_tree(h.graph, false, &whole);
	retained_suspects_find(&s, h.graph, &whole, 200);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(s.list[0].instances, CLASSES);
	ck_assert_uint_eq(graph_class(h.graph, s.list[0].node), BUFFER);
	retained_suspects_release(&s);
	graph_tree_release(&whole);
	heap_release(&h);
}
END_TEST

static char printed[65536];

static void print(void (*how)(const struct retained_view *, FILE *),
		  const struct retained_view *view)
{
	FILE *f = fmemopen(printed, sizeof(printed), "w");

	how(view, f);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(prints_tree)
{
	const struct retained_tree_opts opts = { .least = TOTAL / 100, .depth = 5 };
	struct retained_tree top;
	struct retained_view view = { .heap = &heap, .tree = &tree, .top = &top };

	retained_tree_find(&top, heap.graph, &tree, &opts);
	print(retained_print_tree, &view);
	ck_assert_str_eq(printed,
"RETAINED       %  SHALLOW  OBJECT\n"
"  112176   55.95       96  class a.b.Cache\n"
"  112080   55.91       16    static #1: a.b.Cache\n"
"  112064   55.90       48      field #0: a.b.Map\n"
"  112016   55.87     8016        field #2: a.b.Map$Entry[2000]\n"
"  104000   51.88                   … 1000 a.b.Map$Entry (101K)\n"
"   40128   20.02      104  java.lang.Thread \"worker-1\"\n"
"   40000   19.95       40    field #0: c.Node\n"
"   39960   19.93       40      field #0: c.Node\n"
"   39920   19.91       40        field #0: c.Node\n"
"   39880   19.89       40          field #0: c.Node\n"
"   39840   19.87                     … 1 c.Node (38K)\n"
"   48176   24.03           … 1000 c.Buffer (46K), 1 byte[] (128), "
"1 java.lang.ref.SoftReference (40)\n"
"  200480  100.00           total\n");
	retained_tree_release(&top);
}
END_TEST

START_TEST(cuts_children)
{
	const struct retained_tree_opts opts = { .least = 1, .depth = 2, .children = 2 };
	struct retained_tree top;
	struct retained_view view = { .heap = &heap, .tree = &tree, .top = &top };

	retained_tree_find(&top, heap.graph, &tree, &opts);
	print(retained_print_tree, &view);
	ck_assert_str_eq(printed,
"RETAINED       %  SHALLOW  OBJECT\n"
"  112176   55.95       96  class a.b.Cache\n"
"  112080   55.91       16    static #1: a.b.Cache\n"
"  112064   55.90               … 1 a.b.Map (109K)\n"
"   40128   20.02      104  java.lang.Thread \"worker-1\"\n"
"   40000   19.95       40    field #0: c.Node\n"
"   39960   19.93               … 1 c.Node (39K)\n"
"      24    0.01       24    field #1: java.lang.String \"wo\U0001f600\"\n"
"   48176   24.03           … 1000 c.Buffer (46K), 1 byte[] (128), "
"1 java.lang.ref.SoftReference (40)\n"
"  200480  100.00           total\n");
	retained_tree_release(&top);
}
END_TEST

START_TEST(prints_suspects)
{
	struct retained_suspects s;
	struct graph_ways ways;
	struct retained_view view = {
		.heap = &heap, .tree = &tree, .suspects = &s, .ways = &ways,
	};

	graph_find_ways(heap.graph, false, &ways);
	retained_suspects_find(&s, heap.graph, &tree, TOTAL / 10);
	print(retained_print_suspects, &view);
	ck_assert_str_eq(printed,
"55.87 %: a.b.Map$Entry[2000] retains 112016 bytes\n"
"  holding 1000 a.b.Map$Entry (101K)\n"
"  alive through static a.b.Cache.#1\n"
"    class      a.b.Cache\n"
"    static #1  a.b.Cache\n"
"    field #0   a.b.Map\n"
"    field #2   a.b.Map$Entry[]\n"
"\n"
"23.95 %: 1000 c.Buffer retain together 48008 bytes\n"
"  alive (the largest) through a global reference of native code\n"
"    JNI global  c.Buffer\n"
"\n"
"19.95 %: c.Node retains 40000 bytes\n"
"  holding 999 c.Node (39K)\n"
"  alive through thread \"worker-1\"\n"
"    thread    java.lang.Thread\n"
"    field #0  c.Node\n");
	retained_suspects_release(&s);
	retained_suspects_find(&s, heap.graph, &tree, TOTAL);
	print(retained_print_suspects, &view);
	ck_assert_str_eq(printed, "no object and no class holds 10 % of the heap's 200480 bytes\n");
	retained_suspects_release(&s);
	graph_ways_release(&ways);
}
END_TEST

/* A threshold so low that each object is a suspect, those softly reachable, too. */
START_TEST(puts_suspects)
{
	struct retained rows = { 0 };
	struct retained_suspects s;
	struct graph_ways ways;
	struct retained_view view = {
		.heap = &heap, .tree = &tree, .rows = &rows, .suspects = &s, .ways = &ways,
	};
	struct json *doc = json_object();
	_cleanup_buf_ struct buf text = BUF_INIT;

	graph_find_ways(heap.graph, false, &ways);
	retained_suspects_find(&s, heap.graph, &tree, 1);
	retained_put_json(&view, doc);
	json_add(&text, doc);
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"{\"class\":\"byte[]\",\"class_object\":false,\"length\":112,\"thread\":null,"
		"\"text\":null,\"instances\":1,\"retained\":128,"
		"\"holds\":{\"instances\":0,\"retained\":0,\"classes\":[]},\"path\":null}"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"\"path\":{\"root\":{\"kind\":\"thread\",\"thread\":\"worker-1\",\"method\":null},"
		"\"steps\":[{\"class\":\"java.lang.Thread\",\"via\":\"field #1\"},"
		"{\"class\":\"java.lang.String\",\"via\":null}]}"));
	json_free(doc);
	retained_suspects_release(&s);
	graph_ways_release(&ways);
}
END_TEST

START_TEST(prints_rows)
{
	struct retained r;
	struct graph_sum unreached = graph_sum_unreached(heap.graph, &tree);
	struct retained_view view = { .heap = &heap, .tree = &tree, .rows = &r, .n_rows = 2 };

	retained_sum_up(&r, &heap, &tree, HISTO_CLASS);
	retained_sort(&r, RETAINED_BY_COUNT);
	print(retained_print_rows, &view);
	ck_assert_str_eq(printed,
"INSTANCES  SHALLOW  RETAINED       %  CLASS\n"
"     1001    72128     72128   35.98  byte[]\n"
"     1000    32000    104000   51.88  a.b.Map$Entry\n"
"     4008   200480    200480  100.00  total\n");
	print(retained_print_held, &view);
	ck_assert_str_eq(printed,
			 "of these, alive only through soft references: 1 object, 128 bytes\n");
	view.unreached = &unreached;
	print(retained_print_held, &view);
	ck_assert_str_eq(printed,
			 "of these, alive only through soft references: 1 object, 128 bytes\n"
			 "not among these, reachable from no root: 3 objects, 336 bytes\n");
	retained_release(&r);
}
END_TEST

START_TEST(puts_json)
{
	const struct retained_tree_opts opts = { .least = TOTAL / 100, .depth = 5 };
	struct retained r;
	struct retained_tree top;
	struct retained_view view = {
		.heap = &heap, .tree = &tree, .rows = &r, .n_rows = 1, .top = &top,
		.unreached = &(struct graph_sum){ 3, 336, 0 },
	};
	struct json *doc = json_object();
	_cleanup_buf_ struct buf text = BUF_INIT;

	retained_sum_up(&r, &heap, &tree, HISTO_CLASS);
	retained_sort(&r, RETAINED_BY_COUNT);
	retained_tree_find(&top, heap.graph, &tree, &opts);
	retained_put_json(&view, doc);
	json_add(&text, doc);
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"{\"classes\":[{\"class\":\"byte[]\",\"loader\":\"app\",\"instances\":1001,"
		"\"shallow\":72128,\"retained\":72128}],"
		"\"total\":{\"instances\":4008,\"bytes\":200480},"
		"\"held\":{\"soft\":{\"instances\":1,\"bytes\":128},"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"\"unreachable\":{\"instances\":3,\"bytes\":336}"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"\"via\":\"field #2\",\"shallow\":8016,\"retained\":112016,\"children\":[],"
		"\"rest\":{\"instances\":1000,\"retained\":104000,\"classes\":"
		"[{\"class\":\"a.b.Map$Entry\",\"instances\":1000,\"retained\":104000}]}}"));
	json_free(doc);
	retained_tree_release(&top);
	retained_release(&r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("retained");
	TCase *tc = tcase_create("retained");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, classes);
	tcase_add_test(tc, packages);
	tcase_add_test(tc, suspects);
	tcase_add_test(tc, class_objects_are_no_suspects_together);
	tcase_add_test(tc, prints_tree);
	tcase_add_test(tc, cuts_children);
	tcase_add_test(tc, prints_suspects);
	tcase_add_test(tc, puts_suspects);
	tcase_add_test(tc, prints_rows);
	tcase_add_test(tc, puts_json);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
