#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* An error is one line, whatever a hostile name inside it holds. */
static void flatten(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++) {
		if (*p < ' ' || *p == 0x7f)
			*p = ' ';
	}
}

int err_set(struct err *err, enum exit_code code, const char *fmt, ...)
{
	va_list ap;

	if (err->code != EXIT_DONE)
		return -1;
	err->code = code;
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap); /* a cut text is still the cause */
	va_end(ap);
	flatten(err->text);
	return -1;
}

void err_prefix(struct err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)strlcat(text, ": ", sizeof(text));
	(void)strlcat(text, err->text, sizeof(text));
	memcpy(err->text, text, sizeof(text));
	flatten(err->text);
}
