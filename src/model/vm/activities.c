#include "model/vm/activities.h"

#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "wire/frame.h"

/* Maximum number of requests that jtool stores, because a hostile agent may send any number. */
#define ACTIVITIES_MAX 10000

void activities_release(struct activities *a)
{
	free(a->list);
	*a = (struct activities){ 0 };
}

void activities_begin(struct activities *a)
{
	a->n_before = a->n;
}

static int take_row(struct activities *a, struct wire_reader *payload)
{
	struct activity row = { .request = (uint16_t)wire_get_u32(payload) };

	row.recording = wire_get_u32(payload) != 0;
	row.ns = wire_get_u64(payload);
	if (!wire_reader_ok(payload) || a->n >= ACTIVITIES_MAX)
		return -EBADMSG;
	a->list = xgrow(a->list, a->n, &a->cap, sizeof(*a->list));
	a->list[a->n++] = row;
	return 0;
}

int activities_take(struct activities *a, uint16_t type, struct wire_reader *payload)
{
	switch (type) {
	case WIRE_ACTIVITY:
		return take_row(a, payload);
	case WIRE_ACTIVITIES_END:
		return wire_get_u32(payload) == a->n - a->n_before && wire_reader_ok(payload) ?
			       1 : -EBADMSG;
	default:
		return -EBADMSG;
	}
}

const char *activity_command(const struct activity *activity)
{
	switch (activity->request) {
	case WIRE_TRACE:
		return "trace";
	case WIRE_ALLOC:
		return "alloc";
	case WIRE_HISTO:
		return "heaphisto";
	case WIRE_DUMP:
		return "heapdump";
	case WIRE_GRAPH:
		return "refpaths or retained";
	case WIRE_CLASSES:
	case WIRE_CLASS:
		return "classes";
	case WIRE_CAPTURE:
		return "dump";
	case WIRE_REDEFINE:
		return "redefine";
	case WIRE_RESTORE:
		return "restore";
	case WIRE_PATCHES:
		return "patches";
	case WIRE_CODE:
		return "perfmap";
	default:
		return "session";
	}
}
