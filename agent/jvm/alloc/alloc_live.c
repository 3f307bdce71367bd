/* Built for speed: the JVM stands still meanwhile. */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/profile_state.h"

/*
 * A tag: the site, 1 + log2 of the interval (0: not sampled), the collections before, and a bit so
 * that none is 0, which is no tag.  None is negative.
 */
#define DRAWN_BITS 6
#define AGE_SHIFT (AG_SITES_BITS + DRAWN_BITS)
#define MARKED (INT64_C(1) << 62)
#define REACHED (INT64_C(1) << 61) /* and counted */
_Static_assert(AGE_SHIFT + 32 <= 61, "a tag has room for all collections");

/* Intervals that are chosen are powers of two; another one is the same all the time. */
static uint32_t drawn_of(uint64_t interval)
{
	return interval ? 64 - (uint32_t)__builtin_clzll(interval) : 0;
}

static uint64_t interval_of(const struct ag_profile *profile, uint32_t drawn)
{
	if (profile->wanted.interval)
		return profile->wanted.interval;
	return UINT64_C(1) << (drawn - 1);
}

void ag_live_mark(struct ag_profile *profile, jobject object, uint32_t site, uint64_t interval)
{
	uint64_t collections = __atomic_load_n(&profile->collections, __ATOMIC_RELAXED);
	jlong tag = (jlong)(collections << AGE_SHIFT |
			    (uint64_t)drawn_of(interval) << AG_SITES_BITS | site) | MARKED;

	/* Without memory for it the object is not among the live ones. */
	if ((*profile->ti)->SetTag(profile->ti, object, tag) != JVMTI_ERROR_NONE)
		(void)__atomic_fetch_add(&profile->dropped, 1, __ATOMIC_RELAXED);
}

/* Collections */

/*
 * At a safepoint: no JNI, and no JVMTI but this.  HotSpot tells of each pause: one a collection,
 * but of ZGC's and Shenandoah's cycles 2 to 8 (JDK 25, 27).
 */
static void JNICALL on_collected(jvmtiEnv *ti)
{
	struct ag_profile *profile = NULL;

	if ((*ti)->GetEnvironmentLocalStorage(ti, (void **)&profile) != JVMTI_ERROR_NONE ||
	    !profile || __atomic_load_n(&profile->forcing, __ATOMIC_RELAXED))
		return;
	(void)__atomic_fetch_add(&profile->collections, 1, __ATOMIC_RELAXED);
}

int ag_live_on(struct ag_jvm *jvm, struct ag_profile *profile)
{
	const jvmtiCapabilities capabilities = {
		.can_tag_objects = 1,
		.can_generate_garbage_collection_events = 1,
	};

	if (ag_ti_check(jvm, "AddCapabilities",
			(*profile->ti)->AddCapabilities(profile->ti, &capabilities)) != 0)
		return -1;
	profile->callbacks.GarbageCollectionFinish = on_collected;
	return ag_profile_listen(jvm, profile, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
}

/* The JVM does not come back from this in the middle of a collection: nobody is in there then. */
void ag_live_off(struct ag_profile *profile)
{
	jvmtiEnv *ti = profile->ti;

	/* It fails if the JVM is leaving. */
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE,
					      JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, NULL);
}

/* Counting */

struct counting {
	struct ag_profile *profile;
	uint32_t collections; /* until now */
};

static void count_object(const struct counting *counting, jlong tag, jlong size)
{
	struct ag_profile *profile = counting->profile;
	uint64_t bits = (uint64_t)(tag & ~(MARKED | REACHED));
	uint32_t site = (uint32_t)bits & ((UINT32_C(1) << AG_SITES_BITS) - 1);
	uint32_t drawn = (uint32_t)(bits >> AG_SITES_BITS) & ((1 << DRAWN_BITS) - 1);
	uint32_t before = (uint32_t)(bits >> AGE_SHIFT);
	struct ag_weight weight = { 256, (uint64_t)size };

	/* A profile that goes on marks new ones, maybe after one more collection. */
	if (before > counting->collections)
		before = counting->collections;
	if (counting->collections - before < profile->wanted.age)
		return;
	if (drawn)
		weight = ag_sample_weight((uint64_t)size, interval_of(profile, drawn));
	ag_sites_add_live(&profile->sites, site, weight.objects_256, weight.bytes);
}

static jint JNICALL on_object(jlong class_tag, jlong size, jlong *tag, jint length, void *user)
{
	(void)class_tag, (void)length;
	count_object(user, *tag, size);
	return 0;
}

/* Once for each reference to it */
static jint JNICALL on_reference(jvmtiHeapReferenceKind kind,
				 const jvmtiHeapReferenceInfo *info, jlong class_tag,
				 jlong referrer_class_tag, jlong size, jlong *tag,
				 jlong *referrer_tag, jint length, void *user)
{
	(void)kind, (void)info, (void)class_tag, (void)referrer_class_tag;
	(void)referrer_tag, (void)length;
	if (!(*tag & REACHED)) {
		*tag |= REACHED;
		count_object(user, *tag, size);
	}
	return JVMTI_VISIT_OBJECTS;
}

/* What a collection of the profile's own leaves has survived nothing by that. */
static int collect(struct ag_jvm *jvm, struct ag_profile *profile)
{
	jvmtiEnv *ti = profile->ti;
	int rc;

	__atomic_store_n(&profile->forcing, 1, __ATOMIC_RELAXED);
	rc = ag_ti_check(jvm, "ForceGarbageCollection", (*ti)->ForceGarbageCollection(ti));
	__atomic_store_n(&profile->forcing, 0, __ATOMIC_RELAXED);
	return rc;
}

static int count_reached(struct ag_jvm *jvm, struct counting *counting)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_reference_callback = on_reference };
	jvmtiEnv *ti = counting->profile->ti;

	return ag_ti_check(jvm, "FollowReferences",
			   (*ti)->FollowReferences(ti, JVMTI_HEAP_FILTER_UNTAGGED, NULL, NULL,
						   &callbacks, counting));
}

/* With this filter JDK 16 and later leave optimised frames alone. */
static int count_left(struct ag_jvm *jvm, struct counting *counting)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_iteration_callback = on_object };
	jvmtiEnv *ti = counting->profile->ti;

	return ag_ti_check(jvm, "IterateThroughHeap",
			   (*ti)->IterateThroughHeap(ti, JVMTI_HEAP_FILTER_UNTAGGED, NULL,
						     &callbacks, counting));
}

/*
 * Before VMDeath HotSpot stops the threads of concurrent collectors: ZGC and Shenandoah would
 * let a forced collection wait for ever.
 */
int ag_live_count(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct counting counting = { .profile = profile };
	int64_t start = ag_now_ns();
	int rc = profile->dying ? 0 : collect(jvm, profile);

	counting.collections = __atomic_load_n(&profile->collections, __ATOMIC_RELAXED);
	if (rc == 0)
		rc = profile->dying ? count_reached(jvm, &counting) : count_left(jvm, &counting);
	profile->live_ns += (uint64_t)(ag_now_ns() - start);
	return rc;
}
