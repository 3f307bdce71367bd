#include "render/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "render/text.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define PIECE 65536                /* what is collected before it is written */

enum kind { KIND_NULL, KIND_BOOL, KIND_NUMBER, KIND_REAL, KIND_TEXT, KIND_OBJECT, KIND_ARRAY };

/* One value, with its key and its text behind it in the same block. */
struct json {
	enum kind kind;
	size_t n;        /* bytes of a text, children of an object or array */
	const char *key; /* within data; NULL for an element or a document */
	union {
		bool truth;
		int64_t number;
		double real;
		const char *text; /* within data, NUL-terminated; may hold NULs */
		struct {
			struct json **items;
			size_t cap;
		} children;
	};
	char data[];
};

static struct json *new_node(enum kind kind, const char *key, const char *text, size_t len)
{
	size_t key_size = key ? strlen(key) + 1 : 0;
	struct json *node = xmalloc(sizeof(*node) + key_size + len + 1);

	*node = (struct json){ .kind = kind };
	if (key)
		node->key = memcpy(node->data, key, key_size);
	if (kind == KIND_TEXT) {
		char *copy = node->data + key_size;

		memcpy(copy, text, len);
		copy[len] = '\0';
		node->text = copy;
		node->n = len;
	}
	return node;
}

struct json *json_object(void)
{
	return new_node(KIND_OBJECT, NULL, NULL, 0);
}

struct json *json_array(void)
{
	return new_node(KIND_ARRAY, NULL, NULL, 0);
}

static bool has_children(const struct json *node)
{
	return node->kind == KIND_OBJECT || node->kind == KIND_ARRAY;
}

void json_free(struct json *node)
{
	if (!node)
		return;
	if (has_children(node)) {
		for (size_t i = 0; i < node->n; i++)
			json_free(node->children.items[i]);
		free(node->children.items);
	}
	free(node);
}

static struct json *append(struct json *parent, struct json *child)
{
	parent->children.items = xgrow(parent->children.items, parent->n, &parent->children.cap,
				       sizeof(struct json *));
	parent->children.items[parent->n++] = child;
	return child;
}

void json_put_text_len(struct json *parent, const char *key, const char *text, size_t len)
{
	if (!text) {
		json_put_null(parent, key);
		return;
	}
	append(parent, new_node(KIND_TEXT, key, text, len));
}

void json_put_text(struct json *parent, const char *key, const char *text)
{
	json_put_text_len(parent, key, text, text ? strlen(text) : 0);
}

void json_put_number(struct json *parent, const char *key, int64_t value)
{
	append(parent, new_node(KIND_NUMBER, key, NULL, 0))->number = value;
}

void json_put_real(struct json *parent, const char *key, double value)
{
	append(parent, new_node(KIND_REAL, key, NULL, 0))->real = value;
}

void json_put_bool(struct json *parent, const char *key, bool value)
{
	append(parent, new_node(KIND_BOOL, key, NULL, 0))->truth = value;
}

void json_put_null(struct json *parent, const char *key)
{
	append(parent, new_node(KIND_NULL, key, NULL, 0));
}

void json_put(struct json *parent, const char *key, struct json *child)
{
	struct json *named = new_node(child->kind, key, NULL, 0);

	named->n = child->n;
	named->children = child->children;
	free(child);
	append(parent, named);
}

static void print_escaped(struct buf *out, unsigned char c)
{
	static const char plain[] = "\"\\\b\f\n\r\t";
	static const char letters[] = "\"\\bfnrt";
	const char *at = c ? strchr(plain, c) : NULL;

	if (at)
		buf_addf(out, "\\%c", letters[at - plain]);
	else
		buf_addf(out, "\\u%04x", c);
}

static void print_text(struct buf *out, const char *text, size_t len)
{
	size_t clean = 0; /* where the run that needs no change begins */
	size_t i = 0;

	buf_addc(out, '"');
	while (i < len) {
		unsigned char c = (unsigned char)text[i];
		size_t n = c < 0x80 ? 1 : text_utf8_len(text + i, len - i);

		if (n > 0 && c >= ' ' && c != '"' && c != '\\') {
			i += n;
			continue;
		}
		buf_add(out, text + clean, i - clean);
		if (n == 0)
			buf_adds(out, REPLACEMENT);
		else
			print_escaped(out, c);
		clean = ++i;
	}
	buf_add(out, text + clean, len - clean);
	buf_addc(out, '"');
}

/* In a buffer of its own: buf_addf() would measure first, and there are many numbers. */
static void print_number(struct buf *out, int64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	buf_adds(out, text);
}

/* The shortest of the two that reads back as the same number; JSON knows no NaN. */
static void print_real(struct buf *out, double value)
{
	char text[32];

	if (!isfinite(value)) {
		buf_adds(out, "null");
		return;
	}
	(void)snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		(void)snprintf(text, sizeof(text), "%.17g", value);
	buf_adds(out, text);
}

struct printer {
	struct buf piece;
	FILE *out;
};

static void flush_piece(struct printer *p)
{
	(void)fwrite(p->piece.data, 1, p->piece.len, p->out); /* main looks at ferror() once */
	buf_reset(&p->piece);
}

static void print_node(struct printer *p, const struct json *node);

static void print_children(struct printer *p, const struct json *node)
{
	bool is_object = node->kind == KIND_OBJECT;

	buf_addc(&p->piece, is_object ? '{' : '[');
	for (size_t i = 0; i < node->n; i++) {
		const struct json *child = node->children.items[i];

		if (i > 0)
			buf_addc(&p->piece, ',');
		if (is_object) {
			print_text(&p->piece, child->key, strlen(child->key));
			buf_addc(&p->piece, ':');
		}
		print_node(p, child);
	}
	buf_addc(&p->piece, is_object ? '}' : ']');
}

static void print_node(struct printer *p, const struct json *node)
{
	switch (node->kind) {
	case KIND_NULL:
		buf_adds(&p->piece, "null");
		break;
	case KIND_BOOL:
		buf_adds(&p->piece, node->truth ? "true" : "false");
		break;
	case KIND_NUMBER:
		print_number(&p->piece, node->number);
		break;
	case KIND_REAL:
		print_real(&p->piece, node->real);
		break;
	case KIND_TEXT:
		print_text(&p->piece, node->text, node->n);
		break;
	case KIND_OBJECT:
	case KIND_ARRAY:
		print_children(p, node);
		break;
	}
	if (p->piece.len >= PIECE)
		flush_piece(p);
}

void json_print(const struct json *node, FILE *out)
{
	struct printer p = { BUF_INIT, out };

	print_node(&p, node);
	buf_addc(&p.piece, '\n');
	flush_piece(&p);
	buf_release(&p.piece);
}

const struct json *json_get(const struct json *node, const char *key)
{
	if (!node || node->kind != KIND_OBJECT)
		return NULL;
	for (size_t i = 0; i < node->n; i++) {
		if (strcmp(node->children.items[i]->key, key) == 0)
			return node->children.items[i];
	}
	return NULL;
}

const char *json_get_text(const struct json *node, const char *key)
{
	const struct json *child = json_get(node, key);

	return child && child->kind == KIND_TEXT ? child->text : NULL;
}

int64_t json_get_number(const struct json *node, const char *key, int64_t absent)
{
	const struct json *child = json_get(node, key);

	return child && child->kind == KIND_NUMBER ? child->number : absent;
}

bool json_get_bool(const struct json *node, const char *key, bool absent)
{
	const struct json *child = json_get(node, key);

	return child && child->kind == KIND_BOOL ? child->truth : absent;
}

size_t json_length(const struct json *array)
{
	return array && array->kind == KIND_ARRAY ? array->n : 0;
}

const struct json *json_at(const struct json *array, size_t i)
{
	return i < json_length(array) ? array->children.items[i] : NULL;
}
