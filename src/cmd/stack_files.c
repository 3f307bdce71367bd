#include "cmd/stackfiles.h"

#include <string.h>

#include "base/io.h"
#include "render/collapsed.h"
#include "render/flamegraph.h"

int stackfiles_open(struct stackfiles *f, const char *collapsed, const char *flamegraph, bool force,
		    struct err *err)
{
	const char *const paths[] = { collapsed, flamegraph };

	if (collapsed && flamegraph && strcmp(collapsed, flamegraph) == 0)
		return err_set(err, EXIT_USAGE,
			       "--collapsed and --flamegraph name the same file: name two");
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		if (!paths[i])
			continue;
		if (outfile_open(&f->files[i], paths[i], force ? OUTFILE_REPLACE : OUTFILE_NEW,
				 0666, err) < 0)
			return -1;
		f->open[i] = true;
	}
	return 0;
}

static int write_one(struct outfile *f, const struct ctx *ctx, const struct buf *text,
		     struct err *err)
{
	bool named = f->out_fd < 0;
	uint64_t size;
	int rc = io_write_all(f->fd, buf_str(text), text->len, IO_NO_DEADLINE);

	if (rc < 0)
		return outfile_failed(f, rc, err);
	if (outfile_commit(f, &size, err) < 0)
		return -1;
	if (named)
		cmd_note(ctx->cmd, "wrote %s: %llu bytes", f->path, (unsigned long long)size);
	return 0;
}

int stackfiles_write(struct stackfiles *f, const struct ctx *ctx, struct stacktree *t,
		     const char *title, const char *subtitle, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	stacktree_sum(t);
	if (t->full)
		cmd_note(ctx->cmd, "there are more stacks than there is room for: some end at "
			 "their callers");
	if (f->open[STACKFILE_COLLAPSED]) {
		collapsed_add(&text, t, 0);
		if (write_one(&f->files[STACKFILE_COLLAPSED], ctx, &text, err) < 0)
			return -1;
	}
	if (f->open[STACKFILE_FLAMEGRAPH]) {
		buf_reset(&text);
		flamegraph_add(&text, t, title, subtitle);
		return write_one(&f->files[STACKFILE_FLAMEGRAPH], ctx, &text, err);
	}
	return 0;
}

void stackfiles_release(struct stackfiles *f)
{
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		if (f->open[i])
			outfile_release(&f->files[i]);
		f->open[i] = false;
	}
}
