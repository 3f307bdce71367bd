/* Retained sizes, leak suspects and the dominator tree of a sample heap, as text and as JSON. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>

#include "unit/support/sample_heap.h"
#include "model/heap/retained_rows.h"
#include "render/heap/retained_view.h"

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
	ENTRIES = 1000, /* the first of 1000 entries */
	VALUES = 2000,  /* the first of 1000 values */
	NODES = 3000,   /* the first of a list of 1000 nodes */
	BUFFERS = 4000, /* the first of 1000 buffers, each with its own root */
	GARBAGE = 5000, /* the first of 3 objects, of which 2 refer to each other */
};

/* Writes a cache: 1000 entries of 32 bytes, each with a value of 72 bytes: 104,000 bytes. */
static void make_cache(struct heap_writer *m)
{
	write_root(m, CACHE_CLASS, HEAP_STREAM_ROOT_CLASS, 0);
	write_mirror(m, CACHE_CLASS, CACHE, 96);
	write_edge(m, HEAP_STREAM_STATIC, THE_CACHE, 1);
	write_object(m, THE_CACHE, CACHE, 16);
	write_edge(m, HEAP_STREAM_FIELD, THE_MAP, 0);
	write_object(m, THE_MAP, MAP, 48);
	write_edge(m, HEAP_STREAM_FIELD, THE_TABLE, 2);
	write_array(m, THE_TABLE, TABLE, 8016, 2000);
	for (uint32_t i = 0; i < 1000; i++)
		write_edge(m, HEAP_STREAM_ELEMENT, ENTRIES + i, 2 * i);
	for (uint32_t i = 0; i < 1000; i++) {
		write_object(m, ENTRIES + i, ENTRY, 32);
		write_edge(m, HEAP_STREAM_FIELD, VALUES + i, 0);
		write_array(m, VALUES + i, VALUE, 72, 56);
	}
}

/* Writes a thread, its list of 1000 nodes of 40 bytes each, and its name. */
static void make_list(struct heap_writer *m)
{
	write_root(m, A_THREAD, HEAP_STREAM_ROOT_THREAD, 7);
	write_object(m, A_THREAD, THREAD, 104);
	write_edge(m, HEAP_STREAM_FIELD, NODES, 0);
	write_edge(m, HEAP_STREAM_FIELD, A_STRING, 1);
	for (uint32_t i = 0; i < 1000; i++) {
		write_object(m, NODES + i, NODE, 40);
		if (i < 999)
			write_edge(m, HEAP_STREAM_FIELD, NODES + i + 1, 0);
	}
	write_object(m, A_STRING, STRING, 24);
	write_record(m, (struct heap_stream_record){
			       .kind = HEAP_STREAM_TEXT,
			       .address = A_STRING,
			       .form = HEAP_STREAM_UTF16,
			       .text = (const uint8_t *)"\0w\0o\xd8\x3d\xde\x00",
			       .text_len = 8,
		       });
}

/* Writes 1000 buffers, 48,008 bytes in total, and 128 bytes that are only softly reachable. */
static void make_buffers(struct heap_writer *m)
{
	for (uint32_t i = 0; i < 1000; i++) {
		write_root(m, BUFFERS + i, HEAP_STREAM_ROOT_JNI_GLOBAL, 0);
		write_object(m, BUFFERS + i, BUFFER, i == 500 ? 56 : 48);
	}
	write_root(m, A_SOFT, HEAP_STREAM_ROOT_JNI_GLOBAL, 0);
	write_object(m, A_SOFT, SOFT, 40);
	write_edge(m, HEAP_STREAM_REFERENT, SOFT_VALUE, HEAP_STREAM_SOFT);
	write_array(m, SOFT_VALUE, VALUE, 128, 112);
}

static void make_garbage(struct heap_writer *m)
{
	for (uint32_t i = 0; i < 2; i++) {
		write_object(m, GARBAGE + i, NODE, 40);
		write_edge(m, HEAP_STREAM_FIELD, GARBAGE + 1 - i, 0);
	}
	write_array(m, GARBAGE + 2, VALUE, 256, 240);
}

#define CACHE_BYTES  (96 + 16 + 48 + 8016 + 104000)
#define LIST_BYTES   40000
#define BUFFER_BYTES (1000 * 48 + 8)
#define TOTAL        (CACHE_BYTES + 104 + 24 + LIST_BYTES + BUFFER_BYTES + 40 + 128)

static struct heap heap;
static struct dominators tree;

static void setup(void)
{
	struct heap_writer m = { .stream = BUF_INIT };

	make_cache(&m);
	make_list(&m);
	make_buffers(&m);
	make_garbage(&m);
	heap = build_heap(&m, names, CLASSES);
	heap_add_thread(&heap, 7, xstrdup("worker-1"));
	dominators_find(heap.graph, false, &tree);
	ck_assert_uint_eq(tree.total, TOTAL);
}

static void teardown(void)
{
	dominators_release(&tree);
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

static void check_row(const struct retained *r, const char *name, uint64_t instances,
		      uint64_t shallow, uint64_t retained)
{
	const struct graph_sum *sum = &find(r, name)->sum;

	ck_assert_msg(sum->instances == instances && sum->shallow == shallow &&
			      sum->retained == retained,
		      "%s: %" PRIu64 " %" PRIu64 " %" PRIu64, name, sum->instances, sum->shallow,
		      sum->retained);
}

START_TEST(classes_are_sorted_and_filtered)
{
	struct retained r;

	retained_sum_up(&r, &heap, &tree, HISTO_CLASS);
	ck_assert_uint_eq(r.n, CLASSES);
	check_row(&r, "a.b.Map", 1, 48, CACHE_BYTES - 96 - 16);
	check_row(&r, "a.b.Map$Entry", 1000, 32000, 104000);
	check_row(&r, "byte[]", 1001, 72128, 72128);
	check_row(&r, "c.Node", 1000, LIST_BYTES, LIST_BYTES);
	check_row(&r, "java.lang.Class", 1, 96, CACHE_BYTES);
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

START_TEST(sizes_are_summed_by_package_and_loader)
{
	struct retained r;

	retained_sum_up(&r, &heap, &tree, HISTO_PACKAGE);
	check_row(&r, "a.b", 1003, 16 + 48 + 8016 + 32000, CACHE_BYTES - 96);
	check_row(&r, "c", 2000, LIST_BYTES + BUFFER_BYTES, LIST_BYTES + BUFFER_BYTES);
	check_row(&r, "(primitive arrays)", 1001, 72128, 72128);
	retained_release(&r);
	retained_sum_up(&r, &heap, &tree, HISTO_LOADER);
	ck_assert_uint_eq(r.n, 1);
	check_row(&r, "app", tree.n_reached, TOTAL, TOTAL);
	ck_assert_ptr_null(r.rows[0].loader);
	retained_release(&r);
}
END_TEST

static const char *held_text(const struct held_by_class *pieces,
			     const struct held_by_class_sum *sum)
{
	static char text[256];
	_cleanup_buf_ struct buf b = BUF_INIT;

	retained_add_pieces(&b, &heap, pieces, sum);
	(void)snprintf(text, sizeof(text), "%s", buf_str(&b));
	return text;
}

START_TEST(pieces_of_one_class_name_are_one)
{
	struct heap_class classes[] = {
		{ .name = (char *)"a.Plugin", .loader = (char *)"a.Loader @1" },
		{ .name = (char *)"int[]", .loader = (char *)"bootstrap" },
		{ .name = (char *)"a.Plugin", .loader = (char *)"a.Loader @2" },
		{ .name = (char *)"a.Plugin" },
	};
	struct heap h = { .classes = classes, .n_classes = ARRAY_SIZE(classes) };
	struct held_row rows[] = {
		{ .class = 1, .n = 7, .bytes = 2048 },
		{ .class = 0, .n = 1, .bytes = 1024 },
		{ .class = 2, .n = 2, .bytes = 1024 },
		{ .class = 3, .n = 1, .bytes = 1024 },
	};
	const struct held_by_class pieces = { rows, ARRAY_SIZE(rows) };
	const struct held_by_class_sum sum = { 0, ARRAY_SIZE(rows), 11, 5120 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *json = retained_pieces_json(&h, &pieces, &sum);

	retained_add_pieces(&text, &h, &pieces, &sum);
	ck_assert_str_eq(buf_str(&text), "4 a.Plugin (3.00 KiB, of 3 class loaders), "
					 "7 int[] (2.00 KiB)");
	buf_reset(&text);
	json_add(&text, json);
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"{\"class\":\"a.Plugin\",\"loader\":\"a.Loader @1\",\"instances\":1,"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"{\"class\":\"a.Plugin\",\"loader\":null,\"instances\":1,"));
	buf_reset(&text);
	retained_add_pieces(&text, &h, &pieces, &(struct held_by_class_sum){ 0 });
	ck_assert_uint_eq(text.len, 0);
	json_free(json);
}
END_TEST

/*
 * There are three suspects: the map's table, the class of the 1000 buffers, and the first node of
 * the list.  The objects that refer to the table are not suspects.
 */
START_TEST(suspects_are_objects_or_classes)
{
	struct retained_suspects s;

	retained_suspects_find(&s, heap.graph, &tree, TOTAL / 10);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(graph_class(heap.graph, s.list[0].node), TABLE);
	ck_assert_uint_eq(s.list[0].instances, 1);
	ck_assert_uint_eq(s.list[0].retained, 112016);
	ck_assert_str_eq(held_text(&s.pieces, &s.list[0].held), "1000 a.b.Map$Entry (102 KiB)");

	ck_assert_uint_eq(graph_class(heap.graph, s.list[1].node), BUFFER);
	ck_assert_uint_eq(graph_size(heap.graph, s.list[1].node), 56);
	ck_assert_uint_eq(s.list[1].instances, 1000);
	ck_assert_uint_eq(s.list[1].retained, BUFFER_BYTES);

	ck_assert_uint_eq(graph_class(heap.graph, s.list[2].node), NODE);
	ck_assert_uint_eq(s.list[2].retained, LIST_BYTES);
	ck_assert_uint_eq(s.list[2].held.bytes, LIST_BYTES - 40);
	retained_suspects_release(&s);

	/* No object and no class retains the complete heap. */
	retained_suspects_find(&s, heap.graph, &tree, TOTAL);
	ck_assert_uint_eq(s.n, 0);
	retained_suspects_release(&s);
	retained_suspects_find(&s, heap.graph, &tree, 1);
	ck_assert_uint_gt(s.n, 0);
	retained_suspects_release(&s);
}
END_TEST

/* Many small class objects do not have a common cause, so they are not one suspect. */
START_TEST(class_objects_are_not_one_suspect)
{
	struct heap_writer m = { .stream = BUF_INIT };
	struct retained_suspects s;
	struct dominators local_tree;
	struct heap h;

	for (uint32_t i = 0; i < CLASSES; i++) {
		write_root(&m, 2 * i + 1, HEAP_STREAM_ROOT_CLASS, 0);
		write_mirror(&m, 2 * i + 1, i, 96);
		write_root(&m, 2 * i + 2, HEAP_STREAM_ROOT_JNI_GLOBAL, 0);
		write_object(&m, 2 * i + 2, BUFFER, 96);
	}
	h = build_heap(&m, names, CLASSES);
	dominators_find(h.graph, false, &local_tree);
	retained_suspects_find(&s, h.graph, &local_tree, 200);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(s.list[0].instances, CLASSES);
	ck_assert_uint_eq(graph_class(h.graph, s.list[0].node), BUFFER);
	retained_suspects_release(&s);
	dominators_release(&local_tree);
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

START_TEST(dominator_tree_is_printed)
{
	const struct retained_tree_opts opts = { .least = TOTAL / 100, .depth = 5 };
	struct retained_tree top;
	struct retained_view view = { .heap = &heap, .tree = &tree, .top = &top };

	retained_tree_find(&top, heap.graph, &tree, &opts);
	print(retained_print_tree, &view);
	ck_assert_str_eq(printed,
"RETAINED       %   SHALLOW  OBJECT\n"
" 110 KiB   55.95      96 B  class a.b.Cache\n"
" 109 KiB   55.91      16 B    static #1: a.b.Cache\n"
" 109 KiB   55.90      48 B      field #0: a.b.Map\n"
" 109 KiB   55.87  7.83 KiB        field #2: a.b.Map$Entry[2000]\n"
" 102 KiB   51.88                    … 1000 a.b.Map$Entry (102 KiB)\n"
"39.2 KiB   20.02     104 B  java.lang.Thread \"worker-1\"\n"
"39.1 KiB   19.95      40 B    field #0: c.Node\n"
"39.0 KiB   19.93      40 B      field #0: c.Node\n"
"39.0 KiB   19.91      40 B        field #0: c.Node\n"
"38.9 KiB   19.89      40 B          field #0: c.Node\n"
"38.9 KiB   19.87                      … 1 c.Node (38.9 KiB)\n"
"47.0 KiB   24.03            … 1000 c.Buffer (46.9 KiB), 1 byte[] (128 B), "
"1 java.lang.ref.SoftReference (40 B)\n"
" 196 KiB  100.00            total\n");
	retained_tree_release(&top);
}
END_TEST

START_TEST(number_of_children_is_limited)
{
	const struct retained_tree_opts opts = { .least = 1, .depth = 2, .children = 2 };
	struct retained_tree top;
	struct retained_view view = { .heap = &heap, .tree = &tree, .top = &top };

	retained_tree_find(&top, heap.graph, &tree, &opts);
	print(retained_print_tree, &view);
	ck_assert_str_eq(printed,
"RETAINED       %  SHALLOW  OBJECT\n"
" 110 KiB   55.95     96 B  class a.b.Cache\n"
" 109 KiB   55.91     16 B    static #1: a.b.Cache\n"
" 109 KiB   55.90               … 1 a.b.Map (109 KiB)\n"
"39.2 KiB   20.02    104 B  java.lang.Thread \"worker-1\"\n"
"39.1 KiB   19.95     40 B    field #0: c.Node\n"
"39.0 KiB   19.93               … 1 c.Node (39.0 KiB)\n"
"    24 B    0.01     24 B    field #1: java.lang.String \"wo\U0001f600\"\n"
"47.0 KiB   24.03           … 1000 c.Buffer (46.9 KiB), 1 byte[] (128 B), "
"1 java.lang.ref.SoftReference (40 B)\n"
" 196 KiB  100.00           total\n");
	retained_tree_release(&top);
}
END_TEST

START_TEST(suspects_are_printed)
{
	struct retained_suspects s;
	struct graph_bfs bfs;
	struct retained_view view = {
		.heap = &heap, .tree = &tree, .suspects = &s, .bfs = &bfs,
	};

	graph_bfs(heap.graph, false, &bfs);
	retained_suspects_find(&s, heap.graph, &tree, TOTAL / 10);
	print(retained_print_suspects, &view);
	ck_assert_str_eq(printed,
"55.87 %: a.b.Map$Entry[2000] retains 109 KiB\n"
"  including 1000 a.b.Map$Entry (102 KiB)\n"
"  reachable through static a.b.Cache.#1\n"
"    class      a.b.Cache\n"
"    static #1  a.b.Cache\n"
"    field #0   a.b.Map\n"
"    field #2   a.b.Map$Entry[]\n"
"\n"
"23.95 %: 1000 c.Buffer together retain 46.9 KiB\n"
"  reachable (the largest) through a global reference of native code\n"
"    JNI global  c.Buffer\n"
"\n"
"19.95 %: c.Node retains 39.1 KiB\n"
"  including 999 c.Node (39.0 KiB)\n"
"  reachable through thread \"worker-1\"\n"
"    thread    java.lang.Thread\n"
"    field #0  c.Node\n");
	retained_suspects_release(&s);
	retained_suspects_find(&s, heap.graph, &tree, TOTAL);
	print(retained_print_suspects, &view);
	ck_assert_str_eq(printed,
			 "no object and no class retains 10 % of the heap's 196 KiB\n");
	retained_suspects_release(&s);
	graph_bfs_release(&bfs);
}
END_TEST

/* With a threshold of 1 byte every object is a suspect, also a softly reachable one. */
START_TEST(suspects_are_written_as_json)
{
	struct retained rows = { 0 };
	struct retained_suspects s;
	struct graph_bfs bfs;
	struct retained_view view = {
		.heap = &heap, .tree = &tree, .rows = &rows, .suspects = &s, .bfs = &bfs,
	};
	struct json *doc = json_object();
	_cleanup_buf_ struct buf text = BUF_INIT;

	graph_bfs(heap.graph, false, &bfs);
	retained_suspects_find(&s, heap.graph, &tree, 1);
	retained_put(&view, doc);
	json_add(&text, doc);
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"{\"class\":\"byte[]\",\"class_object\":false,\"length\":112,\"thread\":null,"
		"\"text\":null,\"instances\":1,\"retained\":128,"
		"\"holds\":{\"instances\":0,\"retained\":0,\"classes\":[]},\"path\":null}"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"{\"class\":\"java.lang.String\",\"class_object\":false,\"length\":null,"
		"\"thread\":null,\"text\":\"wo\U0001f600\",\"instances\":1,"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"\"path\":{\"root\":{\"kind\":\"thread\",\"thread\":\"worker-1\",\"method\":null},"
		"\"steps\":[{\"class\":\"java.lang.Thread\",\"via\":\"field #1\"},"
		"{\"class\":\"java.lang.String\",\"via\":null}]}"));
	json_free(doc);
	retained_suspects_release(&s);
	graph_bfs_release(&bfs);
}
END_TEST

START_TEST(rows_and_totals_are_printed)
{
	struct retained r;
	struct graph_sum unreached = graph_sum_unreached(heap.graph, &tree);
	struct retained_view view = { .heap = &heap, .tree = &tree, .rows = &r, .n_rows = 2 };

	retained_sum_up(&r, &heap, &tree, HISTO_CLASS);
	retained_sort(&r, RETAINED_BY_COUNT);
	print(retained_print_rows, &view);
	ck_assert_str_eq(printed,
"INSTANCES   SHALLOW  RETAINED       %  CLASS\n"
"     1001  70.4 KiB  70.4 KiB   35.98  byte[]\n"
"     1000  31.2 KiB   102 KiB   51.88  a.b.Map$Entry\n"
"     4008   196 KiB   196 KiB  100.00  total\n"
"… 9 more classes (-n 0 shows all)\n");
	print(retained_print_held, &view);
	ck_assert_str_eq(printed,
			 "of these, reachable only through soft references: 1 object, 128 B\n");
	view.unreached = &unreached;
	print(retained_print_held, &view);
	ck_assert_str_eq(printed,
			 "of these, reachable only through soft references: 1 object, 128 B\n"
			 "not included, unreachable: 3 objects, 336 B\n");
	retained_release(&r);
}
END_TEST

START_TEST(packages_are_written_as_text_and_json)
{
	struct retained r;
	struct retained_view view = {
		.heap = &heap, .tree = &tree, .rows = &r, .by = HISTO_PACKAGE, .n_rows = 1,
	};
	struct json *doc = json_object();
	_cleanup_buf_ struct buf text = BUF_INIT;

	retained_sum_up(&r, &heap, &tree, HISTO_PACKAGE);
	retained_sort(&r, RETAINED_BY_NAME);
	retained_filter(&r, "c");
	print(retained_print_rows, &view);
	ck_assert_str_eq(printed,
"INSTANCES   SHALLOW  RETAINED       %  PACKAGE\n"
"     2000  85.9 KiB  85.9 KiB   43.90  c\n"
"     4008   196 KiB   196 KiB  100.00  total\n");
	retained_put(&view, doc);
	json_add(&text, doc);
	ck_assert_ptr_nonnull(strstr(buf_str(&text),
		"{\"classes\":[{\"class\":\"c\",\"loader\":null,\"instances\":2000,"
		"\"shallow\":88008,\"retained\":88008}],"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"unreachable\":null}"));
	json_free(doc);
	retained_release(&r);
}
END_TEST

START_TEST(rows_and_tree_are_written_as_json)
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
	retained_put(&view, doc);
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
		"[{\"class\":\"a.b.Map$Entry\",\"loader\":\"app\",\"instances\":1000,"
		"\"retained\":104000}]}}"));
	json_free(doc);
	retained_tree_release(&top);
	retained_release(&r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/heap/retained");
	TCase *tc = tcase_create("model/heap/retained");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, classes_are_sorted_and_filtered);
	tcase_add_test(tc, sizes_are_summed_by_package_and_loader);
	tcase_add_test(tc, pieces_of_one_class_name_are_one);
	tcase_add_test(tc, suspects_are_objects_or_classes);
	tcase_add_test(tc, class_objects_are_not_one_suspect);
	tcase_add_test(tc, dominator_tree_is_printed);
	tcase_add_test(tc, number_of_children_is_limited);
	tcase_add_test(tc, suspects_are_printed);
	tcase_add_test(tc, suspects_are_written_as_json);
	tcase_add_test(tc, rows_and_totals_are_printed);
	tcase_add_test(tc, packages_are_written_as_text_and_json);
	tcase_add_test(tc, rows_and_tree_are_written_as_json);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
