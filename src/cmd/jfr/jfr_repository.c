/*
 * jfr: room in the JVM's repository, the directory where a recording lies while it runs.
 */
#include <sys/statvfs.h>

#include "base/xalloc.h"
#include "cmd/jfr.h"
#include "target/cmdline.h"
#include "target/ns.h"

#define MB (1024u * 1024)
#define ROOM (8 * MB) /* some minutes of a recording with few events */

/* It is known once the JVM has one; the first recording makes it in java.io.tmpdir. */
static char *repository_path(const struct ctx *ctx)
{
	struct jfr_settings settings = { .is_listing = false };
	const struct jfr_value *value = &settings.values[JFR_REPOSITORY_PATH];
	struct err ignored = { .code = EXIT_DONE };
	char *path = NULL;

	if (jfr_ask_settings(ctx, "", &settings, &ignored) == 0 && value->known)
		path = xstrdup(value->path);
	jfr_settings_release(&settings);
	if (!path)
		path = flags_value(ctx->jvm->flags, "-Djava.io.tmpdir=");
	return path ? path : xstrdup("/tmp");
}

/* What its user may still write there; all there is when nobody can tell. */
static uint64_t free_in(const struct jvm *jvm, const char *path)
{
	_cleanup_close_ int dir_fd = -1;
	struct err ignored = { .code = EXIT_DONE };
	uint64_t room = UINT64_MAX;
	struct statvfs fs;
	struct ns ns;

	if (ns_open(jvm, &ns, &ignored) < 0)
		return room;
	dir_fd = ns_opendir(&ns, path);
	if (dir_fd >= 0 && fstatvfs(dir_fd, &fs) == 0)
		room = (uint64_t)(jvm->uid == 0 ? fs.f_bfree : fs.f_bavail) * fs.f_frsize;
	ns_close(&ns);
	return room;
}

int jfr_check_repository(const struct ctx *ctx, struct err *err)
{
	_cleanup_free_ char *path = repository_path(ctx);

	if (free_in(ctx->jvm, path) >= ROOM)
		return 0;
	return err_set(err, EXIT_ANSWER,
		       "%s of JVM %d, where it keeps what it records, has less than %u MB free, "
		       "and JFR ends a JVM that cannot write there; jtool jfr %d configure "
		       "repositorypath=DIR names another directory", path, (int)ctx->jvm->pid,
		       ROOM / MB, (int)ctx->jvm->pid);
}
