/* REDEFINE: replaces the class files of all given classes, or of none. */
#include <string.h>

#include "cmd/command.h"
#include "jvm/patch/patches.h"
#include "jvm/class_index.h"

static void copy_text(char out[AG_PATCH_TEXT], struct wire_text text)
{
	size_t len = text.len < AG_PATCH_TEXT ? text.len : AG_PATCH_TEXT - 1;

	memcpy(out, text.data, len);
	out[len] = '\0';
}

/* Receives a frame.  If its type differs from `type`, breaks the channel and returns -1. */
static int expect(struct ag_jvm *jvm, struct ag_chan *chan, uint16_t type, struct ag_frame *frame)
{
	if (ag_chan_receive(chan, frame) == 1 && frame->type == type)
		return 0;
	chan->broken = true;
	return ag_fail(jvm, "read the request", "it is incomplete");
}

static int read_bytes(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_new_patch *new)
{
	size_t n_read = 0;

	while (n_read < new->len) {
		struct ag_frame frame;
		struct wire_text piece;

		if (expect(jvm, chan, WIRE_BYTES, &frame) != 0)
			return -1;
		piece = wire_get_text(&frame.payload);
		if (!wire_reader_ok(&frame.payload) || piece.len == 0 ||
		    piece.len > new->len - n_read) {
			chan->broken = true;
			return ag_fail(jvm, "read the request", "it is malformed");
		}
		if (new->bytes) /* NULL: no memory; skip the bytes */
			memcpy(new->bytes + n_read, piece.data, piece.len);
		n_read += piece.len;
	}
	return 0;
}

/*
 * Reads all frames of a patch.  Returns -1 if a frame is malformed; the channel is then broken.  If
 * the class is unknown or memory is short, records the error, reads the remaining frames, so that
 * the session does not take them for requests, and returns 0.
 */
static int read_patch(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_new_patch *new)
{
	struct ag_frame frame;
	uint32_t number;

	if (expect(jvm, chan, WIRE_PATCH, &frame) != 0)
		return -1;
	number = wire_get_u32(&frame.payload);
	copy_text(new->file, wire_get_text(&frame.payload));
	copy_text(new->digest, wire_get_text(&frame.payload));
	new->len = wire_get_u32(&frame.payload);
	if (!wire_reader_ok(&frame.payload)) {
		chan->broken = true;
		return ag_fail(jvm, "read the request", "it is malformed");
	}
	new->class = ag_class_index_class(jvm, number);
	new->bytes = ag_jvm_alloc(jvm, new->len, 1);
	return read_bytes(jvm, chan, new);
}

static int send_result(struct ag_chan *chan, const struct ag_patched *patched)
{
	struct wire_writer *w = ag_chan_begin(chan);

	wire_put_i32(w, (int32_t)patched->code);
	wire_put_u32(w, patched->n_others);
	return ag_chan_end(chan, WIRE_REDEFINED);
}

int ag_cmd_redefine(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	uint32_t n = wire_get_u32(request), n_read = 0;
	struct ag_patched patched;
	struct ag_new_patch *new;
	int rc = -1;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is incomplete");
	new = ag_jvm_alloc(jvm, n, sizeof(*new));
	if (!new) {
		chan->broken = true; /* the next frames must not be read as requests */
		return -1;
	}
	while (n_read < n && read_patch(jvm, chan, &new[n_read]) == 0)
		n_read++;
	if (n_read == n && !jvm->err.what)
		rc = ag_patches_install(jvm, new, n, &patched);
	if (rc == 0)
		rc = send_result(chan, &patched);
	for (uint32_t i = 0; i < n; i++)
		ag_free(jvm->mem, new[i].bytes);
	ag_free(jvm->mem, new);
	return rc;
}
