/* Compares a class file with the code that a JVM runs, method by method. */
#ifndef JTOOL_MODEL_CLASS_CODE_DIFF_H
#define JTOOL_MODEL_CLASS_CODE_DIFF_H

#include "model/class/class_capture.h"

enum code_diff_kind {
	CODE_DIFF_CODE,   /* the JVM and the file have the method, with different code */
	CODE_DIFF_MEMORY, /* only the JVM has the method */
	CODE_DIFF_FILE,   /* only the file has the method */
};

struct code_diff_row {
	enum code_diff_kind kind;
	char *method; /* as javasig_member_name() prints it: "int f(long, java.lang.String[])" */
};

struct code_diff {
	struct code_diff_row *rows; /* in the file's order; rows with CODE_DIFF_MEMORY come last */
	size_t n, cap;
	size_t n_same; /* number of methods with equivalent code */
};

void code_diff_release(struct code_diff *diff);

/*
 * Compares the running class with the class file `file`, and fills in *diff, which must be empty.
 * The running code of a method is the captured bytecode of the method; if there is none, the code
 * in the captured class file.  A capture without a class file must have the bytecode of all
 * methods.  Returns NULL; or, if `running` cannot be read, the reason.
 */
const char *code_diff_compare(struct code_diff *diff, const struct class_capture *running,
			      const struct cf_class *file) _must_check_;

/* Returns "code differs", "only in memory" or "only in the file". */
const char *code_diff_word(enum code_diff_kind kind);

#endif
