#include "cmd/pause_note.h"

#include <unistd.h>

#include "discover/memory_check.h"
#include "render/units.h"

static const struct {
	const char *what;
	double s_per_gb;
} kinds[] = {
	[PAUSE_DUMP] = { "the heap dump", 1.3 },
	[PAUSE_COLLECTION] = { "the full collection", 1.0 },
};

void pause_note_add(struct buf *out, enum pause_kind kind, int64_t heap_used, bool is_bound)
{
	double seconds = (double)heap_used / 1e9 * kinds[kind].s_per_gb;

	buf_addf(out, "%s pauses the JVM, for about ", kinds[kind].what);
	if (seconds < 0.1)
		buf_adds(out, "0.1 s or less");
	else
		buf_addf(out, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
	buf_adds(out, is_bound ? ": at most " : ": ");
	units_bytes(out, heap_used);
	buf_adds(out, " of heap are in use");
}

void pause_note_print(const struct ctx *ctx, enum pause_kind kind)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int64_t heap = memory_heap_used(ctx->jvm);

	if (heap < 0)
		return;
	pause_note_add(&text, kind, heap, ctx->jvm->heap_used <= 0);
	if (isatty(STDERR_FILENO))
		cmd_print_notice(ctx->cmd, "%s", buf_str(&text));
	else
		verbose_step(ctx->steps, "%s", buf_str(&text));
}
