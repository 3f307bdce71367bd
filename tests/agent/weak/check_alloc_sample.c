/* Sampled profiles: the JVM has the interval that was set last; callbacks see a profile's end. */
#include "agent/weak/weak.h"
#include "jvm/alloc/alloc_sample.c"

static uint64_t memory[1 << 12] __attribute__((aligned(64)));
static struct ag_alloc_profile profile;
static struct ag_jvm jvm;
static uint64_t jvm_interval; /* in the JVM, which sets it without a barrier */

static jvmtiError JNICALL set_sampling_interval(jvmtiEnv *ti, jint interval)
{
	(void)ti;
	__atomic_store_n(&jvm_interval, (uint64_t)interval, __ATOMIC_RELAXED);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *ti, jvmtiEventMode mode, jvmtiEvent event,
				   jthread thread, ...)
{
	(void)ti, (void)mode, (void)event, (void)thread;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *capabilities)
{
	(void)ti, (void)capabilities;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL hash_code(jvmtiEnv *ti, jobject object, jint *hash)
{
	(void)ti, (void)object;
	*hash = 1;
	return JVMTI_ERROR_NONE;
}

static jboolean JNICALL nothing_pending(JNIEnv *jni)
{
	(void)jni;
	return JNI_FALSE;
}

static struct jvmtiInterface_1_ ti_table = {
	.SetHeapSamplingInterval = set_sampling_interval, .SetEventNotificationMode = set_mode,
	.AddCapabilities = add_capabilities, .GetObjectHashCode = hash_code,
};
static jvmtiEnv ti = &ti_table;
static const struct JNINativeInterface_ jni_table = { .ExceptionCheck = nothing_pending };
static JNIEnv jni = &jni_table, own = &jni_table;

int ag_jvmti_check(struct ag_jvm *j, const char *what, jvmtiError code)
{
	(void)j, (void)what;
	return code == JVMTI_ERROR_NONE ? 0 : -1;
}

int ag_jvmti_release(struct ag_jvm *j)
{
	(void)j;
	return 17;
}

int ag_alloc_profile_listen(struct ag_jvm *j, struct ag_alloc_profile *p, jvmtiEvent event)
{
	(void)j, (void)p, (void)event;
	return 0;
}

uint32_t ag_alloc_classes_of(struct ag_alloc_classes *kinds, jvmtiEnv *env, JNIEnv *thread,
			     jclass class, jint hash, bool *shared)
{
	(void)kinds, (void)env, (void)thread, (void)class, (void)hash, (void)shared;
	return 1;
}

uint32_t ag_sites_find(struct ag_sites *sites, uint32_t kind, const jvmtiFrameInfo *frames,
		       uint32_t n)
{
	(void)sites, (void)kind, (void)frames, (void)n;
	return 1;
}

void ag_sites_add(struct ag_sites *sites, uint32_t i, uint64_t objects_256, uint64_t bytes,
		  uint64_t samples)
{
	(void)sites, (void)i, (void)objects_256, (void)bytes, (void)samples;
}

void ag_live_mark(struct ag_alloc_profile *p, jobject object, uint32_t site, uint64_t interval)
{
	(void)p, (void)object, (void)site, (void)interval;
}

static void begin(void)
{
	profile = (struct ag_alloc_profile){ .ti = &ti, .own = &own };
	profile.arena = (struct ag_arena){ .base = (uint8_t *)memory, .size = sizeof(memory) };
	WEAK_CHECK(ag_sample_on(&jvm, &profile) == 0);
}

/* A sample and a tick both lengthen the interval. */
static void begin_too_many(void)
{
	begin();
	sampler.current->log2 = 15;
	sampler.current->burst = BURST - 1;
	sampler.current->tick_ns -= SECOND;
	profile.samples = 3 * PER_SECOND / 2;
}

static void sample(void)
{
	on_sample(&ti, &jni, NULL, NULL, NULL, 24);
}

static void tick(void)
{
	ag_sample_tick(&profile);
}

static void interval_is_chosen(void)
{
	const struct sampler_slot *slot = sampler.current;

	WEAK_CHECK(slot->log2 > 15 && jvm_interval == UINT64_C(1) << slot->log2);
	WEAK_CHECK(profile.interval == jvm_interval);
}

/* Ends the profile.  The stores are a data race if a callback can still be in flight. */
static void end(void)
{
	ag_sample_off(&profile);
	if (profile.left)
		return;
	weak_plain_store(&profile.samples, sizeof(profile.samples));
	weak_plain_store(&profile.wanted, sizeof(profile.wanted));
}

/* Begins the next profile in the slot, where a callback of the earlier one may be late. */
static void end_and_begin(void)
{
	end();
	if (!profile.left)
		begin();
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "the JVM has the interval that is chosen last", { sample, tick },
		  begin_too_many, interval_is_chosen },
		{ "memory outlives the callbacks", { sample, end }, begin, NULL },
		{ "a callback sees the next profile complete", { sample, end_and_begin }, begin,
		  NULL },
		{ 0 },
	};

	static const char fences[] = "the fences of set_chosen() order what depends on it";
	static const char published[] = "slots are static, and slot->profile publishes the rest";
	static const struct weak_excuse excuses[] = {
		{ "set_chosen load &slot->log2: seq_cst", fences },
		{ "lengthen compare &slot->log2: seq_cst", fences },
		{ "ag_sample_tick compare &slot->log2: seq_cst", fences },
		{ "ag_sample_tick load &slot->log2: seq_cst", fences },
		{ "ag_sample_tick load &sampler.current: acquire", published },
		{ "ag_sample_off load &sampler.current: acquire", published },
		{ "ag_sample_off store &sampler.current: release", published },
		{ "ag_sample_on store &sampler.current: release", published },
		{ "on_sample load &sampler.current: acquire", published },
		{ "ag_sample_on store (&slot->profile): seq_cst",
		  "only the store that withdraws needs it; see quiesce.h" },
		{ "ag_quiesce_release store taken: release", "check_quiesce.c" },
		{ "ag_quiesce_claim compare taken: acquire", "check_quiesce.c" },
		{ 0 },
	};

	return weak_run(tests, excuses);
}
