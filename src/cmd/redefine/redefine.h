/* Declarations that the source files of the command redefine share. */
#ifndef JTOOL_CMD_REDEFINE_REDEFINE_H
#define JTOOL_CMD_REDEFINE_REDEFINE_H

#include "base/sha256.h"
#include "cmd/class/class_index.h"
#include "model/class/class_set.h"
#include "model/redefine/redefinition.h"

enum redefine_result {
	REDEFINE_FITS,       /* the class can be replaced */
	/*
	 * the JVM already runs this code, and the user named only the directory or jar of the file;
	 * if the user named the file itself, the result is REDEFINE_FITS
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
	struct buf why;              /* for REDEFINE_REFUSED: the reasons, each on its own line */
	struct buf notes;            /* for REDEFINE_FITS: warnings, each on its own line */
	char digest[SHA256_HEX_LEN + 1];
};

struct redefine_plan {
	struct redefine_item *items; /* one item for each class file of the caller */
	size_t n;
	size_t n_of[REDEFINE_NOT_LOADED + 1]; /* n_of[r]: number of items with the result r */
	struct redefinition_jvm jvm;
	size_t n_loaded; /* number of classes that the JVM has loaded */
	size_t next;     /* for redefine_compare(): index of the next item that gets a result */
};

void redefine_plan_release(struct redefine_plan *plan);

/*
 * Finds the loaded class for each file in `set`: the class that has the name of the file's class
 * and, unless `loader` is NULL, belongs to the loader `loader`.  Returns 0; or -1 with err set if
 * no file has a loaded class, or if one file has several loaded classes.
 */
int redefine_match(const struct ctx *ctx, struct redefine_plan *plan, const struct class_set *set,
		   struct class_index *index, const char *loader, struct err *err) _must_check_;

/* Compares each class file with the code that the JVM runs now, and sets the item's result. */
int redefine_compare(struct redefine_plan *plan, struct class_index *index,
		     struct err *err) _must_check_;

/*
 * Replaces the classes whose result is REDEFINE_FITS.  Sets *n_others to the number of replaced
 * classes whose new code is changed by transformers of other agents.  Returns 0, or -1 with err
 * set.
 */
int redefine_install(const struct redefine_plan *plan, struct class_index *index,
		     uint32_t *n_others, struct err *err) _must_check_;

#endif
