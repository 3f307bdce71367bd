#include "cmd/vm/info.h"

#include <string.h>
#include <time.h>

#include "base/xalloc.h"
#include "cmd/alloc_recording.h"

enum {
	PID,
	OUTER,
	NSPID,
	STOPPED,
	STATE,
	MAIN,
	ARGS,
	USER,
	UID,
	GID,
	CONTAINER,
	PARENT_NAME,
	PARENT,
	STARTED,
	UPTIME,
	ATTACH,
	ATTACH_WORDS,
	GAP_JAVA,
	VERSION,
	VM,
	RELEASE,
	VENDOR,
	MODE,
	HOME,
	EXE,
	CWD,
	FLAGS,
	OPTIONS,
	GAP_HEAP = OPTIONS + N_PROCESS_OPTIONS,
	GC,
	USED,
	COMMITTED,
	MAX,
	SPACES,
	META_USED,
	META_COMMITTED,
	COLLECTORS,
	CAUSE,
	LAST_CAUSE,
	SAFEPOINTS,
	SAFEPOINT_TIME,
	SAFEPOINT_SHARE,
	LOADED,
	UNLOADED,
	LIVE,
	DAEMONS,
	PEAK,
	KERNEL_THREADS,
	WHY_NOT,
	QUERY_RESULT,
	ASKED,
	GAP_SYSTEM,
	CPU_USER,
	CPU_SYSTEM,
	RSS,
	RSS_PEAK,
	SWAP,
	FILES,
	FILES_MAX,
	CGROUP_USED,
	CGROUP_MAX,
	CGROUP_CPUS,
	GAP_AGENTS,
	AGENTS,
	SOCKET,
	COUNTERS,
	TMP,
	N_FIELDS,
};

/* clang-format off */
static const struct field fields[N_FIELDS] = {
	[PID]             = { "Pid", NULL, "pid", CELL_NUMBER },
	[OUTER]           = { "Pid", "% in its own namespace", NULL, CELL_NUMBER },
	[NSPID]           = { NULL, NULL, "nspid", CELL_NUMBER },
	[STOPPED]         = { "STOPPED", NULL, NULL, CELL_TEXT },
	[STATE]           = { NULL, NULL, "state", CELL_TEXT },
	[MAIN]            = { "Main", NULL, "main", CELL_TEXT },
	[ARGS]            = { "Arguments", NULL, "args", CELL_TEXT },
	[USER]            = { "User", NULL, "user", CELL_TEXT },
	[UID]             = { "User", "uid %", "uid", CELL_NUMBER },
	[GID]             = { "User", "gid %", "gid", CELL_NUMBER },
	[CONTAINER]       = { "Container", NULL, "container", CELL_TEXT },
	[PARENT_NAME]     = { "Parent", NULL, "parent_name", CELL_TEXT },
	[PARENT]          = { "Parent", "pid %", "parent", CELL_NUMBER },
	[STARTED]         = { "Started", NULL, "started", CELL_TEXT },
	[UPTIME]          = { "Started", "% ago", "uptime", CELL_SECONDS },
	[ATTACH]          = { "Attach", "%:", "attach", CELL_TEXT },
	[ATTACH_WORDS]    = { "Attach", NULL, NULL, CELL_TEXT },

	[GAP_JAVA]        = { "", NULL, NULL, CELL_TEXT },
	[VERSION]         = { "Java", NULL, "version", CELL_TEXT },
	[VM]              = { "Java", NULL, "vm", CELL_TEXT },
	[RELEASE]         = { "Java", NULL, "vm_version", CELL_TEXT },
	[VENDOR]          = { "Java", "of %", "vm_vendor", CELL_TEXT },
	[MODE]            = { "Java", NULL, "vm_mode", CELL_TEXT },
	[HOME]            = { "Home", NULL, "java_home", CELL_TEXT },
	[EXE]             = { "Program", NULL, "exe", CELL_TEXT },
	[CWD]             = { "Directory", NULL, "cwd", CELL_TEXT },
	[FLAGS]           = { "Flags", NULL, "flags", CELL_TEXT },
	[OPTIONS + PROCESS_TOOL_OPTIONS] =
		{ "JAVA_TOOL_OPTIONS", NULL, "JAVA_TOOL_OPTIONS", CELL_TEXT },
	[OPTIONS + PROCESS_JDK_OPTIONS] =
		{ "JDK_JAVA_OPTIONS", NULL, "JDK_JAVA_OPTIONS", CELL_TEXT },
	[OPTIONS + PROCESS_OLD_OPTIONS] =
		{ "_JAVA_OPTIONS", NULL, "_JAVA_OPTIONS", CELL_TEXT },

	[GAP_HEAP]        = { "", NULL, NULL, CELL_TEXT },
	[GC]              = { "Heap", "%:", "gc", CELL_TEXT },
	[USED]            = { "Heap", "% used", "heap_used", CELL_BYTES },
	[COMMITTED]       = { "Heap", "% committed", "heap_committed", CELL_BYTES },
	[MAX]             = { "Heap", "% max", "heap_max", CELL_BYTES },
	[SPACES]          = { "Spaces", NULL, "spaces", CELL_ITEMS },
	[META_USED]       = { "Metaspace", "% used", "metaspace_used", CELL_BYTES },
	[META_COMMITTED]  = { "Metaspace", "% committed", "metaspace_committed", CELL_BYTES },
	[COLLECTORS]      = { "Collections", NULL, "collectors", CELL_ITEMS },
	[CAUSE]           = { "GC running", "cause: %", "gc_cause", CELL_TEXT },
	[LAST_CAUSE]      = { "Last cause", NULL, "gc_last_cause", CELL_TEXT },
	[SAFEPOINTS]      = { "Safepoints", NULL, "safepoints", CELL_NUMBER },
	[SAFEPOINT_TIME]  = { "Safepoints", "% s", "safepoint_time", CELL_REAL },
	[SAFEPOINT_SHARE] = { "Safepoints", "% % of uptime", NULL, CELL_REAL },
	[LOADED]          = { "Classes", "% loaded", "classes_loaded", CELL_NUMBER },
	[UNLOADED]        = { "Classes", "% unloaded", "classes_unloaded", CELL_NUMBER },
	[LIVE]            = { "Threads", "% live", "threads", CELL_NUMBER },
	[DAEMONS]         = { "Threads", "% daemon", "threads_daemon", CELL_NUMBER },
	[PEAK]            = { "Threads", "peak %", "threads_peak", CELL_NUMBER },
	[KERNEL_THREADS]  = { "Threads", "% OS threads", "threads_kernel", CELL_NUMBER },
	[WHY_NOT]         = { "No counters", NULL, NULL, CELL_TEXT },
	[QUERY_RESULT]    = { "Asked", NULL, NULL, CELL_TEXT },
	[ASKED]           = { NULL, NULL, "asked", CELL_BOOL },

	[GAP_SYSTEM]      = { "", NULL, NULL, CELL_TEXT },
	[CPU_USER]        = { "CPU time", "% s user", "cpu_user", CELL_REAL },
	[CPU_SYSTEM]      = { "CPU time", "% s system", "cpu_system", CELL_REAL },
	[RSS]             = { "Memory", "% resident", "rss", CELL_BYTES },
	[RSS_PEAK]        = { "Memory", "peak %", "rss_peak", CELL_BYTES },
	[SWAP]            = { "Memory", "% swapped out", "swap", CELL_BYTES },
	[FILES]           = { "Files", "% open", "files", CELL_NUMBER },
	[FILES_MAX]       = { "Files", "% max", "files_max", CELL_NUMBER },
	[CGROUP_USED]     = { "Cgroup", "% of memory used", "cgroup_memory_used", CELL_BYTES },
	[CGROUP_MAX]      = { "Cgroup", "% max", "cgroup_memory_max", CELL_BYTES },
	[CGROUP_CPUS]     = { "Cgroup", "% CPUs", "cgroup_cpus", CELL_REAL },

	[GAP_AGENTS]      = { "", NULL, NULL, CELL_TEXT },
	[AGENTS]          = { "Agents", NULL, "agents", CELL_ITEMS },
	[SOCKET]          = { "Socket", NULL, "attach_socket", CELL_TEXT },
	[COUNTERS]        = { "Counters", NULL, "perf_file", CELL_TEXT },
	[TMP]             = { NULL, NULL, "tmp", CELL_TEXT },
};

enum { SPACE_NAME, SPACE_USED, SPACE_COMMITTED, SPACE_MAX, N_SPACE };
static const struct field space_fields[N_SPACE] = {
	[SPACE_NAME]      = { "", "%:", "space", CELL_TEXT },
	[SPACE_USED]      = { "", "% used", "used", CELL_BYTES },
	[SPACE_COMMITTED] = { "", "% committed", "committed", CELL_BYTES },
	[SPACE_MAX]       = { "", "% max", "max", CELL_BYTES },
};

enum { COLLECTOR_NAME, COLLECTOR_COUNT, COLLECTOR_TIME, N_COLLECTOR };
static const struct field collector_fields[N_COLLECTOR] = {
	[COLLECTOR_NAME]  = { "", "%:", "collector", CELL_TEXT },
	[COLLECTOR_COUNT] = { "", NULL, "count", CELL_NUMBER },
	[COLLECTOR_TIME]  = { "", "% s", "time", CELL_REAL },
};

enum { AGENT_WORDS, AGENT_KIND, AGENT_NAME, AGENT_OPTIONS, AGENT_MAKER, AGENT_AT_STARTUP, N_AGENT };
static const struct field agent_fields[N_AGENT] = {
	[AGENT_WORDS]     = { "", NULL, NULL, CELL_TEXT },
	[AGENT_KIND]      = { NULL, NULL, "kind", CELL_TEXT },
	[AGENT_NAME]      = { NULL, NULL, "name", CELL_TEXT },
	[AGENT_OPTIONS]   = { NULL, NULL, "options", CELL_TEXT },
	[AGENT_MAKER]     = { NULL, NULL, "by", CELL_TEXT },
	[AGENT_AT_STARTUP] = { NULL, NULL, "at_startup", CELL_BOOL },
};
/* clang-format on */

/* Sets a field to a number; leaves it unset if the number is -1 (unknown). */
static void put_number(struct record *s, size_t field, int64_t value)
{
	if (value >= 0)
		record_number(s, field, value);
}

static void put_real(struct record *s, size_t field, double value)
{
	if (value >= 0)
		record_real(s, field, value);
}

static void put_started(struct record *s, double started)
{
	time_t t = (time_t)started;
	struct tm tm;
	char text[40];

	if (started >= 0 && gmtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
		record_text(s, STARTED, text);
}

static void put_state(struct record *s, const struct info *info)
{
	_cleanup_free_ char *words = NULL;
	char state = info->process.status.state;

	record_text(s, STATE, state == 'T' ? "stopped" : state == 't' ? "traced" : "running");
	if (state == 'T')
		words = xasprintf("by a signal; resume it with kill -CONT %d",
				  (int)info->jvm->pid);
	record_text(s, STOPPED, state == 't' ? "by a debugger" : words);
}

static void put_process(struct record *s, const struct info *info)
{
	const struct jvm *jvm = info->jvm;
	const struct process_info *v = &info->process;
	_cleanup_free_ char *user = jvm_user_name(jvm->uid);
	_cleanup_free_ char *words = process_info_attach_text(v, jvm);

	record_number(s, PID, jvm->pid);
	record_number(s, NSPID, jvm->nspid);
	if (jvm->nspid != jvm->pid)
		record_number(s, OUTER, jvm->nspid);
	put_state(s, info);
	record_text(s, MAIN, jvm->main ? jvm->main : info->answers.main);
	record_text(s, ARGS, jvm->main ? jvm->args : info->answers.args);
	record_text(s, USER, user);
	record_number(s, UID, jvm->uid);
	record_number(s, GID, jvm->gid);
	record_text(s, CONTAINER, jvm->container);
	record_text(s, PARENT_NAME, v->parent);
	if (v->usage.parent > 0)
		record_number(s, PARENT, v->usage.parent);
	put_started(s, v->started);
	put_real(s, UPTIME, jvm->uptime);
	record_text(s, ATTACH, attach_state_name(v->attach));
	record_text(s, ATTACH_WORDS, words);
}

static void put_java(struct record *s, const struct info *info)
{
	const struct process_info *v = &info->process;
	const struct vm_stats *f = &info->stats;

	record_text(s, VERSION, info->jvm->version);
	record_text(s, VM, info->jvm->vm ? info->jvm->vm : info->answers.vm);
	record_text(s, RELEASE, f->release ? f->release : info->answers.release);
	record_text(s, VENDOR, f->vendor);
	record_text(s, MODE, f->mode);
	record_text(s, HOME, f->home ? f->home : v->home);
	record_text(s, EXE, v->exe);
	record_text(s, CWD, v->cwd);
	record_text(s, FLAGS, info->answers.flags ? info->answers.flags : info->jvm->flags);
	for (size_t i = 0; i < N_PROCESS_OPTIONS; i++)
		record_text(s, OPTIONS + i, v->options[i]);
}

/*
 * Returns `used`, or -1 (unknown) if it is 0: a running JVM always uses heap, so 0 means that the
 * JVM has not published the value yet.
 */
static int64_t unless_zero(int64_t used)
{
	return used == 0 ? -1 : used;
}

/*
 * Returns the cause of a collection, or NULL for "No GC", which the JVM publishes while no
 * collection is running.
 */
static const char *unless_no_gc(const char *cause)
{
	return cause && strcmp(cause, "No GC") != 0 ? cause : NULL;
}

static void put_spaces(struct record *s, const struct vm_stats *f)
{
	record_items(s, SPACES);
	for (size_t i = 0; i < f->n_spaces; i++) {
		const struct space *space = &f->spaces[i];
		struct record *item = record_item(s, SPACES, space_fields, N_SPACE);

		record_text(item, SPACE_NAME, space->name);
		if (f->used != 0)
			put_number(item, SPACE_USED, space->used);
		put_number(item, SPACE_COMMITTED, space->committed);
		put_number(item, SPACE_MAX, space->max);
	}
}

static void put_collections(struct record *s, const struct vm_stats *f)
{
	record_items(s, COLLECTORS);
	for (size_t i = 0; i < f->n_collectors; i++) {
		const struct collector *c = &f->collectors[i];
		struct record *item = record_item(s, COLLECTORS, collector_fields, N_COLLECTOR);

		record_text(item, COLLECTOR_NAME, c->name);
		put_number(item, COLLECTOR_COUNT, c->count);
		put_real(item, COLLECTOR_TIME, c->seconds);
	}
	record_text(s, CAUSE, unless_no_gc(f->cause));
	record_text(s, LAST_CAUSE, unless_no_gc(f->last_cause));
}

static void put_stats(struct record *s, const struct info *info)
{
	const struct vm_stats *f = &info->stats;

	put_number(s, USED, unless_zero(f->used));
	put_number(s, COMMITTED, f->committed);
	put_number(s, MAX, info->jvm->heap_max);
	put_spaces(s, f);
	put_number(s, META_USED, f->metaspace_used);
	put_number(s, META_COMMITTED, f->metaspace_committed);
	put_collections(s, f);
	put_number(s, SAFEPOINTS, f->safepoints);
	put_real(s, SAFEPOINT_TIME, f->safepoint_seconds);
	if (info->jvm->uptime > 0)
		put_real(s, SAFEPOINT_SHARE, 100 * f->safepoint_seconds / info->jvm->uptime);
	put_number(s, LOADED, f->classes_loaded);
	put_number(s, UNLOADED, f->classes_unloaded);
	put_number(s, LIVE, f->threads);
	put_number(s, DAEMONS, f->daemons);
	put_number(s, PEAK, f->threads_peak);
}

static void put_answers(struct record *s, const struct info *info)
{
	const struct dcmd_reply_heap *heap = &info->answers.heap;

	put_number(s, USED, unless_zero(heap->used));
	put_number(s, COMMITTED, heap->committed);
	put_number(s, MAX, heap->max >= 0 ? heap->max : info->jvm->heap_max);
	put_number(s, META_USED, heap->metaspace_used);
	put_number(s, META_COMMITTED, heap->metaspace_committed);
	if (info->process.attach != ATTACH_DENIED)
		record_text(s, WHY_NOT, info->why_not);
	record_text(s, QUERY_RESULT, info->query_result);
}

static void put_system(struct record *s, const struct process_info *v)
{
	put_real(s, CPU_USER, v->usage.user);
	put_real(s, CPU_SYSTEM, v->usage.system);
	put_number(s, RSS, v->usage.memory.resident);
	put_number(s, RSS_PEAK, v->usage.memory.resident_peak);
	put_number(s, SWAP, v->usage.memory.swapped);
	put_number(s, FILES, v->usage.open_files);
	put_number(s, FILES_MAX, v->usage.max_files);
	put_number(s, CGROUP_USED, v->cgroup.memory_used);
	put_number(s, CGROUP_MAX, v->cgroup.memory_limit);
	put_real(s, CGROUP_CPUS, v->cgroup.cpus);
}

/* Returns whether `a` is jtool's agent, mapped by the JVM, and was loaded at JVM startup. */
static bool is_at_startup(const struct agent *a)
{
	return a->kind == AGENT_MAPPED && a->maker == MADE_BY_JTOOL && !agents_is_staged(a->name);
}

static const char *origin(const struct agents *agents, const struct agent *a)
{
	static const char *const made_by[] = {
		[MADE_BY_OTHERS] = "",
		[MADE_BY_JDK] = ", of the JDK",
		[MADE_BY_JTOOL] = ", of jtool; idle unless a session runs",
	};

	if (alloc_recording_by(agents, a))
		return ", of jtool; recording since the JVM's start";
	return is_at_startup(a) ? ", of jtool; asleep until a command needs it" : made_by[a->maker];
}

/*
 * Returns the text for an agent.  For an agent that an option loads, this is the option as on the
 * command line; for a mapped agent, its file and origin.  The caller frees the text.
 */
static char *agent_words(const struct agents *agents, const struct agent *a)
{
	if (a->kind == AGENT_MAPPED)
		return xasprintf("%s%s", a->name, origin(agents, a));
	return xasprintf("-%s:%s%s%s", agent_kind_name(a->kind), a->name, a->options ? "=" : "",
			 a->options ? a->options : "");
}

static void put_agents(struct record *s, const struct agents *agents)
{
	static const char *const makers[] = {
		[MADE_BY_OTHERS] = NULL,
		[MADE_BY_JDK] = "jdk",
		[MADE_BY_JTOOL] = "jtool",
	};

	if (agents->mapped_known)
		record_items(s, AGENTS);
	for (size_t i = 0; i < agents->n; i++) {
		const struct agent *a = &agents->list[i];
		struct record *item = record_item(s, AGENTS, agent_fields, N_AGENT);
		_cleanup_free_ char *words = agent_words(agents, a);

		record_text(item, AGENT_WORDS, words);
		record_text(item, AGENT_KIND, agent_kind_name(a->kind));
		record_text(item, AGENT_NAME, a->name);
		record_text(item, AGENT_OPTIONS, a->options);
		record_text(item, AGENT_MAKER, makers[a->maker]);
		if (a->kind == AGENT_MAPPED && a->maker == MADE_BY_JTOOL)
			record_bool(item, AGENT_AT_STARTUP, is_at_startup(a));
	}
}

struct record *info_record(const struct info *info)
{
	struct record *s = record_new(fields, N_FIELDS);
	const struct jvm *jvm = info->jvm;
	_cleanup_free_ char *socket =
		xasprintf("%s/.java_pid%d", jvm_tmp(jvm), (int)jvm->nspid);

	put_process(s, info);
	put_java(s, info);
	record_text(s, GC, info->answers.gc ? info->answers.gc : jvm->gc);
	if (info->has_counters)
		put_stats(s, info);
	else
		put_answers(s, info);
	record_bool(s, ASKED, info->query_result != NULL);
	record_number(s, KERNEL_THREADS, info->process.status.threads);
	put_system(s, &info->process);
	put_agents(s, &info->process.agents);
	record_text(s, SOCKET, socket);
	record_text(s, COUNTERS, jvm->perfdata);
	record_text(s, TMP, jvm_tmp(jvm));
	return s;
}
