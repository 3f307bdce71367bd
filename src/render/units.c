#include "render/units.h"

#include <inttypes.h>

void units_bytes(struct buf *out, int64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	/*
	 * A double is exact enough for four digits.  It can hold -INT64_MIN, which an int64_t
	 * cannot hold.
	 */
	double size = bytes < 0 ? -(double)bytes : (double)bytes;
	size_t unit = 0;

	/* From 1023.5 on, take the next unit: rounding would print 1024 KiB, for example. */
	for (; size >= 1023.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		size /= 1024;
	buf_addf(out, "%s%.*f %s", bytes < 0 ? "-" : "",
		 unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, size, units[unit]);
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
