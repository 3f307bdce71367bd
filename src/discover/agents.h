/*
 * Agents in a JVM: those that its flags name, and those that are mapped, whenever they came.
 */
#ifndef JTOOL_TARGET_AGENTS_H
#define JTOOL_TARGET_AGENTS_H

#include "proc/procfs.h"
#include "target/jvm.h"

enum agent_kind {
	AGENT_LIB,    /* -agentlib:NAME */
	AGENT_PATH,   /* -agentpath:PATH */
	AGENT_JAVA,   /* -javaagent:PATH */
	AGENT_MAPPED, /* a library with an agent's entry points */
};

enum agent_maker {
	MADE_BY_OTHERS,
	MADE_BY_JDK,
	MADE_BY_JTOOL, /* stays mapped behind a session */
};

struct agent {
	enum agent_kind kind;
	enum agent_maker maker;
	char *name;    /* of a library, or its path or the jar's; mapped ones as the JVM sees it */
	char *options; /* NULL: none */
};

struct agents {
	struct agent *list;
	size_t n, cap;
	bool mapped_known; /* false: the mappings are not ours to see, or too many */
};

#define AGENTS_INIT { NULL, 0, 0, false }

void agents_release(struct agents *a);

/* Append those of a text of flags, which may be NULL.  Pure. */
void agents_of_flags(struct agents *a, const char *flags);

/*
 * Append libraries that define Agent_OnLoad or Agent_OnAttach, as themselves or with _NAME behind
 * (JEP 178).  Of those whose file was deleted only root learns, but for jtool's own.
 */
void agents_of_maps(struct agents *a, const struct procfs *proc, const struct jvm *jvm);

/* "agentlib", "agentpath", "javaagent", "mapped". */
const char *agent_kind_name(enum agent_kind kind);

#endif
