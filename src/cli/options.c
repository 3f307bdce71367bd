#include "cli/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/suggest.h"
#include "base/xalloc.h"
#include "cli/parse_duration.h"
#include "cli/parse_size.h"

bool opt_is_end(const struct opt *row)
{
	return !row->letter && !row->name && !row->help;
}

bool opt_is_group(const struct opt *row)
{
	return !row->letter && !row->name && row->help;
}

bool opt_has_letter(const struct opt *rows, char letter)
{
	for (const struct opt *o = rows; o && !opt_is_end(o); o++) {
		if (o->letter == letter)
			return true;
	}
	return false;
}

static int parse_number(const char *s, unsigned *out, const char **rest)
{
	char *end;
	unsigned long n;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	n = strtoul(s, &end, 10);
	if (errno || n > UINT_MAX)
		return -ERANGE;
	*out = (unsigned)n;
	*rest = end;
	return 0;
}

static int parse_megabytes(const char *s, uint64_t *out)
{
	bool has_unit = s[strspn(s, "0123456789")] != '\0';
	uint64_t n;
	int rc = parse_size(s, &n);

	if (rc == 0 && !has_unit && __builtin_mul_overflow(n, UINT64_C(1) << 20, &n))
		return -ERANGE;
	if (rc == 0)
		*out = n;
	return rc;
}

static int parse_choice(const struct opt *o, const char *shown, const char *s, int *out,
			struct err *err)
{
	_cleanup_buf_ struct buf list = BUF_INIT;

	for (int i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], s) == 0) {
			*out = i;
			return 0;
		}
		buf_addf(&list, "%s%s", i > 0 ? ", " : "", o->choices[i]);
	}
	return err_set(err, EXIT_USAGE, "%s: unknown value '%s': choose from %s", shown, s,
		       buf_str(&list));
}

/* Stores the meaning of an option that is given without a value, see opt_stands_alone(). */
static void store_alone(const struct opt_set *set, const struct opt *o)
{
	void *at = (char *)set->values + o->offset;

	if (o->kind == OPT_LEVEL)
		*(unsigned *)at = 1;
	else if (o->kind == OPT_MODE)
		*(int *)at = 1;
	else
		*(bool *)at = true;
}

static int store(const struct opt_set *set, const struct opt *o, const char *shown,
		 const char *value, struct err *err)
{
	void *at = (char *)set->values + o->offset;
	const char *rest;

	switch (o->kind) {
	case OPT_FLAG:
		break; /* has no value */
	case OPT_TEXT:
		*(const char **)at = value;
		return 0;
	case OPT_NUMBER:
	case OPT_LIMIT:
		if (parse_number(value, at, &rest) == 0 && *rest == '\0') {
			if (o->kind == OPT_LIMIT && *(unsigned *)at == 0)
				*(unsigned *)at = UINT_MAX;
			return 0;
		}
		return err_set(err, EXIT_USAGE,
			       "%s: invalid number '%s': expected a whole number", shown, value);
	case OPT_BYTES:
		if (parse_size(value, at) == 0)
			return 0;
		return err_set(err, EXIT_USAGE,
			       "%s: invalid size '%s': expected a size such as 4096, 512k or 1g",
			       shown, value);
	case OPT_MB:
		if (parse_megabytes(value, at) == 0)
			return 0;
		return err_set(err, EXIT_USAGE,
			       "%s: invalid size '%s': expected a size such as 512m, 2g, or 512, "
			       "which is in MiB", shown, value);
	case OPT_SECONDS:
		if (parse_duration(value, 1000, at) == 0)
			return 0;
		return err_set(err, EXIT_USAGE,
			       "%s: invalid time '%s': expected a time such as 500ms or 2.5s; "
			       "a bare number is in seconds",
			       shown, value);
	case OPT_NANOS:
		if (parse_duration_ns(value, at) == 0)
			return 0;
		return err_set(err, EXIT_USAGE,
			       "%s: invalid time '%s': expected a time with a unit, such as 10ms, "
			       "500us or 1s", shown, value);
	case OPT_CHOICE:
		return parse_choice(o, shown, value, at, err);
	case OPT_MODE:
		if (parse_choice(o, shown, value, at, err) < 0)
			return -1;
		++*(int *)at;
		return 0;
	case OPT_LEVEL:
		if (parse_number(value, at, &rest) == 0 && *rest == '\0' &&
		    *(unsigned *)at >= 1 && *(unsigned *)at <= 9)
			return 0;
		return err_set(err, EXIT_USAGE, "%s: invalid level '%s': expected 1 to 9", shown,
			       value);
	}
	return err_set(err, EXIT_USAGE,
		       "%s: jtool does not know how to parse its value; report this bug", shown);
}

bool opt_stands_alone(const struct opt *row)
{
	return row->kind == OPT_FLAG || row->kind == OPT_LEVEL || row->kind == OPT_MODE;
}

/* Returns the name of the long option that differs from `name` by a typo or two; NULL if none. */
static const char *nearest(const struct opt_set sets[static 2], const char *name)
{
	unsigned best_distance = strlen(name) < 5 ? 2 : 3;
	const char *best = NULL;

	for (size_t i = 0; i < 2; i++) {
		for (const struct opt *o = sets[i].rows; o && !opt_is_end(o); o++) {
			unsigned d = o->name ? suggest_distance(name, o->name) : best_distance;

			if (d < best_distance) {
				best_distance = d;
				best = o->name;
			}
		}
	}
	return best;
}

static void set_unknown(const struct opt_set sets[static 2], const char *name, size_t len,
			struct err *err)
{
	_cleanup_free_ char *option = xstrndup(name, len);
	const char *near = nearest(sets, option);

	if (near)
		(void)err_set(err, EXIT_USAGE, "unknown option '--%s': did you mean --%s?",
			      option, near);
	else
		(void)err_set(err, EXIT_USAGE, "unknown option '--%s': --help lists them", option);
}

/*
 * Finds a long option by its name, which may be abbreviated, and sets *set to the set that has the
 * option.  Returns NULL with err set if no set has it.
 */
static const struct opt *find_long(const struct opt_set sets[static 2], const char *name,
				   size_t len, const struct opt_set **set, struct err *err)
{
	const struct opt *found = NULL;
	bool ambiguous = false;

	for (size_t i = 0; i < 2; i++) {
		for (const struct opt *o = sets[i].rows; o && !opt_is_end(o); o++) {
			if (!o->name || strncmp(o->name, name, len) != 0)
				continue;
			if (o->name[len] == '\0') {
				*set = &sets[i];
				return o;
			}
			ambiguous = found != NULL;
			found = o;
			*set = &sets[i];
		}
	}
	if (found && !ambiguous)
		return found;
	if (ambiguous)
		(void)err_set(err, EXIT_USAGE, "ambiguous option '--%.*s': --help lists them",
			      (int)len, name);
	else
		set_unknown(sets, name, len, err);
	return NULL;
}

static const struct opt *find_letter(const struct opt_set sets[static 2], char letter,
				     const struct opt_set **set)
{
	for (size_t i = 0; i < 2; i++) {
		for (const struct opt *o = sets[i].rows; o && !opt_is_end(o); o++) {
			if (o->letter == letter) {
				*set = &sets[i];
				return o;
			}
		}
	}
	return NULL;
}

/*
 * Parses "--name", "--name=value" or "--name value".  Returns the number of words consumed, or -1
 * with err set.
 */
static int parse_long(const struct opt_set sets[static 2], char **argv, int left, struct err *err)
{
	const char *name = argv[0] + 2;
	const char *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct opt_set *set = NULL;
	const struct opt *o = find_long(sets, name, len, &set, err);
	char shown[80];

	if (!o)
		return -1;
	(void)snprintf(shown, sizeof(shown), "--%s", o->name);
	if (o->kind == OPT_FLAG && equals)
		return err_set(err, EXIT_USAGE, "%s takes no value: omit '=' and what follows",
			       shown);
	if (equals)
		return store(set, o, shown, equals + 1, err) < 0 ? -1 : 1;
	if (opt_stands_alone(o)) {
		store_alone(set, o);
		return 1;
	}
	if (left < 2)
		return err_set(err, EXIT_USAGE, "%s needs a value: %s", shown, o->arg);
	return store(set, o, shown, argv[1], err) < 0 ? -1 : 2;
}

/* Parses "-lmv", "-n5" or "-n 5".  Returns the number of words consumed, or -1 with err set. */
static int parse_letters(const struct opt_set sets[static 2], char **argv, int left,
			 struct err *err)
{
	for (const char *p = argv[0] + 1; *p; p++) {
		const struct opt_set *set = NULL;
		const struct opt *o = find_letter(sets, *p, &set);
		char shown[3] = { '-', *p, '\0' };

		if (!o)
			return err_set(err, EXIT_USAGE, "unknown option '%s': --help lists them",
				       shown);
		if (opt_stands_alone(o)) {
			store_alone(set, o);
			continue;
		}
		if (p[1])
			return store(set, o, shown, p + 1, err) < 0 ? -1 : 1;
		if (left < 2)
			return err_set(err, EXIT_USAGE, "%s needs a value: %s", shown, o->arg);
		return store(set, o, shown, argv[1], err) < 0 ? -1 : 2;
	}
	return 1;
}

/*
 * Returns true if a word is an option.  "-" is not an option but an argument; so is "-Name" if
 * dash_words is set (see struct opt_set).
 */
static bool is_option(const struct opt_set sets[static 2], const char *word)
{
	const struct opt_set *set = NULL;

	if (word[0] != '-' || word[1] == '\0')
		return false;
	return !(sets[0].dash_words && word[1] >= 'A' && word[1] <= 'Z' &&
		 !find_letter(sets, word[1], &set));
}

int opt_parse(const struct opt_set sets[static 2], char **argv, int argc, int free_words,
	      struct err *err)
{
	int words = 0;
	int i = 0;

	while (i < argc) {
		const char *word = argv[i];
		int taken;

		if (words == free_words)
			break;
		if (strcmp(word, "--") == 0) {
			i++;
			break;
		}
		if (!is_option(sets, word)) {
			argv[words++] = argv[i++];
			continue;
		}
		taken = word[1] == '-' ? parse_long(sets, argv + i, argc - i, err)
				       : parse_letters(sets, argv + i, argc - i, err);
		if (taken < 0)
			return -1;
		i += taken;
	}
	while (i < argc)
		argv[words++] = argv[i++];
	return words;
}

/* Writes an option as "-n, --limit N", and returns the length. */
static int format_option(const struct opt *o, char *text, size_t size)
{
	int n = snprintf(text, size, o->letter ? "-%c" : "  ", o->letter);

	if (o->name)
		n += snprintf(text + n, size - (size_t)n, "%s--%s", o->letter ? ", " : "  ",
			      o->name);
	if (o->arg)
		n += snprintf(text + n, size - (size_t)n,
			      opt_stands_alone(o) ? "[=%s]" : " %s", o->arg);
	return n;
}

void opt_help(const struct opt *rows, FILE *out)
{
	char left[64];
	int width = 0;

	for (const struct opt *o = rows; o && !opt_is_end(o); o++) {
		int n = opt_is_group(o) ? 0 : format_option(o, left, sizeof(left));

		width = n > width ? n : width;
	}
	for (const struct opt *o = rows; o && !opt_is_end(o); o++) {
		if (opt_is_group(o)) {
			fprintf(out, "%s%s:\n", o == rows ? "" : "\n", o->help);
			continue;
		}
		(void)format_option(o, left, sizeof(left));
		fprintf(out, "  %-*s  %s\n", width, left, o->help);
	}
}
