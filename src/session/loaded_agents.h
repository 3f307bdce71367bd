/*
 * jtool agents that a target has mapped already: agents of earlier sessions, and agents that were
 * loaded at the JVM's start and sleep until a session wakes them (wake.h).  The mapped library of
 * an agent, its image, stays in the JVM after a session, and so do the agent's patches.
 *
 * To reach the patches, a session must wake or load exactly the image that has them.  To load it,
 * the session passes the image's path to the JVM.  glibc's dynamic linker compares that path with
 * the paths of all mapped images, so it finds the image even if the file has been deleted; musl's
 * linker finds the image only while the file exists.
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
	bool at_startup;  /* the JVM loaded the agent at startup; false: a session loaded it */
};

struct loaded_agents {
	struct loaded_agent *list; /* in no particular order */
	size_t n, cap;
	/* the target uses musl, whose linker never finds a deleted library by its path */
	bool musl;
};

void loaded_agents_release(struct loaded_agents *images);

/*
 * Finds the agents of jtool among the files that the JVM has mapped: files that are named
 * jtool-agent-HASH.so, and copies of an agent under another name.  `agent` has the content of this
 * build's agent.  Returns 0, or -1 with `err` set.
 */
int loaded_agents_find(const struct jvm *jvm, const struct buf *agent,
		       struct loaded_agents *images, struct err *err) _must_check_;

/*
 * Does the work of loaded_agents_find().  Runs in a worker process if the mapped files may be in
 * file systems that do not answer.  Returns 0, or -1 with `err` set.
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
 * Returns an image of this build's agent, or NULL.  If there are several images, prefers one that
 * the JVM has loaded at startup, because its agent sleeps and can be woken.
 */
const struct loaded_agent *loaded_agents_own(const struct loaded_agents *images);

/* Returns a sleeping agent of another build, or NULL. */
const struct loaded_agent *loaded_agents_foreign(const struct loaded_agents *images);

/*
 * Returns a text that says what to do if the JVM does not permit loading an agent; the caller frees
 * the text.  `asleep` is the agent that jtool tried to wake; NULL: none.  `unwoken` says why jtool
 * could not send the wake request; if it was sent, the code of `unwoken` is EXIT_DONE.
 */
char *loaded_agents_remedy(const struct loaded_agents *images, const struct loaded_agent *asleep,
			   const struct err *unwoken) _must_check_;

#endif
