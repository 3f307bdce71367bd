/*
 * The text of VM.flags -all, as src/hotspot/share/runtime/flags/jvmFlag.cpp prints it from
 * JDK 9 on, and share/vm/runtime/globals.cpp before:
 *
 *     bool HeapDumpOnOutOfMemoryError               = true          {manageable} {command line}
 *     bool HeapDumpOnOutOfMemoryError              := true          {manageable}
 *
 * JDK 8 tells with a colon that a value is not the default, and has no origin.  A text with
 * newlines takes several lines:
 *
 *    ccstr HeapDumpPath                             = first
 *          HeapDumpPath                            += second        {manageable} {attach}
 */
#include "model/vmflags.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/slice.h"
#include "base/xalloc.h"

/* A line taken apart; the texts are parts of it. */
struct line {
	struct slice type; /* empty: it goes on with the value of the line before */
	struct slice name;
	bool changed;     /* ":=" */
	struct slice value; /* with kind and origin, and blanks between */
};

static void cut_blanks(struct slice *t)
{
	while (t->end > t->at && t->end[-1] == ' ')
		t->end--;
}

static bool skip_char(struct slice *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static struct slice get_word(struct slice *t)
{
	struct slice word;

	slice_skip_blanks(t);
	word.at = t->at;
	while (t->at < t->end && *t->at != ' ')
		t->at++;
	word.end = t->at;
	return word;
}

static bool is_empty(struct slice t)
{
	return t.at == t.end;
}

static bool is_same(struct slice a, struct slice b)
{
	return slice_len(a) == slice_len(b) && memcmp(a.at, b.at, slice_len(a)) == 0;
}

static char *copy(struct slice t)
{
	return xstrndup(t.at, slice_len(t));
}

static int take_apart(struct slice text, struct line *line)
{
	struct slice assign;

	*line = (struct line){ .name = get_word(&text) };
	assign = get_word(&text);
	if (!slice_is(assign, "+=")) {
		line->type = line->name;
		line->name = assign;
		assign = get_word(&text);
		line->changed = slice_is(assign, ":=");
		if (!line->changed && !slice_is(assign, "="))
			return -EBADMSG;
	}
	(void)skip_char(&text, ' '); /* the one that is no part of the value */
	line->value = text;
	return 0;
}

/* Cut " {manageable}" off the end and return what is inside. */
static int cut_braces(struct slice *t, struct slice *inside)
{
	const char *open;

	cut_blanks(t);
	open = memrchr(t->at, '{', slice_len(*t));
	if (!open || t->end[-1] != '}')
		return -EBADMSG;
	*inside = (struct slice){ open + 1, t->end - 1 };
	t->end = open;
	cut_blanks(t);
	return 0;
}

/* Is there a line that goes on with the value of this one? */
static bool goes_on(const struct line *line, struct slice rest)
{
	struct slice text;
	struct line next;

	return slice_line(&rest, &text) && take_apart(text, &next) == 0 && is_empty(next.type) &&
	       is_same(next.name, line->name);
}

/*
 * Do the lines end with an origin behind the kind?  Told from the first flag that is no text,
 * for a text may have braces of its own.
 */
static bool have_origins(struct slice text)
{
	struct slice t, inside;
	struct line line;

	while (slice_line(&text, &t)) {
		if (take_apart(t, &line) < 0 || is_empty(line.type) ||
		    slice_is(line.type, "ccstr") || slice_is(line.type, "ccstrlist"))
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

/* A flag whose first line this is; takes those that it goes on with, too. */
static int parse_flag(struct vmflags *flags, struct line line, struct slice *rest, bool origins)
{
	_cleanup_buf_ struct buf value = BUF_INIT;
	struct slice type = line.type, text, kind, origin;
	bool changed = line.changed;

	while (goes_on(&line, *rest)) {
		buf_add(&value, line.value.at, slice_len(line.value));
		buf_addc(&value, '\n');
		if (!slice_line(rest, &text) || take_apart(text, &line) < 0)
			return -EBADMSG;
	}
	if ((origins && cut_braces(&line.value, &origin) < 0) || cut_braces(&line.value, &kind) < 0)
		return -EBADMSG;
	buf_add(&value, line.value.at, slice_len(line.value));
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
	struct slice rest = { text, text + len }, t;
	struct line line;
	bool origins;

	if (len == 0 || text[len - 1] != '\n' || memchr(text, '\0', len) ||
	    !slice_line(&rest, &t) || !slice_is(t, "[Global flags]"))
		return -EBADMSG;
	origins = have_origins(rest);
	while (slice_line(&rest, &t)) {
		if (is_empty(t))
			continue;
		if (take_apart(t, &line) < 0 || is_empty(line.type) ||
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

/* AutoCreateSharedArchive sets the first one, AOTCacheOutput the last one. */
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
