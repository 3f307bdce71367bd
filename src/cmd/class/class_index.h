/* A session and the list of loaded classes, for the commands that work on classes. */
#ifndef JTOOL_CMD_CLASS_CLASS_INDEX_H
#define JTOOL_CMD_CLASS_CLASS_INDEX_H

#include "cli/command.h"
#include "model/class/class_capture.h"
#include "model/class/classes.h"
#include "session/session.h"

struct class_index {
	struct session *session;
	struct classes classes;
	uint64_t capture_ns; /* time that the agent took for the last capture */
};

/* Opens the session and requests the classes, sorted by name; flags are WIRE_CLASSES_*. */
int class_index_open(const struct ctx *ctx, uint32_t flags, struct class_index *r,
		     struct err *err) _must_check_;
/* Closes the session and frees the list.  Returns -1 if the agent could not undo everything. */
int class_index_close(struct class_index *r, struct err *err);

/*
 * Returns the name of the loaded class that the simple name `word` stands for, or `word`; see
 * type_name_resolve().  The name belongs to the index.
 */
const char *class_index_resolve(const struct class_index *r, const char *word, struct err *err)
	_must_check_;

/*
 * Keeps only the classes that match the words and the loader (classes_select).  A word that matches
 * no class is an error (EXIT_ANSWER) that suggests the nearest name.
 */
int class_index_select(const struct ctx *ctx, struct class_index *r, char *const *words,
		       size_t n_words, const char *loader, struct err *err) _must_check_;

/* The same for the arguments of the command, which may be simple names. */
int class_index_select_args(const struct ctx *ctx, struct class_index *r, const char *loader,
			    struct err *err) _must_check_;

/*
 * Receives one captured class, whose outcome is never WIRE_CAPTURED_RETRANSFORMED, and its row.
 * `captured` is only valid during the call.  Returns 0, or -1 with err set to end early.
 */
typedef int class_index_take_fn(const struct class_row *row, struct class_capture *captured,
				void *arg, struct err *err);

/*
 * Captures these classes, in this order, and passes each to take(), which may be slow because the
 * agent is idle then.  flags are WIRE_CAPTURE_*.  Fails with EXIT_AGENT if the JVM retransformed a
 * class instead of abandoning the retransformation.
 */
int class_index_capture(struct class_index *r, const struct class_row *rows, size_t n,
			uint32_t flags, class_index_take_fn *take, void *arg,
			struct err *err) _must_check_;

/* Returns why there is no class file, or NULL if there is one.  The result may be in `text`. */
const char *class_index_why_no_file(const struct class_row *row,
				    const struct class_capture *captured, struct buf *text);

#endif
