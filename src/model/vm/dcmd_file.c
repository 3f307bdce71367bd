#include "model/vm/dcmd_file.h"

#include <string.h>

#include "base/xalloc.h"

#define MB (UINT64_C(1) << 20)

/*
 * The diagnostic commands of JDK 8 to 27 that read or write a file, and for each command the
 * argument that has the path of the file.
 */
static const struct use {
	const char *command;
	/*
	 * prefix of the argument that has the path, such as "filename="; NULL: any argument may
	 * have the path.  If several rows match a command line, the first of these rows is used
	 */
	const char *key;
	enum { WRITES, WRITES_HEAP, READS, REFUSED } does;
	uint64_t room;
	const char *why; /* for REFUSED: the reason */
} uses[] = {
	{ "Compiler.directives_add", NULL, READS, 0, NULL },
	{ "Compiler.perfmap", NULL, WRITES, 64 * MB, NULL },
	{ "GC.heap_dump", NULL, WRITES_HEAP, 0, NULL },
	{ "JFR.dump", "filename=", WRITES, 256 * MB, NULL },
	{ "JFR.start", "settings=", READS, 0, NULL },
	{ "JFR.start", NULL, REFUSED, 0,
	  "the JVM writes the recording later; use jtool jfr record, or JFR.dump" },
	{ "JFR.configure", NULL, REFUSED, 0,
	  "the JVM goes on using its repository; give a directory of the JVM without braces" },
	{ "JFR.stop", "filename=", WRITES, 256 * MB, NULL },
	{ "JVMTI.agent_load", NULL, REFUSED, 0, "use jtool load" },
	{ "ManagementAgent.start", "config.file=", READS, 0, NULL },
	{ "System.dump_map", NULL, WRITES, 64 * MB, NULL },
	{ "Thread.dump_to_file", NULL, WRITES, 64 * MB, NULL },
	{ "VM.cds", NULL, WRITES, 256 * MB, NULL },
	{ "VM.log", NULL, REFUSED, 0,
	  "the JVM goes on writing its log; give a path of the JVM without braces" },
};

/* Returns whether the row applies to `line`, in which `word` is the argument with the file. */
static bool matches(const struct use *use, const char *line, const char *word)
{
	size_t len = strlen(use->command);

	if (strncmp(line, use->command, len) != 0 || line[len] != ' ')
		return false;
	return !use->key || strncmp(word, use->key, strlen(use->key)) == 0;
}

static const struct use *find_use(const char *line, size_t at)
{
	const char *word = line + at;

	while (word > line && word[-1] != ' ')
		word--;
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		if (matches(&uses[i], line, word))
			return &uses[i];
	}
	return NULL;
}

static int unknown_use(const char *line, const struct dcmd_file *file, struct err *err)
{
	_cleanup_buf_ struct buf names = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		if (uses[i].does != REFUSED)
			buf_addf(&names, "%s%s%s%s", names.len ? ", " : "", uses[i].command,
				 uses[i].key ? " " : "", uses[i].key ? uses[i].key : "");
	}
	return err_set(err, EXIT_USAGE,
		       "unknown use of file '%.200s' by '%.*s': jtool knows %s; give a path of the "
		       "JVM without braces, or quote the argument",
		       file->path, (int)strcspn(line, " "), line, buf_str(&names));
}

/* Returns the length of the name in braces at the start of the text, with the braces; or 0. */
static size_t braces_len(const char *text)
{
	for (const char *end = strchr(text, '}'); end; end = strchr(end + 1, '}')) {
		if (end[1] == '\0' || end[1] == ' ')
			return (size_t)(end - text) + 1;
	}
	return 0;
}

/*
 * Finds the first name in braces in the line from `at` on.  Returns its offset, and sets *len to
 * its length with the braces; sets *len to 0 if there is none.
 */
static size_t next_braces(const char *line, size_t at, size_t *len)
{
	for (const char *p = strchr(line + at, '{'); p; p = strchr(p + 1, '{')) {
		if (p == line || (p[-1] != ' ' && p[-1] != '='))
			continue;
		*len = braces_len(p);
		if (*len > 0)
			return (size_t)(p - line);
	}
	*len = 0;
	return 0;
}

int dcmd_file_find(const char *line, struct dcmd_file *file, struct err *err)
{
	const struct use *use;
	size_t more;

	*file = (struct dcmd_file){ .len = 0 };
	file->at = next_braces(line, 0, &file->len);
	if (file->len == 0)
		return 0;
	file->path = xstrndup(line + file->at + 1, file->len - 2);
	if (!*file->path)
		return err_set(err, EXIT_USAGE, "invalid file '{}': expected the path of a file");
	if (next_braces(line, file->at + file->len, &more) > 0)
		return err_set(err, EXIT_USAGE, "two files in braces: expected one");
	use = find_use(line, file->at);
	if (!use)
		return unknown_use(line, file, err);
	if (use->does == REFUSED)
		return err_set(err, EXIT_USAGE, "%s cannot use '%.200s', a file of yours: %s",
			       use->command, file->path, use->why);
	file->is_input = use->does == READS;
	file->is_heap = use->does == WRITES_HEAP;
	file->room = use->room;
	return 0;
}

void dcmd_file_release(struct dcmd_file *file)
{
	free(file->path);
	file->path = NULL;
}

void dcmd_file_replace(struct buf *out, const char *line, const struct dcmd_file *file,
		       const char *path)
{
	const char *quote = strchr(path, ' ') ? "\"" : ""; /* HotSpot splits the line at spaces */

	buf_addf(out, "%.*s%s%s%s%s", (int)file->at, line, quote, path, quote,
		 line + file->at + file->len);
}
