#include "agent/fake/fake_profile.h"

#include <stdio.h>
#include <string.h>

#include "agent/fake/jvm_transform.h"
#include "wire/frame.h"

struct ag_alloc_profile {
	void *memory;
};

struct fake_profile fake_profile;

static void meanwhile(void)
{
	if (fake_profile.turn)
		fake_profile.turn();
}

static void keep_glob(const char *glob)
{
	size_t len = strlen(fake_profile.globs);

	(void)snprintf(fake_profile.globs + len, sizeof(fake_profile.globs) - len, "%s", glob);
}

struct ag_alloc_profile *ag_alloc_profile_begin(struct ag_jvm *jvm,
						const struct ag_alloc_profile_wanted *wanted)
{
	struct ag_alloc_profile *profile = ag_jvm_alloc(jvm, 1, sizeof(*profile));
	jthread thread;

	if (!profile)
		return NULL;
	fake_profile.wanted = *wanted;
	for (uint32_t i = 0; i < wanted->n_globs; i++)
		keep_glob(wanted->globs[i]);
	profile->memory = ag_jvm_alloc(jvm, 1, wanted->memory);
	if (!profile->memory || AG_JVMTI(jvm, GetCurrentThread, &thread) != 0) {
		ag_free(jvm->mem, profile->memory);
		ag_free(jvm->mem, profile);
		return NULL;
	}
	fake_profile.open++;
	fake_profile.begun = true;
	return profile;
}

void ag_alloc_profile_tick(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	(void)jvm, (void)profile;
	fake_profile.ticks++;
	meanwhile();
}

void ag_alloc_profile_state(const struct ag_alloc_profile *profile,
			    struct ag_alloc_profile_state *state)
{
	(void)profile;
	*state = (struct ag_alloc_profile_state){
		.ns = 1,
		.begin_ns = 2,
		.samples = 3,
		.bytes = 4,
		.dropped = 5,
		.interval = 6,
		.sites = fake_profile.sites,
		.kinds = 2,
		.collections = 7,
		.hooked = 8,
		.refused = 9,
		.depth = 11,
		.live_ns = 10,
	};
	meanwhile();
}

int ag_alloc_profile_end(struct ag_jvm *jvm, struct ag_alloc_profile *profile, bool live,
			 jvmtiError *code)
{
	(void)profile;
	fake_profile.ended = true;
	fake_profile.live = live;
	*code = fake_profile.code;
	if (fake_profile.ending)
		fake_profile.ending();
	return fake_profile.live_fails && live ? ag_fail(jvm, "count", "no heap") : 0;
}

int ag_alloc_profile_peek(struct ag_jvm *jvm, struct ag_alloc_profile *profile, bool live)
{
	jthread thread;

	(void)profile;
	fake_profile.peeks++;
	fake_profile.live = live;
	if (fake_profile.peek_fails)
		return ag_fail(jvm, "look", "no heap");
	return AG_JVMTI(jvm, GetCurrentThread, &thread);
}

const char *ag_alloc_class(const struct ag_alloc_profile *profile, uint32_t kind)
{
	static const char *const kinds[] = { "[I", "Lp/A;", NULL };

	(void)profile;
	return kind < 2 ? kinds[kind] : NULL;
}

bool ag_alloc_site(const struct ag_alloc_profile *profile, uint32_t i, struct ag_alloc_site *site)
{
	static const uint64_t methods[] = {
		(uintptr_t)&fake_methods[FAKE_RUN],
		(uintptr_t)&fake_methods[FAKE_INIT],
		(uintptr_t)&fake_methods[FAKE_UNLOADED],
	};
	static uint16_t places[] = { 5, AG_NATIVE, 3 };

	(void)profile;
	if (i >= fake_profile.sites)
		return false;
	places[0] = (uint16_t)(5 + i % 50);
	*site = (struct ag_alloc_site){
		.kind = i % 2,
		.objects = i + 1,
		.bytes = 16 * (uint64_t)(i + 1),
		.samples = 1,
		.live_objects = 1,
		.live_bytes = 16,
		.methods = methods,
		.bcis = places,
		.n_frames = 3,
	};
	return true;
}

int ag_alloc_profile_notes(const struct ag_alloc_profile *profile, ag_alloc_profile_note_fn *tell,
			   void *arg)
{
	(void)profile;
	return tell(arg, WIRE_ALLOC_FULL, "", 5);
}

void ag_alloc_profile_free(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	ag_free(jvm->mem, profile->memory);
	ag_free(jvm->mem, profile);
	fake_profile.open--;
}
