#include "cmd/batch.h"

#define BATCH (48u * 1024) /* a frame is ended when it is this long */

int ag_batch_end(struct ag_batch *batch)
{
	struct wire_writer count;

	if (!batch->w)
		return 0;
	/* The number of rows stands before them but is known behind them. */
	count = wire_writer_init(batch->chan->payload.data, 4);
	wire_put_u32(&count, batch->n);
	batch->w = NULL;
	batch->n = 0;
	return ag_chan_end(batch->chan, batch->type);
}

struct wire_writer *ag_batch_row(struct ag_batch *batch, size_t len)
{
	if (batch->w && batch->w->len + len > BATCH && ag_batch_end(batch) != 0)
		return NULL;
	if (!batch->w) {
		batch->w = ag_chan_begin(batch->chan);
		wire_put_u32(batch->w, 0);
	}
	batch->n++;
	return batch->w;
}

int ag_batch_room(struct ag_batch *batch, size_t len, bool patient)
{
	struct ag_chan *chan = batch->chan;

	if (batch->w && batch->w->len + len <= BATCH)
		return 0;
	if (ag_batch_end(batch) != 0)
		return -1;
	if (ag_chan_has_room(chan, 0))
		return 0;
	if ((patient ? ag_chan_flush(chan) : ag_chan_trickle(chan)) != 0)
		return -1;
	return ag_chan_has_room(chan, 0) ? 0 : AG_BATCH_FULL;
}
