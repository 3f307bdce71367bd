/*
 * Withdraws owners while many threads run callbacks.  The wait succeeds only if no callback is in
 * flight; if one does not return, the wait fails at its timeout.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "agent/fake/fake_time.h"
#include "agent/fake/jvm_core.h"
#include "jvm/instrument/quiesce.h"

#define WORKERS 4
#define OWNERS 2000
#define ALIVE 0x600d
#define DEAD 0xdead

static unsigned checks;
static void (*when_checked)(void);

static jboolean JNICALL check(JNIEnv *jni)
{
	(void)jni;
	checks++;
	if (when_checked)
		when_checked();
	return JNI_FALSE;
}

struct owner {
	unsigned state;
};
static struct owner *owner;
static struct ag_quiesce_shard shards[AG_SHARDS];
static const struct ag_quiesce_words words = { &shards[0].word, sizeof(shards[0]), AG_SHARDS };
static unsigned inside, used, stop;

static void setup(void)
{
	fake_jni_table.ExceptionCheck = check;
	checks = 0;
	when_checked = NULL;
}

/* false: threads share the word of a shard; true: each thread has a flag of its own. */
static bool by_thread;

static void enter(uint64_t *word)
{
	if (!by_thread)
		ag_quiesce_enter(word);
	else if (!ag_quiesce_enter_thread(word))
		ck_abort_msg("the thread is nowhere");
}

static void leave(uint64_t *word)
{
	if (by_thread)
		ag_quiesce_leave_thread(word);
	else
		ag_quiesce_leave_adding(word, 1);
}

/* Fails the test if the owner was withdrawn.  Sanitizers also detect a read of freed memory. */
static void look_into(const struct owner *its)
{
	if (*(const volatile unsigned *)&its->state != ALIVE)
		ck_abort_msg("the owner is gone");
}

static void use(const struct owner *its)
{
	(void)__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED);
	look_into(its);
	if (__atomic_add_fetch(&used, 1, __ATOMIC_RELAXED) % 64 == 0)
		(void)sched_yield(); /* other threads run during this callback */
	look_into(its);
	(void)__atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	unsigned worker = (unsigned)(uintptr_t)arg;
	uint64_t *word = &shards[by_thread ? worker : worker % (WORKERS / 2)].word;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		const struct owner *its;

		fake_time_round(worker);
		if (!AG_QUIESCE_LOOK(&owner)) {
			(void)sched_yield();
			continue;
		}
		enter(word);
		its = AG_QUIESCE_LOOK(&owner);
		if (its)
			use(its);
		leave(word);
	}
	return NULL;
}

static void one_owner(void)
{
	struct owner *its = malloc(sizeof(*its));
	unsigned before = __atomic_load_n(&used, __ATOMIC_RELAXED);

	ck_assert_ptr_nonnull(its);
	its->state = ALIVE;
	AG_QUIESCE_SET(&owner, its);
	while (__atomic_load_n(&used, __ATOMIC_RELAXED) == before)
		(void)sched_yield();
	AG_QUIESCE_SET(&owner, NULL);
	ck_assert(ag_quiesce_wait(words, fake_jni(0), 100));
	ck_assert_uint_eq(__atomic_load_n(&inside, __ATOMIC_RELAXED), 0);
	its->state = DEAD;
	free(its);
}

START_TEST(no_callback_is_in_flight_after_the_wait)
{
	pthread_t threads[WORKERS];

	by_thread = _i;
	for (uintptr_t i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	fake_time.workers = WORKERS;
	for (int i = 0; i < OWNERS; i++)
		one_owner();
	fake_time.workers = 0;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert(!ag_quiesce_is_busy(words));
}
END_TEST

/*
 * One callback and one owner meet at the same moment, again and again: at least one of them sees
 * the other.
 */
#define MEETINGS 100000
#define MEETINGS_MIN 100 /* where they take long, because the machine has other work */
#define ENOUGH_S 10

static unsigned met[2];
static bool found;

/* Waits until the other thread is at the same meeting, and then for a short time that varies. */
static void meet(unsigned who, unsigned meeting)
{
	__atomic_store_n(&met[who], meeting, __ATOMIC_SEQ_CST);
	for (unsigned spins = 1; __atomic_load_n(&met[!who], __ATOMIC_SEQ_CST) < meeting; spins++) {
		if (spins % 1000 == 0)
			(void)sched_yield();
	}
	for (volatile unsigned late = meeting / (who ? 3 : 48) % 16; late > 0; late--)
		;
}

static void *call_back(void *arg)
{
	for (unsigned i = 1;; i++) {
		meet(0, 3 * i);
		if (__atomic_load_n(&stop, __ATOMIC_RELAXED))
			return arg;
		enter(&shards[0].word);
		found = AG_QUIESCE_LOOK(&owner);
		meet(0, 3 * i + 1);
		leave(&shards[0].word);
		meet(0, 3 * i + 2);
	}
}

START_TEST(callback_or_owner_sees_the_other)
{
	struct owner its = { ALIVE };
	time_t end = time(NULL) + ENOUGH_S;
	pthread_t thread;
	unsigned i;

	by_thread = _i;
	ck_assert_int_eq(pthread_create(&thread, NULL, call_back, NULL), 0);
	for (i = 1; i <= MEETINGS && (i <= MEETINGS_MIN || time(NULL) < end); i++) {
		bool busy;

		AG_QUIESCE_SET(&owner, &its);
		meet(1, 3 * i);
		AG_QUIESCE_SET(&owner, NULL);
		busy = ag_quiesce_is_busy(words);
		meet(1, 3 * i + 1);
		if (found && !busy)
			ck_abort_msg("at meeting %u neither sees the other", i);
		meet(1, 3 * i + 2);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	meet(1, 3 * i);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

/* The wait makes a JNI call (`checks`) after each millisecond, see ag_quiesce_wait(). */
START_TEST(callback_that_remains_is_reported)
{
	uint64_t *word = &shards[AG_SHARDS - 1].word;

	ck_assert(ag_quiesce_wait(words, fake_jni(0), 0));
	ag_quiesce_enter(word);
	ck_assert(!ag_quiesce_wait(words, fake_jni(0), 0));
	ck_assert_uint_eq(fake_time.ms, 0);
	ck_assert(!ag_quiesce_wait(words, fake_jni(0), 25));
	ck_assert_uint_eq(fake_time.ms, 25);
	ck_assert_uint_eq(checks, 25);
	ag_quiesce_leave(word);
	ck_assert(ag_quiesce_wait(words, fake_jni(0), 25));
	ck_assert_uint_eq(fake_time.ms, 25);
}
END_TEST

static void leave_at_last(void)
{
	if (checks == 10)
		ag_quiesce_leave(&shards[3].word);
}

START_TEST(callback_that_leaves_in_time_is_waited_for)
{
	when_checked = leave_at_last;
	ag_quiesce_enter(&shards[3].word);
	ck_assert(ag_quiesce_wait(words, fake_jni(0), 10));
	ck_assert_uint_eq(fake_time.ms, 10);
}
END_TEST

START_TEST(owners_count_in_the_bits_above_callbacks)
{
	uint64_t *word = &shards[0].word;

	ag_quiesce_enter(word);
	ag_quiesce_enter(word);
	ag_quiesce_leave_adding(word, 1);
	ck_assert(ag_quiesce_is_busy(words));
	ag_quiesce_leave_adding(word, 2);
	ck_assert(!ag_quiesce_is_busy(words));
	ck_assert_uint_eq(*word >> AG_IN_FLIGHT_BITS, 3);
}
END_TEST

START_TEST(thread_enters_at_most_once)
{
	uint64_t *word = &shards[0].word;

	ck_assert(ag_quiesce_enter_thread(word));
	ck_assert(!ag_quiesce_enter_thread(word));
	ck_assert(ag_quiesce_is_busy(words));
	ag_quiesce_leave_thread(word);
	ck_assert(!ag_quiesce_is_busy(words));
	ck_assert(ag_quiesce_enter_thread(word));
}
END_TEST

START_TEST(busy_slot_is_not_reused)
{
	uint32_t taken = 0;

	ck_assert(ag_quiesce_claim(&taken, words));
	ck_assert(!ag_quiesce_claim(&taken, words));
	ag_quiesce_enter(&shards[1].word);
	ag_quiesce_release(&taken);
	ck_assert(!ag_quiesce_claim(&taken, words));
	ag_quiesce_leave(&shards[1].word);
	ck_assert(ag_quiesce_claim(&taken, words));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/instrument/quiesce");
	TCase *t = tcase_create("quiesce"), *threads = tcase_create("threads");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_checked_fixture(threads, setup, NULL);
	tcase_set_timeout(t, 60); /* with sanitizers on a busy machine */
	tcase_set_timeout(threads, 60);
	tcase_add_loop_test(threads, no_callback_is_in_flight_after_the_wait, 0, 2);
	tcase_add_loop_test(threads, callback_or_owner_sees_the_other, 0, 2);
	tcase_add_test(t, callback_that_remains_is_reported);
	tcase_add_test(t, callback_that_leaves_in_time_is_waited_for);
	tcase_add_test(t, owners_count_in_the_bits_above_callbacks);
	tcase_add_test(t, thread_enters_at_most_once);
	tcase_add_test(t, busy_slot_is_not_reused);
	suite_add_tcase(s, t);
	suite_add_tcase(s, threads);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
