#include "cmd/jfr/jfr_recording.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/jfr/read_ahead.h"
#include "discover/memory_check.h"
#include "fileio/input_file.h"
#include "fileio/io.h"

#define MB (UINT64_C(1) << 20)
#define AHEAD_MIN (4 * MB) /* a smaller file is read in less time than a second thread would save */
#define MEMORY_MIN (64 * MB)

static int read_at(void *arg, uint64_t at, void *data, size_t len)
{
	const struct jfr_recording *rec = arg;

	return io_read_at(rec->fd, at, data, len);
}

static void start_ahead(void *arg, uint64_t at, uint64_t end)
{
	const struct jfr_recording *rec = arg;

	read_ahead_start(rec->ahead, at, end);
}

static const uint8_t *next_ahead(void *arg, const uint8_t *tail, size_t tail_len, size_t *len)
{
	const struct jfr_recording *rec = arg;

	return read_ahead_next(rec->ahead, tail, tail_len, len);
}

struct jfr_reader *jfr_recording_reader(struct jfr_recording *rec)
{
	const struct jfr_ahead ahead = { .start = start_ahead, .next = next_ahead };
	struct jfr_reader *r = jfr_reader_new(read_at, rec, rec->size, rec->max_memory);

	if (rec->size >= AHEAD_MIN && !rec->ahead)
		rec->ahead = read_ahead_new(rec->fd);
	if (rec->ahead)
		jfr_read_ahead(r, &ahead);
	return r;
}

void jfr_recording_done(struct jfr_recording *rec, struct jfr_reader *r)
{
	const char *line = jfr_problems(r);

	while (*line) {
		size_t len = strcspn(line, "\n");

		if (rec->error == EXIT_DONE)
			cmd_print_notice(rec->ctx->cmd, "%s: %.*s", rec->path, (int)len, line);
		line += len + (line[len] == '\n');
	}
	if (jfr_problems(r)[0])
		rec->error = EXIT_PARTIAL;
	jfr_reader_free(r);
}

static size_t memory_limit(uint64_t max_memory)
{
	int64_t left = memory_left();
	uint64_t half = left < 0 ? MEMORY_MIN : (uint64_t)left / 2;

	if (max_memory > 0)
		return (size_t)max_memory;
	return (size_t)(half < MEMORY_MIN ? MEMORY_MIN : half);
}

static int open_file(struct jfr_recording *rec, struct err *err)
{
	struct stat st;

	rec->path = rec->ctx->file;
	rec->fd = input_file_open(rec->path, INPUT_FILE_REGULAR, &st, err);
	if (rec->fd < 0)
		return -1;
	rec->size = (uint64_t)st.st_size;
	return 0;
}

static int measure(struct jfr_recording *rec, struct err *err)
{
	struct stat st;

	if (fstat(rec->fd, &st) < 0)
		return err_set(err, EXIT_PARTIAL, "cannot read the recording: %s; try again",
			       strerror(errno));
	rec->size = (uint64_t)st.st_size;
	return 0;
}

/* Creates a file without a name, for a recording to be copied to. */
static int create(struct jfr_recording *rec, struct atomic_file *out, struct err *err)
{
	*out = (struct atomic_file){
		.path = "the recording", .fd = io_unnamed_file(), .out_fd = -1, .dir_fd = -1,
	};
	rec->path = "recording";
	rec->fd = out->fd;
	if (out->fd < 0)
		return io_temp_failed(err, out->fd, "the recording");
	return 0;
}

static void begin(struct jfr_recording *rec, const struct ctx *ctx, uint64_t max_memory)
{
	*rec = (struct jfr_recording){
		.ctx = ctx, .fd = -1, .max_memory = memory_limit(max_memory), .from_ns = INT64_MIN,
	};
}

int jfr_recording_open(struct jfr_recording *rec, const struct ctx *ctx, uint64_t max_memory,
		       struct err *err)
{
	struct atomic_file out;

	begin(rec, ctx, max_memory);
	if (ctx->file)
		return open_file(rec, err);
	if (create(rec, &out, err) < 0 || jfr_fetch(ctx, "", 0, &out, err) < 0)
		return -1;
	return measure(rec, err);
}

int jfr_recording_make(struct jfr_recording *rec, const struct ctx *ctx, const char *words,
		       unsigned duration_ms, struct err *err)
{
	struct atomic_file out;

	begin(rec, ctx, 0);
	if (create(rec, &out, err) < 0 || jfr_record_to(ctx, words, duration_ms, &out, err) < 0)
		return -1;
	return measure(rec, err);
}

void jfr_recording_close(struct jfr_recording *rec)
{
	read_ahead_free(rec->ahead);
	util_close_p(&rec->fd);
}

int jfr_recording_result(const struct jfr_recording *rec, int rc, struct err *err)
{
	if (rc < 0 && rec->ctx->file)
		err_prefix(err, "%s", rec->ctx->file);
	if (rc == 0 && rec->error != EXIT_DONE)
		return err_set(err, EXIT_PARTIAL,
			       "the result is partial: parts of the recording could not be read, "
			       "for the reasons above");
	return rc;
}

bool jfr_is_recording(const char *target)
{
	size_t len = strlen(target);

	return len > 4 && strcmp(target + len - 4, ".jfr") == 0;
}
