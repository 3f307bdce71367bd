#include "base/glob.h"

#include <stddef.h>
#include <string.h>

bool glob_is_pattern(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}

/* Backs up to the last '*' only: what an earlier one took can stay as it is. */
bool glob_matches(const char *glob, const char *text)
{
	const char *star = NULL, *mark = NULL;

	while (*text) {
		if (*glob == '*') {
			star = glob++;
			mark = text;
		} else if (*glob == '?' || *glob == *text) {
			glob++;
			text++;
		} else if (star) {
			glob = star + 1;
			text = ++mark;
		} else {
			return false;
		}
	}
	return glob[strspn(glob, "*")] == '\0';
}
