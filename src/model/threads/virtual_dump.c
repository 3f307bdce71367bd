#include "model/threads/virtual_dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/xalloc.h"
#include "model/threads/json_scan.h"
#include "model/threads/thread_list.h"

#define STATE_UNKNOWN "UNKNOWN"

/* The dump to which threads are added, and the document that is being read. */
struct parser {
	struct thread_dump *dump;
	struct json_scan scan;
	struct buf text; /* the last string that was read */
};

/*
 * Reads a string.  Returns NULL if the next value is not a string.  The result is valid until the
 * next string is read.
 */
static const char *text_of(struct parser *p)
{
	buf_reset(&p->text);
	return json_scan_text(&p->scan, &p->text) ? buf_str(&p->text) : NULL;
}

/* Parses "java.lang.Object@58684881", which Objects.toIdentityString() returns. */
static struct thread_lock lock_of(const char *text)
{
	const char *at = strrchr(text, '@');

	return (struct thread_lock){
		.object = at ? strtoull(at + 1, NULL, 16) : 0,
		.class = xstrndup(text, at ? (size_t)(at - text) : strlen(text)),
		.is_hash = true,
	};
}

static void take_wait(struct parser *p, struct dump_thread *t, enum thread_wait wait)
{
	const char *text = text_of(p);

	if (text)
		thread_list_add_wait(t, wait, lock_of(text));
}

/* Parses the object {"object": "a.B@1f", "owner": "22"}. */
static void take_blocker(struct parser *p, struct dump_thread *t)
{
	struct strview key;

	if (!json_scan_object(&p->scan))
		return;
	while (json_scan_key(&p->scan, &key)) {
		if (strview_is(key, "object"))
			take_wait(p, t, THREAD_WAITS_PARKED);
		else if (strview_is(key, "owner"))
			t->owner_id = json_scan_number(&p->scan);
		else
			json_scan_skip(&p->scan);
	}
}

static void take_locks(struct parser *p, struct dump_thread *t)
{
	if (!json_scan_array(&p->scan))
		return;
	while (json_scan_item(&p->scan)) {
		const char *text = text_of(p); /* NULL: the compiler has removed the lock */

		if (text)
			thread_list_add_hold(t, lock_of(text));
	}
}

/* Parses the array [{"depth": 4, "locks": ["a.B@1f", null]}]. */
static void take_owned(struct parser *p, struct dump_thread *t)
{
	struct strview key;

	if (!json_scan_array(&p->scan))
		return;
	while (json_scan_item(&p->scan)) {
		if (!json_scan_object(&p->scan))
			continue;
		while (json_scan_key(&p->scan, &key)) {
			if (strview_is(key, "locks"))
				take_locks(p, t);
			else
				json_scan_skip(&p->scan);
		}
	}
}

/*
 * Parses "java.base/a.b.C.m(C.java:12)" (StackTraceElement.toString), and adds it without loader
 * and module.  A slash may also belong to the name of a hidden class, as in
 * "a.B$$Lambda/0x00007f.run(Unknown Source)".
 */
static void take_frame(struct dump_thread *t, const char *text)
{
	const char *open = strchr(text, '('), *from = text;

	for (const char *at = text; *at && at != open; at++) {
		if (*at == '/' && strncmp(at, "/0x", 3) != 0)
			from = at + 1;
	}
	thread_list_add_frame(t, xstrdup(from));
}

static void take_stack(struct parser *p, struct dump_thread *t)
{
	if (!json_scan_array(&p->scan))
		return;
	while (json_scan_item(&p->scan)) {
		const char *text = text_of(p);

		if (text)
			take_frame(t, text);
	}
}

static void set_text(char **to, const char *text)
{
	if (!text)
		return;
	free(*to);
	*to = xstrdup(text);
}

static void take_member(struct parser *p, struct dump_thread *t, struct strview key)
{
	if (strview_is(key, "tid"))
		t->id = json_scan_number(&p->scan);
	else if (strview_is(key, "name"))
		set_text(&t->name, text_of(p));
	else if (strview_is(key, "state"))
		set_text(&t->state, text_of(p));
	else if (strview_is(key, "virtual"))
		t->virtual = json_scan_true(&p->scan);
	else if (strview_is(key, "carrier"))
		t->carrier = json_scan_number(&p->scan);
	else if (strview_is(key, "stack"))
		take_stack(p, t);
	else if (strview_is(key, "parkBlocker"))
		take_blocker(p, t);
	else if (strview_is(key, "blockedOn"))
		take_wait(p, t, THREAD_WAITS_FOR_MONITOR);
	else if (strview_is(key, "waitingOn"))
		take_wait(p, t, THREAD_WAITS_FOR_NOTIFY);
	else if (strview_is(key, "monitorsOwned"))
		take_owned(p, t);
	else
		json_scan_skip(&p->scan);
}

static void take_threads(struct parser *p)
{
	struct strview key;

	if (!json_scan_array(&p->scan))
		return;
	while (json_scan_item(&p->scan)) {
		struct dump_thread *t;

		if (!json_scan_object(&p->scan))
			continue;
		t = thread_list_add(p->dump, xstrdup(""));
		t->state = xstrdup(STATE_UNKNOWN);
		while (json_scan_key(&p->scan, &key))
			take_member(p, t, key);
		t->daemon = t->virtual;
	}
}

/*
 * Reads an object, and passes the value of its member `name` to take().  Other members are skipped.
 */
static void take_only(struct parser *p, const char *name, void (*take)(struct parser *p))
{
	struct strview key;

	if (!json_scan_object(&p->scan))
		return;
	while (json_scan_key(&p->scan, &key)) {
		if (strview_is(key, name))
			take(p);
		else
			json_scan_skip(&p->scan);
	}
}

static void take_containers(struct parser *p)
{
	if (!json_scan_array(&p->scan))
		return;
	while (json_scan_item(&p->scan))
		take_only(p, "threads", take_threads);
}

static void take_dump(struct parser *p)
{
	take_only(p, "threadContainers", take_containers);
}

void virtual_dump_parse(struct thread_dump *d, const char *text, size_t len)
{
	struct parser p = { .dump = d, .scan = { .rest = { text, text + len } } };

	take_only(&p, "threadDump", take_dump);
	d->complete = !p.scan.bad;
	/* Like a text dump with -l, it names the owners of java.util.concurrent locks. */
	d->has_synchronizers = true;
	buf_release(&p.text);
}

static bool has_states(const struct thread_dump *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (strcmp(d->threads[i].state, STATE_UNKNOWN) != 0)
			return true;
	}
	return false;
}

/*
 * Returns whether a thread of JDK 21 to 24 is virtual.  `is_printed`: the dump by Thread.print has
 * the thread, so it is a platform thread.  A platform thread that started after that dump is
 * recognised by its outermost frame, which is not VirtualThread.run().
 */
static bool is_virtual(const struct dump_thread *t, bool is_printed)
{
	static const char last[] = "java.lang.VirtualThread.run(";

	if (is_printed)
		return false;
	return t->n_frames == 0 ||
	       strncmp(t->frames[t->n_frames - 1], last, sizeof(last) - 1) == 0;
}

static bool is_at(const struct dump_thread *t, const char *method)
{
	for (size_t i = 0; i < t->n_frames && i < 3; i++) {
		if (strncmp(t->frames[i], method, strlen(method)) == 0)
			return true;
	}
	return false;
}

/*
 * Returns the state of a virtual thread of JDK 21 to 24 if the thread's stack proves it; else
 * STATE_UNKNOWN.
 */
static const char *state_of(const struct dump_thread *t)
{
	if (is_at(t, "java.lang.VirtualThread.parkNanos("))
		return "TIMED_WAITING";
	if (is_at(t, "java.lang.VirtualThread.park("))
		return "WAITING";
	return STATE_UNKNOWN;
}

static void join(struct dump_thread *t, const struct dump_thread *printed, bool have_states)
{
	if (printed && !printed->virtual) {
		t->tid = printed->tid;
		t->daemon = printed->daemon;
		t->cpu_s = printed->cpu_s;
		t->allocated = printed->allocated;
		t->carries = printed->carries;
		if (!have_states)
			set_text(&t->state, printed->state);
	}
	if (have_states)
		return;
	t->virtual = is_virtual(t, printed && !printed->virtual);
	if (!t->virtual)
		return;
	t->daemon = true;
	set_text(&t->state, state_of(t));
}

void virtual_dump_join(struct thread_dump *d, const struct thread_dump *print)
{
	bool have_states = has_states(d);
	struct id_map ids = { .n = 0 }, carriers = { .n = 0 };

	for (size_t i = 0; i < print->n; i++) {
		const struct dump_thread *t = &print->threads[i];

		if (t->id >= 0 && !t->virtual)
			(void)id_map_add(&ids, (uint64_t)t->id, (uint32_t)i);
		if (t->carries >= 0)
			(void)id_map_add(&carriers, (uint64_t)t->carries, (uint32_t)i);
	}
	for (size_t i = 0; i < d->n; i++) {
		struct dump_thread *t = &d->threads[i];
		uint32_t printed = id_map_get(&ids, (uint64_t)t->id);
		uint32_t carrier = id_map_get(&carriers, (uint64_t)t->id);

		join(t, printed == ID_MAP_NONE ? NULL : &print->threads[printed], have_states);
		if (t->virtual && t->carrier < 0 && carrier != ID_MAP_NONE && !have_states)
			t->carrier = print->threads[carrier].id;
	}
	id_map_release(&ids);
	id_map_release(&carriers);
}
