/* Agents in a JVM: those that the JVM's flags name, and agent libraries that the JVM has mapped. */
#ifndef JTOOL_DISCOVER_AGENTS_H
#define JTOOL_DISCOVER_AGENTS_H

#include "proc/procfs.h"
#include "discover/jvm.h"

enum agent_kind {
	AGENT_LIB,    /* from a flag -agentlib:NAME */
	AGENT_PATH,   /* from a flag -agentpath:PATH */
	AGENT_JAVA,   /* from a flag -javaagent:PATH */
	AGENT_MAPPED, /* a mapped library that has an agent's entry points */
};

enum agent_maker {
	MADE_BY_OTHERS,
	MADE_BY_JDK,
	MADE_BY_JTOOL, /* may be from an ended session: the JVM does not unmap the library */
};

struct agent {
	enum agent_kind kind;
	enum agent_maker maker;
	/*
	 * AGENT_LIB: name of the library; AGENT_PATH: path of the library; AGENT_JAVA: path of the
	 * jar; AGENT_MAPPED: path of the library in the JVM's root
	 */
	char *name;
	char *options; /* the agent's options in the flag; NULL: none */
};

struct agents {
	struct agent *list;
	size_t n, cap;
	/* false: agents may be missing, because not all mappings could be checked */
	bool mapped_known;
};

#define AGENTS_INIT { NULL, 0, 0, false }

void agents_release(struct agents *a);

/* Appends the agents of the JVM's options in `flags`, which may be NULL.  Does no I/O. */
void agents_from_flags(struct agents *a, const char *flags);

/*
 * Appends the JVM's mapped libraries that define Agent_OnLoad or Agent_OnAttach, with or without a
 * suffix _NAME (JEP 178).  If a file system may not answer, a worker opens the libraries; if the
 * worker does not answer, sets a->mapped_known to false.
 *
 * A session deletes the file of jtool's agent, and only the root user can open a deleted file.  So
 * a deleted library with a name of jtool's agent is not opened, but counts as jtool's agent.
 */
void agents_from_maps(struct agents *a, const struct procfs *proc, const struct jvm *jvm);

/* Appends the mapped agents in a worker's answer.  Returns false if the answer is malformed. */
bool agents_parse(struct agents *a, const char *data, size_t len) _must_check_;

/*
 * Opens the file of a mapping.  Returns a descriptor or a negative errno.  Opens regular files
 * only, because a process may also have mapped a device.  Only the root user can open a deleted
 * file.  `root` is the path in the link PID/root (NULL: unreadable); root_fd is a descriptor of the
 * directory to which the link leads.
 */
int agents_open_mapped(const struct procfs *proc, pid_t pid, int root_fd, const char *root,
		       const struct proc_map *map) _must_check_;

/* Returns true if the open file `fd` is an agent of jtool, whatever the file's name is. */
bool agents_is_jtools(int fd);

/*
 * Returns true if `path` is a path at which a session stages jtool's agent.  If a JVM has
 * mapped jtool's agent from another path, the JVM has loaded the agent at startup; such an agent
 * sleeps until a session wakes it, or records allocations.
 */
bool agents_is_staged(const char *path);

/* Returns "agentlib", "agentpath", "javaagent" or "mapped". */
const char *agent_kind_name(enum agent_kind kind);

#endif
