/*
 * Sends stack frames and numbers them in the order in which they are first sent.  Names are looked
 * up on the agent thread; a method whose class is unloaded by then is sent as "?".
 */
#ifndef JTOOL_AGENT_CMD_FRAMES_SEND_H
#define JTOOL_AGENT_CMD_FRAMES_SEND_H

#include "util/chan.h"
#include "util/hash_map.h"
#include "jvm/jvmti.h"
#include "wire/frame.h"

struct ag_frames {
	struct ag_hash_map known; /* method and code offset → number; note: encoded line or 0 */
	uint32_t max;             /* maximum entries of `known`; further ones become unknown */
	uint32_t n;               /* stack frames sent; number 0 is the unknown one */
	bool restored; /* classes were restored: code offsets in unsent stack frames are invalid */
};

/*
 * Makes room for max stack frames.  The table grows to 32 bytes for each, to 48 while it is copied.
 */
int ag_frames_init(struct ag_jvm *jvm, struct ag_frames *frames, uint32_t max);
void ag_frames_release(struct ag_jvm *jvm, struct ag_frames *frames);

/* Returns true if ag_frames_send() would send a stack frame of this list, or the unknown one. */
bool ag_frames_are_new(const struct ag_frames *frames, const jvmtiFrameInfo *list,
			     uint32_t n);
/*
 * Sends the stack frames of the list that are new, in one FRAMES.  Does not wait if the channel has
 * room for a payload.
 */
int ag_frames_send(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_frames *frames,
		   const jvmtiFrameInfo *list, uint32_t n);
/*
 * Stores the lines of the stack frames that are not sent yet.  Call it before classes are restored.
 */
void ag_frames_note(struct ag_jvm *jvm, struct ag_frames *frames, const jvmtiFrameInfo *list,
		    uint32_t n);
/* Returns the number of a stack frame that was sent, else that of the unknown one. */
uint32_t ag_frames_number(const struct ag_frames *frames, const jvmtiFrameInfo *frame);

#endif
