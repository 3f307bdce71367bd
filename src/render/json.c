#include "render/json.h"

/* json-c's typedef json_object has the name of a function in json.h. */
#define json_object json_c_object
#include <json-c/json.h>
#undef json_object
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/printable.h"
#include "base/xalloc.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define PIECE 65536                /* bytes of a long text that are converted to JSON at a time */
#define DEPTH_MAX 64 /* limit for the nesting of a parsed document; jtool writes 4 levels */

/* Returns the node as json-c's type; struct json is only another name for that type. */
static struct json_c_object *in(const struct json *node)
{
	return (struct json_c_object *)node;
}

static struct json *out(struct json_c_object *object)
{
	if (!object)
		xalloc_die(); /* json-c returns NULL only if memory is exhausted */
	return (struct json *)object;
}

struct json *json_object(void)
{
	return out(json_object_new_object());
}

struct json *json_array(void)
{
	return out(json_object_new_array());
}

void json_free(struct json *node)
{
	(void)json_object_put(in(node)); /* returns 1, because this is the last reference */
}

static bool is_utf8(const char *text, size_t len)
{
	for (size_t n, i = 0; i < len; i += n) {
		n = utf8_sequence_len(text + i, len - i);
		if (n == 0)
			return false;
	}
	return true;
}

static void replace_broken(struct buf *clean, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = utf8_sequence_len(text + i, len - i);

		if (n > 0)
			buf_add(clean, text + i, n);
		else
			buf_adds(clean, REPLACEMENT);
		i += n > 0 ? n : 1;
	}
}

/*
 * Adds `child` (NULL becomes null) to an object, or to an array if key is NULL.  Takes ownership of
 * `child`.
 */
static void add(struct json *parent, const char *key, struct json_c_object *child)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	int rc;

	if (key && !is_utf8(key, strlen(key))) {
		replace_broken(&clean, key, strlen(key));
		key = buf_str(&clean);
	}
	rc = key ? json_object_object_add_ex(in(parent), key, child, JSON_C_OBJECT_ADD_KEY_IS_NEW)
		 : json_object_array_add(in(parent), child);
	if (rc < 0)
		xalloc_die();
}

void json_put(struct json *parent, const char *key, struct json *child)
{
	add(parent, key, in(child));
}

void json_put_text_len(struct json *parent, const char *key, const char *text, size_t len)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;

	if (!text) {
		json_put_null(parent, key);
		return;
	}
	if (!is_utf8(text, len)) {
		replace_broken(&clean, text, len);
		text = buf_str(&clean);
		len = clean.len;
	}
	if (len > INT_MAX)
		xalloc_die();
	json_put(parent, key, out(json_object_new_string_len(text, (int)len)));
}

void json_put_text(struct json *parent, const char *key, const char *text)
{
	json_put_text_len(parent, key, text, text ? strlen(text) : 0);
}

void json_put_number(struct json *parent, const char *key, int64_t value)
{
	json_put(parent, key, out(json_object_new_int64(value)));
}

void json_put_unsigned(struct json *parent, const char *key, uint64_t value)
{
	json_put(parent, key, out(json_object_new_uint64(value)));
}

/*
 * Adds a number with at most 17 digits, so that it can be read back exactly; null for NaN and
 * infinity.
 */
void json_put_real(struct json *parent, const char *key, double value)
{
	char text[32];

	if (!isfinite(value)) {
		json_put_null(parent, key);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	json_put(parent, key, out(json_object_new_double_s(value, text)));
}

void json_put_bool(struct json *parent, const char *key, bool value)
{
	json_put(parent, key, out(json_object_new_boolean(value)));
}

void json_put_null(struct json *parent, const char *key)
{
	add(parent, key, NULL);
}

void json_put_known(struct json *parent, const char *key, bool known, uint64_t value)
{
	if (known)
		json_put_unsigned(parent, key, value);
	else
		json_put_null(parent, key);
}

/*
 * Returns the node's JSON text, and its length in *len.  The node owns the text, which is valid
 * until the next call.
 */
static const char *as_text(const struct json *node, size_t *len)
{
	const char *text = json_object_to_json_string_length(
		in(node), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, len);

	if (!text)
		xalloc_die();
	return text;
}

typedef void put_fn(void *to, const char *data, size_t len);

static void put_in_buf(void *to, const char *data, size_t len)
{
	buf_add(to, data, len);
}

static void put_in_file(void *to, const char *data, size_t len)
{
	(void)fwrite(data, 1, len, to); /* main.c checks ferror() */
}

static void put_escape(put_fn *put, void *to, uint32_t c)
{
	char text[16];

	if (c >= 0x10000) {
		c -= 0x10000;
		(void)snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xd800 | c >> 10,
			       0xdc00 | (c & 0x3ff));
	} else {
		(void)snprintf(text, sizeof(text), "\\u%04x", c);
	}
	put(to, text, strlen(text));
}

/*
 * Passes a document to put(), with \uNNNN for the characters that could control a terminal.  json-c
 * escapes only those below U+0020; but DEL and the C1 characters control a terminal as well, and
 * further characters change the reading direction or are invisible.  In a JSON document, all these
 * characters can only occur inside strings, where \uNNNN is allowed.  The strings are valid UTF-8.
 */
static void put_safe(put_fn *put, void *to, const char *text, size_t len)
{
	size_t clean = 0; /* start of the unchanged text that was not passed to put() yet */

	for (size_t n, i = 0; i < len; i += n) {
		uint32_t c;

		n = 1;
		if (text[i] >= ' ' && text[i] < 0x7f)
			continue;
		n = utf8_sequence_len(text + i, len - i);
		c = n > 0 ? utf8_decode(text + i, n) : ' ';
		/* n is 0 for invalid UTF-8, which json-c does not write: avoid an endless loop */
		n = n > 0 ? n : 1;
		if (!printable_is_unsafe(c))
			continue;
		put(to, text + clean, i - clean);
		put_escape(put, to, c);
		clean = i + n;
	}
	put(to, text + clean, len - clean);
}

void json_add(struct buf *to, const struct json *node)
{
	size_t len;
	const char *text = as_text(node, &len);

	put_safe(put_in_buf, to, text, len);
}

/*
 * Passes a document to put().  If the document is an object, inserts JSON_SCHEMA as its first
 * member.
 */
static void put_document(put_fn *put, void *to, const struct json *node)
{
	static const char head[] = "{" JSON_SCHEMA;
	size_t len;
	const char *text = as_text(node, &len);

	if (json_object_is_type(in(node), json_type_object)) {
		put(to, head, sizeof(head) - 1);
		if (json_object_object_length(in(node)) > 0)
			put(to, ",", 1);
		text++;
		len--;
	}
	put_safe(put, to, text, len);
}

void json_add_document(struct buf *to, const struct json *node)
{
	put_document(put_in_buf, to, node);
}

void json_print(const struct json *node, FILE *file)
{
	put_document(put_in_file, file, node);
	(void)fputc('\n', file);
}

/* Returns the length of the text's first piece: about PIECE bytes, but no character is split. */
static size_t piece_len(const char *text, size_t len)
{
	size_t done = 0;

	while (done < len && done < PIECE) {
		size_t n = utf8_sequence_len(text + done, len - done);

		done += n > 0 ? n : 1;
	}
	return done;
}

/* Prints the JSON form of a piece of text, without the quotes at its ends. */
static void print_piece(const char *text, size_t len, FILE *file)
{
	struct json *array = json_array();
	_cleanup_buf_ struct buf piece = BUF_INIT;

	json_put_text_len(array, NULL, text, len);
	json_add(&piece, array); /* the result is ["…"] */
	(void)fwrite(piece.data + 2, 1, piece.len - 4, file);
	json_free(array);
}

/* Prints an object without its end, and the key of one more member. */
static void print_head(const struct json *node, const char *key, FILE *file)
{
	_cleanup_buf_ struct buf head = BUF_INIT;

	json_add_document(&head, node); /* the result is {…} with at least JSON_SCHEMA */
	(void)fwrite(head.data, 1, head.len - 1, file);
	(void)fprintf(file, ",\"%s\":", key);
}

void json_print_with_text(const struct json *node, const char *key, const char *text, size_t len,
			  FILE *file)
{
	print_head(node, key, file);
	(void)fputc('"', file);
	while (len > 0) {
		size_t n = piece_len(text, len);

		print_piece(text, n, file);
		text += n;
		len -= n;
	}
	(void)fputs("\"}\n", file);
}

void json_print_with_array(const struct json *node, const char *key, json_make_fn *make,
			   const void *arg, size_t n, FILE *file)
{
	print_head(node, key, file);
	(void)fputc('[', file);
	for (size_t i = 0; i < n; i++) {
		struct json *element = make(arg, i);
		size_t len;
		const char *text = as_text(element, &len);

		if (i > 0)
			(void)fputc(',', file);
		put_safe(put_in_file, file, text, len);
		json_free(element);
	}
	(void)fputs("]}\n", file);
}

void json_print_take(struct json *node, FILE *file)
{
	json_print(node, file);
	json_free(node);
}

struct json *json_parse(const char *text, size_t len)
{
	struct json_tokener *tokener;
	struct json_c_object *object;

	if (len > INT_MAX)
		return NULL;
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (!tokener)
		xalloc_die();
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, (int)len);
	json_tokener_free(tokener);
	return (struct json *)object;
}

bool json_has(const struct json *node, const char *key)
{
	return json_object_is_type(in(node), json_type_object) &&
	       json_object_object_get_ex(in(node), key, NULL);
}

const struct json *json_get(const struct json *node, const char *key)
{
	struct json_c_object *child;

	if (!json_object_is_type(in(node), json_type_object) ||
	    !json_object_object_get_ex(in(node), key, &child))
		return NULL;
	return (const struct json *)child;
}

const char *json_get_text(const struct json *node, const char *key)
{
	struct json_c_object *child = in(json_get(node, key));

	return json_object_is_type(child, json_type_string) ? json_object_get_string(child) : NULL;
}

int64_t json_get_number(const struct json *node, const char *key, int64_t absent)
{
	struct json_c_object *child = in(json_get(node, key));

	return json_object_is_type(child, json_type_int) ? json_object_get_int64(child) : absent;
}

double json_get_real(const struct json *node, const char *key, double absent)
{
	struct json_c_object *child = in(json_get(node, key));

	return json_object_is_type(child, json_type_double) ||
			       json_object_is_type(child, json_type_int) ?
		       json_object_get_double(child) :
		       absent;
}

bool json_get_bool(const struct json *node, const char *key, bool absent)
{
	struct json_c_object *child = in(json_get(node, key));

	return json_object_is_type(child, json_type_boolean) ? json_object_get_boolean(child)
							     : absent;
}

size_t json_length(const struct json *array)
{
	if (!json_object_is_type(in(array), json_type_array))
		return 0;
	return json_object_array_length(in(array));
}

const struct json *json_at(const struct json *array, size_t i)
{
	if (i >= json_length(array))
		return NULL;
	return (const struct json *)json_object_array_get_idx(in(array), i);
}
