#include "model/memory/memory_parts.h"

#include <string.h>

#include "base/util.h"
#include "model/memory/mapping_kinds.h"

#define MB (INT64_C(1) << 20)

struct state {
	const struct jvm_memory *jvm;
	struct mapping_kinds kinds;
	size_t next_range;
	struct memory_size size[N_POOLS];
	int64_t gc_room; /* number of resident bytes that may still be added to POOL_RESERVED */
};

const char *memory_part_name(enum memory_part part)
{
	static const char *const names[N_MEMORY_PARTS] = {
		[PART_HEAP] = "heap",
		[PART_METASPACE] = "metaspace",
		[PART_CLASS_SPACE] = "class space",
		[PART_CODE] = "code cache",
		[PART_STACKS] = "thread stacks",
		[PART_GC] = "GC and compiler",
		[PART_DIRECT] = "direct buffers",
		[PART_MALLOC] = "malloc",
		[PART_MALLOC_FREE] = "malloc, free",
		[PART_ARCHIVE] = "class archive",
		[PART_LIBRARIES] = "libraries",
		[PART_MAPPED] = "mapped buffers",
		[PART_FILES] = "mapped files",
		[PART_AGENT] = "jtool's agent",
		[PART_UNEXPLAINED] = "unexplained",
	};

	return names[part];
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void add(struct memory_size *size, const struct mapping *m, uint64_t len, int64_t resident,
		int64_t anonymous)
{
	size->reserved += (int64_t)len;
	size->committed += mapping_is_inaccessible(m) ? 0 : (int64_t)len;
	size->resident += resident;
	size->anonymous += lesser(anonymous, resident);
}

/*
 * Adds a piece of a mapping to a part or pool.  A mapping of kind POOL_RESERVED may also contain
 * memory of malloc, which the kernel has merged with the committed start of a reservation.  So at
 * most s->gc_room resident bytes of all these mappings are added to POOL_RESERVED; the function
 * adds the remaining resident bytes to POOL_OTHER.
 */
static void add_piece(struct state *s, int kind, const struct mapping *m, uint64_t len,
		      int64_t resident, int64_t anonymous)
{
	int64_t fits;

	if (kind == POOL_OTHER && mapping_is_inaccessible(m))
		/*
		 * Do not count the piece's address space: it belongs to a reservation that the
		 * adjacent mapping counts already.
		 */
		len = 0;
	if (kind != POOL_RESERVED) {
		add(&s->size[kind], m, len, resident, anonymous);
		return;
	}
	fits = lesser(resident, s->gc_room);
	s->gc_room -= fits;
	add(&s->size[POOL_RESERVED], m, len - (uint64_t)(resident - fits), fits,
	    lesser(anonymous, fits));
	add(&s->size[POOL_OTHER], m, (uint64_t)(resident - fits), resident - fits,
	    anonymous - lesser(anonymous, fits));
}

static const enum memory_part part_of_range[] = {
	[JVM_RANGE_HEAP] = PART_HEAP,
	[JVM_RANGE_METASPACE] = PART_METASPACE,
	[JVM_RANGE_CLASS] = PART_CLASS_SPACE,
	[JVM_RANGE_CODE] = PART_CODE,
};

/* A piece of a mapping: the bytes in one range that the JVM reports, or between two ranges. */
struct piece {
	int kind; /* PART_… of the range; -1: the piece is in no range */
	uint64_t len;
};
#define PIECES_MAX 64

/*
 * Cuts an anonymous mapping where the ranges that the JVM reports begin and end.  Returns the
 * number of pieces.
 */
static size_t cut(struct state *s, const struct mapping *m, struct piece *pieces)
{
	uint64_t at = m->start;
	size_t n = 0;

	while (s->next_range < s->kinds.n_ranges && s->kinds.ranges[s->next_range].end <= m->start)
		s->next_range++;
	for (size_t i = s->next_range; i < s->kinds.n_ranges && n + 2 < PIECES_MAX; i++) {
		const struct jvm_range *r = &s->kinds.ranges[i];
		uint64_t end = r->end < m->end ? r->end : m->end;

		if (r->start >= m->end)
			break;
		if (r->start > at) {
			pieces[n++] = (struct piece){ -1, r->start - at };
			at = r->start;
		}
		pieces[n++] = (struct piece){ (int)part_of_range[r->kind], end - at };
		at = end;
	}
	if (at < m->end)
		pieces[n++] = (struct piece){ -1, m->end - at };
	return n;
}

/*
 * Adds an anonymous mapping.  It may consist of several mappings that the program has requested,
 * because the kernel merges adjacent mappings.  The function assumes that each piece except the
 * longest is the committed start of a reservation and is fully resident; the longest piece gets the
 * remaining resident bytes of the mapping.
 */
static void add_anonymous(struct state *s, size_t i)
{
	const struct mapping *m = &s->kinds.maps->list[i];
	int64_t resident = m->resident, anonymous = m->anonymous;
	struct piece pieces[PIECES_MAX];
	size_t n = cut(s, m, pieces), longest = 0;

	for (size_t j = 0; j < n; j++) {
		if (pieces[j].kind < 0)
			pieces[j].kind = mapping_kind(&s->kinds, i);
		if (pieces[j].len > pieces[longest].len)
			longest = j;
	}
	for (size_t j = 0; j < n; j++) {
		int64_t share = lesser(resident, (int64_t)pieces[j].len);
		int64_t part = lesser(anonymous, share);

		if (j == longest)
			continue;
		add_piece(s, pieces[j].kind, m, pieces[j].len, share, part);
		resident -= share;
		anonymous -= part;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): no mapping is empty, so n > 0 */
	add_piece(s, pieces[longest].kind, m, pieces[longest].len, resident, anonymous);
}

static void add_file(struct state *s, size_t i)
{
	const struct mapping *m = &s->kinds.maps->list[i];

	add(&s->size[mapping_kind(&s->kinds, i)], m, m->end - m->start, m->resident,
	    m->shared && m->write ? m->resident : m->anonymous);
}

/* Moves at most `bytes` resident bytes from one part or pool to another. */
static void move(struct state *s, int from, int to, int64_t bytes)
{
	struct memory_size *a = &s->size[from], *b = &s->size[to];
	int64_t n = lesser(a->resident, bytes > 0 ? bytes : 0), anonymous = lesser(a->anonymous, n);
	int64_t committed = lesser(a->committed, n), reserved = lesser(a->reserved, n);

	a->resident -= n;
	a->anonymous -= anonymous;
	a->committed -= committed;
	a->reserved -= reserved;
	b->resident += n;
	b->anonymous += anonymous;
	b->committed += committed;
	b->reserved += reserved;
}

static void move_all(struct state *s, int from, int to)
{
	struct memory_size *a = &s->size[from], *b = &s->size[to];

	b->reserved += a->reserved;
	b->committed += a->committed;
	b->resident += a->resident;
	b->anonymous += a->anonymous;
	*a = (struct memory_size){ .resident = 0 };
}

/*
 * Moves `bytes` resident bytes to the part `to`: from the pool `first`; and, if `first` has fewer
 * than `bytes`, the rest from the pool `second`.
 */
static void move_first(struct state *s, int first, int second, int to, int64_t bytes)
{
	int64_t before_it = s->size[to].resident;

	move(s, first, to, bytes);
	move(s, second, to, bytes - (s->size[to].resident - before_it));
}

/*
 * Moves metaspace out of the pools, for JDK 8, which reports the sizes of metaspace but not its
 * addresses.
 */
static void divide_metaspace(struct state *s)
{
	const struct jvm_memory *jvm = s->jvm;
	int64_t class = jvm->class_committed > 0 ? jvm->class_committed : 0;

	if (jvm->metaspace_committed < 0 || mapping_kinds_has_range(&s->kinds, JVM_RANGE_METASPACE))
		return;
	move_first(s, POOL_RESERVED, POOL_OTHER, PART_METASPACE, jvm->metaspace_committed - class);
	move_first(s, POOL_RESERVED, POOL_OTHER, PART_CLASS_SPACE, class);
}

/*
 * Moves memory that was never touched from POOL_OTHER to PART_MALLOC, until PART_MALLOC and
 * PART_MALLOC_FREE together have the size that malloc reports.  A program may allocate more memory
 * than it touches.
 */
static void add_untouched(struct state *s)
{
	const struct jvm_memory *jvm = s->jvm;
	struct memory_size *other = &s->size[POOL_OTHER], *to = &s->size[PART_MALLOC];
	int64_t missing = jvm->malloc_arenas + (jvm->malloc_mapped > 0 ? jvm->malloc_mapped : 0) -
			  to->committed - s->size[PART_MALLOC_FREE].committed;
	int64_t n = lesser(missing, other->committed - other->resident);

	if (n <= 0)
		return;
	other->committed -= n;
	other->reserved -= n;
	to->committed += n;
	to->reserved += n;
}

/* Divides the resident memory of malloc into used and free memory. */
static void divide_malloc(struct state *s)
{
	const struct jvm_memory *jvm = s->jvm;
	struct memory_size *arenas = &s->size[POOL_ARENAS];

	if (jvm->malloc_free >= 0) {
		int64_t in_use = jvm->malloc_arenas - jvm->malloc_free;

		/*
		 * Move to POOL_ARENAS the arenas that are still in POOL_OTHER, because the kernel
		 * has merged their mappings with others.
		 */
		move(s, POOL_OTHER, POOL_ARENAS, jvm->malloc_arenas - arenas->committed);
		if (arenas->resident > in_use)
			move(s, POOL_ARENAS, PART_MALLOC_FREE, arenas->resident - in_use);
	}
	move_all(s, POOL_ARENAS, PART_MALLOC);
	/*
	 * Add the large blocks for which malloc calls mmap(2).  If malloc does not report their
	 * size, fill PART_MALLOC up to the size that NMT reports for malloc.  If there is no NMT
	 * report either, divide() adds all of POOL_OTHER to PART_MALLOC.
	 */
	if (jvm->malloc_free >= 0) {
		move_first(s, POOL_OTHER, POOL_RESERVED, PART_MALLOC,
			   jvm->malloc_mapped > 0 ? jvm->malloc_mapped : 0);
		add_untouched(s);
	} else if (jvm->nmt_malloc >= 0) {
		move(s, POOL_OTHER, PART_MALLOC,
		     jvm->nmt_malloc - s->size[PART_MALLOC].committed);
	}
}

/*
 * Moves the memory of the collector and of direct buffers to PART_GC and PART_DIRECT.  Native
 * Memory Tracking (NMT) reports how many bytes the collector and Unsafe have allocated with malloc,
 * but not how many of these bytes are resident.  All bytes of direct buffers count as resident,
 * because the JVM zeroes them.  The collector gets the share nmt_gc_malloc / nmt_malloc of malloc's
 * remaining resident bytes, but at most nmt_gc_malloc: native libraries, which NMT does not count,
 * have some of the resident bytes.
 */
static void divide_tracked(struct state *s)
{
	const struct jvm_memory *jvm = s->jvm;
	int64_t mapped = jvm->nmt_gc - s->size[POOL_RESERVED].committed;

	if (jvm->nmt_gc >= 0)
		move(s, POOL_OTHER, PART_GC, mapped);
	move_all(s, POOL_RESERVED, PART_GC);
	move(s, PART_MALLOC, PART_DIRECT, jvm->nmt_other);
	if (jvm->nmt_gc_malloc > 0)
		move(s, PART_MALLOC, PART_GC,
		     lesser(jvm->nmt_gc_malloc,
			    (int64_t)((double)s->size[PART_MALLOC].resident *
				      (double)jvm->nmt_gc_malloc / (double)jvm->nmt_malloc)));
}

static void divide(struct state *s)
{
	divide_metaspace(s);
	divide_malloc(s);
	divide_tracked(s);
	if (s->jvm->malloc_free >= 0)
		move_all(s, POOL_OTHER, PART_UNEXPLAINED);
	else
		move_all(s, POOL_OTHER, PART_MALLOC);
}

static void put_used(const struct jvm_memory *jvm, struct memory_parts *parts)
{
	int64_t class = jvm->class_used, both = jvm->metaspace_used;

	for (int i = 0; i < N_MEMORY_PARTS; i++)
		parts->part[i].used = -1;
	parts->part[PART_HEAP].used = jvm->heap_used;
	parts->part[PART_CLASS_SPACE].used = class;
	if (both >= 0)
		parts->part[PART_METASPACE].used = both - (class >= 0 && class <= both ? class : 0);
	parts->part[PART_CODE].used = jvm->code_used;
	if (jvm->malloc_free >= 0)
		parts->part[PART_MALLOC].used = jvm->malloc_arenas - jvm->malloc_free +
						(jvm->malloc_mapped > 0 ? jvm->malloc_mapped : 0);
	parts->part[PART_DIRECT].used = jvm->nmt_other;
}

/*
 * Returns the maximum number of resident bytes in POOL_RESERVED: metaspace, and the collector's
 * bitmaps, card tables and remembered sets.  If Native Memory Tracking does not report the
 * collector's memory, estimates it from the heap's maximum size: the bitmaps of Parallel, and of G1
 * before JDK 20, take 1/32 of this size; the card table and the offset table take 1/512 each.
 */
static int64_t gc_room(const struct jvm_memory *jvm)
{
	int64_t room = jvm->nmt_gc;

	if (jvm->heap_max < 0)
		return INT64_MAX;
	if (room < 0)
		room = jvm->heap_max / 24 + MB;
	return room + (jvm->metaspace_committed > 0 ? jvm->metaspace_committed : 0);
}

void memory_parts_of(const struct mappings *maps, const struct jvm_memory *jvm,
		     memory_is_agent *is_agent, struct memory_parts *parts)
{
	struct state s = { .jvm = jvm, .gc_room = gc_room(jvm) };

	*parts = (struct memory_parts){ .resident = 0 };
	mapping_kinds_init(&s.kinds, maps, jvm, is_agent);
	for (size_t i = 0; i < maps->n; i++) {
		const struct mapping *m = &maps->list[i];

		parts->resident += m->resident;
		parts->swapped += m->swapped;
		if (mapping_is_anonymous(m))
			add_anonymous(&s, i);
		else
			add_file(&s, i);
	}
	divide(&s);
	mapping_kinds_release(&s.kinds);
	memcpy(parts->part, s.size, sizeof(parts->part));
	put_used(jvm, parts);
}
