#include "classfile/code.h"

const char *cf_mnemonic(uint8_t opcode)
{
	static const char *const names[256] = {
#define ROW(code, name, operands) [code] = #name,
#include "classfile/opcodes.def"
#undef ROW
	};

	return names[opcode];
}
