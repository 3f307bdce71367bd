#include "model/memory/jvm_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/strview.h"
#include "base/xalloc.h"
#include "model/vm/dcmd_replies.h"

#define KB 1024
/*
 * Limit in bytes for an amount: the size of the address space.  With this limit, a sum of a few
 * amounts cannot overflow.
 */
#define AMOUNT_MAX ((int64_t)1 << 57)

void jvm_memory_init(struct jvm_memory *m)
{
	*m = (struct jvm_memory){
		.heap_used = -1, .heap_max = -1, .metaspace_used = -1, .metaspace_committed = -1,
		.metaspace_max = -1,
		.class_used = -1, .class_committed = -1, .code_used = -1, .malloc_arenas = -1,
		.malloc_free = -1, .malloc_mapped = -1, .nmt_malloc = -1, .nmt_gc = -1,
		.nmt_gc_malloc = -1, .nmt_other = -1,
	};
}

void jvm_memory_release(struct jvm_memory *m)
{
	free(m->ranges);
	jvm_memory_init(m);
}

static void add_range(struct jvm_memory *m, enum jvm_range_kind kind, uint64_t start, uint64_t end)
{
	if (start >= end || m->n_ranges == JVM_RANGES_MAX)
		return;
	m->ranges = xgrow(m->ranges, m->n_ranges, &m->cap_ranges, sizeof(*m->ranges));
	m->ranges[m->n_ranges++] = (struct jvm_range){ kind, start, end };
}

/* Adds n to *sum, unless n is negative.  *sum becomes -1 (unknown) if the sum is too large. */
static void add_amount(int64_t *sum, int64_t n)
{
	if (n < 0)
		return;
	*sum = (*sum < 0 ? 0 : *sum) + n;
	if (*sum > AMOUNT_MAX)
		*sum = -1;
}

/* Returns the decimal number at the start of the text, or -1 if there is none. */
static int64_t number_at(const char *text)
{
	int64_t n = 0;

	if (*text < '0' || *text > '9')
		return -1;
	for (; *text >= '0' && *text <= '9'; text++) {
		n = n * 10 + (*text - '0');
		if (n > AMOUNT_MAX)
			return -1;
	}
	return n;
}

/* Returns the number that follows `words` in the line, or -1 if there is none. */
static int64_t number_after(const char *line, const char *words)
{
	const char *at = strstr(line, words);

	return at ? number_at(at + strlen(words)) : -1;
}

static int64_t kb_after(const char *line, const char *words)
{
	int64_t n = number_after(line, words);

	return n < 0 || n > AMOUNT_MAX / KB ? -1 : n * KB;
}

/*
 * Finds a range in brackets with two to four addresses, "[0x…, 0x…, 0x…)" or "[0x…, 0x…]".  Sets
 * *first and *last to the first and the last address.
 */
static bool bounds(const char *line, uint64_t *first, uint64_t *last)
{
	const char *at = strstr(line, "[0x");
	char *end;

	if (!at)
		return false;
	*first = *last = strtoull(at + 1, &end, 16);
	while (*end == ',') {
		at = end + 1 + strspn(end + 1, " ");
		if (strncmp(at, "0x", 2) != 0)
			return false;
		*last = strtoull(at, &end, 16);
	}
	return (*end == ')' || *end == ']') && *first < *last;
}

void jvm_memory_flags(struct jvm_memory *m, const char *text)
{
	m->metaspace_max = number_after(text, "-XX:MaxMetaspaceSize=");
}

typedef void line_fn(struct jvm_memory *m, const char *line, void *arg);
/* Calls fn() for each line of the text, without the line's leading spaces. */
static void each_line(struct jvm_memory *m, const char *text, line_fn *fn, void *arg)
{
	for (char *line; (line = strview_copy_line(&text));) {
		fn(m, line, arg);
		free(line);
	}
}

/* Parses "class space used 403K, capacity 459K, committed 512K, reserved 1048576K". */
static void class_line(struct jvm_memory *m, const char *line)
{
	const char *used = strstr(line, "used ");

	if (!strview_has_prefix(line, "class space") || !used)
		return;
	m->class_used = kb_after(used, "used ");
	m->class_committed = kb_after(line, "committed ");
}

/*
 * Parses a line of GC.heap_info, and extends *heap by the range in the line.  The generations of a
 * heap are adjacent, so one range contains them all.
 */
static void heap_line(struct jvm_memory *m, const char *line, void *arg)
{
	struct jvm_range *heap = arg;
	uint64_t first, last;

	class_line(m, line);
	if (!bounds(line, &first, &last))
		return;
	if (heap->end == 0 || first < heap->start)
		heap->start = first;
	if (last > heap->end)
		heap->end = last;
}

static void metaspace_amounts(struct jvm_memory *m, const struct dcmd_reply_heap *reply)
{
	if (reply->metaspace_used < 0 || reply->metaspace_committed > AMOUNT_MAX)
		return;
	m->metaspace_used = reply->metaspace_used;
	m->metaspace_committed = reply->metaspace_committed;
}

void jvm_memory_heap_info(struct jvm_memory *m, const char *text)
{
	struct jvm_range heap = { .start = 0 };
	struct dcmd_reply_heap reply;

	dcmd_reply_heap(text, &reply);
	m->heap_used = reply.used;
	if (reply.max >= 0)
		m->heap_max = reply.max;
	metaspace_amounts(m, &reply);
	each_line(m, text, heap_line, &heap);
	add_range(m, JVM_RANGE_HEAP, heap.start, heap.end);
}

/*
 * Parses a node of metaspace in JDK 16 and later: "- node #0: base 0x…: reserved=65536.00 KB, …".
 */
static void node_line(struct jvm_memory *m, const char *line, enum jvm_range_kind kind)
{
	const char *base = strstr(line, "base 0x");
	int64_t reserved = kb_after(line, "reserved=");
	uint64_t start;

	if (!base || reserved <= 0)
		return;
	start = strtoull(base + 5, NULL, 16);
	if (start <= INT64_MAX)
		add_range(m, kind, start, start + (uint64_t)reserved);
}

struct metaspace_state {
	enum jvm_range_kind kind;
	bool in_nodes;
};

/*
 * Parses a line of VM.metaspace.  The heading "Virtual space list" (or "lists") precedes the lines
 * of all nodes.  After that heading, "Class:" precedes the nodes of the class space; JDK 11 without
 * a class space has no such line.  The line of a node begins with "- node " in JDK 16 and later,
 * and with "[0x" and four addresses in JDK 11.
 */
static void metaspace_line(struct jvm_memory *m, const char *line, void *arg)
{
	struct metaspace_state *state = arg;
	uint64_t first, last;

	class_line(m, line);
	if (strview_has_prefix(line, "Virtual space list"))
		*state = (struct metaspace_state){ JVM_RANGE_METASPACE, true };
	else if (strview_has_prefix(line, "Chunk freelist"))
		state->in_nodes = false;
	else if (strview_has_prefix(line, "Class:"))
		state->kind = JVM_RANGE_CLASS;
	else if (!state->in_nodes)
		return;
	else if (strview_has_prefix(line, "- node "))
		node_line(m, line, state->kind);
	else if (strview_has_prefix(line, "[0x") && bounds(line, &first, &last))
		add_range(m, state->kind, first, last);
}

void jvm_memory_metaspace(struct jvm_memory *m, const char *text)
{
	struct metaspace_state state = { .in_nodes = false };
	struct dcmd_reply_heap reply;

	dcmd_reply_heap(text, &reply);
	metaspace_amounts(m, &reply);
	each_line(m, text, metaspace_line, &state);
}

/*
 * Parses "CodeHeap 'NAME': size=120036Kb used=13Kb …", or "CodeCache: …" if the cache has one heap.
 */
static void code_line(struct jvm_memory *m, const char *line, void *arg)
{
	int64_t *heaps = arg, *cache = heaps + 1;
	uint64_t first, last;

	if (strview_has_prefix(line, "CodeHeap"))
		add_amount(heaps, kb_after(line, " used="));
	else if (strview_has_prefix(line, "CodeCache"))
		add_amount(cache, kb_after(line, " used="));
	else if (strview_has_prefix(line, "bounds") && bounds(line, &first, &last))
		add_range(m, JVM_RANGE_CODE, first, last);
}

void jvm_memory_code_cache(struct jvm_memory *m, const char *text)
{
	int64_t used[2] = { -1, -1 };

	each_line(m, text, code_line, used);
	m->code_used = used[0] >= 0 ? used[0] : used[1];
}

/* Parses a line of malloc_info(3).  Uses only the totals, which are after the last arena. */
static void malloc_line(struct jvm_memory *m, const char *line, void *arg)
{
	bool *in_arena = arg;

	if (strview_has_prefix(line, "<heap "))
		*in_arena = true;
	else if (strview_has_prefix(line, "</heap>"))
		*in_arena = false;
	else if (*in_arena)
		return;
	else if (strview_has_prefix(line, "<total type=\"fast\"") ||
		 strview_has_prefix(line, "<total type=\"rest\""))
		add_amount(&m->malloc_free, number_after(line, " size=\""));
	else if (strview_has_prefix(line, "<total type=\"mmap\""))
		add_amount(&m->malloc_mapped, number_after(line, " size=\""));
	else if (strview_has_prefix(line, "<system type=\"current\""))
		add_amount(&m->malloc_arenas, number_after(line, " size=\""));
}

void jvm_memory_native_heap(struct jvm_memory *m, const char *text)
{
	bool in_arena = false;

	m->malloc_free = m->malloc_mapped = m->malloc_arenas = -1;
	each_line(m, text, malloc_line, &in_arena);
	if (m->malloc_arenas < 0 || m->malloc_free < 0 || m->malloc_free > m->malloc_arenas)
		m->malloc_free = m->malloc_mapped = m->malloc_arenas = -1;
}

enum nmt_category { NMT_NONE, NMT_SKIPPED, NMT_COLLECTOR, NMT_OTHER };

static enum nmt_category category_of(const char *line)
{
	const char *name = line + 1 + strspn(line + 1, " ");

	if (strview_has_prefix(name, "GC (") || strview_has_prefix(name, "GCCardSet (") ||
	    strview_has_prefix(name, "Compiler ("))
		return NMT_COLLECTOR;
	return strview_has_prefix(name, "Other (") ? NMT_OTHER : NMT_SKIPPED;
}

/*
 * Parses the lines of a category in Native Memory Tracking: "- GC (reserved=…, committed=…)", then
 * "(malloc=…KB #…)", "(mmap: reserved=…KB, committed=…KB)", "(arena=…KB #…)".  The amount of
 * "malloc" does not include the chunks of arenas.
 */
static void nmt_line(struct jvm_memory *m, const char *line, void *arg)
{
	enum nmt_category *category = arg;
	int64_t heap = -1;

	if (strview_has_prefix(line, "Total:"))
		m->has_nmt = true;
	else if (strview_has_prefix(line, "- "))
		*category = category_of(line);
	if (*category == NMT_NONE || *line != '(')
		return;
	if (strview_has_prefix(line, "(malloc="))
		heap = kb_after(line, "(malloc=");
	else if (strview_has_prefix(line, "(arena="))
		heap = kb_after(line, "(arena=");
	add_amount(&m->nmt_malloc, heap);
	if (*category == NMT_OTHER)
		add_amount(&m->nmt_other, heap);
	if (*category != NMT_COLLECTOR)
		return;
	add_amount(&m->nmt_gc_malloc, heap);
	if (strview_has_prefix(line, "(mmap:"))
		add_amount(&m->nmt_gc, kb_after(line, "committed="));
}

void jvm_memory_tracking(struct jvm_memory *m, const char *text)
{
	enum nmt_category category = NMT_NONE;

	m->has_nmt = false;
	m->nmt_malloc = m->nmt_gc = m->nmt_gc_malloc = m->nmt_other = -1;
	each_line(m, text, nmt_line, &category);
}
