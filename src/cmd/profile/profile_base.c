/* profile --diff: reads the earlier profile. */
#include <string.h>

#include "cmd/profile/profile.h"
#include "fileio/input_file.h"
#include "fileio/io.h"
#include "model/profile/call_tree_diff.h"

#define COLLAPSED_MAX (256u << 20) /* bytes */

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

static int read_collapsed(const struct ctx *ctx, struct profile *base, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct stat st;
	_cleanup_close_ int fd = input_file_open(opts->diff, INPUT_FILE_PIPE, &st, err);
	size_t line;
	int rc;

	if (fd < 0)
		return -1;
	rc = io_slurp(fd, &text, COLLAPSED_MAX);
	if (rc < 0)
		return input_file_failed(opts->diff, rc, err);
	*base = (struct profile){ .kind = (enum profile_kind)opts->event };
	call_tree_init(&base->tree, "", NULL);
	base->tree.ends_in_classes = opts->event != PROFILE_CPU && opts->event != PROFILE_WALL;
	line = call_tree_add_collapsed(&base->tree, text.data, text.len);
	if (line > 0)
		return err_set(err, EXIT_USAGE,
			       "%s: line %zu is not a collapsed stack: --diff reads a .jfr file or "
			       "the output of --collapsed", opts->diff, line);
	return 0;
}

int profile_read_base(const struct ctx *ctx, struct profile *base, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	int rc = jfr_is_recording(opts->diff) ? read_recording(ctx, base, err)
					      : read_collapsed(ctx, base, err);

	if (rc == 0)
		call_tree_sum(&base->tree);
	return rc;
}
