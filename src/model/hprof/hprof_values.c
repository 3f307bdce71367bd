/* Reads values of a heap dump, and reports invalid ones. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/hprof/hprof_internal.h"

uint64_t hprof_get(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	if (bytes == 8) { /* compiles to one load and a byte swap */
		memcpy(&value, p, 8);
		return __builtin_bswap64(value);
	}
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return value;
}

int hprof_invalid(struct hprof_reader *r, struct err *err, const char *fmt, ...)
{
	char why[256];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, args); /* a long text is truncated */
	va_end(args);
	r->invalid = true;
	return err_set(err, EXIT_PARTIAL,
		       "the dump is invalid at byte %" PRIu64 ": %s; dump the heap again",
		       r->in.at, why);
}

unsigned hprof_type_size(unsigned type, unsigned id_size)
{
	static const uint8_t sizes[HPROF_TYPES] = {
		[HPROF_BOOLEAN] = 1, [HPROF_CHAR] = 2, [HPROF_FLOAT] = 4, [HPROF_DOUBLE] = 8,
		[HPROF_BYTE] = 1, [HPROF_SHORT] = 2, [HPROF_INT] = 4, [HPROF_LONG] = 8,
	};

	if (type == HPROF_OBJECT)
		return id_size;
	return type < HPROF_TYPES ? sizes[type] : 0;
}
