#include "cli/command.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "base/suggest.h"
#include "cli/other_names.h"
#include "render/json.h"

#define CMD_GROUP(title)
#define CMD(name) extern const struct cmd cmd_##name;
#include "cli/commands.def"
#undef CMD

const struct cmd *const cmd_table[] = {
#define CMD(name) &cmd_##name,
#include "cli/commands.def"
#undef CMD
	NULL,
};
#undef CMD_GROUP

const struct opt cmd_common_opts[] = {
	{ 0, "json", OPT_FLAG, offsetof(struct common_opts, json), NULL,
	  "print one JSON document", NULL },
	{ 0, "timeout", OPT_SECONDS, offsetof(struct common_opts, timeout_ms), "TIME",
	  "limit to attach, and for answers to begin and go on (default 10s)", NULL },
	{ 'v', "verbose", OPT_FLAG, offsetof(struct common_opts, verbose), NULL,
	  "print each step and its time on stderr", NULL },
	{ 'h', "help", OPT_FLAG, offsetof(struct common_opts, help), NULL,
	  "show this help", NULL },
	OPT_END,
};

/*
 * Returns the edit distance from `name` to the nearest word of `words`, which spaces separate; 32
 * if there are no words.
 */
static unsigned distance_to_any(const char *name, const char *words)
{
	unsigned best = 32;

	while (words && *words) {
		_cleanup_free_ char *word = xstrndup(words, strcspn(words, " "));
		unsigned d = suggest_distance(name, word);

		best = d < best ? d : best;
		words += strlen(word);
		words += *words == ' ';
	}
	return best;
}

static const struct cmd *nearest(const char *name)
{
	const struct cmd *best = NULL;
	/*
	 * Suggest a command whose name is at most two typos from `name`.  If `name` is short, at
	 * most one typo, because short names are often only two typos from each other.
	 */
	unsigned best_distance = strlen(name) < 4 ? 2 : 3;

	for (const struct cmd *const *c = cmd_table; *c; c++) {
		unsigned by_name = suggest_distance(name, (*c)->name);
		unsigned by_alias = distance_to_any(name, (*c)->aliases);
		unsigned d = by_name < by_alias ? by_name : by_alias;

		if (d < best_distance) {
			best_distance = d;
			best = *c;
		}
	}
	return best;
}

/* Returns true if `name` is one of the words, which are separated by spaces. */
static bool is_word(const char *words, const char *name)
{
	size_t len = strlen(name);

	for (const char *word = words; word && len > 0; word = strchr(word, ' ')) {
		word += *word == ' ';
		if (strncmp(word, name, len) == 0 && (word[len] == '\0' || word[len] == ' '))
			return true;
	}
	return false;
}

static const struct cmd *find(const char *name)
{
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		if (is_word((*c)->name, name) || is_word((*c)->aliases, name))
			return *c;
	}
	return NULL;
}

bool cmd_is_name(const char *name)
{
	return find(name) != NULL;
}

const struct cmd *cmd_find(const char *name, struct err *err)
{
	const struct cmd *found = find(name), *near;
	const char *other = other_names_find(name);

	if (found)
		return found;
	near = other ? NULL : nearest(name);
	if (other || near)
		(void)err_set(err, EXIT_USAGE, "unknown command '%s': did you mean '%s'?", name,
			      other ? other : near->name);
	else
		(void)err_set(err, EXIT_USAGE, "unknown command '%s': jtool --help lists them",
			      name);
	return NULL;
}

void cmd_print_error(const struct cmd *cmd, const struct err *err)
{
	fprintf(stderr, "jtool: %s%s%s\n", cmd ? cmd->name : "", cmd ? ": " : "", err->text);
}

void cmd_print_error_json(int pid, const struct err *err, FILE *out)
{
	struct json *doc = json_object(), *error = json_object();

	json_put_number(error, "code", err->code);
	json_put_text(error, "message", err->text);
	if (pid > 0)
		json_put_number(doc, "pid", pid);
	json_put(doc, "error", error);
	json_print_take(doc, out);
}

void cmd_print_notice(const struct cmd *cmd, const char *fmt, ...)
{
	struct err note = { .code = EXIT_DONE };
	char text[sizeof(note.text)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* a long notice is truncated */
	va_end(ap);
	(void)err_set(&note, EXIT_ANSWER, "%s", text); /* err_set() escapes control characters */
	cmd_print_error(cmd, &note);
}

void cmd_help(const struct cmd *cmd, FILE *out)
{
	int width = 0;

	fprintf(out, "Usage: jtool %s [OPTIONS]%s%s\n\n%c%s.\n\nExamples:\n", cmd->name,
		cmd->synopsis[0] ? " " : "", cmd->synopsis, toupper((unsigned char)*cmd->summary),
		cmd->summary + 1);
	for (const struct example *e = cmd->examples; e->words; e++) {
		if ((int)strlen(e->words) > width)
			width = (int)strlen(e->words);
	}
	for (const struct example *e = cmd->examples; e->words; e++)
		fprintf(out, "  jtool %-*s  %s\n", width, e->words, e->text);
	if (cmd->opts) {
		fprintf(out, opt_is_group(cmd->opts) ? "\n" : "\nOptions:\n");
		opt_help(cmd->opts, out);
	}
	fprintf(out, "\nOptions of every command:");
	for (const struct opt *o = cmd_common_opts; o->name; o++) {
		bool is_taken = !o->letter || opt_has_letter(cmd->opts, o->letter);

		if (is_taken)
			fprintf(out, "%s --%s", o == cmd_common_opts ? "" : ",", o->name);
		else
			fprintf(out, ", -%c, --%s", o->letter, o->name);
		if (o->arg)
			fprintf(out, " %s", o->arg);
	}
	fprintf(out, ".\n");
	if (cmd->details)
		fprintf(out, "\n%s", cmd->details);
	if (cmd->all_by_default)
		fprintf(out, "\nTARGET 'all', or none, means every JVM.\n");
	else if (cmd->takes_all)
		fprintf(out, "\nTARGET 'all' means every JVM, each under its own heading.\n");
	if (cmd->aliases)
		fprintf(out, "\nAlso known as: %s.\n", cmd->aliases);
	fprintf(out, "\nThe manual is 'jtool help %s'.\n", cmd->name);
}

void cmd_help_all(FILE *out)
{
	fprintf(out, "Usage: jtool COMMAND [OPTIONS] [TARGET] [ARGUMENTS]\n\n"
		     "Diagnose, profile and patch running HotSpot JVMs, without a JDK.\n");
#define CMD_GROUP(title) fprintf(out, "\n%s:\n", title);
#define CMD(x) fprintf(out, "  %-12s  %s\n", cmd_##x.name, cmd_##x.summary);
#include "cli/commands.def"
#undef CMD
#undef CMD_GROUP
	fprintf(out, "\n"
		     "TARGET is a pid as 'jtool list' shows it, or a part of a main class or jar "
		     "name that\n"
		     "only one JVM has.  Many commands take 'all' for every JVM, and need no "
		     "TARGET if only\n"
		     "one JVM is visible.  'jtool PID COMMAND' works, too.\n"
		     "TIME is 500ms, 2s, 5m or 1h; without a unit, seconds.  SIZE is 512k, 64m "
		     "or 1g.\n"
		     "In a GLOB, * matches any characters, ? one: quote it for the shell.  A class "
		     "needs\n"
		     "no package where its simple name is unique.\n"
		     "jtool COMMAND --help shows examples and options, jtool help COMMAND the "
		     "manual; other\n"
		     "pages of it are json, containers, security, snapshots and "
		     "troubleshooting.\n\n"
		     "Options:\n"
		     "  -h, --help                show this help\n"
		     "  -V, --version             show the version of jtool\n"
		     "      --completion SHELL    print the completion script for bash, zsh or "
		     "fish\n");
}
