/* An event of a flight recording as a JSON object, and one value as text. */
#ifndef JTOOL_RENDER_JFR_JFR_EVENT_JSON_H
#define JTOOL_RENDER_JFR_JFR_EVENT_JSON_H

#include "model/jfr/jfr_datum.h"
#include "render/json.h"

/* Adds all fields of the event to an object. */
void jfr_event_put(const struct jfr_event *e, struct json *object);
/* Adds one value. */
void jfr_datum_put(const struct jfr_chunk *chunk, const struct jfr_datum *d, struct json *parent,
		   const char *key);

/* Appends "2026-11-26T11:07:33.820098200Z" for nanoseconds since the epoch. */
void jfr_time_add(struct buf *out, int64_t ns);
/* Appends a value as text: 31.0 ms, 1.50 KiB, 51.20 %; "-" for null. */
void jfr_datum_show(const struct jfr_chunk *chunk, const struct jfr_datum *d, struct buf *out);

#endif
