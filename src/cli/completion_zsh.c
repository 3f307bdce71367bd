#include "cli/completion_internal.h"

#include <string.h>

static const char zsh_title[] =
	"#compdef jtool\n"
	"# zsh completion for jtool; printed by jtool --completion zsh\n";

static const char zsh_head[] =
	"_jtool_jvms()\n"
	"{\n"
	"	local -a lines names\n"
	"	lines=(${(f)\"$(_jtool_targets)\"})\n"
	"	names=(${lines%% *} \"$@\")\n"
	"	lines=(\"${lines[@]/ /  -- }\" \"$@\")\n"
	"	compadd -l -d lines -a names\n"
	"}\n"
	"_jtool_dumps()\n"
	"{\n"
	"	_jtool_jvms \"$@\"\n"
	"	_files\n"
	"}\n"
	"_jtool_arguments()\n"
	"{\n"
	"	local -a names\n"
	"	names=(${(f)\"$(_jtool_words $words[1] $line[1])\"})\n"
	"	(( $#names )) && compadd -a names || _files\n"
	"}\n"
	"_jtool()\n"
	"{\n"
	"	local -a commands\n"
	"	commands=(\n";

static const char zsh_middle[] =
	"	)\n"
	"	if (( CURRENT == 2 )); then\n"
	"		_describe command commands\n"
	"		_arguments '(- *)'{-h,--help}'[show the help]' \\\n"
	"			'(- *)'{-V,--version}'[show the version]'\n"
	"		return\n"
	"	fi\n"
	"	shift words\n"
	"	(( CURRENT-- ))\n"
	"	case $words[1] in\n";

/* Prints the text in single quotes, with a backslash before each character that is in `special`. */
static void print_quoted(const char *text, const char *special, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr(special, *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void zsh_option(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	const char *equals = completion_value_kind(o) == VALUE_NONE ? "" : "=";

	(void)cmd;
	fputs(" \\\n\t\t\t", out);
	if (o->letter && o->name)
		fprintf(out, "'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter, o->name,
			equals);
	else if (o->name)
		fprintf(out, "'--%s%s[", o->name, equals);
	else
		fprintf(out, "'-%c[", o->letter);
	print_quoted(o->help, "[]:\\", out);
	fputc(']', out);
	switch (completion_value_kind(o)) {
	case VALUE_NONE:
		break;
	case VALUE_CHOICE:
		fprintf(out, ":%s:(", o->arg);
		completion_print_choices(o, out);
		fputc(')', out);
		break;
	case VALUE_FILE:
		fprintf(out, ":%s:_files", o->arg);
		break;
	case VALUE_OTHER:
		fprintf(out, ":%s:", o->arg);
		break;
	}
	fputc('\'', out);
}

void completion_zsh(FILE *out)
{
	fputs(zsh_title, out);
	fputs(completion_lists, out);
	fputs(zsh_head, out);
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		fprintf(out, "\t\t'%s:", (*c)->name);
		print_quoted((*c)->summary, ":\\", out);
		fputs("'\n", out);
	}
	fputs(zsh_middle, out);
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		fprintf(out, "\t%s)\n\t\t_arguments -s", (*c)->name);
		completion_each_option(*c, zsh_option, out);
		if ((*c)->need == NEED_JVM)
			fprintf(out, " \\\n\t\t\t'1:TARGET:_jtool_%s%s%s%s'",
				(*c)->takes_file ? "dumps" : "jvms",
				(*c)->takes_all ? " all" : "", (*c)->first_verb ? " " : "",
				(*c)->first_verb ? (*c)->first_verb : "");
		if ((*c)->verbs)
			fprintf(out, " \\\n\t\t\t'2:VERB:(%s)'", (*c)->verbs);
		if ((*c)->first_verb) {
			fprintf(out, " \\\n\t\t\t'3:ARGUMENT:{ [[ $words[2] == %s ]] && compadd ",
				(*c)->first_verb);
			completion_verb_words(*c, out);
			fputs(" || _files }'", out);
		}
		if ((*c)->max_args != 0)
			fputs(" \\\n\t\t\t'*:ARGUMENT:_jtool_arguments'", out);
		fputs("\n\t\t;;\n", out);
	}
	fputs("\tesac\n}\n_jtool \"$@\"\n", out);
}
