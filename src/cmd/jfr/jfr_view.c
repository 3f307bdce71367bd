/* jfr view: opens a recording, which is a file or comes from a JVM, and prints a view of it. */
#include "cmd/jfr/jfr_view.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "discover/memory_check.h"
#include "fileio/input_file.h"
#include "fileio/io.h"
#include "model/jfr/query/jfr_views.h"

#define MB (UINT64_C(1) << 20)
#define MEMORY_MIN (64 * MB)

static int read_at(void *arg, uint64_t at, void *data, size_t len)
{
	const struct jfr_recording *rec = arg;
	uint8_t *to = data;

	while (len > 0) {
		ssize_t n = pread(rec->fd, to, len, (off_t)at);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ENODATA; /* the file has become shorter */
		if (n > 0) {
			to += n;
			at += (uint64_t)n;
			len -= (size_t)n;
		}
	}
	return 0;
}

struct jfr_reader *jfr_recording_reader(struct jfr_recording *rec)
{
	return jfr_reader_new(read_at, rec, rec->size, rec->max_memory);
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

static size_t memory_limit(const struct ctx *ctx)
{
	const struct jfr_opts *opts = ctx->opts;
	int64_t left = memory_left();
	uint64_t half = left < 0 ? MEMORY_MIN : (uint64_t)left / 2;

	if (opts->max_memory > 0)
		return (size_t)opts->max_memory;
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

/* Makes the JVM dump its recordings into an unnamed file. */
static int fetch_recording(struct jfr_recording *rec, struct err *err)
{
	struct atomic_file out = {
		.path = "the recording", .fd = io_unnamed_file(), .out_fd = -1, .dir_fd = -1,
	};
	struct stat st;

	rec->path = "recording";
	rec->fd = out.fd;
	if (out.fd < 0)
		return err_set(err, EXIT_PARTIAL, "cannot create a temporary file in '%s': %s; set "
			       "TMPDIR to another directory", io_temp_dir(), strerror(-out.fd));
	if (jfr_fetch(rec->ctx, "", 0, &out, err) < 0)
		return -1;
	if (fstat(out.fd, &st) < 0)
		return err_set(err, EXIT_PARTIAL, "cannot read the recording: %s", strerror(errno));
	rec->size = (uint64_t)st.st_size;
	return 0;
}

/* Sets rec->from_ns for --last: the end of the recording minus that time. */
static int find_start(struct jfr_recording *rec, struct err *err)
{
	const struct jfr_opts *opts = rec->ctx->opts;
	struct jfr_summary s;
	struct jfr_reader *r;
	int rc;

	rec->from_ns = INT64_MIN;
	if (opts->last_ms == 0)
		return 0;
	r = jfr_recording_reader(rec);
	rc = jfr_summary_read(r, INT64_MIN, &s, err);
	if (rc == 0)
		rec->from_ns = s.end_ns - (int64_t)opts->last_ms * 1000000;
	jfr_summary_release(&s);
	jfr_reader_free(r);
	return rc;
}

static int print_view(struct jfr_recording *rec, const char *view, struct err *err)
{
	const struct jfr_query *query = view ? jfr_view_find(view) : NULL;
	const struct jfr_opts *opts = rec->ctx->opts;

	if (!view)
		return jfr_view_page(rec, err);
	if (strcmp(view, "views") == 0)
		return jfr_view_list(rec, err);
	if (strcmp(view, "summary") == 0)
		return jfr_view_summary(rec, err);
	if (strcmp(view, "events") == 0)
		return jfr_view_events(rec, err);
	if (query && opts->filter)
		return err_set(err, EXIT_USAGE,
			       "--filter needs an event type: %s is a view of several events",
			       view);
	return query ? jfr_view_query(rec, query, err) : jfr_view_type(rec, view, err);
}

int jfr_view(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	struct jfr_recording rec = { .ctx = ctx, .fd = -1, .max_memory = memory_limit(ctx) };
	const char *view = ctx->n_args > 1 ? ctx->args[1] : NULL;
	int rc = ctx->file ? open_file(&rec, err) : fetch_recording(&rec, err);

	(void)req;
	if (rc == 0)
		rc = find_start(&rec, err);
	if (rc == 0)
		rc = print_view(&rec, view, err);
	util_close_p(&rec.fd);
	if (rc < 0 && ctx->file)
		err_prefix(err, "%s", ctx->file);
	if (rc == 0 && rec.error != EXIT_DONE)
		return err_set(err, EXIT_PARTIAL, "the result is partial: parts of the recording "
			       "could not be read, see above");
	return rc;
}
