/* Sends classes in CLASS_ROWS frames, whose rows the client numbers from 0. */
#ifndef JTOOL_AGENT_CMD_CLASS_ROWS_H
#define JTOOL_AGENT_CMD_CLASS_ROWS_H

#include "cmd/origins_send.h"

/*
 * Sends the rows of n classes.  Before a row, sends the class's loader, module and code source,
 * unless the client has them already.  A NULL in `classes` stands for an unloaded class.
 */
int ag_class_rows(struct ag_origins *p, const jclass *classes, uint32_t n);

#endif
