#include "model/jfr/jfr_text.h"

#include <errno.h>
#include <string.h>

#include "base/printable.h"

#define LINE_MAX_LEN 600

static bool is_quoted(const char *value)
{
	size_t len = strlen(value);

	return len >= 2 && (value[0] == '"' || value[0] == '\'') && value[len - 1] == value[0];
}

/*
 * Returns a quote character that can enclose the value; NUL if there is none.  Both parsers in the
 * JVM accept " and ': DCmdArgIter, and from JDK 17 on ArgumentParser.java.  They also accept a
 * backslash before a quote inside the value, but do not remove the backslash.
 */
static char quote_for(const char *value)
{
	size_t len = strlen(value);

	if (len > 0 && value[len - 1] == '\\')
		return '\0';
	if (!strchr(value, '"'))
		return '"';
	return strchr(value, '\'') ? '\0' : '\'';
}

int jfr_add_word(struct buf *line, const char *word)
{
	const char *value = strchr(word, '=');
	char quote;

	if (strchr(word, '\n'))
		return -EINVAL;
	if (!value || !strpbrk(value + 1, " \"'") || is_quoted(value + 1)) {
		buf_addf(line, " %s", word);
		return 0;
	}
	quote = quote_for(value + 1);
	if (!quote)
		return -EINVAL;
	buf_addf(line, " %.*s=%c%s%c", (int)(value - word), word, quote, value + 1, quote);
	return 0;
}

const char *jfr_value_of(const char *word, const char *key)
{
	size_t len = strlen(key);

	return strncmp(word, key, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}

static bool has_line(const char *text, const char *beginning)
{
	size_t len = strlen(beginning);

	while (*text) {
		if (strncmp(text, beginning, len) == 0)
			return true;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return false;
}

bool jfr_succeeded(enum jfr_verb verb, const char *answer)
{
	/*
	 * Either of two texts reports success.  JFR_START's second text is for a delayed start:
	 * "Recording 1 scheduled to start in 5 s."
	 */
	static const char *const words[][2] = {
		[JFR_START] = { "Started recording ", "Recording " },
		[JFR_CHECK] = { "Recording ", "No available recordings." },
		[JFR_DUMP] = { "Dumped recording", "Dumped recording" },
		[JFR_STOP] = { "Stopped recording", "Stopped recording" },
	};

	return has_line(answer, words[verb][0]) || has_line(answer, words[verb][1]);
}

void jfr_one_line(struct buf *out, const char *answer)
{
	const char *last = "";
	size_t last_len = 0, start = out->len;

	while (*answer) {
		size_t len = strcspn(answer, "\r\n");
		bool repeated = len == last_len && strncmp(answer, last, len) == 0;

		if (len > 0 && !repeated && out->len - start + len < LINE_MAX_LEN) {
			if (out->len > start)
				buf_addc(out, ' ');
			printable_add(out, answer, len);
			last = answer;
			last_len = len;
		}
		answer += len;
		answer += strspn(answer, "\r\n");
	}
}
