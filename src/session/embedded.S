/* AGENT_FILE comes from the build: the agent's path in the build tree. */
	.section .rodata
	.global jtool_agent
	.global jtool_agent_len
	.type jtool_agent, %object
	.type jtool_agent_len, %object
	.balign 16
jtool_agent:
	.incbin AGENT_FILE
.Lend:
	.size jtool_agent, .Lend - jtool_agent
	.balign 8
jtool_agent_len: /* a size_t: as wide as an address */
	.dc.a .Lend - jtool_agent
	.size jtool_agent_len, . - jtool_agent_len
	.section .note.GNU-stack, "", %progbits
