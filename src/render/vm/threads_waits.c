/* jtool threads --deadlocks and --blocked: prints which thread waits for which other thread. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "render/limit.h"
#include "render/vm/threads_view.h"

#define FRAMES_SHOWN 3
#define INDENT_MAX 20

static void add_text(struct buf *out, const char *text)
{
	printable_add(out, text, strlen(text));
}

/* Appends a thread as: "main" (tid 117, BLOCKED). */
static void add_thread(struct buf *out, const struct dump_thread *t)
{
	buf_addc(out, '"');
	add_text(out, t->name);
	buf_addc(out, '"');
	if (t->tid >= 0)
		buf_addf(out, " (tid %" PRId64 ", ", t->tid);
	else
		buf_adds(out, " (");
	add_text(out, t->state);
	buf_addc(out, ')');
}

/* Appends the lock for which a thread waits: " waits for java.lang.Object 0x00000000ffd31560". */
static void add_wait(struct buf *out, const struct dump_thread *t)
{
	buf_adds(out, " waits for ");
	add_text(out, t->waits_for.class ? t->waits_for.class : "an object");
	buf_adds(out, t->waits_for.is_hash ? "" : " ");
	threads_view_add_object(out, &t->waits_for);
}

/*
 * Appends the stack frames, the innermost first, but not more than `most`; and then the number of
 * omitted frames, if any.
 */
static void add_frames(struct buf *out, const struct dump_thread *t, size_t most,
		       const char *indent)
{
	for (size_t i = 0; i < t->n_frames && i < most; i++) {
		buf_addf(out, "%sat ", indent);
		add_text(out, t->frames[i]);
		buf_addc(out, '\n');
	}
	if (t->n_frames > most)
		buf_addf(out, "%s... %zu more\n", indent, t->n_frames - most);
}

static void add_ring(struct buf *out, const struct thread_dump *d, size_t ring)
{
	size_t first = 0, n = 0, at;

	while (d->threads[first].ring != ring)
		first++;
	for (size_t i = first; i < d->n; i++)
		n += d->threads[i].ring == ring;
	buf_addf(out, "deadlock of %zu threads:\n", n);
	at = first;
	do {
		const struct dump_thread *t = &d->threads[at];

		buf_adds(out, "  ");
		add_thread(out, t);
		add_wait(out, t);
		buf_adds(out, ", held by \"");
		add_text(out, d->threads[t->owner].name);
		buf_adds(out, "\"\n");
		add_frames(out, t, SIZE_MAX, "      ");
		at = t->owner;
	} while (at != first);
}

void threads_view_print_deadlocks(const struct threads_view *v, FILE *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (size_t ring = 1; ring <= v->dump->n_rings; ring++) {
		buf_adds(&text, ring > 1 ? "\n" : "");
		add_ring(&text, v->dump, ring);
	}
	if (v->dump->n_rings == 0)
		buf_adds(&text, "no deadlock\n");
	fwrite(text.data, 1, text.len, out);
}

/*
 * For each thread, a linked list of the threads that wait for it.  first[i] is the first entry in
 * the list of thread i; next[k] is the entry after the entry k.  An entry is a thread's index + 1;
 * 0: the list ends.
 */
struct waiters {
	size_t *first, *next;
};

static struct waiters make_waiters(const struct thread_dump *d)
{
	struct waiters w = {
		.first = xcalloc(d->n + 1, sizeof(*w.first)),
		.next = xcalloc(d->n + 1, sizeof(*w.next)),
	};

	for (size_t i = d->n; i > 0; i--) {
		size_t owner = d->threads[i - 1].owner;

		if (owner == NO_THREAD || d->threads[i - 1].ring > 0)
			continue;
		w.next[i] = w.first[owner];
		w.first[owner] = i;
	}
	return w;
}

static void add_waiter(struct buf *out, const struct dump_thread *t, size_t depth)
{
	buf_addf(out, "%*s", (int)(2 * (depth < INDENT_MAX ? depth : INDENT_MAX)), "");
	add_thread(out, t);
	add_wait(out, t);
	if (t->n_waiting > 0)
		buf_addf(out, ", and holds up %zu", t->n_waiting);
	buf_addc(out, '\n');
}

/*
 * Appends the tree of the threads that wait for the thread `root`, directly or indirectly.  Not
 * recursive, because a hostile target could make the tree very deep.
 */
static void add_tree(struct buf *out, const struct thread_dump *d, const struct waiters *w,
		     size_t root)
{
	size_t *path = xcalloc(d->n + 1, sizeof(*path)), depth = 0;

	path[depth] = w->first[root];
	for (;;) {
		size_t at = path[depth];

		if (at == 0) {
			if (depth == 0)
				break;
			depth--;
			path[depth] = w->next[path[depth]];
			continue;
		}
		add_waiter(out, &d->threads[at - 1], depth + 1);
		path[++depth] = w->first[at - 1];
	}
	free(path);
}

struct root {
	size_t thread, n_waiting;
};

static int by_waiting(const void *a, const void *b)
{
	const struct root *x = a, *y = b;

	if (x->n_waiting != y->n_waiting)
		return x->n_waiting < y->n_waiting ? 1 : -1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void threads_view_print_blocked(const struct threads_view *v, FILE *out)
{
	const struct thread_dump *d = v->dump;
	struct waiters waiters = make_waiters(d);
	struct root *roots = xcalloc(d->n + 1, sizeof(*roots));
	size_t n = 0, shown;
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (size_t i = 0; i < d->n; i++) {
		const struct dump_thread *t = &d->threads[i];

		if (t->n_waiting > 0 && (t->owner == NO_THREAD || t->ring > 0))
			roots[n++] = (struct root){ i, t->n_waiting };
	}
	if (n > 0)
		qsort(roots, n, sizeof(*roots), by_waiting);
	shown = limit_rows(v->limit, false, LIMIT_ROWS, n);
	for (size_t i = 0; i < shown; i++) {
		const struct dump_thread *t = &d->threads[roots[i].thread];

		buf_adds(&text, i > 0 ? "\n" : "");
		add_thread(&text, t);
		buf_addf(&text, " holds up %zu thread%s%s\n", t->n_waiting,
			 t->n_waiting == 1 ? "" : "s", t->ring > 0 ? ", and is in a deadlock" : "");
		add_frames(&text, t, FRAMES_SHOWN, "    ");
		add_tree(&text, d, &waiters, roots[i].thread);
	}
	limit_add_more(&text, n - shown, "thread that holds up others",
		       "threads that hold up others");
	if (d->n_rings > 0)
		buf_addf(&text, "%s%zu deadlock%s: --deadlocks shows %s\n", n > 0 ? "\n" : "",
			 d->n_rings, d->n_rings == 1 ? "" : "s", d->n_rings == 1 ? "it" : "them");
	if (n == 0 && d->n_rings == 0)
		buf_adds(&text, "no thread waits for another\n");
	fwrite(text.data, 1, text.len, out);
	free(waiters.first);
	free(waiters.next);
	free(roots);
}
