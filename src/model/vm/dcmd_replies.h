/* Parses the untrusted replies to VM.version, VM.command_line and GC.heap_info of JDK 8 to 27. */
#ifndef JTOOL_MODEL_VM_DCMD_REPLIES_H
#define JTOOL_MODEL_VM_DCMD_REPLIES_H

#include <stdint.h>

#include "base/util.h"

/* Sets *vm and *release from "NAME version RELEASE"; NULL if missing.  The caller frees them. */
void dcmd_reply_version(const char *text, char **vm, char **release);

/* Returns VALUE of a line "KEY: VALUE" of VM.command_line, or NULL.  The caller frees it. */
char *dcmd_reply_line(const char *text, const char *key);

/* GC.heap_info, in bytes; -1 if missing or inexact (Serial omits a survivor space). */
struct dcmd_reply_heap {
	int64_t used, committed, max;
	int64_t metaspace_used, metaspace_committed;
};
void dcmd_reply_heap(const char *text, struct dcmd_reply_heap *out);

#endif
