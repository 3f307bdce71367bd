/*
 * The Code attribute (JVMS 4.7.3) and the instructions in it (JVMS 6.5).
 */
#ifndef JTOOL_CLASSFILE_CODE_H
#define JTOOL_CLASSFILE_CODE_H

#include "classfile/read.h"

struct cf_code {
	uint16_t max_stack, max_locals;
	uint32_t len;
	const uint8_t *code;
	uint16_t n_handlers;
	const uint8_t *handlers; /* 8 bytes each: see cf_handler() */
	struct cf_attributes attributes;
};

/* False when the method has none. */
bool cf_code(const struct cf_member *method, struct cf_code *code);

struct cf_handler {
	uint16_t start, end, handler, type; /* type: a Class constant, 0 for any */
};
struct cf_handler cf_handler(const struct cf_code *code, uint16_t i);

/* What follows an opcode. */
enum cf_operands {
	CF_OP_ILLEGAL,   /* no instruction at all */
	CF_OP_NONE,
	CF_OP_BYTE,      /* bipush: value */
	CF_OP_SHORT,     /* sipush: value */
	CF_OP_LOCAL,     /* a local variable: index */
	CF_OP_IINC,      /* a local variable and a constant: index, value */
	CF_OP_LDC,       /* a constant, one byte: index */
	CF_OP_CONSTANT,  /* a constant: index */
	CF_OP_INTERFACE, /* invokeinterface: index, count in value */
	CF_OP_DYNAMIC,   /* invokedynamic: index */
	CF_OP_ARRAY,     /* newarray: the type in value (JVMS table 6.5.newarray-A) */
	CF_OP_MULTI,     /* multianewarray: index, dimensions in value */
	CF_OP_BRANCH,    /* value is the offset */
	CF_OP_BRANCH_W,
	CF_OP_TABLE,     /* tableswitch */
	CF_OP_LOOKUP,    /* lookupswitch */
	CF_OP_WIDE,      /* never reported: the instruction behind it is */
};

enum cf_operands cf_operands(uint8_t opcode);
/* "aload_0"; NULL for what is no instruction.  jtool's only: the agent needs no names. */
const char *cf_mnemonic(uint8_t opcode);

struct cf_insn {
	uint32_t pc, len; /* len includes the operands, the padding and a wide in front */
	uint8_t opcode;   /* behind a wide: the widened one */
	bool wide;
	enum cf_operands operands;
	uint16_t index;
	int32_t value;
	/* switches: where no match leads; n cases, of keys low + i or each with its key */
	int32_t otherwise, low;
	uint32_t n;
	const uint8_t *cases;
};

/* The instruction at pc; false when it is none or ends behind the code. */
bool cf_insn(const uint8_t *code, uint32_t len, uint32_t pc, struct cf_insn *insn);

bool cf_is_switch(const struct cf_insn *insn);

struct cf_case {
	int32_t key, offset;
};
/* The i-th case of a switch, i < insn->n. */
struct cf_case cf_case(const struct cf_insn *insn, uint32_t i);

/* Control never goes on behind it: goto, athrow, a return, a switch, ret. */
bool cf_ends_flow(const struct cf_insn *insn);

#endif
