/*
 * Frames of stacks, numbered as they are first met.  All is done on the agent's thread: what was
 * unloaded meanwhile is "?".
 */
#ifndef JTOOL_AGENT_CMD_FRAMES_TELL_H
#define JTOOL_AGENT_CMD_FRAMES_TELL_H

#include "base/chan.h"
#include "base/numbers.h"
#include "jvm/ti.h"
#include "wire/frame.h"

struct ag_frames {
	struct ag_numbers known; /* method and place in it → number; its note: the line, if noted */
	uint32_t max;            /* what is beyond is unknown */
	uint32_t n;              /* how many were told */
	bool moved; /* classes were put back: where new ones stood in them is not told any more */
};

/* For max frames at most, whose table grows to 32 bytes each, or 64 for a moment. */
int ag_frames_init(struct ag_jvm *jvm, struct ag_frames *frames, uint32_t max);
void ag_frames_release(struct ag_jvm *jvm, struct ag_frames *frames);

/* Is there one among these that the client does not know yet? */
bool ag_frames_are_new(const struct ag_frames *frames, const jvmtiFrameInfo *list,
			     uint32_t n);
/*
 * Tell the client those that it does not know, in one frame; with a channel that has room for it
 * nobody is waited for.
 */
int ag_frames_tell(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_frames *frames,
			 const jvmtiFrameInfo *list, uint32_t n);
/* Remember the lines of those that are not told yet: before they move. */
void ag_frames_note(struct ag_jvm *jvm, struct ag_frames *frames, const jvmtiFrameInfo *list,
		    uint32_t n);
/* The number of one that was told. */
uint32_t ag_frames_number(const struct ag_frames *frames, const jvmtiFrameInfo *frame);

#endif
