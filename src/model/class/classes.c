#include "model/class/classes.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "classfile/read.h"
#include "model/class/type_name.h"
#include "wire/frame.h"

#define CLASSES_MAX (1u << 22) /* maximum number of classes; a hostile agent could send more */

static void row_release(struct class_row *row)
{
	free(row->name);
	free(row->signature);
}

void classes_release(struct classes *c)
{
	for (size_t i = 0; i < c->n; i++)
		row_release(&c->rows[i]);
	free(c->rows);
	class_origins_release(&c->origins);
	*c = (struct classes){ 0 };
}

static int take_row(struct classes *c, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct class_row row = { .number = (uint32_t)c->n };
	struct wire_text signature;

	row.loader = wire_get_u32(payload);
	row.module = wire_get_u32(payload);
	row.source = wire_get_u32(payload);
	row.modifiers = wire_get_u32(payload);
	row.traits = wire_get_u32(payload);
	signature = wire_get_text(payload);
	if (!wire_reader_ok(payload) || c->n >= CLASSES_MAX ||
	    !class_origins_has(&c->origins, row.loader, row.module, row.source) ||
	    type_name_java(&name, signature.data, signature.len) < 0 ||
	    *signature.data != (row.traits & WIRE_CLASS_ARRAY ? '[' : 'L'))
		return -EBADMSG;
	row.name = buf_take(&name);
	/* Arrays and the bootstrap loader's hidden classes are generated, and have no source. */
	if (row.traits & WIRE_CLASS_ARRAY || (row.loader == 0 && strchr(row.name, '/')))
		row.source = 0;
	row.signature = xstrndup(signature.data, signature.len);
	c->rows = xgrow(c->rows, c->n, &c->cap, sizeof(*c->rows));
	c->rows[c->n++] = row;
	return 0;
}

static int take_rows(struct classes *c, struct wire_reader *payload)
{
	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		if (take_row(c, payload) < 0)
			return -EBADMSG;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

int classes_take(struct classes *c, uint16_t type, struct wire_reader *payload)
{
	int rc = class_origins_take(&c->origins, type, payload);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	switch (type) {
	case WIRE_CLASS_ROWS:
		return take_rows(c, payload);
	case WIRE_CLASSES_END:
		return wire_get_u32(payload) == c->n && wire_reader_ok(payload) ? 1 : -EBADMSG;
	default:
		return -EBADMSG;
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct class_row *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order != 0)
		return order;
	return x->loader != y->loader ? (x->loader > y->loader) - (x->loader < y->loader)
				      : (x->number > y->number) - (x->number < y->number);
}

void classes_sort(struct classes *c)
{
	if (c->n > 1)
		qsort(c->rows, c->n, sizeof(*c->rows), compare_rows);
}

/*
 * A class whose name has a '/' is hidden or, before JDK 15, VM-anonymous (see type_name.c).
 * InnerClassLambdaMetafactory names the class of a lambda "…$$Lambda$14/…", from JDK 21 on
 * "…$$Lambda/…".
 */
const char *class_kind(const struct class_row *row)
{
	if (row->traits & WIRE_CLASS_ARRAY)
		return "array";
	if (strchr(row->name, '/')) {
		const char *lambda = strstr(row->name, "$$Lambda");

		return lambda && (lambda[8] == '$' || lambda[8] == '/') ? "lambda" : "hidden";
	}
	if (row->modifiers & CF_ACC_ANNOTATION)
		return "annotation";
	if (row->traits & WIRE_CLASS_INTERFACE)
		return "interface";
	if (row->traits & WIRE_CLASS_ENUM)
		return "enum";
	return row->traits & WIRE_CLASS_RECORD ? "record" : "class";
}

/*
 * Writes the modifiers.  Omits the modifier "abstract" of an interface, because it is implicit.
 * Writes "static" and "final" of an enum or record, although they may be implicit.
 */
const char *class_modifiers(const struct class_row *row, char *text, size_t size)
{
	static const struct {
		uint32_t flag;
		const char *word;
	} words[] = {
		{ CF_ACC_PUBLIC, "public " },       { CF_ACC_PROTECTED, "protected " },
		{ CF_ACC_PRIVATE, "private " },     { CF_ACC_ABSTRACT, "abstract " },
		{ CF_ACC_STATIC, "static " },       { CF_ACC_FINAL, "final " },
		{ CF_ACC_STRICT, "strictfp " },     { CF_ACC_SYNTHETIC, "synthetic " },
	};
	uint32_t modifiers = row->modifiers;
	size_t len = 0;

	if (row->traits & WIRE_CLASS_INTERFACE)
		modifiers &= ~(uint32_t)CF_ACC_ABSTRACT;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t more = strlen(words[i].word);

		if (!(modifiers & words[i].flag) || size - len <= more)
			continue;
		memcpy(text + len, words[i].word, more);
		len += more;
	}
	text[len > 0 ? len - 1 : 0] = '\0';
	return text;
}

bool class_is_interface(const struct class_row *row)
{
	return row->traits & WIRE_CLASS_INTERFACE;
}

bool class_is_array(const struct class_row *row)
{
	return row->traits & WIRE_CLASS_ARRAY;
}

bool class_is_linked(const struct class_row *row)
{
	return row->traits & (WIRE_CLASS_LINKED | WIRE_CLASS_ARRAY);
}

bool class_is_patched(const struct class_row *row)
{
	return row->traits & WIRE_CLASS_PATCHED;
}

/* Sets keep[i] if row i matches `word` and `loader`.  Returns the number of rows that match. */
static size_t mark(const struct classes *c, const char *word, const char *loader, bool *keep)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct class_row *row = &c->rows[i];

		if (!type_name_matches(row->name, word) ||
		    (loader && !class_origins_loader_is(&c->origins, row->loader, loader)))
			continue;
		keep[i] = true;
		n++;
	}
	return n;
}

static void keep_marked(struct classes *c, const bool *keep)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (keep[i])
			c->rows[n++] = c->rows[i];
		else
			row_release(&c->rows[i]);
	}
	c->n = n;
}

size_t classes_select(struct classes *c, char *const *words, size_t n_words, const char *loader,
		      bool *unmatched)
{
	_cleanup_free_ bool *keep = xcalloc(c->n + 1, sizeof(*keep));
	size_t n_unmatched = 0;

	for (size_t i = 0; i < n_words; i++) {
		unmatched[i] = mark(c, words[i], loader, keep) == 0;
		n_unmatched += unmatched[i];
	}
	if (n_words == 0)
		(void)mark(c, "*", loader, keep);
	if (n_unmatched == 0)
		keep_marked(c, keep);
	return n_unmatched;
}
