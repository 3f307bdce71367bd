/*
 * Rewrites the code of a class for an exact profile.
 *
 * These functions run on any thread that loads a class.  Their memory does not count against the
 * session's budget.  They call the JVM only to allocate the new bytes, and to find out whether the
 * loader of the class finds the hooks class.
 */
#include <string.h>

#include "util/hash.h"
#include "classfile/inject/inject_sites.h"
#include "jvm/alloc/alloc_instrument.h"

#define BUDGET ((size_t)64 << 20) /* maximum memory in bytes for rewriting one class */

/* A class file that is examined or instrumented. */
struct code {
	struct ag_alloc_code *ac;
	struct ag_mem mem;
	bool look;   /* the class is only examined */
	bool wanted; /* output: the class has a site that a glob matches (no globs: any site) */
};

/*
 * Returns true for the classes in whose methods a hook would deadlock: the hook walks the stack
 * while the current thread is being mounted on its carrier (see ag_value_stack()).
 */
static bool is_excluded(const char *name)
{
	return strcmp(name, "java/lang/VirtualThread") == 0 ||
	       strcmp(name, "jdk/internal/vm/Continuation") == 0;
}

/*
 * Returns true if a glob matches the signature of a class.  If `inner` is true and the signature is
 * that of an array of arrays, such as "[[I", also returns true if a glob matches the signature of
 * an inner array, such as "[I".
 */
static bool is_wanted(const struct code *code, const char *signature, size_t len, bool inner)
{
	do {
		if (ag_exact_wants(code->ac->profile, signature, len))
			return true;
		signature++;
		len--;
	} while (inner && len > 1 && *signature == '[');
	return false;
}

/*
 * Writes the signature of a site's array, such as "[[La/b/C;".  Returns the signature's length,
 * which is at most the length of the element's name, plus the number of dimensions, plus 2.
 */
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

static enum ag_array_site_kind site_kind(enum cf_site_kind kind)
{
	switch (kind) {
	case CF_SITE_ARRAY:
		return AG_ARRAY_SITE_ARRAY;
	case CF_SITE_ARRAYS:
		return AG_ARRAY_SITE_ARRAYS;
	case CF_SITE_CLONE:
		return AG_ARRAY_SITE_CLONE;
	case CF_SITE_CLONE_SPECIAL:
		return AG_ARRAY_SITE_CLONE_SPECIAL;
	case CF_SITE_RESULT:
		break;
	}
	return AG_ARRAY_SITE_RESULT;
}

static uint32_t site_id(struct code *code, const struct cf_site *site, const char *signature,
			size_t len)
{
	bool inner = site->kind == CF_SITE_ARRAYS;

	if (signature && code->ac->profile->wanted.n_globs > 0 &&
	    !is_wanted(code, signature, len, inner))
		return 0;
	code->wanted = true;
	if (code->look)
		return 0;
	return ag_array_site_new(code->ac->profile->exact, site_kind(site->kind), signature, len,
				 site->owner.data, site->owner.len);
}

static uint32_t array_site_id(struct code *code, const struct cf_site *site)
{
	char *signature = ag_alloc(&code->mem, site->dimensions + site->element.len + 2, 1);
	uint32_t id = 0;

	if (signature)
		id = site_id(code, site, signature, make_signature(site, signature));
	ag_free(&code->mem, signature);
	return id;
}

static uint32_t id_of(void *arg, const struct cf_site *site)
{
	struct code *code = arg;

	if (site->kind == CF_SITE_ARRAY || site->kind == CF_SITE_ARRAYS)
		return array_site_id(code, site);
	/*
	 * Among method calls, the globs can exclude only calls of clone() on an array, because such
	 * a call names the class of the array.  Other methods may return objects of any class.
	 */
	if (site->owner.len > 0 && *site->owner.data == '[' &&
	    code->ac->profile->wanted.n_globs > 0 &&
	    !is_wanted(code, site->owner.data, site->owner.len, false))
		return 0;
	return site_id(code, site, NULL, 0);
}

/* Returns the text for `why`, the reason why a method with array sites gets no hooks. */
static const char *refusal(enum cf_refusal why)
{
	switch (why) {
	case CF_TOO_LONG:
		return "a method would be longer than 65535 bytes";
	case CF_FAR_JUMP:
		return "a method has a jump that would be too long";
	case CF_TOO_MANY:
		return "a method would have more than 65535 variables, handlers or frames";
	default:
		return "a method has invalid bytecode";
	}
}

/*
 * Returns true if a glob matches strings or their arrays, or if there are no globs.  Then calls of
 * StringBuilder.toString() get hooks in addition to the array sites, because C2 can otherwise
 * compile such a call into code that allocates the string and its array without running a hook.
 */
static bool wants_strings(const struct ag_alloc_profile *profile)
{
	return profile->wanted.n_globs == 0 || ag_exact_wants(profile, "Ljava/lang/String;", 18) ||
	       ag_exact_wants(profile, "[B", 2) || ag_exact_wants(profile, "[C", 2);
}

static enum ag_instrumented instrument(struct code *code, const struct ag_instrument_call *call,
				       const struct cf_class *file, bool report)
{
	struct cf_sites sites = {
		.id = id_of, .arg = code,
		.made = __atomic_load_n(&code->ac->object, __ATOMIC_SEQ_CST) != 0,
		.strings = wants_strings(code->ac->profile),
		.sun_unsafe = code->ac->sun_unsafe,
	};
	struct cf_output out = { .mem = &code->mem };
	const char *why = cf_inject_sites(file, code->ac->hooks, &sites, &out);
	enum ag_instrumented result = AG_INSTRUMENTED_NOTHING;

	code->wanted |= sites.kept > 0;
	if (report && why)
		ag_alloc_code_reason(code->ac, why, 1);
	if (report && sites.refused > 0)
		ag_alloc_code_reason(code->ac, refusal(sites.why), 1);
	if (!why && out.len > 0 && !code->look)
		result = ag_instrument_pass_through(call, out.data, out.len)
				? AG_INSTRUMENTED_DONE
				: AG_INSTRUMENTED_NO_MEMORY;
	cf_output_release(&out);
	return result;
}

static enum ag_instrumented instrument_bytes(const struct ag_instrument_call *call, bool report)
{
	struct code code = {
		.ac = (struct ag_alloc_code *)call->instrument,
		.mem = { .budget = BUDGET },
	};
	enum ag_instrumented result = AG_INSTRUMENTED_NOTHING;
	struct cf_class file;
	const char *why;

	if (is_excluded(call->name))
		return AG_INSTRUMENTED_NOTHING;
	why = cf_open(&file, call->bytes, call->len, &code.mem);
	if (why) {
		if (report)
			ag_alloc_code_reason(code.ac, why, 1);
		return AG_INSTRUMENTED_NOTHING;
	}
	if (strcmp(call->name, "java/lang/Object") == 0 || cf_has_sites(&file))
		result = instrument(&code, call, &file, report);
	cf_release(&file);
	return result;
}

static enum ag_instrumented instrument_class(const struct ag_instrument_call *call, uint32_t index,
					     bool own)
{
	struct ag_instrument_class *class = ag_instrument_class(call->instrument, index);
	bool report = own && !(class->note & AG_ALLOC_CODE_REPORTED);

	if (own)
		class->note |= AG_ALLOC_CODE_REPORTED;
	return instrument_bytes(call, report);
}

/*
 * Returns AG_INSTRUMENTED_DONE if a class has sites that a glob matches or, if there are no globs,
 * any sites; otherwise AG_INSTRUMENTED_NOTHING.
 */
static enum ag_instrumented look(const struct ag_instrument_call *call, uint32_t index)
{
	struct code code = {
		.ac = (struct ag_alloc_code *)call->instrument,
		.mem = { .budget = BUDGET },
		.look = true,
	};
	struct cf_class file;
	const char *why;

	(void)index;
	if (is_excluded(call->name))
		return AG_INSTRUMENTED_NOTHING;
	why = cf_open(&file, call->bytes, call->len, &code.mem);
	if (why) {
		ag_alloc_code_reason(code.ac, why, 1);
		return AG_INSTRUMENTED_NOTHING;
	}
	if (cf_has_sites(&file)) {
		code.wanted = code.ac->profile->wanted.n_globs == 0;
		if (!code.wanted)
			(void)instrument(&code, call, &file, false);
	}
	cf_release(&file);
	return code.wanted ? AG_INSTRUMENTED_DONE : AG_INSTRUMENTED_NOTHING;
}

/*
 * Instruments a class without a tag: a class that is being loaded, or a class that got its hooks
 * while it was loaded and is now being retransformed.
 */
static void untagged(const struct ag_instrument_call *call)
{
	struct ag_alloc_code *ac = (struct ag_alloc_code *)call->instrument;
	uint64_t key;
	uint32_t i;

	if (!__atomic_load_n(&ac->on, __ATOMIC_SEQ_CST))
		return;
	if (!ag_alloc_code_is_visible(ac, call->ti, call->jni, call->loader) ||
	    instrument_bytes(call, true) != AG_INSTRUMENTED_DONE)
		return;
	key = ag_alloc_code_key(call->ti, ag_hash(call->name, strlen(call->name)), call->loader);
	i = __atomic_fetch_add(&ac->loaded.n, 1, __ATOMIC_RELAXED);
	if (i < AG_ALLOC_CODE_KEYS)
		__atomic_store_n(&ac->loaded.keys[i], key, __ATOMIC_RELAXED);
	__atomic_store_n(&ac->loaded.last_ns, ag_now_ns(), __ATOMIC_RELAXED);
}

static void give_up(struct ag_instrument *instrument, uint32_t index, jvmtiError code)
{
	struct ag_alloc_code *ac = (struct ag_alloc_code *)instrument;

	(void)index;
	ac->refused++;
	ag_alloc_code_reason(ac, ag_alloc_code_error(code), 1);
}

const struct ag_instrumenter ag_alloc_instrumenter = {
	.instrument = instrument_class,
	.give_up = give_up,
	.look = look,
	.untagged = untagged,
};
