#include "model/class/javasig_read.h"

#include <string.h>

#include "model/class/javasig.h"
#include "model/class/type_name.h"

/*
 * Limit for the nesting of types.  Signatures from compilers have far less nesting, and a recursion
 * of this depth does not exhaust the stack.
 */
#define DEPTH_MAX 64
#define DIMENSIONS_MAX 255 /* the most dimensions of an array (JVMS 4.3.2) */

/*
 * Returns the character that a surrogate pair at the start of `text` denotes; or 0 if `text` does
 * not begin with a pair.  A pair is two sequences of 3 bytes (JVMS 4.4.7).
 */
static uint32_t surrogate_pair_at(const char *text, size_t len)
{
	const uint8_t *t = (const uint8_t *)text;

	if (len < 6 || t[0] != 0xed || (t[1] & 0xf0) != 0xa0 || (t[2] & 0xc0) != 0x80 ||
	    t[3] != 0xed || (t[4] & 0xf0) != 0xb0 || (t[5] & 0xc0) != 0x80)
		return 0;
	return 0x10000 + ((uint32_t)(t[1] & 0x0f) << 16 | (uint32_t)(t[2] & 0x3f) << 10 |
			  (uint32_t)(t[4] & 0x0f) << 6 | (t[5] & 0x3f));
}

void javasig_text(struct buf *out, struct cf_text text)
{
	size_t clean = 0;

	for (size_t i = 0; i < text.len; i++) {
		uint32_t c = surrogate_pair_at(text.data + i, text.len - i);
		const char utf8[] = { (char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 0x3f)),
				      (char)(0x80 | (c >> 6 & 0x3f)), (char)(0x80 | (c & 0x3f)) };

		if (c == 0)
			continue;
		buf_add(out, text.data + clean, i - clean);
		buf_add(out, utf8, sizeof(utf8));
		i += 5;
		clean = i + 1;
	}
	if (text.len > clean)
		buf_add(out, text.data + clean, text.len - clean);
}

void javasig_dotted(struct buf *out, struct cf_text name)
{
	size_t start = out->len;

	javasig_text(out, name);
	for (size_t i = start; i < out->len; i++) {
		if (out->data[i] == '/')
			out->data[i] = '.';
	}
}

static char peek(const struct javasig_reader *r)
{
	return r->rest.len > 0 ? r->rest.data[0] : '\0';
}

bool javasig_eat(struct javasig_reader *r, char c)
{
	if (r->rest.len == 0 || r->rest.data[0] != c)
		return false;
	r->rest.data++;
	r->rest.len--;
	return true;
}

/*
 * Reads a name that ends before one of the characters in `ends`.  Returns false if the name is
 * empty.
 */
static bool take_name(struct javasig_reader *r, const char *ends, struct cf_text *name)
{
	size_t len = 0;

	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): NUL does not end a name */
	while (len < r->rest.len && !memchr(ends, r->rest.data[len], strlen(ends)))
		len++;
	if (len == 0 || len == r->rest.len)
		return false;
	*name = (struct cf_text){ r->rest.data, len };
	r->rest.data += len;
	r->rest.len -= len;
	return true;
}

/* Reads a type argument: "*", "+TYPE", "-TYPE" or "TYPE". */
static bool read_argument(struct javasig_reader *r)
{
	if (javasig_eat(r, '*')) {
		buf_addc(r->out, '?');
		return true;
	}
	if (javasig_eat(r, '+'))
		buf_adds(r->out, "? extends ");
	else if (javasig_eat(r, '-'))
		buf_adds(r->out, "? super ");
	return javasig_read_type(r);
}

/* Reads a list in angle brackets, if there is one, and adds it as "<A, B>". */
static bool read_list(struct javasig_reader *r, bool (*read)(struct javasig_reader *r))
{
	const char *between = "<";

	if (!javasig_eat(r, '<'))
		return true;
	do {
		buf_adds(r->out, between);
		between = ", ";
		if (!read(r))
			return false;
	} while (!javasig_eat(r, '>'));
	buf_addc(r->out, '>');
	return true;
}

/* Reads the rest of a class type, after the 'L': "java/util/Map<TK;TV;>.Entry<…>;". */
static bool read_class_type(struct javasig_reader *r)
{
	struct cf_text name;

	for (;;) {
		if (!take_name(r, "<.;>:", &name))
			return false;
		javasig_dotted(r->out, name);
		if (!read_list(r, read_argument))
			return false;
		if (javasig_eat(r, ';'))
			return true;
		if (!javasig_eat(r, '.'))
			return false;
		buf_addc(r->out, '.');
	}
}

static bool read_element(struct javasig_reader *r)
{
	struct cf_text name;
	const char *word;

	if (javasig_eat(r, 'L'))
		return read_class_type(r);
	if (javasig_eat(r, 'T')) {
		if (!take_name(r, ";", &name))
			return false;
		javasig_dotted(r->out, name);
		return javasig_eat(r, ';');
	}
	word = peek(r) == 'V' ? "void" : type_name_primitive(peek(r));
	if (!word)
		return false;
	buf_adds(r->out, word);
	return javasig_eat(r, peek(r));
}

bool javasig_read_type(struct javasig_reader *r)
{
	unsigned dimensions = 0;

	while (javasig_eat(r, '['))
		dimensions++;
	if (dimensions > DIMENSIONS_MAX || r->depth == DEPTH_MAX)
		return false;
	r->depth++;
	if (!read_element(r))
		return false;
	r->depth--;
	while (dimensions-- > 0)
		buf_adds(r->out, "[]");
	return true;
}

bool javasig_read_unless_object(struct javasig_reader *r, const char *prefix, bool *was_object)
{
	static const char object[] = "Ljava/lang/Object;";

	*was_object = r->rest.len >= strlen(object) &&
		      memcmp(r->rest.data, object, strlen(object)) == 0;
	if (*was_object) {
		r->rest.data += strlen(object);
		r->rest.len -= strlen(object);
		return true;
	}
	buf_adds(r->out, prefix);
	return javasig_read_type(r);
}

/*
 * Reads a type parameter, which is a name and bounds: "T:Ljava/lang/Object;:Ljava/lang/Runnable;".
 */
static bool read_parameter(struct javasig_reader *r)
{
	const char *between = " extends ";
	struct cf_text name;
	bool was_object;

	if (!take_name(r, ":", &name))
		return false;
	javasig_text(r->out, name);
	for (bool first = true; javasig_eat(r, ':'); first = false) {
		if (first && peek(r) == ':')
			continue; /* the class bound is empty, and an interface follows */
		if (!javasig_read_unless_object(r, between, &was_object))
			return false;
		if (!was_object)
			between = " & ";
	}
	return true;
}

bool javasig_read_parameters(struct javasig_reader *r, const char *suffix)
{
	size_t start = r->out->len;

	if (!read_list(r, read_parameter))
		return false;
	buf_adds(r->out, r->out->len > start ? suffix : "");
	return true;
}

bool javasig_read_arguments(struct javasig_reader *r)
{
	if (!javasig_eat(r, '('))
		return false;
	buf_addc(r->out, '(');
	for (const char *between = ""; !javasig_eat(r, ')'); between = ", ") {
		buf_adds(r->out, between);
		if (!javasig_read_type(r))
			return false;
	}
	buf_addc(r->out, ')');
	return true;
}
