/*
 * Sends rows in frames of about 48 KiB.  The caller must not begin any other frame on the channel
 * before it has called ag_row_batch_end().
 */
#ifndef JTOOL_AGENT_CMD_ROW_BATCH_H
#define JTOOL_AGENT_CMD_ROW_BATCH_H

#include "util/chan.h"

struct ag_row_batch {
	struct ag_chan *chan;
	uint16_t type;
	struct wire_writer *w; /* writer of the current frame; NULL: none */
	uint32_t n;            /* rows in the current frame */
};

/*
 * Returns the writer to which the caller writes a row of len bytes, or NULL if the channel is
 * broken.
 */
struct wire_writer *ag_row_batch_row(struct ag_row_batch *batch, size_t len);
/*
 * Makes room for a row of len bytes; waits for the client only if may_wait is true.  Returns 0 if
 * there is room now; or AG_ROW_BATCH_FULL if there is none; or -1 if the channel is broken.
 */
#define AG_ROW_BATCH_FULL 1
int ag_row_batch_room(struct ag_row_batch *batch, size_t len, bool may_wait);
/* Ends the current frame, if any.  Returns 0, or -1 if the channel is broken. */
int ag_row_batch_end(struct ag_row_batch *batch);

#endif
