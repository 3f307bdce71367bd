#include "cli/completion_internal.h"

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
	switch (completion_value_kind(o)) {
	case VALUE_NONE:
		break;
	case VALUE_CHOICE:
		fputs(" -x -a '", out);
		completion_print_choices(o, out);
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

void completion_fish(FILE *out)
{
	fputs(fish_head, out);
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		fprintf(out, "complete -c jtool -n 'test (__jtool_words) -eq 1' -a %s",
			(*c)->name);
		print_description((*c)->summary, out);
		fputc('\n', out);
	}
	for (const struct cmd *const *c = cmd_table; *c; c++) {
		completion_each_option(*c, fish_option, out);
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
		if ((*c)->first_verb) {
			fprintf(out,
				"complete -c jtool -n '__fish_seen_subcommand_from %s; and test "
				"(__jtool_words) -eq 2' -a %s\n"
				"complete -c jtool -n '__fish_seen_subcommand_from %s; and "
				"__fish_seen_subcommand_from %s; and test "
				"(__jtool_words) -eq 4' -a '",
				(*c)->name, (*c)->first_verb, (*c)->name, (*c)->first_verb);
			completion_verb_words(*c, out);
			fputs("'\n", out);
		}
		if ((*c)->max_args != 0)
			fprintf(out,
				"complete -c jtool -n '__fish_seen_subcommand_from %s; and test "
				"(__jtool_words) -gt %d' -F -a '%s'\n",
				(*c)->name, (*c)->need == NEED_JVM ? 2 : 1,
				(*c)->need == NEED_JVM ? "(__jtool_arguments)" : "");
	}
}
