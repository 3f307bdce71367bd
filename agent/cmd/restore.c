/* RESTORE: removes patches. */
#include "cmd/command.h"
#include "jvm/patch/patches.h"

int ag_cmd_restore(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	uint32_t n = wire_get_u32(request), restored;
	struct wire_writer *w;
	jvmtiError code;
	uint64_t *ids;
	int rc;

	ids = ag_jvm_alloc(jvm, n, sizeof(*ids));
	if (!ids)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		ids[i] = wire_get_u64(request);
	if (wire_reader_ok(request))
		rc = ag_patches_restore(jvm, ids, n, &code, &restored);
	else
		rc = ag_fail(jvm, "read the request", "it is incomplete");
	ag_free(jvm->mem, ids);
	if (rc != 0)
		return -1;
	w = ag_chan_begin(chan);
	wire_put_i32(w, (int32_t)code);
	wire_put_u32(w, restored);
	return ag_chan_end(chan, WIRE_RESTORED);
}
