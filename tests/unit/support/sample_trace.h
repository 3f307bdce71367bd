/* Writes the frames of a trace and the values in them, as the agent does. */
#ifndef JTOOL_TESTS_SAMPLE_TRACE_H
#define JTOOL_TESTS_SAMPLE_TRACE_H

#include "model/profile/trace.h"
#include "model/profile/trace_value.h"
#include "unit/support/payload.h"

static inline struct wire_text text_in(const struct buf *buf)
{
	return (struct wire_text){ buf_str(buf), buf->len };
}

static inline void put_number(struct buf *out, uint64_t number, unsigned len)
{
	for (unsigned i = len; i-- > 0;)
		buf_addc(out, (char)(number >> 8 * i));
}

/* Writes a value of type Z, B, C, S, I or F.  A float is written as its IEEE 754 bits. */
static inline void put_narrow(struct buf *out, char kind, uint32_t bits)
{
	buf_addc(out, kind);
	put_number(out, bits, 4);
}

static inline void put_wide(struct buf *out, char kind, uint64_t bits)
{
	buf_addc(out, kind);
	put_number(out, bits, 8);
}

/* Writes a String of `length` chars, but only the first of them: `chars`, in ASCII. */
static inline void put_string(struct buf *out, const char *chars, uint32_t length)
{
	buf_addc(out, VALUE_STRING);
	put_number(out, length, 4);
	put_number(out, strlen(chars), 2);
	for (; *chars; chars++)
		put_number(out, (uint8_t)*chars, 2);
}

static inline void put_class(struct buf *out, char kind, const char *signature)
{
	buf_addc(out, kind);
	put_number(out, strlen(signature), 2);
	buf_adds(out, signature);
}

static inline void put_array(struct buf *out, const char *signature, uint32_t length, unsigned n)
{
	put_class(out, VALUE_ARRAY, signature);
	put_number(out, length, 4);
	put_number(out, n, 2);
}

static inline void put_object(struct buf *out, const char *signature, uint32_t identity)
{
	put_class(out, VALUE_OBJECT, signature);
	put_number(out, identity, 4);
}

/* Writes the beginning of a call; the caller appends the arguments, the result and the stack. */
static inline void put_call(struct wire_writer *w, uint32_t method, uint64_t ns,
			    const char *thread, uint32_t threw)
{
	wire_put_u32(w, method);
	wire_put_u64(w, UINT64_C(1751371245123456789));
	wire_put_u64(w, ns);
	wire_put_u64(w, 41);
	put_text(w, thread);
	wire_put_u32(w, threw);
}

/*
 * Writes the sums of one method; the caller appends n buckets.  `times` are the sum, the minimum
 * and the maximum in ns.
 */
static inline void put_sum(struct wire_writer *w, uint32_t method, uint64_t calls, uint64_t threw,
			   const uint64_t times[static 3], uint32_t n)
{
	wire_put_u32(w, method);
	wire_put_u64(w, calls);
	wire_put_u64(w, threw);
	for (unsigned i = 0; i < 3; i++)
		wire_put_u64(w, times[i]);
	wire_put_u32(w, n);
}

static inline void put_state(struct wire_writer *w, uint64_t calls, uint64_t too_many,
			     uint64_t no_room)
{
	wire_put_u64(w, calls);
	wire_put_u64(w, too_many);
	wire_put_u64(w, no_room);
	wire_put_u64(w, 1000);
}

static inline void ignore_call(const struct trace *t, const struct trace_call *call, void *arg)
{
	(void)t, (void)call, (void)arg;
}

static inline int take_frame(struct trace *t, uint16_t type, const struct payload *p, size_t len,
			     trace_call_fn *on_call, void *arg)
{
	struct wire_reader r = wire_reader_init(p->data, len);

	return trace_take(t, type, &r, on_call ? on_call : ignore_call, arg);
}

#endif
