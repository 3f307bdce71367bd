/* The size of a terminal. */
#ifndef JTOOL_BASE_TERMINAL_H
#define JTOOL_BASE_TERMINAL_H

#include <stdbool.h>

struct terminal {
	unsigned rows, columns; /* never 0 */
};

/* Sets *terminal to the current size.  Returns false if fd is not a terminal. */
bool terminal_size(int fd, struct terminal *terminal);

#endif
