/* The agent, as the build put it into this binary. */
#ifndef JTOOL_SESSION_EMBEDDED_H
#define JTOOL_SESSION_EMBEDDED_H

#include <stddef.h>

extern const unsigned char jtool_agent[];
extern const unsigned char jtool_agent_end[];

static inline size_t jtool_agent_len(void)
{
	return (size_t)(jtool_agent_end - jtool_agent);
}

#endif
