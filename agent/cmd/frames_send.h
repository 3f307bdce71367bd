/*
 * Sends stack frames and numbers them in the order in which they are sent.  Number 0, the unknown
 * stack frame, stands for all stack frames that could not be sent.  The names in a stack frame are
 * looked up when the stack frame is sent, on the agent thread; if the method's class has been
 * unloaded by then, the method's name is sent as "?".
 */
#ifndef JTOOL_AGENT_CMD_FRAMES_SEND_H
#define JTOOL_AGENT_CMD_FRAMES_SEND_H

#include "util/chan.h"
#include "util/hash_map.h"
#include "jvm/jvmti.h"
#include "wire/frame.h"

struct ag_frames {
	/*
	 * Maps a method and code offset to the number of the stack frame.  The `note` of an entry
	 * is the line number that ag_frames_note() stored, encoded; or 0 if it stored none.
	 */
	struct ag_hash_map known;
	/* maximum number of entries in `known`; a stack frame without an entry has the number 0 */
	uint32_t max;
	/* number of stack frames sent, including number 0, the unknown stack frame */
	uint32_t n;
	/* true after classes were restored: line numbers cannot be looked up any more */
	bool restored;
};

/*
 * Initialises *frames for at most max stack frames.  The table `known` grows to 32 bytes per stack
 * frame.  While it grows, the old and the new table together take 48 bytes per stack frame.
 */
int ag_frames_init(struct ag_jvm *jvm, struct ag_frames *frames, uint32_t max);
void ag_frames_release(struct ag_jvm *jvm, struct ag_frames *frames);

/* Returns true if ag_frames_send() would send at least one stack frame for this list. */
bool ag_frames_are_new(const struct ag_frames *frames, const jvmtiFrameInfo *list,
			     uint32_t n);
/*
 * Sends those stack frames of the list that were not sent before, in one FRAMES frame.  Does not
 * wait for the client if ag_chan_has_room() has returned true before the call.
 */
int ag_frames_send(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_frames *frames,
		   const jvmtiFrameInfo *list, uint32_t n);
/*
 * Looks up and stores the line numbers of those stack frames of the list that are not sent yet.
 * Call it before classes are restored, because restoring invalidates the frames' code offsets.
 */
void ag_frames_note(struct ag_jvm *jvm, struct ag_frames *frames, const jvmtiFrameInfo *list,
		    uint32_t n);
/* Returns the number of the stack frame; or 0 (the unknown stack frame) if it was not sent. */
uint32_t ag_frames_number(const struct ag_frames *frames, const jvmtiFrameInfo *frame);

#endif
