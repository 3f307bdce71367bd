#include "cmd/cds_archive.h"

#include "cmd/attach_call.h"

/*
 * The first JDK that archives the classes of a running application (JEP 350).  The flags of an
 * older JDK are not checked, because it runs no application while it writes an archive
 * (-Xshare:dump).
 */
#define SINCE 13

int cds_archive_refuse(const struct ctx *ctx, const struct vmflags *flags, struct err *err)
{
	const struct vmflag *flag = vmflags_archiving(flags);
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!flag)
		return 0;
	vmflag_append_option(flag, &text);
	return err_set(err, EXIT_ANSWER,
		       "JVM %d will write an archive of its classes (%.300s), and may crash while "
		       "it does if classes were changed, even temporarily; nothing was done: start "
		       "it without that flag", (int)ctx->jvm->pid, buf_str(&text));
}

int cds_archive_check(const struct ctx *ctx, struct err *err)
{
	struct vmflags flags = { 0 };
	struct err ignored = { 0 };
	int release = jvm_feature(ctx->jvm), rc = 0;

	if (release > 0 && release < SINCE)
		return 0;
	if (attach_call_flags(ctx, &flags, &ignored) == 0)
		rc = cds_archive_refuse(ctx, &flags, err);
	vmflags_release(&flags);
	return rc;
}
