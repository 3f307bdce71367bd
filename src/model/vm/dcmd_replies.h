/* Parses the untrusted replies of JDK 8 to 27 to VM.version, VM.command_line and GC.heap_info. */
#ifndef JTOOL_MODEL_VM_DCMD_REPLIES_H
#define JTOOL_MODEL_VM_DCMD_REPLIES_H

#include <stdint.h>

#include "base/util.h"

/*
 * Parses the reply "NAME version RELEASE" of VM.version.  Sets *vm to NAME and *release to RELEASE,
 * for example "17.0.9+9" or "1.8.0_504".  Sets both to NULL if the reply has another form.  The
 * caller frees both.
 */
void dcmd_reply_version(const char *text, char **vm, char **release);

/*
 * Returns VALUE of the line "KEY: VALUE" in a reply to VM.command_line; NULL if there is no such
 * line.  The caller frees VALUE.
 */
char *dcmd_reply_line(const char *text, const char *key);

/*
 * Sizes from GC.heap_info, in bytes; -1: not in the reply, or not exact there (Serial omits a
 * survivor space).
 */
struct dcmd_reply_heap {
	int64_t used, committed, max;
	int64_t metaspace_used, metaspace_committed;
};
void dcmd_reply_heap(const char *text, struct dcmd_reply_heap *out);

#endif
