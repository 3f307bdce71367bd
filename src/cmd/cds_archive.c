#include "cmd/archiving.h"

#include "cmd/answer.h"

#define SINCE 13 /* JEP 350; JDK 12 and earlier write an archive instead of running */

int archiving_refuse(const struct ctx *ctx, const struct vmflags *flags, struct err *err)
{
	const struct vmflag *flag = vmflags_archiving(flags);
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!flag)
		return 0;
	vmflag_spell(flag, &text);
	return err_set(err, EXIT_ANSWER,
		       "JVM %d will write an archive of its classes (%.300s), and may crash then "
		       "if some were changed, if only for a while; nothing was done: start it "
		       "without that flag",
		       (int)ctx->jvm->pid, buf_str(&text));
}

int archiving_check(const struct ctx *ctx, struct err *err)
{
	struct vmflags flags = { 0 };
	struct err ignored = { 0 };
	int release = jvm_feature(ctx->jvm), rc = 0;

	if (release > 0 && release < SINCE)
		return 0;
	if (answer_flags(ctx, &flags, &ignored) == 0)
		rc = archiving_refuse(ctx, &flags, err);
	vmflags_release(&flags);
	return rc;
}
