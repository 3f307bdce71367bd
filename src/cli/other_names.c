#include "cli/other_names.h"

#include <string.h>
#include <strings.h>

#include "base/util.h"

/*
 * Names in the JDK, jattach, Arthas, async-profiler and MAT, and other words that users are likely
 * to try.
 */
static const struct {
	const char *name, *command;
} names[] = {
	{ "asprof", "jfr TARGET record" },
	{ "attach", "load" },
	{ "classloader", "classes" },
	{ "classloaders", "classes" },
	{ "cpu", "threads" },
	{ "dashboard", "stat TARGET 1s" },
	{ "deadlock", "threads --deadlocks" },
	{ "deadlocks", "threads --deadlocks" },
	{ "decompile", "class -b" },
	{ "dumpheap", "heapdump" },
	{ "env", "info" },
	{ "flamegraph", "alloc --flamegraph" },
	{ "flame", "alloc --flamegraph" },
	{ "flag", "flags" },
	{ "gc", "stat" },
	{ "gccause", "stat -t gccause" },
	{ "gcutil", "stat -t gcutil" },
	{ "heap", "info" },
	{ "hprof", "heapdump" },
	{ "inspectheap", "heaphisto" },
	{ "jad", "class -b" },
	{ "jattach", "jcmd" },
	{ "javap", "class -b" },
	{ "jhat", "retained FILE.hprof" },
	{ "jhsdb", "info" },
	{ "jmap", "heaphisto' or 'heapdump" },
	{ "jmx", "jcmd TARGET ManagementAgent.start" },
	{ "jvm", "info" },
	{ "leak", "retained --suspects" },
	{ "mat", "retained" },
	{ "memory", "info" },
	{ "oom", "retained --suspects" },
	{ "paths", "refpaths" },
	{ "perfcounter", "counters" },
	{ "profile", "jfr TARGET record" },
	{ "profiler", "jfr TARGET record" },
	{ "properties", "props" },
	{ "recording", "jfr" },
	{ "roots", "refpaths" },
	{ "stack", "trace --stack" },
	{ "suspects", "retained --suspects" },
	{ "sysprop", "props" },
	{ "thread", "threads" },
	{ "top", "threads" },
	{ "tt", "trace" },
	{ "version", "info" },
	{ "vmflags", "flags" },
	{ "vmoption", "flags" },
	{ "vmtool", "refpaths" },
};

const char *other_names_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcasecmp(names[i].name, name) == 0)
			return names[i].command;
	}
	return NULL;
}
