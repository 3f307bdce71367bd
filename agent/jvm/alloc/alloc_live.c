/*
 * Counts live objects.  The file is compiled with optimisation for speed, because the JVM is paused
 * while live objects are counted.
 */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/alloc/alloc_state.h"

/*
 * The fields of an object's tag, from bit 0 on:
 * - the number of the allocation site;
 * - 1 + log2 of the sampling interval; 0: the profile is exact;
 * - the number of collections before the object was allocated.
 * MARKED is set in every tag, because JVMTI regards an object with the tag 0 as untagged.
 */
#define INTERVAL_BITS 6
#define AGE_SHIFT (AG_SITES_BITS + INTERVAL_BITS)
#define MARKED (INT64_C(1) << 62)
#define REACHED (INT64_C(1) << 61) /* on_reference() has counted the object already */
_Static_assert(AGE_SHIFT + 32 <= 61, "a tag has room for all collections");

/*
 * Encodes an interval as 1 + log2 of the interval, rounded down.  Nothing is lost: an interval that
 * the agent chooses is a power of two, and an interval that the client requests never changes, so
 * decode_interval() takes it from the profile.
 */
static uint32_t encode_interval(uint64_t interval)
{
	return interval ? 64 - (uint32_t)__builtin_clzll(interval) : 0;
}

static uint64_t decode_interval(const struct ag_alloc_profile *profile, uint32_t interval_code)
{
	if (profile->wanted.interval)
		return profile->wanted.interval;
	return UINT64_C(1) << (interval_code - 1);
}

void ag_live_mark(struct ag_alloc_profile *profile, jobject object, uint32_t site,
		  uint64_t interval)
{
	uint64_t collections = __atomic_load_n(&profile->collections, __ATOMIC_RELAXED);
	jlong tag = (jlong)(collections << AGE_SHIFT |
			    (uint64_t)encode_interval(interval) << AG_SITES_BITS | site) | MARKED;

	/* If SetTag has no memory, the object does not count as live. */
	if ((*profile->ti)->SetTag(profile->ti, object, tag) != JVMTI_ERROR_NONE)
		(void)__atomic_fetch_add(&profile->dropped, 1, __ATOMIC_RELAXED);
}

/*
 * Counts a collection.  Runs at a safepoint, where JNI and most JVMTI functions are forbidden.
 * HotSpot sends this event for each pause of a collector: most collections have one pause, but a
 * cycle of ZGC or Shenandoah has 2 to 8 (JDK 25, 27).
 */
static void JNICALL on_collected(jvmtiEnv *ti)
{
	struct ag_alloc_profile *profile = NULL;

	if ((*ti)->GetEnvironmentLocalStorage(ti, (void **)&profile) != JVMTI_ERROR_NONE ||
	    !profile || __atomic_load_n(&profile->forcing, __ATOMIC_RELAXED))
		return;
	(void)__atomic_fetch_add(&profile->collections, 1, __ATOMIC_RELAXED);
}

int ag_live_on(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	const jvmtiCapabilities capabilities = {
		.can_tag_objects = 1,
		.can_generate_garbage_collection_events = 1,
	};

	if (ag_jvmti_check(jvm, "AddCapabilities",
			   (*profile->ti)->AddCapabilities(profile->ti, &capabilities)) != 0)
		return -1;
	profile->callbacks.GarbageCollectionFinish = on_collected;
	return ag_alloc_profile_listen(jvm, profile, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
}

/*
 * Ends the counting of collections.  No callback is in flight afterwards, because
 * SetEventNotificationMode does not return during a collection.
 */
void ag_live_off(struct ag_alloc_profile *profile)
{
	jvmtiEnv *ti = profile->ti;

	/* This fails only if the JVM is shutting down. */
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE,
					      JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, NULL);
}

struct counting {
	struct ag_alloc_profile *profile;
	uint32_t collections; /* profile->collections when the counting begins */
};

static void count_object(const struct counting *counting, jlong tag, jlong size)
{
	struct ag_alloc_profile *profile = counting->profile;
	uint64_t bits = (uint64_t)(tag & ~(MARKED | REACHED));
	uint32_t site = (uint32_t)bits & ((UINT32_C(1) << AG_SITES_BITS) - 1);
	uint32_t interval_code = (uint32_t)(bits >> AG_SITES_BITS) & ((1 << INTERVAL_BITS) - 1);
	uint32_t before = (uint32_t)(bits >> AGE_SHIFT);
	struct ag_weight weight = { 256, (uint64_t)size };

	/*
	 * The number of collections in the tag may exceed counting->collections: a collection may
	 * have ended after counting->collections was set, and a thread may have tagged the object
	 * after that collection.
	 */
	if (before > counting->collections)
		before = counting->collections;
	if (counting->collections - before < profile->wanted.age)
		return;
	if (interval_code)
		weight = ag_sample_weight((uint64_t)size, decode_interval(profile, interval_code));
	ag_sites_add_live(&profile->sites, site, weight.objects_256, weight.bytes);
}

static jint JNICALL on_object(jlong class_tag, jlong size, jlong *tag, jint length, void *user)
{
	(void)class_tag, (void)length;
	count_object(user, *tag, size);
	return 0;
}

/* Counts an object when the first reference to it is reported. */
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

/* Forces a collection, which on_collected() does not count. */
static int collect(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	jvmtiEnv *ti = profile->ti;
	int rc;

	__atomic_store_n(&profile->forcing, 1, __ATOMIC_RELAXED);
	rc = ag_jvmti_check(jvm, "ForceGarbageCollection", (*ti)->ForceGarbageCollection(ti));
	__atomic_store_n(&profile->forcing, 0, __ATOMIC_RELAXED);
	return rc;
}

static int count_reached(struct ag_jvm *jvm, struct counting *counting)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_reference_callback = on_reference };
	jvmtiEnv *ti = counting->profile->ti;

	return ag_jvmti_check(jvm, "FollowReferences",
			      (*ti)->FollowReferences(ti, JVMTI_HEAP_FILTER_UNTAGGED, NULL, NULL,
						      &callbacks, counting));
}

/*
 * Counts the tagged objects in the heap.  With JVMTI_HEAP_FILTER_UNTAGGED, which omits untagged
 * objects, JDK 16 and later do not deoptimise stack frames for the walk.
 */
static int count_tagged(struct ag_jvm *jvm, struct counting *counting)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_iteration_callback = on_object };
	jvmtiEnv *ti = counting->profile->ti;

	return ag_jvmti_check(jvm, "IterateThroughHeap",
			      (*ti)->IterateThroughHeap(ti, JVMTI_HEAP_FILTER_UNTAGGED, NULL,
							&callbacks, counting));
}

/*
 * Forces a collection and then counts the tagged objects, all of which are live.  If the JVM is
 * dying, follows references to find the live objects instead: HotSpot stops concurrent collectors
 * before it sends VMDeath, so with ZGC and Shenandoah a forced collection would never end.
 */
int ag_live_count(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	struct counting counting = { .profile = profile };
	int64_t start = ag_now_ns();
	int rc = profile->dying ? 0 : collect(jvm, profile);

	counting.collections = __atomic_load_n(&profile->collections, __ATOMIC_RELAXED);
	if (rc == 0)
		rc = profile->dying ? count_reached(jvm, &counting) : count_tagged(jvm, &counting);
	profile->live_ns += (uint64_t)(ag_now_ns() - start);
	return rc;
}
