/*
 * What the code of a class becomes.
 *
 * Runs on any thread, in the middle of loading: memory is not counted as the session's, and the
 * only calls of the JVM are for the memory of the new bytes and about the loader.
 */
#include <string.h>

#include "base/hash.h"
#include "classfile/inject_sites.h"
#include "jvm/profile_weave.h"

#define BUDGET ((size_t)64 << 20) /* for one class */

/* One class file that is looked at, or instrumented. */
struct code {
	struct ag_weaving *w;
	struct ag_mem mem;
	bool look;
	bool wanted; /* out: it has a place that is */
};

/* What walks stacks from within these would wait for itself: see trace.c. */
static bool is_taboo(const char *name)
{
	return strcmp(name, "java/lang/VirtualThread") == 0 ||
	       strcmp(name, "jdk/internal/vm/Continuation") == 0;
}

/* With globs only: of several dimensions, any may be wanted. */
static bool is_wanted(const struct code *code, const char *signature, size_t len, bool inner)
{
	do {
		if (ag_exact_wants(code->w->profile, signature, len))
			return true;
		signature++;
		len--;
	} while (inner && len > 1 && *signature == '[');
	return false;
}

/* "[[La/b/C;" in `to`; its length.  Room is for the element and dimensions + 2. */
static size_t make_signature(const struct cf_site *site, char *to)
{
	char *at = to;

	for (uint32_t i = 0; i < site->dimensions; i++)
		*at++ = '[';
	if (site->primitive) {
		*at++ = site->primitive;
		return (size_t)(at - to);
	}
	if (site->element.len > 0 && *site->element.data == '[') {
		memcpy(at, site->element.data, site->element.len);
		return (size_t)(at - to) + site->element.len;
	}
	*at++ = 'L';
	memcpy(at, site->element.data, site->element.len);
	at += site->element.len;
	*at++ = ';';
	return (size_t)(at - to);
}

static enum ag_place_kind place_of(enum cf_site_kind kind)
{
	switch (kind) {
	case CF_SITE_ARRAY:
		return AG_PLACE_ARRAY;
	case CF_SITE_ARRAYS:
		return AG_PLACE_ARRAYS;
	case CF_SITE_CLONE:
		return AG_PLACE_CLONE;
	case CF_SITE_CLONE_SPECIAL:
		return AG_PLACE_CLONE_SPECIAL;
	case CF_SITE_RESULT:
		break;
	}
	return AG_PLACE_RESULT;
}

static uint32_t place(struct code *code, const struct cf_site *site, const char *signature,
		      size_t len)
{
	bool inner = site->kind == CF_SITE_ARRAYS;

	if (signature && code->w->profile->wanted.n_globs > 0 &&
	    !is_wanted(code, signature, len, inner))
		return 0;
	code->wanted = true;
	if (code->look)
		return 0;
	return ag_hooks_place(code->w->profile->exact, place_of(site->kind), signature, len,
			      site->owner.data, site->owner.len);
}

static uint32_t place_array(struct code *code, const struct cf_site *site)
{
	char *signature = ag_alloc(&code->mem, site->dimensions + site->element.len + 2, 1);
	uint32_t id = 0;

	if (signature)
		id = place(code, site, signature, make_signature(site, signature));
	ag_free(&code->mem, signature);
	return id;
}

static uint32_t id_of(void *arg, const struct cf_site *site)
{
	struct code *code = arg;

	if (site->kind == CF_SITE_ARRAY || site->kind == CF_SITE_ARRAYS)
		return place_array(code, site);
	/* arrays' clone() says whose; what else is called may return anything */
	if (site->owner.len > 0 && *site->owner.data == '[' &&
	    code->w->profile->wanted.n_globs > 0 &&
	    !is_wanted(code, site->owner.data, site->owner.len, false))
		return 0;
	return place(code, site, NULL, 0);
}

/* Of a method; the others of its class have hooks. */
static const char *refusal(enum cf_refusal why)
{
	switch (why) {
	case CF_TOO_LONG:
		return "a method would be longer than 65535 bytes";
	case CF_FAR_JUMP:
		return "a method has a jump that would be too far";
	case CF_TOO_MANY:
		return "a method would have more than 65535 variables, handlers or frames";
	default:
		return "a method has code that makes no sense";
	}
}

/* Strings that C2 would make by itself, with what they consist of. */
static bool wants_strings(const struct ag_profile *profile)
{
	return profile->wanted.n_globs == 0 || ag_exact_wants(profile, "Ljava/lang/String;", 18) ||
	       ag_exact_wants(profile, "[B", 2) || ag_exact_wants(profile, "[C", 2);
}

static enum ag_woven instrument(struct code *code, const struct ag_weave_call *call,
				const struct cf_class *file, bool tell)
{
	struct cf_sites sites = {
		.id = id_of, .arg = code,
		.made = __atomic_load_n(&code->w->object, __ATOMIC_SEQ_CST) != 0,
		.strings = wants_strings(code->w->profile),
		.sun_unsafe = code->w->sun_unsafe,
	};
	struct cf_output out = { .mem = &code->mem };
	const char *why = cf_inject_sites(file, code->w->hooks, &sites, &out);
	enum ag_woven woven = AG_WOVEN_NOTHING;

	code->wanted |= sites.kept > 0;
	if (tell && why)
		ag_weaving_reason(code->w, why, 1);
	if (tell && sites.refused > 0)
		ag_weaving_reason(code->w, refusal(sites.why), 1);
	if (!why && out.len > 0 && !code->look)
		woven = ag_weave_hand_on(call, out.data, out.len) ? AG_WOVEN_DONE
								  : AG_WOVEN_NO_MEMORY;
	cf_output_release(&out);
	return woven;
}

static enum ag_woven weave_code(const struct ag_weave_call *call, bool tell)
{
	struct code code = {
		.w = (struct ag_weaving *)call->weave, .mem = { .budget = BUDGET },
	};
	enum ag_woven woven = AG_WOVEN_NOTHING;
	struct cf_class file;
	const char *why;

	if (is_taboo(call->name))
		return AG_WOVEN_NOTHING;
	why = cf_open(&file, call->bytes, call->len, &code.mem);
	if (why) {
		if (tell)
			ag_weaving_reason(code.w, why, 1);
		return AG_WOVEN_NOTHING;
	}
	if (strcmp(call->name, "java/lang/Object") == 0 || cf_has_sites(&file))
		woven = instrument(&code, call, &file, tell);
	cf_release(&file);
	return woven;
}

static enum ag_woven weave(const struct ag_weave_call *call, uint32_t index, bool own)
{
	struct ag_weave_class *class = ag_weave_class(call->weave, index);
	bool tell = own && !(class->note & AG_WEAVING_TOLD);

	if (own)
		class->note |= AG_WEAVING_TOLD;
	return weave_code(call, tell);
}

/* Without globs each place is wanted, and the instructions alone tell. */
static enum ag_woven look(const struct ag_weave_call *call, uint32_t index)
{
	struct code code = {
		.w = (struct ag_weaving *)call->weave, .mem = { .budget = BUDGET }, .look = true,
	};
	struct cf_class file;
	const char *why;

	(void)index;
	if (is_taboo(call->name))
		return AG_WOVEN_NOTHING;
	why = cf_open(&file, call->bytes, call->len, &code.mem);
	if (why) {
		ag_weaving_reason(code.w, why, 1);
		return AG_WOVEN_NOTHING;
	}
	if (cf_has_sites(&file)) {
		code.wanted = code.w->profile->wanted.n_globs == 0;
		if (!code.wanted)
			(void)instrument(&code, call, &file, false);
	}
	cf_release(&file);
	return code.wanted ? AG_WOVEN_DONE : AG_WOVEN_NOTHING;
}

/* A class that is loaded, or one that got its hooks so and is retransformed by somebody else. */
static void untagged(const struct ag_weave_call *call)
{
	struct ag_weaving *w = (struct ag_weaving *)call->weave;
	uint32_t i;

	if (!__atomic_load_n(&w->on, __ATOMIC_SEQ_CST))
		return;
	if (!ag_weaving_sees(w, call->ti, call->jni, call->loader) ||
	    weave_code(call, true) != AG_WOVEN_DONE)
		return;
	i = __atomic_fetch_add(&w->loaded, 1, __ATOMIC_RELAXED);
	if (i < AG_WEAVING_NAMES)
		__atomic_store_n(&w->names[i], ag_hash(call->name, strlen(call->name)),
				 __ATOMIC_RELAXED);
	__atomic_store_n(&w->loaded_ns, ag_now_ns(), __ATOMIC_RELAXED);
}

static void give_up(struct ag_weave *weave, uint32_t index, jvmtiError code)
{
	struct ag_weaving *w = (struct ag_weaving *)weave;

	(void)index;
	w->refused++;
	ag_weaving_reason(w, ag_weaving_error(code), 1);
}

const struct ag_weaver ag_profile_weaver = {
	.weave = weave, .give_up = give_up, .look = look, .untagged = untagged,
};
