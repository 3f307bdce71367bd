/*
 * The command agent: prints the path of a copy of jtool's agent.  A JVM can load this copy at its
 * startup.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/xalloc.h"
#include "cli/command.h"
#include "config.h"
#include "fileio/atomic_file.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "render/json.h"
#include "embedded/embedded.h"
#include "session/session.h"

#define CACHE_SUBDIR "jtool" /* name of jtool's own directory in the user's cache directory */
#define MODE 0755

struct agent_opts {
	const char *extract;
	bool force;
};

#define AT(member) offsetof(struct agent_opts, member)

static const struct opt agent_rows[] = {
	{ 0, "extract", OPT_TEXT, AT(extract), "FILE", "write a copy to FILE", NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE if it exists", NULL },
	OPT_END,
};

static int cache_failed(const char *path, const char *why, struct err *err)
{
	return err_set(err, EXIT_PARTIAL,
		       "cannot store the agent in '%s': %s; use --extract FILE to write it "
		       "elsewhere", path, why);
}

/*
 * Returns the path of the user's XDG cache directory, which the caller frees; or NULL if the user
 * has none.
 */
static char *cache_path(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return xstrdup(cache);
	return home && *home == '/' ? xasprintf("%s/.cache", home) : NULL;
}

/*
 * Returns NULL if no other user can replace the agent in this file or directory; otherwise, why it
 * is unsafe: a replaced agent would run in the user's JVMs.  If is_own is true, `fd` is jtool's own
 * directory or a file in it, which must belong to the user.  If is_own is false, `fd` is a
 * directory above jtool's own directory, which must belong to the user or to root.
 */
static const char *why_unsafe(int fd, bool is_own)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return strerror(errno);
	if (st.st_uid != geteuid() && (is_own || st.st_uid != 0))
		return "it belongs to another user";
	if (st.st_mode & (S_IWGRP | S_IWOTH) && (is_own || !(st.st_mode & S_ISVTX)))
		return "other users can write to it";
	return NULL;
}

/*
 * Opens the directory `name`, and creates it if it does not exist.  If is_own is true, `name` is
 * jtool's own directory, and must not be a symbolic link.  If is_own is false, `name` is the user's
 * cache directory, and may be a symbolic link.
 */
static int open_dir(int parent_fd, const char *name, const char *path, bool is_own,
		    struct err *err)
{
	const char *why;
	int fd;

	if (mkdirat(parent_fd, name, 0700) < 0 && errno != EEXIST)
		return cache_failed(path, strerror(errno), err);
	fd = file_open_dir(parent_fd, name, is_own ? O_NOFOLLOW : 0);
	if (fd < 0)
		return cache_failed(path, strerror(-fd), err);
	why = why_unsafe(fd, is_own);
	if (!why)
		return fd;
	(void)close(fd);
	return cache_failed(path, why, err);
}

/*
 * Returns true if the file `name` contains this build's agent and if, in addition, only the user
 * can write to the file.
 */
static bool is_up_to_date(int dir_fd, const char *name, const struct buf *agent)
{
	struct stat st;
	_cleanup_close_ int fd = file_open_regular(dir_fd, name, O_NOFOLLOW, &st);
	_cleanup_buf_ struct buf found = BUF_INIT;

	return fd >= 0 && !why_unsafe(fd, true) &&
	       io_slurp(fd, &found, agent->len) == 0 && found.len == agent->len &&
	       memcmp(found.data, agent->data, found.len) == 0;
}

static int write_and_commit(struct atomic_file *f, const struct buf *agent, struct err *err)
{
	int rc = io_write_all(f->fd, agent->data, agent->len, DEADLINE_NEVER);

	return rc < 0 ? atomic_file_failed(f, rc, err) : atomic_file_commit(f, NULL, err);
}

/*
 * Writes the agent to a new file, and renames the new file to `name`.  Does not overwrite the old
 * file `name`, because JVMs may have mapped the old file.
 */
static int write_at(int dir_fd, const char *name, const char *path, const struct buf *agent,
		    struct err *err)
{
	struct tmp_reaper guard = TMP_REAPER_INIT(dir_fd);
	struct atomic_file f;
	struct stat st;
	int rc = -1;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	     st.st_mode & (S_IWGRP | S_IWOTH)) &&
	    unlinkat(dir_fd, name, 0) < 0)
		return cache_failed(path, "a file of another kind or owner has this name and "
					  "cannot be removed", err);
	if (atomic_file_open_at(&f, dir_fd, name, &guard, path, MODE, err) == 0) {
		rc = write_and_commit(&f, agent, err);
		atomic_file_release(&f);
	}
	tmp_reaper_release(&guard);
	return rc;
}

/*
 * Prints a notice if the file is on a mount with the option noexec, because the dynamic linker
 * cannot map code from such a mount.
 */
static void warn_if_noexec(const struct ctx *ctx, const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOEXEC)
		cmd_print_notice(ctx->cmd,
				 "%s is on a file system that is mounted noexec: no JVM can load "
				 "it from there; use --extract FILE to write it elsewhere", path);
}

static int show(const struct ctx *ctx, const char *path, const struct buf *agent,
		struct err *err)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	if (!real)
		return err_set(err, EXIT_PARTIAL, "cannot resolve the path '%s': %s",
			       path, strerror(errno));
	warn_if_noexec(ctx, real);
	if (strchr(real, '='))
		cmd_print_notice(ctx->cmd,
				 "no JVM can load %s: in -agentpath the options begin after the "
				 "first '='", real);
	if (ctx->json) {
		struct json *doc = json_object();

		json_put_text(doc, "path", real);
		json_put_text(doc, "build", PACKAGE_VERSION);
		json_put_unsigned(doc, "bytes", agent->len);
		json_print_take(doc, ctx->out);
		return 0;
	}
	fprintf(ctx->out, "%s\n", real);
	return 0;
}

static int store_in_cache(const struct ctx *ctx, const struct buf *agent, struct err *err)
{
	_cleanup_free_ char *cache = cache_path(), *name = NULL, *dir = NULL, *path = NULL;
	_cleanup_close_ int cache_fd = -1, dir_fd = -1;

	if (!cache)
		return err_set(err, EXIT_PARTIAL,
			       "neither HOME nor XDG_CACHE_HOME names a cache directory; use "
			       "--extract FILE to choose a file");
	name = session_agent_name(agent);
	dir = xasprintf("%s/" CACHE_SUBDIR, cache);
	path = xasprintf("%s/%s", dir, name);
	cache_fd = open_dir(AT_FDCWD, cache, cache, false, err);
	dir_fd = cache_fd < 0 ? -1 : open_dir(cache_fd, CACHE_SUBDIR, dir, true, err);
	if (dir_fd < 0 ||
	    (!is_up_to_date(dir_fd, name, agent) && write_at(dir_fd, name, path, agent, err) < 0))
		return -1;
	return show(ctx, path, agent, err);
}

static bool to_stdout(const struct agent_opts *opts)
{
	return opts->extract && strcmp(opts->extract, "-") == 0;
}

static int extract(const struct ctx *ctx, const struct buf *agent, struct err *err)
{
	const struct agent_opts *opts = ctx->opts;
	struct atomic_file f;
	int rc;

	if (atomic_file_open(&f, opts->extract,
			     ATOMIC_FILE_BINARY | (opts->force ? ATOMIC_FILE_REPLACE : 0), MODE,
			     err) < 0)
		return -1;
	rc = write_and_commit(&f, agent, err);
	atomic_file_release(&f);
	return rc < 0 || to_stdout(opts) ? rc : show(ctx, opts->extract, agent, err);
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct agent_opts *opts = ctx->opts;

	if (ctx->json && to_stdout(opts))
		return err_json_and_stdout(err);
	if (opts->force && !opts->extract)
		return err_set(err, EXIT_USAGE, "--force requires --extract FILE");
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct agent_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf agent = BUF_INIT;

	if (embedded_agent(&agent, err) < 0)
		return -1;
	return opts->extract ? extract(ctx, &agent, err) : store_in_cache(ctx, &agent, err);
}

const struct cmd cmd_agent = {
	.name = "agent",
	.synopsis = "",
	.summary = "print the path of the bundled agent, for java -agentpath",
	.examples = (const struct example[]){
		{ "agent", "prints the path" },
		{ "agent --extract jtool.so", "writes a copy" },
		{ NULL, NULL },
	},
	.details =
		"The agent is stored in your cache directory, which other users cannot read.  For\n"
		"JVMs of another user or in a container, write a copy with --extract FILE.\n"
		"\n"
		"    java -agentpath:$(jtool agent) ...\n"
		"The agent sleeps in the JVM until a command needs it.  Then nothing is loaded\n"
		"and no warning is printed, also with -XX:-EnableDynamicAgentLoading.\n"
		"\n"
		"    java -agentpath:$(jtool agent)=alloc,file=REPORT[,OPTION...] ...\n"
		"The agent records allocations from the start of the JVM, and writes REPORT when\n"
		"the JVM exits.  'jtool alloc PID' shows them until then, 'jtool alloc REPORT'\n"
		"afterwards.  OPTION is exact, live, age=N, interval=SIZE, depth=N, memory=SIZE,\n"
		"classes=GLOB:GLOB or n=N.\n",
	.need = NEED_NOTHING,
	.free_words = -1,
	.opts = agent_rows,
	.opts_size = sizeof(struct agent_opts),
	.check = check,
	.run = run,
};
