/* The compressed files inside the program; the build sets AGENT_FILE and the others. */
	.section .rodata

/*
 * Defines NAME, the bytes of a file, and NAME_len, their number as a size_t, which is as wide as an
 * address.
 */
.macro embed name, file
	.global \name
	.type \name, %object
	.balign 16
\name:
	.incbin "\file"
.Lend_\name:
	.size \name, .Lend_\name - \name
	.global \name\()_len
	.type \name\()_len, %object
	.balign 8
\name\()_len:
	.dc.a .Lend_\name - \name
	.size \name\()_len, . - \name\()_len
.endm

	embed jtool_agent_gz, AGENT_FILE
	embed jtool_manual_gz, MANUAL_FILE
	embed jtool_flamegraph_gz, FLAMEGRAPH_FILE
	embed jtool_views_gz, VIEWS_FILE

	.section .note.GNU-stack, "", %progbits
#ifdef __CET__
#include <cet.h> /* marks the object: one without the mark would disable CET for the program */
#endif
