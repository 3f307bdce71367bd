#include "model/hprof/object_layout.h"

#include "model/hprof/layout_injected.h"

#define WORD 8
#define CONTENDED 128 /* padding in bytes, the default of -XX:ContendedPaddingWidth */
#define HOLES_FILLED 26 /* first JDK release that fills holes among @Contended fields */
#define NEW_RULES 15  /* first JDK release that fills holes of superclasses (JDK-8237767) */

static uint64_t align_up(uint64_t n, uint64_t alignment)
{
	return (n + alignment - 1) & ~(alignment - 1);
}

bool object_layout_is_known(const struct object_layout *l)
{
	return l->reference != 0;
}

uint64_t object_layout_array(const struct object_layout *l, unsigned element, uint64_t length)
{
	/* The first element is aligned to the size of an element. */
	return align_up(align_up(l->array_header, element) + element * length, l->alignment);
}

static void put_hole(struct object_layout_shape *s, uint64_t at, uint64_t len)
{
	if (len == 0 || s->n_holes == OBJECT_LAYOUT_HOLES)
		return;
	s->holes[s->n_holes].at = (uint32_t)at;
	s->holes[s->n_holes++].len = (uint32_t)len;
}

static bool fits(const struct object_layout_shape *s, unsigned hole, uint32_t size)
{
	uint64_t at = s->holes[hole].at;

	return align_up(at, size) + size <= at + s->holes[hole].len;
}

/*
 * Returns the index of the smallest hole in which a field of `size` bytes fits; of several smallest
 * holes, the last in the object.  JDK 15 and later choose a hole by this rule.
 */
static unsigned best_hole(const struct object_layout_shape *s, uint32_t size)
{
	unsigned best = OBJECT_LAYOUT_HOLES;

	for (unsigned i = 0; i < s->n_holes; i++) {
		if (!fits(s, i, size))
			continue;
		if (best == OBJECT_LAYOUT_HOLES || s->holes[i].len < s->holes[best].len ||
		    (s->holes[i].len == s->holes[best].len && s->holes[i].at > s->holes[best].at))
			best = i;
	}
	return best;
}

static void fill_hole(struct object_layout_shape *s, unsigned hole, uint32_t size)
{
	const uint64_t from = s->holes[hole].at, to = from + s->holes[hole].len;
	const uint64_t at = align_up(from, size);

	s->holes[hole] = s->holes[--s->n_holes];
	put_hole(s, from, at - from);
	put_hole(s, at + size, to - at - size);
}

static void append(struct object_layout_shape *s, uint32_t size)
{
	uint64_t at = align_up(s->end, size);

	put_hole(s, s->end, at - s->end);
	s->end = at + size;
}

static void put_fields(struct object_layout_shape *s, uint32_t n, uint32_t size)
{
	for (uint32_t i = 0; i < n; i++) {
		unsigned hole = best_hole(s, size);

		/* If a field fits into no hole, no further field of this size fits. */
		if (hole == OBJECT_LAYOUT_HOLES) {
			append(s, size);
			s->end += (uint64_t)(n - i - 1) * size;
			return;
		}
		fill_hole(s, hole, size);
	}
}

static void put_all(const struct object_layout *l, struct object_layout_shape *s,
		    const struct object_layout_fields *f)
{
	put_fields(s, f->n8, 8);
	put_fields(s, f->n4, 4);
	put_fields(s, f->n2, 2);
	put_fields(s, f->n1, 1);
	put_fields(s, f->n_references, l->reference);
}

static void put_after(struct object_layout_shape *s, uint32_t n, uint32_t size)
{
	if (n)
		s->end = align_up(s->end, size) + (uint64_t)n * size;
}

/*
 * Adds @Contended fields, which have their own cache lines.  HotSpot fills the holes between them
 * from JDK HOLES_FILLED on.
 */
static void put_contended(const struct object_layout *l, struct object_layout_shape *s,
			  const struct object_layout_fields *f)
{
	struct object_layout_shape group = { .end = s->end + CONTENDED };

	if (l->release >= HOLES_FILLED) {
		put_all(l, &group, f);
	} else {
		put_after(&group, f->n8, 8);
		put_after(&group, f->n4, 4);
		put_after(&group, f->n2, 2);
		put_after(&group, f->n1, 1);
		put_after(&group, f->n_references, l->reference);
	}
	s->end = group.end + CONTENDED;
}

static struct object_layout_shape new_rules(const struct object_layout *l,
					    const struct object_layout_shape *super,
					    const struct object_layout_fields *f,
					    const struct layout_injected *added)
{
	struct object_layout_shape s = { .end = l->header };

	/*
	 * The padding of java.lang.Object does not count as a hole, because fields of subclasses
	 * follow the header directly.
	 */
	if (super && super->end > l->header) {
		s = *super;
		if (!s.padded)
			put_hole(&s, s.end, s.size - s.end);
		else
			/*
			 * JDK-8250606: fields of subclasses do not use the space of @Contended
			 * fields
			 */
			s.n_holes = 0;
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
 * Fills the gap before the first long with smaller fields, as JDK 8 to 14 do.  The caller places
 * the other fields: the widest first and references last.
 */
static void fill_gap(const struct object_layout *l, uint64_t *gap, struct object_layout_fields *f)
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

static uint64_t old_primitives(uint64_t end, const struct object_layout_fields *f)
{
	return end + 8 * (uint64_t)f->n8 + 4 * (uint64_t)f->n4 + 2 * (uint64_t)f->n2 + f->n1;
}

static uint64_t old_fields(const struct object_layout *l, uint64_t end,
			   struct object_layout_fields f, bool references_first)
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

static struct object_layout_shape old_rules(const struct object_layout *l,
					    const struct object_layout_shape *super,
					    const struct object_layout_fields *f,
					    const struct layout_injected *added)
{
	struct object_layout_shape s = { .end = super ? super->end : l->header };

	if (added->contended_class)
		s.end += CONTENDED;
	s.end = old_fields(l, s.end, *f, added->references_first);
	if (added->has_contended)
		s.end = old_fields(l, align_up(s.end, WORD) + CONTENDED, added->contended, false) +
			CONTENDED;
	if (added->contended_class)
		s.end += CONTENDED;
	s.size = align_up(align_up(s.end, WORD), l->alignment);
	s.end = align_up(s.end, l->reference); /* where the fields of subclasses may begin */
	return s;
}

struct object_layout_shape object_layout_instance(const struct object_layout *l,
						  const struct object_layout_shape *super,
						  const char *name, bool bootstrap,
						  const struct object_layout_fields *fields)
{
	struct object_layout_fields all = *fields;
	struct layout_injected added = { 0 };

	if (bootstrap)
		layout_injected(l->release, name, &all, &added);
	return l->release < NEW_RULES ? old_rules(l, super, &all, &added)
				      : new_rules(l, super, &all, &added);
}

/* Places static references before the other static fields; a gap between them is not filled. */
uint64_t object_layout_mirror(const struct object_layout *l, uint64_t base,
			      const struct object_layout_fields *statics)
{
	return align_up(base + align_up(old_fields(l, 0, *statics, true), WORD), l->alignment);
}

/*
 * The object has its fields, then the stack, then a bitmap.  The bitmap has one bit for each word
 * of the stack; or, with compressed oops, for each 4 bytes of it (see InstanceStackChunkKlass).
 */
uint64_t object_layout_stack_chunk(const struct object_layout *l,
				   const struct object_layout_shape *shape, uint32_t words)
{
	uint64_t bits = (uint64_t)words * (l->reference == 4 ? 2 : 1);

	return align_up(shape->size + (uint64_t)words * WORD + align_up(bits, 64) / 8,
			l->alignment);
}
