#include "model/jfr/query/jfr_views.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/xalloc.h"
#include "embedded/embedded.h"

#define VIEWS_MAX 96

/*
 * The views in the order of the files.  Their names, titles and paths are words of `text`; their
 * lists are allocated.  Nothing is ever freed.
 */
static struct {
	struct buf text;
	struct jfr_query at[VIEWS_MAX];
	size_t n;
} views = { .text = BUF_INIT };

static const char *const aggregates[] = {
	[JFR_ANY] = "any",
	[JFR_FIRST] = "first",
	[JFR_LAST] = "last",
	[JFR_LATEST] = "latest",
	[JFR_SUM_OF] = "sum",
	[JFR_COUNT_OF] = "count",
	[JFR_UNIQUE] = "unique",
	[JFR_LEAST] = "least",
	[JFR_GREATEST] = "greatest",
	[JFR_MEAN] = "mean",
	[JFR_MEDIAN] = "median",
	[JFR_P90] = "p90",
	[JFR_P95] = "p95",
	[JFR_P99] = "p99",
	[JFR_P999] = "p999",
	[JFR_DIFFERENCE] = "difference",
};

/* Cuts the next word from *rest.  Returns "" if there is none. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " ");
	size_t len = strcspn(word, " ");

	*rest = word[len] ? word + len + 1 : word + len;
	word[len] = '\0';
	return word;
}

/* Cuts the next word, which must be `word`, if there is more text. */
static bool skip_word(char **rest, const char *word)
{
	return **rest && strcmp(next_word(rest), word) == 0;
}

/* Finds a view, also one that is not listed. */
static const struct jfr_query *find(const char *name)
{
	for (size_t i = 0; i < views.n; i++) {
		const struct jfr_query *view = &views.at[i];

		if (strcmp(view->name, name) == 0 ||
		    (view->other_name && strcmp(view->other_name, name) == 0))
			return view;
	}
	return NULL;
}

/*
 * The functions that read a line.  `rest` is what follows the keyword.  They return false if the
 * line is not valid.
 */
static bool read_other_name(struct jfr_query *q, char *rest)
{
	q->other_name = rest;
	return true;
}

static bool read_unlisted(struct jfr_query *q, char *rest)
{
	q->is_unlisted = true;
	return !*rest;
}

static bool read_title(struct jfr_query *q, char *rest)
{
	q->title = rest;
	return true;
}

static bool read_from(struct jfr_query *q, char *rest)
{
	struct jfr_query_source s = { .event = next_word(&rest) };
	struct jfr_query_source *all;

	if (strcmp(s.event, "*") == 0)
		s.event = NULL;
	while (*rest) {
		const char *word = next_word(&rest);

		if (strcmp(word, "as") == 0) {
			s.alias = *next_word(&rest);
		} else if (strcmp(word, "where") == 0) {
			s.field = next_word(&rest);
			if (!skip_word(&rest, "="))
				return false;
			s.value = rest;
			break;
		} else {
			return false;
		}
	}
	all = xreallocarray((struct jfr_query_source *)q->sources, q->n_sources + 1, sizeof(*all));
	all[q->n_sources++] = s;
	q->sources = all;
	return true;
}

static bool read_group(struct jfr_query *q, char *rest)
{
	size_t n = 0;

	while (n < JFR_GROUP_MAX && q->group[n])
		n++;
	if (n == JFR_GROUP_MAX)
		return false;
	q->group[n] = rest;
	return true;
}

static bool read_form(struct jfr_query *q, char *rest)
{
	q->is_form = true;
	return !*rest;
}

static bool read_column(struct jfr_query *q, char *rest)
{
	struct jfr_query_column c = { .key = next_word(&rest) };
	const char *aggregate = next_word(&rest);
	struct jfr_query_column *all;
	size_t i = 0;

	while (i < ARRAY_SIZE(aggregates) && strcmp(aggregates[i], aggregate) != 0)
		i++;
	c.aggregate = (enum jfr_aggregate)i;
	c.path = next_word(&rest);
	c.is_share = skip_word(&rest, "share");
	if (i == ARRAY_SIZE(aggregates) || *rest || q->n_columns == JFR_COLUMNS_MAX)
		return false;
	all = xreallocarray((struct jfr_query_column *)q->columns, q->n_columns + 1, sizeof(*all));
	all[q->n_columns++] = c;
	q->columns = all;
	return true;
}

static bool read_order(struct jfr_query *q, char *rest)
{
	const char *problem = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(q->order) && *rest && !problem; i++)
		q->order[i] = (signed char)strtonum(next_word(&rest), -JFR_COLUMNS_MAX,
						    JFR_COLUMNS_MAX, &problem);
	return !*rest && !problem;
}

static bool read_limit(struct jfr_query *q, char *rest)
{
	const char *problem;

	q->limit = (unsigned short)strtonum(rest, 1, USHRT_MAX, &problem);
	return !problem;
}

static bool read_instead(struct jfr_query *q, char *rest)
{
	q->instead = find(rest);
	return q->instead != NULL;
}

static const struct {
	char word[12];
	bool (*read)(struct jfr_query *q, char *rest);
} keywords[] = {
	{ "other-name", read_other_name },
	{ "unlisted", read_unlisted },
	{ "title", read_title },
	{ "from", read_from },
	{ "group", read_group },
	{ "form", read_form },
	{ "column", read_column },
	{ "order", read_order },
	{ "limit", read_limit },
	{ "instead", read_instead },
};

static bool read_line(char *line)
{
	const char *word;

	if (!*line || *line == '#')
		return true;
	word = next_word(&line);
	if (strcmp(word, "view") == 0 && views.n < VIEWS_MAX) {
		views.at[views.n++] = (struct jfr_query){ .name = line };
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++) {
		if (views.n > 0 && strcmp(keywords[i].word, word) == 0)
			return keywords[i].read(&views.at[views.n - 1], line);
	}
	return false;
}

int jfr_views_load(struct err *err)
{
	char *line;
	bool valid;

	if (views.n > 0)
		return 0;
	buf_reset(&views.text);
	valid = embedded_views(&views.text) == 0;
	for (char *at = valid ? views.text.data : NULL; valid && (line = strsep(&at, "\n"));)
		valid = read_line(line);
	if (valid)
		return 0;
	views.n = 0;
	return err_set(err, EXIT_PARTIAL,
		       "cannot unpack the views of recordings: this copy of jtool is damaged; "
		       "install it again");
}

const struct jfr_query *jfr_view_at(size_t i)
{
	for (size_t j = 0; j < views.n; j++) {
		if (!views.at[j].is_unlisted && i-- == 0)
			return &views.at[j];
	}
	return NULL;
}

const struct jfr_query *jfr_view_find(const char *name)
{
	const struct jfr_query *view = find(name);

	return view && !view->is_unlisted ? view : NULL;
}
