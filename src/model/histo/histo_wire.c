#include "model/histo/histo_wire.h"

#include <errno.h>

#include "base/buf.h"
#include "model/class/type_name.h"

#define CLASSES_MAX (1u << 22) /* limit for the number of classes, against a hostile agent */

void histo_wire_release(struct histo_wire *w)
{
	class_origins_release(&w->origins);
}

static int take_class(struct histo_wire *w, struct wire_reader *payload, struct buf *name)
{
	uint32_t loader = wire_get_u32(payload);
	uint32_t module = wire_get_u32(payload);
	struct wire_text signature = wire_get_text(payload);
	uint64_t instances = wire_get_u64(payload);
	uint64_t bytes = wire_get_u64(payload);

	buf_reset(name);
	if (!wire_reader_ok(payload) || !class_origins_has(&w->origins, loader, module, 0) ||
	    instances > INT64_MAX || bytes > INT64_MAX || w->histo->n >= CLASSES_MAX ||
	    type_name_java(name, signature.data, signature.len) < 0)
		return -EBADMSG;
	if (instances == 0)
		return 0; /* omit the class, as GC.class_histogram does */
	histo_add(w->histo, buf_str(name), class_origins_loader(&w->origins, loader),
		  class_origins_module(&w->origins, module), (int64_t)instances, (int64_t)bytes);
	return 0;
}

static int take_classes(struct histo_wire *w, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		int rc = take_class(w, payload, &name);

		if (rc < 0)
			return rc;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

static int take_end(struct histo_wire *w, struct wire_reader *payload)
{
	w->walk_ns = wire_get_u64(payload);
	w->method = wire_get_u32(payload);
	w->resolved = wire_get_u64(payload);
	w->agent_peak = wire_get_u64(payload);
	w->is_late = wire_get_u32(payload) != 0;
	return wire_reader_ok(payload) ? 1 : -EBADMSG;
}

int histo_wire_take(struct histo_wire *w, uint16_t type, struct wire_reader *payload)
{
	int rc = class_origins_take(&w->origins, type, payload);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	switch (type) {
	case WIRE_HISTO_CLASSES:
		return take_classes(w, payload);
	case WIRE_HISTO_END:
		return take_end(w, payload);
	default:
		return -EBADMSG;
	}
}
