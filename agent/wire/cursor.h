/*
 * Reads and writes payloads with a sticky error: each call checks that it stays within the payload
 * or buffer, calls after a failure do nothing, and the caller checks for a failure once at the end.
 *
 * After a failure, a reader returns zeros and empty texts.  No function allocates memory: the texts
 * that a reader returns point into the payload, and a writer fills a buffer of the caller.
 */
#ifndef JTOOL_AGENT_WIRE_CURSOR_H
#define JTOOL_AGENT_WIRE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire_reader {
	const uint8_t *at, *end;
	bool failed;
};

struct wire_text {
	const char *data; /* not NUL-terminated */
	size_t len;
};

struct wire_reader wire_reader_init(const void *payload, size_t len);
uint32_t wire_get_u32(struct wire_reader *r);
uint64_t wire_get_u64(struct wire_reader *r);
int32_t wire_get_i32(struct wire_reader *r);
struct wire_text wire_get_text(struct wire_reader *r);
/* Returns true if every read was within the payload. */
bool wire_reader_ok(const struct wire_reader *r);

struct wire_writer {
	uint8_t *data;
	size_t len, cap;
	bool failed;
};

struct wire_writer wire_writer_init(void *data, size_t cap);
void wire_put_u32(struct wire_writer *w, uint32_t value);
void wire_put_u64(struct wire_writer *w, uint64_t value);
void wire_put_i32(struct wire_writer *w, int32_t value);
void wire_put_text(struct wire_writer *w, const char *text, size_t len);
/* Returns true if the buffer had room for every value. */
bool wire_writer_ok(const struct wire_writer *w);

#endif
