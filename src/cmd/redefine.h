/*
 * Parts of the command redefine.
 */
#ifndef JTOOL_CMD_REDEFINE_H
#define JTOOL_CMD_REDEFINE_H

#include "base/digest.h"
#include "cmd/roster.h"
#include "model/classset.h"
#include "model/redefinition.h"

enum redefine_result {
	REDEFINE_FITS,       /* nothing speaks against it */
	REDEFINE_SAME,       /* not named, and it runs that code already: left as it is */
	REDEFINE_REFUSED,    /* a limit is broken */
	REDEFINE_NOT_LOADED, /* there is no such class */
};

/* One class file of the user's, and the class that it is for. */
struct redefine_item {
	const struct class_file *file;
	const struct class_row *row; /* NULL: not loaded */
	enum redefine_result result;
	struct buf why;              /* lines, of REFUSED */
	struct buf notes;            /* lines: what may surprise, of FITS */
	char digest[DIGEST_LEN + 1];
};

struct redefine_plan {
	struct redefine_item *items; /* one for each file of the set */
	size_t n;
	size_t n_of[REDEFINE_NOT_LOADED + 1]; /* how many there are of each result */
	struct redefinition_jvm jvm;
	size_t n_loaded; /* classes in the JVM */
	/* while the running classes come in */
	size_t next;
};

void redefine_plan_release(struct redefine_plan *plan);

/* Find the class for each file.  -1 with err set: there is none at all, or several for one. */
int redefine_match(const struct ctx *ctx, struct redefine_plan *plan, const struct classset *set,
		   struct roster *roster, const char *loader, struct err *err) _must_check_;

/* Compare each with what the JVM runs now. */
int redefine_compare(struct redefine_plan *plan, struct roster *roster, struct err *err)
	_must_check_;

/* Replace those that fit.  *n_others: how many of them other agents changed further. */
int redefine_install(const struct redefine_plan *plan, struct roster *roster, uint32_t *n_others,
		     struct err *err) _must_check_;

#endif
