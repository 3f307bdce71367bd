#include "base/duration.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* In milliseconds; 0: there is no such unit. */
static unsigned unit_ms(const char *unit, unsigned bare_ms)
{
	static const struct {
		const char *name;
		unsigned ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ms;
	}
	return *unit ? 0 : bare_ms;
}

int duration_parse(const char *text, unsigned bare_ms, unsigned *ms)
{
	const char *unit = text + strspn(text, "0123456789.");
	unsigned scale = unit_ms(unit, bare_ms);
	uint64_t total = 0;

	if (scale == 0 || !is_digit(*text))
		return -EINVAL;
	for (; is_digit(*text); text++) {
		total = total * 10 + (uint64_t)(*text - '0');
		if (total > INT_MAX)
			return -ERANGE;
	}
	total *= scale;
	if (*text == '.') {
		for (text++; is_digit(*text); text++) {
			scale /= 10;
			total += (uint64_t)(*text - '0') * scale;
		}
	}
	if (text != unit) /* a second point */
		return -EINVAL;
	if (total > INT_MAX)
		return -ERANGE;
	*ms = (unsigned)total;
	return 0;
}
