/* Declarations shared by the files of the command redefine. */
#ifndef JTOOL_CMD_REDEFINE_REDEFINE_H
#define JTOOL_CMD_REDEFINE_REDEFINE_H

#include "base/sha256.h"
#include "cmd/class/class_index.h"
#include "model/class/class_set.h"
#include "model/redefine/redefinition.h"

enum redefine_result {
	REDEFINE_FITS,       /* the class can be replaced */
	/*
	 * the JVM already runs this code, and the file is from a directory or jar; a file that the
	 * user named itself has REDEFINE_FITS instead
	 */
	REDEFINE_SAME,
	REDEFINE_REFUSED,    /* the change is one that HotSpot does not support */
	REDEFINE_NOT_LOADED,
};

/* A class file of the caller, and the loaded class whose code it will replace. */
struct redefine_item {
	const struct class_file *file;
	const struct class_row *row; /* NULL: the class is not loaded */
	enum redefine_result result;
	struct buf why;              /* for REDEFINE_REFUSED: the reasons, one a line */
	struct buf notes;            /* for REDEFINE_FITS: warnings, one a line */
	char digest[SHA256_HEX_LEN + 1];
};

struct redefine_plan {
	struct redefine_item *items; /* one item for each class file of the caller */
	size_t n;
	size_t n_of[REDEFINE_NOT_LOADED + 1]; /* number of items with each result */
	struct redefinition_jvm jvm;
	size_t n_loaded; /* number of classes that the JVM has loaded */
	size_t next;     /* in redefine_compare(): index of the item for the next captured class */
};

void redefine_plan_release(struct redefine_plan *plan);

/*
 * Finds the loaded class for each file in `set`: the class that has the name of the file's class
 * and, unless `loader` is NULL, belongs to the loader `loader`.  Returns -1 with err set if there
 * is a loaded class for none of the files, or if there are several for one file.
 */
int redefine_match(const struct ctx *ctx, struct redefine_plan *plan, const struct class_set *set,
		   struct class_index *index, const char *loader, struct err *err) _must_check_;

/* Compares each class file with the code that the JVM runs now, and sets the items' results. */
int redefine_compare(struct redefine_plan *plan, struct class_index *index,
		     struct err *err) _must_check_;

/*
 * Replaces the classes whose result is REDEFINE_FITS.  Sets *n_others to the number of these
 * classes that other agents have changed during the replacement.
 */
int redefine_install(const struct redefine_plan *plan, struct class_index *index,
		     uint32_t *n_others, struct err *err) _must_check_;

#endif
