#include "render/vm/threads_view.h"

#include <inttypes.h>
#include <string.h>

#include "render/limit.h"
#include "render/table.h"

enum {
	COLUMN_CPU,
	COLUMN_TIME,
	COLUMN_TID,
	COLUMN_STATE,
	COLUMN_NAME,
	COLUMN_LOCK,
	COLUMN_OWNER,
	COLUMN_FRAME,
	COLUMN_STACK,
};

static const struct column columns[] = {
	[COLUMN_CPU] = { "CPU%", NULL, CELL_PERCENT, false },
	[COLUMN_TIME] = { "TIME", NULL, CELL_NANOS, false },
	[COLUMN_TID] = { "TID", NULL, CELL_NUMBER, false },
	[COLUMN_STATE] = { "STATE", NULL, CELL_TEXT, false },
	[COLUMN_NAME] = { "NAME", NULL, CELL_TEXT, false },
	[COLUMN_LOCK] = { "WAITS FOR", NULL, CELL_TEXT, true },
	[COLUMN_OWNER] = { "HELD BY", NULL, CELL_TEXT, true },
	[COLUMN_FRAME] = { "TOP FRAME", NULL, CELL_TEXT, true },
};

static const struct column stack_columns[] = {
	[COLUMN_CPU] = { "CPU%", NULL, CELL_PERCENT, false },
	[COLUMN_TIME] = { "TIME", NULL, CELL_NANOS, false },
	[COLUMN_TID] = { "TID", NULL, CELL_NUMBER, false },
	[COLUMN_STATE] = { "STATE", NULL, CELL_TEXT, false },
	[COLUMN_NAME] = { "NAME", NULL, CELL_TEXT, false },
	[COLUMN_LOCK] = { "WAITS FOR", NULL, CELL_TEXT, true },
	[COLUMN_OWNER] = { "HELD BY", NULL, CELL_TEXT, true },
	[COLUMN_FRAME] = { "TOP FRAME", NULL, CELL_TEXT, true },
	[COLUMN_STACK] = { "(no Java frames)", NULL, CELL_STACK, false },
};

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
	if (t->tid >= 0)
		table_number(table, COLUMN_TID, t->tid);
	table_text(table, COLUMN_STATE, t->state);
	table_text(table, COLUMN_NAME, t->name);
	if (t->wait != THREAD_WAITS_NOT)
		table_text(table, COLUMN_LOCK, t->waits_for.class);
	table_text(table, COLUMN_OWNER, owner_of(v, t));
	table_text(table, COLUMN_FRAME, t->n_frames > 0 ? t->frames[0] : NULL);
	if (!v->stack)
		return;
	for (size_t i = 0; i < t->n_frames; i++)
		table_frame(table, t->frames[i]);
}

static void print_more(size_t n, const char *one, const char *many, FILE *out)
{
	_cleanup_buf_ struct buf more = BUF_INIT;

	limit_add_more(&more, n, one, many);
	fputs(buf_str(&more), out);
}

void threads_view_print(const struct threads_view *v, FILE *out)
{
	struct table *table = v->stack ? table_new(stack_columns, ARRAY_SIZE(stack_columns)) :
					 table_new(columns, ARRAY_SIZE(columns));
	size_t n = limit_rows(v->limit, false, LIMIT_ROWS, v->n);
	bool has_owner = false;

	for (size_t i = 0; i < n; i++) {
		add_row(table, v, thread_at(v, i));
		has_owner = has_owner || thread_at(v, i)->owner != NO_THREAD;
	}
	if (has_owner) {
		table_show(table, COLUMN_LOCK);
		table_show(table, COLUMN_OWNER);
	}
	if (!v->stack)
		table_show(table, COLUMN_FRAME);
	table_print(table, out);
	print_more(v->n - n, "thread", "threads", out);
	table_free(table);
}

static void put_object(struct json *json, uint64_t object)
{
	char text[24];

	if (object == 0) {
		json_put_null(json, "lock");
		return;
	}
	(void)snprintf(text, sizeof(text), "0x%016" PRIx64, object);
	json_put_text(json, "lock", text);
}

static struct json *lock_json(const struct thread_lock *lock)
{
	struct json *json = json_object();

	put_object(json, lock->object);
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

static struct json *thread_json(const struct threads_view *v, const struct dump_thread *t)
{
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

/* Returns the members of a deadlock in the order in which they wait for one another. */
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

struct json *threads_view_json(const struct threads_view *v)
{
	size_t n = limit_rows(v->limit, true, 0, v->n);
	struct json *json = json_object(), *threads = json_array(), *deadlocks = json_array();

	json_put_number(json, "pid", v->pid);
	for (size_t i = 0; i < n; i++)
		json_put(threads, NULL, thread_json(v, thread_at(v, i)));
	json_put(json, "threads", threads);
	for (size_t ring = 1; ring <= v->dump->n_rings; ring++)
		json_put(deadlocks, NULL, ring_json(v->dump, ring));
	json_put(json, "deadlocks", deadlocks);
	return json;
}
