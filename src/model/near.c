#include "model/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

#define NAMES_MAX 5

static size_t common_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && tolower((unsigned char)a[n]) == tolower((unsigned char)b[n]))
		n++;
	return n;
}

static bool is_near(const char *wanted, const char *name)
{
	size_t len = strlen(wanted);

	if (len < 2) /* that is in nearly every name */
		return false;
	return strcasestr(name, wanted) || common_prefix(wanted, name) * 4 >= len * 3;
}

void near_offer(struct near *near, const char *name)
{
	if (near->n == NAMES_MAX || !is_near(near->wanted, name))
		return;
	if (near->n++ > 0)
		buf_adds(&near->names, ", ");
	text_printable(&near->names, name, strlen(name));
}

const char *near_hint(struct near *near)
{
	buf_reset(&near->hint);
	if (near->n > 0)
		buf_addf(&near->hint, ": did you mean %s?", buf_str(&near->names));
	else
		buf_adds(&near->hint, "; without a name all are listed");
	return buf_str(&near->hint);
}

void near_release(struct near *near)
{
	buf_release(&near->names);
	buf_release(&near->hint);
}
