/* Merged paths from the roots to instances, as text and as JSON. */
#include <stdio.h>
#include <string.h>

#include "unit/support/sample_heap.h"
#include "model/heap/refpath.h"
#include "model/heap/refpaths.h"
#include "render/heap/refpath_view.h"
#include "render/heap/refpaths_view.h"

enum {
	CLASS, CACHE, MAP, TABLE, NODE, SESSION, GUEST, OBJECTS, LIST, WEAK, LOADER, THREAD,
	LACK, PERSON, N_CLASSES,
};

static const char *const names[N_CLASSES] = {
	"java.lang.Class", "a.b.Cache", "java.util.HashMap", "java.util.HashMap$Node[]",
	"java.util.HashMap$Node", "a.b.Session", "a.b.GuestSession", "java.lang.Object[]",
	"a.b.List$Node", "java.lang.ref.WeakReference", "a.b.Loader", "java.lang.Thread",
	"a.b.Lack", "a.b.Person",
};

static struct heap_writer sample;
static struct heap heap;
static struct refpaths_targets targets;
static struct refpaths paths;
static struct err err;

static void setup(void)
{
	sample = (struct heap_writer){ .stream = BUF_INIT };
	heap = (struct heap){ 0 };
	targets = (struct refpaths_targets){ 0 };
	paths = (struct refpaths){ 0 };
	err = (struct err){ .code = EXIT_DONE };
}

static void teardown(void)
{
	refpaths_release(&paths);
	refpaths_targets_release(&targets);
	heap_release(&heap);
}

/* Writes the class object of `class`; its object number is `class` + 1. */
static void make_class(uint32_t class)
{
	write_mirror(&sample, class + 1, class, 64);
}

static void name_field(struct heap_field **fields, uint32_t *n, uint32_t index, const char *name)
{
	*fields = xreallocarray(*fields, index + 1, sizeof(**fields));
	for (; *n <= index; ++*n)
		(*fields)[*n] = (struct heap_field){ 0 };
	(*fields)[index].name = xstrdup(name);
}

static void name_instance_field(uint32_t class, uint32_t index, const char *name)
{
	name_field(&heap.classes[class].fields, &heap.classes[class].n_fields, index, name);
}

static void name_threads(const char *const *threads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		heap_add_thread(&heap, i + 1, xstrdup(threads[i]));
}

static void find(const char *word, bool weak, size_t n_groups)
{
	bool only_classes;

	ck_assert_int_eq(refpaths_choose(&heap, word, false, &targets, &only_classes, &err), 0);
	refpaths_find(&heap, &targets, weak, n_groups, &paths);
}

static const char *printed(void)
{
	static char text[100000];
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(out);
	refpaths_print(&heap, &paths, "instances of it", out);
	(void)fclose(out);
	return text;
}

static const char *as_json(void)
{
	static struct buf text = BUF_INIT;
	struct json *doc = json_object();

	buf_reset(&text);
	refpaths_put(doc, &heap, &paths);
	json_add(&text, doc);
	json_free(doc);
	return buf_str(&text);
}

/*
 * Builds a heap with a map in a static field: 3 buckets with chains of 1, 2 and 3 nodes.  Each node
 * refers to a session; one session is a guest session.  Two pool threads refer to a session each.
 */
static void make_cache(void)
{
	static const char *const threads[] = { "exec-7", "exec-12", "main" };

	make_class(CACHE);
	write_edge(&sample, HEAP_STREAM_STATIC, 100, 1);
	write_object(&sample, 100, CACHE, 16);
	write_edge(&sample, HEAP_STREAM_FIELD, 101, 0);
	write_object(&sample, 101, MAP, 48);
	write_edge(&sample, HEAP_STREAM_FIELD, 102, 2);
	write_array(&sample, 102, TABLE, 80, 16);
	write_edge(&sample, HEAP_STREAM_ELEMENT, 110, 3);
	write_edge(&sample, HEAP_STREAM_ELEMENT, 120, 4);
	write_edge(&sample, HEAP_STREAM_ELEMENT, 130, 12);
	for (uint32_t chain = 0; chain < 3; chain++) {
		for (uint32_t i = 0; i <= chain; i++) {
			uint32_t node = 110 + 10 * chain + i;

			write_object(&sample, node, NODE, 32);
			if (i < chain)
				write_edge(&sample, HEAP_STREAM_FIELD, node + 1, 3);
			write_edge(&sample, HEAP_STREAM_FIELD, 1000 + node, 2);
			write_object(&sample, 1000 + node, node == 131 ? GUEST : SESSION, 24);
		}
	}
	for (uint32_t i = 1; i <= 2; i++) {
		write_record(&sample, (struct heap_stream_record){
					   .kind = HEAP_STREAM_ROOT,
					   .address = 2000 + i,
					   .root = HEAP_STREAM_ROOT_STACK,
					   .thread = i,
					   .depth = i,
					   .method = 1,
				   });
		write_object(&sample, 2000 + i, SESSION, 24);
	}
	write_root(&sample, CACHE + 1, HEAP_STREAM_ROOT_CLASS, 0);
	heap = build_heap(&sample, names, N_CLASSES);
	name_threads(threads, ARRAY_SIZE(threads));
	heap.methods = xcalloc(1, sizeof(*heap.methods));
	heap.n_methods = 1;
	heap.methods[0] = (struct heap_method){ xstrdup("a.b.Worker"), xstrdup("run") };
	name_field(&heap.classes[CACHE].statics, &heap.classes[CACHE].n_statics, 1, "INSTANCE");
	name_instance_field(CACHE, 0, "map");
	name_instance_field(MAP, 2, "table");
	name_instance_field(NODE, 2, "value");
	name_instance_field(NODE, 3, "next");
}

START_TEST(equal_paths_are_merged)
{
	make_cache();
	find("a.b.Session", false, 5);
	ck_assert_uint_eq(paths.n_targets, 7);
	ck_assert_uint_eq(paths.n_reached, 7);
	ck_assert_uint_eq(paths.n_weak, 0);
	ck_assert_uint_eq(paths.n_groups, 2);
	ck_assert_uint_eq(paths.groups[0].count, 5);
	ck_assert_uint_eq(paths.groups[0].length, 6);
	ck_assert_uint_eq(paths.groups[0].n_stretches, 6);
	ck_assert_uint_eq(paths.groups[0].stretches[4].least, 1);
	ck_assert_uint_eq(paths.groups[0].stretches[4].most, 3);
	ck_assert_uint_eq(paths.groups[0].stretches[5].most, 1);
	ck_assert_uint_eq(paths.groups[1].count, 2);
	ck_assert_uint_eq(paths.groups[1].length, 1);
	ck_assert(paths.groups[1].threads_differ);
}
END_TEST

START_TEST(paths_are_printed)
{
	make_cache();
	find("a.b.Session", false, 5);
	ck_assert_str_eq(printed(),
		"71 % (5) through static a.b.Cache.INSTANCE\n"
		"    class            a.b.Cache\n"
		"    static INSTANCE  a.b.Cache\n"
		"    field map        java.util.HashMap\n"
		"    field table      java.util.HashMap$Node[]\n"
		"    [3]              java.util.HashMap$Node  (1 to 3 in a row)\n"
		"    field value      a.b.Session\n"
		"\n"
		"28 % (2) through a local variable of a.b.Worker.run in threads \"exec-*\"\n"
		"    local variable  a.b.Session\n"
		"\n"
		"7 instances of it; 2 kinds of paths\n");
}
END_TEST

START_TEST(limit_reduces_the_printed_paths)
{
	make_cache();
	find("a.b.*Session", false, 1);
	ck_assert_uint_eq(paths.n_groups, 3); /* the guest session has another class */
	ck_assert_ptr_nonnull(strstr(printed(), "62 % (5) through static a.b.Cache.INSTANCE\n"));
	ck_assert_ptr_nonnull(strstr(printed(), "\n8 instances of it; 3 kinds of paths\n"
					     "… 2 more kinds of paths (-n 0 shows all)\n"));
}
END_TEST

START_TEST(paths_are_written_as_json)
{
	make_cache();
	find("a.b.Session", false, 5);
	ck_assert_str_eq(as_json(),
		"{\"instances\":7,\"reached\":7,\"only_weakly\":0,\"path_count\":2,\"paths\":["
		"{\"count\":5,\"length\":6,"
		"\"root\":{\"kind\":\"class\",\"thread\":null,\"method\":null},"
		"\"steps\":[{\"class\":\"a.b.Cache\",\"via\":\"static INSTANCE\"},"
		"{\"class\":\"a.b.Cache\",\"via\":\"field map\"},"
		"{\"class\":\"java.util.HashMap\",\"via\":\"field table\"},"
		"{\"class\":\"java.util.HashMap$Node[]\",\"via\":\"[3]\"},"
		"{\"class\":\"java.util.HashMap$Node\",\"via\":\"field value\"},"
		"{\"class\":\"a.b.Session\",\"via\":null}]},"
		"{\"count\":2,\"length\":1,"
		"\"root\":{\"kind\":\"stack local\",\"thread\":\"exec-7\","
		"\"method\":\"a.b.Worker.run\"},"
		"\"steps\":[{\"class\":\"a.b.Session\",\"via\":null}]}]}");
}
END_TEST

/* The field names of three classes are needed for the path. */
START_TEST(only_classes_on_the_path_need_field_names)
{
	bool wanted[N_CLASSES] = { false };
	struct refpath path;

	make_cache();
	find("a.b.Session", false, 1);
	refpath_find(heap.graph, &paths.bfs, paths.groups[0].example, &path);
	refpath_want_fields(&heap, &path, wanted);
	for (uint32_t i = 0; i < N_CLASSES; i++)
		ck_assert(wanted[i] == (i == CACHE || i == MAP || i == NODE));
	refpath_release(&path);
}
END_TEST

/* Builds a heap in which a thread refers to a class that can be unloaded. */
static void make_static_of_thread(void)
{
	static const char *const threads[] = { "main" };

	write_root(&sample, 50, HEAP_STREAM_ROOT_THREAD, 1);
	write_object(&sample, 50, THREAD, 120);
	write_edge(&sample, HEAP_STREAM_FIELD, CACHE + 1, 0);
	make_class(CACHE);
	write_edge(&sample, HEAP_STREAM_STATIC, 60, 0);
	write_object(&sample, 60, OBJECTS, 24);
	write_edge(&sample, HEAP_STREAM_ELEMENT, 61, 0);
	write_object(&sample, 61, SESSION, 24);
	heap = build_heap(&sample, names, N_CLASSES);
	name_threads(threads, 1);
}

START_TEST(paths_begin_at_static_fields)
{
	make_static_of_thread();
	find("a.b.Session", false, 5);
	ck_assert_str_eq(printed(),
		"100 % (1) through static a.b.Cache.#0\n"
		"    class      a.b.Cache\n"
		"    static #0  java.lang.Object[]\n"
		"    [0]        a.b.Session\n"
		"\n"
		"1 instances of it; 1 kind of path\n");
}
END_TEST

START_TEST(headline_names_root_and_last_static_field)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct refpath_view path;
	struct graph_bfs bfs;
	bool only_classes;

	make_static_of_thread();
	ck_assert_int_eq(refpaths_choose(&heap, "a.b.Session", false, &targets, &only_classes,
					 &err), 0);
	graph_bfs(heap.graph, false, &bfs);
	refpath_view_init(&path, &heap, &bfs, targets.nodes[0], NULL, true);
	refpath_view_headline(&path, false, &text);
	ck_assert_str_eq(buf_str(&text), "thread \"main\" and static a.b.Cache.#0");
	ck_assert_uint_eq(path.length, 4);
	refpath_view_release(&path);
	graph_bfs_release(&bfs);
}
END_TEST

/* On a path, a class object stands for its class; as targets, all class objects are merged. */
START_TEST(class_objects_are_merged_as_targets)
{
	make_class(CACHE);
	write_edge(&sample, HEAP_STREAM_STATIC, SESSION + 1, 0);
	write_edge(&sample, HEAP_STREAM_STATIC, 60, 1);
	make_class(GUEST);
	write_edge(&sample, HEAP_STREAM_STATIC, 61, 1);
	make_class(SESSION);
	write_object(&sample, 60, SESSION, 24);
	write_object(&sample, 61, SESSION, 24);
	write_root(&sample, CACHE + 1, HEAP_STREAM_ROOT_CLASS, 0);
	write_root(&sample, GUEST + 1, HEAP_STREAM_ROOT_CLASS, 0);
	heap = build_heap(&sample, names, N_CLASSES);
	find("a.b.Session", false, 5);
	ck_assert_uint_eq(paths.n_groups, 2);
	refpaths_release(&paths);
	refpaths_targets_release(&targets);
	find("java.lang.Class", false, 5);
	ck_assert_uint_eq(paths.n_targets, 3);
	ck_assert_uint_eq(paths.n_groups, 2);
	ck_assert_uint_eq(paths.groups[0].count, 2);
	ck_assert_uint_eq(paths.groups[1].length, 2);
}
END_TEST

/* The headline depends on whether a path begins at class objects or at other data of classes. */
START_TEST(class_roots_have_their_own_headlines)
{
	make_class(CACHE);
	make_class(GUEST);
	write_array(&sample, 60, OBJECTS, 24, 1);
	write_edge(&sample, HEAP_STREAM_ELEMENT, 61, 0);
	write_object(&sample, 61, SESSION, 24);
	write_root(&sample, CACHE + 1, HEAP_STREAM_ROOT_CLASS, 0);
	write_root(&sample, GUEST + 1, HEAP_STREAM_ROOT_CLASS, 0);
	write_root(&sample, 60, HEAP_STREAM_ROOT_CLASS, 0);
	heap = build_heap(&sample, names, N_CLASSES);
	find("java.lang.Class", false, 5);
	ck_assert_ptr_nonnull(strstr(printed(),
		"100 % (2) through permanent class loaders, which have loaded them\n"));
	refpaths_release(&paths);
	refpaths_targets_release(&targets);
	find("a.b.Session", false, 5);
	ck_assert_ptr_nonnull(strstr(printed(),
		"100 % (1) through constants and other data of permanent classes\n"
		"    class data  java.lang.Object[]\n"
		"    [0]         a.b.Session\n"));
}
END_TEST

static void make_list(uint32_t n)
{
	make_class(CACHE);
	write_edge(&sample, HEAP_STREAM_STATIC, 100, 0);
	for (uint32_t i = 0; i < n; i++) {
		write_object(&sample, 100 + 2 * i, LIST, 24);
		if (i + 1 < n)
			write_edge(&sample, HEAP_STREAM_FIELD, 100 + 2 * i + 2, 0);
		if (i % 2 == 1)
			write_edge(&sample, HEAP_STREAM_FIELD, 100 + 2 * i + 1, 1);
	}
	for (uint32_t i = 1; i < n; i += 2)
		write_object(&sample, 100 + 2 * i + 1, SESSION, 24);
	write_root(&sample, CACHE + 1, HEAP_STREAM_ROOT_CLASS, 0);
	heap = build_heap(&sample, names, N_CLASSES);
}

START_TEST(list_of_a_million_nodes_is_one_path)
{
	make_list(1000000);
	find("a.b.Session", false, 5);
	ck_assert_uint_eq(paths.n_groups, 1);
	ck_assert_uint_eq(paths.groups[0].count, 500000);
	ck_assert_uint_eq(paths.groups[0].stretches[1].least, 2);
	ck_assert_uint_eq(paths.groups[0].stretches[1].most, 1000000);
	ck_assert_str_eq(printed(),
		"100 % (500,000) through static a.b.Cache.#0\n"
		"    class      a.b.Cache\n"
		"    static #0  a.b.List$Node  (2 to 1,000,000 in a row)\n"
		"    field #0   a.b.List$Node\n"
		"    field #1   a.b.Session\n"
		"\n"
		"500,000 instances of it; 1 kind of path\n");
}
END_TEST

START_TEST(list_nodes_are_one_group)
{
	make_list(1000000);
	find("a.b.List$Node", false, 5);
	ck_assert_uint_eq(paths.n_groups, 1);
	ck_assert_uint_eq(paths.groups[0].count, 1000000);
	ck_assert_uint_eq(paths.groups[0].length, 2);
	ck_assert_uint_eq(paths.groups[0].stretches[1].most, 1000000);
}
END_TEST

/* The target is reachable only through the last node of a long list. */
START_TEST(long_run_of_nodes_is_one_line)
{
	make_class(CACHE);
	write_edge(&sample, HEAP_STREAM_STATIC, 100, 0);
	for (uint32_t i = 100; i < 5100; i++) {
		write_object(&sample, i, LIST, 24);
		write_edge(&sample, HEAP_STREAM_FIELD, i + 1, 0);
	}
	write_object(&sample, 5100, SESSION, 24);
	write_root(&sample, CACHE + 1, HEAP_STREAM_ROOT_CLASS, 0);
	heap = build_heap(&sample, names, N_CLASSES);
	find("a.b.Session", false, 5);
	ck_assert_str_eq(printed(),
		"100 % (1) through static a.b.Cache.#0\n"
		"    class      a.b.Cache\n"
		"    static #0  a.b.List$Node  (5,000 in a row)\n"
		"    field #0   a.b.List$Node  (4,999 times)\n"
		"    field #0   a.b.Session\n"
		"\n"
		"1 instances of it; 1 kind of path\n");
	ck_assert_ptr_nonnull(strstr(as_json(),
				     "{\"class\":\"a.b.List$Node\",\"via\":\"field #0\"},"
				     "{\"class\":null,\"via\":null,\"left_out\":4002},"
				     "{\"class\":\"a.b.List$Node\",\"via\":\"field #0\"},"));
}
END_TEST

/* Two classes alternate, so their nodes do not form a run. */
START_TEST(middle_of_a_long_path_is_omitted)
{
	make_class(CACHE);
	write_edge(&sample, HEAP_STREAM_STATIC, 100, 0);
	for (uint32_t i = 100; i < 200; i++) {
		write_object(&sample, i, i % 2 ? LIST : NODE, 24);
		write_edge(&sample, HEAP_STREAM_FIELD, i + 1, 0);
	}
	write_object(&sample, 200, SESSION, 24);
	write_root(&sample, CACHE + 1, HEAP_STREAM_ROOT_CLASS, 0);
	heap = build_heap(&sample, names, N_CLASSES);
	find("a.b.Session", false, 5);
	ck_assert_ptr_nonnull(strstr(printed(),
		"    field #0   java.util.HashMap$Node\n    ... 62 more ...\n    field #0   "));
	ck_assert_uint_eq(paths.groups[0].length, 102);
}
END_TEST

/* Paths through left and through right branches are merged. */
START_TEST(tree_nodes_are_one_run)
{
	make_class(CACHE);
	write_edge(&sample, HEAP_STREAM_STATIC, 101, 0);
	for (uint32_t i = 1; i < 128; i++) {
		write_object(&sample, 100 + i, PERSON, 24);
		if (i < 64) {
			write_edge(&sample, HEAP_STREAM_FIELD, 100 + 2 * i, 0);
			write_edge(&sample, HEAP_STREAM_FIELD, 100 + 2 * i + 1, 1);
		} else {
			write_edge(&sample, HEAP_STREAM_FIELD, 1000 + i, 2);
		}
	}
	for (uint32_t i = 64; i < 128; i++)
		write_object(&sample, 1000 + i, SESSION, 24);
	write_root(&sample, CACHE + 1, HEAP_STREAM_ROOT_CLASS, 0);
	heap = build_heap(&sample, names, N_CLASSES);
	find("a.b.Session", false, 5);
	ck_assert_uint_eq(paths.n_groups, 1);
	ck_assert_uint_eq(paths.groups[0].stretches[1].least, 7);
	ck_assert_uint_eq(paths.groups[0].stretches[1].most, 7);
	ck_assert_ptr_nonnull(strstr(printed(), "static #0  a.b.Person  (7 in a row)\n"));
}
END_TEST

/* Builds a heap with a weakly reachable, a strongly reachable and an unreachable session. */
static void make_weak(void)
{
	write_root(&sample, 50, HEAP_STREAM_ROOT_JNI_GLOBAL, 0);
	write_object(&sample, 50, WEAK, 48);
	write_edge(&sample, HEAP_STREAM_REFERENT, 60, HEAP_STREAM_WEAK);
	write_edge(&sample, HEAP_STREAM_FIELD, 61, 3);
	write_object(&sample, 60, SESSION, 24);
	write_object(&sample, 61, SESSION, 24);
	write_object(&sample, 62, SESSION, 24);
	heap = build_heap(&sample, names, N_CLASSES);
}

START_TEST(weakly_reachable_instances_are_counted)
{
	make_weak();
	find("a.b.Session", false, 5);
	ck_assert_uint_eq(paths.n_reached, 1);
	ck_assert_uint_eq(paths.n_weak, 1);
	ck_assert_str_eq(printed(),
		"100 % (1) through a global reference of native code\n"
		"    JNI global  java.lang.ref.WeakReference\n"
		"    field #3    a.b.Session\n"
		"\n"
		"3 instances of it; 1 kind of path; 1 only through weak, soft, final or phantom "
		"references: see --weak; 1 unreachable\n");
}
END_TEST

START_TEST(weak_references_can_be_followed)
{
	make_weak();
	find("a.b.Session", true, 5);
	ck_assert_uint_eq(paths.n_reached, 2);
	ck_assert_uint_eq(paths.n_weak, 0);
	ck_assert_ptr_nonnull(strstr(printed(), "    field referent (weak)  a.b.Session\n"));
}
END_TEST

START_TEST(class_without_instances_has_no_paths)
{
	make_weak();
	find("a.b.Lack", false, 5);
	ck_assert_str_eq(printed(), "0 instances of it\n");
	ck_assert_str_eq(as_json(), "{\"instances\":0,\"reached\":0,\"only_weakly\":0,"
				    "\"path_count\":0,\"paths\":[]}");
}
END_TEST

START_TEST(unknown_class_is_an_error_with_a_suggestion)
{
	bool only_classes;

	make_weak();
	ck_assert_int_lt(refpaths_choose(&heap, "a.b.Sesion", false, &targets, &only_classes,
					 &err), 0);
	ck_assert_int_eq(err.code, EXIT_ANSWER);
	ck_assert_str_eq(err.text, "no class matches 'a.b.Sesion': did you mean a.b.Session?");
}
END_TEST

/* Builds a heap in which class GUEST extends SESSION, and SESSION implements LACK. */
static void make_subclasses(void)
{
	make_class(SESSION);
	write_edge(&sample, HEAP_STREAM_LINK, LACK + 1, HEAP_STREAM_INTERFACE);
	make_class(GUEST);
	write_edge(&sample, HEAP_STREAM_LINK, SESSION + 1, HEAP_STREAM_SUPERCLASS);
	write_edge(&sample, HEAP_STREAM_LINK, 90, HEAP_STREAM_LOADER);
	make_class(LACK);
	write_edge(&sample, HEAP_STREAM_LINK, 90, HEAP_STREAM_LOADER);
	write_object(&sample, 60, SESSION, 24);
	write_object(&sample, 61, GUEST, 24);
	write_object(&sample, 62, PERSON, 24);
	write_object(&sample, 90, LOADER, 24);
	heap = build_heap(&sample, names, N_CLASSES);
}

START_TEST(subclasses_are_included_on_request)
{
	static const struct {
		const char *word;
		size_t alone, all;
	} cases[] = {
		{ "a.b.Lack", 0, 2 }, { "a.b.Session", 1, 2 }, { "a/b/GuestSession", 1, 1 },
		{ "a.b.P*", 1, 1 },
	};
	bool only_classes;

	make_subclasses();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int subclasses = 0; subclasses < 2; subclasses++) {
			ck_assert_int_eq(refpaths_choose(&heap, cases[i].word, subclasses, &targets,
							 &only_classes, &err), 0);
			ck_assert_uint_eq(targets.n, subclasses ? cases[i].all : cases[i].alone);
			ck_assert(!only_classes);
			refpaths_targets_release(&targets);
		}
	}
}
END_TEST

START_TEST(loaders_are_found_by_name_class_or_hash)
{
	static const char *const words[] = {
		"a.b.Loader 'shop' @1f2e", "a.b.Loader", "Loader", "shop", "@1f2e", "1f2e",
		"b.Loader", "a.?.Load*", "*.Loader",
	};
	static const char *const nested[] = { "a.b.Shop$Loader", "Shop$Loader", "Loader" };
	char many[500] = "";

	make_subclasses();
	free(heap.classes[GUEST].loader);
	heap.classes[GUEST].loader = xstrdup(words[0]);
	free(heap.classes[LACK].loader);
	heap.classes[LACK].loader = xstrdup(words[0]);
	for (uint32_t i = 0; i < N_CLASSES; i++)
		heap.classes[i].permanent = i != GUEST && i != LACK;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		ck_assert_int_eq(refpaths_choose_loaders(&heap, words[i], &targets, &err), 0);
		ck_assert_uint_eq(targets.n, 1);
		ck_assert_uint_eq(graph_class(heap.graph, targets.nodes[0]), LOADER);
		refpaths_targets_release(&targets);
	}
	free(heap.classes[LOADER].name);
	heap.classes[LOADER].name = xstrdup(nested[0]);
	for (size_t i = 0; i < ARRAY_SIZE(nested); i++) {
		ck_assert_int_eq(refpaths_choose_loaders(&heap, nested[i], &targets, &err), 0);
		ck_assert_uint_eq(targets.n, 1);
		refpaths_targets_release(&targets);
	}
	ck_assert_int_lt(refpaths_choose_loaders(&heap, "oader", &targets, &err), 0);
	err = (struct err){ .code = EXIT_DONE };
	ck_assert_int_lt(refpaths_choose_loaders(&heap, "app", &targets, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "never unloads class loader"));
	err = (struct err){ .code = EXIT_DONE };
	ck_assert_int_lt(refpaths_choose_loaders(&heap, "sho", &targets, &err), 0);
	ck_assert_str_eq(err.text, "no class loader matches 'sho'; choose from "
				   "a.b.Loader 'shop' @1f2e");
	ck_assert_int_eq(err.code, EXIT_ANSWER);

	/* A label that is a part of another one is listed, too. */
	free(heap.classes[LACK].loader);
	heap.classes[LACK].loader = xstrdup("b.Loader 'shop' @1f");
	err = (struct err){ .code = EXIT_DONE };
	ck_assert_int_lt(refpaths_choose_loaders(&heap, "sho", &targets, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "a.b.Loader 'shop' @1f2e"));
	ck_assert_ptr_nonnull(strstr(err.text, " b.Loader 'shop' @1f"));

	memset(many, 'x', sizeof(many) - 1);
	free(heap.classes[GUEST].loader);
	heap.classes[GUEST].loader = xstrdup(many);
	err = (struct err){ .code = EXIT_DONE };
	ck_assert_int_lt(refpaths_choose_loaders(&heap, "sho", &targets, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "x and others; list all with jtool classes"));
}
END_TEST

START_TEST(thread_names_lose_their_numbers)
{
	static const char *const cases[][2] = {
		{ "main", "main" }, { "", "" }, { "exec-17", "exec-*" },
		{ "8080-exec-1", "*-exec-*" },
		{ "pool-2-thread-13", "pool-*-thread-*" }, { "42", "*" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_buf_ struct buf kind = BUF_INIT;

		refpaths_thread_kind(cases[i][0], &kind);
		ck_assert_str_eq(buf_str(&kind), cases[i][1]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/heap/refpaths");
	TCase *tc = tcase_create("model/heap/refpaths");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, equal_paths_are_merged);
	tcase_add_test(tc, paths_are_printed);
	tcase_add_test(tc, limit_reduces_the_printed_paths);
	tcase_add_test(tc, paths_are_written_as_json);
	tcase_add_test(tc, only_classes_on_the_path_need_field_names);
	tcase_add_test(tc, paths_begin_at_static_fields);
	tcase_add_test(tc, headline_names_root_and_last_static_field);
	tcase_add_test(tc, class_objects_are_merged_as_targets);
	tcase_add_test(tc, class_roots_have_their_own_headlines);
	tcase_add_test(tc, list_of_a_million_nodes_is_one_path);
	tcase_add_test(tc, list_nodes_are_one_group);
	tcase_add_test(tc, long_run_of_nodes_is_one_line);
	tcase_add_test(tc, middle_of_a_long_path_is_omitted);
	tcase_add_test(tc, tree_nodes_are_one_run);
	tcase_add_test(tc, weakly_reachable_instances_are_counted);
	tcase_add_test(tc, weak_references_can_be_followed);
	tcase_add_test(tc, class_without_instances_has_no_paths);
	tcase_add_test(tc, unknown_class_is_an_error_with_a_suggestion);
	tcase_add_test(tc, subclasses_are_included_on_request);
	tcase_add_test(tc, loaders_are_found_by_name_class_or_hash);
	tcase_add_test(tc, thread_names_lose_their_numbers);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
