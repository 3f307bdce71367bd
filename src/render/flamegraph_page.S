/* FLAMEGRAPH_PAGE comes from the build: flamegraph.html, as it is. */
	.section .rodata
	.global jtool_flamegraph_page
	.global jtool_flamegraph_page_len
	.type jtool_flamegraph_page, %object
	.type jtool_flamegraph_page_len, %object
jtool_flamegraph_page:
	.incbin FLAMEGRAPH_PAGE
.Lend:
	.size jtool_flamegraph_page, .Lend - jtool_flamegraph_page
	.balign 8
jtool_flamegraph_page_len: /* a size_t: as wide as an address */
	.dc.a .Lend - jtool_flamegraph_page
	.size jtool_flamegraph_page_len, . - jtool_flamegraph_page_len
	.section .note.GNU-stack, "", %progbits
