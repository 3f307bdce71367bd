/*
 * Parses VM.flags -all, printed by src/hotspot/share/runtime/flags/jvmFlag.cpp from JDK 9 on, and
 * by share/vm/runtime/globals.cpp before:
 *
 *     bool HeapDumpOnOutOfMemoryError               = true          {manageable} {command line}
 *     bool HeapDumpOnOutOfMemoryError              := true          {manageable}
 *
 * JDK 8 prints no origin, and marks a value that is not the default with ":=".  A text with
 * newlines is printed on several lines:
 *
 *    ccstr HeapDumpPath                             = first
 *          HeapDumpPath                            += second        {manageable} {attach}
 */
#include "model/vm/vmflags.h"

#include <errno.h>
#include <string.h>

#include "base/strview.h"
#include "base/xalloc.h"
#include "wire/glob.h"

/* A line that was parsed.  Its members point into the line. */
struct line {
	struct strview type; /* empty if the line continues the value of the previous line */
	struct strview name;
	bool changed;     /* the line has ":=" */
	struct strview value; /* the value, followed by kind and origin after spaces */
};

static void cut_blanks(struct strview *t)
{
	while (t->end > t->at && t->end[-1] == ' ')
		t->end--;
}

static bool skip_char(struct strview *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static struct strview get_word(struct strview *t)
{
	struct strview word;

	strview_skip_blanks(t);
	word.at = t->at;
	while (t->at < t->end && *t->at != ' ')
		t->at++;
	word.end = t->at;
	return word;
}

static bool is_empty(struct strview t)
{
	return t.at == t.end;
}

static bool is_same(struct strview a, struct strview b)
{
	return strview_len(a) == strview_len(b) && memcmp(a.at, b.at, strview_len(a)) == 0;
}

static char *copy(struct strview t)
{
	return xstrndup(t.at, strview_len(t));
}

static int split_line(struct strview text, struct line *line)
{
	struct strview first = get_word(&text), assign = get_word(&text);

	*line = (struct line){ .name = first };
	if (!strview_is(assign, "+=")) {
		line->type = first;
		line->name = assign;
		assign = get_word(&text);
		line->changed = strview_is(assign, ":=");
		if (!line->changed && !strview_is(assign, "="))
			return -EBADMSG;
	}
	(void)skip_char(&text, ' '); /* skips the space before the value */
	line->value = text;
	return 0;
}

/*
 * Removes " {manageable}" from the end of the text, and sets *inside to "manageable".  Returns 0 or
 * -EBADMSG.
 */
static int cut_braces(struct strview *t, struct strview *inside)
{
	const char *open;

	cut_blanks(t);
	open = memrchr(t->at, '{', strview_len(*t));
	if (!open || t->end[-1] != '}')
		return -EBADMSG;
	*inside = (struct strview){ open + 1, t->end - 1 };
	t->end = open;
	cut_blanks(t);
	return 0;
}

/* Returns whether the line after `line` continues its value. */
static bool is_continued(const struct line *line, struct strview rest)
{
	struct strview text;
	struct line next;

	return strview_line(&rest, &text) && split_line(text, &next) == 0 && is_empty(next.type) &&
	       is_same(next.name, line->name);
}

/*
 * Returns whether the lines have an origin, "{command line}", after the kind, "{manageable}".
 * Examines the first line whose value is not a text, because a text may contain braces.
 */
static bool have_origins(struct strview text)
{
	struct strview t, inside;
	struct line line;

	while (strview_line(&text, &t)) {
		if (split_line(t, &line) < 0 || is_empty(line.type) ||
		    strview_is(line.type, "ccstr") || strview_is(line.type, "ccstrlist"))
			continue;
		return cut_braces(&line.value, &inside) == 0 &&
		       cut_braces(&line.value, &inside) == 0;
	}
	return true;
}

static void release(struct vmflag *flag)
{
	free(flag->type);
	free(flag->name);
	free(flag->value);
	free(flag->kind);
	free(flag->origin);
}

/*
 * Adds the flag of this line, after reading the lines that continue its value.  Returns 0 or
 * -EBADMSG.
 */
static int parse_flag(struct vmflags *flags, struct line line, struct strview *rest, bool origins)
{
	_cleanup_buf_ struct buf value = BUF_INIT;
	struct strview type = line.type, text, kind, origin;
	bool changed = line.changed;

	while (is_continued(&line, *rest)) {
		buf_add(&value, line.value.at, strview_len(line.value));
		buf_addc(&value, '\n');
		if (!strview_line(rest, &text) || split_line(text, &line) < 0)
			return -EBADMSG;
	}
	if ((origins && cut_braces(&line.value, &origin) < 0) || cut_braces(&line.value, &kind) < 0)
		return -EBADMSG;
	buf_add(&value, line.value.at, strview_len(line.value));
	flags->items = xgrow(flags->items, flags->n, &flags->cap, sizeof(*flags->items));
	flags->items[flags->n++] = (struct vmflag){
		.type = copy(type),
		.name = copy(line.name),
		.value = buf_take(&value),
		.kind = copy(kind),
		.origin = origins ? copy(origin) : xstrdup(changed ? "changed" : "default"),
	};
	return 0;
}

int vmflags_parse(struct vmflags *flags, const char *text, size_t len)
{
	struct strview rest = { text, text + len }, t;
	struct line line;
	bool origins;

	if (len == 0 || text[len - 1] != '\n' || memchr(text, '\0', len) ||
	    !strview_line(&rest, &t) || !strview_is(t, "[Global flags]"))
		return -EBADMSG;
	origins = have_origins(rest);
	while (strview_line(&rest, &t)) {
		if (is_empty(t))
			continue;
		if (split_line(t, &line) < 0 || is_empty(line.type) ||
		    parse_flag(flags, line, &rest, origins) < 0)
			return -EBADMSG;
	}
	return flags->n > 0 ? 0 : -EBADMSG;
}

void vmflags_release(struct vmflags *flags)
{
	for (size_t i = 0; i < flags->n; i++)
		release(&flags->items[i]);
	free(flags->items);
	*flags = (struct vmflags){ 0 };
}

void vmflags_filter(struct vmflags *flags, const char *glob)
{
	size_t kept = 0;

	for (size_t i = 0; i < flags->n; i++) {
		if (glob_matches(glob, flags->items[i].name))
			flags->items[kept++] = flags->items[i];
		else
			release(&flags->items[i]);
	}
	flags->n = kept;
}

const struct vmflag *vmflags_find(const struct vmflags *flags, const char *name)
{
	for (size_t i = 0; i < flags->n; i++) {
		if (strcmp(flags->items[i].name, name) == 0)
			return &flags->items[i];
	}
	return NULL;
}

/*
 * Looks only at three flags, because the other flags that make the JVM write an archive set one of
 * the three: AutoCreateSharedArchive sets ArchiveClassesAtExit, and AOTCacheOutput sets AOTMode.
 */
const struct vmflag *vmflags_archiving(const struct vmflags *flags)
{
	const struct vmflag *flag = vmflags_find(flags, "ArchiveClassesAtExit");

	if (flag && *flag->value)
		return flag;
	flag = vmflags_find(flags, "RecordDynamicDumpInfo");
	if (flag && strcmp(flag->value, "true") == 0)
		return flag;
	flag = vmflags_find(flags, "AOTMode");
	return flag && strcmp(flag->value, "record") == 0 ? flag : NULL;
}
