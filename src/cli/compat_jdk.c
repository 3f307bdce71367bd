#include "cli/compat_jdk.h"

#include <stdbool.h>
#include <string.h>

#include "base/util.h"

/* A command line of jtool that is being built. */
struct line {
	char **words;
	int n;
};

static void add(struct line *line, const char *word)
{
	/* The cast is safe, because constants are never written to. */
	line->words[line->n++] = (char *)word;
}

static void add_all(struct line *line, char **argv, int argc)
{
	for (int i = 0; i < argc; i++)
		add(line, argv[i]);
}

/* Removes the next item from a list "a,b=c" and returns it; NULL: the list is empty. */
static char *next_item(char **list)
{
	char *item = *list;
	char *comma = item ? strchr(item, ',') : NULL;

	if (comma)
		*comma++ = '\0';
	*list = comma;
	return item;
}

struct jmap {
	bool live;
	const char *file, *gzip;
};

static const char *gzip_option(const char *level)
{
	static const char *const options[] = {
		"--gzip=1", "--gzip=2", "--gzip=3", "--gzip=4", "--gzip=5",
		"--gzip=6", "--gzip=7", "--gzip=8", "--gzip=9",
	};

	return level[0] >= '1' && level[0] <= '9' && !level[1] ? options[level[0] - '1'] : NULL;
}

/*
 * Parses the options of jmap -dump: "live,format=b,file=FILE,gz=1".  Returns false if jtool has no
 * equivalent of an option.
 */
static bool parse_jmap(struct jmap *jmap, char *list)
{
	for (char *item; (item = next_item(&list));) {
		if (strcmp(item, "live") == 0)
			jmap->live = true;
		else if (strncmp(item, "file=", 5) == 0)
			jmap->file = item + 5;
		else if (strncmp(item, "gz=", 3) == 0 && gzip_option(item + 3))
			jmap->gzip = gzip_option(item + 3);
		else if (strcmp(item, "all") != 0 && strcmp(item, "format=b") != 0 && *item)
			return false;
	}
	return true;
}

static bool is_option(const char *word, const char *option, char **list)
{
	size_t len = strlen(option);

	if (strncmp(word, option, len) != 0 || (word[len] != '\0' && word[len] != ':'))
		return false;
	*list = (char *)word + len + (word[len] == ':');
	return true;
}

/* Translates: jmap OPTION TARGET … */
static void translate_jmap(struct line *line, char **argv, int argc)
{
	static const struct {
		const char *option, *command;
	} dcmds[] = {
		{ "-clstats", "VM.classloader_stats" },
		{ "-finalizerinfo", "GC.finalizer_info" },
	};
	struct jmap jmap = { .live = false };
	char *list;

	if (argc < 3)
		return;
	if (is_option(argv[1], "-histo", &list)) {
		if (!parse_jmap(&jmap, list) || jmap.file || jmap.gzip)
			return;
		add(line, "heaphisto");
		if (jmap.live)
			add(line, "--live");
		add_all(line, argv + 2, argc - 2);
	} else if (is_option(argv[1], "-dump", &list)) {
		if (!parse_jmap(&jmap, list) || !jmap.file)
			return;
		add(line, "heapdump");
		if (!jmap.live)
			add(line, "--all");
		if (jmap.gzip)
			add(line, jmap.gzip);
		add_all(line, argv + 2, argc - 2);
		add(line, jmap.file);
	} else if (strcmp(argv[1], "-heap") == 0) {
		add(line, "info");
		add_all(line, argv + 2, argc - 2);
	}
	for (size_t i = 0; i < ARRAY_SIZE(dcmds); i++) {
		if (strcmp(argv[1], dcmds[i].option) != 0)
			continue;
		add(line, "jcmd");
		add_all(line, argv + 2, argc - 2);
		add(line, dcmds[i].command);
	}
}

/* Translates: jinfo [-flags|-sysprops] TARGET, and jinfo -flag NAME TARGET */
static void translate_jinfo(struct line *line, char **argv, int argc)
{
	if (argc >= 2 && strcmp(argv[1], "-sysprops") == 0) {
		add(line, "props");
		add_all(line, argv + 2, argc - 2);
	} else if (argc >= 4 && strcmp(argv[1], "-flag") == 0) {
		add(line, "flags");
		add_all(line, argv + 3, argc - 3);
		add(line, argv[2]);
	} else if (argc >= 2 && strcmp(argv[1], "-flags") == 0) {
		add(line, "flags");
		add_all(line, argv + 2, argc - 2);
	}
}

/* Translates: jcmd, and jcmd -l */
static void translate_jcmd(struct line *line, char **argv, int argc)
{
	if (argc > 2 || (argc == 2 && strcmp(argv[1], "-l") != 0))
		return;
	add(line, "list");
	add(line, "-lm");
}

/*
 * Translates jstat -gcutil TARGET …: "-gcutil" becomes "-t gcutil".  Does not change a word that
 * begins with -t, -v or -h, because that may be an option of jtool stat, such as -tgcutil.
 */
static void translate_jstat(struct line *line, char **argv, int argc)
{
	for (int i = 0; i < argc; i++) {
		const char *name = argv[i] + 1;

		if (i > 0 && argv[i][0] == '-' && strspn(name, "abcdefghijklmnopqrstuvwxyz") > 1 &&
		    !strchr("tvh", name[0])) {
			add(line, "-t");
			add(line, name);
		} else {
			add(line, argv[i]);
		}
	}
}

int compat_jdk(int argc, char **argv, char **words)
{
	static const struct {
		const char *name;
		void (*translate)(struct line *line, char **argv, int argc);
	} tools[] = {
		{ "jmap", translate_jmap },   { "jinfo", translate_jinfo },
		{ "jcmd", translate_jcmd },   { "jstat", translate_jstat },
		{ "stat", translate_jstat },
	};
	struct line line = { words, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		if (strcmp(argv[0], tools[i].name) == 0)
			tools[i].translate(&line, argv, argc);
	}
	return line.n;
}
