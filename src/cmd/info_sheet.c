#include "cmd/info.h"

#include <string.h>
#include <time.h>

#include "base/xalloc.h"
#include "cmd/recorded.h"

enum {
	PID, OUTER, NSPID, STOPPED, STATE, MAIN, ARGS, USER, UID, GID, CONTAINER,
	PARENT_NAME, PARENT, STARTED, UPTIME, ATTACH, ATTACH_WORDS,
	GAP_JAVA, VERSION, VM, RELEASE, VENDOR, MODE, HOME, EXE, CWD, FLAGS, OPTIONS,
	GAP_HEAP = OPTIONS + N_VITALS_OPTIONS, GC, USED, COMMITTED, MAX, SPACES, META_USED,
	META_COMMITTED, COLLECTORS, CAUSE, LAST_CAUSE, SAFEPOINTS, SAFEPOINT_TIME,
	SAFEPOINT_SHARE, LOADED, UNLOADED, LIVE, DAEMONS, PEAK, KERNEL_THREADS,
	WHY_NOT, INSTEAD, ASKED,
	GAP_SYSTEM, CPU_USER, CPU_SYSTEM, RSS, RSS_PEAK, SWAP, FILES, FILES_MAX,
	CGROUP_USED, CGROUP_MAX, CGROUP_CPUS,
	GAP_AGENTS, AGENTS, SOCKET, COUNTERS, TMP,
	N_FIELDS,
};

/* clang-format off */
static const struct field fields[N_FIELDS] = {
	[PID]             = { "Pid", NULL, "pid", FIELD_NUMBER },
	[OUTER]           = { "Pid", "% in its own namespace", NULL, FIELD_NUMBER },
	[NSPID]           = { NULL, NULL, "nspid", FIELD_NUMBER },
	[STOPPED]         = { "STOPPED", NULL, NULL, FIELD_TEXT },
	[STATE]           = { NULL, NULL, "state", FIELD_TEXT },
	[MAIN]            = { "Main", NULL, "main", FIELD_TEXT },
	[ARGS]            = { "Arguments", NULL, "args", FIELD_TEXT },
	[USER]            = { "User", NULL, "user", FIELD_TEXT },
	[UID]             = { "User", "uid %", "uid", FIELD_NUMBER },
	[GID]             = { "User", "gid %", "gid", FIELD_NUMBER },
	[CONTAINER]       = { "Container", NULL, "container", FIELD_TEXT },
	[PARENT_NAME]     = { "Parent", NULL, "parent_name", FIELD_TEXT },
	[PARENT]          = { "Parent", "pid %", "parent", FIELD_NUMBER },
	[STARTED]         = { "Started", NULL, "started", FIELD_TEXT },
	[UPTIME]          = { "Started", "% ago", "uptime", FIELD_SECONDS },
	[ATTACH]          = { "Attach", "%:", "attach", FIELD_TEXT },
	[ATTACH_WORDS]    = { "Attach", NULL, NULL, FIELD_TEXT },

	[GAP_JAVA]        = { "", NULL, NULL, FIELD_TEXT },
	[VERSION]         = { "Java", NULL, "version", FIELD_TEXT },
	[VM]              = { "Java", NULL, "vm", FIELD_TEXT },
	[RELEASE]         = { "Java", NULL, "vm_version", FIELD_TEXT },
	[VENDOR]          = { "Java", "of %", "vm_vendor", FIELD_TEXT },
	[MODE]            = { "Java", NULL, "vm_mode", FIELD_TEXT },
	[HOME]            = { "Home", NULL, "java_home", FIELD_TEXT },
	[EXE]             = { "Program", NULL, "exe", FIELD_TEXT },
	[CWD]             = { "Directory", NULL, "cwd", FIELD_TEXT },
	[FLAGS]           = { "Flags", NULL, "flags", FIELD_TEXT },
	[OPTIONS + VITALS_TOOL_OPTIONS] =
		{ "JAVA_TOOL_OPTIONS", NULL, "JAVA_TOOL_OPTIONS", FIELD_TEXT },
	[OPTIONS + VITALS_JDK_OPTIONS] =
		{ "JDK_JAVA_OPTIONS", NULL, "JDK_JAVA_OPTIONS", FIELD_TEXT },
	[OPTIONS + VITALS_OLD_OPTIONS] =
		{ "_JAVA_OPTIONS", NULL, "_JAVA_OPTIONS", FIELD_TEXT },

	[GAP_HEAP]        = { "", NULL, NULL, FIELD_TEXT },
	[GC]              = { "Heap", "%:", "gc", FIELD_TEXT },
	[USED]            = { "Heap", "% used", "heap_used", FIELD_BYTES },
	[COMMITTED]       = { "Heap", "% committed", "heap_committed", FIELD_BYTES },
	[MAX]             = { "Heap", "% at most", "heap_max", FIELD_BYTES },
	[SPACES]          = { "Spaces", NULL, "spaces", FIELD_ITEMS },
	[META_USED]       = { "Metaspace", "% used", "metaspace_used", FIELD_BYTES },
	[META_COMMITTED]  = { "Metaspace", "% committed", "metaspace_committed", FIELD_BYTES },
	[COLLECTORS]      = { "Collections", NULL, "collectors", FIELD_ITEMS },
	[CAUSE]           = { "Collects NOW", "because of: %", "gc_cause", FIELD_TEXT },
	[LAST_CAUSE]      = { "Last cause", NULL, "gc_last_cause", FIELD_TEXT },
	[SAFEPOINTS]      = { "Safepoints", NULL, "safepoints", FIELD_NUMBER },
	[SAFEPOINT_TIME]  = { "Safepoints", "% s", "safepoint_time", FIELD_REAL },
	[SAFEPOINT_SHARE] = { "Safepoints", "% % of its life", NULL, FIELD_REAL },
	[LOADED]          = { "Classes", "% loaded", "classes_loaded", FIELD_NUMBER },
	[UNLOADED]        = { "Classes", "% unloaded", "classes_unloaded", FIELD_NUMBER },
	[LIVE]            = { "Threads", "% live", "threads", FIELD_NUMBER },
	[DAEMONS]         = { "Threads", "% of them daemons", "threads_daemon", FIELD_NUMBER },
	[PEAK]            = { "Threads", "peak %", "threads_peak", FIELD_NUMBER },
	[KERNEL_THREADS]  = { "Threads", "% in the kernel", "threads_kernel", FIELD_NUMBER },
	[WHY_NOT]         = { "No counters", NULL, NULL, FIELD_TEXT },
	[INSTEAD]         = { "Asked", NULL, NULL, FIELD_TEXT },
	[ASKED]           = { NULL, NULL, "asked", FIELD_BOOL },

	[GAP_SYSTEM]      = { "", NULL, NULL, FIELD_TEXT },
	[CPU_USER]        = { "CPU time", "% s user", "cpu_user", FIELD_REAL },
	[CPU_SYSTEM]      = { "CPU time", "% s system", "cpu_system", FIELD_REAL },
	[RSS]             = { "Memory", "% resident", "rss", FIELD_BYTES },
	[RSS_PEAK]        = { "Memory", "peak %", "rss_peak", FIELD_BYTES },
	[SWAP]            = { "Memory", "% swapped out", "swap", FIELD_BYTES },
	[FILES]           = { "Files", "% open", "files", FIELD_NUMBER },
	[FILES_MAX]       = { "Files", "% at most", "files_max", FIELD_NUMBER },
	[CGROUP_USED]     = { "Cgroup", "% of memory used", "cgroup_memory_used", FIELD_BYTES },
	[CGROUP_MAX]      = { "Cgroup", "% at most", "cgroup_memory_max", FIELD_BYTES },
	[CGROUP_CPUS]     = { "Cgroup", "% CPUs", "cgroup_cpus", FIELD_REAL },

	[GAP_AGENTS]      = { "", NULL, NULL, FIELD_TEXT },
	[AGENTS]          = { "Agents", NULL, "agents", FIELD_ITEMS },
	[SOCKET]          = { "Socket", NULL, "attach_socket", FIELD_TEXT },
	[COUNTERS]        = { "Counters", NULL, "perf_file", FIELD_TEXT },
	[TMP]             = { NULL, NULL, "tmp", FIELD_TEXT },
};

enum { SPACE_NAME, SPACE_USED, SPACE_COMMITTED, SPACE_MAX, N_SPACE };
static const struct field space_fields[N_SPACE] = {
	[SPACE_NAME]      = { "", "%:", "space", FIELD_TEXT },
	[SPACE_USED]      = { "", "% used", "used", FIELD_BYTES },
	[SPACE_COMMITTED] = { "", "% committed", "committed", FIELD_BYTES },
	[SPACE_MAX]       = { "", "% at most", "max", FIELD_BYTES },
};

enum { COLLECTOR_NAME, COLLECTOR_COUNT, COLLECTOR_TIME, N_COLLECTOR };
static const struct field collector_fields[N_COLLECTOR] = {
	[COLLECTOR_NAME]  = { "", "%:", "collector", FIELD_TEXT },
	[COLLECTOR_COUNT] = { "", NULL, "count", FIELD_NUMBER },
	[COLLECTOR_TIME]  = { "", "% s", "time", FIELD_REAL },
};

enum { AGENT_WORDS, AGENT_KIND, AGENT_NAME, AGENT_OPTIONS, AGENT_MAKER, N_AGENT };
static const struct field agent_fields[N_AGENT] = {
	[AGENT_WORDS]     = { "", NULL, NULL, FIELD_TEXT },
	[AGENT_KIND]      = { NULL, NULL, "kind", FIELD_TEXT },
	[AGENT_NAME]      = { NULL, NULL, "name", FIELD_TEXT },
	[AGENT_OPTIONS]   = { NULL, NULL, "options", FIELD_TEXT },
	[AGENT_MAKER]     = { NULL, NULL, "by", FIELD_TEXT },
};
/* clang-format on */

/* What is unknown is -1. */
static void put_number(struct sheet *s, size_t field, int64_t value)
{
	if (value >= 0)
		sheet_number(s, field, value);
}

static void put_real(struct sheet *s, size_t field, double value)
{
	if (value >= 0)
		sheet_real(s, field, value);
}

static void put_started(struct sheet *s, double started)
{
	time_t t = (time_t)started;
	struct tm tm;
	char text[40];

	if (started >= 0 && gmtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
		sheet_text(s, STARTED, text);
}

static void put_state(struct sheet *s, const struct info *info)
{
	_cleanup_free_ char *words = NULL;
	char state = info->vitals.status.state;

	sheet_text(s, STATE, state == 'T' ? "stopped" : state == 't' ? "traced" : "running");
	if (state == 'T')
		words = xasprintf("by a signal; it does nothing at all before kill -CONT %d",
				  (int)info->jvm->pid);
	sheet_text(s, STOPPED, state == 't' ? "by a debugger; it does nothing at all" : words);
}

static void put_process(struct sheet *s, const struct info *info)
{
	const struct jvm *jvm = info->jvm;
	const struct vitals *v = &info->vitals;
	_cleanup_free_ char *user = jvm_user_name(jvm->uid);
	_cleanup_free_ char *words = vitals_attach_words(v, jvm);

	sheet_number(s, PID, jvm->pid);
	sheet_number(s, NSPID, jvm->nspid);
	if (jvm->nspid != jvm->pid)
		sheet_number(s, OUTER, jvm->nspid);
	put_state(s, info);
	sheet_text(s, MAIN, jvm->main ? jvm->main : info->told.main);
	sheet_text(s, ARGS, jvm->main ? jvm->args : info->told.args);
	sheet_text(s, USER, user);
	sheet_number(s, UID, jvm->uid);
	sheet_number(s, GID, jvm->gid);
	sheet_text(s, CONTAINER, jvm->container);
	sheet_text(s, PARENT_NAME, v->parent);
	if (v->usage.parent > 0)
		sheet_number(s, PARENT, v->usage.parent);
	put_started(s, v->started);
	put_real(s, UPTIME, jvm->uptime);
	sheet_text(s, ATTACH, attach_state_name(v->attach));
	sheet_text(s, ATTACH_WORDS, words);
}

static void put_java(struct sheet *s, const struct info *info)
{
	const struct vitals *v = &info->vitals;
	const struct figures *f = &info->figures;

	sheet_text(s, VERSION, info->jvm->version);
	sheet_text(s, VM, info->jvm->vm ? info->jvm->vm : info->told.vm);
	sheet_text(s, RELEASE, f->release ? f->release : info->told.release);
	sheet_text(s, VENDOR, f->vendor);
	sheet_text(s, MODE, f->mode);
	sheet_text(s, HOME, f->home ? f->home : v->home);
	sheet_text(s, EXE, v->exe);
	sheet_text(s, CWD, v->cwd);
	sheet_text(s, FLAGS, info->told.flags ? info->told.flags : info->jvm->flags);
	for (size_t i = 0; i < N_VITALS_OPTIONS; i++)
		sheet_text(s, OPTIONS + i, v->options[i]);
}

/* A running JVM uses some of its heap: 0 is what it has not published yet. */
static int64_t unless_zero(int64_t used)
{
	return used == 0 ? -1 : used;
}

/* What the JVM says where there is or was no collection. */
static const char *unless_no_gc(const char *cause)
{
	return cause && strcmp(cause, "No GC") != 0 ? cause : NULL;
}

static void put_spaces(struct sheet *s, const struct figures *f)
{
	sheet_items(s, SPACES);
	for (size_t i = 0; i < f->n_spaces; i++) {
		const struct space *space = &f->spaces[i];
		struct sheet *item = sheet_item(s, SPACES, space_fields, N_SPACE);

		sheet_text(item, SPACE_NAME, space->name);
		if (f->used != 0)
			put_number(item, SPACE_USED, space->used);
		put_number(item, SPACE_COMMITTED, space->committed);
		put_number(item, SPACE_MAX, space->max);
	}
}

static void put_collections(struct sheet *s, const struct figures *f)
{
	sheet_items(s, COLLECTORS);
	for (size_t i = 0; i < f->n_collectors; i++) {
		const struct collector *c = &f->collectors[i];
		struct sheet *item = sheet_item(s, COLLECTORS, collector_fields, N_COLLECTOR);

		sheet_text(item, COLLECTOR_NAME, c->name);
		put_number(item, COLLECTOR_COUNT, c->count);
		put_real(item, COLLECTOR_TIME, c->seconds);
	}
	sheet_text(s, CAUSE, unless_no_gc(f->cause));
	sheet_text(s, LAST_CAUSE, unless_no_gc(f->last_cause));
}

static void put_figures(struct sheet *s, const struct info *info)
{
	const struct figures *f = &info->figures;

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

static void put_told(struct sheet *s, const struct info *info)
{
	const struct vmtold_heap *heap = &info->told.heap;

	put_number(s, USED, unless_zero(heap->used));
	put_number(s, COMMITTED, heap->committed);
	put_number(s, MAX, heap->max >= 0 ? heap->max : info->jvm->heap_max);
	put_number(s, META_USED, heap->metaspace_used);
	put_number(s, META_COMMITTED, heap->metaspace_committed);
	if (info->vitals.attach != ATTACH_DENIED)
		sheet_text(s, WHY_NOT, info->why_not);
	sheet_text(s, INSTEAD, info->instead);
}

static void put_system(struct sheet *s, const struct vitals *v)
{
	put_real(s, CPU_USER, v->usage.user);
	put_real(s, CPU_SYSTEM, v->usage.system);
	put_number(s, RSS, v->usage.resident);
	put_number(s, RSS_PEAK, v->usage.resident_peak);
	put_number(s, SWAP, v->usage.swapped);
	put_number(s, FILES, v->usage.open_files);
	put_number(s, FILES_MAX, v->usage.max_files);
	put_number(s, CGROUP_USED, v->cgroup.memory_used);
	put_number(s, CGROUP_MAX, v->cgroup.memory_limit);
	put_real(s, CGROUP_CPUS, v->cgroup.cpus);
}

/* As on the command line, or the file and whose it is. */
static char *agent_words(const struct agents *agents, const struct agent *a)
{
	static const char *const made_by[] = {
		[MADE_BY_OTHERS] = "",
		[MADE_BY_JDK] = ", of the JDK",
		[MADE_BY_JTOOL] = ", of jtool: does nothing unless a session runs",
	};

	if (a->kind == AGENT_MAPPED)
		return xasprintf("%s%s", a->name, recorded_by(agents, a) ?
				 ", of jtool: records since the start" : made_by[a->maker]);
	return xasprintf("-%s:%s%s%s", agent_kind_name(a->kind), a->name, a->options ? "=" : "",
			 a->options ? a->options : "");
}

static void put_agents(struct sheet *s, const struct agents *agents)
{
	static const char *const makers[] = {
		[MADE_BY_OTHERS] = NULL,
		[MADE_BY_JDK] = "jdk",
		[MADE_BY_JTOOL] = "jtool",
	};

	if (agents->mapped_known)
		sheet_items(s, AGENTS);
	for (size_t i = 0; i < agents->n; i++) {
		const struct agent *a = &agents->list[i];
		struct sheet *item = sheet_item(s, AGENTS, agent_fields, N_AGENT);
		_cleanup_free_ char *words = agent_words(agents, a);

		sheet_text(item, AGENT_WORDS, words);
		sheet_text(item, AGENT_KIND, agent_kind_name(a->kind));
		sheet_text(item, AGENT_NAME, a->name);
		sheet_text(item, AGENT_OPTIONS, a->options);
		sheet_text(item, AGENT_MAKER, makers[a->maker]);
	}
}

struct sheet *info_sheet(const struct info *info)
{
	struct sheet *s = sheet_new(fields, N_FIELDS);
	const struct jvm *jvm = info->jvm;
	_cleanup_free_ char *socket =
		xasprintf("%s/.java_pid%d", jvm_tmp(jvm), (int)jvm->nspid);

	put_process(s, info);
	put_java(s, info);
	sheet_text(s, GC, info->told.gc ? info->told.gc : jvm->gc);
	if (info->counted)
		put_figures(s, info);
	else
		put_told(s, info);
	sheet_bool(s, ASKED, info->instead != NULL);
	sheet_number(s, KERNEL_THREADS, info->vitals.status.threads);
	put_system(s, &info->vitals);
	put_agents(s, &info->vitals.agents);
	sheet_text(s, SOCKET, socket);
	sheet_text(s, COUNTERS, jvm->perfdata);
	sheet_text(s, TMP, jvm_tmp(jvm));
	return s;
}
