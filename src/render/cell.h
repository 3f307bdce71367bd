/* One value of a result, which is printed as text or as JSON. */
#ifndef JTOOL_RENDER_CELL_H
#define JTOOL_RENDER_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "render/json.h"

/* How a value is formatted as text.  JSON has the value itself, without a format. */
enum cell_type {
	CELL_TEXT,    /* untrusted: control characters are escaped when it is printed */
	CELL_NUMBER,  /* 1204 */
	CELL_REAL,    /* printed as 51.20 */
	CELL_BOOL,    /* printed as yes or no */
	CELL_COUNT,   /* 1,204 */
	CELL_PERCENT, /* 51.2 */
	CELL_BYTES,   /* 812 B, 1.50 KiB, 64.0 MiB */
	CELL_SECONDS, /* 7s, 5m06s, 3h04m, 1d02h */
	CELL_NANOS,   /* a duration: 812 ns, 1.24 us, 31.0 ms */
	CELL_ITEMS,   /* for records only: one item a line; in JSON an array of objects */
	/* For tables only: stack frames, one a line, below the row; in JSON an array of strings */
	CELL_STACK,
};

struct cell {
	enum {
		CELL_ABSENT, /* no value: "-" as text, null in JSON */
		CELL_HAS_TEXT,
		CELL_HAS_INTEGER,
		CELL_HAS_UNSIGNED,
		CELL_HAS_REAL,
		CELL_HAS_BOOL,
	} has;
	union {
		const char *text;
		int64_t integer;
		uint64_t number;
		double real;
		bool yes;
	};
};

/* Appends the value as text. */
void cell_show(const struct cell *cell, enum cell_type type, struct buf *out);
/* Adds the value to a JSON object under `key`, or to an array if key is NULL. */
void cell_put(const struct cell *cell, struct json *parent, const char *key);

#endif
