/*
 * The counters of a thread in an exact profile, which the session adds up while the thread counts,
 * and frees after the last hook.
 */
#include "agent/weak/weak.h"
#include "jvm/alloc/alloc_exact_state.h"
#include "jvm/instrument/hook_natives.h"

#define HASH 5
#define SIZE 24
#define SITE 3u

static uint64_t memory[1 << 11] __attribute__((aligned(64)));
static struct ag_alloc_profile profile;
static struct ag_exact exact;
static struct { uint64_t objects, bytes; } site;

static jboolean JNICALL nothing_pending(JNIEnv *jni)
{
	(void)jni;
	return JNI_FALSE;
}
static const struct JNINativeInterface_ table = { .ExceptionCheck = nothing_pending };
static JNIEnv jni = &table, own = &table;

/* The slow path of a hook: the first object of a class. */
void ag_count_object(struct ag_alloc_profile *p, struct ag_thread_slot *slot, jobject object,
		     jint hash)
{
	bool is_new;
	struct ag_count_cell *cell = ag_count_cell_of(p, slot, (uint32_t)hash, &is_new);

	WEAK_CHECK(cell);
	WEAK_CHECK(hash != HASH || (slot->on & 1) == 0 || cell->flags & AG_CELL_SHARED);
	if (cell->flags & AG_CELL_SHARED) {
		ag_exact_drop(p, 1); /* instead of a cell for each class of the hash */
		return;
	}
	if (is_new) {
		cell->kind = 1;
		cell->size = SIZE;
		ag_count_cell_publish(slot, cell, (uint32_t)hash);
	}
	ag_count_cell_add(p, slot, cell, 1, 0, object, AG_ORIGIN_CONSTRUCTOR);
}

uint32_t ag_exact_stack(const struct ag_alloc_profile *p, JNIEnv *thread,
			enum ag_alloc_origin origin, jvmtiFrameInfo *frames)
{
	(void)p, (void)thread, (void)origin, (void)frames;
	return 0;
}

uint32_t ag_sites_find(struct ag_sites *sites, uint32_t kind, const jvmtiFrameInfo *frames,
		       uint32_t n)
{
	(void)sites, (void)kind, (void)frames, (void)n;
	return SITE;
}

/* A stand-in with two atomic counters; check_alloc_sites.c tests the real function. */
void ag_sites_add(struct ag_sites *sites, uint32_t i, uint64_t objects_256, uint64_t bytes,
		  uint64_t samples)
{
	(void)sites, (void)samples;
	WEAK_CHECK(i == SITE);
	/* signed, because a merge subtracts provisional counts */
	(void)__atomic_fetch_add(&site.objects, (uint64_t)((int64_t)objects_256 >> 8),
				 __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&site.bytes, bytes, __ATOMIC_RELAXED);
}

void ag_live_mark(struct ag_alloc_profile *p, jobject object, uint32_t where, uint64_t interval)
{
	(void)p, (void)object, (void)where, (void)interval;
}

void ag_alloc_code_count(const struct ag_alloc_code *ac, uint32_t *hooked, uint32_t *refused)
{
	(void)ac, (void)hooked, (void)refused;
}

/* The other slow paths are never taken here. */
void ag_count_array(struct ag_alloc_profile *p, struct ag_thread_slot *slot, jobject array,
		    jint length, jint number)
{
	(void)p, (void)slot, (void)array, (void)length, (void)number;
}

void ag_count_arrays(struct ag_alloc_profile *p, struct ag_thread_slot *slot, jobject array,
		     jint number)
{
	(void)p, (void)slot, (void)array, (void)number;
}

void ag_count_result(struct ag_alloc_profile *p, struct ag_thread_slot *slot, jobject result,
		     jint number)
{
	(void)p, (void)slot, (void)result, (void)number;
}

void ag_count_vm(struct ag_alloc_profile *p, struct ag_thread_slot *slot, jobject object)
{
	(void)p, (void)slot, (void)object;
}

static void make(jint hash)
{
	static char object;

	ag_hook_made(&jni, NULL, (jobject)(void *)&object, hash);
}

static void begin(void)
{
	profile = (struct ag_alloc_profile){ .own = &own, .exact = &exact };
	profile.arena = (struct ag_arena){ .base = (uint8_t *)memory, .size = sizeof(memory) };
	exact.profile = &profile;
	ag_alloc_hooks_open(&profile);
	ag_alloc_hooks_on(&profile);
}

/* The budget for stack walks is used up, so that not every object is added to a site at once. */
static void begin_over_budget(void)
{
	begin();
	exact.walks_ns = UINT64_MAX / 2;
	for (unsigned i = 0; i < 8; i++)
		make(HASH);
}

/* The table grows at the next new hash. */
static void begin_half_full(void)
{
	begin();
	for (jint i = 0; i < 16; i++)
		make(100 + i);
}

/* Returns the cell of the thread for HASH. */
static struct ag_count_cell *cell_of_hash(void)
{
	struct ag_thread_slot *slot = ag_thread_slots;

	while (!slot->cells)
		slot++;
	return ag_count_cell_probe(slot->cells, HASH);
}

/* The next objects take the fast path; the last two are not added to a site yet. */
static void begin_fast(void)
{
	begin_over_budget();
	cell_of_hash()->next = 1000;
	make(HASH);
	make(HASH);
}

/* The next object walks the stack. */
static void begin_behind(void)
{
	begin_fast();
	cell_of_hash()->next = cell_of_hash()->count + 1;
}

/* Another profile has counted objects before. */
static void begin_second(void)
{
	begin_over_budget();
	ag_alloc_hooks_off(&profile);
	begin();
	profile.arena.base = (uint8_t *)(memory + sizeof(memory) / sizeof(memory[0]) / 2);
	profile.arena.size = sizeof(memory) / 2;
	site.objects = site.bytes = 0;
}

static void make_one(void)
{
	make(HASH);
}

static void make_two(void)
{
	make(HASH);
	make(HASH);
}

static void merge(void)
{
	ag_exact_merge(&profile);
	/* dropped: the first object, if its site is not known yet or its hash is shared */
	WEAK_CHECK(__atomic_load_n(&profile.dropped, __ATOMIC_RELAXED) <= 1);
}

/* Checks the provisional counts that a merge adds. */
static void merge_provisional(void)
{
	const struct ag_provisional *p;

	ag_exact_merge(&profile);
	p = exact.provisional;
	WEAK_CHECK(!p || p->n <= 1);
	if (p && p->n == 1)
		WEAK_CHECK(p->rows[0].objects <= 11 && p->rows[0].bytes <= 11 * SIZE);
}

static void read_second(void)
{
	struct ag_alloc_profile_state state;

	ag_exact_state(&profile, &state);
	WEAK_CHECK(state.samples <= 1 && state.bytes <= SIZE);
}

/* A callback, which uses the profile even if hooks do not count. */
static void call_back(void)
{
	struct ag_thread_slot *slot;
	struct ag_alloc_profile *p = ag_thread_slot_enter(&jni, &slot);

	if (!p)
		return;
	memory[0] = 1;
	ag_thread_slot_leave(slot);
}

static void share(void)
{
	ag_alloc_hooks_share(&exact, HASH);
}

static void begin_shared(void)
{
	begin_over_budget();
	share();
}

/* Ends the profile.  The store is a data race if a hook can still be in flight. */
static void end(void)
{
	ag_alloc_hooks_off(&profile);
	exact.stopped = true;
	if (__atomic_load_n(&profile.left, __ATOMIC_RELAXED))
		return;
	ag_exact_merge(&profile);
	weak_plain_store(memory, 64 + profile.arena.used);
}

static void all_are_counted(uint64_t n)
{
	ag_alloc_hooks_off(&profile);
	exact.stopped = true;
	ag_exact_merge(&profile);
	WEAK_CHECK(site.objects + profile.dropped == n);
	WEAK_CHECK(site.bytes == site.objects * SIZE);
}

static void one_is_counted(void)
{
	all_are_counted(1);
}

static void nine_are_counted(void)
{
	all_are_counted(9);
}

static void all_fast_are_counted(void)
{
	all_are_counted(12);
}

static void seventeen_are_counted(void)
{
	all_are_counted(17);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "a new cell is complete", { make_one, merge }, begin, one_is_counted },
		{ "counts are added up while the thread counts", { make_two, merge },
		  begin_fast, all_fast_are_counted },
		{ "a table grows while it is read", { make_one, merge }, begin_half_full,
		  seventeen_are_counted },
		{ "a hash becomes shared", { make_one, share }, begin_over_budget,
		  nine_are_counted },
		{ "a hash has become shared", { make_one, merge }, begin_shared,
		  nine_are_counted },
		{ "a merge adds no less than nothing", { make_one, merge_provisional },
		  begin_behind, NULL },
		{ "tables of an earlier profile are not read", { make_one, read_second },
		  begin_second, one_is_counted },
		{ "memory outlives the hooks", { make_one, end }, begin, NULL },
		{ "memory outlives hooks on the fast path", { make_one, end }, begin_fast, NULL },
		{ "memory outlives callbacks", { call_back, end }, begin, NULL },
		{ 0 },
	};
	static const char published[] = "`counting` publishes it";
	static const char both[] = "it loads `profile` and `counting`, and one of them is enough";
	static const char quiesce[] = "only the store that withdraws needs it; see quiesce.h";
	static const struct weak_excuse excuses[] = {
		{ "ag_alloc_hooks_on store (&exact.counting): seq_cst", quiesce },
		{ "ag_alloc_hooks_open store (&exact.profile): seq_cst", quiesce },
		{ "ag_alloc_hooks_share compare &exact.counting: seq_cst", quiesce },
		{ "ag_alloc_hooks_share store &owner->shared[at]: release", published },
		{ "ag_alloc_hooks_share add &owner->n_shared: acquire", published },
		{ "ag_alloc_hooks_share add &owner->n_shared: release", published },
		{ "ag_exact_is_shared load &exact->shared[i]: acquire", published },
		{ "ag_exact_is_shared load &exact->n_shared: acquire", published },
		{ "active_profile load (&exact.counting): seq_cst", both },
		{ "active_profile load (&exact.profile): seq_cst", both },
		{ "merge_cell load &cell->attributed: acquire",
		  "merge_cell() compares `count` with it" },
		{ "merge_cell load &cell->count: acquire", "nothing comes with the value" },
		{ "ag_alloc_hooks_off store &profile->left", "needs a hook that does not end" },
		{ "walk store &cell->attributed: release",
		  "merge_cell() compares `count` with it" },
		{ "ag_quiesce_release store taken", "check_quiesce.c" },
		{ "ag_quiesce_claim compare taken", "check_quiesce.c" },
		{ 0 },
	};

	return weak_run(tests, excuses);
}
