#include "render/java_double.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The decimal number 0.d1d2d3… × 10^point, which has n digits. */
struct decimal {
	char digits[DBL_DECIMAL_DIG + 1];
	int n, point;
};

/* Returns `value`, which must not be negative, rounded to n significant digits. */
static struct decimal round_to(double value, int n)
{
	struct decimal d = { .n = n };
	char text[32]; /* printed as "d.ddde-ddd" */

	(void)snprintf(text, sizeof(text), "%.*e", n - 1, value);
	d.digits[0] = text[0];
	memcpy(d.digits + 1, text + 2, (size_t)n - 1);
	d.point = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
	return d;
}

static double value_of(const struct decimal *d, bool is_float)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "0.%se%d", d->digits, d->point);
	return is_float ? (double)strtof(text, NULL) : strtod(text, NULL);
}

static struct decimal shortest(double value, bool is_float)
{
	struct decimal d = round_to(value, 2);

	while (d.n < DBL_DECIMAL_DIG && value_of(&d, is_float) != value)
		d = round_to(value, d.n + 1);
	while (d.n > 1 && d.digits[d.n - 1] == '0')
		d.digits[--d.n] = '\0';
	return d;
}

/*
 * Appends the digits d->digits[from], …, d->digits[to - 1] to `out`; appends '0' for each digit
 * that `d` does not have.  If `to` <= `from`, appends "0".
 */
static void add_digits(struct buf *out, const struct decimal *d, int from, int to)
{
	if (from >= to)
		buf_addc(out, '0');
	for (int i = from; i < to; i++)
		buf_addc(out, i >= 0 && i < d->n ? d->digits[i] : '0');
}

void java_double(struct buf *out, double value, bool is_float)
{
	struct decimal d;
	int point;

	if (isnan(value)) {
		buf_adds(out, "NaN");
		return;
	}
	if (signbit(value))
		buf_addc(out, '-');
	if (isinf(value)) {
		buf_adds(out, "Infinity");
		return;
	}
	d = shortest(fabs(value), is_float);
	point = d.point > -3 && d.point <= 7 ? d.point : 1;
	add_digits(out, &d, point > 0 ? 0 : point, point);
	buf_addc(out, '.');
	add_digits(out, &d, point, d.n);
	if (point != d.point)
		buf_addf(out, "E%d", d.point - 1);
}
