/*
 * What an allocation profile tells its client.
 *
 * While it goes on the client is not waited for.  Frames are told as they come, as far as the
 * client takes them, for classes may be unloaded; figures are told in the end.
 */
#ifndef JTOOL_AGENT_CMD_ALLOC_TELL_H
#define JTOOL_AGENT_CMD_ALLOC_TELL_H

#include "cmd/batch.h"
#include "cmd/frames_tell.h"
#include "jvm/profile.h"

struct ag_alloc_telling {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct ag_profile *profile;
	struct ag_frames frames;
	uint32_t next_site; /* the frames of all before were told */
};

/* Each returns -1 when the channel is broken. */
int ag_alloc_tell_begun(struct ag_alloc_telling *t);
/* What there is room for: the state or nothing; frames of new sites. */
int ag_alloc_tell_state(struct ag_alloc_telling *t);
int ag_alloc_tell_frames(struct ag_alloc_telling *t);
/* Remember the lines of those frames that were not told: before classes are put back. */
void ag_alloc_note_lines(struct ag_alloc_telling *t);

/* From here on the client is waited for: kinds, the other frames, and all sites. */
int ag_alloc_tell_sites(struct ag_alloc_telling *t);
int ag_alloc_tell_note(void *telling, uint32_t note, const char *text, uint64_t n);
int ag_alloc_tell_end(struct ag_alloc_telling *t, uint32_t end, jvmtiError code, uint32_t flags);

#endif
