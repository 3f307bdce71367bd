#include "model/jfr/jfr_settings.h"

#include <errno.h>
#include <string.h>

#include "base/strview.h"
#include "base/printable.h"
#include "base/util.h"
#include "base/xalloc.h"

/* Indexed by enum jfr_setting. */
/* clang-format off */
const struct jfr_setting_info jfr_setting_info[N_JFR_SETTINGS] = {
	{ "repositorypath",      "Repository path",     JFR_PATH,   false },
	{ "dumppath",            "Dump path",           JFR_PATH,   false },
	{ "preserve-repository", "Preserve repository", JFR_BOOL,   false },
	{ "stackdepth",          "Stack depth",         JFR_NUMBER, true  },
	{ "globalbuffercount",   "Global buffer count", JFR_NUMBER, true  },
	{ "globalbuffersize",    "Global buffer size",  JFR_SIZE,   true  },
	{ "thread_buffer_size",  "Thread buffer size",  JFR_SIZE,   true  },
	{ "memorysize",          "Memory size",         JFR_SIZE,   true  },
	{ "maxchunksize",        "Max chunk size",      JFR_SIZE,   false },
	{ "samplethreads",       "Sample threads",      JFR_BOOL,   false },
};
/* clang-format on */

/*
 * The digit 0 in Latin, Arabic, Persian, Devanagari, Bengali, Thai, Tibetan and Burmese script.
 * The JVM formats sizes with String.format(), which uses the script of the JVM's locale.  In UTF-8,
 * the digits of a script differ only in the last byte.
 */
static const char *const zeros[] = {
	"0", "\u0660", "\u06f0", "\u0966", "\u09e6", "\u0e50", "\u0f20", "\u1040",
};
static const char *const points[] = { ".", ",", "\u066b" };

/* Reads a digit and returns its value; -1 if there is no digit. */
static int take_digit(const char **at, const char *end)
{
	for (size_t i = 0; i < ARRAY_SIZE(zeros); i++) {
		size_t last = strlen(zeros[i]) - 1;
		int digit;

		if ((size_t)(end - *at) <= last || memcmp(*at, zeros[i], last) != 0)
			continue;
		digit = (*at)[last] - zeros[i][last];
		if (digit < 0 || digit > 9)
			continue;
		*at += last + 1;
		return digit;
	}
	return -1;
}

static bool take_point(const char **at, const char *end)
{
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		size_t len = strlen(points[i]);

		if ((size_t)(end - *at) >= len && memcmp(*at, points[i], len) == 0) {
			*at += len;
			return true;
		}
	}
	return false;
}

/*
 * Parses "12", "12.5" or "12,5" into tenths.  Returns the position after the number; NULL if there
 * is no number or it is too large.
 */
static const char *read_tenths(const char *at, const char *end, int64_t *tenths)
{
	int digit = take_digit(&at, end);
	int64_t n = 0;

	if (digit < 0)
		return NULL;
	for (; digit >= 0; digit = take_digit(&at, end)) {
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n))
			return NULL;
	}
	if (__builtin_mul_overflow(n, 10, &n))
		return NULL;
	if (take_point(&at, end)) {
		digit = take_digit(&at, end);
		if (digit < 0 || __builtin_add_overflow(n, digit, &n))
			return NULL;
	}
	*tenths = n;
	return at;
}

/* Parses "64", "512.0 kB", "10.0MB" or "100 bytes".  Returns 0 or -EBADMSG. */
static int read_size(const char *at, const char *end, int64_t *size)
{
	static const char units[] = "kMGTPE";
	const char *unit = NULL;
	int64_t tenths, rest, scale = 1;

	at = read_tenths(at, end, &tenths);
	if (!at)
		return -EBADMSG;
	while (at < end && *at == ' ')
		at++;
	if (at < end && *at)
		unit = strchr(units, *at);
	if (unit)
		scale = INT64_C(1) << 10 * (unit - units + 1);
	else if (at < end && *at != 'b' && *at != 'B')
		return -EBADMSG;
	rest = tenths % 10 * (scale / 10) + tenths % 10 * (scale % 10) / 10;
	if (__builtin_mul_overflow(tenths / 10, scale, size) ||
	    __builtin_add_overflow(*size, rest, size))
		return -EBADMSG;
	return 0;
}

static void take_value(struct jfr_value *v, enum jfr_kind kind, struct strview text)
{
	if (kind == JFR_PATH) {
		free(v->path);
		v->path = strview_is(text, "N/A") ? NULL : xstrndup(text.at, strview_len(text));
		v->known = v->path != NULL;
		return;
	}
	if (kind == JFR_BOOL) {
		v->number = strview_is(text, "true");
		v->known = v->number || strview_is(text, "false");
		return;
	}
	v->known = read_size(text.at, text.end, &v->number) == 0;
}

static void take_line(struct jfr_settings *s, struct strview line)
{
	for (size_t i = 0; i < N_JFR_SETTINGS; i++) {
		const struct jfr_setting_info *info = &jfr_setting_info[i];
		size_t len = strlen(info->label);

		if (strview_len(line) > len + 2 && memcmp(line.at, info->label, len) == 0 &&
		    memcmp(line.at + len, ": ", 2) == 0) {
			line.at += len + 2;
			take_value(&s->values[i], info->kind, line);
			return;
		}
	}
	if (strview_is(line, "Current configuration:")) {
		s->is_listing = true;
		return;
	}
	buf_add(&s->words, line.at, strview_len(line));
	buf_addc(&s->words, '\n');
}

void jfr_settings_parse(struct jfr_settings *s, const char *text, size_t len)
{
	struct strview rest = { text, text + len }, line;

	while (strview_line(&rest, &line)) {
		if (strview_len(line) > 0)
			take_line(s, line);
	}
}

void jfr_settings_release(struct jfr_settings *s)
{
	for (size_t i = 0; i < N_JFR_SETTINGS; i++)
		free(s->values[i].path);
	buf_release(&s->words);
}

int jfr_setting_find(const char *name)
{
	size_t len = strcspn(name, "=");

	for (int i = 0; i < N_JFR_SETTINGS; i++) {
		if (strlen(jfr_setting_info[i].key) == len &&
		    memcmp(jfr_setting_info[i].key, name, len) == 0)
			return i;
	}
	return -1;
}

static void show_size(struct buf *out, int64_t size)
{
	static const char units[] = "kmg"; /* units that the option parsers of all JDKs accept */
	size_t unit = 0;

	while (unit < sizeof(units) - 1 && size > 0 && size % 1024 == 0) {
		size /= 1024;
		unit++;
	}
	buf_addf(out, "%lld", (long long)size);
	if (unit > 0)
		buf_addc(out, units[unit - 1]);
}

void jfr_value_show(struct buf *out, enum jfr_kind kind, const struct jfr_value *v)
{
	if (!v->known)
		buf_addc(out, '-');
	else if (kind == JFR_PATH)
		printable_add(out, v->path, strlen(v->path));
	else if (kind == JFR_BOOL)
		buf_adds(out, v->number ? "true" : "false");
	else if (kind == JFR_SIZE)
		show_size(out, v->number);
	else
		buf_addf(out, "%lld", (long long)v->number);
}

bool jfr_value_same(const struct jfr_value *a, const struct jfr_value *b)
{
	if (!a->known || !b->known)
		return a->known == b->known;
	if (a->path || b->path)
		return a->path && b->path && strcmp(a->path, b->path) == 0;
	return a->number == b->number;
}
