/* The -XX flags of a JVM as a table or as JSON. */
#ifndef JTOOL_RENDER_VM_VMFLAGS_TABLE_H
#define JTOOL_RENDER_VM_VMFLAGS_TABLE_H

#include "model/vm/vmflags.h"
#include "render/json.h"

/* Prints the flags as a table; or as the document {"pid","flags":[{"name","type","value",...}]}. */
void vmflags_output(const struct vmflags *flags, int64_t pid, bool json, FILE *out);
/*
 * Returns a flag as the JSON object {"pid","name",...}, which the caller frees.  After a change of
 * the flag, `old` is the flag before the change, and the object also has the member "old";
 * otherwise `old` is NULL.
 */
struct json *vmflag_json(const struct vmflag *flag, const struct vmflag *old, int64_t pid)
	_must_check_;

#endif
