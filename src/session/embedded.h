/* The agent, as the build put it into this binary. */
#ifndef JTOOL_SESSION_EMBEDDED_H
#define JTOOL_SESSION_EMBEDDED_H

#include <stddef.h>

extern const unsigned char jtool_agent[];
extern const size_t jtool_agent_len;

#endif
