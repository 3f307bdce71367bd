/* Declarations shared by the files of the command redefine. */
#ifndef JTOOL_CMD_REDEFINE_REDEFINE_H
#define JTOOL_CMD_REDEFINE_REDEFINE_H

#include "base/sha256.h"
#include "cmd/class/class_index.h"
#include "model/class/class_set.h"
#include "model/redefine/redefinition.h"

enum redefine_result {
	REDEFINE_FITS,       /* can be replaced */
	REDEFINE_SAME,       /* from a directory or jar, and the JVM runs the same code already */
	REDEFINE_REFUSED,    /* violates a redefinition limit */
	REDEFINE_NOT_LOADED,
};

/* One class file of the caller, and the loaded class that it replaces. */
struct redefine_item {
	const struct class_file *file;
	const struct class_row *row; /* NULL: not loaded */
	enum redefine_result result;
	struct buf why;              /* REFUSED: reasons, one a line */
	struct buf notes;            /* FITS: warnings, one a line */
	char digest[SHA256_HEX_LEN + 1];
};

struct redefine_plan {
	struct redefine_item *items; /* one for each file of the set */
	size_t n;
	size_t n_of[REDEFINE_NOT_LOADED + 1]; /* number of items by result */
	struct redefinition_jvm jvm;
	size_t n_loaded; /* classes in the JVM */
	size_t next;     /* index of the item for the next captured class (redefine_compare) */
};

void redefine_plan_release(struct redefine_plan *plan);

/* Finds each file's class.  Returns -1 with err set if no file has a class, or one has several. */
int redefine_match(const struct ctx *ctx, struct redefine_plan *plan, const struct class_set *set,
		   struct class_index *index, const char *loader, struct err *err) _must_check_;

/* Compares each file with the code that the JVM runs now, and sets the results. */
int redefine_compare(struct redefine_plan *plan, struct class_index *index,
		     struct err *err) _must_check_;

/* Replaces the classes that fit.  Sets *n_others: how many of them other agents then changed. */
int redefine_install(const struct redefine_plan *plan, struct class_index *index,
		     uint32_t *n_others, struct err *err) _must_check_;

#endif
