#include "render/top/top_stack.h"

#include <string.h>

#include "base/printable.h"

static void add_text(struct buf *out, const char *text)
{
	printable_add(out, text, strlen(text));
}

static void add_wait(const struct thread_dump *dump, const struct dump_thread *t, struct buf *out)
{
	if (t->wait == THREAD_WAITS_NOT)
		return;
	buf_adds(out, "waits for ");
	add_text(out, t->waits_for.class ? t->waits_for.class : "a lock");
	if (t->owner != NO_THREAD) {
		buf_adds(out, ", held by \"");
		add_text(out, dump->threads[t->owner].name);
		buf_addc(out, '"');
	}
	buf_addc(out, '\n');
}

static void add_frames(const struct dump_thread *t, struct buf *out)
{
	for (size_t i = 0; i < t->n_frames; i++) {
		buf_adds(out, "    at ");
		add_text(out, t->frames[i]);
		buf_addc(out, '\n');
	}
	if (t->n_frames == 0)
		buf_adds(out, "    (no Java frames)\n");
}

static void add_thread(const struct thread_dump *dump, const struct dump_thread *t,
		       struct buf *out)
{
	buf_addf(out, "%s\"", t->virtual ? "virtual thread " : "");
	add_text(out, t->name);
	buf_adds(out, "\" ");
	add_text(out, t->state);
	buf_addc(out, '\n');
	add_wait(dump, t, out);
	add_frames(t, out);
}

void top_stack_add(const struct thread_dump *dump, int64_t tid, struct buf *out)
{
	const struct dump_thread *carrier = NULL;

	for (size_t i = 0; i < dump->n; i++) {
		const struct dump_thread *t = &dump->threads[i];

		if (t->tid == tid && !t->virtual)
			carrier = t;
		if (carrier && (t == carrier || (t->virtual && t->id >= 0 &&
						 t->id == carrier->carries)))
			add_thread(dump, t, out);
	}
	if (!carrier)
		buf_adds(out, "The thread dump does not have this thread: it has ended, or it "
			      "belongs to a native library.\n");
}
