/* Writes small heap dumps for tests, as HotSpot does. */
#ifndef JTOOL_TESTS_HPROF_WRITER_H
#define JTOOL_TESTS_HPROF_WRITER_H

#include <stdint.h>
#include <string.h>

#include "base/buf.h"

struct hprof_writer {
	struct buf out;
	unsigned id;   /* size of an identifier in bytes */
	size_t record; /* offset of the current record's body */
};

static inline void put(struct hprof_writer *m, uint64_t value, unsigned bytes)
{
	for (unsigned i = bytes; i-- > 0;)
		buf_addc(&m->out, (char)(value >> (8 * i)));
}

static inline void put_id(struct hprof_writer *m, uint64_t id)
{
	put(m, id, m->id);
}

static inline void begin(struct hprof_writer *m, unsigned tag)
{
	put(m, tag, 1);
	put(m, 0, 8);
	m->record = m->out.len;
}

static inline void end(struct hprof_writer *m)
{
	const uint64_t len = m->out.len - m->record;

	for (unsigned i = 0; i < 4; i++)
		m->out.data[m->record - 4 + i] = (char)(len >> (8 * (3 - i)));
}

static inline void put_head(struct hprof_writer *m)
{
	buf_add(&m->out, "JAVA PROFILE 1.0.2", 19);
	put(m, m->id, 4);
	put(m, 0, 8);
}

/* Returns the id of a symbol: a hash of its text, so that tests need no table of ids. */
static inline uint64_t symbol(const char *text)
{
	uint32_t hash = 5381;

	for (; *text; text++)
		hash = hash * 33 + (uint8_t)*text;
	return hash;
}

static inline void put_symbol(struct hprof_writer *m, const char *text)
{
	begin(m, 0x01);
	put_id(m, symbol(text));
	buf_adds(&m->out, text);
	end(m);
}

static inline void put_loaded(struct hprof_writer *m, uint32_t serial, uint64_t class,
			      const char *name)
{
	put_symbol(m, name);
	begin(m, 0x02);
	put(m, serial, 4);
	put_id(m, class);
	put(m, 1, 4);
	put_id(m, symbol(name));
	end(m);
}

struct field_spec {
	const char *name;
	unsigned type;  /* type code of the HPROF format; 2: an object */
	uint64_t value; /* of a static field */
};

static inline unsigned type_size(const struct hprof_writer *m, unsigned type)
{
	static const uint8_t sizes[] = { 0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8 };

	return type == 2 ? m->id : sizes[type];
}

static inline void put_class(struct hprof_writer *m, uint64_t class, uint64_t super,
			     uint64_t loader, const struct field_spec *statics, unsigned n_statics,
			     const struct field_spec *fields, unsigned n_fields)
{
	put(m, 0x20, 1);
	put_id(m, class);
	put(m, 1, 4);
	put_id(m, super);
	put_id(m, loader);
	for (int i = 0; i < 4; i++)
		put_id(m, 0);
	put(m, 0, 4);
	put(m, 0, 2);
	put(m, n_statics, 2);
	for (unsigned i = 0; i < n_statics; i++) {
		put_id(m, symbol(statics[i].name));
		put(m, statics[i].type, 1);
		put(m, statics[i].value, type_size(m, statics[i].type));
	}
	put(m, n_fields, 2);
	for (unsigned i = 0; i < n_fields; i++) {
		put_id(m, symbol(fields[i].name));
		put(m, fields[i].type, 1);
	}
}

/* Begins an instance; the caller appends the values of its fields. */
static inline void put_instance(struct hprof_writer *m, uint64_t object, uint64_t class,
				uint32_t bytes)
{
	put(m, 0x21, 1);
	put_id(m, object);
	put(m, 1, 4);
	put_id(m, class);
	put(m, bytes, 4);
}

static inline void put_array(struct hprof_writer *m, uint64_t object, uint64_t class, uint32_t n)
{
	put(m, 0x22, 1);
	put_id(m, object);
	put(m, 1, 4);
	put(m, n, 4);
	put_id(m, class);
}

static inline void put_bytes(struct hprof_writer *m, uint64_t object, const char *text)
{
	put(m, 0x23, 1);
	put_id(m, object);
	put(m, 1, 4);
	put(m, strlen(text), 4);
	put(m, 8, 1);
	buf_adds(&m->out, text);
}

#endif
