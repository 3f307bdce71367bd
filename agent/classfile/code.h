/* Reads the Code attribute (JVMS 4.7.3) and its instructions (JVMS 6.5). */
#ifndef JTOOL_AGENT_CLASSFILE_CODE_H
#define JTOOL_AGENT_CLASSFILE_CODE_H

#include "classfile/opcodes.h"
#include "classfile/read.h"

struct cf_code {
	uint16_t max_stack, max_locals;
	uint32_t len;
	const uint8_t *code;
	uint16_t n_handlers;
	const uint8_t *handlers; /* 8 bytes per handler: see cf_handler() */
	struct cf_attributes attributes;
};

/* Returns false if the method has no Code attribute, or if the attribute is truncated. */
bool cf_code(const struct cf_member *method, struct cf_code *code);

struct cf_handler {
	/*
	 * `start`, `end` and `handler` are pcs.  `type` is the index of the Class constant of the
	 * caught class; 0: the handler catches any exception.
	 */
	uint16_t start, end, handler, type;
};
struct cf_handler cf_handler(const struct cf_code *code, uint16_t i);

/*
 * Which operands an instruction has.  The comments below name the members of struct cf_insn that
 * contain the operands.  A constant is given by its index in the constant pool.  Offsets are
 * relative to the pc of the instruction.
 */
enum cf_operands {
	CF_OP_ILLEGAL,   /* not an instruction */
	CF_OP_NONE,
	CF_OP_BYTE,      /* bipush: the sign-extended byte in `value` */
	CF_OP_SHORT,     /* sipush: the sign-extended short in `value` */
	CF_OP_LOCAL,     /* the number of a local variable in `index` */
	CF_OP_IINC,      /* iinc: a local variable in `index`, an increment in `value` */
	CF_OP_LDC,       /* ldc: a constant in `index`; the code has only one byte for it */
	CF_OP_CONSTANT,  /* a constant in `index` */
	CF_OP_INTERFACE, /* invokeinterface: a constant in `index`, the count in `value` */
	CF_OP_DYNAMIC,   /* invokedynamic: a constant in `index` */
	CF_OP_ARRAY,     /* newarray: the type in `value` (JVMS table 6.5.newarray-A) */
	CF_OP_MULTI,     /* multianewarray: a constant in `index`, the dimensions in `value` */
	CF_OP_BRANCH,    /* a jump: the offset of the target in `value` */
	CF_OP_BRANCH_W,
	CF_OP_TABLE,     /* tableswitch */
	CF_OP_LOOKUP,    /* lookupswitch */
	CF_OP_WIDE,      /* the wide prefix; cf_insn() decodes it and the next opcode as one insn */
};

enum cf_operands cf_operands(uint8_t opcode);
/* Returns a name such as "aload_0", or NULL if the opcode is illegal.  For the client only. */
const char *cf_mnemonic(uint8_t opcode);

struct cf_insn {
	uint32_t pc, len; /* len: in bytes, with the wide prefix, the padding and the operands */
	uint8_t opcode;   /* enum opcode; if `wide`, the opcode after the wide prefix */
	bool wide;
	enum cf_operands operands;
	uint16_t index;
	int32_t value;
	/*
	 * For a switch: `otherwise` is the offset of the default case's target, `low` is the lowest
	 * key of a tableswitch, and `n` is the number of cases without the default case.
	 */
	int32_t otherwise, low;
	uint32_t n;
	const uint8_t *cases;
};

/*
 * Decodes the instruction at pc.  Returns false if the instruction is illegal, or crosses the end
 * of the code.
 */
bool cf_insn(const uint8_t *code, uint32_t len, uint32_t pc, struct cf_insn *insn);

bool cf_is_switch(const struct cf_insn *insn);

struct cf_case {
	int32_t key, offset;
};
/* Returns the i-th case of a switch; i < insn->n. */
struct cf_case cf_case(const struct cf_insn *insn, uint32_t i);

bool cf_is_return(uint8_t opcode);
/* Returns true if control never falls through insn: goto, athrow, return, switch, ret. */
bool cf_ends_flow(const struct cf_insn *insn);

#endif
