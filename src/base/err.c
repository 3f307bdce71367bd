#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* An error is one line of plain text, whatever a hostile name inside it holds. */
static void flatten(struct err *err)
{
	_cleanup_buf_ struct buf safe = BUF_INIT;

	for (char *p = err->text; *p; p++) { /* a JVM says things in several lines */
		if (strchr("\t\n\r", *p))
			*p = ' ';
	}
	text_printable(&safe, err->text, strlen(err->text));
	(void)strlcpy(err->text, buf_str(&safe), sizeof(err->text));
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
	flatten(err);
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
	flatten(err);
}
