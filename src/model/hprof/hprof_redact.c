#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof/redact_internal.h"

#define MAGIC "JAVA PROFILE 1.0." /* followed by '1' or '2' and a NUL */
#define HEADER_BYTES (sizeof(MAGIC) + 1 + 4 + 8)
#define RECORD_HEAD 9  /* u1 tag, u4 time, u4 length */
#define TEXT_MAX 32    /* note_text() ignores symbols of this many bytes or more */

enum {
	TAG_UTF8 = 0x01,
	TAG_LOAD_CLASS,
	TAG_UNLOAD_CLASS,
	TAG_FRAME,
	TAG_TRACE,
	TAG_ALLOC_SITES,
	TAG_HEAP_SUMMARY,
	TAG_START_THREAD = 0x0a,
	TAG_END_THREAD,
	TAG_HEAP_DUMP,
	TAG_CPU_SAMPLES,
	TAG_CONTROL_SETTINGS,
	TAG_HEAP_DUMP_SEGMENT = 0x1c,
	TAG_HEAP_DUMP_END = 0x2c,
};

struct hprof_redactor *hprof_redactor_new(enum hprof_redact what, size_t max_memory,
					  hprof_redact_out *out, void *arg)
{
	struct hprof_redactor *r = xcalloc(1, sizeof(*r));

	r->what = what;
	r->max_memory = max_memory;
	r->out = out;
	r->arg = arg;
	r->need = HEADER_BYTES;
	r->holding = true;
	return r;
}

void hprof_redactor_free(struct hprof_redactor *r)
{
	if (!r)
		return;
	buf_release(&r->held);
	free(r->symbols);
	id_map_release(&r->names);
	id_map_release(&r->texts);
	redact_classes_release(&r->classes);
	free(r);
}

int redact_invalid(const struct hprof_redactor *r, struct err *err, const char *fmt, ...)
{
	char reason[128];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	return err_set(err, EXIT_PARTIAL, "cannot redact the dump: it is invalid at byte %" PRIu64
		       ": %s; dump the heap again", r->at, reason);
}

int redact_await(struct hprof_redactor *r, enum redact_state state, size_t need, struct err *err)
{
	if (need > r->left)
		return redact_invalid(r, err, "a record is longer than its segment or too short "
					      "for its tag");
	r->left -= need;
	r->state = state;
	r->need = need;
	return 0;
}

int redact_pass(struct hprof_redactor *r, uint64_t bytes, bool clear, struct err *err)
{
	if (bytes > r->left)
		return redact_invalid(r, err, "a record is longer than its segment");
	r->left -= bytes;
	r->bulk = bytes;
	r->clear = clear;
	return 0;
}

void redact_next_record(struct hprof_redactor *r)
{
	r->state = RECORD;
	r->need = RECORD_HEAD;
}

int redact_next_subrecord(struct hprof_redactor *r, struct err *err)
{
	if (r->left > 0)
		return redact_await(r, SUBRECORD, 1, err);
	redact_next_record(r);
	return 0;
}

uint64_t redact_id_at(const struct hprof_redactor *r, size_t skip, size_t i)
{
	return hprof_get(r->head + skip + i * r->id_size, r->id_size);
}

void redact_note_name(struct hprof_redactor *r, uint64_t symbol)
{
	if (r->holding)
		(void)id_map_add(&r->names, symbol, 0);
}

static int not_a_dump(struct err *err)
{
	return err_set(err, EXIT_USAGE, "cannot redact: not a heap dump of format JAVA PROFILE "
					"1.0.1 or 1.0.2");
}

static int take_header(struct hprof_redactor *r, struct err *err)
{
	const uint8_t *version = r->head + sizeof(MAGIC) - 1;

	if (memcmp(r->head, MAGIC, sizeof(MAGIC) - 1) != 0 ||
	    (version[0] != '1' && version[0] != '2') || version[1] != 0)
		return not_a_dump(err);
	r->id_size = (unsigned)hprof_get(r->head + sizeof(MAGIC) + 1, 4);
	if (r->id_size != 4 && r->id_size != 8)
		return redact_invalid(r, err, "identifiers of %u bytes: expected 4 or 8",
				      r->id_size);
	redact_next_record(r);
	return 0;
}

static bool is_text(const struct hprof_redactor *r, const struct redact_symbol *s, const char *text)
{
	return s->len == strlen(text) && memcmp(r->held.data + s->at, text, s->len) == 0;
}

/* Adds the symbol that was just read to r->texts if the redactor must recognise its text. */
static void note_text(struct hprof_redactor *r)
{
	static const struct {
		const char *name;
		enum redact_text text;
	} texts[] = {
		{ "hash", TEXT_HASH },
		{ "hashCode", TEXT_HASH },
		{ "size", TEXT_SIZE },
		{ "jdk/internal/vm/StackChunk", TEXT_STACK_CHUNK },
	};
	const struct redact_symbol *s = &r->symbols[r->n_symbols - 1];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (s->id && is_text(r, s, texts[i].name))
			(void)id_map_add(&r->texts, s->id, texts[i].text);
	}
	r->has_text = false;
}

static int take_record(struct hprof_redactor *r, struct err *err)
{
	const unsigned id = r->id_size;
	const size_t needs[] = {
		[TAG_UTF8] = id,
		[TAG_LOAD_CLASS] = 8 + 2 * id,
		[TAG_UNLOAD_CLASS] = 4,
		[TAG_FRAME] = 8 + 4 * id,
		[TAG_TRACE] = 12,
		[TAG_START_THREAD] = 8 + 4 * id,
		[TAG_END_THREAD] = 4,
		[TAG_CONTROL_SETTINGS] = 0,
	};

	if (r->has_text)
		note_text(r);
	if (r->ended)
		return redact_invalid(r, err, "data follows its end");
	r->tag = r->head[0];
	r->left = hprof_get(r->head + 5, 4);
	switch (r->tag) {
	case TAG_HEAP_DUMP:
	case TAG_HEAP_DUMP_SEGMENT:
		r->segmented |= r->tag == TAG_HEAP_DUMP_SEGMENT;
		r->in_dump = true;
		return redact_next_subrecord(r, err);
	case TAG_HEAP_DUMP_END:
		r->ended = true;
		return r->left ? redact_invalid(r, err, "its end is not empty") : 0;
	case TAG_ALLOC_SITES:
	case TAG_HEAP_SUMMARY:
	case TAG_CPU_SAMPLES:
	/* these records and CONTROL SETTINGS belong to profiles, which HotSpot does not write */
	case TAG_CONTROL_SETTINGS:
		return redact_pass(r, r->left, true, err);
	default:
		if (r->tag >= ARRAY_SIZE(needs) || needs[r->tag] == 0)
			return redact_invalid(r, err, "unknown record tag 0x%02x", r->tag);
		return redact_await(r, BODY, needs[r->tag], err);
	}
}

/*
 * Begins a symbol.  If the symbol comes after the first object, overwrites its text with zeros,
 * because no reader of HotSpot's dumps needs such a symbol.
 */
static int take_symbol(struct hprof_redactor *r, struct err *err)
{
	if (r->holding) {
		r->symbols = xgrow(r->symbols, r->n_symbols, &r->cap_symbols, sizeof(*r->symbols));
		r->symbols[r->n_symbols++] = (struct redact_symbol){
			redact_id_at(r, 0, 0), (size_t)r->at, (size_t)r->left
		};
		r->has_text = r->left < TEXT_MAX;
	}
	return redact_pass(r, r->left, !r->holding, err);
}

static int take_body(struct hprof_redactor *r, struct err *err)
{
	redact_next_record(r);
	if (r->tag == TAG_UTF8)
		return take_symbol(r, err);
	if (r->tag == TAG_LOAD_CLASS) {
		const uint64_t name = redact_id_at(r, 8, 1);

		redact_note_name(r, name);
		if (id_map_get(&r->texts, name) == TEXT_STACK_CHUNK)
			r->stack_chunk_class = redact_id_at(r, 4, 0);
	}
	if (r->tag == TAG_FRAME) {
		for (size_t i = 1; i < 4; i++) /* symbols: method, signature, source file */
			redact_note_name(r, redact_id_at(r, 0, i));
	}
	if (r->tag == TAG_TRACE) {
		const uint64_t frames = hprof_get(r->head + 8, 4) * r->id_size;

		if (redact_pass(r, frames, false, err) < 0)
			return -1;
	}
	return r->left ? redact_invalid(r, err, "a record is too long for its tag") : 0;
}

/* In r->held, zeroes the symbols that are not names.  After that, r->held can be passed on. */
void redact_release(struct hprof_redactor *r)
{
	for (size_t i = 0; i < r->n_symbols; i++) {
		const struct redact_symbol *s = &r->symbols[i];

		if (id_map_get(&r->names, s->id) == ID_MAP_NONE)
			memset(r->held.data + s->at, 0, s->len);
	}
	r->holding = false;
	free(TAKE_PTR(r->symbols));
	r->n_symbols = r->cap_symbols = 0;
	id_map_release(&r->names);
	r->names = (struct id_map){ 0 };
}

static int take_head(struct hprof_redactor *r, struct err *err)
{
	switch (r->state) {
	case HEADER:
		return take_header(r, err);
	case RECORD:
		return take_record(r, err);
	case BODY:
		return take_body(r, err);
	default:
		return redact_take_dump(r, err);
	}
}

static size_t take_bulk(struct hprof_redactor *r, uint8_t *data, size_t len)
{
	size_t n = len < r->bulk ? len : (size_t)r->bulk;

	if (r->clear)
		memset(data, 0, n);
	r->bulk -= n;
	r->at += n;
	return n;
}

/* Processes the next bytes.  Returns the number of bytes used, or -1 with err set. */
static ssize_t take_some(struct hprof_redactor *r, uint8_t *data, size_t len, struct err *err)
{
	size_t n;

	if (r->bulk)
		return (ssize_t)take_bulk(r, data, len);
	if (r->run < r->end_run) {
		r->bulk = r->classes.runs[r->run++];
		r->clear = !r->clear;
		return 0;
	}
	n = r->need - r->n_head;
	if (n > len)
		n = len;
	memcpy(r->head + r->n_head, data, n);
	r->n_head += n;
	r->at += n;
	if (r->n_head < r->need)
		return (ssize_t)n;
	r->n_head = 0;
	return take_head(r, err) < 0 ? -1 : (ssize_t)n;
}

static int redact(struct hprof_redactor *r, uint8_t *data, size_t len, struct err *err)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = take_some(r, data + at, len - at, err);

		if (n < 0)
			return -1;
		at += (size_t)n;
	}
	return 0;
}

static int check_memory(const struct hprof_redactor *r, struct err *err)
{
	size_t used = r->held.cap + r->cap_symbols * sizeof(*r->symbols) +
		      r->names.cap * sizeof(*r->names.entries) +
		      r->texts.cap * sizeof(*r->texts.entries) +
		      redact_classes_memory(&r->classes);

	if (used <= r->max_memory)
		return 0;
	return err_set(err, EXIT_PARTIAL,
		       "cannot redact the dump: its names and classes need more than %zu MB of "
		       "memory, which is jtool's limit",
		       r->max_memory >> 20);
}

static int pass_held(struct hprof_redactor *r, struct err *err)
{
	int rc = r->out(r->arg, (const uint8_t *)r->held.data, r->held.len, err);

	buf_release(&r->held);
	r->held = (struct buf)BUF_INIT;
	return rc;
}

int hprof_redactor_take(struct hprof_redactor *r, uint8_t *data, size_t len, struct err *err)
{
	const size_t before = r->held.len;

	if (!r->holding) {
		if (redact(r, data, len, err) < 0 || check_memory(r, err) < 0)
			return -1;
		return len ? r->out(r->arg, data, len, err) : 0;
	}
	buf_add(&r->held, data, len);
	if (redact(r, (uint8_t *)r->held.data + before, len, err) < 0 || check_memory(r, err) < 0)
		return -1;
	return r->holding ? 0 : pass_held(r, err);
}

int hprof_redactor_end(struct hprof_redactor *r, struct err *err)
{
	const size_t n = r->n_head < sizeof(MAGIC) - 1 ? r->n_head : sizeof(MAGIC) - 1;

	if (r->state == HEADER && memcmp(r->head, MAGIC, n) != 0)
		return not_a_dump(err);
	if (r->state != RECORD || r->n_head || r->bulk || r->run < r->end_run || !r->in_dump ||
	    (r->segmented && !r->ended))
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not complete: it is cut off at byte %" PRIu64
			       "; dump the heap again", r->at);
	if (!r->holding)
		return 0;
	redact_release(r);
	return pass_held(r, err);
}
