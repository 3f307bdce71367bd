#include "model/class/method_pattern.h"

#include <string.h>

#include "base/xalloc.h"
#include "classfile/descr.h"
#include "model/class/javasig.h"
#include "wire/glob.h"

/*
 * Returns the length of the part of a pattern that names the class, or 0 if there is none.  Sets
 * *name to the start of the part that names the method.
 */
static size_t split_class(const char *word, size_t len, const char **name)
{
	const char *at;

	*name = word;
	at = memmem(word, len, "::", 2);
	if (at) {
		*name = at + 2;
		return (size_t)(at - word);
	}
	at = memchr(word, '#', len);
	if (!at)
		at = memrchr(word, '.', len);
	if (!at)
		return 0;
	*name = at + 1;
	return (size_t)(at - word);
}

/* Returns a copy of `parameters` without spaces, and with "[]" in place of "...". */
static char *normalize_parameters(const char *parameters, size_t len)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	for (size_t i = 0; i < len; i++) {
		if (len - i >= 3 && strncmp(parameters + i, "...", 3) == 0) {
			buf_adds(&out, "[]");
			i += 2;
		} else if (parameters[i] != ' ' && parameters[i] != '\t') {
			buf_addc(&out, parameters[i]);
		}
	}
	return xstrdup(buf_str(&out));
}

const char *method_pattern_parse(struct method_pattern *p, const char *word)
{
	const char *paren = strchr(word, '('), *name;
	size_t len = paren ? (size_t)(paren - word) : strlen(word), class_len;

	*p = (struct method_pattern){ .word = word };
	if (paren && word[strlen(word) - 1] != ')')
		return "it lacks the final ')'";
	class_len = split_class(word, len, &name);
	if (class_len == 0)
		return "it names no class";
	if (name == word + len)
		return "it names no method";
	p->class = xstrndup(word, class_len);
	p->name = xstrndup(name, (size_t)(word + len - name));
	if (paren)
		p->parameters = normalize_parameters(paren + 1, strlen(paren) - 2);
	return NULL;
}

void method_pattern_release(struct method_pattern *p)
{
	free(p->class);
	free(p->name);
	free(p->parameters);
	*p = (struct method_pattern){ .word = NULL };
}

static bool is_named(const struct method_pattern *p, struct cf_text name)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!name.data || (cf_text_is(name, "<clinit>") && strncmp(p->name, "<c", 2) != 0))
		return false;
	javasig_text(&text, name);
	return glob_matches(p->name, buf_str(&text));
}

bool method_pattern_matches(const struct method_pattern *p, struct cf_text name,
			    struct cf_text descriptor)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!is_named(p, name) || !descriptor.data)
		return false;
	if (!p->parameters)
		return true;
	method_pattern_parameters(&text, descriptor, ",");
	return glob_matches(p->parameters, buf_str(&text));
}

void method_pattern_parameters(struct buf *out, struct cf_text descriptor, const char *comma)
{
	struct cf_text rest;
	struct cf_type type;
	bool first = true;

	if (!cf_method_types(descriptor, &rest, &type))
		return;
	while (cf_type_next(&rest, &type)) {
		if (!first)
			buf_adds(out, comma);
		javasig_type(out, type.text);
		first = false;
	}
}
