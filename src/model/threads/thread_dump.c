#include "model/threads/thread_dump.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/threads/thread_list.h"

#define NAME_LINES_MAX 16 /* limit for the lines of a name, which may contain line feeds */

struct parser {
	struct thread_dump *dump;
	struct dump_thread *thread; /* the thread to which the next lines belong; NULL: none */
	size_t platform;            /* index of the last platform thread so far, or NO_THREAD */
	bool synchronizers;         /* the next lines list "Locked ownable synchronizers" */
	bool in_list;               /* the next lines list addresses: "Threads class SMR info" */
};

static const char *find(struct strview s, const char *text)
{
	return memmem(s.at, strview_len(s), text, strlen(text));
}

/*
 * Returns a copy of a part of the text.  If the text contains a NUL, which the JVM does not send,
 * the copy ends there.
 */
static char *copy(const char *from, const char *to)
{
	return xstrndup(from, (size_t)(to - from));
}

/* Parses a decimal or hexadecimal number.  Returns -1 if the text does not begin with a number. */
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

/* Returns the position after `key`, such as " cpu=", in the header; NULL: there is no such key. */
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

/*
 * Parses a size such as "1234B", "497K", "2M", as byte_size_in_proper_unit() in HotSpot scales it.
 */
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

/*
 * Returns a copy of the words between nid=… and the address: "waiting on condition" in
 * "nid=117 waiting on condition [0x00007f…]".
 */
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
 * Parses the numbers after the name: ` #12`, or from JDK 19 on ` #12 [117]`.  12 is the id of the
 * Java thread, 117 is the kernel's id of the thread.  The kernel's id is also after "nid=", but the
 * line of a thread that runs a virtual thread has no "nid=".
 */
static void take_numbers(struct dump_thread *t, struct strview rest)
{
	const char *bracket;

	if (!strview_starts_with(rest, " #"))
		return;
	t->id = number_at(rest.at + 2, rest.end);
	bracket = rest.at + 2;
	while (bracket < rest.end && isdigit((unsigned char)*bracket))
		bracket++;
	if (rest.end - bracket > 2 && bracket[0] == ' ' && bracket[1] == '[')
		t->tid = number_at(bracket + 2, rest.end);
}

/*
 * Splits the first line of a thread into its name and the values after it.  Returns false if the
 * line does not begin with a name.  A name may contain quotes, so the last quote ends it.  JDK 17
 * to 24 print the sampler of the flight recorder without a name (JfrThreadSampler has no
 * print_on()); for that line, *name becomes empty.
 */
static bool split_header(struct strview line, struct strview *name, struct strview *rest)
{
	const char *quote = memrchr(line.at, '"', strview_len(line));

	if (strview_starts_with(line, "os_prio=")) {
		*name = (struct strview){ line.at, line.at };
		*rest = line;
		return true;
	}
	if (!strview_starts_with(line, "\"") || quote == line.at)
		return false;
	*name = (struct strview){ line.at + 1, quote };
	*rest = (struct strview){ quote + 1, line.end };
	return true;
}

/*
 * Parses a line such as
 *     "main" #1 [117] daemon prio=5 cpu=45.63ms allocated=497K tid=0x… nid=117 runnable  [0x…]
 *
 * Returns false if the line has another form.
 */
static bool take_header(struct parser *p, struct strview line)
{
	struct strview name, rest;
	const char *nid, *at;
	struct dump_thread *t;

	if (!split_header(line, &name, &rest))
		return false;
	nid = value_of(rest, " nid=");
	if (!nid && !find(rest, " tid=0x"))
		return false;
	t = p->thread = thread_list_add(p->dump, copy(name.at, name.end));
	p->platform = p->dump->n - 1;
	take_numbers(t, rest);
	if (nid)
		t->tid = number_at(nid, line.end);
	t->daemon = find(rest, " daemon ") != NULL;
	at = value_of(rest, " cpu=");
	if (at)
		t->cpu_s = real_at(at, line.end) / 1e3;
	at = value_of(rest, " allocated=");
	if (at)
		t->allocated = size_at(at, line.end);
	t->state = nid ? condition_of(nid, line.end) : xstrdup("RUNNABLE");
	p->synchronizers = false;
	return true;
}

/*
 * Parses the line `   Mounted virtual thread #22` of JDK 23 and later.  The lines after it are the
 * virtual thread's frames.  JDK 23 to 27 do not print the virtual thread's name.  If a later JDK
 * prints the name in quotes before the number, jtool uses the name.
 */
static bool take_virtual(struct parser *p, struct strview line)
{
	static const char mounted[] = "   Mounted virtual thread ";
	const char *name = line.at + sizeof(mounted) - 1, *number = name;
	const char *quote = memrchr(line.at, '"', strview_len(line));
	struct dump_thread *t;

	if (!strview_starts_with(line, mounted))
		return false;
	if (quote > name && *name == '"')
		number = quote + 1;
	while (number < line.end && (*number == ' ' || *number == '#'))
		number++;
	t = p->thread = thread_list_add(p->dump,
					quote > name && *name == '"' ? copy(name + 1, quote) :
								       xstrdup(""));
	t->id = number_at(number, line.end);
	t->daemon = t->virtual = true;
	t->state = xstrdup("RUNNABLE");
	if (p->platform != NO_THREAD)
		t->carrier = p->dump->threads[p->platform].id;
	p->synchronizers = false;
	return true;
}

/*
 * Parses "<0x00000000ffd31560> (a Locks$Lock)".  If the text has no address or no class, that
 * member of the result stays unset.
 */
static struct thread_lock lock_of(struct strview text)
{
	struct thread_lock lock = { .object = 0 };
	const char *at = find(text, "<0x"), *class = find(text, "> (a ");
	const char *end = memrchr(text.at, ')', strview_len(text));

	if (at)
		lock.object = strtoull(at + 1, NULL, 16);
	if (class && end && class + 5 < end)
		lock.class = copy(class + 5, end);
	return lock;
}

/* Parses a line about a lock in a stack.  Returns false if the line has an unknown form. */
static bool take_lock(struct parser *p, struct strview line)
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
		if (strview_starts_with(line, waits[i].words)) {
			thread_list_add_wait(p->thread, waits[i].wait, lock_of(line));
			return true;
		}
	}
	if (strview_starts_with(line, "locked <") ||
	    (p->synchronizers && strview_starts_with(line, "<0x"))) {
		thread_list_add_hold(p->thread, lock_of(line));
		return true;
	}
	return strview_starts_with(line, "eliminated ") ||
	       (p->synchronizers && strview_starts_with(line, "None"));
}

/*
 * Parses a stack frame "a.b.C.m(java.base@17.0.15/C.java:12)", and adds it without the module and
 * its version.
 */
static void take_frame(struct dump_thread *t, struct strview frame)
{
	char *text = copy(frame.at, frame.end), *open = strrchr(text, '(');
	char *slash = open ? strchr(open, '/') : NULL;

	if (slash)
		memmove(open + 1, slash + 1, strlen(slash + 1) + 1);
	thread_list_add_frame(t, text);
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

/*
 * Begins a list of "Locked ownable synchronizers".  Even if the list follows a virtual thread, the
 * locks belong to its carrier, which is the last platform thread.
 */
static void begin_synchronizers(struct parser *p)
{
	p->synchronizers = p->dump->has_synchronizers = true;
	p->thread = p->platform == NO_THREAD ? NULL : &p->dump->threads[p->platform];
}

/* Parses a line that belongs to the last thread.  Returns false if the line has an unknown form. */
static bool take_detail(struct parser *p, struct strview line)
{
	static const char state[] = "   java.lang.Thread.State: ";
	static const char carrying[] = "   Carrying virtual thread #";

	if (!p->thread)
		return false;
	if (strview_starts_with(line, "\tat "))
		take_frame(p->thread, after(line, "\tat "));
	else if (strview_starts_with(line, "\t- "))
		return take_lock(p, after(line, "\t- "));
	else if (strview_starts_with(line, state))
		take_state(p->thread, after(line, state));
	else if (strview_starts_with(line, carrying))
		p->thread->carries = number_at(line.at + strlen(carrying), line.end);
	else
		return strview_starts_with(line, "   No compile task") ||
		       strview_starts_with(line, "   Compiling:");
	return true;
}

/*
 * Returns whether a line belongs to the dump's heading or to a list of thread addresses, and not to
 * a thread.
 */
static bool is_frame_of_dump(struct parser *p, struct strview line)
{
	static const char *const headings[] = { "Full thread dump ",
						"                 JDK version:",
						"Threads class SMR info:" };
	bool is_blank = true;

	for (const char *at = line.at; at < line.end && is_blank; at++)
		is_blank = isspace((unsigned char)*at);
	if (is_blank) {
		p->in_list = false;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(headings); i++) {
		if (strview_starts_with(line, headings[i])) {
			p->in_list = i + 1 == ARRAY_SIZE(headings);
			return true;
		}
	}
	/* The line with the time: 2026-11-23 22:45:22 */
	return p->in_list || (strview_len(line) == 19 && isdigit((unsigned char)*line.at) &&
			      line.at[4] == '-' && line.at[10] == ' ');
}

/*
 * Parses the header of a thread whose name contains line feeds: joins `first` with the next lines
 * until they form a header.  Returns false if `first` does not begin such a header.
 */
static bool take_long_header(struct parser *p, struct strview *text, struct strview first)
{
	struct strview rest = *text, line;

	if (!strview_starts_with(first, "\""))
		return false;
	for (int i = 0; i < NAME_LINES_MAX && strview_line(&rest, &line); i++) {
		struct strview joined = { first.at, line.end };

		if (strview_starts_with(line, "\""))
			return false;
		if (!take_header(p, joined))
			continue;
		*text = rest;
		return true;
	}
	return false;
}

/*
 * Parses a line.  A line with an unknown form is stored.  If that line is not indented, it may
 * begin a new thread, so the lines after it are not added to the previous thread.
 */
static void take_line(struct parser *p, struct strview *rest, struct strview line)
{
	if (is_frame_of_dump(p, line))
		return;
	if (strview_starts_with(line, "   Locked ownable synchronizers:")) {
		begin_synchronizers(p);
		return;
	}
	if (take_header(p, line) || take_virtual(p, line) || take_long_header(p, rest, line) ||
	    take_detail(p, line))
		return;
	if (!isspace((unsigned char)*line.at))
		p->thread = NULL;
	thread_dump_add_unknown(p->dump, line);
}

void thread_dump_parse(struct thread_dump *d, const char *text, size_t len)
{
	struct parser p = { .dump = d, .platform = NO_THREAD };
	struct strview rest = { text, text + len }, line;

	while (strview_line(&rest, &line)) {
		if (strview_starts_with(line, "JNI global ref") ||
		    strview_starts_with(line, "Found one Java-level deadlock")) {
			d->complete = true;
			deadlock_report_parse(d, rest);
			break;
		}
		take_line(&p, &rest, line);
	}
}
