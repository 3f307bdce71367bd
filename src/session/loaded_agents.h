/*
 * jtool agents that a target has mapped already: agents of earlier sessions, and agents that were
 * loaded at the JVM's start and sleep until a session wakes them (wake.h).  An agent's library and
 * its patches stay in the JVM after a session.
 *
 * To reach the patches, a session must wake or load exactly the image that has them.  The dynamic
 * linker finds an image that is already mapped by its path, even if the file has been deleted.
 */
#ifndef JTOOL_SESSION_LOADED_AGENTS_H
#define JTOOL_SESSION_LOADED_AGENTS_H

#include <stdbool.h>

#include "attach/target_ns.h"
#include "base/buf.h"
#include "base/err.h"

struct loaded_agent {
	char *path;       /* path in the target's root */
	uint64_t address; /* address at which the agent's code is mapped */
	bool this_build;  /* the agent belongs to this build of jtool */
	bool at_startup;  /* the JVM, not a session, has loaded the agent: at startup */
};

struct loaded_agents {
	struct loaded_agent *list; /* in no particular order */
	size_t n, cap;
	/* the target uses musl, whose linker never finds a deleted library by its path */
	bool musl;
};

void loaded_agents_release(struct loaded_agents *images);

/*
 * Finds mapped files named jtool-agent-HASH.so, and copies of jtool's agent with other names.
 * `agent` has the content of this build's agent.  Returns -1 with `err` set on failure.
 */
int loaded_agents_find(const struct jvm *jvm, const struct buf *agent,
		       struct loaded_agents *images, struct err *err) _must_check_;

/*
 * The part of loaded_agents_find() that runs in a worker, because the mapped files may be in file
 * systems that do not answer.
 */
int loaded_agents_inspect(const struct target_ns *ns, const struct buf *agent,
			  struct loaded_agents *images, struct err *err) _must_check_;
void loaded_agents_add_record(struct buf *out, const struct loaded_agents *images);
/*
 * Parses a record that loaded_agents_add_record() has appended to a worker's answer.  Returns
 * false, with `images` empty, if the bytes are not exactly one valid record.  Does no I/O.
 */
bool loaded_agents_parse(const char *data, size_t len, struct loaded_agents *images) _must_check_;

/* Returns the agent with this path, or NULL. */
const struct loaded_agent *loaded_agents_at(const struct loaded_agents *images, const char *path);

/*
 * Returns an image of this build's agent, or NULL.  If there are several, prefers one that sleeps.
 */
const struct loaded_agent *loaded_agents_own(const struct loaded_agents *images);

/* Returns a sleeping agent of another build, or NULL. */
const struct loaded_agent *loaded_agents_foreign(const struct loaded_agents *images);

/*
 * Returns the text on what to do if the JVM does not permit loading; the caller frees it.  `asleep`
 * is the agent that jtool tried to wake, or NULL.  `unwoken` is the error of the wake request; its
 * code is EXIT_DONE if the request was sent.
 */
char *loaded_agents_remedy(const struct loaded_agents *images, const struct loaded_agent *asleep,
			   const struct err *unwoken) _must_check_;

#endif
