#include "discover/cmdline.h"

#include <string.h>

#include "base/buf.h"
#include "base/strview.h"
#include "base/xalloc.h"

/* The words of a command line that were not consumed yet. */
struct words {
	const char *next, *end;
};

/*
 * Returns a copy of the next word, or NULL at the end.  The last word may lack its NUL, because the
 * kernel may have truncated the command line; the copy has a NUL.
 */
static char *take_word(struct words *w)
{
	const char *word = w->next;
	size_t len;

	if (word == w->end)
		return NULL;
	len = strnlen(word, (size_t)(w->end - word));
	w->next += len + (w->next + len < w->end);
	return xstrndup(word, len);
}

static void add_word(struct buf *out, const char *word)
{
	buf_addf(out, "%s%s", out->len ? " " : "", word);
}

static char *take_text(struct buf *b)
{
	return b->len ? buf_take(b) : NULL;
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++) {
		if (strcmp(word, *list) == 0)
			return true;
	}
	return false;
}

/*
 * Returns true for the launcher's options that have their value in the next word (java.c:
 * IsClassPathOption(), IsLauncherOption()).
 */
static bool is_launcher_option(const char *word)
{
	static const char *const list[] = { "-cp", "-classpath", "--class-path", "--source", NULL };

	return is_one_of(word, list);
}

/*
 * Returns true for options that the launcher passes to the VM as --option=value (java.c:
 * IsModuleOption()).
 */
static bool is_module_option(const char *word)
{
	static const char *const list[] = {
		"--module-path", "-p", "--upgrade-module-path", "--add-modules",
		"--limit-modules", "--add-exports", "--add-opens", "--add-reads",
		"--patch-module", "--enable-native-access", NULL,
	};

	return is_one_of(word, list);
}

static bool is_main_option(const char *word)
{
	static const char *const list[] = { "-jar", "-m", "--module", NULL };

	return is_one_of(word, list);
}

/*
 * Consumes the options of the java launcher up to the main class.  Returns the main class; NULL if
 * there is none.
 */
static char *parse_options(struct words *w, struct buf *flags)
{
	for (;;) {
		_cleanup_free_ char *word = take_word(w);
		_cleanup_free_ char *value = NULL;

		if (!word)
			return NULL;
		if (word[0] == '@')
			continue;
		if (word[0] != '-')
			return TAKE_PTR(word);
		if (is_main_option(word))
			return take_word(w);
		if (strncmp(word, "--module=", 9) == 0)
			return xstrdup(word + 9);
		if (strncmp(word, "--class-path=", 13) == 0)
			continue;
		if (!is_launcher_option(word) && !is_module_option(word)) {
			add_word(flags, word);
			continue;
		}
		value = take_word(w);
		if (!value || is_launcher_option(word))
			continue;
		add_word(flags, strcmp(word, "-p") == 0 ? "--module-path" : word);
		buf_addf(flags, "=%s", value);
	}
}

static bool is_java(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, "java") == 0;
}

void cmdline_parse(const char *words, size_t len, struct cmdline *out)
{
	struct words w = { words, words + len };
	_cleanup_buf_ struct buf flags = BUF_INIT, args = BUF_INIT;
	_cleanup_free_ char *launcher = NULL;

	*out = (struct cmdline){ 0 };
	launcher = take_word(&w);
	if (!launcher)
		return;
	/*
	 * Options of other launchers (jsvc, jshell, programs with an embedded VM) are not parsed.
	 */
	out->main = is_java(launcher) ? parse_options(&w, &flags) : TAKE_PTR(launcher);
	for (;;) {
		_cleanup_free_ char *word = take_word(&w);

		if (!word)
			break;
		add_word(&args, word);
	}
	out->args = take_text(&args);
	out->flags = take_text(&flags);
}

void cmdline_release(struct cmdline *c)
{
	free(c->main);
	free(c->args);
	free(c->flags);
	*c = (struct cmdline){ 0 };
}

char *environ_value(const char *env, size_t len, const char *name)
{
	size_t name_len = strlen(name);

	while (len > 0) {
		size_t n = strnlen(env, len);

		if (n > name_len && memcmp(env, name, name_len) == 0 && env[name_len] == '=')
			return xstrndup(env + name_len + 1, n - name_len - 1);
		n += n < len;
		env += n;
		len -= n;
	}
	return NULL;
}

/*
 * Returns the next flag in *rest, a list that is separated by spaces, and sets *len to the flag's
 * length.  Returns NULL at the end of the list.
 */
static const char *next_flag(const char **rest, size_t *len)
{
	const char *word = *rest + strspn(*rest, " ");

	*len = strcspn(word, " ");
	*rest = word + *len;
	return *len ? word : NULL;
}

bool flags_is_on(const char *flags, const char *name)
{
	const char *rest = flags ? flags : "", *word;
	size_t len, name_len = strlen(name);
	bool on = false;

	while ((word = next_flag(&rest, &len)) != NULL) {
		if (len == 5 + name_len && strncmp(word, "-XX:", 4) == 0 &&
		    memcmp(word + 5, name, name_len) == 0)
			on = word[4] == '+';
	}
	return on;
}

char *flags_value_of_two(const char *flags, const char *prefix, const char *other)
{
	const char *rest = flags ? flags : "", *word;
	size_t len;
	char *value = NULL;

	while ((word = next_flag(&rest, &len)) != NULL) {
		const char *found = strview_has_prefix(word, prefix) ? prefix : other;

		if (!strview_has_prefix(word, found))
			continue;
		free(value);
		value = xstrndup(word + strlen(found), len - strlen(found));
	}
	return value;
}

char *flags_value(const char *flags, const char *prefix)
{
	return flags_value_of_two(flags, prefix, prefix);
}
