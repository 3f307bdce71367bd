/* REDEFINE: other class files for classes, all in one go or none. */
#include <string.h>

#include "cmd/cmd.h"
#include "jvm/patches.h"
#include "jvm/roster.h"

static void copy_text(char out[AG_PATCH_TEXT], struct wire_text text)
{
	size_t len = text.len < AG_PATCH_TEXT ? text.len : AG_PATCH_TEXT - 1;

	memcpy(out, text.data, len);
	out[len] = '\0';
}

/* The frame that must come next; -1: it does not, and the session is over. */
static int expect(struct ag_jvm *jvm, struct ag_chan *chan, uint16_t type, struct ag_frame *frame)
{
	if (ag_chan_receive(chan, frame) == 1 && frame->type == type)
		return 0;
	chan->broken = true;
	return ag_fail(jvm, "read the request", "it is not complete");
}

static int read_bytes(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_new_patch *new)
{
	size_t have = 0;

	while (have < new->len) {
		struct ag_frame frame;
		struct wire_text piece;

		if (expect(jvm, chan, WIRE_BYTES, &frame) != 0)
			return -1;
		piece = wire_get_text(&frame.payload);
		if (!wire_reader_ok(&frame.payload) || piece.len == 0 ||
		    piece.len > new->len - have) {
			chan->broken = true;
			return ag_fail(jvm, "read the request", "it makes no sense");
		}
		if (new->bytes) /* else there was no memory, and it is only read past */
			memcpy(new->bytes + have, piece.data, piece.len);
		have += piece.len;
	}
	return 0;
}

/* What cannot be done is recorded, and the rest read all the same: it is no new request. */
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
		return ag_fail(jvm, "read the request", "it makes no sense");
	}
	new->class = ag_roster_class(jvm, number);
	new->bytes = ag_jvm_alloc(jvm, new->len, 1);
	return read_bytes(jvm, chan, new);
}

static int tell(struct ag_chan *chan, const struct ag_patched *patched)
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
		return ag_fail(jvm, "read the request", "it is not complete");
	new = ag_jvm_alloc(jvm, n, sizeof(*new));
	if (!new) {
		chan->broken = true; /* its frames would be taken for requests */
		return -1;
	}
	while (n_read < n && read_patch(jvm, chan, &new[n_read]) == 0)
		n_read++;
	if (n_read == n && !jvm->err.what)
		rc = ag_patches_install(jvm, new, n, &patched);
	if (rc == 0)
		rc = tell(chan, &patched);
	for (uint32_t i = 0; i < n; i++)
		ag_free(jvm->mem, new[i].bytes);
	ag_free(jvm->mem, new);
	return rc;
}
