#include "render/top/screen_keys.h"

#include <string.h>

#include "base/util.h"

/*
 * How VT100, xterm, the Linux console, tmux and screen encode keys: ESC [ or ESC O, and after it
 * these bytes.
 */
static const struct {
	const char *bytes;
	int key;
} sequences[] = {
	{ "A", KEY_UP },       { "B", KEY_DOWN },      { "C", KEY_RIGHT }, { "D", KEY_LEFT },
	{ "H", KEY_HOME },     { "F", KEY_END },       { "1~", KEY_HOME }, { "4~", KEY_END },
	{ "5~", KEY_PAGE_UP }, { "6~", KEY_PAGE_DOWN }, { "7~", KEY_HOME }, { "8~", KEY_END },
};

/*
 * Returns the length of the control sequence at `bytes`, which ends with a byte from '@' to '~'
 * (ECMA-48, 5.4).
 */
static size_t sequence_len(const char *bytes, size_t n)
{
	size_t len = 2;

	while (len < n && (bytes[len] < '@' || bytes[len] > '~'))
		len++;
	return len < n ? len + 1 : n;
}

size_t screen_key(const char *bytes, size_t n, int *key)
{
	size_t len;

	*key = (unsigned char)bytes[0] == '\r' ? KEY_ENTER : (unsigned char)bytes[0];
	if (bytes[0] == '\b')
		*key = KEY_BACKSPACE;
	if (bytes[0] != KEY_ESCAPE || n < 2 || (bytes[1] != '[' && bytes[1] != 'O'))
		return 1;
	len = sequence_len(bytes, n);
	*key = KEY_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		if (len == strlen(sequences[i].bytes) + 2 &&
		    memcmp(bytes + 2, sequences[i].bytes, len - 2) == 0)
			*key = sequences[i].key;
	}
	return len;
}
