/* The compressed agent; the build sets AGENT_FILE to its path in the build tree. */
	.section .rodata
	.global jtool_agent_gz
	.global jtool_agent_gz_len
	.type jtool_agent_gz, %object
	.type jtool_agent_gz_len, %object
	.balign 16
jtool_agent_gz:
	.incbin AGENT_FILE
.Lend:
	.size jtool_agent_gz, .Lend - jtool_agent_gz
	.balign 8
jtool_agent_gz_len: /* a size_t, which is as wide as an address */
	.dc.a .Lend - jtool_agent_gz
	.size jtool_agent_gz_len, . - jtool_agent_gz_len
	.section .note.GNU-stack, "", %progbits
#ifdef __CET__
#include <cet.h> /* marks the object: one without the mark would disable CET for the program */
#endif
