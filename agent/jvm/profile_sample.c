/* Built for speed: it runs on the application's threads. */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include <poll.h>

#include "jvm/profile_state.h"
#include "jvm/trace_state.h"

#ifndef AG_PROFILE_OFF_MS /* tests are less patient */
#define AG_PROFILE_OFF_MS 3000
#endif
#define SECOND UINT64_C(1000000000)

/* Chosen intervals, as powers of two, and what they are chosen for. */
#define FIRST_LOG2 19 /* HotSpot's own at its start, and so of each thread's first gap */
#define LEAST_LOG2 12
#define PER_SECOND 1000
#define BURST 2000 /* so many, and no tick yet: it is made longer at once */

#define GAPS_LOG2 10

/*
 * Where a profile samples.  It belongs to the library and is never freed: a callback begins here,
 * also after its profile has ended.  There are several for the sake of those in which a thread
 * was suspended; only one agent of a JVM samples at a time.
 */
struct place {
	struct ag_profile *profile; /* atomic; NULL: none, or it has ended */
	uint64_t *gaps;  /* chosen intervals: by thread, the one its next gap was drawn with */
	uint32_t log2;   /* atomic: the interval that is chosen; 0: it is wanted so */
	uint32_t burst;  /* atomic: samples since the last tick */
	uint32_t taken;  /* atomic */
	int64_t tick_ns;
	uint64_t tick_samples;
	struct {
		uint64_t n; /* callbacks that are there now */
	} __attribute__((aligned(AG_LINE))) present[AG_PRESENCE_SHARDS];
};
#define PLACES 4
static struct place places[PLACES];
static struct place *sampling; /* atomic */

/* What a sample stands for */

/*
 * 1 - exp(-x), x >= 0, without libm: by its series where that is short, from there by
 * 1 - exp(-2x) = p (2 - p), so that nothing is lost by subtraction.
 */
static double one_minus_exp(double x)
{
	unsigned doublings = 0;
	double p;

	if (x > 64)
		return 1;
	for (; x > 0.125; x /= 2)
		doublings++;
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

/* Intervals */

/* Whoever sets it last sets what is chosen last. */
static void set_chosen(struct place *place, jvmtiEnv *ti, struct ag_profile *profile)
{
	uint32_t log2;

	do {
		log2 = __atomic_load_n(&place->log2, __ATOMIC_SEQ_CST);
		(void)(*ti)->SetHeapSamplingInterval(ti, (jint)1 << log2); /* known to work */
		__atomic_store_n(&profile->interval, UINT64_C(1) << log2, __ATOMIC_RELAXED);
	} while (log2 != __atomic_load_n(&place->log2, __ATOMIC_SEQ_CST));
}

/*
 * The interval that this sample was drawn with: HotSpot draws a gap when the one before has ended.
 * A thread that was not seen yet drew with the one there was when it started, which is not known:
 * with the present one, what a thread that is older allocated until now counts for less.
 */
static uint64_t drawn_with(struct place *place, const struct ag_profile *profile, JNIEnv *jni)
{
	uint32_t log2 = __atomic_load_n(&place->log2, __ATOMIC_RELAXED);
	uint64_t own = (uint64_t)(uintptr_t)jni << 8, was;

	if (log2 == 0)
		return profile->interval;
	was = __atomic_exchange_n(&place->gaps[ag_shard(jni, GAPS_LOG2)], own | log2,
				  __ATOMIC_RELAXED);
	return UINT64_C(1) << ((was ^ own) < 256 ? was & 255 : log2);
}

/* After a rest a thread may allocate so much that a second of it would be far too long. */
static void curb(struct place *place, jvmtiEnv *ti, struct ag_profile *profile)
{
	uint32_t log2 = __atomic_load_n(&place->log2, __ATOMIC_RELAXED);

	if (log2 == 0 || log2 >= FIRST_LOG2 ||
	    __atomic_add_fetch(&place->burst, 1, __ATOMIC_RELAXED) % BURST != 0)
		return;
	if (__atomic_compare_exchange_n(&place->log2, &log2, log2 + 1, false, __ATOMIC_SEQ_CST,
					__ATOMIC_RELAXED))
		set_chosen(place, ti, profile);
}

void ag_sample_tick(struct ag_profile *profile)
{
	struct place *place = __atomic_load_n(&sampling, __ATOMIC_ACQUIRE);
	uint64_t samples = __atomic_load_n(&profile->samples, __ATOMIC_RELAXED), rate;
	int64_t now = ag_now_ns();
	uint32_t log2, was;

	if (!place || place->profile != profile || now - place->tick_ns < (int64_t)(SECOND / 10))
		return;
	log2 = was = __atomic_load_n(&place->log2, __ATOMIC_SEQ_CST);
	if (log2 == 0)
		return;
	rate = (samples - place->tick_samples) * SECOND / (uint64_t)(now - place->tick_ns);
	place->tick_ns = now;
	place->tick_samples = samples;
	__atomic_store_n(&place->burst, 0, __ATOMIC_RELAXED);
	for (; rate > PER_SECOND && log2 < FIRST_LOG2; rate /= 2)
		log2++;
	for (; rate * 2 <= PER_SECOND && log2 > LEAST_LOG2; rate = rate ? rate * 2 : 1)
		log2--;
	if (log2 != was && __atomic_compare_exchange_n(&place->log2, &was, log2, false,
						       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		set_chosen(place, profile->ti, profile);
}

/* Samples */

static void drop(struct ag_profile *profile)
{
	(void)__atomic_fetch_add(&profile->dropped, 1, __ATOMIC_RELAXED);
}

static uint32_t site_of(struct ag_profile *profile, JNIEnv *jni, jthread thread, jclass class)
{
	jvmtiFrameInfo frames[WIRE_ALLOC_DEPTH];
	jvmtiEnv *ti = profile->ti;
	jint hash, n = 0;
	uint32_t kind;

	if ((*ti)->GetObjectHashCode(ti, class, &hash) != JVMTI_ERROR_NONE)
		return AG_SITE_NONE;
	kind = ag_kinds_of(profile->kinds, ti, jni, class, hash, NULL);
	if (kind == AG_KIND_NONE)
		return AG_SITE_NONE;
	/* Never NULL: JDK 19 to 24 would have all virtual threads stand still. */
	if (thread && (*ti)->GetStackTrace(ti, thread, 0, (jint)profile->wanted.depth, frames,
					   &n) != JVMTI_ERROR_NONE)
		n = 0; /* a thread that is ending: its objects count all the same */
	return ag_sites_find(&profile->sites, kind, frames, (uint32_t)n);
}

static void take_sample(struct place *place, struct ag_profile *profile, JNIEnv *jni,
			jthread thread, jobject object, jclass class, uint64_t size)
{
	uint64_t interval = drawn_with(place, profile, jni);
	uint32_t site = site_of(profile, jni, thread, class);
	struct ag_weight weight = ag_sample_weight(size, interval);

	curb(place, profile->ti, profile);
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

/*
 * None of the calls in here makes a Java object, so it is not called again from within.  What is
 * added here and what ag_sample_off() sets are ordered with what either then looks at.
 */
static void JNICALL on_sample(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
			      jclass class, jlong size)
{
	struct place *place = __atomic_load_n(&sampling, __ATOMIC_ACQUIRE);
	struct ag_profile *profile;
	uint64_t *present;

	if (!place)
		return;
	present = &place->present[ag_shard(jni, 4)].n;
	(void)__atomic_fetch_add(present, 1, __ATOMIC_SEQ_CST);
	profile = __atomic_load_n(&place->profile, __ATOMIC_SEQ_CST);
	if (profile && profile->ti == ti && profile->own != jni)
		take_sample(place, profile, jni, thread, object, class, (uint64_t)size);
	(void)__atomic_fetch_sub(present, 1, __ATOMIC_RELEASE);
}

/* On and off */

static bool is_busy(const struct place *place)
{
	for (unsigned i = 0; i < AG_PRESENCE_SHARDS; i++) {
		if (__atomic_load_n(&place->present[i].n, __ATOMIC_SEQ_CST))
			return true;
	}
	return false;
}

/*
 * By the profile's own thread.  While the JVM stands still, so does who is in a callback: that time
 * does not count, since any call of JNI waits as well.
 */
static bool is_left_idle(const struct place *place, JNIEnv *own)
{
	for (int ms = 0; ms < AG_PROFILE_OFF_MS && is_busy(place); ms++) {
		(void)poll(NULL, 0, 1);
		(void)(*own)->ExceptionCheck(own);
	}
	return !is_busy(place);
}

static struct place *take_place(struct ag_jvm *jvm)
{
	for (unsigned i = 0; i < PLACES; i++) {
		uint32_t was = 0;

		if (!is_busy(&places[i]) &&
		    __atomic_compare_exchange_n(&places[i].taken, &was, 1, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &places[i];
	}
	(void)ag_fail(jvm, "sample allocations", "threads are suspended in former samples");
	return NULL;
}

/* Solo: HotSpot gives it to one environment at a time. */
static int add_capability(struct ag_jvm *jvm, struct ag_profile *profile)
{
	const jvmtiCapabilities capabilities = { .can_generate_sampled_object_alloc_events = 1 };
	int release = ag_ti_release(jvm);
	jvmtiError code = JVMTI_ERROR_NOT_AVAILABLE;

	if (release < 0)
		return -1;
	if (release >= 11)
		code = (*profile->ti)->AddCapabilities(profile->ti, &capabilities);
	if (ag_ti_check(jvm, "AddCapabilities", code) == 0)
		return 0;
	if (code == JVMTI_ERROR_NOT_AVAILABLE)
		jvm->err.why = release >= 11 ? "another agent samples this JVM's allocations" :
					       "sampling needs JDK 11 or later";
	return -1;
}

static int set_interval(struct ag_jvm *jvm, struct ag_profile *profile, struct place *place)
{
	jvmtiEnv *ti = profile->ti;

	if (profile->wanted.interval > INT32_MAX)
		profile->wanted.interval = INT32_MAX; /* HotSpot takes no more */
	profile->interval = profile->wanted.interval;
	place->log2 = 0;
	if (profile->interval == 0) {
		place->gaps = ag_arena_take(&profile->arena, sizeof(*place->gaps) << GAPS_LOG2);
		if (!place->gaps)
			return ag_fail(jvm, "sample allocations", "so little memory is not enough");
		profile->interval = UINT64_C(1) << FIRST_LOG2;
		place->log2 = FIRST_LOG2;
	}
	place->tick_ns = ag_now_ns();
	place->tick_samples = 0;
	place->burst = 0;
	return ag_ti_check(jvm, "SetHeapSamplingInterval",
			   (*ti)->SetHeapSamplingInterval(ti, (jint)profile->interval));
}

int ag_sample_on(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct place *place = NULL;

	if (add_capability(jvm, profile) == 0)
		place = take_place(jvm);
	if (!place)
		return -1;
	if (set_interval(jvm, profile, place) != 0) {
		__atomic_store_n(&place->taken, 0, __ATOMIC_RELEASE);
		return -1;
	}
	profile->callbacks.SampledObjectAlloc = on_sample;
	__atomic_store_n(&place->profile, profile, __ATOMIC_SEQ_CST);
	__atomic_store_n(&sampling, place, __ATOMIC_RELEASE);
	if (ag_profile_listen(jvm, profile, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC) == 0)
		return 0;
	ag_sample_off(profile);
	return -1;
}

/*
 * Threads draw their first gap when they start, also without a profile: the interval is set back
 * to what it is in a JVM that nobody has sampled.
 */
void ag_sample_off(struct ag_profile *profile)
{
	struct place *place = __atomic_load_n(&sampling, __ATOMIC_ACQUIRE);
	jvmtiEnv *ti = profile->ti;

	/* Both fail only if the JVM is leaving. */
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
					      NULL);
	__atomic_store_n(&sampling, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&place->profile, NULL, __ATOMIC_SEQ_CST);
	profile->left = !is_left_idle(place, profile->own);
	(void)(*ti)->SetHeapSamplingInterval(ti, (jint)1 << FIRST_LOG2);
	/* Taken again when nobody is there any more. */
	__atomic_store_n(&place->taken, 0, __ATOMIC_RELEASE);
}
