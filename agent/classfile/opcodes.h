/* Opcodes by their names in the JVMS: OP_aload_0, OP_invokestatic. */
#ifndef JTOOL_AGENT_CLASSFILE_OPCODES_H
#define JTOOL_AGENT_CLASSFILE_OPCODES_H

enum opcode {
#define ROW(code, name, operands) OP_##name = (code),
#include "classfile/opcodes.def"
#undef ROW
};

#endif
