/* Reading heap dumps: what is in them, in pieces of any size, cut off anywhere, and lies. */
#include <check.h>
#include <string.h>

#include "hprof_maker.h"
#include "model/hprof_read.h"

enum {
	OBJECT = 0x1000,
	CLASS = 0x1100,
	STRING = 0x1200,
	THREAD = 0x1300,
	REFERENCE = 0x1400,
	WEAK = 0x1500,
	NODE = 0x1600,
	NODES = 0x1700,
	LOADER = 0x1800,
	BYTES = 0x1900,
	APP = 0x2000,   /* a loader */
	NODE_1 = 0x2100,
	NODE_2 = 0x2200,
	ARRAY = 0x2300,
	WEAK_1 = 0x2400,
	MAIN = 0x2500,  /* a thread */
	NAME = 0x2600,
	CHARS = 0x2700,
	POOL = 0x2800,
};

static const struct layout compressed = { 17, 4, 12, 16, 8 };

static void put_names(struct maker *m)
{
	static const char *const symbols[] = { "next", "value", "coder", "name", "referent",
					       "root", "run",  "count", "<resolved_references>" };

	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		put_symbol(m, symbols[i]);
	put_loaded(m, 1, OBJECT, "java/lang/Object");
	put_loaded(m, 2, CLASS, "java/lang/Class");
	put_loaded(m, 3, STRING, "java/lang/String");
	put_loaded(m, 4, THREAD, "java/lang/Thread");
	put_loaded(m, 5, REFERENCE, "java/lang/ref/Reference");
	put_loaded(m, 6, WEAK, "java/lang/ref/WeakReference");
	put_loaded(m, 7, NODE, "a/b/Node");
	put_loaded(m, 8, NODES, "[La/b/Node;");
	put_loaded(m, 9, LOADER, "java/lang/ClassLoader");
	put_loaded(m, 10, BYTES, "[B");
}

static void put_stack(struct maker *m)
{
	begin(m, 0x04);
	put_id(m, 77);
	put_id(m, symbol("run"));
	put_id(m, 0);
	put_id(m, 0);
	put(m, 7, 4); /* a.b.Node */
	put(m, 12, 4);
	end(m);
	begin(m, 0x05);
	put(m, 2, 4);
	put(m, 1, 4); /* thread */
	put(m, 1, 4);
	put_id(m, 77);
	end(m);
}

static void put_classes(struct maker *m)
{
	static const struct made_field string[] = { { "value", 2, 0 }, { "coder", 8, 0 } };
	static const struct made_field thread[] = { { "name", 2, 0 } };
	static const struct made_field reference[] = { { "referent", 2, 0 }, { "next", 2, 0 } };
	static const struct made_field node[] = { { "next", 2, 0 }, { "count", 10, 0 } };
	static const struct made_field statics[] = { { "count", 10, 5 },
						     { "root", 2, NODE_1 },
						     { "<resolved_references>", 2, POOL } };

	put_class(m, OBJECT, 0, 0, NULL, 0, NULL, 0);
	put_class(m, CLASS, OBJECT, 0, NULL, 0, NULL, 0);
	put_class(m, STRING, OBJECT, 0, NULL, 0, string, 2);
	put_class(m, THREAD, OBJECT, 0, NULL, 0, thread, 1);
	put_class(m, REFERENCE, OBJECT, 0, NULL, 0, reference, 2);
	put_class(m, WEAK, REFERENCE, 0, NULL, 0, NULL, 0);
	put_class(m, NODE, OBJECT, APP, statics, 3, node, 2);
	put_class(m, NODES, OBJECT, APP, NULL, 0, NULL, 0);
	put_class(m, LOADER, OBJECT, 0, NULL, 0, NULL, 0);
	put_class(m, BYTES, OBJECT, 0, NULL, 0, NULL, 0);
}

static void put_roots(struct maker *m)
{
	put(m, 0x08, 1); /* thread */
	put_id(m, MAIN);
	put(m, 1, 4);
	put(m, 2, 4);
	put(m, 0x03, 1); /* local variable */
	put_id(m, ARRAY);
	put(m, 1, 4);
	put(m, 0, 4);
	put(m, 0x01, 1); /* JNI global */
	put_id(m, WEAK_1);
	put_id(m, 1);
	put(m, 0x05, 1); /* system class */
	put_id(m, OBJECT);
}

static void put_node(struct maker *m, uint64_t node, uint64_t next)
{
	put_instance(m, node, NODE, m->id + 4);
	put_id(m, next);
	put(m, 7, 4);
}

static void put_objects(struct maker *m)
{
	put_node(m, NODE_1, NODE_2);
	put_node(m, NODE_2, 0);
	put_array(m, ARRAY, NODES, 3);
	put_id(m, 0);
	put_id(m, NODE_2);
	put_id(m, NODE_1);
	put_instance(m, WEAK_1, WEAK, 2 * m->id);
	put_id(m, NODE_1);
	put_id(m, 0);
	put_instance(m, MAIN, THREAD, m->id);
	put_id(m, NAME);
	put_instance(m, NAME, STRING, m->id + 1);
	put_id(m, CHARS);
	put(m, 0, 1);
	put_bytes(m, CHARS, "m\xe4in");
	put_instance(m, APP, LOADER, 0);
	put_array(m, POOL, NODES, 0);
}

static struct maker make(unsigned id)
{
	struct maker m = { BUF_INIT, id, 0 };

	put_head(&m);
	put_names(&m);
	put_stack(&m);
	begin(&m, 0x1c);
	put_classes(&m);
	put_roots(&m);
	end(&m);
	begin(&m, 0x1c);
	put_objects(&m);
	end(&m);
	begin(&m, 0x2c);
	end(&m);
	return m;
}

/* All that a reading takes. */
struct reading {
	struct heap heap;
	struct hprof_names names;
	struct graph_builder *builder;
	struct hprof_reader *reader;
	struct err err;
};

static void reading_begin(struct reading *g)
{
	struct hprof_wants wants = { .layout = compressed, .texts_from = 1 };

	*g = (struct reading){ .builder = graph_builder_new(0) };
	wants.builder = g->builder;
	wants.names = &g->names;
	g->reader = hprof_reader_new(&g->heap, &wants);
}

static void reading_end(struct reading *g)
{
	hprof_reader_free(g->reader);
	graph_builder_free(g->builder);
	heap_release(&g->heap);
	hprof_names_release(&g->names);
}

static int read_in(struct reading *g, const struct buf *dump, size_t piece)
{
	for (size_t at = 0; at < dump->len; at += piece) {
		size_t left = dump->len - at;

		if (hprof_feed(g->reader, (const uint8_t *)dump->data + at,
			       left < piece ? left : piece, &g->err) < 0)
			return -1;
	}
	return hprof_end(g->reader, &g->err);
}

static uint32_t class_of(const struct heap *h, const char *name)
{
	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (strcmp(heap_class_name(h, i), name) == 0)
			return i;
	}
	ck_abort_msg("no class %s", name);
}

/* "field next -> a.b.Node" and so on, of the only node of this class that says so. */
static void tell_edges(const struct heap *h, uint32_t node, struct buf *text)
{
	struct graph_edges edges = graph_edges(h->graph, node);
	struct graph_edge edge;

	while (graph_next(&edges, &edge)) {
		if (edge.via == GRAPH_CLASS)
			continue;
		heap_via(h, node, &edge, text);
		buf_addf(text, " -> %s; ", heap_node_class(h, edge.to));
	}
}

static void edges_are(const struct heap *h, const char *class, const char *wanted)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (uint32_t i = 0; i < graph_n(h->graph); i++) {
		buf_reset(&text);
		if (strcmp(heap_node_class(h, i), class) == 0)
			tell_edges(h, i, &text);
		if (strcmp(buf_str(&text), wanted) == 0)
			return;
	}
	ck_abort_msg("no %s with %s, the last: %s", class, wanted, buf_str(&text));
}

static void build(struct reading *g)
{
	bool lasting[32] = { false };
	struct graph_facts facts = { .class_class = hprof_class_class(g->reader) };
	int error = 0;

	facts.n_classes = (uint32_t)g->heap.n_classes;
	for (uint32_t i = 0; i < facts.n_classes; i++)
		lasting[i] = g->heap.classes[i].lasting;
	facts.lasting = lasting;
	g->heap.graph = graph_build(g->builder, &facts, &error);
	ck_assert_int_eq(error, 0);
}

static void sizes_are(const struct reading *g, const char *class, uint64_t n, uint64_t bytes)
{
	struct hprof_count count = hprof_count(g->reader, class_of(&g->heap, class));

	ck_assert_uint_eq(count.instances, n);
	ck_assert_uint_eq(count.bytes, bytes);
}

static void check_whole(unsigned id, size_t piece)
{
	struct maker m = make(id);
	struct reading g;

	reading_begin(&g);
	ck_assert_msg(read_in(&g, &m.out, piece) == 0, "pieces of %zu: %s", piece, g.err.text);
	ck_assert_uint_eq(hprof_bytes(g.reader), m.out.len);
	ck_assert_uint_eq(hprof_objects(g.reader), 19);
	sizes_are(&g, "a.b.Node", 2, 2 * 24);
	sizes_are(&g, "a.b.Node[]", 2, 32 + 16);
	sizes_are(&g, "byte[]", 1, 24);
	ck_assert_str_eq(g.heap.threads[0].name, "m\xc3\xa4in");
	ck_assert_str_eq(g.heap.classes[class_of(&g.heap, "a.b.Node")].loader,
			 "java.lang.ClassLoader @400");
	build(&g);
	edges_are(&g.heap, "a.b.Node", "field next -> a.b.Node; ");
	edges_are(&g.heap, "a.b.Node[]", "[1] -> a.b.Node; [2] -> a.b.Node; ");
	edges_are(&g.heap, "java.lang.ref.WeakReference", "field referent (weak) -> a.b.Node; ");
	edges_are(&g.heap, "a.b.Node", "superclass -> java.lang.Object; class loader -> "
				       "java.lang.ClassLoader; static root -> a.b.Node; "
				       "constant pool -> a.b.Node[]; ");
	reading_end(&g);
	buf_release(&m.out);
}

START_TEST(whole)
{
	check_whole(8, SIZE_MAX / 2);
	check_whole(4, SIZE_MAX / 2);
}
END_TEST

START_TEST(in_pieces)
{
	for (size_t piece = 1; piece < 300; piece++)
		check_whole(8, piece);
}
END_TEST

START_TEST(roots)
{
	struct maker m = make(8);
	struct reading g;
	const struct graph_root *root;
	size_t n, stacks = 0;

	reading_begin(&g);
	ck_assert_int_eq(read_in(&g, &m.out, 4096), 0);
	build(&g);
	root = graph_roots(g.heap.graph, &n);
	for (size_t i = 0; i < n; i++) {
		const struct heap_method *method;

		if (root[i].kind != TAPE_ROOT_STACK)
			continue;
		stacks++;
		method = heap_method(&g.heap, root[i].method);
		ck_assert_ptr_nonnull(method);
		ck_assert_str_eq(method->class, "a.b.Node");
		ck_assert_str_eq(method->name, "run");
		ck_assert_str_eq(heap_thread_name(&g.heap, root[i].thread), "m\xc3\xa4in");
	}
	ck_assert_uint_eq(stacks, 1);
	reading_end(&g);
	buf_release(&m.out);
}
END_TEST

/* As JDK 8, 17 and 25 print them. */
START_TEST(names_of_a_thread_dump)
{
	static const char text[] = "2026-01-01 00:00:00\n"
				   "Full thread dump OpenJDK 64-Bit Server VM:\n\n"
				   "\"main\" #1 prio=5 os_prio=0 tid=0x00007f nid=0x1\n"
				   "   java.lang.Thread.State: RUNNABLE\n"
				   "\"a \" #9 b\" #21 daemon prio=5 os_prio=0 cpu=0.1ms\n"
				   "\"c\" #33 [4711] prio=5\n\"VM Thread\" os_prio=0\n\"";
	static const struct {
		uint64_t tid;
		const char *name;
	} wanted[] = { { 1, "main" }, { 21, "a \" #9 b" }, { 33, "c" } };
	struct hprof_names names = { 0 };

	hprof_names_print(&names, text, sizeof(text) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		hprof_names_thread(&names, 0x1000 + 8 * i, 0x2000, wanted[i].tid);
		ck_assert_str_eq(hprof_names_of(&names, 0x1000 + 8 * i), wanted[i].name);
	}
	hprof_names_thread(&names, 0x3000, 0x2000, 2);
	ck_assert_ptr_null(hprof_names_of(&names, 0x3000));
	hprof_names_release(&names);
}
END_TEST

static void check_refused(const struct buf *dump, const char *words)
{
	struct reading g;

	reading_begin(&g);
	ck_assert_int_eq(read_in(&g, dump, 64), -1);
	ck_assert_int_eq(g.err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(g.err.text, words) && !strchr(g.err.text, '\n'), "%s: %s", words,
		      g.err.text);
	reading_end(&g);
}

START_TEST(every_truncation)
{
	for (unsigned id = 4; id <= 8; id += 4) {
		struct maker m = make(id);
		struct buf cut = m.out;

		for (cut.len = 0; cut.len < m.out.len; cut.len++)
			check_refused(&cut, cut.len ? "the dump is not whole: it is cut off at byte"
						    : "it is empty");
		buf_release(&m.out);
	}
}
END_TEST

/* Whatever one byte says instead, there is an end, and memory is given back. */
START_TEST(every_byte_lies)
{
	static const uint8_t lies[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct maker m = make(8);

	for (size_t at = 0; at < m.out.len; at++) {
		const char truth = m.out.data[at];
		struct reading g;

		m.out.data[at] = (char)lies[at % ARRAY_SIZE(lies)];
		reading_begin(&g);
		if (read_in(&g, &m.out, 100) < 0)
			ck_assert_msg(g.err.text[0] && !strchr(g.err.text, '\n'), "byte %zu", at);
		reading_end(&g);
		m.out.data[at] = truth;
	}
	buf_release(&m.out);
}
END_TEST

static struct maker begin_dump(unsigned id)
{
	struct maker m = { BUF_INIT, id, 0 };

	put_head(&m);
	put_names(&m);
	begin(&m, 0x1c);
	return m;
}

static void refused_in_segment(struct maker *m, const char *words)
{
	end(m);
	begin(m, 0x2c);
	end(m);
	check_refused(&m->out, words);
	buf_release(&m->out);
}

START_TEST(lies)
{
	struct maker m = begin_dump(8);

	put_class(&m, OBJECT, NODE, 0, NULL, 0, NULL, 0);
	put_class(&m, NODE, OBJECT, 0, NULL, 0, NULL, 0);
	refused_in_segment(&m, "superclasses");

	m = begin_dump(8);
	put_class(&m, OBJECT, 0, 0, NULL, 0, NULL, 0);
	put_class(&m, OBJECT, 0, 0, NULL, 0, NULL, 0);
	refused_in_segment(&m, "told of before");

	m = begin_dump(8);
	put_classes(&m);
	put_node(&m, NODE_1, 0);
	put_class(&m, 0x9000, 0, 0, NULL, 0, NULL, 0);
	refused_in_segment(&m, "behind objects");

	m = begin_dump(8);
	put_instance(&m, NODE_1, 0x9000, 0);
	refused_in_segment(&m, "a class that was not told of");

	m = begin_dump(8);
	put_classes(&m);
	put_instance(&m, NODE_1, NODE, 3);
	put(&m, 0, 3);
	refused_in_segment(&m, "an instance of a.b.Node with 3 bytes");

	m = begin_dump(8);
	put_classes(&m);
	put_instance(&m, NODE_1, NODE, UINT32_MAX); /* which nobody waits for */
	refused_in_segment(&m, "an instance of a.b.Node with 4294967295 bytes");

	m = begin_dump(8);
	put_classes(&m);
	put_array(&m, ARRAY, NODES, UINT32_MAX);
	refused_in_segment(&m, "longer than its segment");

	m = begin_dump(8);
	put_classes(&m);
	put_node(&m, NODE_1 + 1, 0);
	refused_in_segment(&m, "no address");

	m = begin_dump(8);
	put(&m, 0x77, 1);
	refused_in_segment(&m, "tag 0x77");

	m = make(8);
	put(&m, 0, 1);
	check_refused(&m.out, "behind its end");
	buf_release(&m.out);

	m = make(5);
	check_refused(&m.out, "identifiers of 5 bytes");
	buf_release(&m.out);
}
END_TEST

/* Were they all looked for in one place, it would take minutes. */
START_TEST(identifiers_that_collide)
{
	struct maker m = { BUF_INIT, 8, 0 };
	struct reading g;

	put_head(&m);
	for (uint64_t i = 0; i < 200000; i++) {
		begin(&m, 0x01);
		put_id(&m, i << 44);
		end(&m);
	}
	reading_begin(&g);
	ck_assert_int_eq(read_in(&g, &m.out, m.out.len), -1);
	ck_assert_ptr_nonnull(strstr(g.err.text, "cut off"));
	reading_end(&g);
	buf_release(&m.out);
}
END_TEST

START_TEST(other_files)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, "JAVA PROFILE 1.0.3");
	buf_add(&text, "\0\0\0\0\x08\0\0\0\0\0\0\0\0", 13);
	check_refused(&text, "of a kind that HotSpot does not write");
	buf_reset(&text);
	buf_adds(&text, "\x7f" "ELF");
	check_refused(&text, "it is no heap dump");
	buf_release(&text);
}
END_TEST

/* Objects side by side, as a collection leaves them. */
START_TEST(guess)
{
	static const struct layout layouts[] = {
		{ 11, 4, 12, 16, 8 }, { 11, 8, 16, 24, 8 }, { 11, 8, 12, 16, 8 },
		{ 11, 4, 8, 12, 8 },  { 11, 4, 12, 16, 16 },
	};
	static const struct layout none;

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *l = &layouts[i];
		const struct layout_fields fields = { .n4 = 1, .n_references = 1 };
		const struct layout_shape object = layout_instance(
			l, NULL, "java.lang.Object", true, &(struct layout_fields){ 0 });
		const struct layout_shape node =
			layout_instance(l, &object, "a.b.Node", false, &fields);
		const struct hprof_wants wants = { .layout = none };
		struct maker m = begin_dump(8);
		struct heap heap = { 0 };
		struct err err = { 0 };
		struct hprof_reader *r = hprof_reader_new(&heap, &wants);
		struct layout guessed;
		uint64_t at = 0x10000;

		put_classes(&m);
		for (uint32_t n = 0; n < 40; n++) {
			put_node(&m, at, 0);
			at += node.size;
			put_array(&m, at, NODES, n);
			for (uint32_t k = 0; k < n; k++)
				put_id(&m, 0);
			at += layout_array(l, l->reference, n);
		}
		end(&m);
		begin(&m, 0x2c);
		end(&m);
		ck_assert_int_eq(hprof_feed(r, (uint8_t *)m.out.data, m.out.len, &err), 0);
		ck_assert_int_eq(hprof_end(r, &err), 0);
		guessed = hprof_guess_layout(r);
		ck_assert_msg(guessed.reference == l->reference && guessed.header == l->header &&
				      guessed.array_header == l->array_header &&
				      guessed.alignment == l->alignment,
			      "%zu: %u %u %u %u", i, guessed.reference, guessed.header,
			      guessed.array_header, guessed.alignment);
		hprof_reader_free(r);
		heap_release(&heap);
		buf_release(&m.out);
	}
}
END_TEST

/* As measured: what heaphisto --live has of each. */
START_TEST(layouts)
{
	const struct layout old = { 11, 4, 12, 16, 8 }, compact = { 25, 4, 8, 12, 8 };
	const struct layout wide = { 17, 8, 16, 24, 8 }, now = { 17, 4, 12, 16, 8 };
	const struct layout_fields nothing = { 0 }, a_byte = { .n1 = 1 }, a_long = { .n8 = 1 };
	const struct layout_fields added = { .n8 = 1, .n_references = 1 };
	struct layout_shape object, a, b;

	/* class A { byte a; } class B extends A { long b; }: the rules differ in where b goes */
	object = layout_instance(&old, NULL, "java.lang.Object", true, &nothing);
	ck_assert_uint_eq(object.size, 16);
	a = layout_instance(&old, &object, "A", false, &a_byte);
	b = layout_instance(&old, &a, "B", false, &a_byte);
	ck_assert_uint_eq(a.size, 16);
	ck_assert_uint_eq(b.size, 24);
	object = layout_instance(&now, NULL, "java.lang.Object", true, &nothing);
	a = layout_instance(&now, &object, "A", false, &a_byte);
	ck_assert_uint_eq(layout_instance(&now, &a, "B", false, &a_byte).size, 16);
	ck_assert_uint_eq(layout_instance(&now, &a, "B", false, &a_long).size, 24);
	/* contended, and only of the bootstrap loader */
	ck_assert_uint_eq(layout_instance(&now, &object,
					  "java.util.concurrent.atomic.Striped64$Cell", true,
					  &a_long).size, 280);
	ck_assert_uint_eq(layout_instance(&now, &object,
					  "java.util.concurrent.atomic.Striped64$Cell", false,
					  &a_long).size, 24);
	ck_assert_uint_eq(layout_mirror(&now, 112, &added), 128);
	ck_assert_uint_eq(layout_array(&wide, 1, 1), 32);
	ck_assert_uint_eq(layout_array(&compact, 8, 1), 24);
	ck_assert_uint_eq(layout_array(&compact, 1, 4), 16);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("hprof_read");
	Suite *suite = suite_create("hprof_read");
	SRunner *runner;
	int failed;

	tcase_add_test(cases, whole);
	tcase_add_test(cases, in_pieces);
	tcase_add_test(cases, roots);
	tcase_add_test(cases, names_of_a_thread_dump);
	tcase_add_test(cases, every_truncation);
	tcase_add_test(cases, every_byte_lies);
	tcase_add_test(cases, lies);
	tcase_add_test(cases, identifiers_that_collide);
	tcase_add_test(cases, other_files);
	tcase_add_test(cases, guess);
	tcase_add_test(cases, layouts);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
