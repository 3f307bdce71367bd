/* Converts an event of a flight recording to a JSON object, and its values to text. */
#ifndef JTOOL_RENDER_JFR_JFR_EVENT_JSON_H
#define JTOOL_RENDER_JFR_JFR_EVENT_JSON_H

#include "model/jfr/jfr_datum.h"
#include "render/json.h"

/* Adds all fields of the event to a JSON object. */
void jfr_event_put(const struct jfr_event *e, struct json *object);

/* Appends a time, given in ns since the epoch, as "2026-11-26T11:07:33.820098200Z". */
void jfr_time_add(struct buf *out, int64_t ns);
/* Appends a value as text, for example 31.0 ms, 1.50 KiB, 51.20 %; "-" for null. */
void jfr_datum_show(const struct jfr_chunk *chunk, const struct jfr_datum *d, struct buf *out);

#endif
