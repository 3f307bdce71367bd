#include "render/units.h"

#include <inttypes.h>

void units_bytes(struct buf *out, int64_t bytes)
{
	static const char units[] = "KMGTPE";
	uint64_t size = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
	uint64_t tenths = 0;
	int unit = -1;

	while (size >= 1024) {
		tenths = size % 1024 * 10 / 1024;
		size /= 1024;
		unit++;
	}
	buf_addf(out, "%s%" PRIu64, bytes < 0 ? "-" : "", size);
	if (unit >= 0 && size < 10)
		buf_addf(out, ".%" PRIu64, tenths);
	if (unit >= 0)
		buf_addc(out, units[unit]);
}

void units_count(struct buf *out, uint64_t n)
{
	uint64_t unit = 1;

	while (n / unit >= 1000)
		unit *= 1000;
	buf_addf(out, "%" PRIu64, n / unit);
	for (; unit > 1; unit /= 1000)
		buf_addf(out, ",%03" PRIu64, n % unit / (unit / 1000));
}

void units_seconds(struct buf *out, int64_t s)
{
	if (s < 60)
		buf_addf(out, "%" PRId64 "s", s);
	else if (s < 3600)
		buf_addf(out, "%" PRId64 "m%02ds", s / 60, (int)(s % 60));
	else if (s < 86400)
		buf_addf(out, "%" PRId64 "h%02dm", s / 3600, (int)(s % 3600 / 60));
	else
		buf_addf(out, "%" PRId64 "d%02dh", s / 86400, (int)(s % 86400 / 3600));
}

void units_nanos(struct buf *out, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	uint64_t unit = 1, whole;
	size_t i = 0;

	for (; i + 1 < ARRAY_SIZE(units) && ns / unit >= 1000; i++)
		unit *= 1000;
	whole = ns / unit;
	buf_addf(out, "%" PRIu64, whole);
	if (i > 0 && whole < 10)
		buf_addf(out, ".%02" PRIu64, ns % unit / (unit / 100));
	else if (i > 0 && whole < 100)
		buf_addf(out, ".%" PRIu64, ns % unit / (unit / 10));
	buf_addf(out, " %s", units[i]);
}
