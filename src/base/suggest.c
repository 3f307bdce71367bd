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
	if (is_near(near->wanted, name))
		near_add(near, name);
}

void near_add(struct near *near, const char *name)
{
	if (near->n == NAMES_MAX)
		return;
	if (near->n++ > 0)
		buf_adds(&near->names, ", ");
	text_printable(&near->names, name, strlen(name));
}

/* The name behind the last dot of a class's name, or of a word. */
static const char *simple_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* Are they the same but for a slip or two? */
static bool is_slip(const char *name, const char *wanted)
{
	size_t len = strlen(wanted), slips = len / 4 < 2 ? len / 4 : 2;

	return near_distance(name, wanted) <= slips;
}

/* How near a name is to a word: 0: only the package differs; then slips; then parts; 4: not. */
#define NOT_NEAR 4
static unsigned nearness(const char *name, const char *word)
{
	const char *simple = simple_name(name), *wanted = simple_name(word);
	const char *nested = strrchr(simple, '$');
	size_t len = strlen(wanted);

	if (strcasecmp(simple, wanted) == 0)
		return 0;
	if (is_slip(simple, wanted) || (nested && is_slip(nested + 1, wanted)))
		return 1;
	if (len > 2 && strcasestr(name, word))
		return 2;
	return len > 3 && strcasestr(name, wanted) ? 3 : NOT_NEAR;
}

static bool is_among(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

void near_offer_classes(struct near *near, const char *(*name)(const void *list, size_t i),
			const void *list, size_t n)
{
	const char *added[NAMES_MAX];
	size_t n_added = 0;

	for (unsigned wanted = 0; wanted < NOT_NEAR; wanted++) {
		for (size_t i = 0; i < n && near->n < NAMES_MAX; i++) {
			const char *text = name(list, i);

			if (strchr(text, '[') || nearness(text, near->wanted) != wanted ||
			    is_among(added, n_added, text))
				continue;
			added[n_added++] = text;
			near_add(near, text);
		}
	}
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

unsigned near_distance(const char *a, const char *b)
{
	unsigned row[3][NEAR_LEN_MAX + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > NEAR_LEN_MAX || m > NEAR_LEN_MAX)
		return NEAR_LEN_MAX + 1;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *cur = row[i % 3], *prev = row[(i - 1) % 3], *prev2 = row[(i + 1) % 3];

		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = prev[j - 1] + (a[i - 1] != b[j - 1]);

			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (cur[j - 1] + 1 < best)
				best = cur[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    prev2[j - 2] + 1 < best)
				best = prev2[j - 2] + 1;
			cur[j] = best;
		}
	}
	return row[n % 3][m];
}
