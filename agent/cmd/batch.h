/*
 * Rows by the thousand: frames that begin with the number of their rows, each as long as is
 * good for the channel.  No other frame may be begun before the batch is ended.
 */
#ifndef JTOOL_AGENT_CMD_BATCH_H
#define JTOOL_AGENT_CMD_BATCH_H

#include "base/chan.h"

struct ag_batch {
	struct ag_chan *chan;
	uint16_t type;
	struct wire_writer *w; /* NULL: no frame is begun */
	uint32_t n;            /* rows in it */
};

/* Where the next row goes, which takes len bytes; NULL when the channel is broken. */
struct wire_writer *ag_batch_row(struct ag_batch *batch, size_t len);
/*
 * Room for len bytes more, in the frame that is begun or in a new one, such that gathering them
 * waits for nobody; a patient caller waits for the client before that.  0, AG_BATCH_FULL, or -1.
 */
#define AG_BATCH_FULL 1
int ag_batch_room(struct ag_batch *batch, size_t len, bool patient);
/* Complete the frame, if one is begun. */
int ag_batch_end(struct ag_batch *batch);

#endif
