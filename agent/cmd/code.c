/* CODE: sends the map of the JVM's code cache. */
#include "cmd/command.h"
#include "cmd/row_batch.h"
#include "jvm/code_map.h"
#include "jvm/jni_refs.h"

static int put_row(struct ag_row_batch *batch, const struct ag_code *code)
{
	const size_t len = 8 + 4 + 3 * 4 + (size_t)code->class_len + code->name_len +
			   code->descriptor_len;
	struct wire_writer *w = ag_row_batch_row(batch, len);
	const char *name = code->texts + code->class_len;

	if (!w)
		return -1;
	wire_put_u64(w, code->address);
	wire_put_u32(w, code->size);
	wire_put_text(w, code->texts, code->class_len);
	wire_put_text(w, name, code->name_len);
	wire_put_text(w, name + code->name_len, code->descriptor_len);
	return 0;
}

static int send_all(struct ag_chan *chan, const struct ag_code_map *map)
{
	struct ag_row_batch batch = { .chan = chan, .type = WIRE_CODE_ROWS };
	struct ag_code_cursor cursor = { .block = map->first };
	const struct ag_code *code;
	struct wire_writer *w;
	uint32_t n = 0;

	for (; (code = ag_code_map_next(&cursor)); n++) {
		if (put_row(&batch, code) < 0)
			return -1;
	}
	if (ag_row_batch_end(&batch) != 0)
		return -1;
	w = ag_chan_begin(chan);
	wire_put_u32(w, n);
	wire_put_u32(w, map->n_unloaded);
	return ag_chan_end(chan, WIRE_CODE_END);
}

int ag_cmd_code(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	struct ag_code_map map;
	int rc;

	(void)request; /* empty */
	if (ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_code_map_read(jvm, &map);
	if (rc == 0)
		rc = send_all(chan, &map);
	ag_code_map_release(&map);
	ag_ref_pop(jvm);
	return rc;
}
