#include "model/memory/mapping_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/strview.h"
#include "base/xalloc.h"

#define MB (UINT64_C(1) << 20)
/* glibc places each arena in an aligned area of 64 MB (HEAP_MAX_SIZE, malloc/arena.c). */
#define ARENA_SIZE (64 * MB)
/*
 * Linux before 6.7 does not mark the stacks of threads.  A mapping counts as a stack if it has at
 * most STACK_MAX bytes, and is directly after a guard of at most GUARD_MAX bytes.  Most stacks have
 * 1 to 8 MB, and their guards 16 to 256 KB.
 */
#define GUARD_MAX MB
#define STACK_MAX (16 * MB)
#define BSS_MAX (4 * MB) /* limit for a library's zeroed data, see kind_of_neighbour() */

static uint64_t length(const struct mapping *m)
{
	return m->end - m->start;
}

bool mapping_is_anonymous(const struct mapping *m)
{
	return !m->shared && (!m->path || strncmp(m->path, "[anon", 5) == 0);
}

bool mapping_is_inaccessible(const struct mapping *m)
{
	return !m->read && !m->write && !m->exec;
}

/* Returns true for address space without memory: a guard page, or memory that is only reserved. */
static bool is_hole(const struct mapping *m)
{
	return mapping_is_anonymous(m) && mapping_is_inaccessible(m);
}

/* Returns the mapping that ends where mapping i starts, or NULL. */
static const struct mapping *before(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *m = &s->maps->list[i];

	return i > 0 && m[-1].end == m->start ? m - 1 : NULL;
}

/* Returns the mapping that starts where mapping i ends, or NULL. */
static const struct mapping *after(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *m = &s->maps->list[i];

	return i + 1 < s->maps->n && m[1].start == m->end ? m + 1 : NULL;
}

/* Returns true for a mapping of a library: an executable mapping of the same file is near it. */
static bool is_library(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *list = s->maps->list;
	const char *path = list[i].path;

	for (size_t j = i > 8 ? i - 8 : 0; j < s->maps->n && j < i + 8; j++) {
		if (list[j].exec && list[j].path && strcmp(list[j].path, path) == 0)
			return true;
	}
	return false;
}

static bool ends_with(const char *text, const char *suffix)
{
	return strview_ends_with((struct strview){ text, text + strlen(text) }, suffix);
}

static bool is_java_heap_file(const struct mapping *m)
{
	return m->path && ends_with(m->path, "java_heap"); /* ZGC's heap: /memfd:java_heap */
}

static bool in_heap(const struct mapping_kinds *s, const struct mapping *m)
{
	for (size_t i = 0; i < s->n_ranges; i++) {
		const struct jvm_range *r = &s->ranges[i];

		if (r->kind == JVM_RANGE_HEAP && m->start >= r->start && m->start < r->end)
			return true;
	}
	return false;
}

/*
 * Returns true for a file that the JVM or the C library maps for itself; false for a file that the
 * program maps.
 */
static bool is_of_jvm(const char *path)
{
	static const char *const ends[] = { ".jar", ".zip", ".war", ".jmod", ".cache", ".ttf",
					    ".aot", "/modules" };
	static const char *const folders[] = { "/hsperfdata_", "/locale/", "/SYSV" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (ends_with(path, ends[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (strstr(path, folders[i]))
			return true;
	}
	return false;
}

static int kind_of_file(const struct mapping_kinds *s, size_t i)
{
	const char *path = s->maps->list[i].path;

	if (!path)
		return PART_FILES; /* shared anonymous memory */
	if (strcmp(path, "[heap]") == 0)
		return POOL_ARENAS;
	if (strncmp(path, "[stack", 6) == 0)
		return PART_STACKS;
	if (*path == '[') /* [vdso], [vvar], [vsyscall] */
		return PART_LIBRARIES;
	if (is_java_heap_file(&s->maps->list[i]))
		return PART_HEAP;
	if (s->is_agent(path))
		return PART_AGENT;
	if (ends_with(path, ".jsa")) /* class archive; its objects may be in the heap */
		return in_heap(s, &s->maps->list[i]) ? PART_HEAP : PART_ARCHIVE;
	if (is_library(s, i))
		return PART_LIBRARIES;
	return is_of_jvm(path) ? PART_FILES : PART_MAPPED;
}

static bool is_stack(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *m = &s->maps->list[i], *guard = before(s, i);

	if (m->no_huge)
		return true;
	return guard && is_hole(guard) && !guard->noreserve &&
	       length(guard) <= GUARD_MAX && length(m) <= STACK_MAX;
}

static bool is_arena(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *m = &s->maps->list[i], *rest = after(s, i);

	if (m->start % ARENA_SIZE != 0)
		return false;
	/* a full arena, possibly with further arenas in the same mapping */
	if (m->end % ARENA_SIZE == 0)
		return true;
	return rest && is_hole(rest) && rest->noreserve == m->noreserve &&
	       rest->end % ARENA_SIZE == 0 && length(rest) < ARENA_SIZE;
}

/*
 * Returns true for memory that HotSpot has committed at the start of a reservation.  HotSpot
 * reserves memory with MAP_NORESERVE, and commits it from its start with another mmap(2) without
 * this flag.  glibc commits memory in an arena with mprotect(2), which does not change
 * MAP_NORESERVE, so the committed part of an arena has the same flags as the rest.
 */
static bool is_reserved(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *rest = after(s, i);

	return !s->maps->list[i].noreserve && rest && is_hole(rest) && rest->noreserve;
}

/*
 * Returns the kind of an anonymous mapping that is directly after the mapping of a file.  If the
 * file is a library, the anonymous mapping has the library's zeroed data, and thus the same kind.
 */
static int kind_of_neighbour(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *file = before(s, i);
	int kind;

	if (!file || !file->path || *file->path == '[' || !file->write || file->shared ||
	    length(&s->maps->list[i]) > BSS_MAX)
		return POOL_OTHER;
	kind = kind_of_file(s, i - 1);
	return kind == PART_LIBRARIES || kind == PART_AGENT ? kind : POOL_OTHER;
}

static int kind_of_anonymous(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *m = &s->maps->list[i];

	if (m->exec)
		return PART_CODE;
	if (m->path && strncmp(m->path, "[anon: glibc: malloc", 20) == 0)
		return POOL_ARENAS;
	if (m->path && strncmp(m->path, "[anon: glibc: pthread stack", 27) == 0)
		return PART_STACKS;
	if (!m->write)
		return POOL_OTHER;
	if (is_arena(s, i))
		return POOL_ARENAS;
	if (is_stack(s, i))
		return PART_STACKS;
	return is_reserved(s, i) ? POOL_RESERVED : kind_of_neighbour(s, i);
}

static int by_start(const void *a, const void *b)
{
	const struct jvm_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Copies and sorts the ranges, and removes overlaps, because the JVM's answers are not trusted. */
static void sort_ranges(struct mapping_kinds *s, const struct jvm_memory *jvm)
{
	uint64_t end = 0;

	s->ranges = xcalloc(jvm->n_ranges + 1, sizeof(*s->ranges));
	if (jvm->n_ranges)
		memcpy(s->ranges, jvm->ranges, jvm->n_ranges * sizeof(*s->ranges));
	s->n_ranges = jvm->n_ranges;
	qsort(s->ranges, s->n_ranges, sizeof(*s->ranges), by_start);
	for (size_t i = 0; i < s->n_ranges; i++) {
		struct jvm_range *r = &s->ranges[i];

		if (r->start < end)
			r->start = end;
		if (r->end < r->start)
			r->end = r->start;
		end = r->end;
	}
}

bool mapping_kinds_has_range(const struct mapping_kinds *s, enum jvm_range_kind kind)
{
	for (size_t i = 0; i < s->n_ranges; i++) {
		if (s->ranges[i].kind == kind)
			return true;
	}
	return false;
}

/*
 * Returns true for a mapping that can be a part of the heap: memory, reserved memory, or archived
 * objects.
 */
static bool can_be_heap(const struct mapping_kinds *s, size_t i)
{
	const struct mapping *m = &s->maps->list[i];

	if (!mapping_is_anonymous(m))
		return m->path && ends_with(m->path, ".jsa");
	if (mapping_is_inaccessible(m))
		return m->noreserve;
	return !m->exec && !m->no_huge && !m->noreserve;
}

/*
 * Returns true if the mapping `at` can be in a run of adjacent mappings that begins with `first`
 * and has the heap.  A run does not begin with memory that is only reserved, because such memory
 * may belong to the code cache.
 */
static bool is_in_run(const struct mapping_kinds *s, size_t first, size_t at)
{
	if (!can_be_heap(s, at))
		return false;
	return at == first ? !is_hole(&s->maps->list[at]) : before(s, at) != NULL;
}

/* Returns true if no range of the JVM overlaps these `len` bytes. */
static bool is_unclaimed(const struct mapping_kinds *s, uint64_t start, uint64_t len)
{
	for (size_t i = 0; i < s->n_ranges; i++) {
		if (s->ranges[i].start < start + len && start < s->ranges[i].end)
			return false;
	}
	return true;
}

/*
 * Finds the heap if the JVM does not report its range.  The heap is assumed to be at the start of
 * the smallest run of adjacent mappings that has room for heap_max bytes.
 */
static void find_heap(struct mapping_kinds *s, int64_t heap_max)
{
	const struct mappings *maps = s->maps;
	uint64_t max = heap_max > 0 ? (uint64_t)heap_max : 0, best = UINT64_MAX;
	struct jvm_range heap = { JVM_RANGE_HEAP, 0, 0 };

	for (size_t i = 0, end; max && i < maps->n; i = end) {
		uint64_t len = 0;

		for (end = i; end < maps->n && is_in_run(s, i, end); end++)
			len = maps->list[end].end - maps->list[i].start;
		if (len >= max && len < best && is_unclaimed(s, maps->list[i].start, max)) {
			best = len;
			heap.start = maps->list[i].start;
		}
		end += end == i;
	}
	if (best == UINT64_MAX)
		return;
	heap.end = heap.start + max;
	s->ranges[s->n_ranges++] = heap; /* sort_ranges() has left room for one more */
	qsort(s->ranges, s->n_ranges, sizeof(*s->ranges), by_start);
}

static bool has_java_heap_file(const struct mapping_kinds *s)
{
	for (size_t i = 0; i < s->maps->n; i++) {
		if (is_java_heap_file(&s->maps->list[i]))
			return true;
	}
	return false;
}

int mapping_kind(const struct mapping_kinds *s, size_t i)
{
	return mapping_is_anonymous(&s->maps->list[i]) ? kind_of_anonymous(s, i)
						       : kind_of_file(s, i);
}

void mapping_kinds_init(struct mapping_kinds *s, const struct mappings *maps,
			const struct jvm_memory *jvm, memory_is_agent *is_agent)
{
	*s = (struct mapping_kinds){ .maps = maps, .is_agent = is_agent };
	sort_ranges(s, jvm);
	if (!mapping_kinds_has_range(s, JVM_RANGE_HEAP) && !has_java_heap_file(s))
		find_heap(s, jvm->heap_max);
}

void mapping_kinds_release(struct mapping_kinds *s)
{
	free(s->ranges);
	*s = (struct mapping_kinds){ .maps = NULL };
}
