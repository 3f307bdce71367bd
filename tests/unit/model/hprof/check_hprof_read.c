/* Reading heap dumps: content, chunks of any size, truncated and inconsistent files. */
#include <check.h>
#include <string.h>

#include "base/strview.h"
#include "unit/support/hprof_writer.h"
#include "model/hprof/hprof_read.h"

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
	TASK = 0x2900,
};

static const struct object_layout compressed = { 17, 4, 12, 16, 8 };

static void put_names(struct hprof_writer *m)
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
	put_loaded(m, 0x10007, TASK, "a/b/Task");
}

static void put_frame(struct hprof_writer *m, uint64_t id, uint32_t class_serial)
{
	begin(m, 0x04);
	put_id(m, id);
	put_id(m, symbol("run"));
	put_id(m, 0);
	put_id(m, 0);
	put(m, class_serial, 4);
	put(m, 12, 4);
	end(m);
}

static void put_stack(struct hprof_writer *m)
{
	put_frame(m, 77, 7);       /* a.b.Node.run */
	put_frame(m, 78, 0x10007); /* a.b.Task.run */
	begin(m, 0x05);
	put(m, 2, 4);
	put(m, 1, 4); /* serial number of the thread */
	put(m, 2, 4);
	put_id(m, 77);
	put_id(m, 78);
	end(m);
}

static void put_classes(struct hprof_writer *m)
{
	static const struct field_spec string[] = { { "value", 2, 0 }, { "coder", 8, 0 } };
	static const struct field_spec thread[] = { { "name", 2, 0 } };
	static const struct field_spec reference[] = { { "referent", 2, 0 }, { "next", 2, 0 } };
	static const struct field_spec node[] = { { "next", 2, 0 }, { "count", 10, 0 } };
	static const struct field_spec statics[] = { { "count", 10, 5 },
						     { "root", 2, NODE_1 },
						     { "<resolved_references>", 2, POOL } };

	put_class(m, OBJECT, 0, 0, NULL, 0, NULL, 0);
	put_class(m, CLASS, OBJECT, 0, NULL, 0, NULL, 0);
	put_class(m, STRING, OBJECT, 0, NULL, 0, string, 2);
	put_class(m, THREAD, OBJECT, 0, NULL, 0, thread, 1);
	put_class(m, REFERENCE, OBJECT, 0, NULL, 0, reference, 2);
	put_class(m, WEAK, REFERENCE, 0, NULL, 0, NULL, 0);
	put_class(m, NODE, OBJECT, APP, statics, 3, node, 2);
	put_class(m, TASK, OBJECT, APP, NULL, 0, NULL, 0);
	put_class(m, NODES, OBJECT, APP, NULL, 0, NULL, 0);
	put_class(m, LOADER, OBJECT, 0, NULL, 0, NULL, 0);
	put_class(m, BYTES, OBJECT, 0, NULL, 0, NULL, 0);
}

static void put_roots(struct hprof_writer *m)
{
	put(m, 0x08, 1); /* thread */
	put_id(m, MAIN);
	put(m, 1, 4);
	put(m, 2, 4);
	put(m, 0x03, 1); /* local variable */
	put_id(m, ARRAY);
	put(m, 1, 4);
	put(m, 0, 4);
	put(m, 0x03, 1);
	put_id(m, ARRAY);
	put(m, 1, 4);
	put(m, 1, 4);
	put(m, 0x01, 1); /* JNI global */
	put_id(m, WEAK_1);
	put_id(m, 1);
	put(m, 0x05, 1); /* system class */
	put_id(m, OBJECT);
}

static void put_node(struct hprof_writer *m, uint64_t node, uint64_t next)
{
	put_instance(m, node, NODE, m->id + 4);
	put_id(m, next);
	put(m, 7, 4);
}

static void put_objects(struct hprof_writer *m)
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

static struct hprof_writer make(unsigned id)
{
	struct hprof_writer m = { BUF_INIT, id, 0 };

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

/* The state of one read of a dump. */
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

static int read_dump(struct reading *g, const struct buf *dump, size_t chunk)
{
	for (size_t at = 0; at < dump->len; at += chunk) {
		size_t left = dump->len - at;

		if (hprof_feed(g->reader, (const uint8_t *)dump->data + at,
			       left < chunk ? left : chunk, &g->err) < 0)
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

/* Appends the edges of a node, except the edge to its class: "field next -> a.b.Node; ". */
static void add_edges(const struct heap *h, uint32_t node, struct buf *text)
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

/* Fails unless a node of this class has exactly the wanted edges. */
static void check_edges(const struct heap *h, const char *class, const char *wanted)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (uint32_t i = 0; i < graph_n(h->graph); i++) {
		buf_reset(&text);
		if (strcmp(heap_node_class(h, i), class) == 0)
			add_edges(h, i, &text);
		if (strcmp(buf_str(&text), wanted) == 0)
			return;
	}
	ck_abort_msg("no %s with %s, the last: %s", class, wanted, buf_str(&text));
}

static void build(struct reading *g)
{
	bool permanent[32] = { false };
	struct graph_facts facts = { .class_class = hprof_class_class(g->reader) };
	int error = 0;

	facts.n_classes = (uint32_t)g->heap.n_classes;
	for (uint32_t i = 0; i < facts.n_classes; i++)
		permanent[i] = g->heap.classes[i].permanent;
	facts.permanent = permanent;
	g->heap.graph = graph_build(g->builder, &facts, &error);
	ck_assert_int_eq(error, 0);
}

static void check_sizes(const struct reading *g, const char *class, uint64_t n, uint64_t bytes)
{
	struct hprof_count count = hprof_count(g->reader, class_of(&g->heap, class));

	ck_assert_uint_eq(count.instances, n);
	ck_assert_uint_eq(count.bytes, bytes);
}

static void check_read(unsigned id, size_t chunk)
{
	struct hprof_writer m = make(id);
	struct reading g;

	reading_begin(&g);
	ck_assert_msg(read_dump(&g, &m.out, chunk) == 0, "chunks of %zu: %s", chunk, g.err.text);
	ck_assert_uint_eq(hprof_bytes(g.reader), m.out.len);
	ck_assert_uint_eq(hprof_objects(g.reader), 20);
	check_sizes(&g, "a.b.Node", 2, 2 * 24);
	check_sizes(&g, "a.b.Node[]", 2, 32 + 16);
	check_sizes(&g, "byte[]", 1, 24);
	ck_assert_str_eq(g.heap.threads[0].name, "m\xc3\xa4in");
	ck_assert_str_eq(g.heap.classes[class_of(&g.heap, "a.b.Node")].loader,
			 "java.lang.ClassLoader @400");
	build(&g);
	check_edges(&g.heap, "a.b.Node", "field next -> a.b.Node; ");
	check_edges(&g.heap, "a.b.Node[]", "[1] -> a.b.Node; [2] -> a.b.Node; ");
	check_edges(&g.heap, "java.lang.ref.WeakReference", "field referent (weak) -> a.b.Node; ");
	check_edges(&g.heap, "a.b.Node", "superclass -> java.lang.Object; class loader -> "
					 "java.lang.ClassLoader; static root -> a.b.Node; "
					 "constant pool -> a.b.Node[]; ");
	reading_end(&g);
	buf_release(&m.out);
}

START_TEST(dump_is_read_with_both_sizes_of_identifiers)
{
	check_read(8, SIZE_MAX / 2);
	check_read(4, SIZE_MAX / 2);
}
END_TEST

START_TEST(dump_is_read_in_chunks_of_any_size)
{
	for (size_t chunk = 1; chunk < 300; chunk++)
		check_read(8, chunk);
}
END_TEST

START_TEST(stack_roots_have_thread_and_method)
{
	struct hprof_writer m = make(8);
	struct reading g;
	const struct graph_root *root;
	size_t n, stacks = 0;

	reading_begin(&g);
	ck_assert_int_eq(read_dump(&g, &m.out, 4096), 0);
	build(&g);
	root = graph_roots(g.heap.graph, &n);
	for (size_t i = 0; i < n; i++) {
		const struct heap_method *method;

		if (root[i].kind != HEAP_STREAM_ROOT_STACK)
			continue;
		method = heap_method(&g.heap, root[i].method);
		ck_assert_ptr_nonnull(method);
		ck_assert_str_eq(method->class, stacks == 0 ? "a.b.Node" : "a.b.Task");
		stacks++;
		ck_assert_str_eq(method->name, "run");
		ck_assert_str_eq(heap_thread_name(&g.heap, root[i].thread), "m\xc3\xa4in");
	}
	ck_assert_uint_eq(stacks, 2);
	reading_end(&g);
	buf_release(&m.out);
}
END_TEST

/* The text has lines of thread dumps of JDK 8, 17 and 25. */
START_TEST(thread_names_are_taken_from_a_thread_dump)
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

	hprof_names_parse_threads(&names, text, sizeof(text) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		hprof_names_thread(&names, 0x1000 + 8 * i, 0x2000, wanted[i].tid);
		ck_assert_str_eq(hprof_names_of(&names, 0x1000 + 8 * i), wanted[i].name);
	}
	hprof_names_thread(&names, 0x3000, 0x2000, 2);
	ck_assert_ptr_null(hprof_names_of(&names, 0x3000));
	hprof_names_release(&names);
}
END_TEST

static void check_rejected_with(enum exit_code code, const struct buf *dump, const char *words)
{
	struct reading g;

	reading_begin(&g);
	ck_assert_int_eq(read_dump(&g, dump, 64), -1);
	ck_assert_int_eq(g.err.code, code);
	ck_assert_msg(strstr(g.err.text, words) && !strchr(g.err.text, '\n'), "%s: %s", words,
		      g.err.text);
	reading_end(&g);
}

static void check_rejected(const struct buf *dump, const char *words)
{
	check_rejected_with(EXIT_PARTIAL, dump, words);
}

START_TEST(dump_cut_at_every_byte_is_rejected)
{
	for (unsigned id = 4; id <= 8; id += 4) {
		struct hprof_writer m = make(id);
		struct buf cut = m.out;

		check_rejected_with(EXIT_USAGE, &(struct buf)BUF_INIT, "the input is empty");
		for (cut.len = 1; cut.len < m.out.len; cut.len++)
			check_rejected(&cut, "the dump is not complete: it is cut off at byte");
		buf_release(&m.out);
	}
}
END_TEST

/* Whichever byte is damaged, the reader terminates and releases its memory. */
START_TEST(damage_of_any_byte_is_handled)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct hprof_writer m = make(8);

	for (size_t at = 0; at < m.out.len; at++) {
		const char original = m.out.data[at];
		struct reading g;

		m.out.data[at] = (char)values[at % ARRAY_SIZE(values)];
		reading_begin(&g);
		if (read_dump(&g, &m.out, 100) < 0)
			ck_assert_msg(g.err.text[0] && !strchr(g.err.text, '\n'), "byte %zu", at);
		reading_end(&g);
		m.out.data[at] = original;
	}
	buf_release(&m.out);
}
END_TEST

static struct hprof_writer begin_dump(unsigned id)
{
	struct hprof_writer m = { BUF_INIT, id, 0 };

	put_head(&m);
	put_names(&m);
	begin(&m, 0x1c);
	return m;
}

static void check_segment_rejected(struct hprof_writer *m, const char *words)
{
	end(m);
	begin(m, 0x2c);
	end(m);
	check_rejected(&m->out, words);
	buf_release(&m->out);
}

/*
 * The next functions write parts of a dump that take memory.  A compressed file of a few KB can
 * have millions of them.
 */
static void put_many_symbols(struct hprof_writer *m, uint64_t i)
{
	begin(m, 0x01);
	put_id(m, i);
	end(m);
}

static void put_long_symbols(struct hprof_writer *m, uint64_t i)
{
	put_many_symbols(m, i << 32);
	begin(m, 0x01);
	put_id(m, i);
	memset(buf_reserve(&m->out, 4000), 'x', 4000);
	m->out.len += 4000;
	end(m);
}

static void put_many_classes(struct hprof_writer *m, uint64_t i)
{
	begin(m, 0x02);
	put(m, i, 4);
	put_id(m, i);
	put(m, 1, 4);
	put_id(m, 1);
	end(m);
}

static void put_many_frames(struct hprof_writer *m, uint64_t i)
{
	begin(m, 0x04);
	put_id(m, i);
	put_id(m, 1);
	put_id(m, 0);
	put_id(m, 0);
	put(m, 1, 8);
	end(m);
}

static void put_many_traces(struct hprof_writer *m, uint64_t i)
{
	begin(m, 0x05);
	put(m, i, 4);
	put(m, i, 4);
	put(m, 0, 4);
	end(m);
}

static void put_many_threads(struct hprof_writer *m, uint64_t i)
{
	begin(m, 0x1c);
	put(m, 0x08, 1);
	put_id(m, 8 * i);
	put(m, i, 4);
	put(m, 0, 4);
	end(m);
}

static void put_many_fields(struct hprof_writer *m, uint64_t i)
{
	static const struct field_spec statics[200] = { [0 ... 199] = { "next", 2, 0 } };

	begin(m, 0x1c);
	put_class(m, i, 0, 0, statics, 200, NULL, 0);
	end(m);
}

static void (*const parts[])(struct hprof_writer *m, uint64_t i) = {
	put_many_symbols, put_long_symbols, put_many_classes, put_many_frames,
	put_many_traces,  put_many_threads, put_many_fields,
};

#define MEMORY_MAX ((size_t)1 << 20)
#define PARTS_BYTES ((size_t)4 << 20)

/*
 * Reads a dump that consists of PARTS_BYTES of parts[part].  Returns after how many bytes the dump
 * is refused, or 0 if it is accepted.
 */
static size_t read_parts(unsigned part, size_t max_memory, const char *advice)
{
	struct hprof_wants wants = {
		.layout = compressed, .max_memory = max_memory, .advice = advice,
	};
	struct hprof_writer m = { BUF_INIT, 8, 0 };
	struct heap heap = { 0 };
	struct err err = { .code = EXIT_DONE };
	struct hprof_reader *reader;
	uint64_t i = 1;

	wants.builder = graph_builder_new(0);
	reader = hprof_reader_new(&heap, &wants);
	put_head(&m);
	put_symbol(&m, "a");
	while (hprof_feed(reader, (const uint8_t *)m.out.data, m.out.len, &err) == 0 &&
	       hprof_bytes(reader) < PARTS_BYTES) {
		buf_reset(&m.out);
		while (m.out.len < 65536)
			parts[part](&m, ++i);
	}
	i = err.code == EXIT_DONE ? 0 : hprof_bytes(reader);
	if (i > 0) {
		ck_assert_int_eq(err.code, EXIT_PARTIAL);
		ck_assert_msg(strview_has_suffix(err.text, advice ? advice : "jtool's limit"), "%s",
			      err.text);
	}
	hprof_reader_free(reader);
	graph_builder_free(wants.builder);
	heap_release(&heap);
	buf_release(&m.out);
	return (size_t)i;
}

START_TEST(names_and_classes_count_for_the_memory_limit)
{
	size_t refused_at = read_parts((unsigned)_i, MEMORY_MAX, NULL);

	ck_assert_uint_gt(refused_at, 0);
	ck_assert_uint_le(refused_at, 2 * MEMORY_MAX);
	ck_assert_uint_eq(read_parts((unsigned)_i, MEMORY_MAX, "allow more"), refused_at);
	ck_assert_uint_eq(read_parts((unsigned)_i, 0, NULL), 0);
}
END_TEST

/* maximum length of a name in a dump */
#define NAME_BYTES 65535u

static void put_name(struct hprof_writer *m, uint64_t id, size_t len)
{
	begin(m, 0x01);
	put_id(m, id);
	memset(buf_reserve(&m->out, len), 'x', len);
	m->out.len += len;
	end(m);
}

static void put_load_class(struct hprof_writer *m, uint32_t serial, uint64_t class)
{
	begin(m, 0x02);
	put(m, serial, 4);
	put_id(m, class);
	put(m, 1, 4);
	put_id(m, 1);
	end(m);
}

/*
 * The next functions write n short records, each of which makes the reader copy a name of
 * NAME_BYTES.
 */
static void put_classes_of_one_name(struct hprof_writer *m, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++)
		put_load_class(m, i, i);
}

static void put_methods_of_one_name(struct hprof_writer *m, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		put_load_class(m, i, 1);
		begin(m, 0x04);
		put_id(m, i);
		put_id(m, 1);
		put_id(m, 0);
		put_id(m, 0);
		put(m, i, 4);
		put(m, 0, 4);
		end(m);
	}
	begin(m, 0x05);
	put(m, 1, 4);
	put(m, 1, 4);
	put(m, n, 4);
	for (uint32_t i = 1; i <= n; i++)
		put_id(m, i);
	end(m);
	begin(m, 0x1c);
	for (uint32_t i = 0; i < n; i++) {
		put(m, 0x03, 1);
		put_id(m, 0x1000);
		put(m, 1, 4);
		put(m, i, 4);
	}
	end(m);
}

static void put_loaders_of_one_class(struct hprof_writer *m, uint32_t n)
{
	put_load_class(m, 1, LOADER);
	put_loaded(m, 2, OBJECT, "java/lang/ClassLoader");
	begin(m, 0x1c);
	put_class(m, OBJECT, 0, 0, NULL, 0, NULL, 0);
	put_class(m, LOADER, OBJECT, 0, NULL, 0, NULL, 0);
	for (uint32_t i = 1; i <= n; i++)
		put_class(m, 0x10000 + 8 * i, LOADER, APP, NULL, 0, NULL, 0);
	put_instance(m, APP, LOADER, 0);
	end(m);
}

static void (*const copies[])(struct hprof_writer *m, uint32_t n) = {
	put_classes_of_one_name, put_methods_of_one_name, put_loaders_of_one_class,
};

static size_t length(const char *name)
{
	return name ? strlen(name) : 0;
}

static size_t name_bytes(const struct heap *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_classes; i++)
		n += length(h->classes[i].name) + length(h->classes[i].loader);
	for (size_t i = 0; i < h->n_methods; i++)
		n += length(h->methods[i].class) + length(h->methods[i].name);
	return n;
}

/* Each dump is read in one chunk, and would copy 16 MB of names. */
START_TEST(copies_of_a_long_name_count_for_the_memory_limit)
{
	struct hprof_writer m = { BUF_INIT, 8, 0 };
	struct hprof_wants wants = { .layout = compressed, .max_memory = MEMORY_MAX };
	struct heap heap = { 0 };
	struct err err = { .code = EXIT_DONE };
	struct hprof_reader *reader;
	int rc;

	put_head(&m);
	put_name(&m, 1, NAME_BYTES);
	copies[_i](&m, 256);
	begin(&m, 0x2c);
	end(&m);
	wants.builder = graph_builder_new(0);
	reader = hprof_reader_new(&heap, &wants);
	rc = hprof_feed(reader, (const uint8_t *)m.out.data, m.out.len, &err);
	if (rc == 0)
		rc = hprof_end(reader, &err);
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_ptr_nonnull(strstr(err.text, "need more than 1 MB of memory"));
	ck_assert_uint_gt(name_bytes(&heap), MEMORY_MAX / 2);
	ck_assert_uint_le(name_bytes(&heap), MEMORY_MAX + 2 * NAME_BYTES);
	hprof_reader_free(reader);
	graph_builder_free(wants.builder);
	heap_release(&heap);
	buf_release(&m.out);
}
END_TEST

/* A HotSpot Symbol has at most 65,535 bytes. */
START_TEST(longest_name_is_read_and_a_longer_one_rejected)
{
	for (unsigned id = 4; id <= 8; id += 4) {
		struct hprof_writer m = { BUF_INIT, id, 0 };

		put_head(&m);
		put_name(&m, 1, NAME_BYTES);
		check_rejected(&m.out, "cut off");
		put_name(&m, 2, NAME_BYTES + 1);
		check_rejected(&m.out, "a name of 65536 bytes is too long");
		buf_release(&m.out);
	}
}
END_TEST

START_TEST(inconsistent_dumps_are_rejected)
{
	struct hprof_writer m = begin_dump(8);

	put_class(&m, OBJECT, NODE, 0, NULL, 0, NULL, 0);
	put_class(&m, NODE, OBJECT, 0, NULL, 0, NULL, 0);
	check_segment_rejected(&m, "superclasses");

	m = begin_dump(8);
	put_class(&m, OBJECT, 0, 0, NULL, 0, NULL, 0);
	put_class(&m, OBJECT, 0, 0, NULL, 0, NULL, 0);
	check_segment_rejected(&m, "a class is defined twice");

	m = begin_dump(8);
	put_classes(&m);
	put_node(&m, NODE_1, 0);
	put_class(&m, 0x9000, 0, 0, NULL, 0, NULL, 0);
	check_segment_rejected(&m, "a class follows an object");

	m = begin_dump(8);
	put_instance(&m, NODE_1, 0x9000, 0);
	check_segment_rejected(&m, "an instance of an unknown class");

	m = begin_dump(8);
	put_classes(&m);
	put_instance(&m, NODE_1, NODE, 3);
	put(&m, 0, 3);
	check_segment_rejected(&m, "an instance of a.b.Node with 3 bytes");

	m = begin_dump(8);
	put_classes(&m);
	put_instance(&m, NODE_1, NODE, UINT32_MAX); /* rejected before its bytes arrive */
	check_segment_rejected(&m, "an instance of a.b.Node with 4294967295 bytes");

	m = begin_dump(8);
	put_classes(&m);
	put_array(&m, ARRAY, NODES, UINT32_MAX);
	check_segment_rejected(&m, "longer than its segment");

	m = begin_dump(8);
	put_classes(&m);
	put_node(&m, NODE_1 + 1, 0);
	check_segment_rejected(&m, "not an object address");

	m = begin_dump(8);
	put(&m, 0x77, 1);
	check_segment_rejected(&m, "tag 0x77");

	m = make(8);
	put(&m, 0, 1);
	check_rejected(&m.out, "data follows its end");
	buf_release(&m.out);

	m = make(5);
	check_rejected(&m.out, "identifiers of 5 bytes");
	buf_release(&m.out);
}
END_TEST

/* A weak hash would put all identifiers into one chain, and the test would take minutes. */
START_TEST(identifiers_that_differ_in_high_bits_are_found_fast)
{
	struct hprof_writer m = { BUF_INIT, 8, 0 };
	struct reading g;

	put_head(&m);
	for (uint64_t i = 0; i < 200000; i++) {
		begin(&m, 0x01);
		put_id(&m, i << 44);
		end(&m);
	}
	reading_begin(&g);
	ck_assert_int_eq(read_dump(&g, &m.out, m.out.len), -1);
	ck_assert_ptr_nonnull(strstr(g.err.text, "cut off"));
	reading_end(&g);
	buf_release(&m.out);
}
END_TEST

START_TEST(other_files_are_rejected)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, "JAVA PROFILE 1.0.3");
	buf_add(&text, "\0\0\0\0\x08\0\0\0\0\0\0\0\0", 13);
	check_rejected_with(EXIT_USAGE, &text,
			    "unsupported version of the heap dump format: expected JAVA PROFILE "
			    "1.0.1 or 1.0.2");
	buf_reset(&text);
	buf_adds(&text, "\x7f" "ELF");
	check_rejected_with(EXIT_USAGE, &text, "not a heap dump: its first bytes are not");
	buf_release(&text);
}
END_TEST

/* The objects are adjacent, as after a garbage collection. */
START_TEST(object_layout_is_inferred_from_addresses)
{
	static const struct object_layout layouts[] = {
		{ 11, 4, 12, 16, 8 }, { 11, 8, 16, 24, 8 },  { 11, 8, 12, 16, 8 },
		{ 11, 4, 8, 12, 8 },  { 11, 4, 12, 16, 16 },
	};
	static const struct object_layout none;

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct object_layout *l = &layouts[i];
		const struct object_layout_fields fields = { .n4 = 1, .n_references = 1 };
		const struct object_layout_shape object = object_layout_instance(
			l, NULL, "java.lang.Object", true, &(struct object_layout_fields){ 0 });
		const struct object_layout_shape node =
			object_layout_instance(l, &object, "a.b.Node", false, &fields);
		const struct hprof_wants wants = { .layout = none };
		struct hprof_writer m = begin_dump(8);
		struct heap heap = { 0 };
		struct err err = { 0 };
		struct hprof_reader *r = hprof_reader_new(&heap, &wants);
		struct object_layout guessed;
		uint64_t at = 0x10000;

		put_classes(&m);
		for (uint32_t n = 0; n < 40; n++) {
			put_node(&m, at, 0);
			at += node.size;
			put_array(&m, at, NODES, n);
			for (uint32_t k = 0; k < n; k++)
				put_id(&m, 0);
			at += object_layout_array(l, l->reference, n);
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

/* The expected sizes are those that heaphisto --live reported for these classes. */
START_TEST(object_sizes_equal_those_of_the_jvm)
{
	const struct object_layout old = { 11, 4, 12, 16, 8 }, compact = { 25, 4, 8, 12, 8 };
	const struct object_layout wide = { 17, 8, 16, 24, 8 }, now = { 17, 4, 12, 16, 8 };
	const struct object_layout_fields nothing = { 0 }, a_byte = { .n1 = 1 },
					  a_long = { .n8 = 1 };
	const struct object_layout_fields added = { .n8 = 1, .n_references = 1 };
	struct object_layout_shape object, a, b;

	/* class A { byte a; } class B extends A { byte b; }: since JDK 15, b is in A's padding. */
	object = object_layout_instance(&old, NULL, "java.lang.Object", true, &nothing);
	ck_assert_uint_eq(object.size, 16);
	a = object_layout_instance(&old, &object, "A", false, &a_byte);
	b = object_layout_instance(&old, &a, "B", false, &a_byte);
	ck_assert_uint_eq(a.size, 16);
	ck_assert_uint_eq(b.size, 24);
	object = object_layout_instance(&now, NULL, "java.lang.Object", true, &nothing);
	a = object_layout_instance(&now, &object, "A", false, &a_byte);
	ck_assert_uint_eq(object_layout_instance(&now, &a, "B", false, &a_byte).size, 16);
	ck_assert_uint_eq(object_layout_instance(&now, &a, "B", false, &a_long).size, 24);
	/* @Contended pads only classes of the bootstrap loader. */
	ck_assert_uint_eq(object_layout_instance(&now, &object,
						 "java.util.concurrent.atomic.Striped64$Cell", true,
						 &a_long)
				  .size,
			  280);
	ck_assert_uint_eq(object_layout_instance(&now, &object,
						 "java.util.concurrent.atomic.Striped64$Cell",
						 false, &a_long)
				  .size,
			  24);
	ck_assert_uint_eq(object_layout_mirror(&now, 112, &added), 128);
	ck_assert_uint_eq(object_layout_array(&wide, 1, 1), 32);
	ck_assert_uint_eq(object_layout_array(&compact, 8, 1), 24);
	ck_assert_uint_eq(object_layout_array(&compact, 1, 4), 16);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("model/hprof/hprof_read");
	Suite *suite = suite_create("model/hprof/hprof_read");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, dump_is_read_with_both_sizes_of_identifiers);
	tcase_add_test(cases, dump_is_read_in_chunks_of_any_size);
	tcase_add_test(cases, stack_roots_have_thread_and_method);
	tcase_add_test(cases, thread_names_are_taken_from_a_thread_dump);
	tcase_add_test(cases, dump_cut_at_every_byte_is_rejected);
	tcase_add_test(cases, damage_of_any_byte_is_handled);
	tcase_add_loop_test(cases, names_and_classes_count_for_the_memory_limit, 0,
			    ARRAY_SIZE(parts));
	tcase_add_loop_test(cases, copies_of_a_long_name_count_for_the_memory_limit, 0,
			    ARRAY_SIZE(copies));
	tcase_add_test(cases, longest_name_is_read_and_a_longer_one_rejected);
	tcase_add_test(cases, inconsistent_dumps_are_rejected);
	tcase_add_test(cases, identifiers_that_differ_in_high_bits_are_found_fast);
	tcase_add_test(cases, other_files_are_rejected);
	tcase_add_test(cases, object_layout_is_inferred_from_addresses);
	tcase_add_test(cases, object_sizes_equal_those_of_the_jvm);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
