/* AGENT_FILE comes from the build: the agent's path in the build tree. */
	.section .rodata
	.global jtool_agent
	.global jtool_agent_end
	.type jtool_agent, %object
	.balign 16
jtool_agent:
	.incbin AGENT_FILE
jtool_agent_end:
	.byte 0
	.size jtool_agent, jtool_agent_end - jtool_agent
	.section .note.GNU-stack, "", %progbits
