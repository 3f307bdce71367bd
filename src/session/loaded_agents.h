/*
 * jtool agents that a target has mapped already: those that sleep since the JVM's start, and those
 * of earlier sessions.  The library and its patches stay mapped after a session.
 *
 * To reach the patches, exactly the same image must be woken or loaded again; the dynamic linker
 * finds it by its path, even if the file is deleted.
 */
#ifndef JTOOL_SESSION_LOADED_AGENTS_H
#define JTOOL_SESSION_LOADED_AGENTS_H

#include <stdbool.h>

#include "attach/target_ns.h"
#include "base/buf.h"
#include "base/err.h"

struct loaded_agent {
	char *path;       /* as the target sees it */
	uint64_t address; /* where its code is mapped */
	bool this_build;  /* it is this program's agent */
	bool at_startup;  /* jtool has not staged it: the JVM has loaded it at startup */
};

struct loaded_agents {
	struct loaded_agent *list; /* in no particular order */
	size_t n, cap;
	bool musl; /* the target uses musl, which never finds a deleted library by its path */
};

void loaded_agents_release(struct loaded_agents *images);

/*
 * Finds mapped files named jtool-agent-HASH.so, and copies of jtool's agent with other names.
 * `agent` is the agent of this build.  Returns -1 with `err` set on failure.
 */
int loaded_agents_find(const struct jvm *jvm, const struct buf *agent,
		       struct loaded_agents *images, struct err *err) _must_check_;

/* Parts of loaded_agents_find(): a worker reads the files, as file systems may not answer. */
int loaded_agents_inspect(const struct target_ns *ns, const struct buf *agent,
			  struct loaded_agents *images, struct err *err) _must_check_;
void loaded_agents_add_record(struct buf *out, const struct loaded_agents *images);
/* Returns false, with `images` empty, unless the bytes are one valid record.  Pure. */
bool loaded_agents_parse(const char *data, size_t len, struct loaded_agents *images) _must_check_;

/* Returns the agent with this path, or NULL. */
const struct loaded_agent *loaded_agents_at(const struct loaded_agents *images, const char *path);

/* Returns this build's agent, preferably one that sleeps, or NULL. */
const struct loaded_agent *loaded_agents_own(const struct loaded_agents *images);

/* Returns another build's agent that sleeps, or NULL. */
const struct loaded_agent *loaded_agents_foreign(const struct loaded_agents *images);

/*
 * Returns what to do if the JVM permits no loading, which the caller frees.  `asleep` is the agent
 * that was asked to wake, or NULL; `unwoken` is why it could not be asked (EXIT_DONE: it was).
 */
char *loaded_agents_remedy(const struct loaded_agents *images, const struct loaded_agent *asleep,
			   const struct err *unwoken) _must_check_;

#endif
