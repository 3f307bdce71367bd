#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/printable.h"

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

	if (len < 2) /* one letter is in nearly every name */
		return false;
	return strcasestr(name, wanted) || common_prefix(wanted, name) * 4 >= len * 3;
}

void suggest_offer(struct suggestions *s, const char *name)
{
	if (is_near(s->wanted, name))
		suggest_add(s, name);
}

void suggest_add(struct suggestions *s, const char *name)
{
	if (s->n == NAMES_MAX)
		return;
	if (s->n++ > 0)
		buf_adds(&s->names, ", ");
	printable_add(&s->names, name, strlen(name));
}

/* Returns the part of a class name after the last dot. */
static const char *simple_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/*
 * Returns true if the names differ by at most one typo for each 4 bytes of `wanted`, and by at most
 * two typos.
 */
static bool is_typo(const char *name, const char *wanted)
{
	size_t len = strlen(wanted), typos = len / 4 < 2 ? len / 4 : 2;

	return suggest_distance(name, wanted) <= typos;
}

/*
 * Returns how near `name` is to `word`:
 * - 0 if they differ at most in the package and in case;
 * - 1 if the simple name of `name`, or the part of it after its last '$', is the simple name of
 *   `word` with typos;
 * - 2 if `name` contains `word`;
 * - 3 if `name` contains the simple name of `word`;
 * - NOT_NEAR if they are not similar.
 */
#define NOT_NEAR 4
static unsigned nearness(const char *name, const char *word)
{
	const char *simple = simple_name(name), *wanted = simple_name(word);
	const char *nested = strrchr(simple, '$');
	size_t len = strlen(wanted);

	if (strcasecmp(simple, wanted) == 0)
		return 0;
	if (is_typo(simple, wanted) || (nested && is_typo(nested + 1, wanted)))
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

void suggest_offer_classes(struct suggestions *s,
			   const char *(*name)(const void *list, size_t i), const void *list,
			   size_t n)
{
	const char *added[NAMES_MAX];
	size_t n_added = 0;

	for (unsigned wanted = 0; wanted < NOT_NEAR; wanted++) {
		for (size_t i = 0; i < n && s->n < NAMES_MAX; i++) {
			const char *text = name(list, i);

			if (strchr(text, '[') || nearness(text, s->wanted) != wanted ||
			    is_among(added, n_added, text))
				continue;
			added[n_added++] = text;
			suggest_add(s, text);
		}
	}
}

const char *suggest_hint(struct suggestions *s)
{
	buf_reset(&s->hint);
	if (s->n > 0)
		buf_addf(&s->hint, ": did you mean %s?", buf_str(&s->names));
	else
		buf_adds(&s->hint, "; omit the name to list all");
	return buf_str(&s->hint);
}

void suggest_release(struct suggestions *s)
{
	buf_release(&s->names);
	buf_release(&s->hint);
}

unsigned suggest_distance(const char *a, const char *b)
{
	unsigned row[3][SUGGEST_LEN_MAX + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > SUGGEST_LEN_MAX || m > SUGGEST_LEN_MAX)
		return SUGGEST_LEN_MAX + 1;
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
