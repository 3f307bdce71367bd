/*
 * jfr: copies a recording from the JVM to the caller's file.
 *
 * The JVM writes the recording to a staged file, not to a FIFO that jtool reads.  JDK 17 opens the
 * file to check that it is writable, closes it, and opens it again: with a FIFO, the second open
 * would block forever.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cmd/fetch.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "cmd/jfr/jfr.h"
#include "model/jfr/jfr_chunks.h"
#include "render/json.h"
#include "render/units.h"
#include "attach/target_query.h"

#define MB (1024u * 1024)
/* assumed bytes of a dump if the JVM does not report in which directory its chunk files are */
#define ROOM_DEFAULT (64 * MB)
/*
 * limit for the directory entries of the JVM's repository whose sizes are added up; a repository
 * has one entry for each chunk
 */
#define ENTRIES_MAX 20000
#define ROOM_EXTRA (4 * MB) /* bytes for the threads, classes and methods at the end of a chunk */

int jfr_open_file(const struct ctx *ctx, const char *path, struct atomic_file *out, struct err *err)
{
	const struct jfr_opts *opts = ctx->opts;

	return atomic_file_open(out, path,
				ATOMIC_FILE_BINARY | (opts->force ? ATOMIC_FILE_REPLACE : 0), 0600,
				err);
}

/*
 * Returns the total size in bytes of the regular files in a directory that were modified at `since`
 * or later.  Reads at most ENTRIES_MAX entries, because the target chooses the directory, which may
 * have any number of entries.
 */
static uint64_t bytes_in(int dir_fd, time_t since)
{
	int fd = file_open_dir(dir_fd, ".", 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint64_t sum = 0;
	struct dirent *entry;

	if (!dir) {
		util_close_p(&fd);
		return 0;
	}
	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(dir)); i++) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime >= since &&
		    __builtin_add_overflow(sum, (uint64_t)st.st_size, &sum))
			break;
	}
	(void)closedir(dir);
	return sum;
}

struct repository {
	const char *path;
	time_t since;
};

static int answer_bytes(const struct target_ns *ns, const void *arg, struct buf *answer,
			struct err *err)
{
	const struct repository *r = arg;
	_cleanup_close_ int dir_fd = target_ns_opendir(ns, r->path);
	uint64_t sum = dir_fd >= 0 ? bytes_in(dir_fd, r->since) : 0;

	(void)err;
	buf_add(answer, &sum, sizeof(sum));
	return 0;
}

static uint64_t repository_bytes(const struct jvm *jvm, const char *path, time_t since)
{
	const struct repository r = { path, since };
	const struct target_query q = {
		.fn = answer_bytes, .arg = &r, .fd = -1, .max = sizeof(uint64_t),
	};
	struct err ignored = { .code = EXIT_DONE };
	uint64_t sum;

	return target_query_number(jvm, &q, &sum, &ignored) == 0 ? sum : 0;
}

/*
 * Estimates the size of a dump in bytes: the size of the files in the JVM's repository, plus the
 * size of JFR's buffers in memory.  If the JVM does not report both, returns ROOM_DEFAULT.  jtool
 * stages the dump in a directory that has at least this much free space.
 */
static uint64_t estimate_size(const struct ctx *ctx, time_t since)
{
	struct jfr_settings settings = { .is_listing = false };
	const struct jfr_value *path = &settings.values[JFR_REPOSITORY_PATH];
	const struct jfr_value *memory = &settings.values[JFR_MEMORY_SIZE];
	struct err ignored = { .code = EXIT_DONE };
	uint64_t room = ROOM_DEFAULT;

	if (jfr_ask_settings(ctx, "", &settings, &ignored) == 0 && path->known && memory->known)
		room = repository_bytes(ctx->jvm, path->path, since) +
		       (uint64_t)memory->number + ROOM_EXTRA;
	jfr_settings_release(&settings);
	return room;
}

static int read_file(void *arg, uint64_t at, void *data, size_t len)
{
	return io_read_at(*(int *)arg, at, data, len);
}

static int check_complete(int fd, uint64_t size, struct err *err)
{
	int64_t n = jfr_chunks_count(read_file, &fd, size);

	if (n >= 0)
		return 0;
	return err_set(err, EXIT_PARTIAL,
		       "the recording is incomplete: its %llu bytes are damaged or cut off; look "
		       "for a full disk in the JVM's log, then try again",
		       (unsigned long long)size);
}

/*
 * Rejects an incomplete recording and a sparse file.  The target could create a sparse file of any
 * size without using disk space, but a copy takes disk space for its complete size.
 */
static int check_result(void *arg, int fd, uint64_t size, struct err *err)
{
	off_t hole = lseek(fd, 0, SEEK_HOLE);

	(void)arg;
	if (hole >= 0 && (uint64_t)hole < size)
		return err_set(err, EXIT_PARTIAL,
			       "the recording is incomplete: the JVM did not write byte %lld of "
			       "%llu; look for a full disk in the JVM's log, then try again",
			       (long long)hole, (unsigned long long)size);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_set(err, EXIT_PARTIAL, "cannot read the recording: %s; try again",
			       strerror(errno));
	return check_complete(fd, size, err);
}

static int dump_to(const struct ctx *ctx, const char *words, const char *path, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT, file = BUF_INIT;

	buf_addf(&line, "JFR.dump%s", words);
	buf_addf(&file, "filename=%s", path);
	if (jfr_add_word(&line, buf_str(&file)) < 0)
		return err_set(err, EXIT_ANSWER,
			       "cannot pass the path '%s' to the JVM: it contains a line break or "
			       "both kinds of quotes; rename its directory", path);
	return jfr_do(ctx, JFR_DUMP, buf_str(&line), NULL, err);
}

int jfr_fetch(const struct ctx *ctx, const char *words, time_t since, struct atomic_file *out,
	      struct err *err)
{
	const struct staged_file_request req = {
		.kind = STAGED_RESULT,
		.stem = "recording",
		.suffix = ".jfr",
		.listener = -1,
		.room = estimate_size(ctx, since),
		.timeout_ms = ctx->timeout_ms,
	};
	const struct fetch_check check = { check_result, NULL };
	struct staged_file *staged = staged_file_new(ctx->jvm, &req, ctx->steps, err);
	uint64_t size = 0;
	int rc;

	if (!staged)
		return -1;
	rc = staged_file_confirm(staged, err);
	if (rc == 0)
		rc = dump_to(ctx, words, staged_file_path(staged), err);
	if (rc == 0)
		rc = fetch_result(staged, out, &check, &size, err);
	staged_file_free(staged);
	return rc == 0 ? check_complete(out->fd, size, err) : -1;
}

int jfr_commit(const struct ctx *ctx, const char *path, struct atomic_file *out, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	uint64_t size;

	if (atomic_file_commit(out, &size, err) < 0)
		return -1;
	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put_text(doc, "file", path);
		json_put_number(doc, "bytes", (int64_t)size);
		json_print_take(doc, ctx->out);
	} else if (strcmp(path, "-") != 0) {
		units_bytes(&text, (int64_t)size);
		fprintf(ctx->out, "wrote %s: %s\n", path, buf_str(&text));
	}
	return 0;
}
