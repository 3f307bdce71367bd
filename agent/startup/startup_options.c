#include "startup/startup_options.h"

#include <string.h>

#include "util/text.h"

#define MEMORY ((size_t)64 << 20)
#define MEMORY_MIN ((size_t)1 << 20)
#define AGE_MAX 1000
#define SITES_MAX (1u << 22)
/* Limit of a number before its unit is applied: shifted by up to 30 bits, it does not overflow. */
#define DIGITS_MAX (UINT64_MAX >> 31)

enum option { ALLOC, FILE_, EXACT, CLASSES, INTERVAL, LIVE, AGE, DEPTH, MEMORY_, SITES };

static const struct {
	const char *name;
	bool valued;
} known[] = {
	[ALLOC] = { "alloc", false },     [FILE_] = { "file", true },
	[EXACT] = { "exact", false },     [CLASSES] = { "classes", true },
	[INTERVAL] = { "interval", true }, [LIVE] = { "live", false },
	[AGE] = { "age", true },          [DEPTH] = { "depth", true },
	[MEMORY_] = { "memory", true },   [SITES] = { "n", true },
};
#define N_KNOWN (sizeof(known) / sizeof(known[0]))

static bool is_given(const struct ag_startup_options *o, enum option option)
{
	return o->given >> option & 1;
}

static unsigned unit_shift(char unit)
{
	switch (unit) {
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	default:
		return 0;
	}
}

/* Parses digits and, for a size, an optional k, m or g.  Returns -1 if the text is malformed. */
static int read_number(const char *text, bool size, uint64_t *n)
{
	unsigned shift;

	*n = 0;
	if (*text < '0' || *text > '9')
		return -1;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (*n > DIGITS_MAX / 10)
			return -1;
		*n = *n * 10 + (uint64_t)(*text - '0');
	}
	shift = size ? unit_shift(*text) : 0;
	*n <<= shift;
	return text[shift > 0] == '\0' ? 0 : -1;
}

static const char *read_path(struct ag_startup_options *o, const char *value, uint32_t pid)
{
	struct ag_text path = ag_text_init(o->path, sizeof(o->path));

	for (; *value; value++) {
		/* leave room for the suffix of a temporary name */
		if (path.len > sizeof(o->path) - 64)
			return "the path is too long";
		if (*value != '%') {
			ag_text_char(&path, *value);
			continue;
		}
		value++;
		if (*value == 'p')
			ag_text_number(&path, pid);
		else if (*value == '%')
			ag_text_char(&path, '%');
		else
			return "unknown % sequence: choose from %p (process id), %%";
	}
	return path.len == 0 || o->path[path.len - 1] == '/' ? "missing file name" : NULL;
}

static const char *read_globs(struct ag_startup_options *o, char *value)
{
	while (value) {
		char *colon = strchr(value, ':');

		if (colon)
			*colon = '\0';
		if (*value == '\0')
			return "empty class name: expected a.b.C, a.b.* or int[]";
		if (o->wanted.n_globs == WIRE_ALLOC_GLOBS_MAX)
			return "more than 100 class names; use globs";
		o->globs[o->wanted.n_globs++] = value;
		value = colon ? colon + 1 : NULL;
	}
	o->wanted.globs = o->globs;
	return NULL;
}

/* Stores the value of an option.  Returns NULL, or the reason why the value is wrong. */
static const char *read_value(struct ag_startup_options *o, enum option option, char *value,
			      uint32_t pid)
{
	const bool size = option == INTERVAL || option == MEMORY_;
	uint64_t n = 0;

	if (option == FILE_)
		return read_path(o, value, pid);
	if (option == CLASSES)
		return read_globs(o, value);
	if (read_number(value, size, &n) != 0)
		return size ? "expected a size such as 512k" : "expected a number";
	switch (option) {
	case INTERVAL:
		o->wanted.interval = n;
		return n >= 1 && n <= INT32_MAX ? NULL : "expected 1 to 2147483647 bytes";
	case AGE:
		o->wanted.age = (uint32_t)n;
		return n <= AGE_MAX ? NULL : "expected 0 to 1000 collections";
	case DEPTH:
		o->wanted.depth = (uint32_t)n;
		return n >= 1 && n <= WIRE_ALLOC_DEPTH ? NULL : "expected 1 to 64 frames";
	case MEMORY_:
		o->wanted.memory = (size_t)n;
		return n >= MEMORY_MIN && n <= WIRE_ALLOC_MEMORY_MAX ? NULL :
								       "expected 1m to 4g";
	default:
		o->sites = (uint32_t)n;
		return n <= SITES_MAX ? NULL : "expected 0 to 4194304 sites";
	}
}

static const char *read_option(struct ag_startup_options *o, char *text, uint32_t pid)
{
	char *value = strchr(text, '=');
	size_t len = value ? (size_t)(value - text) : strlen(text);

	for (enum option i = 0; i < N_KNOWN; i++) {
		if (strlen(known[i].name) != len || memcmp(known[i].name, text, len) != 0)
			continue;
		if (is_given(o, i))
			return "given twice";
		if (known[i].valued != (value != NULL))
			return value ? "takes no value" : "missing value";
		o->given |= 1u << i;
		return value ? read_value(o, i, value + 1, pid) : NULL;
	}
	return "unknown option: choose from alloc, file=, exact, classes=, interval=, live, age=, "
	       "depth=, memory=, n=";
}

static const char *check_all(struct ag_startup_options *o, const char **what)
{
	*what = "options";
	if (!is_given(o, ALLOC))
		return "missing alloc: use alloc,file=OUT";
	if (!is_given(o, FILE_))
		return "missing file=: use alloc,file=OUT";
	*what = "classes";
	if (is_given(o, CLASSES) && !is_given(o, EXACT))
		return "missing exact: samples are of all classes";
	*what = "interval";
	if (is_given(o, INTERVAL) && is_given(o, EXACT))
		return "excludes exact, which counts everything";
	return NULL;
}

/* Replaces the comma after the first option by NUL.  Sets *next to the second option, or NULL. */
static char *cut(char *text, char **next)
{
	char *comma = text ? strchr(text, ',') : NULL;

	if (comma)
		*comma = '\0';
	*next = comma ? comma + 1 : NULL;
	return text;
}

int ag_startup_parse(struct ag_startup_options *options, const char *text, uint32_t pid,
		     const char **what, const char **why)
{
	size_t len = text ? strnlen(text, AG_STARTUP_MAX + 1) : 0;
	char *next = options->texts;

	*options = (struct ag_startup_options){
		.wanted = { .interval = WIRE_ALLOC_INTERVAL, .depth = WIRE_ALLOC_DEPTH,
			    .memory = MEMORY },
	};
	*what = "options";
	*why = "longer than 8192 characters";
	if (len > AG_STARTUP_MAX)
		return -1;
	if (len > 0)
		memcpy(options->texts, text, len);
	else
		next = NULL;
	while (next) {
		*what = cut(next, &next);
		*why = read_option(options, (char *)*what, pid);
		if (*why)
			return -1;
	}
	*why = check_all(options, what);
	if (is_given(options, EXACT))
		options->wanted.flags |= WIRE_ALLOC_EXACT;
	if (is_given(options, LIVE) || is_given(options, AGE))
		options->wanted.flags |= WIRE_ALLOC_LIVE;
	return *why ? -1 : 0;
}
