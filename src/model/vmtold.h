/*
 * What a JVM answers to VM.version, VM.command_line and GC.heap_info, JDK 8 to 27.  Pure: the
 * answers are hostile texts.
 */
#ifndef JTOOL_MODEL_VMTOLD_H
#define JTOOL_MODEL_VMTOLD_H

#include <stdint.h>

#include "base/util.h"

/*
 * VM.version: "NAME version RELEASE", and "JDK 17.0.15" behind it.  Allocated; NULL where it
 * does not say.
 */
void vmtold_version(const char *text, char **vm, char **release);

/* VM.command_line: the line "KEY: VALUE" ("jvm_args", "java_command").  Allocated, or NULL. */
char *vmtold_line(const char *text, const char *key);

/* GC.heap_info.  Bytes; -1 where it does not say, or only nearly (Serial: without a survivor). */
struct vmtold_heap {
	int64_t used, committed, max;
	int64_t metaspace_used, metaspace_committed;
};
void vmtold_heap(const char *text, struct vmtold_heap *out);

#endif
