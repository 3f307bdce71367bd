/*
 * Patterns for names: '*' stands for any characters, '?' for one; nothing else is special.
 */
#ifndef JTOOL_BASE_GLOB_H
#define JTOOL_BASE_GLOB_H

#include <stdbool.h>

/* Never slow, whatever the pattern: at worst the product of both lengths. */
bool glob_matches(const char *glob, const char *text);

/* Does it stand for more than itself? */
bool glob_is_pattern(const char *text);

#endif
