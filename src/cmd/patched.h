/*
 * What jtool's agents hold in a JVM.  Each build of jtool has an agent of its own, which stays
 * mapped with its patches; all are asked.  Where none is mapped, none is loaded to be asked.
 */
#ifndef JTOOL_CMD_PATCHED_H
#define JTOOL_CMD_PATCHED_H

#include "cmd.h"
#include "model/patches.h"
#include "session/session.h"

/* The patches of one agent, with its session open; nothing of them may be kept. */
typedef int patched_visit_fn(struct session *s, const struct patches *patches, void *arg,
			     struct err *err);

enum patched_whose {
	PATCHED_BY_ALL,
	PATCHED_BY_OTHERS, /* not by this build's */
};

/* 0, or the first -1 of visit(), with err set. */
int patched_each(const struct ctx *ctx, enum patched_whose whose, patched_visit_fn *visit,
		 void *arg, struct err *err) _must_check_;

/* Which patches are to be put back, and what became of it. */
struct patched_restore {
	char *const *words; /* classes or globs */
	size_t n_words;     /* 0: all */
	const char *loader; /* NULL: of any */
	bool *idle;         /* n_words: cleared for those that some patch matched */
	/* told of each that was put back; may be NULL */
	void (*tell)(const struct patches *patches, const struct patch_row *row, void *arg);
	void *arg;
	size_t n;           /* patches that were put back */
};

int patched_put_back(const struct ctx *ctx, struct patched_restore *restore, struct err *err)
	_must_check_;

#endif
