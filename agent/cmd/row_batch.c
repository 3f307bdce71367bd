#include "cmd/row_batch.h"

/* Maximum payload of a frame in bytes.  A row that would exceed the maximum starts a new frame. */
#define BATCH (48u * 1024)

int ag_row_batch_end(struct ag_row_batch *batch)
{
	struct wire_writer count;

	if (!batch->w)
		return 0;
	/* The number of rows is at the start of the payload, but known only now. */
	count = wire_writer_init(batch->chan->payload.data, 4);
	wire_put_u32(&count, batch->n);
	batch->w = NULL;
	batch->n = 0;
	return ag_chan_end(batch->chan, batch->type);
}

struct wire_writer *ag_row_batch_row(struct ag_row_batch *batch, size_t len)
{
	if (batch->w && batch->w->len + len > BATCH && ag_row_batch_end(batch) != 0)
		return NULL;
	if (!batch->w) {
		batch->w = ag_chan_begin(batch->chan);
		wire_put_u32(batch->w, 0);
	}
	batch->n++;
	return batch->w;
}

int ag_row_batch_room(struct ag_row_batch *batch, size_t len, bool may_wait)
{
	struct ag_chan *chan = batch->chan;

	if (batch->w && batch->w->len + len <= BATCH)
		return 0;
	if (ag_row_batch_end(batch) != 0)
		return -1;
	if (ag_chan_has_room(chan, 0))
		return 0;
	if ((may_wait ? ag_chan_flush(chan) : ag_chan_try_flush(chan)) != 0)
		return -1;
	return ag_chan_has_room(chan, 0) ? 0 : AG_ROW_BATCH_FULL;
}
