#include "render/profile/pprof.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/xalloc.h"
#include "model/profile/pprof_fields.h"

struct writer {
	struct buf out;        /* the encoded message, before compression */
	struct buf scratch, inner;
	struct intern strings; /* the string table; index 0 is the empty string */
};

static void add_varint(struct buf *out, uint64_t value)
{
	while (value >= 0x80) {
		buf_addc(out, (char)(value | 0x80));
		value >>= 7;
	}
	buf_addc(out, (char)value);
}

/* Appends a field with a number.  Does not append 0, which is the default. */
static void add_number(struct buf *out, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	add_varint(out, field << 3 | WIRE_VARINT);
	add_varint(out, value);
}

static void add_bytes(struct buf *out, unsigned field, const void *data, size_t len)
{
	add_varint(out, field << 3 | WIRE_BYTES);
	add_varint(out, len);
	buf_add(out, data, len);
}

static uint32_t string(struct writer *w, const char *text, size_t len)
{
	return intern_add(&w->strings, text, len);
}

static uint32_t text(struct writer *w, const char *s)
{
	return string(w, s, strlen(s));
}

/* For each unit of a call_tree: the type and the unit that pprof uses for such a value. */
static const struct {
	const char *tree_unit, *type, *unit;
} types[] = {
	{ "bytes", "space", "bytes" },
	{ "objects", "objects", "count" },
	{ "ns", "time", "nanoseconds" },
	{ "calls", "calls", "count" },
	{ "samples", "samples", "count" },
};

/* Appends a value's type and unit.  Returns the index of the type in w->strings. */
static uint32_t add_type(struct writer *w, const char *prefix, const char *tree_unit)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	const char *type = tree_unit, *unit = "count";
	uint32_t number;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].tree_unit, tree_unit) == 0) {
			type = types[i].type;
			unit = types[i].unit;
		}
	}
	buf_addf(&name, "%s%s", prefix ? prefix : "", type);
	number = text(w, buf_str(&name));
	buf_reset(&w->scratch);
	add_number(&w->scratch, TYPE_TYPE, number);
	add_number(&w->scratch, TYPE_UNIT, text(w, unit));
	add_bytes(&w->out, PROFILE_SAMPLE_TYPE, w->scratch.data, w->scratch.len);
	return number;
}

/* Appends the types of a sample's values.  Returns the index of the default type in w->strings. */
static uint32_t add_types(struct writer *w, const struct pprof_profile *profile)
{
	uint32_t first = 0;

	for (int i = 0; i < PPROF_TREES && profile->trees[i]; i++) {
		const struct call_tree *t = profile->trees[i];

		first = add_type(w, t->prefix, t->units[0]);
		if (t->units[1])
			(void)add_type(w, t->prefix, t->units[1]);
	}
	return first;
}

/* The parts of a frame's text, "a.b.C.m(C.java:12)", or "a.b.C.m:12" without a file. */
struct frame {
	size_t name_len;
	const char *file;
	size_t file_len;
	uint64_t line;
};

static struct frame split(const char *name)
{
	const char *open = strrchr(name, '('), *colon = strrchr(open ? open : name, ':');
	struct frame f = { .name_len = strlen(name) };
	char *end;

	if (!colon || open == name || colon == name)
		return f;
	f.line = strtoull(colon + 1, &end, 10);
	if (end == colon + 1 || strcmp(end, open ? ")" : "") != 0)
		return (struct frame){ .name_len = strlen(name) };
	if (!open) {
		f.name_len = (size_t)(colon - name);
		return f;
	}
	f.name_len = (size_t)(open - name);
	f.file = open + 1;
	f.file_len = (size_t)(colon - open) - 1;
	return f;
}

/*
 * Appends the mapping of the JVM.  Returns its id, or 0 if there is none.  pprof shows the file and
 * the build id of the first mapping.  The fields MAPPING_HAS_* prevent pprof from reading symbols
 * from the file: all frames have names already, and none has an address.
 */
static uint32_t add_mapping(struct writer *w, const struct pprof_profile *profile)
{
	enum { THE_ONLY = 1 };

	if (!profile->file)
		return 0;
	buf_reset(&w->scratch);
	add_number(&w->scratch, MAPPING_ID, THE_ONLY);
	add_number(&w->scratch, MAPPING_FILENAME, text(w, profile->file));
	if (profile->build_id)
		add_number(&w->scratch, MAPPING_BUILD_ID, text(w, profile->build_id));
	add_number(&w->scratch, MAPPING_HAS_FUNCTIONS, true);
	add_number(&w->scratch, MAPPING_HAS_FILENAMES, true);
	add_number(&w->scratch, MAPPING_HAS_LINE_NUMBERS, true);
	add_bytes(&w->out, PROFILE_MAPPING, w->scratch.data, w->scratch.len);
	return THE_ONLY;
}

/*
 * Appends a location and a function for a name of the tree.  Each name has its own location and
 * function, except the name of the root (0), which has neither.
 */
static void add_location(struct writer *w, uint32_t id, const char *name, uint32_t mapping)
{
	struct frame f = split(name);
	uint32_t function_name = string(w, name, f.name_len);

	buf_reset(&w->inner);
	add_number(&w->inner, LINE_FUNCTION_ID, id);
	add_number(&w->inner, LINE_LINE, f.line);
	buf_reset(&w->scratch);
	add_number(&w->scratch, LOCATION_ID, id);
	add_number(&w->scratch, LOCATION_MAPPING_ID, mapping);
	add_bytes(&w->scratch, LOCATION_LINE, w->inner.data, w->inner.len);
	add_bytes(&w->out, PROFILE_LOCATION, w->scratch.data, w->scratch.len);
	buf_reset(&w->scratch);
	add_number(&w->scratch, FUNCTION_ID, id);
	add_number(&w->scratch, FUNCTION_NAME, function_name);
	add_number(&w->scratch, FUNCTION_SYSTEM_NAME, function_name);
	if (f.file)
		add_number(&w->scratch, FUNCTION_FILENAME, string(w, f.file, f.file_len));
	add_bytes(&w->out, PROFILE_FUNCTION, w->scratch.data, w->scratch.len);
}

static uint64_t limited(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : value;
}

/* Appends the values of a node to w->inner.  Returns whether one of the values is not 0. */
static bool add_values(struct writer *w, const struct pprof_profile *profile, uint32_t node)
{
	bool any = false;

	for (int i = 0; i < PPROF_TREES && profile->trees[i]; i++) {
		const struct call_tree *t = profile->trees[i];

		for (int k = 0; k < CALL_TREE_VALUES && t->units[k]; k++) {
			add_varint(&w->inner, limited(t->nodes[node].self[k]));
			any |= t->nodes[node].self[k] > 0;
		}
	}
	return any;
}

/* Appends a sample for a node.  The first of its location ids is that of the innermost frame. */
static void add_sample(struct writer *w, const struct pprof_profile *profile, uint32_t node)
{
	const struct call_tree *t = profile->trees[0];

	buf_reset(&w->inner);
	for (uint32_t at = node; at != 0; at = t->nodes[at].parent) {
		/*
		 * skip name 0, the empty name: the root has it, and a target may send it as a frame
		 */
		if (t->nodes[at].name > 0)
			add_varint(&w->inner, t->nodes[at].name);
	}
	buf_reset(&w->scratch);
	add_bytes(&w->scratch, SAMPLE_LOCATION_ID, w->inner.data, w->inner.len);
	buf_reset(&w->inner);
	if (!add_values(w, profile, node))
		return;
	add_bytes(&w->scratch, SAMPLE_VALUE, w->inner.data, w->inner.len);
	add_bytes(&w->out, PROFILE_SAMPLE, w->scratch.data, w->scratch.len);
}

static void add_period(struct writer *w, uint64_t period_ns)
{
	if (period_ns == 0)
		return;
	buf_reset(&w->scratch);
	add_number(&w->scratch, TYPE_TYPE, text(w, "time"));
	add_number(&w->scratch, TYPE_UNIT, text(w, "nanoseconds"));
	add_bytes(&w->out, PROFILE_PERIOD_TYPE, w->scratch.data, w->scratch.len);
	add_number(&w->out, PROFILE_PERIOD, limited(period_ns));
}

/* Appends the data as gzip. */
static void compress_to(struct buf *out, const struct buf *data)
{
	enum { GZIP = 15 + 16, MEMORY = 8 };
	z_stream z = { .next_in = (Bytef *)data->data };
	size_t left = data->len;
	int rc;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		xalloc_die();
	do {
		enum { PIECE = 1 << 20, ROOM = 1 << 16 };
		uInt piece = left < PIECE ? (uInt)left : PIECE;

		if (z.avail_in == 0) {
			z.avail_in = piece;
			left -= piece;
		}
		z.next_out = (Bytef *)buf_reserve(out, ROOM);
		z.avail_out = ROOM;
		rc = deflate(&z, left == 0 ? Z_FINISH : Z_NO_FLUSH);
		out->len += ROOM - z.avail_out;
	} while (rc != Z_STREAM_END);
	(void)deflateEnd(&z); /* the stream is complete, so nothing is lost */
}

void pprof_add(struct buf *out, const struct pprof_profile *profile)
{
	const struct call_tree *t = profile->trees[0];
	struct writer w = { .out = BUF_INIT };
	uint32_t shown, mapping;
	size_t len;

	(void)text(&w, "");
	shown = add_types(&w, profile);
	for (uint32_t node = 0; node < t->n; node++)
		add_sample(&w, profile, node);
	mapping = add_mapping(&w, profile);
	for (uint32_t i = 1; i < t->names.n; i++)
		add_location(&w, i, intern_get(&t->names, i, NULL), mapping);
	add_number(&w.out, PROFILE_TIME_NANOS, (uint64_t)profile->time_ns);
	add_number(&w.out, PROFILE_DURATION_NANOS, (uint64_t)profile->duration_ns);
	add_period(&w, profile->period_ns);
	add_number(&w.out, PROFILE_DEFAULT_SAMPLE_TYPE, shown);
	for (uint32_t i = 0; i < w.strings.n; i++) {
		const char *s = intern_get(&w.strings, i, &len);

		add_bytes(&w.out, PROFILE_STRING, s, len);
	}
	compress_to(out, &w.out);
	buf_release(&w.out);
	buf_release(&w.scratch);
	buf_release(&w.inner);
	intern_release(&w.strings);
}
