#include "render/vm/memory_view.h"

#include <string.h>

#include "base/strview.h"
#include "render/table.h"
#include "render/units.h"

#define METASPACE_MARGIN 10 /* metaspace is nearly full if less than a tenth is free */

enum { NAME, RESERVED, COMMITTED, USED, RESIDENT, CHANGE, CHANGE_TEXT };

static const struct column columns[] = {
	[NAME] = { "PART", "name", CELL_TEXT, false },
	[RESERVED] = { "RESERVED", "reserved", CELL_BYTES, false },
	[COMMITTED] = { "COMMITTED", "committed", CELL_BYTES, false },
	[USED] = { "USED", "used", CELL_BYTES, false },
	[RESIDENT] = { "RESIDENT", "resident", CELL_BYTES, false },
	[CHANGE] = { NULL, "change", CELL_NUMBER, true },
	[CHANGE_TEXT] = { "CHANGE", NULL, CELL_TEXT, true },
};

bool memory_view_is_saved(const struct json *doc)
{
	return json_get(doc, "parts") && json_get_number(doc, "rss", -1) >= 0;
}

static void load_part(struct memory_size *size, const struct json *part)
{
	size->reserved = json_get_number(part, "reserved", 0);
	size->committed = json_get_number(part, "committed", 0);
	size->used = json_get_number(part, "used", -1);
	size->resident = json_get_number(part, "resident", 0);
}

bool memory_view_load(struct memory_view *v, const struct json *doc)
{
	const struct json *parts = json_get(doc, "parts");
	int64_t sum;

	if (!memory_view_is_saved(doc))
		return false;
	v->pid = (int)json_get_number(doc, "pid", -1);
	v->parts.resident = json_get_number(doc, "rss", 0);
	v->parts.swapped = json_get_number(doc, "swap", 0);
	v->group_limit = json_get_number(doc, "limit", -1);
	v->heap_max = json_get_number(doc, "heap_max", -1);
	v->heap_after = json_get_number(doc, "heap_after_gc", -1);
	v->metaspace_max = json_get_number(doc, "metaspace_max", -1);
	v->limit.outside = json_get_number(doc, "outside_heap", 0);
	v->limit.known = v->group_limit >= 0 && v->heap_max >= 0 &&
			 !__builtin_add_overflow(v->heap_max, v->limit.outside, &sum) &&
			 !__builtin_sub_overflow(sum, v->group_limit, &v->limit.excess);
	v->threads = (unsigned)json_get_number(doc, "threads", 0);
	v->asked = json_get_bool(doc, "asked", false);
	for (size_t i = 0; i < json_length(parts); i++) {
		const char *name = json_get_text(json_at(parts, i), "name");

		for (int k = 0; name && k < N_MEMORY_PARTS; k++) {
			if (strcmp(name, memory_part_name((enum memory_part)k)) == 0)
				load_part(&v->parts.part[k], json_at(parts, i));
		}
	}
	v->has_malloc_report = v->parts.part[PART_MALLOC].used >= 0;
	return true;
}

/*
 * Returns the resident bytes of a part in the earlier document `base`; 0 if the document does not
 * have the part.
 */
static int64_t earlier(const struct json *base, const char *name)
{
	const struct json *parts = json_get(base, "parts");

	for (size_t i = 0; i < json_length(parts); i++) {
		const struct json *part = json_at(parts, i);
		const char *other = json_get_text(part, "name");

		if (other && strcmp(other, name) == 0)
			return json_get_number(part, "resident", 0);
	}
	return 0;
}

static void put_known(struct table *t, size_t column, int64_t value)
{
	if (value >= 0)
		table_number(t, column, value);
}

static void put_change(struct table *t, int64_t now, int64_t then)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int64_t change;

	if (__builtin_sub_overflow(now, then, &change) || change == INT64_MIN)
		return;
	table_number(t, CHANGE, change);
	if (change != 0)
		buf_addc(&text, change < 0 ? '-' : '+');
	units_bytes(&text, change < 0 ? -change : change);
	table_text(t, CHANGE_TEXT, buf_str(&text));
}

static bool is_shown(const struct memory_view *v, int part, int64_t before)
{
	const struct memory_size *size = &v->parts.part[part];

	return size->resident > 0 || size->committed > 0 || size->used > 0 || before > 0;
}

/*
 * Returns a table with a row for each part of the JVM's memory.  The caller frees the table.  If
 * `all` is true (for JSON), the table has all parts; if it is false, only those that this JVM has.
 */
static struct table *parts_table(const struct memory_view *v, bool all)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (int i = 0; i < N_MEMORY_PARTS; i++) {
		const struct memory_size *size = &v->parts.part[i];
		const char *name = memory_part_name((enum memory_part)i);
		int64_t then = earlier(v->base, name);

		if (!all && !is_shown(v, i, then))
			continue;
		table_row(t);
		table_text(t, NAME, name);
		put_known(t, RESERVED, size->reserved);
		put_known(t, COMMITTED, size->committed);
		put_known(t, USED, size->used);
		put_known(t, RESIDENT, size->resident);
		if (v->base)
			put_change(t, size->resident, then);
	}
	return t;
}

static void heap_verdict(const struct memory_view *v, struct buf *text)
{
	if (v->heap_after < 0)
		return;
	buf_adds(text, "the heap had ");
	units_bytes(text, v->heap_after);
	buf_adds(text, " in use after the last collection\n");
}

static void limit_verdict(const struct memory_view *v, struct buf *text)
{
	const struct heap_limit *limit = &v->limit;
	int64_t excess = limit->excess;

	if (v->group_limit < 0)
		buf_adds(text, "no control group limits this memory\n");
	if (!limit->known)
		return;
	buf_adds(text, "a heap of at most ");
	units_bytes(text, v->heap_max);
	buf_adds(text, " + ");
	units_bytes(text, limit->outside);
	buf_adds(text, excess > 0 ? " outside the heap exceeds the limit of "
				  : " outside the heap is below the limit of ");
	units_bytes(text, v->group_limit);
	buf_adds(text, " by ");
	units_bytes(text, excess > 0 ? excess : -excess);
	buf_addc(text, '\n');
}

/*
 * Compares the committed metaspace with its limit, because the JVM throws OutOfMemoryError when the
 * committed metaspace would exceed the limit.
 */
static void metaspace_verdict(const struct memory_view *v, struct buf *text)
{
	const struct memory_size *part = v->parts.part;
	int64_t committed;

	if (v->metaspace_max < 0 ||
	    __builtin_add_overflow(part[PART_METASPACE].committed, part[PART_CLASS_SPACE].committed,
				   &committed))
		return;
	units_bytes(text, committed);
	buf_adds(text, " of metaspace, with class space, are committed, of at most ");
	units_bytes(text, v->metaspace_max);
	if (committed >= v->metaspace_max - v->metaspace_max / METASPACE_MARGIN)
		buf_addf(text, ": nearly full; jtool retained %d --suspects finds class loaders "
			       "that leak", v->pid);
	buf_addc(text, '\n');
}

static void malloc_verdict(const struct memory_view *v, struct buf *text)
{
	int64_t free_bytes = memory_trimmable(&v->parts);

	if (free_bytes == 0)
		return;
	units_bytes(text, free_bytes);
	buf_addf(text, " are held free by malloc: jtool jcmd %d System.trim_native_heap returns "
		       "them", v->pid);
	buf_addc(text, '\n');
}

static void threads_verdict(const struct memory_view *v, struct buf *text)
{
	const struct memory_size *stacks = &v->parts.part[PART_STACKS];

	if (v->threads == 0)
		return;
	units_count(text, v->threads);
	buf_adds(text, " threads × ");
	units_bytes(text, stacks->reserved / v->threads);
	buf_adds(text, " of stack, of which ");
	units_bytes(text, stacks->resident);
	buf_adds(text, " are resident");
	buf_addc(text, '\n');
}

/* Appends the verdicts on the JVM's memory, one in each line. */
static void add_verdicts(const struct memory_view *v, struct buf *text)
{
	limit_verdict(v, text);
	heap_verdict(v, text);
	metaspace_verdict(v, text);
	malloc_verdict(v, text);
	threads_verdict(v, text);
	if (v->parts.swapped > 0) {
		units_bytes(text, v->parts.swapped);
		buf_adds(text, " are swapped out\n");
	}
}

static struct json *verdicts_json(const struct memory_view *v)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *list = json_array();
	struct strview rest, line;

	add_verdicts(v, &text);
	rest = (struct strview){ buf_str(&text), buf_str(&text) + text.len };
	while (strview_line(&rest, &line))
		json_put_text_len(list, NULL, line.at, strview_len(line));
	return list;
}

struct json *memory_view_json(const struct memory_view *v)
{
	struct json *doc = json_object();
	struct table *t = parts_table(v, true);

	json_put_number(doc, "pid", v->pid);
	json_put_number(doc, "rss", v->parts.resident);
	json_put_number(doc, "swap", v->parts.swapped);
	json_put_known(doc, "limit", v->group_limit >= 0, (uint64_t)v->group_limit);
	json_put_known(doc, "heap_max", v->heap_max >= 0, (uint64_t)v->heap_max);
	json_put_known(doc, "heap_after_gc", v->heap_after >= 0, (uint64_t)v->heap_after);
	json_put_known(doc, "metaspace_max", v->metaspace_max >= 0, (uint64_t)v->metaspace_max);
	json_put_number(doc, "outside_heap", v->limit.outside);
	json_put_bool(doc, "exceeds", v->limit.known && v->limit.excess > 0);
	json_put_number(doc, "threads", v->threads);
	json_put_bool(doc, "asked", v->asked);
	if (v->base)
		table_show(t, CHANGE);
	json_put(doc, "parts", table_json(t));
	json_put(doc, "verdicts", verdicts_json(v));
	table_free(t);
	return doc;
}

/* Prints lines with facts that are not in the table. */
static void print_notes(const struct memory_view *v, FILE *out)
{
	if (!v->asked)
		(void)fputs("note: the JVM was not asked: parts without addresses are in malloc\n",
			    out);
	else if (!v->has_malloc_report)
		(void)fputs("note: malloc includes other anonymous memory: only JDK 21 and later "
			    "with glibc report what malloc has\n",
			    out);
	if (v->parts.part[PART_DIRECT].used < 0)
		(void)fputs("note: direct buffers are in malloc: only Native Memory Tracking, on "
			    "JDK 11 and later, reports them\n",
			    out);
}

void memory_view_print(const struct memory_view *v, FILE *out)
{
	struct table *t = parts_table(v, false);
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (v->base)
		table_show(t, CHANGE_TEXT);
	table_total(t);
	table_text(t, NAME, "total");
	table_text(t, RESERVED, "");
	table_text(t, COMMITTED, "");
	table_text(t, USED, "");
	table_number(t, RESIDENT, v->parts.resident);
	if (v->base)
		put_change(t, v->parts.resident, json_get_number(v->base, "rss", 0));
	table_print(t, out);
	print_notes(v, out);
	add_verdicts(v, &text);
	(void)fputs(buf_str(&text), out); /* main.c checks ferror() */
	table_free(t);
}
