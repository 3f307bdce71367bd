#include "util/text.h"

#include <string.h>

#define NS_PER_MS 1000000

struct ag_text ag_text_init(char *data, size_t size)
{
	data[0] = '\0';
	return (struct ag_text){ .data = data, .size = size };
}

void ag_text_char(struct ag_text *t, char c)
{
	if (t->size - t->len < 2)
		return;
	t->data[t->len++] = c;
	t->data[t->len] = '\0';
}

void ag_text_put(struct ag_text *t, const char *s)
{
	while (*s)
		ag_text_char(t, *s++);
}

void ag_text_number(struct ag_text *t, uint64_t n)
{
	char digits[20];
	size_t len = 0;

	do
		digits[len++] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	while (len > 0)
		ag_text_char(t, digits[--len]);
}

void ag_text_seconds(struct ag_text *t, uint64_t ns)
{
	uint64_t ms = ns / NS_PER_MS;

	ag_text_number(t, ms / 1000);
	ag_text_char(t, '.');
	ag_text_char(t, (char)('0' + ms / 100 % 10));
	ag_text_char(t, (char)('0' + ms / 10 % 10));
	ag_text_char(t, (char)('0' + ms % 10));
}

static void put_shown(struct ag_text *t, char c)
{
	ag_text_char(t, (unsigned char)c < ' ' || c == 0x7f ? '?' : c);
}

void ag_text_name(struct ag_text *t, const char *name, size_t max)
{
	for (size_t len = strnlen(name, max); len > 0; len--)
		put_shown(t, *name++);
}

const char *ag_text_primitive(char letter)
{
	switch (letter) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'Z':
		return "boolean";
	default:
		return "?";
	}
}

/*
 * Returns the '/' between the name of a VM-anonymous class (JDK 8) and its suffix, or NULL if the
 * class is not VM-anonymous.
 */
static const char *anonymous(const char *name, size_t len)
{
	const char *slash = NULL;

	for (size_t i = 0; i + 1 < len; i++) {
		if (name[i] == '/')
			slash = name + i;
	}
	return slash && slash[1] >= '0' && slash[1] <= '9' ? slash : NULL;
}

/*
 * Appends the Java name of a class, given its name in a signature, where '/' separates the parts of
 * the package name.  In a signature, the suffix of a hidden class (JDK 15 and later) follows a '.',
 * and the suffix of a VM-anonymous class follows a '/'.  In a Java name, both follow a '/'.
 */
static void put_binary_name(struct ag_text *t, const char *name, size_t len)
{
	const char *suffix = anonymous(name, len);

	for (size_t i = 0; i < len; i++) {
		if (name[i] == '/' && name + i != suffix)
			ag_text_char(t, '.');
		else
			put_shown(t, (char)(name[i] == '.' ? '/' : name[i]));
	}
}

static size_t dimensions(const char *signature)
{
	size_t n = 0;

	while (signature[n] == '[')
		n++;
	return n;
}

void ag_text_class(struct ag_text *t, const char *signature, size_t max)
{
	size_t dims = dimensions(signature), len = strnlen(signature + dims, max);
	const char *name = signature + dims;

	if (len > 2 && *name == 'L')
		put_binary_name(t, name + 1, name[len - 1] == ';' ? len - 2 : len - 1);
	else
		ag_text_put(t, len == 1 ? ag_text_primitive(*name) : "?");
	while (dims-- > 0)
		ag_text_put(t, "[]");
}
