/* Decodes the bytes that a terminal sends when a key is pressed.  Does no I/O. */
#ifndef JTOOL_RENDER_TOP_SCREEN_KEYS_H
#define JTOOL_RENDER_TOP_SCREEN_KEYS_H

#include <stddef.h>

/*
 * A key that sends a character has this character as its value; other keys have the values below.
 */
enum screen_key {
	KEY_NONE = 0, /* a key that has no meaning here */
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
 * Decodes one key from the n > 0 bytes that have arrived.  Sets *key, and returns the number of
 * bytes that the key takes.  An escape character without bytes after it is the key Escape.
 */
size_t screen_key(const char *bytes, size_t n, int *key);

#endif
