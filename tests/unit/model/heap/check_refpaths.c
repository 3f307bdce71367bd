/* Merged ways from the roots to instances, and how they are shown. */
#include <stdio.h>
#include <string.h>

#include "made_heap.h"
#include "model/refpath.h"
#include "model/refpaths.h"
#include "render/refpaths_json.h"
#include "render/refpaths_text.h"

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

static struct made made;
static struct heap heap;
static struct refpaths_targets targets;
static struct refpaths paths;
static struct err err;

static void setup(void)
{
	made = (struct made){ .tape = BUF_INIT };
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

/* Class objects are called by the number of the class, + 1. */
static void make_class(uint32_t class)
{
	made_mirror(&made, class + 1, class, 64);
}

static void name_field(struct heap_field **fields, uint32_t *n, uint32_t index, const char *name)
{
	*fields = xreallocarray(*fields, index + 1, sizeof(**fields));
	for (; *n <= index; ++*n)
		(*fields)[*n] = (struct heap_field){ 0 };
	(*fields)[index].name = xstrdup(name);
}

static void name_of_field(uint32_t class, uint32_t index, const char *name)
{
	name_field(&heap.classes[class].fields, &heap.classes[class].n_fields, index, name);
}

static void name_threads(const char *const *threads, size_t n)
{
	heap.threads = xcalloc(n, sizeof(*heap.threads));
	for (heap.n_threads = 0; heap.n_threads < n; heap.n_threads++) {
		heap.threads[heap.n_threads].id = heap.n_threads + 1;
		heap.threads[heap.n_threads].name = xstrdup(threads[heap.n_threads]);
	}
}

static void find(const char *word, bool weak, size_t n_told)
{
	bool only_classes;

	ck_assert_int_eq(refpaths_choose(&heap, word, false, &targets, &only_classes, &err), 0);
	refpaths_find(&heap, &targets, weak, n_told, &paths);
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
 * The map in a static field: 3 buckets with chains of 1, 2 and 3 nodes, a session in each node,
 * one of another class; and a session that a thread of a pool has, for each of 2.
 */
static void make_cache(void)
{
	static const char *const threads[] = { "exec-7", "exec-12", "main" };

	make_class(CACHE);
	made_edge(&made, TAPE_STATIC, 100, 1);
	made_object(&made, 100, CACHE, 16);
	made_edge(&made, TAPE_FIELD, 101, 0);
	made_object(&made, 101, MAP, 48);
	made_edge(&made, TAPE_FIELD, 102, 2);
	made_array(&made, 102, TABLE, 80, 16);
	made_edge(&made, TAPE_ELEMENT, 110, 3);
	made_edge(&made, TAPE_ELEMENT, 120, 4);
	made_edge(&made, TAPE_ELEMENT, 130, 12);
	for (uint32_t chain = 0; chain < 3; chain++) {
		for (uint32_t i = 0; i <= chain; i++) {
			uint32_t node = 110 + 10 * chain + i;

			made_object(&made, node, NODE, 32);
			if (i < chain)
				made_edge(&made, TAPE_FIELD, node + 1, 3);
			made_edge(&made, TAPE_FIELD, 1000 + node, 2);
			made_object(&made, 1000 + node, node == 131 ? GUEST : SESSION, 24);
		}
	}
	for (uint32_t i = 1; i <= 2; i++) {
		made_record(&made, (struct tape_record){
			.kind = TAPE_ROOT, .address = 2000 + i, .root = TAPE_ROOT_STACK,
			.thread = i, .depth = i, .method = 1,
		});
		made_object(&made, 2000 + i, SESSION, 24);
	}
	made_root(&made, CACHE + 1, TAPE_ROOT_CLASS, 0);
	heap = made_heap(&made, names, N_CLASSES);
	name_threads(threads, ARRAY_SIZE(threads));
	heap.methods = xcalloc(1, sizeof(*heap.methods));
	heap.n_methods = 1;
	heap.methods[0] = (struct heap_method){ xstrdup("a.b.Worker"), xstrdup("run") };
	name_field(&heap.classes[CACHE].statics, &heap.classes[CACHE].n_statics, 1, "INSTANCE");
	name_of_field(CACHE, 0, "map");
	name_of_field(MAP, 2, "table");
	name_of_field(NODE, 2, "value");
	name_of_field(NODE, 3, "next");
}

START_TEST(merges)
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

START_TEST(prints)
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

START_TEST(prints_fewer)
{
	make_cache();
	find("a.b.*Session", false, 1);
	ck_assert_uint_eq(paths.n_groups, 3); /* the guest is another class */
	ck_assert_ptr_nonnull(strstr(printed(), "62 % (5) through static a.b.Cache.INSTANCE\n"));
	ck_assert_ptr_nonnull(strstr(printed(), "\n8 instances of it; 1 of 3 kinds of paths\n"));
}
END_TEST

START_TEST(puts_json)
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

/* One field of the cache and of the node are enough to name what is shown. */
START_TEST(wants_fields)
{
	bool wanted[N_CLASSES] = { false };
	struct refpath path;

	make_cache();
	find("a.b.Session", false, 1);
	refpath_find(heap.graph, &paths.ways, paths.groups[0].example, &path);
	refpath_want_fields(&heap, &path, wanted);
	for (uint32_t i = 0; i < N_CLASSES; i++)
		ck_assert(wanted[i] == (i == CACHE || i == MAP || i == NODE));
	refpath_release(&path);
}
END_TEST

/* A thread has the class object of a loader that may go. */
static void make_static_of_thread(void)
{
	static const char *const threads[] = { "main" };

	made_root(&made, 50, TAPE_ROOT_THREAD, 1);
	made_object(&made, 50, THREAD, 120);
	made_edge(&made, TAPE_FIELD, CACHE + 1, 0);
	make_class(CACHE);
	made_edge(&made, TAPE_STATIC, 60, 0);
	made_object(&made, 60, OBJECTS, 24);
	made_edge(&made, TAPE_ELEMENT, 61, 0);
	made_object(&made, 61, SESSION, 24);
	heap = made_heap(&made, names, N_CLASSES);
	name_threads(threads, 1);
}

/* What keeps the class is another question. */
START_TEST(classes_are_roots)
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

/* Where it is asked: the last static field is named, and so is the root. */
START_TEST(statics_on_the_way)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct refpath path;
	struct graph_ways ways;
	bool only_classes;

	make_static_of_thread();
	ck_assert_int_eq(refpaths_choose(&heap, "a.b.Session", false, &targets, &only_classes,
					 &err), 0);
	graph_find_ways(heap.graph, false, &ways);
	refpath_find(heap.graph, &ways, targets.nodes[0], &path);
	refpath_headline(&heap, &path, false, &text);
	ck_assert_str_eq(buf_str(&text), "thread \"main\" and static a.b.Cache.#0");
	ck_assert_uint_eq(path.n, 4);
	refpath_release(&path);
	graph_ways_release(&ways);
}
END_TEST

/* On the way to others a class object is that class; itself it is one of many. */
START_TEST(class_objects)
{
	make_class(CACHE);
	made_edge(&made, TAPE_STATIC, SESSION + 1, 0);
	made_edge(&made, TAPE_STATIC, 60, 1);
	make_class(GUEST);
	made_edge(&made, TAPE_STATIC, 61, 1);
	make_class(SESSION);
	made_object(&made, 60, SESSION, 24);
	made_object(&made, 61, SESSION, 24);
	made_root(&made, CACHE + 1, TAPE_ROOT_CLASS, 0);
	made_root(&made, GUEST + 1, TAPE_ROOT_CLASS, 0);
	heap = made_heap(&made, names, N_CLASSES);
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

/* Of classes that are always there, it is enough to say that; not so of what hangs on them. */
START_TEST(class_roots)
{
	make_class(CACHE);
	make_class(GUEST);
	made_array(&made, 60, OBJECTS, 24, 1);
	made_edge(&made, TAPE_ELEMENT, 61, 0);
	made_object(&made, 61, SESSION, 24);
	made_root(&made, CACHE + 1, TAPE_ROOT_CLASS, 0);
	made_root(&made, GUEST + 1, TAPE_ROOT_CLASS, 0);
	made_root(&made, 60, TAPE_ROOT_CLASS, 0);
	heap = made_heap(&made, names, N_CLASSES);
	find("java.lang.Class", false, 5);
	ck_assert_ptr_nonnull(strstr(printed(),
		"100 % (2) through loaders that are always there, which have loaded them\n"));
	refpaths_release(&paths);
	refpaths_targets_release(&targets);
	find("a.b.Session", false, 5);
	ck_assert_ptr_nonnull(strstr(printed(),
		"100 % (1) through constants and the like of the JVM's own classes\n"
		"    class data  java.lang.Object[]\n"
		"    [0]         a.b.Session\n"));
}
END_TEST

static void make_list(uint32_t n)
{
	make_class(CACHE);
	made_edge(&made, TAPE_STATIC, 100, 0);
	for (uint32_t i = 0; i < n; i++) {
		made_object(&made, 100 + 2 * i, LIST, 24);
		if (i + 1 < n)
			made_edge(&made, TAPE_FIELD, 100 + 2 * i + 2, 0);
		if (i % 2 == 1)
			made_edge(&made, TAPE_FIELD, 100 + 2 * i + 1, 1);
	}
	for (uint32_t i = 1; i < n; i += 2)
		made_object(&made, 100 + 2 * i + 1, SESSION, 24);
	made_root(&made, CACHE + 1, TAPE_ROOT_CLASS, 0);
	heap = made_heap(&made, names, N_CLASSES);
}

/* The nodes of a list of a million are one kind of path, and so is what hangs on them. */
START_TEST(long_list)
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

START_TEST(list_itself)
{
	make_list(1000000);
	find("a.b.List$Node", false, 5);
	ck_assert_uint_eq(paths.n_groups, 1);
	ck_assert_uint_eq(paths.groups[0].count, 1000000);
	ck_assert_uint_eq(paths.groups[0].length, 2);
	ck_assert_uint_eq(paths.groups[0].stretches[1].most, 1000000);
}
END_TEST

/* What hangs on the end of a long list: the nodes are a line. */
START_TEST(end_of_a_list)
{
	make_class(CACHE);
	made_edge(&made, TAPE_STATIC, 100, 0);
	for (uint32_t i = 100; i < 5100; i++) {
		made_object(&made, i, LIST, 24);
		made_edge(&made, TAPE_FIELD, i + 1, 0);
	}
	made_object(&made, 5100, SESSION, 24);
	made_root(&made, CACHE + 1, TAPE_ROOT_CLASS, 0);
	heap = made_heap(&made, names, N_CLASSES);
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

/* Two classes in turn: no stretch, so the lines have an end. */
START_TEST(middle_left_out)
{
	make_class(CACHE);
	made_edge(&made, TAPE_STATIC, 100, 0);
	for (uint32_t i = 100; i < 200; i++) {
		made_object(&made, i, i % 2 ? LIST : NODE, 24);
		made_edge(&made, TAPE_FIELD, i + 1, 0);
	}
	made_object(&made, 200, SESSION, 24);
	made_root(&made, CACHE + 1, TAPE_ROOT_CLASS, 0);
	heap = made_heap(&made, names, N_CLASSES);
	find("a.b.Session", false, 5);
	ck_assert_ptr_nonnull(strstr(printed(),
		"    field #0   java.util.HashMap$Node\n    ... 62 more ...\n    field #0   "));
	ck_assert_uint_eq(paths.groups[0].length, 102);
}
END_TEST

/* A tree's left and right are no paths of their own. */
START_TEST(trees)
{
	make_class(CACHE);
	made_edge(&made, TAPE_STATIC, 101, 0);
	for (uint32_t i = 1; i < 128; i++) {
		made_object(&made, 100 + i, PERSON, 24);
		if (i < 64) {
			made_edge(&made, TAPE_FIELD, 100 + 2 * i, 0);
			made_edge(&made, TAPE_FIELD, 100 + 2 * i + 1, 1);
		} else {
			made_edge(&made, TAPE_FIELD, 1000 + i, 2);
		}
	}
	for (uint32_t i = 64; i < 128; i++)
		made_object(&made, 1000 + i, SESSION, 24);
	made_root(&made, CACHE + 1, TAPE_ROOT_CLASS, 0);
	heap = made_heap(&made, names, N_CLASSES);
	find("a.b.Session", false, 5);
	ck_assert_uint_eq(paths.n_groups, 1);
	ck_assert_uint_eq(paths.groups[0].stretches[1].least, 7);
	ck_assert_uint_eq(paths.groups[0].stretches[1].most, 7);
	ck_assert_ptr_nonnull(strstr(printed(), "static #0  a.b.Person  (7 in a row)\n"));
}
END_TEST

/* Held by a weak reference only, by nothing at all, and strongly. */
static void make_weak(void)
{
	made_root(&made, 50, TAPE_ROOT_JNI_GLOBAL, 0);
	made_object(&made, 50, WEAK, 48);
	made_edge(&made, TAPE_REFERENT, 60, TAPE_WEAK);
	made_edge(&made, TAPE_FIELD, 61, 3);
	made_object(&made, 60, SESSION, 24);
	made_object(&made, 61, SESSION, 24);
	made_object(&made, 62, SESSION, 24);
	heap = made_heap(&made, names, N_CLASSES);
}

START_TEST(weakly_only)
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
		"references: see --weak; 1 not reachable at all\n");
}
END_TEST

START_TEST(weak_counts)
{
	make_weak();
	find("a.b.Session", true, 5);
	ck_assert_uint_eq(paths.n_reached, 2);
	ck_assert_uint_eq(paths.n_weak, 0);
	ck_assert_ptr_nonnull(strstr(printed(), "    field referent (weak)  a.b.Session\n"));
}
END_TEST

START_TEST(no_instances)
{
	make_weak();
	find("a.b.Lack", false, 5);
	ck_assert_str_eq(printed(), "0 instances of it\n");
	ck_assert_str_eq(as_json(), "{\"instances\":0,\"reached\":0,\"only_weakly\":0,"
				    "\"path_count\":0,\"paths\":[]}");
}
END_TEST

START_TEST(no_class)
{
	bool only_classes;

	make_weak();
	ck_assert_int_lt(refpaths_choose(&heap, "a.b.Sesion", false, &targets, &only_classes,
					 &err), 0);
	ck_assert_int_eq(err.code, EXIT_ANSWER);
	ck_assert_str_eq(err.text, "there is no class 'a.b.Sesion': did you mean a.b.Session?");
}
END_TEST

/* GUEST extends SESSION, which implements LACK. */
static void make_kin(void)
{
	make_class(SESSION);
	made_edge(&made, TAPE_LINK, LACK + 1, TAPE_INTERFACE);
	make_class(GUEST);
	made_edge(&made, TAPE_LINK, SESSION + 1, TAPE_SUPERCLASS);
	made_edge(&made, TAPE_LINK, 90, TAPE_LOADER);
	make_class(LACK);
	made_edge(&made, TAPE_LINK, 90, TAPE_LOADER);
	made_object(&made, 60, SESSION, 24);
	made_object(&made, 61, GUEST, 24);
	made_object(&made, 62, PERSON, 24);
	made_object(&made, 90, LOADER, 24);
	heap = made_heap(&made, names, N_CLASSES);
}

START_TEST(subclasses)
{
	static const struct {
		const char *word;
		size_t alone, with_kin;
	} cases[] = {
		{ "a.b.Lack", 0, 2 }, { "a.b.Session", 1, 2 }, { "a/b/GuestSession", 1, 1 },
		{ "a.b.P*", 1, 1 },
	};
	bool only_classes;

	make_kin();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int kin = 0; kin < 2; kin++) {
			ck_assert_int_eq(refpaths_choose(&heap, cases[i].word, kin, &targets,
							 &only_classes, &err), 0);
			ck_assert_uint_eq(targets.n, kin ? cases[i].with_kin : cases[i].alone);
			ck_assert(!only_classes);
			refpaths_targets_release(&targets);
		}
	}
}
END_TEST

START_TEST(loaders)
{
	static const char *const words[] = {
		"a.b.Loader 'shop' @1f2e", "a.b.Loader", "Loader", "shop", "@1f2e", "1f2e",
	};
	char many[500] = "";

	make_kin();
	free(heap.classes[GUEST].loader);
	heap.classes[GUEST].loader = xstrdup(words[0]);
	free(heap.classes[LACK].loader);
	heap.classes[LACK].loader = xstrdup(words[0]);
	for (uint32_t i = 0; i < N_CLASSES; i++)
		heap.classes[i].lasting = i != GUEST && i != LACK;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		ck_assert_int_eq(refpaths_choose_loaders(&heap, words[i], &targets, &err), 0);
		ck_assert_uint_eq(targets.n, 1);
		ck_assert_uint_eq(graph_class(heap.graph, targets.nodes[0]), LOADER);
		refpaths_targets_release(&targets);
	}
	ck_assert_int_lt(refpaths_choose_loaders(&heap, "app", &targets, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "is always there"));
	err = (struct err){ .code = EXIT_DONE };
	ck_assert_int_lt(refpaths_choose_loaders(&heap, "sho", &targets, &err), 0);
	ck_assert_str_eq(err.text, "there is no class loader 'sho': there are "
				   "a.b.Loader 'shop' @1f2e");
	ck_assert_int_eq(err.code, EXIT_ANSWER);

	memset(many, 'x', sizeof(many) - 1);
	free(heap.classes[GUEST].loader);
	heap.classes[GUEST].loader = xstrdup(many);
	err = (struct err){ .code = EXIT_DONE };
	ck_assert_int_lt(refpaths_choose_loaders(&heap, "sho", &targets, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "x and others; jtool classes shows"));
}
END_TEST

START_TEST(thread_kinds)
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
	Suite *suite = suite_create("refpaths");
	TCase *tc = tcase_create("refpaths");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, merges);
	tcase_add_test(tc, prints);
	tcase_add_test(tc, prints_fewer);
	tcase_add_test(tc, puts_json);
	tcase_add_test(tc, wants_fields);
	tcase_add_test(tc, classes_are_roots);
	tcase_add_test(tc, statics_on_the_way);
	tcase_add_test(tc, class_objects);
	tcase_add_test(tc, class_roots);
	tcase_add_test(tc, long_list);
	tcase_add_test(tc, list_itself);
	tcase_add_test(tc, end_of_a_list);
	tcase_add_test(tc, middle_left_out);
	tcase_add_test(tc, trees);
	tcase_add_test(tc, weakly_only);
	tcase_add_test(tc, weak_counts);
	tcase_add_test(tc, no_instances);
	tcase_add_test(tc, no_class);
	tcase_add_test(tc, subclasses);
	tcase_add_test(tc, loaders);
	tcase_add_test(tc, thread_kinds);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
