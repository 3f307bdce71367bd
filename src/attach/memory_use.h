/* What an operation of the attach protocol makes the JVM do.  Pure. */
#ifndef JTOOL_ATTACH_MEMORY_USE_H
#define JTOOL_ATTACH_MEMORY_USE_H

#include "attach/protocol.h"
#include "discover/memory_room.h"

/*
 * Knows the operations and diagnostic commands that take more memory than others, of JDK 8 to 27;
 * any other one is a MEMORY_REQUEST.
 */
enum memory_use attach_memory_use(const struct attach_request *req);

#endif
