#include "cli/completion.h"

#include <string.h>

#include "cli/completion_internal.h"


enum value_kind completion_value_kind(const struct opt *o)
{
	if (opt_stands_alone(o)) /* the next word on the command line is not a value of `o` */
		return VALUE_NONE;
	if (o->kind == OPT_CHOICE)
		return VALUE_CHOICE;
	return strstr(o->arg, "FILE") || strstr(o->arg, "DIR") ? VALUE_FILE : VALUE_OTHER;
}

void completion_each_option(const struct cmd *cmd, completion_option *print, FILE *out)
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

void completion_print_choices(const struct opt *o, FILE *out)
{
	for (size_t i = 0; o->choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", o->choices[i]);
}

void completion_verb_words(const struct cmd *cmd, FILE *out)
{
	const char *word;

	for (size_t i = 0; (word = cmd->first_verb_word(i)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
}

const char completion_lists[] =
	"_jtool_safe()\n"
	"{\n"
	"	awk -v bad='[][`\"(){};&|<>!*?#~\\\\\\047[:cntrl:]]' '$1 !~ bad {\n"
	"		if ($2 ~ bad) $2 = \"-\"\n"
	"		print\n"
	"	}'\n"
	"}\n"
	"_jtool_targets()\n"
	"{\n"
	"	jtool list -o pid,main 2>/dev/null | awk 'NR > 1 && NF == 2 {\n"
	"		print $1, $2\n"
	"		if ($2 != \"-\") print $2, $1\n"
	"	}' | _jtool_safe\n"
	"}\n"
	"_jtool_words()\n"
	"{\n"
	"	case $1 in\n"
	"	jcmd | flags | props | counters)\n"
	"		jtool \"$1\" --timeout 2 \"$2\" 2>/dev/null |\n"
	"			awk -F '[= ]' 'NF && $1 !~ /^(The|For|NAME)$/ { print $1 }'\n"
	"		;;\n"
	"	class | classes | dump | refpaths | trace | alloc)\n"
	"		jtool jcmd --timeout 2 \"$2\" VM.class_hierarchy 2>/dev/null |\n"
	"			sed -n 's/^[| -]*\\([^/ ]*\\)\\/[^/]*$/\\1/p' | sort -u\n"
	"		;;\n"
	"	esac | _jtool_safe\n"
	"}\n";

int completion_print(const char *shell, FILE *out, struct err *err)
{
	if (strcmp(shell, "bash") == 0)
		completion_bash(out);
	else if (strcmp(shell, "zsh") == 0)
		completion_zsh(out);
	else if (strcmp(shell, "fish") == 0)
		completion_fish(out);
	else
		return err_set(err, EXIT_USAGE,
			       "--completion: unknown shell '%s': choose from bash, zsh, fish",
			       shell);
	return 0;
}
