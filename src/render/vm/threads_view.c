#include "render/vm/threads_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "render/limit.h"
#include "render/table.h"

enum {
	COLUMN_CPU,
	COLUMN_TIME,
	COLUMN_ALLOCATED,
	COLUMN_TID,
	COLUMN_ID,
	COLUMN_DAEMON,
	COLUMN_STATE,
	COLUMN_CARRIER,
	COLUMN_NAME,
	COLUMN_LOCK,
	COLUMN_OWNER,
	COLUMN_FRAME,
	COLUMN_STACK,
};

static const struct column columns[] = {
	[COLUMN_CPU] = { "CPU%", NULL, CELL_PERCENT, true },
	[COLUMN_TIME] = { "TIME", NULL, CELL_NANOS, true },
	[COLUMN_ALLOCATED] = { "ALLOCATED", NULL, CELL_BYTES, true },
	[COLUMN_TID] = { "TID", NULL, CELL_NUMBER, true },
	[COLUMN_ID] = { "ID", NULL, CELL_NUMBER, true },
	[COLUMN_DAEMON] = { "DAEMON", NULL, CELL_BOOL, true },
	[COLUMN_STATE] = { "STATE", NULL, CELL_TEXT, true },
	[COLUMN_CARRIER] = { "CARRIER", NULL, CELL_NUMBER, true },
	[COLUMN_NAME] = { "NAME", NULL, CELL_TEXT, true },
	[COLUMN_LOCK] = { "WAITS FOR", NULL, CELL_TEXT, true },
	[COLUMN_OWNER] = { "HELD BY", NULL, CELL_TEXT, true },
	[COLUMN_FRAME] = { "TOP FRAME", NULL, CELL_TEXT, true },
	[COLUMN_STACK] = { "(no Java frames)", NULL, CELL_STACK, false },
};

void threads_view_add_object(struct buf *out, const struct thread_lock *lock)
{
	buf_addf(out, lock->is_hash ? "@%" PRIx64 : "0x%016" PRIx64, lock->object);
}

void threads_view_put_source(const struct threads_view *v, struct json *json)
{
	json_put_known(json, "pid", v->pid >= 0, (uint64_t)v->pid);
	if (v->file)
		json_put_text(json, "file", v->file);
}

static const struct dump_thread *thread_at(const struct threads_view *v, size_t row)
{
	return &v->dump->threads[v->rows[row]];
}

static const char *owner_of(const struct threads_view *v, const struct dump_thread *t)
{
	return t->owner == NO_THREAD ? NULL : v->dump->threads[t->owner].name;
}

static void add_row(struct table *table, const struct threads_view *v,
		    const struct dump_thread *t)
{
	table_row(table);
	if (t->cpu_percent >= 0)
		table_real(table, COLUMN_CPU, t->cpu_percent);
	if (t->cpu_s >= 0)
		table_unsigned(table, COLUMN_TIME, (uint64_t)(t->cpu_s * 1e9));
	if (t->allocated >= 0)
		table_number(table, COLUMN_ALLOCATED, t->allocated);
	if (t->tid >= 0)
		table_number(table, COLUMN_TID, t->tid);
	if (t->id >= 0)
		table_number(table, COLUMN_ID, t->id);
	table_set(table, COLUMN_DAEMON,
		  (struct cell){ .has = CELL_HAS_BOOL, .yes = t->daemon });
	table_text(table, COLUMN_STATE, t->state);
	if (t->carrier >= 0)
		table_number(table, COLUMN_CARRIER, t->carrier);
	table_text(table, COLUMN_NAME, *t->name ? t->name : NULL);
	if (t->wait != THREAD_WAITS_NOT)
		table_text(table, COLUMN_LOCK, t->waits_for.class);
	table_text(table, COLUMN_OWNER, owner_of(v, t));
	table_text(table, COLUMN_FRAME, t->n_frames > 0 ? t->frames[0] : NULL);
	for (size_t i = 0; v->stack && i < t->n_frames; i++)
		table_frame(table, t->frames[i]);
}

/* For each optional column: true if at least one of the rows has a value in the column. */
struct shown {
	bool allocated, owner;
};

static void show_columns(struct table *t, const struct threads_view *v, struct shown shown)
{
	static const size_t measured[] = { COLUMN_CPU, COLUMN_TIME };
	static const size_t platform[] = { COLUMN_TID, COLUMN_ID, COLUMN_DAEMON, COLUMN_STATE };
	static const size_t virtual[] = { COLUMN_ID, COLUMN_STATE, COLUMN_CARRIER };

	for (size_t i = 0; !v->virtual && i < ARRAY_SIZE(measured); i++)
		table_show(t, measured[i]);
	if (shown.allocated && !v->virtual)
		table_show(t, COLUMN_ALLOCATED);
	for (size_t i = 0; !v->virtual && i < ARRAY_SIZE(platform); i++)
		table_show(t, platform[i]);
	for (size_t i = 0; v->virtual && i < ARRAY_SIZE(virtual); i++)
		table_show(t, virtual[i]);
	table_show(t, COLUMN_NAME);
	if (shown.owner) {
		table_show(t, COLUMN_LOCK);
		table_show(t, COLUMN_OWNER);
	}
	if (!v->stack)
		table_show(t, COLUMN_FRAME);
}

static void print_more(size_t n, const char *one, const char *many, FILE *out)
{
	_cleanup_buf_ struct buf more = BUF_INIT;

	limit_add_more(&more, n, one, many);
	fputs(buf_str(&more), out);
}

/* Prints each line of the dump whose form is unknown, as it is in the dump. */
static void print_unknown(const struct thread_dump *d, FILE *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (d->unknown.len == 0)
		return;
	printable_add_lines(&text, buf_str(&d->unknown), d->unknown.len);
	fprintf(out, "\nlines of the dump that have an unknown form:\n%s", buf_str(&text));
}

void threads_view_print(const struct threads_view *v, FILE *out)
{
	struct table *table = table_new(columns, ARRAY_SIZE(columns) - !v->stack);
	size_t n = limit_rows(v->limit, false, LIMIT_ROWS, v->n);
	struct shown shown = { .owner = false };

	for (size_t i = 0; i < n; i++) {
		const struct dump_thread *t = thread_at(v, i);

		add_row(table, v, t);
		shown.owner = shown.owner || t->owner != NO_THREAD;
		shown.allocated = shown.allocated || t->allocated >= 0;
	}
	show_columns(table, v, shown);
	table_print(table, out);
	print_more(v->n - n, "thread", "threads", out);
	print_unknown(v->dump, out);
	table_free(table);
}

static void put_object(struct json *json, const struct thread_lock *lock)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (lock->object == 0) {
		json_put_null(json, "lock");
		return;
	}
	threads_view_add_object(&text, lock);
	json_put_text(json, "lock", buf_str(&text));
}

static struct json *lock_json(const struct thread_lock *lock)
{
	struct json *json = json_object();

	put_object(json, lock);
	json_put_text(json, "class", lock->class);
	return json;
}

static struct json *wait_json(const struct threads_view *v, const struct dump_thread *t)
{
	static const char *const kinds[] = {
		[THREAD_WAITS_FOR_MONITOR] = "monitor",
		[THREAD_WAITS_FOR_NOTIFY] = "notify",
		[THREAD_WAITS_PARKED] = "park",
	};
	struct json *json = lock_json(&t->waits_for);

	json_put_text(json, "kind", kinds[t->wait]);
	json_put_text(json, "owner", owner_of(v, t));
	return json;
}

static struct json *frames_json(const struct dump_thread *t)
{
	struct json *list = json_array();

	for (size_t i = 0; i < t->n_frames; i++)
		json_put_text(list, NULL, t->frames[i]);
	return list;
}

static void put_real(struct json *json, const char *key, double value)
{
	if (value < 0)
		json_put_null(json, key);
	else
		json_put_real(json, key, value);
}

/* Returns the thread in this row as a JSON object. */
static struct json *thread_json(const void *view, size_t row)
{
	const struct threads_view *v = view;
	const struct dump_thread *t = thread_at(v, row);
	struct json *json = json_object(), *holds = json_array();

	json_put_text(json, "name", t->name);
	json_put_known(json, "id", t->id >= 0, (uint64_t)t->id);
	json_put_known(json, "tid", t->tid >= 0, (uint64_t)t->tid);
	json_put_bool(json, "daemon", t->daemon);
	json_put_bool(json, "virtual", t->virtual);
	json_put_text(json, "state", t->state);
	put_real(json, "cpu", t->cpu_s);
	put_real(json, "cpu_percent", t->cpu_percent);
	json_put_known(json, "allocated", t->allocated >= 0, (uint64_t)t->allocated);
	json_put_known(json, "carries", t->carries >= 0, (uint64_t)t->carries);
	json_put_known(json, "carrier", t->carrier >= 0, (uint64_t)t->carrier);
	if (t->wait == THREAD_WAITS_NOT)
		json_put_null(json, "waits_for");
	else
		json_put(json, "waits_for", wait_json(v, t));
	for (size_t i = 0; i < t->n_holds; i++)
		json_put(holds, NULL, lock_json(&t->holds[i]));
	json_put(json, "holds", holds);
	json_put(json, "stack", frames_json(t));
	return json;
}

/*
 * Returns the names of a deadlock's threads as a JSON array.  Each thread waits for the next thread
 * in the array, and the last thread waits for the first.
 */
static struct json *ring_json(const struct thread_dump *d, size_t ring)
{
	struct json *names = json_array();
	size_t first = 0, at;

	while (first < d->n && d->threads[first].ring != ring)
		first++;
	at = first;
	do {
		json_put_text(names, NULL, d->threads[at].name);
		at = d->threads[at].owner;
	} while (at != first);
	return names;
}

void threads_view_print_json(const struct threads_view *v, FILE *out)
{
	struct json *json = json_object(), *deadlocks = json_array();

	threads_view_put_source(v, json);
	for (size_t ring = 1; ring <= v->dump->n_rings; ring++)
		json_put(deadlocks, NULL, ring_json(v->dump, ring));
	json_put(json, "deadlocks", deadlocks);
	json_put_text(json, "unknown",
		      v->dump->unknown.len > 0 ? buf_str(&v->dump->unknown) : NULL);
	json_print_with_array(json, "threads", thread_json, v, limit_rows(v->limit, true, 0, v->n),
			      out);
	json_free(json);
}
