/* Builds an allocation profile from frames, as the agent sends them. */
#ifndef JTOOL_TESTS_SAMPLE_ALLOC_H
#define JTOOL_TESTS_SAMPLE_ALLOC_H

#include <check.h>

#include "model/profile/alloc.h"
#include "unit/support/payload.h"

static inline int take_cut(struct alloc *a, uint16_t type, const struct payload *p, size_t len)
{
	struct wire_reader r = wire_reader_init(p->data, len);

	return alloc_take(a, type, &r);
}

static inline int take(struct alloc *a, uint16_t type, const struct payload *p)
{
	ck_assert(wire_writer_ok(&p->w));
	return take_cut(a, type, p, p->w.len);
}

static inline void put_state(struct wire_writer *w, uint64_t ns, uint64_t samples,
			     uint64_t dropped)
{
	wire_put_u64(w, ns);
	wire_put_u64(w, samples);
	wire_put_u64(w, samples * 1000);
	wire_put_u64(w, dropped);
	wire_put_u32(w, 3);
	wire_put_u64(w, 524288);
	wire_put_u32(w, 2);
}

static inline void send_classes(struct alloc *a, const char *const *signatures, uint32_t n)
{
	struct payload p;

	wire_put_u32(begin(&p), n);
	for (uint32_t i = 0; i < n; i++)
		put_text(&p.w, signatures[i]);
	ck_assert_int_eq(take(a, WIRE_ALLOC_KINDS, &p), 0);
}

/* Sends n stack frames of a class: frame i is in method "m" + i, in line lines[i]. */
static inline void send_frames(struct alloc *a, const char *class, const int32_t *lines,
			       uint32_t n)
{
	struct payload p;

	wire_put_u32(begin(&p), n);
	for (uint32_t i = 0; i < n; i++) {
		char method[16];

		(void)snprintf(method, sizeof(method), "m%u", (unsigned)i);
		put_text(&p.w, class);
		put_text(&p.w, method);
		put_text(&p.w, "C.java");
		wire_put_i32(&p.w, lines[i]);
	}
	ck_assert_int_eq(take(a, WIRE_FRAMES, &p), 0);
}

/* Writes a site whose objects have 1,000 bytes each; every tenth object is live. */
static inline void put_site(struct wire_writer *w, uint32_t kind, uint64_t objects,
			    const uint32_t *frames, uint32_t n)
{
	wire_put_u32(w, kind);
	wire_put_u64(w, objects);
	wire_put_u64(w, objects * 1000);
	wire_put_u64(w, 1);
	wire_put_u64(w, objects / 10);
	wire_put_u64(w, objects / 10 * 1000);
	wire_put_u32(w, n);
	for (uint32_t i = 0; i < n; i++)
		wire_put_u32(w, frames[i]);
}

static inline void send_site(struct alloc *a, uint32_t kind, uint64_t objects,
			     const uint32_t *frames, uint32_t n)
{
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_site(&p.w, kind, objects, frames, n);
	ck_assert_int_eq(take(a, WIRE_ALLOC_SITES, &p), 0);
}

static inline void put_end(struct payload *p, uint32_t end, int32_t code, uint32_t flags)
{
	wire_put_u32(begin(p), end);
	wire_put_i32(&p->w, code);
	wire_put_u64(&p->w, 12000000);
	wire_put_u32(&p->w, flags);
	put_state(&p->w, 10040000000, 12345, 0);
}

static inline void send_end(struct alloc *a, uint32_t flags)
{
	struct payload p;

	put_end(&p, WIRE_ALLOCED_TIME, 0, flags);
	ck_assert_int_eq(take(a, WIRE_ALLOC_END, &p), 1);
}

#endif
