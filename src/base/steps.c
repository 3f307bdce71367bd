#include "base/steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"

void steps_add(const struct steps *steps, const char *fmt, ...)
{
	char text[512];
	_cleanup_buf_ struct buf safe = BUF_INIT;
	va_list ap;

	if (!steps)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* cut if need be: it is a hint */
	va_end(ap);
	text_printable(&safe, text, strlen(text)); /* paths of the target's may be in it */
	fprintf(stderr, "jtool: %9.3f ms  %s\n", (double)(io_now_ns() - steps->start_ns) / 1e6,
		buf_str(&safe));
}
