/*
 * A session with the agent and its list of loaded classes, for the commands that work on classes.
 */
#ifndef JTOOL_CMD_CLASS_CLASS_INDEX_H
#define JTOOL_CMD_CLASS_CLASS_INDEX_H

#include "cli/command.h"
#include "model/class/class_capture.h"
#include "model/class/classes.h"
#include "session/session.h"

struct class_index {
	struct session *session;
	struct classes classes;
	uint64_t capture_ns; /* time that the agent took for the last class_index_capture() */
};

/*
 * Opens the session, requests the loaded classes, and sorts them by name.  `flags` are
 * WIRE_CLASSES_* (agent/wire/frame.h).  Returns 0, or -1 with err set.
 */
int class_index_open(const struct ctx *ctx, uint32_t flags, struct class_index *r,
		     struct err *err) _must_check_;
/*
 * Closes the session and frees the list.  Returns -1 with err set if the agent could not restore
 * everything that it has changed in the JVM.
 */
int class_index_close(struct class_index *r, struct err *err);

/*
 * Returns the full name of the loaded class whose simple name is `word`, as type_name_resolve()
 * finds it; the index owns this name.  Returns `word` itself if `word` is not a simple name, or if
 * no loaded class has that simple name.  Returns NULL with err set if several have it.
 */
const char *class_index_resolve(const struct class_index *r, const char *word, struct err *err)
	_must_check_;

/*
 * Removes from r->classes the classes that do not match the words and the loader, as
 * classes_select() does.  If a word matches no class, or the loader is unknown, returns -1 with an
 * error (EXIT_ANSWER) that suggests a name.
 */
int class_index_select(const struct ctx *ctx, struct class_index *r, char *const *words,
		       size_t n_words, const char *loader, struct err *err) _must_check_;

/* Like class_index_select(), but `words` are the command's arguments, which may be simple names. */
int class_index_select_args(const struct ctx *ctx, struct class_index *r, const char *loader,
			    struct err *err) _must_check_;

/*
 * A function that receives a captured class and its row.  `captured` is valid only during the call.
 * A class with the outcome WIRE_CAPTURED_RETRANSFORMED is not passed: it ends the capture.  Returns
 * 0 to continue the capture; or -1, with err set, to end the capture.
 */
typedef int class_index_take_fn(const struct class_row *row, struct class_capture *captured,
				void *arg, struct err *err);

/*
 * Captures the class files of the `n` classes in `rows`, in this order, and passes each to take().
 * take() may be slow, because the agent's hook is not enabled while take() runs.  `flags` are
 * WIRE_CAPTURE_*.  Fails with EXIT_AGENT if the JVM has retransformed a class, which the agent's
 * hook should have prevented.
 */
int class_index_capture(struct class_index *r, const struct class_row *rows, size_t n,
			uint32_t flags, class_index_take_fn *take, void *arg,
			struct err *err) _must_check_;

/*
 * Returns the reason why a captured class has no class file; or NULL if the class has one.  The
 * reason is a constant or the content of `text`, so the caller must not release `text` while it
 * uses the reason.
 */
const char *class_index_why_no_file(const struct class_row *row,
				    const struct class_capture *captured, struct buf *text);

#endif
