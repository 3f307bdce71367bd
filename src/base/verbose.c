#include "base/verbose.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/printable.h"

static void (*diverted)(const char *text); /* receives each step; NULL: print it on stderr */

void verbose_divert(void (*print)(const char *text))
{
	diverted = print;
}

void verbose_step(const struct verbose *steps, const char *fmt, ...)
{
	char text[512];
	_cleanup_buf_ struct buf safe = BUF_INIT;
	va_list ap;

	if (!steps)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* a long text is truncated */
	va_end(ap);
	if (diverted) {
		diverted(text);
		return;
	}
	printable_add(&safe, text, strlen(text)); /* the text may contain paths from the target */
	fprintf(stderr, "jtool: %9.3f ms  %s\n", (double)(monotonic_ns() - steps->start_ns) / 1e6,
		buf_str(&safe));
}
