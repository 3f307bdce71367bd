/*
 * jfr: a recording's way from the target's file to the caller's.
 *
 * The JVM writes a file in a private place, never a FIFO: JDK 17 opens it to look whether it can
 * be written, closes it, and waits for ever when it opens it again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cmd/fetch.h"
#include "cmd/jfr.h"
#include "model/jfr_chunks.h"
#include "render/json.h"
#include "target/ns.h"

#define MB (1024u * 1024)
#define ROOM_DEFAULT (64 * MB) /* when the JVM does not tell where its chunks are */
#define ROOM_EXTRA (4 * MB)    /* what it knows of threads, classes and methods at the end */

int jfr_open_file(const struct ctx *ctx, const char *path, struct outfile *out, struct err *err)
{
	const struct jfr_opts *opts = ctx->opts;

	return outfile_open(out, path, opts->force ? OUTFILE_REPLACE : OUTFILE_NEW, 0600, err);
}

/* The bytes of the regular files that were written to since then. */
static uint64_t bytes_in(int dir_fd, time_t since)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint64_t sum = 0;
	struct dirent *entry;

	if (!dir) {
		util_close_p(&fd);
		return 0;
	}
	while ((entry = readdir(dir))) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime >= since)
			sum += (uint64_t)st.st_size;
	}
	(void)closedir(dir);
	return sum;
}

static uint64_t repository_bytes(const struct jvm *jvm, const char *path, time_t since)
{
	_cleanup_close_ int dir_fd = -1;
	struct err ignored = { .code = EXIT_DONE };
	struct ns ns;
	uint64_t sum = 0;

	if (ns_open(jvm, &ns, &ignored) < 0)
		return 0;
	dir_fd = ns_opendir(&ns, path);
	if (dir_fd >= 0)
		sum = bytes_in(dir_fd, since);
	ns_close(&ns);
	return sum;
}

/*
 * A dump has at most what lies in the JVM's repository, and what its buffers still hold.  A dump
 * itself is what counts: this only chooses between directories, so whatever goes wrong is none.
 */
static uint64_t room_for(const struct ctx *ctx, time_t since)
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

static int read_out(void *arg, uint64_t at, void *data, size_t len)
{
	ssize_t n = pread(*(int *)arg, data, len, (off_t)at);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EBADMSG;
}

static int check_whole(struct outfile *out, uint64_t size, struct err *err)
{
	int64_t n = jfr_chunks_count(read_out, &out->fd, size);

	if (n >= 0)
		return 0;
	return err_set(err, EXIT_PARTIAL,
		       "the recording is not whole: its %llu bytes are no sequence of chunks",
		       (unsigned long long)size);
}

static int dump_to(const struct ctx *ctx, const char *words, const char *path, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT, file = BUF_INIT;

	buf_addf(&line, "JFR.dump%s", words);
	buf_addf(&file, "filename=%s", path);
	if (jfr_add_word(&line, buf_str(&file)) < 0)
		return err_set(err, EXIT_ANSWER, "the JVM cannot be told the path %s", path);
	return jfr_do(ctx, JFR_DUMP, buf_str(&line), NULL, err);
}

int jfr_fetch(const struct ctx *ctx, const char *words, time_t since, struct outfile *out,
	      struct err *err)
{
	const struct place_request req = {
		.kind = PLACE_RESULT,
		.stem = "recording",
		.suffix = ".jfr",
		.listener = -1,
		.room = room_for(ctx, since),
	};
	struct place *place = place_new(ctx->jvm, &req, ctx->steps, err);
	uint64_t size = 0;
	int rc;

	if (!place)
		return -1;
	rc = dump_to(ctx, words, place_file(place), err);
	if (rc == 0)
		rc = fetch_result(place, out, &size, err);
	place_free(place);
	return rc == 0 ? check_whole(out, size, err) : -1;
}

int jfr_commit(const struct ctx *ctx, const char *path, struct outfile *out, struct err *err)
{
	uint64_t size;

	if (outfile_commit(out, &size, err) < 0)
		return -1;
	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put_text(doc, "file", path);
		json_put_number(doc, "bytes", (int64_t)size);
		json_print_take(doc, ctx->out);
	} else if (strcmp(path, "-") != 0) {
		fprintf(ctx->out, "wrote %s: %llu bytes\n", path, (unsigned long long)size);
	}
	return 0;
}
