#include "cli/parse_duration.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define NS_PER_MS 1000000u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns how many nanoseconds the unit has, or 0 if the unit is unknown. */
static uint64_t unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },           { "us", 1000 },         { "ms", NS_PER_MS },
		{ "s", 1000000000 },   { "m", 60000000000 },   { "h", 3600000000000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	}
	return 0;
}

/*
 * Parses the decimal number that begins at `text` and ends before `rest`.  Sets *ns to the number
 * times `scale`.  Returns 0 or a negative errno.
 */
static int parse(const char *text, const char *rest, uint64_t scale, uint64_t *ns)
{
	uint64_t total = 0;

	for (; is_digit(*text); text++) {
		if (__builtin_mul_overflow(total, 10, &total) ||
		    __builtin_add_overflow(total, (uint64_t)(*text - '0'), &total))
			return -ERANGE;
	}
	if (__builtin_mul_overflow(total, scale, &total))
		return -ERANGE;
	if (*text == '.') {
		for (text++; is_digit(*text); text++) {
			scale /= 10;
			if (__builtin_add_overflow(total, (uint64_t)(*text - '0') * scale, &total))
				return -ERANGE;
		}
	}
	if (text != rest) /* characters are left, for example from a second decimal point on */
		return -EINVAL;
	*ns = total;
	return 0;
}

int parse_duration_ns(const char *text, uint64_t *ns)
{
	const char *unit = text + strspn(text, "0123456789.");
	uint64_t scale = unit_ns(unit);

	return scale > 0 && is_digit(*text) ? parse(text, unit, scale, ns) : -EINVAL;
}

int parse_duration(const char *text, unsigned bare_ms, unsigned *ms)
{
	const char *unit = text + strspn(text, "0123456789.");
	uint64_t scale = *unit ? unit_ns(unit) : (uint64_t)bare_ms * NS_PER_MS, ns;
	int rc;

	if (scale < NS_PER_MS || !is_digit(*text))
		return -EINVAL;
	rc = parse(text, unit, scale, &ns);
	if (rc < 0)
		return rc;
	if (ns / NS_PER_MS > INT_MAX)
		return -ERANGE;
	*ms = (unsigned)(ns / NS_PER_MS);
	return 0;
}
