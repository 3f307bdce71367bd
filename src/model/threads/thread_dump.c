#include "model/threads/thread_dump.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/strview.h"
#include "base/xalloc.h"

#define NAME_LINES_MAX 16 /* a name may contain line feeds */

struct parser {
	struct thread_dump *dump;
	struct dump_thread *thread; /* whose lines follow; NULL: none */
	bool synchronizers;         /* the lines that follow are "Locked ownable synchronizers" */
};

static bool starts(struct strview s, const char *prefix)
{
	size_t len = strlen(prefix);

	return strview_len(s) >= len && memcmp(s.at, prefix, len) == 0;
}

static const char *find(struct strview s, const char *text)
{
	return memmem(s.at, strview_len(s), text, strlen(text));
}

/* A NUL, which no JVM sends, ends the copy. */
static char *copy(const char *from, const char *to)
{
	return xstrndup(from, (size_t)(to - from));
}

/* Takes the name. */
static struct dump_thread *add(struct thread_dump *d, char *name)
{
	struct dump_thread *t;

	d->threads = xgrow(d->threads, d->n, &d->cap, sizeof(*d->threads));
	t = &d->threads[d->n++];
	*t = (struct dump_thread){
		.name = name,
		.id = -1,
		.tid = -1,
		.cpu_s = -1,
		.cpu_percent = -1,
		.allocated = -1,
		.carries = -1,
		.owner = NO_THREAD,
	};
	return t;
}

struct dump_thread *thread_dump_add(struct thread_dump *d, const char *name, int64_t tid)
{
	struct dump_thread *t = add(d, xstrdup(name));

	t->tid = tid;
	t->state = xstrdup("native");
	return t;
}

/* Parses a decimal or hexadecimal number.  Returns -1 if there is none. */
static int64_t number_at(const char *at, const char *end)
{
	char digits[24] = "";
	size_t n = 0;
	char *rest;
	int64_t value;

	while (at + n < end && n + 1 < sizeof(digits) && isalnum((unsigned char)at[n])) {
		digits[n] = at[n];
		n++;
	}
	value = strtoll(digits, &rest, strncmp(digits, "0x", 2) == 0 ? 16 : 10);
	return rest == digits || value < 0 ? -1 : value;
}

/* Returns the word after " KEY=", or NULL. */
static const char *value_of(struct strview header, const char *key)
{
	const char *at = find(header, key);

	return at ? at + strlen(key) : NULL;
}

static double real_at(const char *at, const char *end)
{
	char digits[32] = "";
	size_t n = 0;

	while (at + n < end && n + 1 < sizeof(digits) &&
	       (isdigit((unsigned char)at[n]) || at[n] == '.')) {
		digits[n] = at[n];
		n++;
	}
	return strtod(digits, NULL);
}

/* Parses "1234B", "497K", "2M": byte_size_in_proper_unit() and its unit. */
static int64_t size_at(const char *at, const char *end)
{
	static const char units[] = "BKMGT";
	int64_t value = number_at(at, end);
	const char *unit = at;

	if (value < 0 || !isdigit((unsigned char)*at))
		return -1;
	while (unit < end && isdigit((unsigned char)*unit))
		unit++;
	value = strtoll(at, NULL, 10);
	unit = unit < end ? strchr(units, *unit) : NULL;
	if (!unit || *unit == '\0')
		return value;
	for (const char *u = units; u < unit; u++) {
		if (value > INT64_MAX / 1024)
			return INT64_MAX;
		value *= 1024;
	}
	return value;
}

/* The words after nid=…: "waiting on condition  [0x00007f…]". */
static char *condition_of(const char *at, const char *end)
{
	struct strview rest = { at, end };
	const char *stack = find(rest, "[0x");

	if (stack)
		end = stack;
	while (at < end && *at != ' ')
		at++;
	while (at < end && *at == ' ')
		at++;
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	return copy(at, end);
}

/*
 * Takes a line such as "main" #1 [117] daemon prio=5 cpu=45.63ms allocated=497K tid=0x… nid=117
 * runnable  [0x…] Returns false for any other line.  The name may contain quotes: the last one ends
 * it.
 */
static bool take_header(struct parser *p, struct strview line)
{
	const char *quote = memrchr(line.at, '"', strview_len(line));
	struct strview rest = { quote ? quote + 1 : line.end, line.end };
	const char *nid, *at;
	struct dump_thread *t;

	if (!starts(line, "\"") || quote == line.at)
		return false;
	nid = value_of(rest, " nid=");
	if (!nid)
		return false;
	t = p->thread = add(p->dump, copy(line.at + 1, quote));
	t->tid = number_at(nid, line.end);
	if (starts(rest, " #"))
		t->id = number_at(rest.at + 2, line.end);
	t->daemon = find(rest, " daemon ") != NULL;
	at = value_of(rest, " cpu=");
	if (at)
		t->cpu_s = real_at(at, line.end) / 1e3;
	at = value_of(rest, " allocated=");
	if (at)
		t->allocated = size_at(at, line.end);
	t->state = condition_of(nid, line.end);
	p->synchronizers = false;
	return true;
}

/* JDK 21 and later: `   Mounted virtual thread "name" #22`, followed by its frames. */
static bool take_virtual(struct parser *p, struct strview line)
{
	static const char mounted[] = "   Mounted virtual thread \"";
	const char *quote = memrchr(line.at, '"', strview_len(line));
	struct dump_thread *t;

	if (!starts(line, mounted) || quote < line.at + sizeof(mounted) - 1)
		return false;
	t = p->thread = add(p->dump, copy(line.at + sizeof(mounted) - 1, quote));
	if (starts((struct strview){ quote + 1, line.end }, " #"))
		t->id = number_at(quote + 3, line.end);
	t->daemon = t->virtual = true;
	t->state = xstrdup("RUNNABLE");
	p->synchronizers = false;
	return true;
}

/* Parses "<0x00000000ffd31560> (a Locks$Lock)"; sets only what is there. */
static struct thread_lock lock_of(struct strview text)
{
	struct thread_lock lock = { 0, NULL };
	const char *at = find(text, "<0x"), *class = find(text, "> (a ");
	const char *end = memrchr(text.at, ')', strview_len(text));

	if (at)
		lock.object = strtoull(at + 1, NULL, 16);
	if (class && end && class + 5 < end)
		lock.class = copy(class + 5, end);
	return lock;
}

static void add_hold(struct dump_thread *t, struct thread_lock lock)
{
	bool is_known = lock.object == 0; /* "<owner is scalar replaced>": nobody can wait for it */

	/*
	 * Skips an object that the thread waits for, because it was released, and repeated locks.
	 */
	if (t->wait != THREAD_WAITS_NOT && lock.object == t->waits_for.object)
		is_known = true;
	for (size_t i = 0; i < t->n_holds && !is_known; i++)
		is_known = t->holds[i].object == lock.object;
	if (is_known) {
		free(lock.class);
		return;
	}
	t->holds = xgrow(t->holds, t->n_holds, &t->cap_holds, sizeof(*t->holds));
	t->holds[t->n_holds++] = lock;
}

static void add_wait(struct dump_thread *t, enum thread_wait wait, struct thread_lock lock)
{
	if (t->wait != THREAD_WAITS_NOT) { /* of an outer frame */
		free(lock.class);
		return;
	}
	/* A thread that was notified waits for the monitor. */
	if (wait == THREAD_WAITS_FOR_NOTIFY && strcmp(t->state, "BLOCKED") == 0)
		wait = THREAD_WAITS_FOR_MONITOR;
	t->wait = wait;
	t->waits_for = lock;
}

static void take_lock(struct parser *p, struct strview line)
{
	static const struct {
		const char *words;
		enum thread_wait wait;
	} waits[] = {
		{ "waiting to lock ", THREAD_WAITS_FOR_MONITOR },
		{ "waiting to re-lock in wait() ", THREAD_WAITS_FOR_MONITOR },
		{ "waiting on ", THREAD_WAITS_FOR_NOTIFY },
		{ "parking to wait for ", THREAD_WAITS_PARKED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		if (starts(line, waits[i].words)) {
			add_wait(p->thread, waits[i].wait, lock_of(line));
			return;
		}
	}
	if (starts(line, "locked <") || (p->synchronizers && starts(line, "<0x")))
		add_hold(p->thread, lock_of(line));
}

/* Takes "a.b.C.m(java.base@17.0.15/C.java:12)", without the module and its version. */
static void take_frame(struct dump_thread *t, struct strview frame)
{
	char *text = copy(frame.at, frame.end), *open = strrchr(text, '(');
	char *slash = open ? strchr(open, '/') : NULL;

	if (slash)
		memmove(open + 1, slash + 1, strlen(slash + 1) + 1);
	t->frames = xgrow(t->frames, t->n_frames, &t->cap_frames, sizeof(*t->frames));
	t->frames[t->n_frames++] = text;
}

static void take_state(struct dump_thread *t, struct strview state)
{
	const char *end = state.at;

	while (end < state.end && (isalnum((unsigned char)*end) || *end == '_'))
		end++;
	free(t->state);
	t->state = copy(state.at, end);
}

static struct strview after(struct strview line, const char *prefix)
{
	return (struct strview){ line.at + strlen(prefix), line.end };
}

static void take_detail(struct parser *p, struct strview line)
{
	static const char state[] = "   java.lang.Thread.State: ";
	static const char carrying[] = "   Carrying virtual thread #";
	static const char synchronizers[] = "   Locked ownable synchronizers:";

	if (starts(line, synchronizers)) {
		p->synchronizers = p->dump->has_synchronizers = true;
		return;
	}
	if (!p->thread)
		return;
	if (starts(line, "\tat "))
		take_frame(p->thread, after(line, "\tat "));
	else if (starts(line, "\t- "))
		take_lock(p, after(line, "\t- "));
	else if (starts(line, state))
		take_state(p->thread, after(line, state));
	else if (starts(line, carrying))
		p->thread->carries = number_at(line.at + strlen(carrying), line.end);
}

/* Joins the lines of a header whose name contains line feeds. */
static bool take_long_header(struct parser *p, struct strview *text, struct strview first)
{
	struct strview rest = *text, line;

	if (!starts(first, "\""))
		return false;
	for (int i = 0; i < NAME_LINES_MAX && strview_line(&rest, &line); i++) {
		struct strview joined = { first.at, line.end };

		if (starts(line, "\""))
			return false;
		if (!take_header(p, joined))
			continue;
		*text = rest;
		return true;
	}
	return false;
}

/*
 * Takes the JVM's report of deadlocks, up to the stacks, which it repeats:
 *     "A":
 *       waiting to lock monitor 0x… (object 0x…, a Lock),
 *       waiting for ownable synchronizer 0x…, (a Lock),
 *       which is held by "B"
 */
static void take_claim(struct thread_dump *d, struct strview line)
{
	static const char owner[] = "  which is held by \"";
	struct thread_claim *last = d->n_claims > 0 ? &d->claims[d->n_claims - 1] : NULL;
	const char *end = memrchr(line.at, '"', strview_len(line)), *object;

	if (starts(line, "\"") && end > line.at) {
		d->claims = xgrow(d->claims, d->n_claims, &d->cap_claims, sizeof(*d->claims));
		d->claims[d->n_claims++] =
			(struct thread_claim){ .name = copy(line.at + 1, end) };
		return;
	}
	if (!last)
		return;
	object = find(line, "(object 0x");
	if (object)
		last->object = strtoull(object + strlen("(object "), NULL, 16);
	object = find(line, "ownable synchronizer 0x");
	if (object)
		last->object = strtoull(object + strlen("ownable synchronizer "), NULL, 16);
	if (starts(line, owner) && end >= line.at + sizeof(owner) - 1 && !last->owner)
		last->owner = copy(line.at + sizeof(owner) - 1, end);
}

static void take_report(struct thread_dump *d, struct strview rest)
{
	struct strview line;
	bool repeats = false;

	while (strview_line(&rest, &line)) {
		if (starts(line, "Java stack information"))
			repeats = true;
		else if (starts(line, "Found one Java-level deadlock"))
			repeats = false;
		else if (!repeats)
			take_claim(d, line);
	}
}

void thread_dump_parse(struct thread_dump *d, const char *text, size_t len)
{
	struct parser p = { .dump = d };
	struct strview rest = { text, text + len }, line;

	while (strview_line(&rest, &line)) {
		if (starts(line, "JNI global ref") ||
		    starts(line, "Found one Java-level deadlock")) {
			d->complete = true;
			take_report(d, rest);
			break;
		}
		if (!take_header(&p, line) && !take_virtual(&p, line) &&
		    !take_long_header(&p, &rest, line))
			take_detail(&p, line);
	}
}

bool dump_thread_same_stack(const struct dump_thread *a, const struct dump_thread *b)
{
	if (a->n_frames != b->n_frames || strcmp(a->state, b->state) != 0)
		return false;
	for (size_t i = 0; i < a->n_frames; i++) {
		if (strcmp(a->frames[i], b->frames[i]) != 0)
			return false;
	}
	return true;
}

static void release_thread(struct dump_thread *t)
{
	free(t->name);
	free(t->state);
	free(t->waits_for.class);
	for (size_t i = 0; i < t->n_holds; i++)
		free(t->holds[i].class);
	free(t->holds);
	for (size_t i = 0; i < t->n_frames; i++)
		free(t->frames[i]);
	free(t->frames);
}

void thread_dump_release(struct thread_dump *d)
{
	for (size_t i = 0; i < d->n; i++)
		release_thread(&d->threads[i]);
	for (size_t i = 0; i < d->n_claims; i++) {
		free(d->claims[i].name);
		free(d->claims[i].owner);
	}
	free(d->claims);
	free(d->threads);
	*d = (struct thread_dump){ 0 };
}
