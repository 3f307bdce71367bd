#include "model/class/type_name.h"

#include <string.h>

#include "base/xalloc.h"
#include "wire/glob.h"

#define CANDIDATES_MAX 400 /* approximate limit in bytes for the names in an error text */

static const struct {
	char letter;
	const char *name;
} primitives[] = {
	{ 'B', "byte" }, { 'C', "char" }, { 'D', "double" }, { 'F', "float" },
	{ 'I', "int" },  { 'J', "long" }, { 'S', "short" },  { 'Z', "boolean" },
};

const char *type_name_primitive(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(primitives); i++) {
		if (primitives[i].letter == letter)
			return primitives[i].name;
	}
	return NULL;
}

static char primitive_letter(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(primitives); i++) {
		if (strlen(primitives[i].name) == len && memcmp(primitives[i].name, name, len) == 0)
			return primitives[i].letter;
	}
	return '\0';
}

bool type_name_is_primitive(const char *name, size_t len)
{
	return primitive_letter(name, len) != '\0';
}

/*
 * Adds the Java form of a class name from a signature.  In a signature:
 *   '/' separates packages;
 *   a hidden class (JDK 15 and later) has a suffix after a '.';
 *   a VM-anonymous class (JDK 8 to 14) has a suffix after a '/'; the suffix starts with a digit,
 *   and no class name does.
 * The Java form has a '/' before both kinds of suffix.
 */
static void add_binary_name(struct buf *out, const char *name, size_t len)
{
	size_t start = out->len;
	char *at = buf_reserve(out, len);
	const char *slash = memrchr(name, '/', len);

	for (size_t i = 0; i < len; i++) {
		if (name[i] == '/')
			at[i] = '.';
		else
			at[i] = name[i] == '.' ? '/' : name[i];
	}
	out->len = start + len;
	out->data[out->len] = '\0';
	if (slash && slash + 1 < name + len && slash[1] >= '0' && slash[1] <= '9')
		at[slash - name] = '/';
}

int type_name_java(struct buf *out, const char *signature, size_t len)
{
	size_t dims = 0;

	while (dims < len && signature[dims] == '[')
		dims++;
	signature += dims;
	len -= dims;
	if (dims > 255 || memchr(signature, '\0', len))
		return -1;
	if (len == 1 && type_name_primitive(*signature)) {
		buf_adds(out, type_name_primitive(*signature));
	} else if (len > 2 && *signature == 'L' &&
		   memchr(signature, ';', len) == signature + len - 1) {
		add_binary_name(out, signature + 1, len - 2);
	} else {
		return -1;
	}
	while (dims-- > 0)
		buf_adds(out, "[]");
	return 0;
}

void type_name_signature(struct buf *out, const char *name)
{
	size_t len = strlen(name);

	while (len > 2 && memcmp(name + len - 2, "[]", 2) == 0) {
		buf_addc(out, '[');
		len -= 2;
	}
	if (name[len] == '[' && type_name_is_primitive(name, len)) {
		buf_addc(out, primitive_letter(name, len));
		return;
	}
	buf_addc(out, 'L');
	for (size_t i = 0; i < len; i++)
		buf_addc(out, name[i] == '.' ? '/' : name[i]);
	buf_addc(out, ';');
}

static char *with_all(const char *word, char from, char to)
{
	char *copy = xstrdup(word);

	for (char *at = copy; (at = strchr(at, from));)
		*at = to;
	return copy;
}

static bool is_array(const char *name, const char *word)
{
	_cleanup_free_ char *signature = with_all(word, '.', '/');
	_cleanup_buf_ struct buf java = BUF_INIT;

	return type_name_java(&java, signature, strlen(signature)) == 0 &&
	       strcmp(buf_str(&java), name) == 0;
}

bool type_name_matches(const char *name, const char *word)
{
	_cleanup_free_ char *dotted = NULL;

	if (glob_matches(word, name))
		return true;
	if (*word == '[')
		return is_array(name, word);
	if (!strchr(word, '/'))
		return false;
	dotted = with_all(word, '/', '.');
	return glob_matches(dotted, name);
}

static const char *after_last_dot(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/*
 * Returns the name after the last '$', such as "Item" of "a.b.Cart$Item"; NULL for a class that is
 * not nested.
 */
static const char *after_last_dollar(const char *name)
{
	const char *dollar = strrchr(after_last_dot(name), '$');

	return dollar ? dollar + 1 : NULL;
}

/*
 * Returns 2 if `word` is the part of `name` after the last '.'; 1 if `word` is the part after the
 * last '$'; or else 0.
 */
static int rank(const char *name, const char *word)
{
	const char *nested = after_last_dollar(name);

	if (strcmp(after_last_dot(name), word) == 0)
		return 2;
	return nested && strcmp(nested, word) == 0;
}

bool type_name_is_simple(const char *word)
{
	return *word && *word != '[' && !strpbrk(word, "./*?");
}

bool type_name_is_chosen(const char *name, const char *word)
{
	return glob_matches(word, name) || (type_name_is_simple(word) && rank(name, word) > 0);
}

const char *type_name_resolve(const char *word, const char *(*name)(const void *list, size_t i),
				const void *list, size_t n, struct err *err)
{
	_cleanup_buf_ struct buf candidates = BUF_INIT;
	const char *found = NULL;
	bool several = false;
	int best = 1;

	if (!type_name_is_simple(word))
		return word;
	for (size_t i = 0; i < n; i++) {
		const char *candidate = name(list, i);
		int ranked = rank(candidate, word);

		if (strcmp(candidate, word) == 0)
			return word;
		if (ranked < best)
			continue;
		/* Ignore a second class with the name `found`: another loader has defined it. */
		if (found && strcmp(candidate, found) == 0)
			continue;
		/* java.util.ArrayList is preferred to java.util.Arrays$ArrayList */
		if (ranked > best) {
			found = NULL;
			several = false;
			buf_reset(&candidates);
			best = ranked;
		}
		several |= found != NULL;
		if (candidates.len < CANDIDATES_MAX)
			buf_addf(&candidates, "%s%.200s", found ? ", " : "", candidate);
		found = candidate;
	}
	if (!several)
		return found ? found : word;
	(void)err_set(err, EXIT_TARGET, "several classes are called '%.200s': give one of %s", word,
		      buf_str(&candidates));
	return NULL;
}
