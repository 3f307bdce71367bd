#include "cmd/trace/trace_dry_run.h"

#include "classfile/verify/verify.h"
#include "model/class/javasig.h"

/* example of the name of the agent's hooks class; the number at its end varies */
#define HOOKS "java/jtool/Hooks1"

typedef bool verify_fn(const struct cf_class *class, struct cf_fault *fault);

/*
 * Returns the strictest verifier that accepts the original class file; NULL if no verifier accepts
 * it.  Up to JDK 17, the JVM discards the stack maps of boot classes, so a boot class that was
 * captured from such a JVM can be verified only without stack maps.
 */
static verify_fn *verifier_of(const struct cf_class *class, struct cf_fault *fault)
{
	if (!cf_check(class, fault))
		return NULL;
	if (cf_verify(class, fault))
		return cf_verify;
	*fault = (struct cf_fault){ .what = NULL };
	return cf_verify_without_maps(class, fault) ? cf_verify_without_maps : NULL;
}

static void add_fault(struct buf *why, const char *what, const struct cf_fault *fault)
{
	buf_addf(why, "%s: ", what);
	if (fault->name.data) {
		javasig_member_name(why, fault->name, fault->descriptor);
		buf_adds(why, ": ");
	}
	buf_adds(why, fault->what);
	if (fault->pc != UINT32_MAX)
		buf_addf(why, " at %u", fault->pc);
}

static int examine(const struct cf_output *out, verify_fn *verify, struct buf *why)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_fault fault = { .what = NULL };
	struct cf_class class;
	const char *broken = cf_open(&class, out->data, out->len, &mem);
	bool fine;

	if (broken) {
		buf_addf(why, "jtool's rewritten class file would be invalid: %s", broken);
		return -1;
	}
	fine = cf_check(&class, &fault) && verify(&class, &fault);
	if (!fine)
		add_fault(why, "jtool's rewritten code would be invalid", &fault);
	cf_release(&class);
	return fine ? 0 : -1;
}

int trace_dry_run(const struct cf_class *class, bool is_boot, const struct redefinition_jvm *jvm,
		  struct cf_probe *probes, size_t n, struct buf *why)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_output out = { .mem = &mem };
	struct cf_fault fault = { .what = NULL };
	verify_fn *verify = verifier_of(class, &fault);
	bool unverified = jvm->unverified || (is_boot && jvm->release <= 21);
	const char *refused;
	int rc = 0;

	if (!verify && unverified) {
		add_fault(why, "its code is invalid, and the JVM would not verify it", &fault);
		return -1;
	}
	refused = cf_inject(class, HOOKS, probes, n, &out);
	if (refused) {
		buf_adds(why, refused);
		rc = -1;
	} else if (out.len > 0 && verify) {
		rc = examine(&out, verify, why);
	}
	cf_output_release(&out);
	return rc;
}
