#include "model/layout.h"

#include "model/layout_added.h"

#define WORD 8
#define CONTENDED 128 /* -XX:ContendedPaddingWidth */
#define HOLES_FILLED 26 /* among what stands apart */
#define RULES_NEW 15  /* JDK-8237767: fields fill the holes of superclasses */

static uint64_t align_up(uint64_t n, uint64_t alignment)
{
	return (n + alignment - 1) & ~(alignment - 1);
}

bool layout_is_known(const struct layout *l)
{
	return l->reference != 0;
}

uint64_t layout_array(const struct layout *l, unsigned element, uint64_t length)
{
	/* Elements as wide as a word begin at a multiple of it. */
	return align_up(align_up(l->array_header, element) + element * length, l->alignment);
}

/*
 * JDK 15 on: each field goes into the smallest hole that fits, the last of equals; else behind
 * the last field.
 */
static void put_hole(struct layout_shape *s, uint64_t at, uint64_t len)
{
	if (len == 0 || s->n_holes == LAYOUT_HOLES)
		return;
	s->holes[s->n_holes].at = (uint32_t)at;
	s->holes[s->n_holes++].len = (uint32_t)len;
}

static bool fits(const struct layout_shape *s, unsigned hole, uint32_t size)
{
	uint64_t at = s->holes[hole].at;

	return align_up(at, size) + size <= at + s->holes[hole].len;
}

static unsigned best_hole(const struct layout_shape *s, uint32_t size)
{
	unsigned best = LAYOUT_HOLES;

	for (unsigned i = 0; i < s->n_holes; i++) {
		if (!fits(s, i, size))
			continue;
		if (best == LAYOUT_HOLES || s->holes[i].len < s->holes[best].len ||
		    (s->holes[i].len == s->holes[best].len && s->holes[i].at > s->holes[best].at))
			best = i;
	}
	return best;
}

static void fill_hole(struct layout_shape *s, unsigned hole, uint32_t size)
{
	const uint64_t from = s->holes[hole].at, to = from + s->holes[hole].len;
	const uint64_t at = align_up(from, size);

	s->holes[hole] = s->holes[--s->n_holes];
	put_hole(s, from, at - from);
	put_hole(s, at + size, to - at - size);
}

static void append(struct layout_shape *s, uint32_t size)
{
	uint64_t at = align_up(s->end, size);

	put_hole(s, s->end, at - s->end);
	s->end = at + size;
}

static void put_fields(struct layout_shape *s, uint32_t n, uint32_t size)
{
	for (uint32_t i = 0; i < n; i++) {
		unsigned hole = best_hole(s, size);

		if (hole == LAYOUT_HOLES) { /* nor will the others find one */
			append(s, size);
			s->end += (uint64_t)(n - i - 1) * size;
			return;
		}
		fill_hole(s, hole, size);
	}
}

static void put_all(const struct layout *l, struct layout_shape *s, const struct layout_fields *f)
{
	put_fields(s, f->n8, 8);
	put_fields(s, f->n4, 4);
	put_fields(s, f->n2, 2);
	put_fields(s, f->n1, 1);
	put_fields(s, f->n_references, l->reference);
}

static void put_behind(struct layout_shape *s, uint32_t n, uint32_t size)
{
	if (n)
		s->end = align_up(s->end, size) + (uint64_t)n * size;
}

/* They have cache lines of their own, in which JDK 25 fills no hole, but JDK 27 does. */
static void put_contended(const struct layout *l, struct layout_shape *s,
			  const struct layout_fields *f)
{
	struct layout_shape apart = { .end = s->end + CONTENDED };

	if (l->release >= HOLES_FILLED) {
		put_all(l, &apart, f);
	} else {
		put_behind(&apart, f->n8, 8);
		put_behind(&apart, f->n4, 4);
		put_behind(&apart, f->n2, 2);
		put_behind(&apart, f->n1, 1);
		put_behind(&apart, f->n_references, l->reference);
	}
	s->end = apart.end + CONTENDED;
}

static struct layout_shape new_rules(const struct layout *l, const struct layout_shape *super,
				     const struct layout_fields *f,
				     const struct layout_added *added)
{
	struct layout_shape s = { .end = l->header };

	/* What java.lang.Object leaves behind its header is free as if nobody had laid it out. */
	if (super && super->end > l->header) {
		s = *super;
		if (!s.padded)
			put_hole(&s, s.end, s.size - s.end);
		else
			s.n_holes = 0; /* JDK-8250606: nothing goes beside what is contended */
		s.end = s.size;
	}
	if (added->contended_class) {
		put_contended(l, &s, f);
	} else {
		put_all(l, &s, f);
		if (added->has_contended)
			put_contended(l, &s, &added->contended);
	}
	s.padded |= added->contended_class || added->has_contended;
	s.size = align_up(align_up(s.end, WORD), l->alignment);
	return s;
}

/*
 * JDK 8 to 14: the widest first, references last; a hole before the first long takes what fits
 * in four bytes.  Some classes that the JVM knew the offsets of have their references first.
 */
static void fill_gap(const struct layout *l, uint64_t *gap, struct layout_fields *f)
{
	if (*gap >= 4 && f->n4) {
		f->n4--;
		*gap -= 4;
	}
	for (; *gap >= 2 && f->n2; *gap -= 2)
		f->n2--;
	for (; *gap >= 1 && f->n1; *gap -= 1)
		f->n1--;
	if (*gap >= l->reference && f->n_references)
		f->n_references--;
}

static uint64_t old_primitives(uint64_t end, const struct layout_fields *f)
{
	return end + 8 * (uint64_t)f->n8 + 4 * (uint64_t)f->n4 + 2 * (uint64_t)f->n2 + f->n1;
}

static uint64_t old_fields(const struct layout *l, uint64_t end, struct layout_fields f,
			   bool references_first)
{
	uint64_t gap;

	if (references_first) {
		end += (uint64_t)f.n_references * l->reference;
		f.n_references = 0;
	}
	if (f.n8) {
		gap = align_up(end, WORD) - end;
		end += gap;
		if (!references_first)
			fill_gap(l, &gap, &f);
	}
	end = old_primitives(end, &f);
	if (f.n_references)
		end = align_up(end, l->reference) + (uint64_t)f.n_references * l->reference;
	return end;
}

static struct layout_shape old_rules(const struct layout *l, const struct layout_shape *super,
				     const struct layout_fields *f,
				     const struct layout_added *added)
{
	struct layout_shape s = { .end = super ? super->end : l->header };

	if (added->contended_class)
		s.end += CONTENDED;
	s.end = old_fields(l, s.end, *f, added->references_first);
	if (added->has_contended)
		s.end = old_fields(l, align_up(s.end, WORD) + CONTENDED, added->contended, false) +
			CONTENDED;
	if (added->contended_class)
		s.end += CONTENDED;
	s.size = align_up(align_up(s.end, WORD), l->alignment);
	s.end = align_up(s.end, l->reference); /* a subclass begins at a multiple of these */
	return s;
}

struct layout_shape layout_instance(const struct layout *l, const struct layout_shape *super,
				    const char *name, bool bootstrap,
				    const struct layout_fields *fields)
{
	struct layout_fields all = *fields;
	struct layout_added added = { 0 };

	if (bootstrap)
		layout_added(l->release, name, &all, &added);
	return l->release < RULES_NEW ? old_rules(l, super, &all, &added)
				      : new_rules(l, super, &all, &added);
}

/* By all rules references come first, and the hole that they may leave stays one. */
uint64_t layout_mirror(const struct layout *l, uint64_t base, const struct layout_fields *statics)
{
	return align_up(base + align_up(old_fields(l, 0, *statics, true), WORD), l->alignment);
}

/* InstanceStackChunkKlass: behind the stack, a bit for each word or half word of it. */
uint64_t layout_stack_chunk(const struct layout *l, const struct layout_shape *shape,
			    uint32_t words)
{
	uint64_t bits = (uint64_t)words * (l->reference == 4 ? 2 : 1);

	return align_up(shape->size + (uint64_t)words * WORD + align_up(bits, 64) / 8,
			l->alignment);
}
