/* In the JVM, on the agent thread: receives the frames that the child sends. */
#include "jvm/dump/dump_internal.h"

#include "jvm/jni_refs.h"

/*
 * Reads the child's last frame: the number of boot loader classes that the child visited but that
 * are not in the class list.  If the boot loader has loaded a class since the list was read, the
 * child may have visited that class, and the dump is not complete.  Otherwise the counted classes
 * are not loaded (look_at_mirror() in dump_heap.c), and the dump is complete.
 */
static int take_end(struct ag_dump *d, const struct wire_writer *frame)
{
	struct wire_reader r = wire_reader_init(frame->data, frame->len);
	uint32_t n_unknown = wire_get_u32(&r);

	if (!wire_reader_ok(&r) || (d->census && d->n_received != d->n_tallies))
		d->result->why = WIRE_SNAPSHOT_ENDED;
	else if (n_unknown > 0 && d->has_new)
		d->result->why = WIRE_SNAPSHOT_CLASSES;
	return 0;
}

/*
 * Sets d->has_new if the boot loader has loaded classes since the class list was read.  Returns 0,
 * or -1 with the error recorded.
 */
static int find_new(struct ag_dump *d)
{
	uint32_t before = 0, after = 0;
	struct ag_classes now;
	int rc = ag_classes_get(d->jvm, &now);

	if (rc != 0)
		return -1;
	rc = ag_ref_expect(d->jvm, (jint)now.n + 64);
	if (rc == 0 && now.n != d->list->n) {
		rc = ag_classes_count_boot(d->jvm, d->list, &before);
		if (rc == 0)
			rc = ag_classes_count_boot(d->jvm, &now, &after);
	}
	d->has_new = before != after;
	ag_classes_release(d->jvm, &now);
	return rc;
}

int ag_dump_relay(struct ag_dump *d)
{
	if (find_new(d) != 0)
		return -1;
	for (;;) {
		struct wire_writer *frame = ag_chan_begin(d->chan);
		int type = ag_snapshot_receive(&d->snapshot, d->chan, frame);

		if (type < 0 || d->chan->broken)
			return -1;
		if (type == AG_DUMP_CHILD_END)
			return take_end(d, frame);
		if (type == 0) {
			d->result->why = d->snapshot.why;
			return 0;
		}
		if (type == AG_DUMP_COUNTS && d->census) {
			ag_dump_count_take(d, frame);
			continue;
		}
		if (type != WIRE_DUMP_DATA || d->census) {
			d->result->why = WIRE_SNAPSHOT_ENDED; /* not a frame of a dump */
			return 0;
		}
		if (ag_chan_end(d->chan, (uint16_t)type) != 0)
			return -1;
	}
}
