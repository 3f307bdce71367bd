#include "attach/memory_use.h"

#include <string.h>

/*
 * Returns true if `line` begins with `command`.  If `command` does not end with a dot, the word in
 * `line` must end where `command` ends.
 */
static bool begins(const char *line, const char *command)
{
	size_t len = strlen(command);

	line += strspn(line, " ");
	return strncmp(line, command, len) == 0 &&
	       (line[len] == '\0' || line[len] == ' ' || command[len - 1] == '.');
}

/*
 * Returns true if the line of a diagnostic command has the argument -all.  HotSpot splits the line
 * at spaces that are not in quotes (diagnosticFramework.cpp, DCmdArgIter::next).
 */
static bool has_all(const char *line)
{
	char quote = '\0';

	for (; *line; line++) {
		if (!quote && *line == ' ' && begins(line, "-all"))
			return true;
		if (!quote && (*line == '"' || *line == '\''))
			quote = *line;
		else if (*line == quote)
			quote = '\0';
	}
	return false;
}

static enum memory_use use_of_command(const char *line)
{
	static const struct {
		const char *command;
		enum memory_use use, all; /* use: without the argument -all; all: with -all */
	} commands[] = {
		{ "GC.class_histogram", MEMORY_COLLECT, MEMORY_REQUEST },
		{ "GC.heap_dump", MEMORY_COLLECT, MEMORY_DUMP },
		{ "GC.run", MEMORY_COLLECT, MEMORY_COLLECT },
		{ "VM.system_properties", MEMORY_AGENT, MEMORY_AGENT },
		{ "JFR.", MEMORY_JAVA, MEMORY_JAVA },
		{ "ManagementAgent.", MEMORY_JAVA, MEMORY_JAVA },
		{ "JVMTI.agent_load", MEMORY_JAVA, MEMORY_JAVA },
		{ "Thread.dump_to_file", MEMORY_JAVA, MEMORY_JAVA },
		{ "Thread.vthread_pollers", MEMORY_JAVA, MEMORY_JAVA },
		{ "Thread.vthread_scheduler", MEMORY_JAVA, MEMORY_JAVA },
		{ "VM.cds", MEMORY_COLLECT, MEMORY_COLLECT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (begins(line, commands[i].command))
			return has_all(line) ? commands[i].all : commands[i].use;
	}
	return MEMORY_REQUEST;
}

enum memory_use attach_memory_use(const struct attach_request *req)
{
	const char *first = req->n_args > 0 && req->args[0] ? req->args[0] : "";
	const char *second = req->n_args > 1 && req->args[1] ? req->args[1] : "";

	if (strcmp(req->op, "jcmd") == 0)
		return use_of_command(first);
	if (strcmp(req->op, "inspectheap") == 0)
		return strcmp(first, "-all") == 0 ? MEMORY_REQUEST : MEMORY_COLLECT;
	if (strcmp(req->op, "dumpheap") == 0)
		return strcmp(second, "-all") == 0 ? MEMORY_DUMP : MEMORY_COLLECT;
	if (strcmp(req->op, "properties") == 0 || strcmp(req->op, "agentProperties") == 0)
		return MEMORY_AGENT; /* the JVM calls Java code for this operation */
	if (strcmp(req->op, "load") == 0)
		return strcmp(first, "instrument") == 0 ? MEMORY_JAVA : MEMORY_AGENT;
	return MEMORY_REQUEST;
}
