/*
 * The data and functions that the source files of the redactor share.  To the redactor, a dump is a
 * sequence of heads and bulks:
 * - A head is collected in hprof_redactor.head until it is complete, and then parsed.
 * - The bytes of a bulk are passed on as they arrive, unchanged or as zeros.
 */
#ifndef JTOOL_MODEL_HPROF_REDACT_INTERNAL_H
#define JTOOL_MODEL_HPROF_REDACT_INTERNAL_H

#include "model/hprof/hprof_internal.h"
#include "model/hprof/hprof_redact.h"
#include "model/hprof/redact_classes.h"

/* limit for a head in bytes; the longest, that of a CLASS_DUMP, is 7 identifiers and 10 bytes */
#define REDACT_HEAD_MAX 80

/*
 * The kind of the head that is being collected in hprof_redactor.head.  The head is complete when
 * hprof_redactor.head has hprof_redactor.need bytes.
 */
enum redact_state {
	HEADER,
	RECORD,
	BODY, /* the first bytes of a record's content; how many depends on the record's tag */
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

/* The texts of symbols that the redactor must recognise. */
enum redact_text {
	TEXT_HASH, /* "hash" or "hashCode" */
	TEXT_SIZE, /* "size" */
	TEXT_STACK_CHUNK, /* "jdk/internal/vm/StackChunk" */
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
	uint64_t bulk; /* number of bytes of the current bulk that have not arrived yet */
	bool clear;    /* the bytes of the current bulk are passed on as zeros */
	/* indices in classes.runs: the next run of the current instance; the end of its runs */
	size_t run, end_run;
	uint64_t left; /* bytes of this record or segment that follow the current head or bulk */
	uint32_t items; /* number of constants or fields of the CLASS_DUMP that were not read yet */
	uint64_t class;      /* address of the class of the current CLASS_DUMP */
	bool in_dump, segmented, ended;
	/* the first object was not reached yet: all bytes so far are in `held`, not passed on */
	bool holding;
	struct buf held;
	struct redact_symbol *symbols;
	size_t n_symbols, cap_symbols;
	struct id_map names; /* ids of the symbols that are names, and are therefore not cleared */
	bool has_text; /* the last symbol is short, and note_text() did not examine it yet */
	/*
	 * Maps ids of symbols to enum redact_text, for the texts that note_text() recognises.  One
	 * id for each text would not be enough: HotSpot also dumps symbols that are no longer used,
	 * so two symbols may have the same text.
	 */
	struct id_map texts;
	uint64_t stack_chunk_class;
	struct redact_classes classes;
};

/* Defined in hprof_redact.c: */
/* Sets err to "cannot redact the dump: it is invalid at byte N: " and the text.  Returns -1. */
int redact_invalid(const struct hprof_redactor *r, struct err *err, const char *fmt, ...)
	_printf_(3, 4);
/*
 * Begins a head of `need` bytes, and changes to `state`.  Returns -1 with err set if the record or
 * segment has fewer bytes left.
 */
int redact_await(struct hprof_redactor *r, enum redact_state state, size_t need, struct err *err)
	_must_check_;
/*
 * Begins a bulk of `bytes` bytes, which are passed on as zeros if `clear` is set, else unchanged.
 * Returns -1 with err set if the record or segment has fewer bytes left.
 */
int redact_pass(struct hprof_redactor *r, uint64_t bytes, bool clear, struct err *err)
	_must_check_;
void redact_next_record(struct hprof_redactor *r);
int redact_next_subrecord(struct hprof_redactor *r, struct err *err) _must_check_;
/*
 * Returns identifier number `i` in the head.  Identifier 0 is at offset `skip` of the head, and the
 * next identifiers are directly after it.
 */
uint64_t redact_id_at(const struct hprof_redactor *r, size_t skip, size_t i);
void redact_note_name(struct hprof_redactor *r, uint64_t symbol);
/* Clears the symbols in r->held that are not names.  After that, r->held can be passed on. */
void redact_release(struct hprof_redactor *r);

/*
 * Defined in redact_dump.c: processes a complete head in a heap dump segment.  r->state must be
 * SUBRECORD or a state that enum redact_state lists after SUBRECORD.
 */
int redact_take_dump(struct hprof_redactor *r, struct err *err) _must_check_;

#endif
