/* Redacts a heap dump in pieces; the first byte is their size and the mode. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "model/hprof/hprof_redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY (64u << 20)

static int append(void *arg, const uint8_t *data, size_t len, struct err *err)
{
	(void)err;
	buf_add(arg, data, len);
	return 0;
}

static int redact(const uint8_t *data, size_t size, size_t piece, enum hprof_redact what,
		  struct buf *out)
{
	struct hprof_redactor *r = hprof_redactor_new(what, MEMORY, append, out);
	uint8_t *copy = malloc(piece);
	struct err err = { 0 };
	int rc = copy ? 0 : -1;

	for (size_t at = 0; at < size && rc == 0; at += piece) {
		const size_t n = size - at < piece ? size - at : piece;

		memcpy(copy, data + at, n);
		rc = hprof_redactor_take(r, copy, n, &err);
	}
	if (rc == 0)
		rc = hprof_redactor_end(r, &err);
	free(copy);
	hprof_redactor_free(r);
	return rc;
}

/*
 * Each byte of the output is that of the dump or zero.  The size of pieces has no effect on it, and
 * neither has a second redaction.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT, other = BUF_INIT, again = BUF_INIT;
	enum hprof_redact what;
	int rc;

	if (size < 2)
		return 0;
	what = data[0] & 1 ? HPROF_REDACT_ALL : HPROF_REDACT_STRINGS;
	rc = redact(data + 1, size - 1, size, what, &out);
	if (redact(data + 1, size - 1, (data[0] >> 1) + 1u, what, &other) != rc)
		abort();
	if (out.len > size - 1 || (rc == 0 && out.len != size - 1))
		abort();
	for (size_t i = 0; i < out.len; i++) {
		if (out.data[i] != (char)data[1 + i] && out.data[i] != 0)
			abort();
	}
	for (size_t i = 0; i < other.len && i < out.len; i++) {
		if (out.data[i] != other.data[i])
			abort();
	}
	if (rc == 0 && (redact((const uint8_t *)out.data, out.len, size, what, &again) < 0 ||
			memcmp(out.data, again.data, out.len) != 0))
		abort();
	buf_release(&out);
	buf_release(&other);
	buf_release(&again);
	return 0;
}
