/* A histogram by klass words, with classes that were loaded after the class list was read. */
#include <check.h>
#include <stdlib.h>

#include "jvm/heap/histo_internal.h"
#include "jvm/jvmti.h"

#define LISTED 300
#define MAX_UNLISTED 256 /* UNKNOWN_MAX of histo_by_klass.c */

static unsigned n_new; /* number of unlisted classes, with one instance each */
static jint n_tags;    /* number of tags whose objects were asked for */

/* The walk: visits one instance of each unlisted class. */
int ag_histo_walk(struct ag_jvm *jvm, struct ag_census *census, jvmtiHeapObjectCallback callback,
		  const void *user)
{
	(void)jvm;
	census->limit.left = 1 << 18;
	for (unsigned i = 0; i < n_new; i++) {
		struct {
			uint64_t mark;
			uint32_t klass, pad;
		} object = { .klass = 5000 + i };
		/* HotSpot's wrapper of an object, whose third word is the tag */
		struct {
			uint64_t object;
			jlong size, tag;
		} wrapper = { (uintptr_t)&object, sizeof(object), 0 };

		if (callback(0, wrapper.size, &wrapper.tag, (void *)user) == JVMTI_ITERATION_ABORT)
			break;
	}
	return 0;
}

/* As on JDK 24 and later, where interfaces and abstract classes have no key. */
bool ag_klass_probe_map(const struct ag_klass_probe *probe, const struct ag_classes *classes,
			struct ag_class_map *map)
{
	(void)probe;
	for (uint32_t i = 0; i < classes->n; i++) {
		if (i % 3 != 0)
			ck_assert(ag_class_map_add(map, 100 + i, i));
	}
	return true;
}

/* All objects were collected. */
int ag_tagged_get(struct ag_jvm *jvm, const jlong *tags, jint n, struct ag_tagged *found)
{
	(void)jvm;
	for (jint i = 0; i < n; i++)
		ck_assert_int_eq(tags[i], i + 1);
	n_tags = n;
	found->n = 0;
	return 0;
}

void ag_tagged_release(struct ag_jvm *jvm, struct ag_tagged *found)
{
	(void)jvm;
	(void)found;
}

int ag_rows_init(struct ag_jvm *jvm, struct ag_census *census, struct ag_classes *classes,
		 const struct ag_tally *tallies, uint32_t more)
{
	(void)tallies;
	census->rows = ag_jvm_alloc(jvm, classes->n + more, sizeof(*census->rows));
	ck_assert_ptr_nonnull(census->rows);
	census->n = classes->n;
	return 0;
}

START_TEST(up_to_256_unlisted_classes_have_room)
{
	static const unsigned numbers[] = { 0, 200, MAX_UNLISTED, MAX_UNLISTED + 1, 1000 };
	static uint64_t slots[LISTED];
	jclass list[LISTED];
	struct ag_mem mem = { .budget = 64 << 20 };
	struct ag_jvm jvm = { .mem = &mem };
	struct ag_klass_probe probe = { .header = { 8, 0, UINT32_MAX, false } };
	struct ag_classes classes = { .list = list, .n = LISTED };
	struct ag_self_objects own = { 0 };
	struct ag_census census = { 0 };

	n_new = numbers[_i];
	n_tags = 0;
	for (unsigned i = 0; i < LISTED; i++)
		list[i] = (jclass)&slots[i];
	ck_assert_int_eq(ag_histo_by_klass(&jvm, &probe, &classes, &own, &census),
			 n_new == 0 ? AG_COUNTED : AG_INCOMPLETE);
	ck_assert_int_eq(n_tags, n_new < MAX_UNLISTED ? n_new : MAX_UNLISTED);
	ag_free(&mem, census.rows);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/heap/histo_by_klass");
	TCase *tcase = tcase_create("histo_by_klass");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tcase);
	tcase_add_loop_test(tcase, up_to_256_unlisted_classes_have_room, 0, 5);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
