/*
 * Reads the frames of a StackMapTable (JVMS 4.7.4), and writes them for the instrumented code.
 * Frames here are stack map frames.
 */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECT_MAPS_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECT_MAPS_H

#include "classfile/inject/inject_internal.h"

struct inj_frames {
	struct cf_bytes bytes;
	uint32_t left;             /* frames that are not read yet */
	uint32_t pc;               /* pc of the current frame; UINT32_MAX before the first one */
	struct cf_map_type *cells; /* local variables of the current frame, in injection.cells */
	uint32_t n_cells;
	/*
	 * `slots`: number of slots that `cells` take (a long or double takes 2); `max_slots`:
	 * max_locals of the method
	 */
	uint32_t slots, max_slots;
	struct cf_bytes stack;     /* stack of the current frame, encoded as in the table */
	uint32_t n_stack;
	bool failed;               /* the table is malformed */
};

/*
 * Estimates the work of writing the method's frames as full frames, and increases in->work by the
 * estimate.  Returns true if in->work then exceeds its limit.
 */
bool inj_maps_take_too_long(struct injection *in);

/*
 * Opens the method's StackMapTable.  After that, the current frame is the one at the method's
 * entry, which is not in the table: the method's parameters imply it (JVMS 4.10.1.6).
 */
void inj_frames_open(struct inj_frames *f, struct injection *in);
/* Reads the next frame.  Returns false after the last frame, or if the table is malformed. */
bool inj_frames_next(struct inj_frames *f);

/*
 * Returns true if a local variable or a stack cell of the current frame is the uninitialised
 * `this`.
 */
bool inj_frames_uninit(const struct inj_frames *f);
/* Returns true if local variable 0 of the current frame is the uninitialised `this`. */
bool inj_frames_this_first(const struct inj_frames *f);

/*
 * Writes the StackMapTable.  Adds the local variable of the token (inject.h) to every frame, and
 * adds frames for the inserted code.
 */
enum cf_refusal inj_maps_put(struct injection *in);
/* Writes the StackMapTable with new pcs.  Changes nothing else in the frames. */
enum cf_refusal inj_maps_move(struct injection *in);

#endif
