/* What a terminal sends when a key is pressed.  Pure. */
#ifndef JTOOL_RENDER_TOP_SCREEN_KEYS_H
#define JTOOL_RENDER_TOP_SCREEN_KEYS_H

#include <stddef.h>

/* A key is the character that it sends, or one of these. */
enum screen_key {
	KEY_NONE = 0, /* a key without a meaning here */
	KEY_ENTER = '\n',
	KEY_ESCAPE = 0x1b,
	KEY_BACKSPACE = 0x7f,
	KEY_UP = 0x100,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
};

/*
 * Takes one key from the n > 0 bytes that have arrived: sets *key, and returns its length in bytes.
 * An escape that nothing follows is the key of this name.
 */
size_t screen_key(const char *bytes, size_t n, int *key);

#endif
