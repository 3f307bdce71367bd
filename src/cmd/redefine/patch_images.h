/*
 * Lists and restores the patches in a JVM.  Each build of jtool has an agent library of its own,
 * which stays mapped and holds that build's patches.  Queries all mapped libraries, and loads none.
 */
#ifndef JTOOL_CMD_REDEFINE_PATCH_IMAGES_H
#define JTOOL_CMD_REDEFINE_PATCH_IMAGES_H

#include "cli/command.h"
#include "model/redefine/patches.h"
#include "session/loaded_agents.h"
#include "session/session.h"

/* Receives the session and the patches of one agent; they are only valid during the call. */
typedef int patch_images_visit_fn(struct session *s, const struct patches *patches, void *arg,
				  struct err *err);

enum patch_images_whose {
	PATCHED_BY_ALL,
	PATCHED_BY_OTHERS, /* by the agents of other builds only */
};

/* Finds the agents of the JVM, see loaded_agents.h.  Returns 0, or -1 with err set. */
int patch_images_find(const struct ctx *ctx, struct loaded_agents *images,
		      struct err *err) _must_check_;

/* Calls visit() for each agent.  Returns 0, or -1 with err set, also if a visit() returns -1. */
int patch_images_each(const struct ctx *ctx, enum patch_images_whose whose,
		      patch_images_visit_fn *visit, void *arg, struct err *err) _must_check_;

/* Selects the patches to restore, and receives the result. */
struct patch_images_restore {
	char *const *words; /* classes or globs */
	size_t n_words;     /* 0: all */
	const char *loader; /* NULL: any */
	bool *unmatched;    /* n_words elements; set to false for words that match a patch */
	/* called for each restored patch; may be NULL */
	void (*report)(const struct patches *patches, const struct patch_row *row, void *arg);
	void *arg;
	size_t n;           /* number of restored patches */
};

int patch_images_restore_selected(const struct ctx *ctx, struct patch_images_restore *restore,
				  struct err *err) _must_check_;

#endif
