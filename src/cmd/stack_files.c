#include "cmd/stack_files.h"

#include <string.h>

#include "fileio/io.h"
#include "render/profile/collapsed.h"
#include "render/profile/flamegraph.h"
#include "render/units.h"

int stack_files_open(struct stack_files *f, const char *collapsed, const char *flamegraph,
		     bool force, struct err *err)
{
	const char *const paths[] = { collapsed, flamegraph };

	if (collapsed && flamegraph && strcmp(collapsed, flamegraph) == 0)
		return err_set(err, EXIT_USAGE,
			       "--collapsed and --flamegraph name the same file: give two files");
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		if (!paths[i])
			continue;
		if (atomic_file_open(&f->files[i], paths[i],
				     force ? ATOMIC_FILE_REPLACE : ATOMIC_FILE_NEW, 0666, err) < 0)
			return -1;
		f->open[i] = true;
	}
	return 0;
}

static int write_one(struct atomic_file *f, const struct ctx *ctx, const struct buf *text,
		     struct err *err)
{
	_cleanup_buf_ struct buf shown = BUF_INIT;
	bool named = f->out_fd < 0;
	uint64_t size;
	int rc = io_write_all(f->fd, buf_str(text), text->len, DEADLINE_NEVER);

	if (rc < 0)
		return atomic_file_failed(f, rc, err);
	if (atomic_file_commit(f, &size, err) < 0)
		return -1;
	units_bytes(&shown, (int64_t)size);
	if (named)
		cmd_print_notice(ctx->cmd, "wrote %s: %s", f->path, buf_str(&shown));
	return 0;
}

int stack_files_write(struct stack_files *f, const struct ctx *ctx, struct call_tree *t,
		      const char *title, const char *subtitle, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	call_tree_sum(t);
	if (t->full)
		cmd_print_notice(ctx->cmd, "too many different stacks: some are truncated and "
					   "end at a caller");
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

void stack_files_release(struct stack_files *f)
{
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		if (f->open[i])
			atomic_file_release(&f->files[i]);
		f->open[i] = false;
	}
}
