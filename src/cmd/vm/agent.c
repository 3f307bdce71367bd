/*
 * agent: where the bundled agent is, or a copy of it, for JVMs that are to load it as they start.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/io.h"
#include "base/outfile.h"
#include "base/xalloc.h"
#include "cmd.h"
#include "config.h"
#include "render/json.h"
#include "session/embedded.h"
#include "session/session.h"

#define OURS "jtool" /* the directory in that for caches */
#define MODE 0755

struct agent_opts {
	const char *extract;
	bool force;
};

#define AT(member) offsetof(struct agent_opts, member)

static const struct opt agent_rows[] = {
	{ 0, "extract", OPT_TEXT, AT(extract), "FILE", "write a copy to FILE", NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE when it exists", NULL },
	OPT_END,
};

static int no_cache(const char *path, const char *why, struct err *err)
{
	return err_set(err, EXIT_PARTIAL,
		       "%s cannot keep the agent: %s; --extract FILE puts it elsewhere", path,
		       why);
}

/* Where this user's caches are (the XDG base directories); the caller frees it.  NULL: nowhere. */
static char *cache_path(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return xstrdup(cache);
	return home && *home == '/' ? xasprintf("%s/.cache", home) : NULL;
}

/* Who could put another file there would have it run in the user's JVMs. */
static const char *why_unsafe(int fd, bool ours)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return strerror(errno);
	if (st.st_uid != geteuid() && (ours || st.st_uid != 0))
		return "it belongs to another user";
	if (st.st_mode & (S_IWGRP | S_IWOTH) && (ours || !(st.st_mode & S_ISVTX)))
		return "others may write to it";
	return NULL;
}

/* Open a directory, or make it: the user's own links lead to the first, none to the second. */
static int open_dir(int parent_fd, const char *name, const char *path, bool ours, struct err *err)
{
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (ours ? O_NOFOLLOW : 0), fd;
	const char *why;

	if (mkdirat(parent_fd, name, 0700) < 0 && errno != EEXIST)
		return no_cache(path, strerror(errno), err);
	fd = openat(parent_fd, name, flags);
	if (fd < 0)
		return no_cache(path, strerror(errno), err);
	why = why_unsafe(fd, ours);
	if (!why)
		return fd;
	(void)close(fd);
	return no_cache(path, why, err);
}

/* It is there, and nobody else can have changed it since it was looked at. */
static bool is_there(int dir_fd, const char *name, const struct buf *agent)
{
	_cleanup_close_ int fd =
		openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_buf_ struct buf has = BUF_INIT;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !why_unsafe(fd, true) &&
	       io_slurp(fd, &has, agent->len) == 0 && has.len == agent->len &&
	       memcmp(has.data, agent->data, has.len) == 0;
}

static int write_and_commit(struct outfile *f, const struct buf *agent, struct err *err)
{
	int rc = io_write_all(f->fd, agent->data, agent->len, IO_NO_DEADLINE);

	return rc < 0 ? outfile_failed(f, rc, err) : outfile_commit(f, NULL, err);
}

/* A JVM that has the former one mapped keeps it: the name leads to another file then. */
static int write_at(int dir_fd, const char *name, const char *path, const struct buf *agent,
		    struct err *err)
{
	struct outguard guard = OUTGUARD_INIT(dir_fd);
	struct outfile f;
	struct stat st;
	int rc = -1;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	     st.st_mode & (S_IWGRP | S_IWOTH)) &&
	    unlinkat(dir_fd, name, 0) < 0)
		return no_cache(path, "something else has its name", err);
	if (outfile_open_at(&f, dir_fd, name, &guard, path, MODE, err) == 0) {
		rc = write_and_commit(&f, agent, err);
		outfile_release(&f);
	}
	outguard_release(&guard);
	return rc;
}

/* Linkers refuse to map what is there as code. */
static void look_at_mount(const struct ctx *ctx, const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOEXEC)
		cmd_note(ctx->cmd, "%s is on a file system that is mounted noexec: no JVM can load "
			 "it there; --extract FILE puts it elsewhere", path);
}

static int show(const struct ctx *ctx, const char *path, const struct buf *agent,
		struct err *err)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	if (!real)
		return err_set(err, EXIT_PARTIAL, "%s is not there any more: %s", path,
			       strerror(errno));
	look_at_mount(ctx, real);
	if (strchr(real, '='))
		cmd_note(ctx->cmd, "a JVM takes what is behind the first '=' of -agentpath for "
			 "options: it cannot load %s", real);
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

static int keep(const struct ctx *ctx, const struct buf *agent, struct err *err)
{
	_cleanup_free_ char *cache = cache_path(), *name = NULL, *dir = NULL, *path = NULL;
	_cleanup_close_ int cache_fd = -1, dir_fd = -1;

	if (!cache)
		return err_set(err, EXIT_PARTIAL,
			       "neither HOME nor XDG_CACHE_HOME says where to keep the agent: "
			       "--extract FILE puts it there");
	name = session_agent_name(agent);
	dir = xasprintf("%s/" OURS, cache);
	path = xasprintf("%s/%s", dir, name);
	cache_fd = open_dir(AT_FDCWD, cache, cache, false, err);
	dir_fd = cache_fd < 0 ? -1 : open_dir(cache_fd, OURS, dir, true, err);
	if (dir_fd < 0 ||
	    (!is_there(dir_fd, name, agent) && write_at(dir_fd, name, path, agent, err) < 0))
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
	struct outfile f;
	int rc;

	if (outfile_open(&f, opts->extract, opts->force ? OUTFILE_REPLACE : OUTFILE_NEW, MODE,
			 err) < 0)
		return -1;
	rc = write_and_commit(&f, agent, err);
	outfile_release(&f);
	return rc < 0 || to_stdout(opts) ? rc : show(ctx, opts->extract, agent, err);
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct agent_opts *opts = ctx->opts;

	if (ctx->json && to_stdout(opts))
		return err_set(err, EXIT_USAGE,
			       "--json and the agent itself cannot both go to stdout");
	if (opts->force && !opts->extract)
		return err_set(err, EXIT_USAGE, "--force is about --extract FILE");
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct agent_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf agent = BUF_INIT;

	if (embedded_agent(&agent, err) < 0)
		return -1;
	return opts->extract ? extract(ctx, &agent, err) : keep(ctx, &agent, err);
}

const struct cmd cmd_agent = {
	.name = "agent",
	.synopsis = "",
	.summary = "where the bundled agent is, for java -agentpath:",
	.details =
		"Prints the path of a copy in the user's cache directory, which is written if it\n"
		"is not there, and that nobody else may read.  --extract FILE writes one where\n"
		"others can: for JVMs of another user, or in a container.\n"
		"\n"
		"    java -agentpath:$(jtool agent)=alloc,file=REPORT[,OPTION...] ...\n"
		"records allocations from the start of the JVM, and REPORT is written when it\n"
		"ends; jtool alloc PID shows them before, jtool alloc REPORT after that.\n"
		"OPTION: exact, live, age=N, interval=BYTES, depth=N, memory=BYTES,\n"
		"classes=GLOB:GLOB, n=N.\n",
	.need = NEED_NOTHING,
	.free_words = -1,
	.opts = agent_rows,
	.opts_size = sizeof(struct agent_opts),
	.check = check,
	.run = run,
};
