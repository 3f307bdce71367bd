#include "jvm/alloc/alloc_state.h"

#include <string.h>

static int open_environment(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	if ((*jvm->vm)->GetEnv(jvm->vm, (void **)&profile->ti, JVMTI_VERSION_1_1) != JNI_OK) {
		profile->ti = NULL;
		return ag_fail(jvm, "GetEnv", "no JVMTI environment");
	}
	return ag_jvmti_check(jvm, "SetEnvironmentLocalStorage",
			      (*profile->ti)->SetEnvironmentLocalStorage(profile->ti, profile));
}

/*
 * Disposes of the environment.  If a thread may still be in a hook, only relinquishes the
 * environment's capabilities instead.
 */
static void close_environment(struct ag_alloc_profile *profile)
{
	jvmtiEnv *ti = profile->ti;
	jvmtiCapabilities capabilities;

	if (!ti)
		return;
	if (!profile->left)
		(void)(*ti)->DisposeEnvironment(ti); /* fails if the JVM is shutting down */
	else if ((*ti)->GetCapabilities(ti, &capabilities) == JVMTI_ERROR_NONE)
		(void)(*ti)->RelinquishCapabilities(ti, &capabilities); /* fails at JVM exit */
}

int ag_alloc_profile_listen(struct ag_jvm *jvm, struct ag_alloc_profile *profile, jvmtiEvent event)
{
	jvmtiEnv *ti = profile->ti;

	if (ag_jvmti_check(jvm, "SetEventCallbacks",
			   (*ti)->SetEventCallbacks(ti, &profile->callbacks,
						    sizeof(profile->callbacks))) != 0)
		return -1;
	return ag_jvmti_check(jvm, "SetEventNotificationMode",
			      (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, event, NULL));
}

/* Copies the globs, which are used until the profile is freed. */
static int copy_globs(struct ag_alloc_profile *profile)
{
	uint32_t n = profile->wanted.n_globs;
	const char **globs = ag_arena_take(&profile->arena, n * sizeof(*globs));

	for (uint32_t i = 0; globs && i < n; i++) {
		size_t size = strlen(profile->wanted.globs[i]) + 1;
		char *glob = ag_arena_take(&profile->arena, size);

		if (!glob)
			return -1;
		memcpy(glob, profile->wanted.globs[i], size);
		globs[i] = glob;
	}
	profile->wanted.globs = globs;
	return globs ? 0 : -1;
}

static int prepare(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	if (ag_arena_init(&profile->arena, jvm->mem, profile->wanted.memory) != 0)
		return ag_fail_memory(jvm);
	profile->kinds = ag_alloc_classes_new(&profile->arena, &profile->globals);
	if (!profile->kinds || ag_sites_init(&profile->sites, &profile->arena) != 0 ||
	    copy_globs(profile) != 0)
		return ag_fail(jvm, "profile allocations",
			       "the memory limit is too low; allow more");
	return open_environment(jvm, profile);
}

static bool is_exact(const struct ag_alloc_profile *profile)
{
	return profile->wanted.flags & WIRE_ALLOC_EXACT;
}

static bool tracks_live(const struct ag_alloc_profile *profile)
{
	return profile->wanted.flags & WIRE_ALLOC_LIVE;
}

static int begin(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	if (tracks_live(profile) && ag_live_on(jvm, profile) != 0)
		return -1;
	return is_exact(profile) ? ag_exact_on(jvm, profile) : ag_sample_on(jvm, profile);
}

struct ag_alloc_profile *ag_alloc_profile_begin(struct ag_jvm *jvm,
						const struct ag_alloc_profile_wanted *wanted)
{
	struct ag_alloc_profile *profile = ag_jvm_alloc(jvm, 1, sizeof(*profile));
	int64_t start = ag_now_ns();

	if (!profile)
		return NULL;
	profile->wanted = *wanted;
	if (profile->wanted.depth == 0 || profile->wanted.depth > WIRE_ALLOC_DEPTH)
		profile->wanted.depth = WIRE_ALLOC_DEPTH;
	profile->own = jvm->jni;
	if (prepare(jvm, profile) != 0 || begin(jvm, profile) != 0) {
		ag_alloc_profile_free(jvm, profile);
		return NULL;
	}
	profile->began_ns = ag_now_ns();
	profile->begin_ns = (uint64_t)(profile->began_ns - start);
	return profile;
}

void ag_alloc_profile_tick(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	if (is_exact(profile))
		ag_exact_tick(jvm, profile);
	else
		ag_sample_tick(profile);
}

static int count_live(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	ag_sites_forget_live(&profile->sites);
	return ag_live_count(jvm, profile);
}

int ag_alloc_profile_end(struct ag_jvm *jvm, struct ag_alloc_profile *profile, bool live,
			 jvmtiError *code)
{
	*code = JVMTI_ERROR_NONE;
	profile->ended_ns = ag_now_ns();
	if (is_exact(profile)) {
		ag_exact_off(jvm, profile, code);
		ag_exact_merge(profile);
	} else {
		ag_sample_off(profile);
	}
	if (!tracks_live(profile))
		return 0;
	ag_live_off(profile);
	return live ? count_live(jvm, profile) : 0;
}

void ag_alloc_profile_dying(struct ag_alloc_profile *profile)
{
	profile->dying = 1;
}

int ag_alloc_profile_peek(struct ag_jvm *jvm, struct ag_alloc_profile *profile, bool live)
{
	if (is_exact(profile))
		ag_exact_merge(profile);
	return live && tracks_live(profile) ? count_live(jvm, profile) : 0;
}

void ag_alloc_profile_let_go(struct ag_alloc_profile *profile)
{
	if (profile->exact)
		ag_exact_let_go(profile->exact);
	close_environment(profile);
	if (!profile->left)
		profile->ti = NULL;
}

/*
 * Frees the profile.  If profile->left is set, does not free the memory that a suspended thread may
 * still use.
 */
void ag_alloc_profile_free(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	if (profile->exact)
		ag_exact_free(jvm, profile);
	if (profile->kinds && !profile->left)
		ag_alloc_classes_release(profile->kinds, jvm->jni);
	close_environment(profile);
	jvm->globals += __atomic_load_n(&profile->globals, __ATOMIC_RELAXED);
	if (profile->left)
		return;
	ag_arena_release(&profile->arena, jvm->mem);
	ag_free(jvm->mem, profile);
}

void ag_alloc_profile_state(const struct ag_alloc_profile *profile,
			    struct ag_alloc_profile_state *state)
{
	int64_t until = profile->ended_ns ? profile->ended_ns : ag_now_ns();

	*state = (struct ag_alloc_profile_state){
		.ns = (uint64_t)(until - profile->began_ns),
		.begin_ns = profile->begin_ns,
		.samples = __atomic_load_n(&profile->samples, __ATOMIC_RELAXED),
		.bytes = __atomic_load_n(&profile->bytes, __ATOMIC_RELAXED),
		.dropped = __atomic_load_n(&profile->dropped, __ATOMIC_RELAXED),
		.interval = __atomic_load_n(&profile->interval, __ATOMIC_RELAXED),
		.sites = ag_sites_count(&profile->sites),
		.kinds = ag_alloc_classes_count(profile->kinds),
		.collections = __atomic_load_n(&profile->collections, __ATOMIC_RELAXED),
		.depth = profile->wanted.depth,
		.live_ns = profile->live_ns,
	};
	if (profile->exact)
		ag_exact_state(profile, state);
}

const char *ag_alloc_class(const struct ag_alloc_profile *profile, uint32_t kind)
{
	return ag_alloc_classes_signature(profile->kinds, kind);
}

bool ag_alloc_site(const struct ag_alloc_profile *profile, uint32_t i, struct ag_alloc_site *site)
{
	return ag_sites_get(&profile->sites, i, site);
}

int ag_alloc_profile_notes(const struct ag_alloc_profile *profile, ag_alloc_profile_note_fn *report,
			   void *arg)
{
	uint64_t dropped = __atomic_load_n(&profile->dropped, __ATOMIC_RELAXED);
	int rc = profile->exact ? ag_exact_notes(profile, report, arg) : 0;

	return rc == 0 && dropped > 0 ? report(arg, WIRE_ALLOC_FULL, "", dropped) : rc;
}
