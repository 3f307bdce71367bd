#include "render/class/javap_pool.h"

#include <string.h>

#include "model/class/javasig.h"
#include "render/java_double.h"
#include "render/class/javap_line.h"

/*
 * The names that javap prints for the kinds of constants: `listed` in the constant pool, `word` in
 * the comment of an instruction.
 */
static const struct kind {
	const char *listed, *word;
} kinds[] = {
	[CF_UTF8] = { "Utf8", "Utf8" },
	[CF_INTEGER] = { "Integer", "int" },
	[CF_FLOAT] = { "Float", "float" },
	[CF_LONG] = { "Long", "long" },
	[CF_DOUBLE] = { "Double", "double" },
	[CF_CLASS] = { "Class", "class" },
	[CF_STRING] = { "String", "String" },
	[CF_FIELD] = { "Fieldref", "Field" },
	[CF_METHOD] = { "Methodref", "Method" },
	[CF_INTERFACE_METHOD] = { "InterfaceMethodref", "InterfaceMethod" },
	[CF_NAME_AND_TYPE] = { "NameAndType", "NameAndType" },
	[CF_METHOD_HANDLE] = { "MethodHandle", "MethodHandle" },
	[CF_METHOD_TYPE] = { "MethodType", "MethodType" },
	[CF_DYNAMIC] = { "Dynamic", "Dynamic" },
	[CF_INVOKE_DYNAMIC] = { "InvokeDynamic", "InvokeDynamic" },
	[CF_MODULE] = { "Module", "Module" },
	[CF_PACKAGE] = { "Package", "Package" },
};

/* Kinds of method handles, indexed by reference_kind (JVMS table 5.4.3.5-A). */
static const char *const handle_kinds[] = {
	NULL,
	"REF_getField",
	"REF_getStatic",
	"REF_putField",
	"REF_putStatic",
	"REF_invokeVirtual",
	"REF_invokeStatic",
	"REF_invokeSpecial",
	"REF_newInvokeSpecial",
	"REF_invokeInterface",
};

static void add_invalid(struct buf *out)
{
	buf_adds(out, "???");
}

/* Returns the escape sequence of two characters for c, such as \n or \"; NULL if c has none. */
static const char *escape_of(char c)
{
	static const char plain[] = "\t\n\r\b\f\"'\\";
	static const char *const escaped[] = { "\\t", "\\n", "\\r", "\\b",
					       "\\f", "\\\"", "\\'", "\\\\" };
	const char *found = c ? strchr(plain, c) : NULL;

	return found ? escaped[found - plain] : NULL;
}

/*
 * If the text begins with a control character, sets *c to it and returns its length in bytes.
 * Otherwise returns 0.
 */
static size_t control_at(const char *text, size_t len, unsigned *c)
{
	const uint8_t *t = (const uint8_t *)text;

	*c = t[0];
	if (t[0] < 0x20 || t[0] == 0x7f)
		return 1;
	if (len < 2 || (t[1] & 0xc0) != 0x80)
		return 0;
	*c = (t[0] & 0x1fu) << 6 | (t[1] & 0x3f);
	return (t[0] == 0xc0 && *c == 0) || (t[0] == 0xc2 && *c < 0xa0) ? 2 : 0;
}

/* Appends a text with the escape sequences of a Java string. */
static void add_escaped(struct buf *out, struct cf_text text)
{
	_cleanup_buf_ struct buf utf8 = BUF_INIT;
	const char *escape;
	unsigned control;
	size_t n;

	javasig_text(&utf8, text);
	for (size_t i = 0; i < utf8.len; i++) {
		escape = escape_of(utf8.data[i]);
		n = control_at(utf8.data + i, utf8.len - i, &control);
		if (escape)
			buf_adds(out, escape);
		else if (n > 0)
			buf_addf(out, "\\u%04x", control);
		else
			buf_addc(out, utf8.data[i]);
		i += n > 1;
	}
}

/*
 * Appends a name that stands in quotes.  In such a name, javap escapes fewer characters than in a
 * string.
 */
static void add_quoted(struct buf *out, struct cf_text name)
{
	_cleanup_buf_ struct buf utf8 = BUF_INIT;

	javasig_text(&utf8, name);
	for (size_t i = 0; i < utf8.len; i++) {
		if (utf8.data[i] && strchr("\\\"\n\t", utf8.data[i]))
			buf_adds(out, escape_of(utf8.data[i]));
		else
			buf_addc(out, utf8.data[i]);
	}
}

/*
 * Returns whether c can be in a name that needs no quotes: a Java identifier, or several with '/'
 * between them.  Every byte beyond ASCII counts as a letter.
 */
static bool is_name_char(char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
	    (c & 0x80))
		return true;
	return !first && ((c >= '0' && c <= '9') || c == '/');
}

static bool is_plain_name(struct cf_text name)
{
	for (size_t i = 0; i < name.len; i++) {
		if (!is_name_char(name.data[i], i == 0 || name.data[i - 1] == '/'))
			return false;
	}
	return name.len > 0;
}

/*
 * Appends a name.  Puts the name in quotes if it is not a Java identifier, for example "<init>" or
 * "[I".
 */
static void add_name(struct buf *out, struct cf_text name)
{
	if (!name.data) {
		add_invalid(out);
	} else if (is_plain_name(name)) {
		javasig_text(out, name);
	} else {
		buf_addc(out, '"');
		add_quoted(out, name);
		buf_addc(out, '"');
	}
}

static double real_at(const uint8_t *content, bool is_float)
{
	uint64_t bits = cf_peek_u4(content);
	uint32_t word = (uint32_t)bits;
	double value;
	float single;

	if (is_float) {
		memcpy(&single, &word, sizeof(single));
		return (double)single;
	}
	bits = bits << 32 | cf_peek_u4(content + 4);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void add_number(struct buf *out, const uint8_t *content, uint8_t tag)
{
	switch (tag) {
	case CF_INTEGER:
		buf_addf(out, "%d", (int)(int32_t)cf_peek_u4(content));
		break;
	case CF_LONG:
		buf_addf(out, "%lldl",
			 (long long)(int64_t)((uint64_t)cf_peek_u4(content) << 32 |
					      cf_peek_u4(content + 4)));
		break;
	default:
		java_double(out, real_at(content, tag == CF_FLOAT), tag == CF_FLOAT);
		buf_addc(out, tag == CF_FLOAT ? 'f' : 'd');
	}
}

static void add_name_and_type(struct buf *out, const struct cf_pool *pool, uint16_t index)
{
	const uint8_t *content = cf_constant(pool, index, CF_NAME_AND_TYPE);

	if (!content) {
		add_invalid(out);
		return;
	}
	add_name(out, cf_utf8(pool, cf_peek_u2(content)));
	buf_addc(out, ':');
	javasig_text(out, cf_utf8(pool, cf_peek_u2(content + 2)));
}

/* Appends "CLASS.NAME:TYPE" for a member, or "NAME:TYPE" if the member's class is `class`. */
static void add_member(struct buf *out, const struct cf_pool *pool, uint16_t index,
		       struct cf_text class)
{
	const uint8_t *content = cf_constant(pool, index, cf_tag(pool, index));
	struct cf_text owner = cf_class_name(pool, cf_peek_u2(content));

	if (!cf_text_same(owner, class)) {
		add_name(out, owner);
		buf_addc(out, '.');
	}
	add_name_and_type(out, pool, cf_peek_u2(content + 2));
}

static bool is_member(uint8_t tag)
{
	return tag == CF_FIELD || tag == CF_METHOD || tag == CF_INTERFACE_METHOD;
}

static void add_handle(struct buf *out, const struct cf_pool *pool, const uint8_t *content)
{
	uint16_t member = cf_peek_u2(content + 1);

	if (content[0] == 0 || content[0] >= ARRAY_SIZE(handle_kinds) ||
	    !is_member(cf_tag(pool, member))) {
		add_invalid(out);
		return;
	}
	buf_addf(out, "%s ", handle_kinds[content[0]]);
	add_member(out, pool, member, (struct cf_text){ NULL, 0 });
}

static void add_value(struct buf *out, const struct cf_pool *pool, uint16_t index,
		      struct cf_text class)
{
	uint8_t tag = cf_tag(pool, index);
	const uint8_t *content = cf_constant(pool, index, tag);

	switch (tag) {
	case CF_UTF8:
		add_escaped(out, cf_utf8(pool, index));
		break;
	case CF_STRING:
		add_escaped(out, cf_named(pool, index, tag));
		break;
	case CF_INTEGER:
	case CF_FLOAT:
	case CF_LONG:
	case CF_DOUBLE:
		add_number(out, content, tag);
		break;
	case CF_CLASS:
	case CF_MODULE:
	case CF_PACKAGE:
		add_name(out, cf_named(pool, index, tag));
		break;
	case CF_METHOD_TYPE:
		javasig_text(out, cf_named(pool, index, tag));
		break;
	case CF_FIELD:
	case CF_METHOD:
	case CF_INTERFACE_METHOD:
		add_member(out, pool, index, class);
		break;
	case CF_NAME_AND_TYPE:
		add_name_and_type(out, pool, index);
		break;
	case CF_METHOD_HANDLE:
		add_handle(out, pool, content);
		break;
	case CF_DYNAMIC:
	case CF_INVOKE_DYNAMIC:
		buf_addf(out, "#%u:", cf_peek_u2(content));
		add_name_and_type(out, pool, cf_peek_u2(content + 2));
		break;
	default:
		add_invalid(out);
	}
}

void javap_constant(struct buf *out, const struct cf_pool *pool, uint16_t index,
		    struct cf_text class)
{
	uint8_t tag = cf_tag(pool, index);

	if (tag)
		buf_addf(out, "%s ", kinds[tag].word);
	add_value(out, pool, index, class);
}

void javap_value(struct buf *out, const struct cf_pool *pool, uint16_t index)
{
	add_value(out, pool, index, (struct cf_text){ NULL, 0 });
}

/*
 * Appends the indexes of the constants to which a constant refers ("#2.#3").  Returns false if it
 * refers to none.
 */
static bool add_parts(struct buf *out, const uint8_t *content, uint8_t tag)
{
	switch (tag) {
	case CF_CLASS:
	case CF_STRING:
	case CF_METHOD_TYPE:
	case CF_MODULE:
	case CF_PACKAGE:
		buf_addf(out, "#%u", cf_peek_u2(content));
		return true;
	case CF_FIELD:
	case CF_METHOD:
	case CF_INTERFACE_METHOD:
		buf_addf(out, "#%u.#%u", cf_peek_u2(content), cf_peek_u2(content + 2));
		return true;
	case CF_NAME_AND_TYPE:
	case CF_DYNAMIC:
	case CF_INVOKE_DYNAMIC:
		buf_addf(out, "#%u:#%u", cf_peek_u2(content), cf_peek_u2(content + 2));
		return true;
	case CF_METHOD_HANDLE:
		buf_addf(out, "%u:#%u", content[0], cf_peek_u2(content + 1));
		return true;
	default:
		return false;
	}
}

/* Returns the number of characters of the largest index, with its '#'. */
static int index_width(const struct cf_pool *pool)
{
	return snprintf(NULL, 0, "#%u", pool->count);
}

static void print_constant(struct javap_lines *l, const struct cf_pool *pool, uint16_t index,
			   int width)
{
	uint8_t tag = cf_tag(pool, index);
	char number[8];

	(void)snprintf(number, sizeof(number), "#%u", index);
	buf_addf(&l->line, "  %*s = %-18s ", width, number, kinds[tag].listed);
	if (add_parts(&l->line, cf_constant(pool, index, tag), tag)) {
		javap_tab(l, 42);
		buf_adds(&l->line, tag == CF_METHOD_TYPE ? "//  " : "// ");
	}
	javap_value(&l->line, pool, index);
	javap_end_line(l);
}

void javap_pool(FILE *out, const struct cf_pool *pool)
{
	struct javap_lines l = { .out = out };
	int width = index_width(pool);

	buf_adds(&l.line, "Constant pool:");
	javap_end_line(&l);
	for (uint16_t i = 1; i < pool->count; i++) {
		if (cf_tag(pool, i))
			print_constant(&l, pool, i, width);
	}
	javap_lines_release(&l);
}

/*
 * Adds the value of a constant to a JSON object.  Java's escape sequences are not used, because
 * JSON has its own.
 */
static void put_value(struct json *row, const struct cf_pool *pool, uint16_t index)
{
	_cleanup_buf_ struct buf value = BUF_INIT;

	if (cf_tag(pool, index) == CF_UTF8)
		javasig_text(&value, cf_utf8(pool, index));
	else if (cf_tag(pool, index) == CF_STRING)
		javasig_text(&value, cf_named(pool, index, CF_STRING));
	else
		javap_value(&value, pool, index);
	json_put_text_len(row, "text", buf_str(&value), value.len);
}

struct json *javap_pool_json(const struct cf_pool *pool)
{
	struct json *rows = json_array(), *row;

	for (uint16_t i = 1; i < pool->count; i++) {
		_cleanup_buf_ struct buf parts = BUF_INIT;
		uint8_t tag = cf_tag(pool, i);

		if (!tag)
			continue;
		row = json_object();
		json_put_number(row, "index", i);
		json_put_text(row, "kind", kinds[tag].listed);
		json_put_text(row, "refers",
			      add_parts(&parts, cf_constant(pool, i, tag), tag) ? parts.data
										: NULL);
		put_value(row, pool, i);
		json_put(rows, NULL, row);
	}
	return rows;
}
