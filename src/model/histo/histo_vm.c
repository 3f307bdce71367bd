/*
 * Parses GC.class_histogram, printed by src/hotspot/share/memory/heapInspection.cpp:
 *
 *  num     #instances         #bytes  class name (module)
 * -------------------------------------------------------
 *    1:          8857         359240  [B (java.base@27.0.1)
 * Total         31291        1327344
 *
 * JDK 8 starts with an empty line and has no modules.
 */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/strview.h"
#include "model/histo/histo.h"
#include "model/class/type_name.h"

static bool skip_word(struct strview *t, const char *word)
{
	size_t len = strlen(word);

	if (strview_len(*t) < len || memcmp(t->at, word, len) != 0)
		return false;
	t->at += len;
	return true;
}

static bool get_number(struct strview *t, int64_t *number)
{
	const char *start;

	strview_skip_blanks(t);
	start = t->at;
	for (*number = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *t->at - '0', number))
			return false;
	}
	return t->at > start;
}

static bool is_heading(struct strview line)
{
	static const char *const words[] = { "num", "#instances", "#bytes", "class name" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		strview_skip_blanks(&line);
		if (!skip_word(&line, words[i]))
			return false;
	}
	return true;
}

/*
 * Removes the module, such as " (java.base@17.0.15)", from the end of *name.  Returns the name of
 * the removed module, such as "java.base"; or an empty text if there is no module.
 */
static struct strview cut_module(struct strview *name)
{
	const char *open = memrchr(name->at, '(', strview_len(*name));
	struct strview module = { name->end, name->end };
	const char *version;

	if (!open || open - name->at < 2 || open[-1] != ' ' || name->end[-1] != ')')
		return module;
	module = (struct strview){ open + 1, name->end - 1 };
	name->end = open - 1;
	version = memchr(module.at, '@', strview_len(module));
	if (version)
		module.end = version;
	return module;
}

/*
 * Appends the Java form of a class name.  The name of an array class is a signature, but with dots:
 * "[[Ljava.lang.Object;".  Returns 0, or -EBADMSG if the name is invalid.
 */
static int add_class_name(struct buf *out, struct strview name)
{
	size_t dims = 0, len = strview_len(name);

	if (len == 0 || memchr(name.at, '\0', len))
		return -EBADMSG;
	while (dims < len && name.at[dims] == '[')
		dims++;
	if (dims == 0) {
		buf_add(out, name.at, len);
		return 0;
	}
	if (len - dims < 3)
		return type_name_java(out, name.at, len) < 0 ? -EBADMSG : 0;
	if (dims > 255 || name.at[dims] != 'L' || name.end[-1] != ';')
		return -EBADMSG;
	buf_add(out, name.at + dims + 1, len - dims - 2);
	while (dims-- > 0)
		buf_adds(out, "[]");
	return 0;
}

static int parse_row(struct histo *h, struct strview line)
{
	_cleanup_buf_ struct buf name = BUF_INIT, module = BUF_INIT;
	int64_t rank, instances, bytes;
	struct strview from;

	if (!get_number(&line, &rank) || !skip_word(&line, ":") ||
	    !get_number(&line, &instances) || !get_number(&line, &bytes) ||
	    !skip_word(&line, "  "))
		return -EBADMSG;
	from = cut_module(&line);
	if (add_class_name(&name, line) < 0 ||
	    memchr(from.at, '\0', strview_len(from)))
		return -EBADMSG;
	buf_add(&module, from.at, strview_len(from));
	histo_add(h, buf_str(&name), NULL, module.len ? buf_str(&module) : NULL, instances, bytes);
	return 0;
}

static int check_total(const struct histo *h, struct strview line)
{
	struct histo_total sum = histo_total(h);
	int64_t instances, bytes;

	if (!get_number(&line, &instances) || !get_number(&line, &bytes))
		return -EBADMSG;
	return instances == sum.instances && bytes == sum.bytes ? 0 : -EBADMSG;
}

int histo_parse_vm(struct histo *h, const char *text, size_t len)
{
	struct strview rest = { text, text + len }, line;

	do {
		if (!strview_line(&rest, &line))
			return -EBADMSG;
	} while (!is_heading(line));
	if (!strview_line(&rest, &line) || !skip_word(&line, "---"))
		return -EBADMSG;
	while (strview_line(&rest, &line)) {
		if (skip_word(&line, "Total"))
			return check_total(h, line);
		if (parse_row(h, line) < 0)
			return -EBADMSG;
	}
	return -EBADMSG;
}
