/* top on a terminal: draws the values at every interval, and obeys keys. */
#include <errno.h>
#include <string.h>

#include "base/terminal.h"
#include "base/xalloc.h"
#include "cmd/top/top_internal.h"
#include "cmd/top/top_signals.h"
#include "cmd/top/top_terminal.h"
#include "fileio/io.h"
#include "render/top/screen_keys.h"
#include "render/top/top_screen.h"
#include "render/top/top_stack.h"

/*
 * The second reading of the values comes after min(interval, FIRST_MS) ms, because CPU shares need
 * two readings.
 */
#define FIRST_MS 1000
#define KEYS_MAX 256

enum view { VIEW_TABLE, VIEW_HELP, VIEW_STACK };

struct live {
	struct top *t;
	const struct top_pace *pace;
	struct screen shown; /* the content of the terminal; no rows: the content is unknown */
	struct top_place place;
	enum view view;
	bool paused, quit, suspend;
	struct err note;  /* shown in the last row until a key is pressed; EXIT_DONE: nothing */
	struct buf stack; /* text for VIEW_STACK */
	char *title;
	int64_t stack_tid; /* tid of the thread whose stack was requested; -1: none */
	int64_t due_ns, end_ns;
	unsigned done; /* number of readings with CPU shares so far; limited by COUNT */
};

static const char *status_of(const struct live *l, struct buf *out)
{
	const struct top *t = l->t;

	if (l->note.code != EXIT_DONE)
		buf_addf(out, "%s   ", l->note.text);
	else if (l->paused)
		buf_adds(out, "paused: Space continues   ");
	else if (!t->shows_jvms && !t->one.has_names && t->one.why.code != EXIT_DONE)
		buf_addf(out, "names are those of the kernel: %s   ", t->one.why.text);
	if (l->view == VIEW_TABLE)
		buf_addf(out, "q quit  ? help  s sort: %s%s  Enter %s  Space pause  %s",
			 top_sort_names[t->filter.sort], t->filter.reverse ? ", reversed" : "",
			 t->shows_jvms ? "threads" : "stack", t->shows_jvms ? "t threads" :
									      "j JVMs");
	else
		buf_addf(out, "q quit  Esc back%s", l->view == VIEW_STACK ? "  Enter again" : "");
	return buf_str(out);
}

static void compose(struct live *l, struct screen *s)
{
	_cleanup_buf_ struct buf status = BUF_INIT;

	switch (l->view) {
	case VIEW_TABLE:
		top_screen_table(s, &l->t->view, &l->place, status_of(l, &status));
		break;
	case VIEW_HELP:
		top_screen_text(s, "Keys and columns", top_screen_help, &l->place,
				status_of(l, &status));
		break;
	case VIEW_STACK:
		top_screen_text(s, l->title, buf_str(&l->stack), &l->place,
				status_of(l, &status));
		break;
	}
}

static void draw(struct live *l)
{
	struct terminal size = { 24, 80 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct screen now;

	(void)terminal_size(STDOUT_FILENO, &size); /* on failure, `size` has the default */
	screen_init(&now, size.rows, size.columns);
	compose(l, &now);
	screen_draw(l->shown.rows ? &l->shown : NULL, &now, &out);
	screen_release(&l->shown);
	if (top_terminal_write(&out))
		l->shown = now;
	else
		screen_release(&now); /* the content of the terminal is unknown now */
}

/*
 * Reads all values again.  If the JVM has exited, its last table stays on the screen, and the last
 * row of the screen says that the JVM has exited.
 */
static void read_again(struct live *l)
{
	struct err why = { .code = EXIT_DONE };

	if ((l->t->shows_jvms || !l->t->one.is_gone) && top_read(l->t, &why) < 0)
		l->note = why;
	top_refresh(l->t);
	l->done += l->t->view.seconds > 0;
}

static void begin_view(struct live *l)
{
	l->view = VIEW_TABLE;
	l->place = (struct top_place){ .selected = 0 };
	l->stack_tid = -1;
	read_again(l);
	l->due_ns = monotonic_ns() +
		    (int64_t)(l->pace->interval_ms < FIRST_MS ? l->pace->interval_ms : FIRST_MS) *
			    1000000;
}

/*
 * Returns the index in t->rows of the selected row.  The view must have a row.  After a key or a
 * refresh, place.selected may be beyond the last row until the screen is drawn.
 */
static size_t selected_row(const struct live *l)
{
	size_t n = l->t->view.n;

	return l->place.selected < n ? l->place.selected : n - 1;
}

static void show_stack(struct live *l)
{
	struct top *t = l->t;
	const struct top_thread *thread;
	struct err why = { .code = EXIT_DONE };

	/*
	 * If VIEW_STACK is shown already, request the dump again for the same thread, although the
	 * thread may be in another row now.
	 */
	if (l->view != VIEW_STACK) {
		if (t->view.n == 0)
			return;
		thread = &t->one.threads.list[t->rows[selected_row(l)]];
		l->stack_tid = thread->tid;
		free(l->title);
		l->title = xasprintf("%s, tid %lld", top_thread_name(thread),
				     (long long)thread->tid);
		l->place.scroll = 0;
	}
	buf_reset(&l->stack);
	l->view = VIEW_STACK;
	if (top_request_dump(t, &why) < 0)
		buf_addf(&l->stack, "%s\n", why.text);
	else
		buf_adds(&l->stack, "waiting for the JVM's thread dump ...\n");
}

static void take_dump(struct live *l)
{
	struct top_process *p = &l->t->one;
	int rc = top_take_dump(l->t);

	if (rc == 0)
		return;
	if (l->view == VIEW_STACK) {
		buf_reset(&l->stack);
		if (rc < 0) {
			buf_addf(&l->stack, "%s\n", p->why.text);
		} else {
			struct thread_dump dump = { .threads = NULL };

			thread_dump_parse(&dump, p->text.data, p->text.len);
			thread_dump_link(&dump);
			top_stack_add(&dump, l->stack_tid, &l->stack);
			thread_dump_release(&dump);
		}
	}
	top_refresh(l->t);
}

static void show_jvms(struct live *l)
{
	struct jvm_list none = { NULL, 0 };

	top_show_jvms(l->t, &none);
	begin_view(l);
}

static void show_threads_of_selected(struct live *l)
{
	struct top *t = l->t;
	struct err why = { .code = EXIT_DONE };
	struct jvm *jvm;

	if (t->view.n == 0)
		return;
	jvm = discover_pid(&t->proc, (pid_t)t->all.rows[t->rows[selected_row(l)]].pid, &why);
	if (!jvm) {
		l->note = why;
		return;
	}
	top_show_threads(t, jvm, jvm);
	begin_view(l);
}

static void show_last_threads(struct live *l)
{
	if (!l->t->one.jvm) {
		show_threads_of_selected(l);
		return;
	}
	l->t->shows_jvms = false;
	if (l->t->filter.sort >= N_TOP_SORT_THREADS)
		l->t->filter.sort = TOP_SORT_CPU;
	begin_view(l);
}

static void sort_by_next(struct top *t)
{
	int n = t->shows_jvms ? N_TOP_SORT : N_TOP_SORT_THREADS;

	t->filter.sort = (enum top_sort)((int)(t->filter.sort + 1) % n);
	top_refresh(t);
}

static void move(struct live *l, int key)
{
	size_t *at = l->view == VIEW_TABLE ? &l->place.selected : &l->place.scroll;
	size_t page = l->place.page > 0 ? l->place.page : 1;

	switch (key) {
	case KEY_UP:
		*at -= *at > 0;
		break;
	case KEY_DOWN:
		*at += 1; /* drawing corrects a position beyond the end */
		break;
	case KEY_PAGE_UP:
		*at -= *at < page ? *at : page;
		break;
	case KEY_PAGE_DOWN:
		*at += page;
		break;
	case KEY_HOME:
		*at = 0;
		break;
	case KEY_END:
		*at = SIZE_MAX / 2;
		break;
	default:
		break;
	}
}

static void press_in_table(struct live *l, int key)
{
	struct top *t = l->t;

	switch (key) {
	case KEY_ENTER:
		if (t->shows_jvms)
			show_threads_of_selected(l);
		else
			show_stack(l);
		break;
	case 'j':
		if (!t->shows_jvms)
			show_jvms(l);
		break;
	case 't':
		if (t->shows_jvms)
			show_last_threads(l);
		break;
	case 's':
		sort_by_next(t);
		break;
	case 'r':
		t->filter.reverse = !t->filter.reverse;
		top_refresh(t);
		break;
	case ' ':
	case 'p':
		l->paused = !l->paused;
		break;
	default:
		move(l, key);
	}
}

static void press(struct live *l, int key)
{
	/* The note that the JVM has exited stays until another JVM is chosen. */
	if (l->t->shows_jvms || !l->t->one.is_gone)
		l->note.code = EXIT_DONE;
	if (key == 'q') {
		l->quit = true;
	} else if (key == '?' || key == 'h') {
		l->view = l->view == VIEW_HELP ? VIEW_TABLE : VIEW_HELP;
		l->place.scroll = 0;
	} else if (l->view == VIEW_TABLE) {
		press_in_table(l, key);
	} else if (key == KEY_ESCAPE || key == KEY_BACKSPACE || key == KEY_LEFT) {
		l->view = VIEW_TABLE;
	} else if (key == KEY_ENTER && l->view == VIEW_STACK) {
		show_stack(l);
	} else {
		move(l, key);
	}
	if (l->t->shows_jvms || !l->t->one.is_gone)
		return;
	(void)jvm_gone(l->t->one.jvm, &l->note);
}

static void take_keys(struct live *l)
{
	char bytes[KEYS_MAX];
	ssize_t n = io_read(STDIN_FILENO, bytes, sizeof(bytes));

	/* poll(2) has reported the terminal as readable: if there are no bytes, it was closed. */
	if (n <= 0)
		l->quit = true;
	for (size_t at = 0; n > 0 && at < (size_t)n && !l->quit;) {
		int key;

		if (top_terminal_is_suspend(bytes[at])) {
			l->suspend = true;
			at++;
			continue;
		}
		at += screen_key(bytes + at, (size_t)n - at, &key);
		if (key != KEY_NONE)
			press(l, key);
	}
}

static void follow_signals(struct live *l)
{
	bool is_suspended = top_signals_take_suspend() || l->suspend;

	l->suspend = false;
	if (is_suspended) {
		top_terminal_leave();
		top_signals_suspend();
	}
	if (top_signals_take_resume() || is_suspended) {
		top_terminal_resume();
		screen_release(&l->shown);
	}
	if (top_signals_take_resize())
		screen_release(&l->shown);
}

static bool is_over(const struct live *l)
{
	return l->quit || top_signals_stop() || monotonic_ns() >= l->end_ns ||
	       (l->pace->count > 0 && l->done >= l->pace->count);
}

static void wait_for_event(struct live *l)
{
	bool is_waiting = !l->paused && (l->t->shows_jvms || !l->t->one.is_gone);
	struct deadline until = { is_waiting && l->due_ns < l->end_ns ? l->due_ns : l->end_ns };
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = top_dump_fd(&l->t->one.dump), .events = POLLIN } };

	/*
	 * If a signal has interrupted draw(), which waits for a stopped terminal (^S), no signal
	 * would interrupt the next wait.
	 */
	if (!l->shown.rows)
		until.at_ns = 0;
	if (top_signals_wait(fds, ARRAY_SIZE(fds), until) > 0) {
		if (fds[1].revents)
			take_dump(l);
		if (fds[0].revents)
			take_keys(l);
	}
	follow_signals(l);
	if (is_waiting && monotonic_ns() >= l->due_ns && !is_over(l)) {
		l->due_ns = top_next_ns(l->t, l->pace, l->due_ns);
		read_again(l);
	}
}

static void run(struct live *l)
{
	begin_view(l);
	while (!is_over(l)) {
		draw(l);
		wait_for_event(l);
	}
}

int top_live(struct top *t, const struct top_pace *pace, struct err *err)
{
	const struct top_opts *opts = t->ctx->opts;
	struct live l = { .t = t, .pace = pace, .stack_tid = -1, .stack = BUF_INIT,
			  .end_ns = DEADLINE_NEVER.at_ns };
	int rc;

	if (opts->duration_ms > 0)
		l.end_ns = deadline_in_ms(opts->duration_ms).at_ns;
	top_signals_begin(true);
	rc = top_terminal_enter();
	if (rc == 0)
		run(&l);
	top_terminal_leave();
	top_signals_end();
	screen_release(&l.shown);
	buf_release(&l.stack);
	free(l.title);
	if (rc < 0)
		return err_set(err, EXIT_USAGE, "cannot use the terminal: %s; use --json",
			       strerror(-rc));
	if (!t->shows_jvms && t->one.is_gone)
		return jvm_gone(t->one.jvm, err);
	return 0;
}
