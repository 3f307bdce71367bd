/* The data and functions that the files of the redactor share. */
#ifndef JTOOL_MODEL_HPROF_REDACT_INTERNAL_H
#define JTOOL_MODEL_HPROF_REDACT_INTERNAL_H

#include "model/hprof/hprof_internal.h"
#include "model/hprof/hprof_redact.h"
#include "model/hprof/redact_classes.h"

#define REDACT_HEAD_MAX 80 /* the head of a class: 7 identifiers and 10 bytes */

/* What `head` holds when it has `need` bytes. */
enum redact_state {
	HEADER,
	RECORD,
	BODY, /* the first bytes of a record, by its tag */
	SUBRECORD,
	ROOT,
	CLASS,
	CONSTANT,
	STATIC,
	FIELD,
	STATICS, /* how many follow */
	FIELDS,
	INSTANCE,
	OBJECT_ARRAY,
	PRIMITIVE_ARRAY,
};

struct redact_symbol {
	uint64_t id;
	size_t at, len; /* in `held` */
};

struct hprof_redactor {
	enum hprof_redact what;
	size_t max_memory;
	hprof_redact_out *out;
	void *arg;
	unsigned id_size;
	/* The place in the dump. */
	uint64_t at;   /* bytes taken */
	enum redact_state state;
	unsigned tag;  /* of the record */
	uint8_t head[REDACT_HEAD_MAX];
	size_t n_head, need;
	uint64_t bulk; /* bytes to pass or to clear before the next head */
	bool clear;
	size_t run, end_run; /* of the instance: more bulk, in classes.runs */
	uint64_t left;       /* bytes of the record or segment that no head or bulk has yet */
	uint32_t items;      /* constants or fields that follow in a CLASS_DUMP */
	uint64_t class;      /* the class that the CLASS_DUMP is of */
	bool in_dump, segmented, ended;
	/* What precedes the first object. */
	bool holding;
	struct buf held;
	struct redact_symbol *symbols;
	size_t n_symbols, cap_symbols;
	struct id_map names; /* symbols that are names */
	bool has_text;       /* the last symbol is to be compared */
	uint64_t hash, hash_code, size, stack_chunk; /* symbols; 0: unknown */
	uint64_t stack_chunk_class;
	struct redact_classes classes;
};

/* hprof_redact.c */
/* Sets err to "cannot redact the dump: it is invalid at byte N: …".  Always returns -1. */
int redact_invalid(const struct hprof_redactor *r, struct err *err, const char *fmt, ...)
	_printf_(3, 4);
/* Lets the next head have `need` bytes of the record or segment. */
int redact_await(struct hprof_redactor *r, enum redact_state state, size_t need, struct err *err)
	_must_check_;
/* Lets the next bytes of the record or segment pass, or clears them. */
int redact_pass(struct hprof_redactor *r, uint64_t bytes, bool clear, struct err *err)
	_must_check_;
void redact_next_record(struct hprof_redactor *r);
int redact_next_subrecord(struct hprof_redactor *r, struct err *err) _must_check_;
/* Returns identifier `i` of the head, after `skip` other bytes. */
uint64_t redact_id_at(const struct hprof_redactor *r, size_t skip, size_t i);
void redact_note_name(struct hprof_redactor *r, uint64_t symbol);
/* Clears the symbols that are not names; what was held can be passed on then. */
void redact_release(struct hprof_redactor *r);

/* redact_dump.c: takes a head that belongs to a segment, in a state from SUBRECORD on. */
int redact_take_dump(struct hprof_redactor *r, struct err *err) _must_check_;

#endif
