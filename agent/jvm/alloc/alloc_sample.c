/* Samples allocations.  Optimised for speed, because the callback runs on application threads. */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/alloc/alloc_state.h"
#include "jvm/instrument/quiesce.h"

#define OFF_MS 3000
#define SECOND UINT64_C(1000000000)

/*
 * The agent aims at an interval with at most PER_SECOND samples per second.  FIRST_LOG2 is log2 of
 * the first and longest interval in bytes: 512 KiB, which is HotSpot's default and the mean number
 * of bytes before a thread's first sample.  LEAST_LOG2 is log2 of the shortest interval.
 */
#define FIRST_LOG2 19
#define LEAST_LOG2 12
#define PER_SECOND 1000
#define BURST 2000 /* number of samples after which lengthen() doubles the interval */

#define GAPS_LOG2 10 /* log2 of the number of entries in sampler_slot.gaps */

/*
 * State of a sampled profile.  Slots are never freed, because a callback may start after its
 * profile has ended.  A JVM has only one sampled profile at a time.  But there are several slots,
 * because a suspended thread may still use the slot of a profile that has ended.
 */
struct sampler_slot {
	struct ag_alloc_profile *profile; /* NULL: none; atomic */
	/*
	 * A thread's entry, at the index ag_thread_shard(), is its JNIEnv << 8 | log2 of the
	 * JVM's interval at the thread's last sample; see interval_of_sample().
	 */
	uint64_t *gaps;
	uint32_t log2;   /* log2 of the agent's interval; 0: the client chose an interval; atomic */
	uint32_t burst;  /* number of samples since the last tick; atomic */
	uint32_t taken;  /* 1: the slot has an owner; set by ag_quiesce_claim() */
	int64_t tick_ns;
	uint64_t tick_samples;
	struct ag_quiesce_shard in_flight[AG_SHARDS];
};
#define SLOTS 4
static struct {
	struct sampler_slot slots[SLOTS];
	struct sampler_slot *current; /* slot of the running profile; NULL: none; atomic */
} sampler;

/*
 * Returns 1 - exp(-x) for x >= 0, without libm.  Uses the series for small x.  For larger x, uses
 * the formula 1 - exp(-2x) = p (2 - p), where p = 1 - exp(-x), so that no precision is lost by
 * subtraction.
 */
static double one_minus_exp(double x)
{
	unsigned doublings = 0;
	double p;

	if (x > 64)
		return 1;
	while (x > 0.125) {
		x /= 2;
		doublings++;
	}
	p = 1 - x / 9;
	for (int n = 8; n >= 2; n--)
		p = 1 - x / n * p;
	p *= x;
	for (; doublings > 0; doublings--)
		p *= 2 - p;
	return p;
}

struct ag_weight ag_sample_weight(uint64_t size, uint64_t interval)
{
	double p = one_minus_exp((double)size / (double)interval);

	if (size == 0 || interval == 0)
		return (struct ag_weight){ 256, size };
	return (struct ag_weight){
		(uint64_t)(256 / p + 0.5), (uint64_t)((double)size / p + 0.5),
	};
}

/*
 * Sets the JVM's interval and profile->interval to 2^slot->log2.  Repeats this if another thread
 * has changed slot->log2 meanwhile.
 *
 * The fences keep three steps in this order, even on a processor with weak ordering: load
 * slot->log2, store both intervals, load slot->log2 again.  In another order, this thread could
 * overwrite the newer intervals of the other thread and not notice it.
 */
static void set_chosen(struct sampler_slot *slot, jvmtiEnv *ti, struct ag_alloc_profile *profile)
{
	uint32_t log2;

	do {
		log2 = __atomic_load_n(&slot->log2, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		/* Fails only at JVM exit, because the same call in set_interval() succeeded. */
		(void)(*ti)->SetHeapSamplingInterval(ti, (jint)1 << log2);
		__atomic_store_n(&profile->interval, UINT64_C(1) << log2, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (log2 != __atomic_load_n(&slot->log2, __ATOMIC_SEQ_CST));
}

/*
 * Returns the interval with which the gap before this sample was drawn.  A gap is the number of
 * bytes from one sample of a thread to the thread's next sample.  HotSpot draws the length of a gap
 * at random when the gap begins; the mean is the JVM's interval at that time.
 *
 * For a thread's first sample, that interval is unknown, and this function returns the current
 * interval.  If the unknown interval was longer, the first sample gets too low a weight.
 */
static uint64_t interval_of_sample(struct sampler_slot *slot,
				   const struct ag_alloc_profile *profile, JNIEnv *jni)
{
	uint32_t log2 = __atomic_load_n(&slot->log2, __ATOMIC_RELAXED);
	uint64_t own = (uint64_t)(uintptr_t)jni << 8, was;

	if (log2 == 0)
		return profile->interval;
	was = __atomic_exchange_n(&slot->gaps[ag_thread_shard(jni, GAPS_LOG2)], own | log2,
				  __ATOMIC_RELAXED);
	return UINT64_C(1) << ((was ^ own) < 256 ? was & 255 : log2);
}

/*
 * Doubles the interval that the agent chose, after each BURST samples since the last tick.  The
 * next tick would be too late, because ticks are a second apart, and a thread may suddenly allocate
 * so much that far too many samples would be taken until then.
 */
static void lengthen(struct sampler_slot *slot, jvmtiEnv *ti, struct ag_alloc_profile *profile)
{
	uint32_t log2 = __atomic_load_n(&slot->log2, __ATOMIC_RELAXED);

	if (log2 == 0 || log2 >= FIRST_LOG2 ||
	    __atomic_add_fetch(&slot->burst, 1, __ATOMIC_RELAXED) % BURST != 0)
		return;
	if (__atomic_compare_exchange_n(&slot->log2, &log2, log2 + 1, false, __ATOMIC_SEQ_CST,
					__ATOMIC_RELAXED))
		set_chosen(slot, ti, profile);
}

void ag_sample_tick(struct ag_alloc_profile *profile)
{
	struct sampler_slot *slot = __atomic_load_n(&sampler.current, __ATOMIC_ACQUIRE);
	uint64_t samples = __atomic_load_n(&profile->samples, __ATOMIC_RELAXED), rate;
	int64_t now = ag_now_ns();
	uint32_t log2, was;

	if (!slot || slot->profile != profile || now - slot->tick_ns < (int64_t)(SECOND / 10))
		return;
	log2 = was = __atomic_load_n(&slot->log2, __ATOMIC_SEQ_CST);
	if (log2 == 0)
		return;
	rate = (samples - slot->tick_samples) * SECOND / (uint64_t)(now - slot->tick_ns);
	slot->tick_ns = now;
	slot->tick_samples = samples;
	__atomic_store_n(&slot->burst, 0, __ATOMIC_RELAXED);
	for (; rate > PER_SECOND && log2 < FIRST_LOG2; rate /= 2)
		log2++;
	for (; rate * 2 <= PER_SECOND && log2 > LEAST_LOG2; rate = rate ? rate * 2 : 1)
		log2--;
	if (log2 != was && __atomic_compare_exchange_n(&slot->log2, &was, log2, false,
						       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		set_chosen(slot, profile->ti, profile);
}

static void drop(struct ag_alloc_profile *profile)
{
	(void)__atomic_fetch_add(&profile->dropped, 1, __ATOMIC_RELAXED);
}

static uint32_t site_of(struct ag_alloc_profile *profile, JNIEnv *jni, jthread thread, jclass class)
{
	jvmtiFrameInfo frames[WIRE_ALLOC_DEPTH];
	jvmtiEnv *ti = profile->ti;
	jint hash, n = 0;
	uint32_t kind;

	if ((*ti)->GetObjectHashCode(ti, class, &hash) != JVMTI_ERROR_NONE)
		return AG_SITE_NONE;
	kind = ag_alloc_classes_of(profile->kinds, ti, jni, class, hash, NULL);
	if (kind == AG_ALLOC_CLASS_NONE)
		return AG_SITE_NONE;
	/* Never pass NULL as the thread: see ag_value_stack() (trace_values.h). */
	if (thread && (*ti)->GetStackTrace(ti, thread, 0, (jint)profile->wanted.depth, frames,
					   &n) != JVMTI_ERROR_NONE)
		n = 0; /* the thread is terminating: its objects have no stack */
	return ag_sites_find(&profile->sites, kind, frames, (uint32_t)n);
}

static void take_sample(struct sampler_slot *slot, struct ag_alloc_profile *profile, JNIEnv *jni,
			jthread thread, jobject object, jclass class, uint64_t size)
{
	uint64_t interval = interval_of_sample(slot, profile, jni);
	uint32_t site = site_of(profile, jni, thread, class);
	struct ag_weight weight = ag_sample_weight(size, interval);

	lengthen(slot, profile->ti, profile);
	if (site == AG_SITE_NONE) {
		drop(profile);
		return;
	}
	ag_sites_add(&profile->sites, site, weight.objects_256, weight.bytes, 1);
	(void)__atomic_fetch_add(&profile->samples, 1, __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&profile->bytes, weight.bytes, __ATOMIC_RELAXED);
	if (profile->wanted.flags & WIRE_ALLOC_LIVE)
		ag_live_mark(profile, object, site, interval);
}

/* Takes a sample at a SampledObjectAlloc.  Not recursive, because it allocates no Java objects. */
static void JNICALL on_sample(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
			      jclass class, jlong size)
{
	struct sampler_slot *slot = __atomic_load_n(&sampler.current, __ATOMIC_ACQUIRE);
	struct ag_alloc_profile *profile;
	uint64_t *in_flight;

	if (!slot)
		return;
	in_flight = &slot->in_flight[ag_thread_shard(jni, AG_SHARD_BITS)].word;
	ag_quiesce_enter(in_flight);
	profile = AG_QUIESCE_LOOK(&slot->profile);
	if (profile && profile->ti == ti && profile->own != jni)
		take_sample(slot, profile, jni, thread, object, class, (uint64_t)size);
	ag_quiesce_leave(in_flight);
}

#define WORDS(slot) AG_QUIESCE_WORDS((slot)->in_flight, word)

static struct sampler_slot *take_slot(struct ag_jvm *jvm)
{
	for (struct sampler_slot *slot = sampler.slots; slot < sampler.slots + SLOTS; slot++) {
		if (ag_quiesce_claim(&slot->taken, WORDS(slot)))
			return slot;
	}
	(void)ag_fail(jvm, "sample allocations",
		      "suspended threads are still in earlier samples; try again when they run");
	return NULL;
}

/*
 * Adds the capability to sample.  It is a solo capability: HotSpot grants it to one environment at
 * a time.
 */
static int add_capability(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	const jvmtiCapabilities capabilities = { .can_generate_sampled_object_alloc_events = 1 };
	int release = ag_jvmti_release(jvm);
	jvmtiError code = JVMTI_ERROR_NOT_AVAILABLE;

	if (release < 0)
		return -1;
	if (release >= 11)
		code = (*profile->ti)->AddCapabilities(profile->ti, &capabilities);
	if (ag_jvmti_check(jvm, "AddCapabilities", code) == 0)
		return 0;
	if (code == JVMTI_ERROR_NOT_AVAILABLE)
		jvm->err.why = release >= 11 ? "another agent samples this JVM's allocations" :
					       "sampling needs JDK 11 or later";
	return -1;
}

static int set_interval(struct ag_jvm *jvm, struct ag_alloc_profile *profile,
			struct sampler_slot *slot)
{
	jvmtiEnv *ti = profile->ti;

	if (profile->wanted.interval > INT32_MAX)
		profile->wanted.interval = INT32_MAX; /* HotSpot's maximum */
	profile->interval = profile->wanted.interval;
	slot->log2 = 0;
	if (profile->interval == 0) {
		slot->gaps = ag_arena_take(&profile->arena, sizeof(*slot->gaps) << GAPS_LOG2);
		if (!slot->gaps)
			return ag_fail(jvm, "sample allocations",
				       "the memory limit is too low; allow more");
		profile->interval = UINT64_C(1) << FIRST_LOG2;
		slot->log2 = FIRST_LOG2;
	}
	slot->tick_ns = ag_now_ns();
	slot->tick_samples = 0;
	slot->burst = 0;
	return ag_jvmti_check(jvm, "SetHeapSamplingInterval",
			      (*ti)->SetHeapSamplingInterval(ti, (jint)profile->interval));
}

int ag_sample_on(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	struct sampler_slot *slot = NULL;

	if (add_capability(jvm, profile) == 0)
		slot = take_slot(jvm);
	if (!slot)
		return -1;
	if (set_interval(jvm, profile, slot) != 0) {
		ag_quiesce_release(&slot->taken);
		return -1;
	}
	profile->callbacks.SampledObjectAlloc = on_sample;
	AG_QUIESCE_SET(&slot->profile, profile);
	__atomic_store_n(&sampler.current, slot, __ATOMIC_RELEASE);
	if (ag_alloc_profile_listen(jvm, profile, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC) == 0)
		return 0;
	ag_sample_off(profile);
	return -1;
}

/*
 * Ends sampling.  Restores HotSpot's default interval, because a thread that starts later draws its
 * first gap with the JVM's interval even if no profile is running.
 */
void ag_sample_off(struct ag_alloc_profile *profile)
{
	struct sampler_slot *slot = __atomic_load_n(&sampler.current, __ATOMIC_ACQUIRE);
	jvmtiEnv *ti = profile->ti;

	/* The two calls of JVMTI in this function fail only if the JVM is shutting down. */
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
					      NULL);
	__atomic_store_n(&sampler.current, NULL, __ATOMIC_RELEASE);
	AG_QUIESCE_SET(&slot->profile, NULL);
	profile->left = !ag_quiesce_wait(WORDS(slot), profile->own, OFF_MS);
	(void)(*ti)->SetHeapSamplingInterval(ti, (jint)1 << FIRST_LOG2);
	ag_quiesce_release(&slot->taken);
}
