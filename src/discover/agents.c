#include "discover/agents.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"
#include "proc/elf.h"
#include "proc/inroot.h"
#include "proc/mounts.h"
#include "worker/worker.h"

#define JTOOLS_MARK "jtool_agent" /* symbol that only jtool's agent has, see agent/agent.c */
#define STAGED "/.jtool-" /* part of each staged file's path, see session/staging/staging_dir.h */
#define ANSWER_MAX (16u << 20) /* limit for the worker's answer in bytes */
#define SCAN_MS 1000 /* limit for a scan of a JVM's mappings; 40 libraries take about 5 ms */

void agents_release(struct agents *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->list[i].name);
		free(a->list[i].options);
	}
	free(a->list);
	*a = (struct agents)AGENTS_INIT;
}

static struct agent *add(struct agents *a, enum agent_kind kind, const char *name, size_t len)
{
	struct agent *agent;

	a->list = xgrow(a->list, a->n, &a->cap, sizeof(*a->list));
	agent = &a->list[a->n++];
	*agent = (struct agent){ .kind = kind, .name = xstrndup(name, len) };
	return agent;
}

/* Adds the agent that a flag names.  `text` is the flag's value, "NAME=OPTIONS", of `len` bytes. */
static void add_flag(struct agents *a, enum agent_kind kind, const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	size_t name_len = equals ? (size_t)(equals - text) : len;
	struct agent *agent = add(a, kind, text, name_len);

	if (equals)
		agent->options = xstrndup(equals + 1, len - name_len - 1);
}

void agents_from_flags(struct agents *a, const char *flags)
{
	static const struct {
		const char *prefix;
		enum agent_kind kind;
	} known[] = {
		{ "-agentlib:", AGENT_LIB },
		{ "-agentpath:", AGENT_PATH },
		{ "-javaagent:", AGENT_JAVA },
	};

	for (const char *word = flags ? flags : ""; *word;) {
		size_t len;

		word += strspn(word, " ");
		len = strcspn(word, " ");
		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			size_t n = strlen(known[i].prefix);

			if (len > n && memcmp(word, known[i].prefix, n) == 0)
				add_flag(a, known[i].kind, word + n, len - n);
		}
		word += len;
	}
}

static bool is_entry_point(const char *name, void *found)
{
	static const char *const entries[] = { "Agent_OnLoad", "Agent_OnAttach" };

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		size_t len = strlen(entries[i]);

		if (strncmp(name, entries[i], len) == 0 && (!name[len] || name[len] == '_'))
			*(bool *)found = true;
	}
	return !*(bool *)found;
}

/* State of the scan over the JVM's mappings. */
struct search {
	struct agents *agents;
	const struct procfs *proc;
	const struct jvm *jvm;
	char *root;
	int root_fd;
	char *last; /* path of the previous mapping; a mapping with the same path is skipped */
	/* limits the duration of the scan: a hostile JVM can map tens of thousands of files */
	struct deadline deadline;
	bool timed_out;
};

int agents_open_mapped(const struct procfs *proc, pid_t pid, int root_fd, const char *root,
		       const struct proc_map *map)
{
	_cleanup_free_ char *link = xasprintf("map_files/%s", map->range);
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!map->deleted)
		return inroot_open_regular(root_fd, inroot_path(map->path, root), O_NOFOLLOW,
					   &st);
	fd = procfs_openat(proc, pid, link, O_PATH);
	return fd < 0 ? fd : file_reopen_regular(fd, &st);
}

static bool is_mark(const char *name, void *found)
{
	*(bool *)found = strcmp(name, JTOOLS_MARK) == 0;
	return !*(bool *)found;
}

bool agents_is_jtools(int fd)
{
	bool found = false;

	return elf_exports(fd, JTOOLS_MARK, is_mark, &found) == 0 && found;
}

bool agents_is_staged(const char *path)
{
	return strstr(path, STAGED) != NULL;
}

/*
 * Returns true if the mapped file exports an agent's entry points.  If the file has jtool's symbol,
 * sets *maker to MADE_BY_JTOOL, because a copy of jtool's agent may have any name.
 */
static bool is_agent(const struct search *s, const struct proc_map *map, enum agent_maker *maker)
{
	_cleanup_close_ int fd =
		agents_open_mapped(s->proc, s->jvm->pid, s->root_fd, s->root, map);
	bool found = false;

	if (fd < 0 || elf_exports(fd, "Agent_On", is_entry_point, &found) < 0 || !found)
		return false;
	if (*maker == MADE_BY_OTHERS && agents_is_jtools(fd))
		*maker = MADE_BY_JTOOL;
	return true;
}

static enum agent_maker maker_of(const char *path)
{
	static const char *const of_jdk[] = { "libinstrument.so", "libjdwp.so", "libhprof.so" };
	const char *name = strrchr(path, '/') + 1; /* paths in maps are absolute */

	if (strncmp(name, "jtool-agent", 11) == 0)
		return MADE_BY_JTOOL;
	for (size_t i = 0; i < ARRAY_SIZE(of_jdk); i++) {
		if (strcmp(name, of_jdk[i]) == 0)
			return MADE_BY_JDK;
	}
	return MADE_BY_OTHERS;
}

static bool visit_map(const struct proc_map *map, void *arg)
{
	struct search *s = arg;
	enum agent_maker maker = maker_of(map->path);
	const char *path;

	if (s->last && strcmp(s->last, map->path) == 0)
		return true;
	s->timed_out = deadline_passed(s->deadline);
	if (s->timed_out)
		return false;
	free(s->last);
	s->last = xstrdup(map->path);
	/*
	 * A session of jtool deletes the file of its agent, and only the root user can open a
	 * deleted file.  So a deleted file with a name of jtool's agent is not opened, but counts
	 * as jtool's agent.
	 */
	if (!(maker == MADE_BY_JTOOL && map->deleted) && !is_agent(s, map, &maker))
		return true;
	path = inroot_path(map->path, s->root);
	add(s->agents, AGENT_MAPPED, path, strlen(path))->maker = maker;
	return true;
}

static void scan(struct agents *a, const struct procfs *proc, const struct jvm *jvm)
{
	_cleanup_close_ int root_fd =
		procfs_openat(proc, jvm->pid, "root", O_PATH | O_DIRECTORY);
	_cleanup_free_ char *root = procfs_readlink(proc, jvm->pid, "root");
	struct search s = {
		.agents = a, .proc = proc, .jvm = jvm, .root = root, .root_fd = root_fd,
		.deadline = deadline_in_ms(SCAN_MS),
	};

	a->mapped_known = root_fd >= 0 &&
			  procfs_code_maps(proc, jvm->pid, visit_map, &s) == 0 && !s.timed_out;
	free(s.last);
}

/*
 * The request to the worker.  The worker can use the pointers in the request, because it is a fork
 * of this process.
 */
struct query {
	const struct procfs *proc;
	const struct jvm *jvm;
};

/*
 * Runs in the worker.  Writes to `answer` a byte with mapped_known; then for each agent a byte with
 * its maker, and its path with a final NUL.
 */
static int answer_agents(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	struct agents found = AGENTS_INIT;
	struct query q;

	(void)fd;
	(void)err;
	memcpy(&q, request->data, sizeof(q));
	scan(&found, q.proc, q.jvm);
	buf_addc(answer, found.mapped_known);
	for (size_t i = 0; i < found.n; i++) {
		buf_addc(answer, (char)found.list[i].maker);
		buf_add(answer, found.list[i].name, strlen(found.list[i].name) + 1);
	}
	agents_release(&found);
	return 0;
}

bool agents_parse(struct agents *a, const char *data, size_t len)
{
	const char *end = data + len;

	if (len == 0 || (unsigned char)*data > 1)
		return false;
	a->mapped_known = *data++ == 1;
	while (data < end) {
		enum agent_maker maker = (enum agent_maker)(unsigned char)*data++;
		const char *nul = memchr(data, '\0', (size_t)(end - data));

		if ((unsigned)maker > MADE_BY_JTOOL || !nul || *data != '/')
			return false;
		add(a, AGENT_MAPPED, data, (size_t)(nul - data))->maker = maker;
		data = nul + 1;
	}
	return true;
}

void agents_from_maps(struct agents *a, const struct procfs *proc, const struct jvm *jvm)
{
	struct query q = { proc, jvm };
	const struct buf request = { (char *)&q, sizeof(q), 0 };
	const struct worker_call call = {
		.fn = answer_agents, .request = &request, .max = ANSWER_MAX,
		.deadline = deadline_in_ms(SCAN_MS + WORKER_TASK_MS),
		.here = mounts_are_local(proc, jvm->pid),
	};
	_cleanup_buf_ struct buf answer = BUF_INIT;
	struct err ignored = { .code = EXIT_DONE };

	a->mapped_known = false;
	if (!jvm->hung && worker_run(&call, &proc->fd, 1, &answer, NULL, &ignored) == 0 &&
	    !agents_parse(a, answer.data, answer.len))
		a->mapped_known = false;
}

const char *agent_kind_name(enum agent_kind kind)
{
	static const char *const names[] = {
		[AGENT_LIB] = "agentlib",
		[AGENT_PATH] = "agentpath",
		[AGENT_JAVA] = "javaagent",
		[AGENT_MAPPED] = "mapped",
	};

	return names[kind];
}
