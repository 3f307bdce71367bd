#include "cli/completion_internal.h"

static const char bash_title[] =
	"# bash completion for jtool; printed by jtool --completion bash\n";

static const char bash_head[] =
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
	"	local first='' words=''\n"
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
	"	if [[ -n $first && $jvm == \"$first\" ]]; then\n"
	"		if ((n == 2)); then\n"
	"			mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	"			return\n"
	"		fi\n"
	"		n=0 first=''\n"
	"	fi\n"
	"	if [[ -n $target ]] && ((n == 0)); then\n"
	"		_jtool_offer \"$cur\" < <(_jtool_targets; printf '%s\\n' $all $first)\n"
	"		if [[ $target == dump && -n $cur ]]; then\n"
	"			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < \\\n"
	"				<(compgen -f -- \"$cur\")\n"
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

static void bash_spelling(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	(void)cmd;
	print_spellings(o, " ", out);
	fputc(' ', out);
}

static void bash_valued(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	if (completion_value_kind(o) != VALUE_NONE)
		bash_spelling(cmd, o, out);
}

static void bash_value(const struct cmd *cmd, const struct opt *o, FILE *out)
{
	enum value_kind kind = completion_value_kind(o);

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
	completion_print_choices(o, out);
	fputs("' ;;\n", out);
}

static const char *bash_target(const struct cmd *cmd)
{
	if (cmd->takes_file)
		return "dump";
	return cmd->need == NEED_JVM ? "yes" : "''";
}

void completion_bash(FILE *out)
{
	fputs(bash_title, out);
	fputs(completion_lists, out);
	fputs(bash_head, out);
	for (const struct cmd *const *c = cmd_table; *c; c++)
		fprintf(out, "%s ", (*c)->name);
	fputs(bash_middle, out);
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		fprintf(out, "\t%s)\n\t\toptions='", (*c)->name);
		completion_each_option(*c, bash_spelling, out);
		fputs("'\n\t\tvalued='", out);
		completion_each_option(*c, bash_valued, out);
		fprintf(out, "'\n\t\ttarget=%s all=%s\n\t\tverbs='%s'\n\t\tcase $prev in\n",
			bash_target(*c), (*c)->takes_all ? "' all'" : "''",
			(*c)->verbs ? (*c)->verbs : "");
		completion_each_option(*c, bash_value, out);
		fputs("\t\tesac\n", out);
		if ((*c)->first_verb) {
			fprintf(out, "\t\tfirst=%s words='", (*c)->first_verb);
			completion_verb_words(*c, out);
			fputs("'\n", out);
		}
		fputs("\t\t;;\n", out);
	}
	fputs(bash_tail, out);
}
