/* Field indices of compiled classes, compared with those that JDK 8 to 27 reported. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "model/heap/heap_fields.h"

enum { OBJECT, I0, I1, I2, I3, I4, S0, S1, S2, S3, CLASSES };
#define NONE GRAPH_NONE

static const struct {
	uint32_t super;
	uint32_t interfaces[3]; /* OBJECT ends the list */
	const char *fields;     /* names; those of static fields begin with + */
} samples[CLASSES] = {
	[OBJECT] = { NONE, { 0 }, "" },
	[I0] = { NONE, { 0 }, "+A +X +B" },
	[I1] = { NONE, { I0 }, "+C" },
	[I2] = { NONE, { 0 }, "+D" },
	[I3] = { NONE, { 0 }, "" },
	[I4] = { NONE, { I2, I3, I0 }, "+E4" },
	[S0] = { OBJECT, { 0 }, "a p +sa b" },
	[S1] = { S0, { I1 }, "+sb a q +sp +sc c" },
	[S2] = { S1, { I4 }, "d +sd a e" },
	[S3] = { S2, { I1, I2 }, "z +se" },
};

static struct shapes shapes;
static struct heap heap;

static void setup(void)
{
	shapes_init(&shapes, CLASSES);
	heap = (struct heap){ .classes = calloc(CLASSES, sizeof(*heap.classes)),
			      .n_classes = CLASSES };
}

static void teardown(void)
{
	for (size_t i = 0; i < CLASSES; i++) {
		struct heap_class *c = &heap.classes[i];

		for (uint32_t k = 0; k < c->n_fields; k++) {
			free(c->fields[k].name);
			free(c->statics[k].name);
		}
		free(c->fields);
		free(c->statics);
	}
	free(heap.classes);
	shapes_release(&shapes);
}

static void add_shape(uint32_t class)
{
	struct shape *s = &shapes.list[class];
	const char *f = samples[class].fields;

	ck_assert(!s->has_fields);
	s->has_fields = true;
	s->super = samples[class].super;
	for (size_t i = 0; i < 3 && samples[class].interfaces[i] != OBJECT; i++)
		shape_add_interface(s, samples[class].interfaces[i]);
	while (*f) {
		bool is_static = *f == '+';
		size_t len = strcspn(f + is_static, " ");

		shape_add_field(s, f + is_static, len, is_static);
		f += is_static + len;
		f += *f == ' ';
	}
}

static unsigned fill_class(uint32_t class)
{
	unsigned n = 0;
	uint32_t missing;

	while ((missing = heap_fields_missing(&shapes, class)) != GRAPH_NONE) {
		add_shape(missing);
		n++;
	}
	heap_fields_fill(&heap, &shapes, class);
	ck_assert(heap.classes[class].has_fields);
	return n;
}

static void expect(const struct heap_field *fields, uint32_t n, uint32_t index, const char *name,
		   uint32_t class)
{
	ck_assert_uint_lt(index, n);
	ck_assert_ptr_nonnull(fields[index].name);
	ck_assert_str_eq(fields[index].name, name);
	ck_assert_uint_eq(fields[index].class, class);
}

START_TEST(indices_equal_those_of_the_jvm)
{
	static const struct {
		uint32_t class, index;
		const char *name;
		uint32_t declarer;
	} fields[] = {
		{ S0, 0, "a", S0 }, { S0, 3, "b", S0 }, { S1, 4, "a", S0 },
		{ S1, 9, "a", S1 }, { S1, 13, "c", S1 }, { S2, 6, "a", S0 },
		{ S2, 11, "a", S1 }, { S2, 16, "d", S2 }, { S2, 18, "a", S2 },
		{ S2, 19, "e", S2 }, { S3, 6, "a", S0 }, { S3, 9, "b", S0 },
		{ S3, 15, "c", S1 }, { S3, 20, "z", S3 },
	}, statics[] = {
		{ I0, 0, "A", I0 }, { I0, 2, "B", I0 }, { I1, 3, "C", I1 },
		{ I4, 4, "E4", I4 }, { S0, 2, "sa", S0 }, { S1, 8, "sb", S1 },
		{ S1, 12, "sc", S1 }, { S2, 17, "sd", S2 }, { S3, 21, "se", S3 },
	};

	ck_assert_uint_eq(fill_class(S3), CLASSES);
	ck_assert_uint_eq(fill_class(S3), 0);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct heap_class *c = &heap.classes[fields[i].class];

		(void)fill_class(fields[i].class);
		expect(c->fields, c->n_fields, fields[i].index, fields[i].name,
		       fields[i].declarer);
	}
	for (size_t i = 0; i < sizeof(statics) / sizeof(statics[0]); i++) {
		const struct heap_class *c = &heap.classes[statics[i].class];

		(void)fill_class(statics[i].class);
		expect(c->statics, c->n_statics, statics[i].index, statics[i].name,
		       statics[i].declarer);
	}
	/* S3 has no names for the static fields of superclasses and the fields of interfaces. */
	ck_assert_ptr_null(heap.classes[S3].statics[17].name);
	ck_assert_ptr_null(heap.classes[S3].fields[0].name);
}
END_TEST

START_TEST(inconsistent_hierarchies_do_not_loop)
{
	for (uint32_t i = 0; i < CLASSES; i++)
		add_shape(i);
	shapes.list[S0].super = S3; /* a cycle */
	shapes.list[I0].super = UINT32_MAX - 1;
	shape_add_interface(&shapes.list[I0], I4);
	shape_add_interface(&shapes.list[I0], CLASSES);
	shape_add_interface(&shapes.list[I1], S0);
	ck_assert_uint_eq(heap_fields_missing(&shapes, S3), GRAPH_NONE);
	for (uint32_t i = 0; i <= CLASSES; i++)
		heap_fields_fill(&heap, &shapes, i);
	ck_assert_uint_eq(heap_fields_missing(&shapes, CLASSES), GRAPH_NONE);
	ck_assert_uint_eq(heap.classes[S3].n_fields, 22);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/heap/heap_fields");
	TCase *c = tcase_create("model/heap/heap_fields");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, indices_equal_those_of_the_jvm);
	tcase_add_test(c, inconsistent_hierarchies_do_not_loop);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
