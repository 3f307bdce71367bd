#include "cmd/redefinition_jvm.h"

#include <string.h>

#include "cmd/attach_call.h"
#include "cmd/cds_archive.h"
#include "discover/cmdline.h"

/* Returns whether `flags` has this flag with this value. */
static bool is_set(const struct vmflags *flags, const char *name, const char *value)
{
	const struct vmflag *flag = vmflags_find(flags, name);

	return flag && strcmp(flag->value, value) == 0;
}

/*
 * Returns true if the JVM verifies no class of an application.  JDK 13 and later list the flag only
 * with -XX:+UnlockDiagnosticVMOptions; without it, only -Xverify and -noverify can change the flag
 * (arguments.cpp).
 */
static bool is_unverified(const struct jvm *jvm, const struct vmflags *flags)
{
	_cleanup_free_ char *mode = NULL;

	if (vmflags_find(flags, "BytecodeVerificationRemote"))
		return is_set(flags, "BytecodeVerificationRemote", "false");
	mode = flags_value_of_two(jvm->flags, "-Xverify:", "-noverify");
	return mode && (strcmp(mode, "none") == 0 || *mode == '\0');
}

int redefinition_jvm_ask(const struct ctx *ctx, struct redefinition_jvm *jvm, struct err *err)
{
	struct vmflags flags = { 0 };
	int rc = attach_call_flags(ctx, &flags, err);

	*jvm = (struct redefinition_jvm){
		.release = attach_call_release(ctx),
		.may_add_delete = is_set(&flags, "AllowRedefinitionToAddDeleteMethods", "true"),
		.may_preview = ctx->jvm->flags && strstr(ctx->jvm->flags, "--enable-preview"),
		.unverified = is_unverified(ctx->jvm, &flags),
	};
	if (rc == 0)
		rc = cds_archive_refuse(ctx, &flags, err);
	vmflags_release(&flags);
	return rc;
}
