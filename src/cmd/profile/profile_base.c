/* profile --diff: reads the earlier profile. */
#include <errno.h>
#include <string.h>

#include "base/strview.h"
#include "cmd/profile/profile.h"
#include "fileio/input_file.h"
#include "fileio/io.h"
#include "model/profile/call_tree_diff.h"
#include "model/profile/pprof_read.h"

#define STACKS_MAX (256u << 20) /* limit in bytes for the file, and for its decompressed data */

static int read_recording(const struct ctx *ctx, struct profile *base, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	struct ctx of_base = *ctx;
	struct jfr_recording rec;
	int rc;

	of_base.file = opts->diff;
	rc = jfr_recording_open(&rec, &of_base, 0, err);
	if (rc == 0)
		rc = profile_read(&rec, base, err);
	jfr_recording_close(&rec);
	return jfr_recording_result(&rec, rc, err);
}

static int add_collapsed(const char *path, const struct buf *text, struct call_tree *t,
			 struct err *err)
{
	size_t line = call_tree_add_collapsed(t, text->data, text->len);

	if (line == 0)
		return 0;
	return err_set(err, EXIT_USAGE,
		       "%s: line %zu is not a collapsed stack: --diff reads a .jfr file or "
		       "the output of --collapsed or --pprof", path, line);
}

/* Adds a pprof profile.  Returns 1; or 0 if the file is not a pprof profile; or -1 with err set. */
static int add_pprof(const char *path, const struct buf *file, struct call_tree *t, struct err *err)
{
	_cleanup_buf_ struct buf message = BUF_INIT;
	bool compressed = pprof_is_gzip(file->data, file->len);
	int rc = 0;

	if (!compressed && !strview_has_suffix(path, ".pprof") &&
	    !strview_has_suffix(path, ".pb"))
		return 0;
	if (compressed)
		rc = pprof_expand(&message, file->data, file->len, STACKS_MAX);
	if (rc == 0)
		rc = compressed ? pprof_read(t, message.data, message.len)
				: pprof_read(t, file->data, file->len);
	if (rc == -EFBIG)
		return err_set(err, EXIT_USAGE, "%s: larger than %u MB when decompressed", path,
			       STACKS_MAX >> 20);
	return rc == 0 ? 1 : err_set(err, EXIT_USAGE, "%s: not a profile in the format of pprof: "
				     "it is truncated, damaged, or compressed data of another kind",
				     path);
}

static int read_stacks(const struct ctx *ctx, struct profile *base, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct stat st;
	_cleanup_close_ int fd = input_file_open(opts->diff, INPUT_FILE_PIPE, &st, err);
	int rc;

	if (fd < 0)
		return -1;
	rc = io_slurp(fd, &text, STACKS_MAX);
	if (rc < 0)
		return input_file_failed(opts->diff, rc, err);
	*base = (struct profile){ .kind = (enum profile_kind)opts->event };
	call_tree_init(&base->tree, "", NULL);
	base->tree.ends_in_classes = opts->event != PROFILE_CPU && opts->event != PROFILE_WALL;
	rc = add_pprof(opts->diff, &text, &base->tree, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	return add_collapsed(opts->diff, &text, &base->tree, err);
}

int profile_read_base(const struct ctx *ctx, struct profile *base, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	int rc = jfr_is_recording(opts->diff) ? read_recording(ctx, base, err)
					      : read_stacks(ctx, base, err);

	if (rc == 0)
		call_tree_sum(&base->tree);
	return rc;
}
