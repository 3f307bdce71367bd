/* Quiescence: after its wait, an owner may free what callbacks use; see instrument/quiesce.h. */
#include "agent/weak/weak.h"
#include "jvm/instrument/quiesce.h"

static jboolean JNICALL nothing_pending(JNIEnv *jni)
{
	(void)jni;
	return JNI_FALSE;
}
static const struct JNINativeInterface_ table = { .ExceptionCheck = nothing_pending };
static JNIEnv jni = &table;

/* The data that callbacks use: a byte for each thread, so that callbacks cannot race. */
struct owner {
	char used[WEAK_THREADS + 1];
};

static struct owner first, second, *owner;
static struct ag_quiesce_shard shards[2];
static uint32_t taken;
#define WORDS AG_QUIESCE_WORDS(shards, word)

static void begin(void)
{
	owner = &first;
}

static void use(struct owner *its)
{
	if (its)
		its->used[weak_self()]++;
}

/* Stores into the owner: a data race if a callback can still be in flight. */
static void free_owner(struct owner *its)
{
	for (unsigned i = 0; i <= WEAK_THREADS; i++)
		its->used[i] = 0;
}

static void call(void)
{
	ag_quiesce_enter(&shards[0].word);
	use(AG_QUIESCE_LOOK(&owner));
	ag_quiesce_leave_adding(&shards[0].word, 1);
}

static void call_by_thread(void)
{
	WEAK_CHECK(ag_quiesce_enter_thread(&shards[1].word));
	WEAK_CHECK(!ag_quiesce_enter_thread(&shards[1].word));
	use(AG_QUIESCE_LOOK(&owner));
	ag_quiesce_leave_thread(&shards[1].word);
}

static void end_owner(void)
{
	AG_QUIESCE_SET(&owner, NULL);
	if (ag_quiesce_wait(WORDS, &jni, 100))
		free_owner(&first);
}

static void replace_owner(void)
{
	AG_QUIESCE_SET(&owner, NULL);
	second.used[0] = 1;
	AG_QUIESCE_SET(&owner, &second);
	if (!ag_quiesce_is_busy(WORDS))
		free_owner(&first);
}

static void call_and_look(void)
{
	struct owner *its;

	ag_quiesce_enter(&shards[0].word);
	its = AG_QUIESCE_LOOK(&owner);
	WEAK_CHECK(its != &second || its->used[0] == 1);
	use(its);
	ag_quiesce_leave(&shards[0].word);
}

static void claim(void)
{
	if (!ag_quiesce_claim(&taken, WORDS))
		return;
	use(&first);
	free_owner(&first);
	ag_quiesce_release(&taken);
}

static void owner_is_free(void)
{
	WEAK_CHECK(taken == 0 && !ag_quiesce_is_busy(WORDS));
}

/* Begins with a callback of the slot's earlier owner in flight; claim() must see it. */
static void begin_in_flight(void)
{
	owner = NULL;
	ag_quiesce_enter(&shards[0].word);
}

static void leave(void)
{
	use(&first);
	ag_quiesce_leave(&shards[0].word);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "an owner outlives callbacks that share a word", { call, call, end_owner },
		  begin, owner_is_free },
		{ "an owner outlives callbacks of threads", { call_by_thread, end_owner },
		  begin, owner_is_free },
		{ "a callback sees the new owner complete", { call_and_look, replace_owner },
		  begin, owner_is_free },
		{ "a slot has one owner", { claim, claim }, NULL, owner_is_free },
		{ "a slot is claimed after the callbacks of its earlier owner", { leave, claim },
		  begin_in_flight, owner_is_free },
		{ 0 },
	};

	return weak_run(tests, NULL);
}
