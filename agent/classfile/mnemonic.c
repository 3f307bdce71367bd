#include <string.h>

#include "classfile/code.h"

const char *cf_mnemonic(uint8_t opcode)
{
	/* One string, in the order of the opcodes, which have no gaps: pointers would take 2 KB. */
	static const char names[] =
#define ROW(code, name, operands) #name "\0"
#include "classfile/opcodes.def"
#undef ROW
		;
	const char *at = names;

	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch): an empty name ends `names` */
	for (; *at && opcode > 0; opcode--)
		at += strlen(at) + 1;
	return *at ? at : NULL;
}
