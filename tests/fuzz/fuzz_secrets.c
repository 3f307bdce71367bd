/* Masks secrets: those learned from a text are not in the text after secrets_overwrite(). */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/vm/secrets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void overwrite(const struct secrets *s, const uint8_t *data, size_t len)
{
	_cleanup_free_ char *copy = xmalloc(len + 1);

	memcpy(copy, data, len);
	(void)secrets_overwrite(s, copy, len);
	for (size_t i = 0; i < s->n; i++) {
		/* A secret with asterisks may equal the text that overwrites secrets. */
		if (memchr(s->values[i].text, '*', s->values[i].len) == NULL &&
		    memmem(copy, len, s->values[i].text, s->values[i].len))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = xmalloc(len + 1);
	_cleanup_buf_ struct buf masked = BUF_INIT, urls = BUF_INIT;
	struct secrets s = { 0 };

	memcpy(text, data, len);
	text[len] = '\0';
	if (secrets_mask(&masked, text, len) == 0 &&
	    (masked.len != len || (len > 0 && memcmp(masked.data, text, len) != 0)))
		abort();
	(void)secrets_mask_urls(&urls, text, len);
	secrets_learn(&s, text, len);
	secrets_learn_urls(&s, text, len);
	secrets_learn_args(&s, text, len);
	overwrite(&s, data, len);
	secrets_release(&s);
	return 0;
}
