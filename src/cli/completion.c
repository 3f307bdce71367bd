#include "cli/completion.h"

#include <string.h>

#include "cli/command.h"
#include "cli/options.h"

/* The ways to complete the value of an option. */
enum value_kind { VALUE_NONE, VALUE_CHOICE, VALUE_FILE, VALUE_OTHER };

static enum value_kind value_kind(const struct opt *o)
{
	if (o->kind == OPT_FLAG || o->kind == OPT_LEVEL) /* the value of a level is optional */
		return VALUE_NONE;
	if (o->kind == OPT_CHOICE)
		return VALUE_CHOICE;
	return strstr(o->arg, "FILE") || strstr(o->arg, "DIR") ? VALUE_FILE : VALUE_OTHER;
}

typedef void print_option(const struct cmd *cmd, const struct opt *o, FILE *out);

/*
 * Calls print() for each option.  A common option has no letter if the command has
 * another option with that letter.
 */
static void each_option(const struct cmd *cmd, print_option *print, FILE *out)
{
	for (const struct opt *o = cmd->opts; o && !opt_is_end(o); o++) {
		if (!opt_is_group(o))
			print(cmd, o, out);
	}
	for (const struct opt *o = cmd_common_opts; o->name; o++) {
		struct opt one = *o;

		if (opt_has_letter(cmd->opts, one.letter))
			one.letter = 0;
		print(cmd, &one, out);
	}
}

static void print_choices(const struct opt *o, FILE *out)
{
	for (size_t i = 0; o->choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", o->choices[i]);
}

/* Prints "-n", "--name", or both with a separator between them. */
static void print_spellings(const struct opt *o, const char *separator, FILE *out)
{
	if (o->letter)
		fprintf(out, "-%c", o->letter);
	if (o->letter && o->name)
		fputs(separator, out);
	if (o->name)
		fprintf(out, "--%s", o->name);
}

/* Prints text between single quotes, with a backslash before each character of `special`. */
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

/*
 * For bash and zsh, a word a line, and what the words come from is a JVM's: no word has a character
 * that a shell could take for more than a part of a word.
 *
 * _jtool_targets: process ids and names of the JVMs, each with the other one after a space.
 *
 * _jtool_words COMMAND TARGET: the diagnostic commands, flags, properties or counters of that JVM,
 * which is asked as the command asks it; or its loaded classes, of which a JVM of JDK 9 or later
 * itself has a list: no agent is loaded.
 */
#define LISTS                                                                                 \
	"_jtool_safe()\n"                                                                     \
	"{\n"                                                                                 \
	"	awk -v bad='[][`\"(){};&|<>!*?#~\\\\\\047[:cntrl:]]' '$1 !~ bad {\n"              \
	"		if ($2 ~ bad) $2 = \"-\"\n"                                             \
	"		print\n"                                                               \
	"	}'\n"                                                                          \
	"}\n"                                                                                 \
	"_jtool_targets()\n"                                                                  \
	"{\n"                                                                                 \
	"	jtool list -o pid,main 2>/dev/null | awk 'NR > 1 && NF == 2 {\n"               \
	"		print $1, $2\n"                                                        \
	"		if ($2 != \"-\") print $2, $1\n"                                       \
	"	}' | _jtool_safe\n"                                                            \
	"}\n"                                                                                 \
	"_jtool_words()\n"                                                                    \
	"{\n"                                                                                 \
	"	case $1 in\n"                                                                  \
	"	jcmd | flags | props | counters)\n"                                            \
	"		jtool \"$1\" --timeout 2 \"$2\" 2>/dev/null |\n"                        \
	"			awk -F '[= ]' 'NF && $1 !~ /^(The|For|NAME)$/ { print $1 }'\n"  \
	"		;;\n"                                                                  \
	"	class | classes | dump | refpaths | trace | alloc)\n"                         \
	"		jtool jcmd --timeout 2 \"$2\" VM.class_hierarchy 2>/dev/null |\n"      \
	"			sed -n 's/^[| -]*\\([^/ ]*\\)\\/[^/]*$/\\1/p' | sort -u\n"          \
	"		;;\n"                                                                  \
	"	esac | _jtool_safe\n"                                                          \
	"}\n"

static const char bash_head[] =
	"# bash completion for jtool; printed by jtool --completion bash\n"
	LISTS
	"# What a JVM sent is not expanded, as the words of compgen -W are.\n"
	"_jtool_offer()\n"
	"{\n"
	"	local word rest\n"
	"	local -a lines=()\n"
	"	while read -r word rest; do\n"
	"		[[ -n $word && $word == \"$1\"* ]] || continue\n"
	"		COMPREPLY+=(\"$word\")\n"
	"		lines+=(\"$word${rest:+ ($rest)}\")\n"
	"	done\n"
	"	# The list of candidates, which a second TAB shows.\n"
	"	((${COMP_TYPE:-9} == 63 && ${#lines[@]} > 1)) && COMPREPLY=(\"${lines[@]}\")\n"
	"}\n"
	"_jtool()\n"
	"{\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"	local options='' valued='' choices='' target='' all='' verbs='' i n=0\n"
	"	COMPREPLY=()\n"
	"	# bash splits --name=value into three words\n"
	"	if [[ $cur == '=' ]]; then\n"
	"		cur=''\n"
	"	elif [[ $prev == '=' ]]; then\n"
	"		prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"	fi\n"
	"	if ((COMP_CWORD == 1)); then\n"
	"		mapfile -t COMPREPLY < <(compgen -W '";

static const char bash_middle[] =
	"--help --version' -- \"$cur\")\n"
	"		return\n"
	"	fi\n"
	"	case ${COMP_WORDS[1]} in\n";

static const char bash_tail[] =
	"	*)\n"
	"		return\n"
	"		;;\n"
	"	esac\n"
	"	if [[ -n $choices ]]; then\n"
	"		mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
	"		return\n"
	"	fi\n"
	"	if [[ $cur == -* ]]; then\n"
	"		mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
	"		return\n"
	"	fi\n"
	"	if [[ \" $valued \" == *\" $prev \"* ]]; then\n"
	"		return\n"
	"	fi\n"
	"	local jvm=''\n"
	"	for ((i = 2; i < COMP_CWORD; i++)); do\n"
	"		if [[ \" $valued \" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
	"			((i++))\n"
	"			[[ ${COMP_WORDS[i]} == '=' ]] && ((i++))\n"
	"		elif [[ ${COMP_WORDS[i]} != -* ]]; then\n"
	"			((n++))\n"
	"			jvm=${jvm:-${COMP_WORDS[i]}}\n"
	"		fi\n"
	"	done\n"
	"	if [[ -n $target ]] && ((n == 0)); then\n"
	"		_jtool_offer \"$cur\" < <(_jtool_targets; printf '%s\\n' $all)\n"
	"		if [[ $target == dump && -n $cur ]]; then\n"
	"			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"		fi\n"
	"		return\n"
	"	fi\n"
	"	if [[ -n $verbs ]] && ((n == 1)); then\n"
	"		mapfile -t COMPREPLY < <(compgen -W \"$verbs\" -- \"$cur\")\n"
	"		return\n"
	"	fi\n"
	"	if ((n == 1)); then\n"
	"		_jtool_offer \"$cur\" < <(_jtool_words \"${COMP_WORDS[1]}\" \"$jvm\")\n"
	"		((${#COMPREPLY[@]} == 0)) || return\n"
	"	fi\n"
	"	mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"complete -o filenames -F _jtool jtool\n";

static void bash_spelling(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	(void)cmd;
	print_spellings(o, " ", out);
	fputc(' ', out);
}

static void bash_valued(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	if (value_kind(o) != VALUE_NONE)
		bash_spelling(cmd, o, out);
}

static void bash_value(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	enum value_kind kind = value_kind(o);

	(void)cmd;
	if (kind != VALUE_CHOICE && kind != VALUE_FILE)
		return;
	fputs("\t\t", out);
	print_spellings(o, " | ", out);
	if (kind == VALUE_FILE) {
		fputs(") mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n", out);
		return;
	}
	fputs(") choices='", out);
	print_choices(o, out);
	fputs("' ;;\n", out);
}

static const char *bash_target(const struct cmd *cmd)
{
	if (cmd->takes_file)
		return "dump";
	return cmd->need == NEED_JVM ? "yes" : "''";
}

static void print_bash(FILE *out)
{
	fputs(bash_head, out);
	for (const struct cmd *const *c = cmd_table; *c; c++)
		fprintf(out, "%s ", (*c)->name);
	fputs(bash_middle, out);
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		fprintf(out, "\t%s)\n\t\toptions='", (*c)->name);
		each_option(*c, bash_spelling, out);
		fputs("'\n\t\tvalued='", out);
		each_option(*c, bash_valued, out);
		fprintf(out, "'\n\t\ttarget=%s all=%s\n\t\tverbs='%s'\n\t\tcase $prev in\n",
			bash_target(*c), (*c)->takes_all ? "' all'" : "''",
			(*c)->verbs ? (*c)->verbs : "");
		each_option(*c, bash_value, out);
		fputs("\t\tesac\n\t\t;;\n", out);
	}
	fputs(bash_tail, out);
}

static const char zsh_head[] =
	"#compdef jtool\n"
	"# zsh completion for jtool; printed by jtool --completion zsh\n"
	LISTS
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

static void zsh_option(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	(void)cmd;
	fputs(" \\\n\t\t\t", out);
	if (o->letter && o->name)
		fprintf(out, "'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter, o->name,
			value_kind(o) == VALUE_NONE ? "" : "=");
	else if (o->name)
		fprintf(out, "'--%s%s[", o->name, value_kind(o) == VALUE_NONE ? "" : "=");
	else
		fprintf(out, "'-%c[", o->letter);
	print_quoted(o->help, "[]:\\", out);
	fputc(']', out);
	switch (value_kind(o)) {
	case VALUE_NONE:
		break;
	case VALUE_CHOICE:
		fprintf(out, ":%s:(", o->arg);
		print_choices(o, out);
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

static void print_zsh(FILE *out)
{
	fputs(zsh_head, out);
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		fprintf(out, "\t\t'%s:", (*c)->name);
		print_quoted((*c)->summary, ":\\", out);
		fputs("'\n", out);
	}
	fputs(zsh_middle, out);
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		fprintf(out, "\t%s)\n\t\t_arguments -s", (*c)->name);
		each_option(*c, zsh_option, out);
		if ((*c)->need == NEED_JVM)
			fprintf(out, " \\\n\t\t\t'1:TARGET:_jtool_%s%s'",
				(*c)->takes_file ? "dumps" : "jvms",
				(*c)->takes_all ? " all" : "");
		if ((*c)->verbs)
			fprintf(out, " \\\n\t\t\t'2:VERB:(%s)'", (*c)->verbs);
		if ((*c)->max_args != 0)
			fputs(" \\\n\t\t\t'*:ARGUMENT:_jtool_arguments'", out);
		fputs("\n\t\t;;\n", out);
	}
	fputs("\tesac\n}\n_jtool \"$@\"\n", out);
}

static const char fish_head[] =
	"# fish completion for jtool; printed by jtool --completion fish\n"
	"function __jtool_words -d 'count the words before the cursor, without options'\n"
	"	count (string match -v -- '-*' (commandline -opc))\n"
	"end\n"
	"function __jtool_targets -d 'process ids and names of the JVMs'\n"
	"	for line in (jtool list -o pid,main 2>/dev/null | string match -rv '^ *PID ')\n"
	"		set -l jvm (string split -n ' ' -- $line)\n"
	"		test (count $jvm) -eq 2; or continue\n"
	"		printf '%s\\t%s\\n' $jvm[1] $jvm[2]\n"
	"		test $jvm[2] = -; or printf '%s\\t%s\\n' $jvm[2] $jvm[1]\n"
	"	end\n"
	"end\n"
	"function __jtool_arguments -d 'what the JVM has, for the command before the cursor'\n"
	"	set -l words (string match -v -- '-*' (commandline -opc))\n"
	"	switch $words[2]\n"
	"	case jcmd flags props counters\n"
	"		jtool $words[2] --timeout 2 $words[3] 2>/dev/null |\n"
	"			string replace -r '[= ].*' '' |\n"
	"			string match -rv '^(The|For|NAME|)$'\n"
	"	case class classes dump refpaths trace alloc\n"
	"		jtool jcmd --timeout 2 $words[3] VM.class_hierarchy 2>/dev/null |\n"
	"			string replace -rf '^[| -]*([^/ ]*)/[^/]*$' '$1' | sort -u\n"
	"	end\n"
	"end\n"
	"complete -c jtool -f\n"
	"complete -c jtool -n 'test (__jtool_words) -eq 1' -s h -l help "
	"-d 'show the help'\n"
	"complete -c jtool -n 'test (__jtool_words) -eq 1' -s V -l version "
	"-d 'show the version'\n";

static void print_description(const char *text, FILE *out)
{
	fputs(" -d '", out);
	for (; *text; text++)
		fprintf(out, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
	fputc('\'', out);
}

static void fish_option(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	fprintf(out, "complete -c jtool -n '__fish_seen_subcommand_from %s'", cmd->name);
	if (o->letter)
		fprintf(out, " -s %c", o->letter);
	if (o->name)
		fprintf(out, " -l %s", o->name);
	print_description(o->help, out);
	switch (value_kind(o)) {
	case VALUE_NONE:
		break;
	case VALUE_CHOICE:
		fputs(" -x -a '", out);
		print_choices(o, out);
		fputc('\'', out);
		break;
	case VALUE_FILE:
		fputs(" -r -F", out);
		break;
	case VALUE_OTHER:
		fputs(" -x", out);
		break;
	}
	fputc('\n', out);
}

static void print_fish(FILE *out)
{
	fputs(fish_head, out);
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		fprintf(out, "complete -c jtool -n 'test (__jtool_words) -eq 1' -a %s",
			(*c)->name);
		print_description((*c)->summary, out);
		fputc('\n', out);
	}
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		each_option(*c, fish_option, out);
		if ((*c)->need == NEED_JVM)
			fprintf(out,
				"complete -c jtool -n '__fish_seen_subcommand_from %s; and test "
				"(__jtool_words) -eq 2' -a '(__jtool_targets)%s'%s\n",
				(*c)->name, (*c)->takes_all ? " all" : "",
				(*c)->takes_file ? " -F" : "");
		if ((*c)->verbs)
			fprintf(out,
				"complete -c jtool -n '__fish_seen_subcommand_from %s; and test "
				"(__jtool_words) -eq 3' -a '%s'\n",
				(*c)->name, (*c)->verbs);
		if ((*c)->max_args != 0)
			fprintf(out,
				"complete -c jtool -n '__fish_seen_subcommand_from %s; and test "
				"(__jtool_words) -gt %d' -F -a '%s'\n",
				(*c)->name, (*c)->need == NEED_JVM ? 2 : 1,
				(*c)->need == NEED_JVM ? "(__jtool_arguments)" : "");
	}
}

int completion_print(const char *shell, FILE *out, struct err *err)
{
	if (strcmp(shell, "bash") == 0)
		print_bash(out);
	else if (strcmp(shell, "zsh") == 0)
		print_zsh(out);
	else if (strcmp(shell, "fish") == 0)
		print_fish(out);
	else
		return err_set(err, EXIT_USAGE,
			       "--completion: unknown shell '%s': choose from bash, zsh, fish",
			       shell);
	return 0;
}
