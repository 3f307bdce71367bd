/*
 * Sends an allocation profile to the client.
 *
 * While the profile runs, the agent does not wait for the client.  It sends stack frames during the
 * profile, if the channel has room, because the frames' classes may be unloaded later.  It sends
 * the counters of the allocation sites last.
 */
#ifndef JTOOL_AGENT_CMD_ALLOC_SEND_H
#define JTOOL_AGENT_CMD_ALLOC_SEND_H

#include "cmd/row_batch.h"
#include "cmd/frames_send.h"
#include "jvm/alloc/alloc_profile.h"

struct ag_alloc_sender {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct ag_alloc_profile *profile;
	struct ag_frames frames;
	uint32_t next_site; /* the stack frames of all earlier sites were sent */
};

/* All functions below that return an int return 0, or -1 if the channel is broken. */
int ag_alloc_send_begun(struct ag_alloc_sender *t);
/* Sends the state, or nothing if the channel has no room. */
int ag_alloc_send_state(struct ag_alloc_sender *t);
/* Sends the stack frames of new sites until the channel is full. */
int ag_alloc_send_frames(struct ag_alloc_sender *t);
/*
 * Stores the line numbers of stack frames that are not sent yet.  Call this function before classes
 * are restored.
 */
void ag_alloc_note_lines(struct ag_alloc_sender *t);

/*
 * The functions below wait for the client if the channel is full.
 *
 * ag_alloc_send_sites() sends all kinds (numbered classes, see jvm/alloc/alloc_classes.h), the
 * stack frames that are not sent yet, and the sites.
 */
int ag_alloc_send_sites(struct ag_alloc_sender *t);
int ag_alloc_send_note(void *sender, uint32_t note, const char *text, uint64_t n);
int ag_alloc_send_end(struct ag_alloc_sender *t, uint32_t end, jvmtiError code, uint32_t flags);

#endif
