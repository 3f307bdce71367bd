/*
 * Lists and restores the patches in a JVM.  Each build of jtool has its own agent library.  A
 * library stays mapped in the JVM, and has a list of the patches that its build has installed.  The
 * functions therefore ask all mapped libraries, and load none.
 */
#ifndef JTOOL_CMD_REDEFINE_PATCH_IMAGES_H
#define JTOOL_CMD_REDEFINE_PATCH_IMAGES_H

#include "cli/command.h"
#include "model/redefine/patches.h"
#include "session/loaded_agents.h"
#include "session/session.h"

/*
 * A function that receives a session with one agent, and this agent's patches.  Both are only valid
 * during the call.  Returns 0, or -1 with err set.
 */
typedef int patch_images_visit_fn(struct session *s, const struct patches *patches, void *arg,
				  struct err *err);

enum patch_images_whose {
	PATCHED_BY_ALL,
	PATCHED_BY_OTHERS, /* only patches that other builds of jtool have installed */
};

/*
 * Finds the agent libraries of jtool that the JVM has mapped (loaded_agents_find()).  Returns 0, or
 * -1 with err set.
 */
int patch_images_find(const struct ctx *ctx, struct loaded_agents *images,
		      struct err *err) _must_check_;

/*
 * Calls visit() for each agent, even if it has no patches.  Returns 0, or -1 with err set if a
 * visit() has failed, or if the patches of an agent cannot be read.
 */
int patch_images_each(const struct ctx *ctx, enum patch_images_whose whose,
		      patch_images_visit_fn *visit, void *arg, struct err *err) _must_check_;

/* The patches to restore, and the result. */
struct patch_images_restore {
	char *const *words; /* class names or globs */
	size_t n_words;     /* 0: restore all patches */
	const char *loader; /* restore only patches of classes of this loader; NULL: any */
	/*
	 * An element for each word.  The caller sets all to true; the element of a word that
	 * matches a patch becomes false.
	 */
	bool *unmatched;
	/* Called for each restored patch; may be NULL. */
	void (*report)(const struct patches *patches, const struct patch_row *row, void *arg);
	void *arg;
	size_t n;           /* number of restored patches */
};

int patch_images_restore_selected(const struct ctx *ctx, struct patch_images_restore *restore,
				  struct err *err) _must_check_;

#endif
