/*
 * The data and functions that the files of the redactor share.  The redactor takes a dump in pieces
 * of two kinds: a head, which it collects in hprof_redactor.head and parses, and a bulk, whose
 * bytes pass or are cleared without being collected.
 */
#ifndef JTOOL_MODEL_HPROF_REDACT_INTERNAL_H
#define JTOOL_MODEL_HPROF_REDACT_INTERNAL_H

#include "model/hprof/hprof_internal.h"
#include "model/hprof/hprof_redact.h"
#include "model/hprof/redact_classes.h"

/* bytes of the longest head, that of a CLASS_DUMP: 7 identifiers and 10 bytes */
#define REDACT_HEAD_MAX 80

/*
 * The part of the dump that is being collected in hprof_redactor.head.  The head is complete when
 * it has hprof_redactor.need bytes.
 */
enum redact_state {
	HEADER,
	RECORD,
	BODY, /* the first bytes of a record's content; their number depends on the record's tag */
	SUBRECORD,
	ROOT,
	CLASS,
	CONSTANT,
	STATIC,
	FIELD,
	STATICS, /* the number of static fields */
	FIELDS,
	INSTANCE,
	OBJECT_ARRAY,
	PRIMITIVE_ARRAY,
};

struct redact_symbol {
	uint64_t id;
	size_t at, len; /* the symbol's bytes in hprof_redactor.held */
};

struct hprof_redactor {
	enum hprof_redact what;
	size_t max_memory;
	hprof_redact_out *out;
	void *arg;
	unsigned id_size;
	/* The position in the dump. */
	uint64_t at;   /* bytes processed so far */
	enum redact_state state;
	unsigned tag;  /* tag of the current record */
	uint8_t head[REDACT_HEAD_MAX];
	size_t n_head, need;
	uint64_t bulk; /* bytes to pass or to clear before the next head */
	bool clear;
	/* the next run of the current instance, and the end of its runs: indices in classes.runs */
	size_t run, end_run;
	uint64_t left; /* bytes of the record or segment after the current head or bulk */
	uint32_t items; /* number of constants or fields of the CLASS_DUMP that were not read yet */
	uint64_t class;      /* address of the class of the current CLASS_DUMP */
	bool in_dump, segmented, ended;
	/* the bytes before the first object are in `held` and not passed on yet */
	bool holding;
	struct buf held;
	struct redact_symbol *symbols;
	size_t n_symbols, cap_symbols;
	struct id_map names; /* ids of the symbols that are names and are not removed */
	bool has_text; /* the last symbol is short enough for note_text() to look at its text */
	/* ids of the symbols that note_text() looks for; 0: not read yet */
	uint64_t hash, hash_code, size, stack_chunk;
	uint64_t stack_chunk_class;
	struct redact_classes classes;
};

/* Defined in hprof_redact.c: */
/* Sets err to "cannot redact the dump: it is invalid at byte N: …".  Returns -1. */
int redact_invalid(const struct hprof_redactor *r, struct err *err, const char *fmt, ...)
	_printf_(3, 4);
/*
 * Changes to `state`, whose head is the next `need` bytes of the record or segment.  Returns -1
 * with err set if fewer remain.
 */
int redact_await(struct hprof_redactor *r, enum redact_state state, size_t need, struct err *err)
	_must_check_;
/*
 * Passes the next bytes on to the output, unchanged or as zeros (`clear`).  Returns -1 with err set
 * if the record or segment has fewer bytes left.
 */
int redact_pass(struct hprof_redactor *r, uint64_t bytes, bool clear, struct err *err)
	_must_check_;
void redact_next_record(struct hprof_redactor *r);
int redact_next_subrecord(struct hprof_redactor *r, struct err *err) _must_check_;
/*
 * Returns the identifier `i` in the head.  Identifier 0 begins `skip` bytes after the start of the
 * head, and the others follow.
 */
uint64_t redact_id_at(const struct hprof_redactor *r, size_t skip, size_t i);
void redact_note_name(struct hprof_redactor *r, uint64_t symbol);
/* Clears the symbols in `held` that are not names.  After that, `held` can be passed on. */
void redact_release(struct hprof_redactor *r);

/*
 * Defined in redact_dump.c: processes a complete head in a heap dump segment; r->state is SUBRECORD
 * or a state after it in enum redact_state.
 */
int redact_take_dump(struct hprof_redactor *r, struct err *err) _must_check_;

#endif
