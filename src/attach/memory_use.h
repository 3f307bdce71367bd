/* How much memory an operation of the attach protocol takes in the JVM.  Does no I/O. */
#ifndef JTOOL_ATTACH_MEMORY_USE_H
#define JTOOL_ATTACH_MEMORY_USE_H

#include "attach/protocol.h"
#include "discover/memory_room.h"

/*
 * Returns the memory use of an operation or diagnostic command of JDK 8 to 27.  If memory_use.c
 * does not list the operation or command, returns MEMORY_REQUEST, which means little memory.
 */
enum memory_use attach_memory_use(const struct attach_request *req);

#endif
