#include "cmd/cds_archive.h"

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
