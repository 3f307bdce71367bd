/* Agents in a JVM: those that its flags name, and agent libraries that it has mapped. */
#ifndef JTOOL_DISCOVER_AGENTS_H
#define JTOOL_DISCOVER_AGENTS_H

#include "proc/procfs.h"
#include "discover/jvm.h"

enum agent_kind {
	AGENT_LIB,    /* -agentlib:NAME */
	AGENT_PATH,   /* -agentpath:PATH */
	AGENT_JAVA,   /* -javaagent:PATH */
	AGENT_MAPPED, /* a mapped library that has an agent's entry points */
};

enum agent_maker {
	MADE_BY_OTHERS,
	MADE_BY_JDK,
	MADE_BY_JTOOL, /* found even without a session: the agent stays mapped after a session */
};

struct agent {
	enum agent_kind kind;
	enum agent_maker maker;
	/*
	 * AGENT_LIB: name of the library; AGENT_PATH: path of the library; AGENT_JAVA: path of the
	 * jar; AGENT_MAPPED: path of the library in the JVM's root
	 */
	char *name;
	char *options; /* NULL: none */
};

struct agents {
	struct agent *list;
	size_t n, cap;
	bool mapped_known; /* false: mappings could not be read, or are too many */
};

#define AGENTS_INIT { NULL, 0, 0, false }

void agents_release(struct agents *a);

/* Appends the agents that `flags` names; `flags` may be NULL.  Does no I/O. */
void agents_from_flags(struct agents *a, const char *flags);

/*
 * Appends mapped libraries that define Agent_OnLoad or Agent_OnAttach, with or without a suffix
 * _NAME (JEP 178).  Only the root user can open a library whose file was deleted, so jtool's own
 * agent, whose file a session deletes, is identified by its name.  A worker opens the libraries; if
 * the worker does not answer, a->mapped_known is false.
 */
void agents_from_maps(struct agents *a, const struct procfs *proc, const struct jvm *jvm);

/* Appends the mapped agents that a worker has found.  Returns false if the bytes are malformed. */
bool agents_parse(struct agents *a, const char *data, size_t len) _must_check_;

/*
 * Opens the file of a mapping.  Fails unless the file is a regular file, because a process may also
 * have mapped a device.  `root` is the target of the link PID/root (NULL: unreadable); root_fd is a
 * descriptor of that directory.  Only the root user can open a deleted file.  Returns a descriptor
 * or a negative errno.
 */
int agents_open_mapped(const struct procfs *proc, pid_t pid, int root_fd, const char *root,
		       const struct proc_map *map) _must_check_;

/* Returns true if the open file is an agent of jtool, whatever its name. */
bool agents_is_jtools(int fd);

/*
 * Returns true if the path is one that jtool uses to stage its agent for a session.  If a JVM has
 * mapped jtool's agent from another path, the JVM has loaded the agent at startup; such an agent
 * sleeps or records.
 */
bool agents_is_staged(const char *path);

/* Returns "agentlib", "agentpath", "javaagent" or "mapped". */
const char *agent_kind_name(enum agent_kind kind);

#endif
