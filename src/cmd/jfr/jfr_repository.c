/*
 * jfr: checks the free space in the JVM's repository, which is the directory to which JFR writes a
 * recording while the recording runs.
 */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/xalloc.h"
#include "cmd/jfr/jfr.h"
#include "discover/cmdline.h"
#include "attach/target_query.h"

#define MB (1024u * 1024)
/* required free space in bytes; enough for some minutes of a recording with few events */
#define FREE_MIN (8 * MB)

/*
 * Returns the path of the repository.  If the JVM has no repository yet, returns the path of the
 * temporary directory in which the JVM creates a repository.  The caller frees the path.
 */
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

/*
 * Opens the directory `path`; or if it does not exist, the nearest directory above it that exists.
 * The directory may be missing, because after JFR.check, the JVM reports the path of its repository
 * even before it creates the repository.  Returns an O_PATH descriptor or -errno.
 */
static int open_nearest(const struct target_ns *ns, const char *path)
{
	_cleanup_free_ char *above = xstrdup(path);
	int fd = target_ns_opendir(ns, above);

	while (fd == -ENOENT && strcmp(above, "/") != 0) {
		char *slash = strrchr(above, '/');

		if (!slash)
			break;
		slash[slash == above] = '\0'; /* cut at the slash; "/name" becomes "/" */
		fd = target_ns_opendir(ns, above);
	}
	return fd;
}

static int answer_free(const struct target_ns *ns, const void *path, struct buf *answer,
		       struct err *err)
{
	_cleanup_close_ int dir_fd = open_nearest(ns, path);
	uint64_t room = UINT64_MAX;
	struct statvfs fs;

	(void)err;
	if (dir_fd >= 0 && fstatvfs(dir_fd, &fs) == 0)
		room = (uint64_t)(ns->jvm->uid == 0 ? fs.f_bfree : fs.f_bavail) * fs.f_frsize;
	buf_add(answer, &room, sizeof(room));
	return 0;
}

/*
 * Returns how many bytes the JVM's user can still write in the directory `path`; UINT64_MAX if that
 * is unknown.
 */
static uint64_t free_in(const struct jvm *jvm, const char *path)
{
	const struct target_query q = {
		.fn = answer_free, .arg = path, .fd = -1, .max = sizeof(uint64_t),
	};
	struct err ignored = { .code = EXIT_DONE };
	uint64_t room;

	return target_query_number(jvm, &q, &room, &ignored) == 0 ? room : UINT64_MAX;
}

int jfr_check_repository(const struct ctx *ctx, struct err *err)
{
	_cleanup_free_ char *path = repository_path(ctx);

	if (free_in(ctx->jvm, path) >= FREE_MIN)
		return 0;
	return err_set(err, EXIT_ANSWER,
		       "%s of JVM %d, the repository for recordings, has less than %u MB free, and "
		       "JFR ends a JVM that cannot write there; choose another directory with "
		       "jtool jfr %d configure repositorypath=DIR", path, (int)ctx->jvm->pid,
		       FREE_MIN / MB, (int)ctx->jvm->pid);
}
