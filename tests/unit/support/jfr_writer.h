/* Writes a small flight recording with types, constants and events of all kinds. */
#ifndef JTOOL_TESTS_JFR_WRITER_H
#define JTOOL_TESTS_JFR_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "model/jfr/jfr_reader.h"

/* Type ids of the sample. */
enum {
	T_STRING = 20, T_INT, T_LONG, T_BOOLEAN, T_BYTE, T_CHAR, T_SHORT, T_FLOAT, T_DOUBLE,
	T_THREAD, T_CLASS, T_SYMBOL, T_METHOD, T_FRAME, T_TRACE,
	T_TIMESTAMP, T_TIMESPAN, T_UNSIGNED, T_AMOUNT, T_LABEL,
	T_SAMPLE = 100, T_EVERYTHING,
};

struct jfr_writer {
	struct buf file, tree;
	const char *strings[160];
	uint32_t n_strings;
	bool fixed; /* numbers are not compressed */
	unsigned major;
	size_t chunk;
	void (*types)(struct jfr_writer *w); /* writes the types; NULL: those of the sample */
};

static inline void w_raw(struct buf *b, uint64_t value, unsigned n)
{
	for (unsigned i = n; i-- > 0;)
		buf_addc(b, (char)(value >> 8 * i));
}

static inline void w_number(struct jfr_writer *w, struct buf *b, uint64_t value, unsigned n)
{
	if (w->fixed) {
		w_raw(b, value, n);
		return;
	}
	for (unsigned i = 0; i < 8 && value > 0x7f; i++, value >>= 7)
		buf_addc(b, (char)(value | 0x80));
	buf_addc(b, (char)value);
}

static inline void w_int(struct jfr_writer *w, struct buf *b, uint32_t value)
{
	w_number(w, b, value, 4);
}

static inline void w_long(struct jfr_writer *w, struct buf *b, int64_t value)
{
	w_number(w, b, (uint64_t)value, 8);
}

static inline void w_text(struct jfr_writer *w, struct buf *b, const char *text)
{
	buf_addc(b, 3);
	w_int(w, b, (uint32_t)strlen(text));
	buf_adds(b, text);
}

static inline void w_word(struct jfr_writer *w, const char *text)
{
	uint32_t i = 0;

	while (i < w->n_strings && strcmp(w->strings[i], text) != 0)
		i++;
	if (i == w->n_strings)
		w->strings[w->n_strings++] = text;
	w_int(w, &w->tree, i);
}

/* Begins an element: its name, its n attributes (key, value, key, …) and its number of children. */
static inline void w_element(struct jfr_writer *w, const char *name, const char *const *attributes,
			     uint32_t n, uint32_t children)
{
	w_word(w, name);
	w_int(w, &w->tree, n);
	for (uint32_t i = 0; i < 2 * n; i++)
		w_word(w, attributes[i]);
	w_int(w, &w->tree, children);
}

#define ELEMENT(w, name, children, ...)                                                       \
	w_element(w, name, (const char *const[]){ __VA_ARGS__ },                              \
		  sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *) / 2, children)

static inline void w_plain_class(struct jfr_writer *w, const char *name, const char *id)
{
	ELEMENT(w, "class", 0, "name", name, "id", id);
}

static inline void w_annotation_class(struct jfr_writer *w, const char *name, const char *id)
{
	ELEMENT(w, "class", 0, "name", name, "id", id, "superType",
		"java.lang.annotation.Annotation");
}

static inline void w_start_fields(struct jfr_writer *w)
{
	ELEMENT(w, "field", 1, "name", "startTime", "class", "22");
	ELEMENT(w, "annotation", 0, "class", "35", "value", "TICKS");
}

/* Begins the types of a recording: those that every recording has, and `own` more follow. */
static inline void w_begin_types(struct jfr_writer *w, uint32_t own)
{
	static const char *const primitives[] = {
		"java.lang.String", "20", "int", "21", "long", "22", "boolean", "23", "byte", "24",
		"char", "25", "short", "26", "float", "27", "double", "28",
	};

	ELEMENT(w, "root", 2, "a", "b");
	ELEMENT(w, "metadata", 20 + own, "a", "b");
	for (size_t i = 0; i < 18; i += 2)
		w_plain_class(w, primitives[i], primitives[i + 1]);
	ELEMENT(w, "class", 2, "name", "java.lang.Thread", "id", "29");
	ELEMENT(w, "field", 0, "name", "osName", "class", "20");
	ELEMENT(w, "field", 0, "name", "javaName", "class", "20");
	ELEMENT(w, "class", 1, "name", "java.lang.Class", "id", "30");
	ELEMENT(w, "field", 0, "name", "name", "class", "31", "constantPool", "true");
	ELEMENT(w, "class", 1, "name", "jdk.types.Symbol", "id", "31", "simpleType", "true");
	ELEMENT(w, "field", 0, "name", "string", "class", "20");
	ELEMENT(w, "class", 3, "name", "jdk.types.Method", "id", "32");
	ELEMENT(w, "field", 0, "name", "type", "class", "30", "constantPool", "true");
	ELEMENT(w, "field", 0, "name", "name", "class", "31", "constantPool", "true");
	ELEMENT(w, "field", 0, "name", "descriptor", "class", "31", "constantPool", "true");
	ELEMENT(w, "class", 2, "name", "jdk.types.StackFrame", "id", "33");
	ELEMENT(w, "field", 0, "name", "method", "class", "32", "constantPool", "true");
	ELEMENT(w, "field", 0, "name", "lineNumber", "class", "21");
	ELEMENT(w, "class", 2, "name", "jdk.types.StackTrace", "id", "34");
	ELEMENT(w, "field", 0, "name", "truncated", "class", "23");
	ELEMENT(w, "field", 0, "name", "frames", "class", "33", "dimension", "1");
	w_annotation_class(w, "jdk.jfr.Timestamp", "35");
	w_annotation_class(w, "jdk.jfr.Timespan", "36");
	w_annotation_class(w, "jdk.jfr.Unsigned", "37");
	w_annotation_class(w, "jdk.jfr.DataAmount", "38");
	w_annotation_class(w, "jdk.jfr.Label", "39");
}

static inline void w_end_types(struct jfr_writer *w)
{
	ELEMENT(w, "region", 0, "locale", "en", "gmtOffset", "0", "dst", "0");
}

static inline void w_types(struct jfr_writer *w)
{
	w_begin_types(w, 2);
	ELEMENT(w, "class", 5, "name", "jdk.ExecutionSample", "id", "100", "superType",
		"jdk.jfr.Event");
	ELEMENT(w, "annotation", 0, "class", "39", "value", "Method Profiling Sample");
	w_start_fields(w);
	ELEMENT(w, "field", 0, "name", "sampledThread", "class", "29", "constantPool", "true");
	ELEMENT(w, "field", 0, "name", "stackTrace", "class", "34", "constantPool", "true");
	ELEMENT(w, "setting", 1, "name", "period");
	ELEMENT(w, "annotation", 0, "class", "39", "value", "of the setting");
	ELEMENT(w, "class", 14, "name", "test.Everything", "id", "101", "superType",
		"jdk.jfr.Event");
	w_start_fields(w);
	ELEMENT(w, "field", 1, "name", "duration", "class", "22");
	ELEMENT(w, "annotation", 0, "class", "36", "value", "TICKS");
	ELEMENT(w, "field", 0, "name", "z", "class", "23");
	ELEMENT(w, "field", 0, "name", "b", "class", "24");
	ELEMENT(w, "field", 1, "name", "ub", "class", "24");
	ELEMENT(w, "annotation", 0, "class", "37");
	ELEMENT(w, "field", 0, "name", "c", "class", "25");
	ELEMENT(w, "field", 0, "name", "s", "class", "26");
	ELEMENT(w, "field", 0, "name", "i", "class", "21");
	ELEMENT(w, "field", 1, "name", "l", "class", "22");
	ELEMENT(w, "annotation", 0, "class", "38", "value", "BYTES");
	ELEMENT(w, "field", 0, "name", "f", "class", "27");
	ELEMENT(w, "field", 0, "name", "d", "class", "28");
	ELEMENT(w, "field", 0, "name", "text", "class", "20");
	ELEMENT(w, "field", 0, "name", "ints", "class", "21", "dimension", "1");
	ELEMENT(w, "field", 0, "name", "thread", "class", "29");
	w_end_types(w);
}

/* Appends an event.  Its size is padded, as the JVM writes it. */
static inline void w_event(struct jfr_writer *w, int64_t type, const struct buf *payload)
{
	struct buf id = BUF_INIT;
	uint32_t size;

	w_long(w, &id, type);
	size = (uint32_t)(4 + id.len + payload->len);
	if (w->fixed) {
		w_raw(&w->file, size, 4);
	} else {
		for (unsigned i = 0; i < 3; i++)
			buf_addc(&w->file, (char)(size >> 7 * i | 0x80));
		buf_addc(&w->file, (char)(size >> 21 & 0x7f));
	}
	buf_add(&w->file, id.data, id.len);
	buf_add(&w->file, payload->data, payload->len);
	buf_release(&id);
}

static inline size_t w_metadata(struct jfr_writer *w)
{
	struct buf b = BUF_INIT;
	size_t at = w->file.len;

	buf_reset(&w->tree);
	w->n_strings = 0;
	(w->types ? w->types : w_types)(w);
	w_long(w, &b, 1000);
	w_long(w, &b, 0);
	w_long(w, &b, 1);
	w_int(w, &b, w->n_strings);
	for (uint32_t i = 0; i < w->n_strings; i++)
		w_text(w, &b, w->strings[i]);
	buf_add(&b, w->tree.data, w->tree.len);
	w_event(w, 0, &b);
	buf_release(&b);
	return at;
}

/* Writes two checkpoints, of which the second refers to the first.  Returns its offset. */
static inline size_t w_constants(struct jfr_writer *w)
{
	static const char *const symbols[] = { "a/b/C", "run", "(I[Ljava/lang/String;)V" };
	struct buf b = BUF_INIT;
	size_t first = w->file.len, second;

	w_long(w, &b, 1000);
	w_long(w, &b, 0);
	w_long(w, &b, 0); /* no earlier checkpoint */
	buf_addc(&b, 0);
	w_int(w, &b, 2); /* pools */
	w_long(w, &b, T_SYMBOL);
	w_int(w, &b, 3);
	for (int64_t i = 0; i < 3; i++) {
		w_long(w, &b, i + 1);
		w_text(w, &b, symbols[i]);
	}
	w_long(w, &b, T_THREAD);
	w_int(w, &b, 1);
	w_long(w, &b, 7);
	w_text(w, &b, "os");
	w_text(w, &b, "main");
	w_event(w, 1, &b);
	second = w->file.len;
	buf_reset(&b);
	w_long(w, &b, 1000);
	w_long(w, &b, 0);
	w_long(w, &b, (int64_t)first - (int64_t)second);
	buf_addc(&b, 1);
	w_int(w, &b, 4);
	w_long(w, &b, T_CLASS);
	w_int(w, &b, 1);
	w_long(w, &b, 5);
	w_long(w, &b, 1);
	w_long(w, &b, T_METHOD);
	w_int(w, &b, 1);
	w_long(w, &b, 9);
	w_long(w, &b, 5);
	w_long(w, &b, 2);
	w_long(w, &b, 3);
	w_long(w, &b, T_TRACE);
	w_int(w, &b, 1);
	w_long(w, &b, 11);
	buf_addc(&b, 1);
	w_int(w, &b, 2); /* frames */
	for (uint32_t i = 0; i < 2; i++) {
		w_long(w, &b, 9);
		w_int(w, &b, 42 + i);
	}
	w_long(w, &b, T_STRING);
	w_int(w, &b, 1);
	w_long(w, &b, 3);
	w_text(w, &b, "pooled");
	w_event(w, 1, &b);
	buf_release(&b);
	return second;
}

static inline void w_sample(struct jfr_writer *w, int64_t ticks, int64_t trace)
{
	struct buf b = BUF_INIT;

	w_long(w, &b, ticks);
	w_long(w, &b, 7);
	w_long(w, &b, trace);
	w_event(w, T_SAMPLE, &b);
	buf_release(&b);
}

/* Writes an event with a field of each type; `text` is an encoded string. */
static inline void w_everything(struct jfr_writer *w, const void *text, size_t len)
{
	struct buf b = BUF_INIT;

	w_long(w, &b, 3000);
	w_long(w, &b, 500);
	buf_addc(&b, 1);
	buf_addc(&b, (char)-2);
	buf_addc(&b, (char)-2);
	w_number(w, &b, 0xe9, 2);
	w_number(w, &b, (uint16_t)-3, 2);
	w_int(w, &b, (uint32_t)-4);
	w_long(w, &b, INT64_C(-5));
	w_raw(&b, 0x3fc00000, 4);
	w_raw(&b, UINT64_C(0xc004000000000000), 8);
	buf_add(&b, text, len);
	w_int(w, &b, 3);
	for (uint32_t i = 1; i <= 3; i++)
		w_int(w, &b, i * 1000);
	w_text(w, &b, "inline");
	buf_addc(&b, 0);
	w_event(w, T_EVERYTHING, &b);
	buf_release(&b);
}

static inline void w_patch(struct jfr_writer *w, size_t at, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		w->file.data[w->chunk + at + i] = (char)(value >> 8 * (n - 1 - i));
}

static inline void w_begin_chunk(struct jfr_writer *w)
{
	w->chunk = w->file.len;
	buf_add(&w->file, "FLR", 4);
	w_raw(&w->file, w->major, 2);
	w_raw(&w->file, 0, 2);
	w_raw(&w->file, 0, 8);
	w_raw(&w->file, 0, 8);
	w_raw(&w->file, 0, 8);
	w_raw(&w->file, UINT64_C(1700000000000000000), 8);
	w_raw(&w->file, UINT64_C(2000000000), 8);
	w_raw(&w->file, 1000, 8);
	w_raw(&w->file, UINT64_C(1000000000), 8);
	w_raw(&w->file, !w->fixed, 4);
}

static inline void w_end_chunk(struct jfr_writer *w, size_t metadata, size_t constants)
{
	w_patch(w, 8, w->file.len - w->chunk, 8);
	w_patch(w, 16, constants - w->chunk, 8);
	w_patch(w, 24, metadata - w->chunk, 8);
}

/* Writes a complete chunk of three events. */
static inline void w_chunk(struct jfr_writer *w)
{
	static const char pooled[] = { 2, 3 };
	static const char pooled_fixed[] = { 2, 0, 0, 0, 0, 0, 0, 0, 3 };
	size_t metadata, constants;

	w_begin_chunk(w);
	w_sample(w, 2000, 11);
	metadata = w_metadata(w);
	constants = w_constants(w);
	w_sample(w, 2500, 0);
	if (w->fixed)
		w_everything(w, pooled_fixed, sizeof(pooled_fixed));
	else
		w_everything(w, pooled, sizeof(pooled));
	w_end_chunk(w, metadata, constants);
}

static inline void w_release(struct jfr_writer *w)
{
	buf_release(&w->file);
	buf_release(&w->tree);
}

/* A callback of jfr_reader_new() that reads from memory. */
static inline int w_read(void *arg, uint64_t at, void *data, size_t len)
{
	const struct buf *file = arg;

	if (at > file->len || len > file->len - at)
		return -5; /* -EIO: the reader asks for bytes past the end */
	memcpy(data, file->data + at, len);
	return 0;
}

#endif
