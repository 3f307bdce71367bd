#include "cli/compat_args.h"

#include <stdbool.h>
#include <string.h>

#include "base/util.h"
#include "base/xalloc.h"
#include "cli/compat_jdk.h"

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++) {
		if (strcmp(word, *words) == 0)
			return true;
	}
	return false;
}

/* Returns true if `word` is an attach operation that is a command of jattach, but not of jtool. */
static bool is_operation(const char *word)
{
	static const char *const operations[] = {
		"agentProperties", "datadump", "dumpheap", "inspectheap",
		"printflag", "properties", "setflag", "threaddump", NULL,
	};

	return is_one_of(word, operations);
}

static bool is_pid(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word);
}

static int append_all(char **words, int n, char **argv, int argc)
{
	for (int i = 0; i < argc; i++)
		words[n++] = argv[i];
	return n;
}

/*
 * Appends the arguments of jattach's command `load`: LIB true|false OPTIONS.  Omits the second
 * argument, which says whether LIB is an absolute path.  If LIB is "instrument", the third argument
 * is JAR=OPTIONS of a Java agent.  Returns the new number of words.
 */
static int append_load(char **words, int n, char **argv, int argc)
{
	static const char *const booleans[] = { "true", "false", NULL };
	char *equals;

	if (argc < 2 || !is_one_of(argv[1], booleans))
		return append_all(words, n, argv, argc);
	if (argc < 3 || strcmp(argv[0], "instrument") != 0) {
		words[n++] = argv[0];
		return append_all(words, n, argv + 2, argc - 2);
	}
	words[n++] = argv[2];
	equals = strchr(argv[2], '=');
	if (equals) {
		*equals = '\0';
		words[n++] = equals + 1;
	}
	return n;
}

/* Shorthands: `name` stands for the command `command` with the option `option`. */
static const struct {
	const char *name;
	char *command, *option;
} shorthands[] = {
	{ "dominators", (char[]){ "retained" }, (char[]){ "--tree" } },
	{ "leaks", (char[]){ "retained" }, (char[]){ "--suspects" } },
};

const char *compat_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(shorthands); i++) {
		if (strcmp(shorthands[i].name, name) == 0)
			return shorthands[i].command;
	}
	return name;
}

/*
 * If words[0] is a shorthand, replaces it by its command and its option.  Returns the new number of
 * words: n + 1 if words[0] was a shorthand, else n.
 */
static int expand_shorthand(char **words, int n)
{
	for (size_t i = 0; i < ARRAY_SIZE(shorthands); i++) {
		if (strcmp(words[0], shorthands[i].name) != 0)
			continue;
		memmove(words + 2, words + 1, (size_t)(n - 1) * sizeof(*words));
		words[0] = shorthands[i].command;
		words[1] = shorthands[i].option;
		return n + 1;
	}
	return n;
}

char **compat_args(int argc, char **argv, int *n_words)
{
	static char op[] = "op", info[] = "info";
	char **words = xcalloc(2 * (size_t)argc + 3, sizeof(char *));
	int n = 0;

	if (!is_pid(argv[0])) {
		*n_words = compat_jdk(argc, argv, words);
		if (*n_words == 0)
			*n_words = append_all(words, 0, argv, argc);
		*n_words = expand_shorthand(words, *n_words);
		return words;
	}
	if (argc == 1)
		words[n++] = info;
	else
		words[n++] = is_operation(argv[1]) ? op : argv[1];
	words[n++] = argv[0];
	if (argc > 1 && is_operation(argv[1]))
		words[n++] = argv[1];
	if (argc > 1 && strcmp(argv[1], "load") == 0)
		n = append_load(words, n, argv + 2, argc - 2);
	else if (argc > 1)
		n = append_all(words, n, argv + 2, argc - 2);
	*n_words = expand_shorthand(words, n);
	return words;
}
