/* From the agent's frames to a heap. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/heap_wire.h"
#include "wire/frame.h"

/* A frame's payload, as the agent would write it. */
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
}

/* The java.lang.Class of class 0, itself; a B that a root holds, and that holds another. */
static void put_tape(struct payload *p)
{
	static const struct tape_record records[] = {
		{ .kind = TAPE_CLASS, .address = 0x1000, .class = 0 },
		{ .kind = TAPE_MIRROR, .address = 0x1000 },
		{ .kind = TAPE_SIZE, .address = 0x1000, .size = 96 },
		{ .kind = TAPE_ROOT, .address = 0x2000, .size = 24, .root = TAPE_ROOT_STACK,
		  .thread = 1, .method = 2 },
		{ .kind = TAPE_OBJECT, .address = 0x2000, .class = 2 },
		{ .kind = TAPE_FIELD, .address = 0x3000, .index = 1, .size = 24 },
		{ .kind = TAPE_OBJECT, .address = 0x3000, .class = 2 },
	};
	struct tape_place place = { 0 };
	uint8_t *at = p->data;

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		at = tape_write(&place, at, &records[i]);
	p->w = wire_writer_init(p->data, sizeof(p->data));
	p->w.len = (size_t)(at - p->data);
}

static int take_part(uint16_t type, const struct payload *p, size_t len)
{
	_cleanup_free_ uint8_t *exact = xmalloc(len + 1); /* of no other size than 0 */
	struct wire_reader r;

	memcpy(exact + 1, p->data, len);
	r = wire_reader_init(exact + 1, len);
	return heap_wire_take(&wire, type, &r);
}

static int take(uint16_t type, const struct payload *p)
{
	return take_part(type, p, p->w.len);
}

/* What CLASSES told before: java.lang.Class, and another loader's class of that name. */
static void take_roster(void)
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

START_TEST(a_heap)
{
	struct graph_builder *builder = graph_builder_new(0);
	struct graph_facts facts;
	bool lasting[4];
	struct payload p;
	uint32_t node = 0;
	size_t n_roots;
	int error = 0;

	take_roster();
	put_tape(&p);
	ck_assert_int_eq(graph_builder_take(builder, p.data, p.w.len), 0);
	put_class(&p, 1, 0, "La/B;"); /* numbered on, however the former are sorted */
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), 0);
	put_class(&p, 1, 0, "La/B$$Lambda.0x1;");
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), 0);
	put_threads(&p);
	ck_assert_int_eq(take(WIRE_GRAPH_THREADS, &p), 0);
	put_methods(&p);
	ck_assert_int_eq(take(WIRE_GRAPH_METHODS, &p), 0);
	put_end(&p, WIRE_GRAPHED_WHOLE);
	ck_assert_int_eq(take(WIRE_GRAPH_END, &p), 1);
	heap_wire_finish(&wire, &facts);

	ck_assert_uint_eq(wire.outcome, WIRE_GRAPHED_WHOLE);
	ck_assert_uint_eq(wire.pause_ns, 1000);
	ck_assert_uint_eq(wire.waited_ns, 10);
	ck_assert_uint_eq(wire.agent_peak, 65536);
	ck_assert_uint_eq(facts.own_thread, 77);
	ck_assert_uint_eq(facts.n_classes, 4);
	ck_assert_uint_eq(facts.class_class, 0); /* the bootstrap loader's */
	ck_assert_str_eq(heap_class_name(&heap, 2), "a.B");
	ck_assert_str_eq(heap.classes[0].module, "java.base");
	ck_assert_str_eq(heap.classes[2].loader, "app");
	ck_assert(heap.classes[0].lasting);
	ck_assert(!heap.classes[1].lasting);
	ck_assert(heap.classes[2].lasting);
	ck_assert_str_eq(heap_thread_name(&heap, 1), "main");
	ck_assert_ptr_null(heap_thread_name(&heap, 2));
	ck_assert_str_eq(heap_method(&heap, 2)->class, "a.B$C");
	ck_assert_str_eq(heap_method(&heap, 2)->name, "<init>");
	ck_assert_ptr_null(heap_method(&heap, 3)); /* it was unloaded */
	ck_assert_ptr_null(heap_method(&heap, 4));

	for (size_t i = 0; i < ARRAY_SIZE(lasting); i++)
		lasting[i] = heap.classes[i].lasting;
	facts.lasting = lasting;
	heap.graph = graph_build(builder, &facts, &error);
	ck_assert_ptr_nonnull(heap.graph);
	ck_assert_uint_eq(graph_n(heap.graph), 3);
	while (node < 3 && graph_stands_for(heap.graph, node) != 0)
		node++;
	ck_assert_uint_lt(node, 3);
	ck_assert_str_eq(heap_node_class(&heap, node), "java.lang.Class");
	ck_assert_ptr_nonnull(graph_roots(heap.graph, &n_roots));
	ck_assert_uint_eq(n_roots, 2); /* the stack's, and a lasting class */
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
	ck_assert(!heap.classes[0].lasting);
	ck_assert_uint_eq(facts.class_class, GRAPH_NONE);
}
END_TEST

static void put_a_class(struct payload *p)
{
	put_class(p, 0, 0, "La/B;");
}

static void put_late(struct payload *p)
{
	put_end(p, WIRE_GRAPHED_LATE);
}

static const struct {
	uint16_t type;
	void (*put)(struct payload *p);
} frames[] = {
	{ WIRE_CLASS_ROWS, put_a_class }, { WIRE_GRAPH_THREADS, put_threads },
	{ WIRE_GRAPH_METHODS, put_methods }, { WIRE_GRAPH_END, put_late },
};

START_TEST(truncated)
{
	struct payload p;

	frames[_i].put(&p);
	for (size_t len = 0; len < p.w.len; len++)
		ck_assert_int_eq(take_part(frames[_i].type, &p, len), -EBADMSG);
	ck_assert_int_ge(take(frames[_i].type, &p), 0);
}
END_TEST

START_TEST(bad)
{
	struct payload p;

	wire_put_u32(begin(&p), 0);
	ck_assert_int_eq(take(WIRE_CLASSES_END, &p), -EBADMSG);
	ck_assert_int_eq(take(WIRE_GONE, &p), -EBADMSG);
	ck_assert_int_eq(take(WIRE_TAPE, &p), -EBADMSG);
	ck_assert_int_eq(take(WIRE_HISTO_CLASSES, &p), -EBADMSG);
	put_end(&p, WIRE_GRAPHED_UNKNOWN + 1);
	ck_assert_int_eq(take(WIRE_GRAPH_END, &p), -EBADMSG);
	put_class(&p, 1, 0, "La/B;"); /* a loader that was never told */
	ck_assert_int_eq(take(WIRE_CLASS_ROWS, &p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_text(&p.w, "no signature");
	put_text(&p.w, "run");
	ck_assert_int_eq(take(WIRE_GRAPH_METHODS, &p), -EBADMSG);
	wire_put_u32(begin(&p), UINT32_MAX); /* more than there are */
	ck_assert_int_eq(take(WIRE_GRAPH_METHODS, &p), -EBADMSG);
	ck_assert_int_eq(take(WIRE_GRAPH_THREADS, &p), -EBADMSG);
	ck_assert_uint_eq(heap.n_threads, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("heap_wire");
	TCase *tc = tcase_create("heap_wire");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_heap);
	tcase_add_test(tc, hidden_classes_do_not_last);
	tcase_add_loop_test(tc, truncated, 0, ARRAY_SIZE(frames));
	tcase_add_test(tc, bad);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
