/* CLASS_ROWS: classes that get their numbers by it. */
#ifndef JTOOL_AGENT_CMD_CLASS_ROWS_H
#define JTOOL_AGENT_CMD_CLASS_ROWS_H

#include "cmd/places.h"

/* Tell n classes, and first the places that they come from; NULL: a class that is gone. */
int ag_class_rows(struct ag_places *p, const jclass *classes, uint32_t n);

#endif
