#include "model/vm/dcmd_replies.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/strview.h"
#include "base/xalloc.h"

void dcmd_reply_version(const char *text, char **vm, char **release)
{
	size_t len = strcspn(text, "\n");
	const char *word = memmem(text, len, " version ", 9);

	*vm = *release = NULL;
	if (!word)
		return;
	*vm = xstrndup(text, (size_t)(word - text));
	/* JDK 8 prints HotSpot's own version first, "25.504-b01", and then "JDK 8.0_504". */
	if (strncmp(text + len, "\nJDK 8.", 7) == 0)
		*release = xasprintf("1.%.*s", (int)strcspn(text + len + 5, "\n"), text + len + 5);
	else
		*release = xstrndup(word + 9, len - (size_t)(word + 9 - text));
}

char *dcmd_reply_line(const char *text, const char *key)
{
	size_t key_len = strlen(key);

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *value = line + key_len;
		size_t len;

		if (strncmp(line, key, key_len) != 0 || *value != ':')
			continue;
		value += 1 + (value[1] == ' ');
		len = strcspn(value, "\n");
		/* remove the space that the JVM prints after each flag */
		while (len > 0 && value[len - 1] == ' ')
			len--;
		return len ? xstrndup(value, len) : NULL;
	}
	return NULL;
}

/* Converts a size such as "65536K" or "8M" to bytes.  Returns -1 if the text is not a size. */
static int64_t size_at(const char *text)
{
	static const char units[] = "BKMGT";
	char *end;
	const char *unit;
	unsigned long long n;

	if (*text < '0' || *text > '9')
		return -1;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (!unit)
		return -1;
	for (ptrdiff_t i = unit - units; i > 0; i--) {
		if (__builtin_mul_overflow(n, 1024, &n))
			return -1;
	}
	return n > INT64_MAX ? -1 : (int64_t)n;
}

/*
 * Returns the size, converted to bytes, that comes after `word` in the line; -1 if there is none.
 * Finds `word` only at the start of the line or after a space.
 */
static int64_t size_after(const char *line, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(line, word); at; at = strstr(at + 1, word)) {
		if ((at == line || at[-1] == ' ') && at[len] == ' ')
			return size_at(at + len + 1);
	}
	return -1;
}

/*
 * Returns the size, converted to bytes, that comes before `word` in the line; -1 if there is none.
 * In Shenandoah's line the words come after the sizes: "65536K max, 65536K soft max, 1536K used".
 */
static int64_t size_before(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	if (!at || at - line < 2 || at[-1] != ' ')
		return -1;
	at--;
	while (at > line && at[-1] != ' ')
		at--;
	return size_at(at);
}

static void add(int64_t *sum, int64_t n)
{
	if (n >= 0 && __builtin_add_overflow(*sum < 0 ? 0 : *sum, n, sum))
		*sum = -1;
}

/*
 * Reads a line of GC.heap_info.  The line of a generation has total and used bytes; the used bytes
 * are added up over the generations.  The lines of the spaces in a generation have only
 * percentages.  G1's total is the committed size.  The totals of other collectors are ignored,
 * because a generation's total does not include its empty survivor space.
 */
static void read_line(const char *line, struct dcmd_reply_heap *out)
{
	int64_t total = size_after(line, "total"), used = size_after(line, "used");

	if (strview_has_prefix(line, "Metaspace")) {
		out->metaspace_used = used;
		out->metaspace_committed = size_after(line, "committed");
	} else if (strview_has_prefix(line, "garbage-first heap")) {
		out->used = used;
		out->committed = total >= 0 ? total : size_after(line, "committed");
		out->max = size_after(line, "reserved");
	} else if (strview_has_prefix(line, "ZHeap")) {
		out->used = used;
		out->committed = size_after(line, "capacity");
		out->max = size_after(line, "max capacity");
	} else if (strstr(line, " soft max,")) {
		out->used = size_before(line, "used");
		out->committed = size_before(line, "committed");
		out->max = size_before(line, "max,");
	} else if (total >= 0) {
		add(&out->used, used);
	}
}

void dcmd_reply_heap(const char *text, struct dcmd_reply_heap *out)
{
	*out = (struct dcmd_reply_heap){ -1, -1, -1, -1, -1 };
	for (char *line; (line = strview_copy_line(&text));) {
		read_line(line, out);
		free(line);
	}
}
