/*
 * The size of a terminal.
 */
#ifndef JTOOL_BASE_TERMINAL_H
#define JTOOL_BASE_TERMINAL_H

#include <stdbool.h>

struct terminal {
	unsigned rows, columns; /* never 0 */
};

/* The size that the terminal fd has now; false when fd is none. */
bool terminal_size(int fd, struct terminal *terminal);

#endif
