/*
 * The command copy: writes the running jtool program to a file, for example to install it from a
 * container image that has no other program, not even cp(1).
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cli/command.h"
#include "fileio/atomic_file.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "render/json.h"

#define MODE 0755
#define NAME "jtool"

struct copy_opts {
	bool force;
};

static const struct opt copy_rows[] = {
	{ 0, "force", OPT_FLAG, offsetof(struct copy_opts, force), NULL,
	  "replace FILE if it exists and differs", NULL },
	OPT_END,
};

/*
 * Returns the path of the copy, which the caller frees: `path`, or if `path` is a directory, the
 * file "jtool" in that directory.
 */
static char *destination(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return xasprintf("%s/" NAME, path);
	return xstrdup(path);
}

/* Returns true if the first `size` bytes of both files are equal. */
static bool has_same_bytes(int a, int b, uint64_t size)
{
	char in_a[16384], in_b[sizeof(in_a)];

	for (uint64_t at = 0; at < size; ) {
		size_t n = size - at < sizeof(in_a) ? size - at : sizeof(in_a);

		if (io_read_at(a, at, in_a, n) < 0 || io_read_at(b, at, in_b, n) < 0 ||
		    memcmp(in_a, in_b, n) != 0)
			return false;
		at += n;
	}
	return true;
}

/*
 * Returns true if the caller has such a copy already: Kubernetes may run an init container again,
 * and the volume still has the file of the first run.
 */
static bool is_copied(const char *path, int program, const struct stat *st)
{
	struct stat copy;
	_cleanup_close_ int fd = file_open_regular(AT_FDCWD, path, O_NOFOLLOW, &copy);

	return fd >= 0 && strcmp(path, "-") != 0 && copy.st_uid == geteuid() &&
	       (copy.st_mode & 07777) == MODE && copy.st_size == st->st_size &&
	       has_same_bytes(fd, program, (uint64_t)st->st_size);
}

static int write_copy(const char *path, bool force, struct err *err)
{
	struct stat st;
	_cleanup_close_ int program = file_open_regular(AT_FDCWD, "/proc/self/exe", 0, &st);
	struct atomic_file f;
	int rc;

	if (program < 0)
		return err_set(err, EXIT_PERMISSION,
			       "cannot read /proc/self/exe, the program of jtool: %s; mount /proc "
			       "if it is not mounted", strerror(-program));
	if (is_copied(path, program, &st))
		return 0;
	if (atomic_file_open(&f, path, ATOMIC_FILE_BINARY | (force ? ATOMIC_FILE_REPLACE : 0), MODE,
			     err) < 0)
		return -1;
	rc = io_copy(program, f.fd);
	rc = rc < 0 ? atomic_file_failed(&f, rc, err) : atomic_file_commit(&f, NULL, err);
	atomic_file_release(&f);
	return rc;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct copy_opts *opts = ctx->opts;
	_cleanup_free_ char *path = destination(ctx->args[0]);

	if (write_copy(path, opts->force, err) < 0)
		return -1;
	if (ctx->json) {
		struct json *doc = json_object();

		json_put_text(doc, "path", path);
		json_print_take(doc, ctx->out);
	}
	return 0;
}

static int check(const struct ctx *ctx, struct err *err)
{
	if (ctx->json && strcmp(ctx->args[0], "-") == 0)
		return err_json_and_stdout(err);
	return 0;
}

const struct cmd cmd_copy = {
	.name = "copy",
	.synopsis = "FILE|DIRECTORY",
	.summary = "write a copy of this program, for an init container",
	.examples = (const struct example[]){
		{ "copy /shared", "writes /shared/jtool" },
		{ "copy --force /shared/jtool", "also if another version is there" },
		{ NULL, NULL },
	},
	.details =
		"An image that has nothing but jtool has no cp.  As an init container it copies\n"
		"itself into a volume that the application's container mounts, too.\n",
	.need = NEED_NOTHING,
	.min_args = 1,
	.max_args = 1,
	.free_words = -1,
	.opts = copy_rows,
	.opts_size = sizeof(struct copy_opts),
	.check = check,
	.run = run,
};
