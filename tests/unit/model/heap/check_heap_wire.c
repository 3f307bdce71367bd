/* Builds a heap from the agent's frames. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/heap/heap_wire.h"
#include "wire/frame.h"

/* The payload of a frame, written as the agent does. */
struct payload {
	uint8_t data[1024];
	struct wire_writer w;
};

static struct classes classes;
static struct heap heap;
static struct heap_wire wire;

static void setup(void)
{
	wire = (struct heap_wire){ .classes = &classes, .heap = &heap };
}

static void teardown(void)
{
	heap_release(&heap);
	classes_release(&classes);
}

static struct wire_writer *begin(struct payload *p)
{
	p->w = wire_writer_init(p->data, sizeof(p->data));
	return &p->w;
}

static void put_text(struct wire_writer *w, const char *text)
{
	wire_put_text(w, text, strlen(text));
}

static void put_loader(struct payload *p, uint32_t id, const char *class)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, id);
	put_text(w, class);
	put_text(w, "");
	wire_put_u32(w, 0x1f2e3d4c);
}

static void put_class(struct payload *p, uint32_t loader, uint32_t module, const char *signature)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, 1);
	wire_put_u32(w, loader);
	wire_put_u32(w, module);
	wire_put_u32(w, 0);
	wire_put_u32(w, 0);
	wire_put_u32(w, 0);
	put_text(w, signature);
}

static void put_threads(struct payload *p)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, 2);
	wire_put_u64(w, 1);
	put_text(w, "main");
	wire_put_u64(w, UINT64_MAX);
	put_text(w, "");
}

static void put_methods(struct payload *p)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, 3);
	put_text(w, "La/B;");
	put_text(w, "run");
	put_text(w, "La/B$C;");
	put_text(w, "<init>");
	put_text(w, "");
	put_text(w, "");
}

static void put_end(struct payload *p, uint32_t outcome)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, outcome);
	wire_put_u64(w, 1000);
	wire_put_u64(w, 10);
	wire_put_u64(w, 77);
	wire_put_u64(w, 65536);
	wire_put_u32(w, WIRE_SNAPSHOT_SIGNAL);
	wire_put_i32(w, 9);
	wire_put_u64(w, 2000);
}

/*
 * Writes a heap stream: the mirror of class 0, java.lang.Class, and a root that refers to an
 * instance of a.B, which refers to another instance of a.B.
 */
static void put_heap_stream(struct payload *p)
{
	static const struct heap_stream_record records[] = {
		{ .kind = HEAP_STREAM_CLASS, .address = 0x1000, .class = 0 },
		{ .kind = HEAP_STREAM_MIRROR, .address = 0x1000 },
		{ .kind = HEAP_STREAM_SIZE, .address = 0x1000, .size = 96 },
		{ .kind = HEAP_STREAM_ROOT,
		  .address = 0x2000,
		  .size = 24,
		  .root = HEAP_STREAM_ROOT_STACK,
		  .thread = 1,
		  .method = 2 },
		{ .kind = HEAP_STREAM_OBJECT, .address = 0x2000, .class = 2 },
		{ .kind = HEAP_STREAM_FIELD, .address = 0x3000, .index = 1, .size = 24 },
		{ .kind = HEAP_STREAM_OBJECT, .address = 0x3000, .class = 2 },
	};
	struct heap_stream_state state = { 0 };
	uint8_t *at = p->data;

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		at = heap_stream_write(&state, at, &records[i]);
	p->w = wire_writer_init(p->data, sizeof(p->data));
	p->w.len = (size_t)(at - p->data);
}

static int take_cut(uint16_t type, const struct payload *p, size_t len)
{
	_cleanup_free_ uint8_t *exact = xmalloc(len + 1); /* never of size 0 */
	struct wire_reader r;

	memcpy(exact + 1, p->data, len);
	r = wire_reader_init(exact + 1, len);
	return heap_wire_take(&wire, type, &r);
}

static int take(uint16_t type, const struct payload *p)
{
	return take_cut(type, p, p->w.len);
}

/*
 * Takes the frames of the class index, which precede a heap.  The classes are java.lang.Class of
 * the bootstrap loader, and a class with this name of another loader.
 */
static void take_class_index(void)
{
	struct payload p;
	struct wire_reader r;

	put_loader(&p, 1, "Ljdk/internal/loader/ClassLoaders$AppClassLoader;");
	ck_assert_int_eq(take(WIRE_LOADER, &p), 0);
	put_loader(&p, 2, "Lapp/Loader;");
	ck_assert_int_eq(take(WIRE_LOADER, &p), 0);
	wire_put_u32(begin(&p), 1);
	put_text(&p.w, "java.base");
	ck_assert_int_eq(take(WIRE_MODULE, &p), 0);
	put_class(&p, 0, 1, "Ljava/lang/Class;");
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), 0);
	put_class(&p, 2, 0, "Ljava/lang/Class;");
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), 0);
	wire_put_u32(begin(&p), 2);
	r = wire_reader_init(p.data, p.w.len);
	ck_assert_int_eq(classes_take(&classes, WIRE_CLASSES_END, &r), 1);
	classes_sort(&classes);
}

START_TEST(heap_is_built_from_frames)
{
	struct graph_builder *builder = graph_builder_new(0);
	struct graph_facts facts;
	bool permanent[4];
	struct payload p;
	uint32_t node = 0;
	size_t n_roots;
	int error = 0;

	take_class_index();
	put_heap_stream(&p);
	ck_assert_int_eq(graph_builder_take(builder, p.data, p.w.len), 0);
	put_class(&p, 1, 0, "La/B;"); /* gets class number 2, although the index is sorted */
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), 0);
	put_class(&p, 1, 0, "La/B$$Lambda.0x1;");
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), 0);
	put_threads(&p);
	ck_assert_int_eq(take(WIRE_GRAPH_THREADS, &p), 0);
	put_methods(&p);
	ck_assert_int_eq(take(WIRE_GRAPH_METHODS, &p), 0);
	put_end(&p, WIRE_GRAPHED_COMPLETE);
	ck_assert_int_eq(take(WIRE_GRAPH_END, &p), 1);
	heap_wire_finish(&wire, &facts);

	ck_assert_uint_eq(wire.outcome, WIRE_GRAPHED_COMPLETE);
	ck_assert_uint_eq(wire.pause_ns, 1000);
	ck_assert_uint_eq(wire.waited_ns, 10);
	ck_assert_uint_eq(wire.agent_peak, 65536);
	ck_assert_uint_eq(wire.why, WIRE_SNAPSHOT_SIGNAL);
	ck_assert_int_eq(wire.code, 9);
	ck_assert_uint_eq(wire.child_ns, 2000);
	ck_assert_uint_eq(facts.own_thread, 77);
	ck_assert_uint_eq(facts.n_classes, 4);
	ck_assert_uint_eq(facts.class_class, 0); /* java.lang.Class of the bootstrap loader */
	ck_assert_str_eq(heap_class_name(&heap, 2), "a.B");
	ck_assert_str_eq(heap.classes[0].module, "java.base");
	ck_assert_str_eq(heap.classes[2].loader, "app");
	ck_assert(heap.classes[0].permanent);
	ck_assert(!heap.classes[1].permanent);
	ck_assert(heap.classes[2].permanent);
	ck_assert_str_eq(heap_thread_name(&heap, 1), "main");
	ck_assert_ptr_null(heap_thread_name(&heap, 2));
	ck_assert_str_eq(heap_method(&heap, 2)->class, "a.B$C");
	ck_assert_str_eq(heap_method(&heap, 2)->name, "<init>");
	ck_assert_ptr_null(heap_method(&heap, 3)); /* its class was unloaded */
	ck_assert_ptr_null(heap_method(&heap, 4));

	for (size_t i = 0; i < ARRAY_SIZE(permanent); i++)
		permanent[i] = heap.classes[i].permanent;
	facts.permanent = permanent;
	heap.graph = graph_build(builder, &facts, &error);
	ck_assert_ptr_nonnull(heap.graph);
	ck_assert_uint_eq(graph_n(heap.graph), 3);
	while (node < 3 && graph_stands_for(heap.graph, node) != 0)
		node++;
	ck_assert_uint_lt(node, 3);
	ck_assert_str_eq(heap_node_class(&heap, node), "java.lang.Class");
	ck_assert_ptr_nonnull(graph_roots(heap.graph, &n_roots));
	ck_assert_uint_eq(n_roots, 2); /* a stack local and a permanent class */
	graph_builder_free(builder);
}
END_TEST

START_TEST(hidden_classes_do_not_last)
{
	struct graph_facts facts;
	struct payload p;

	put_class(&p, 0, 0, "La/B$$Lambda.0x7f00;");
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), 0);
	heap_wire_finish(&wire, &facts);
	ck_assert_ptr_nonnull(strchr(heap.classes[0].name, '/'));
	ck_assert(!heap.classes[0].permanent);
	ck_assert_uint_eq(facts.class_class, GRAPH_NONE);
}
END_TEST

static void put_one_class(struct payload *p)
{
	put_class(p, 0, 0, "La/B;");
}

static void put_late_end(struct payload *p)
{
	put_end(p, WIRE_GRAPHED_LATE);
}

static const struct {
	uint16_t type;
	void (*put)(struct payload *p);
} frames[] = {
	{ WIRE_CLASS_ROWS, put_one_class }, { WIRE_GRAPH_THREADS, put_threads },
	{ WIRE_GRAPH_METHODS, put_methods }, { WIRE_GRAPH_END, put_late_end },
};

START_TEST(frames_cut_at_every_byte_are_rejected)
{
	struct payload p;

	frames[_i].put(&p);
	for (size_t len = 0; len < p.w.len; len++)
		ck_assert_int_eq(take_cut(frames[_i].type, &p, len), -EBADMSG);
	ck_assert_int_ge(take(frames[_i].type, &p), 0);
}
END_TEST

START_TEST(inconsistent_frames_are_rejected)
{
	struct payload p;

	wire_put_u32(begin(&p), 0);
	ck_assert_int_eq(take(WIRE_CLASSES_END, &p), -EBADMSG);
	ck_assert_int_eq(take(WIRE_GONE, &p), -EBADMSG);
	ck_assert_int_eq(take(WIRE_HEAP_STREAM, &p), -EBADMSG);
	ck_assert_int_eq(take(WIRE_HISTO_CLASSES, &p), -EBADMSG);
	put_end(&p, WIRE_GRAPHED_CHANGED + 1);
	ck_assert_int_eq(take(WIRE_GRAPH_END, &p), -EBADMSG);
	put_class(&p, 1, 0, "La/B;"); /* an unknown loader */
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_text(&p.w, "no signature");
	put_text(&p.w, "run");
	ck_assert_int_eq(take(WIRE_GRAPH_METHODS, &p), -EBADMSG);
	wire_put_u32(begin(&p), UINT32_MAX); /* more rows than follow */
	ck_assert_int_eq(take(WIRE_GRAPH_METHODS, &p), -EBADMSG);
	ck_assert_int_eq(take(WIRE_GRAPH_THREADS, &p), -EBADMSG);
	ck_assert_uint_eq(heap.n_threads, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/heap/heap_wire");
	TCase *tc = tcase_create("model/heap/heap_wire");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, heap_is_built_from_frames);
	tcase_add_test(tc, hidden_classes_do_not_last);
	tcase_add_loop_test(tc, frames_cut_at_every_byte_are_rejected, 0, ARRAY_SIZE(frames));
	tcase_add_test(tc, inconsistent_frames_are_rejected);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
