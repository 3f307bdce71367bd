/* The -XX flags of a JVM as a table or as JSON. */
#ifndef JTOOL_RENDER_VM_VMFLAGS_TABLE_H
#define JTOOL_RENDER_VM_VMFLAGS_TABLE_H

#include "model/vm/vmflags.h"
#include "render/json.h"

/* Prints the table, or the document {"pid","flags":[{"name","type","value",...}]}. */
void vmflags_output(const struct vmflags *flags, int64_t pid, bool json, FILE *out);
/*
 * Returns the JSON object {"pid","name",...} of a flag; the caller frees it.  If `old`, the flag
 * before a change, is not NULL, the object has the member "old".
 */
struct json *vmflag_json(const struct vmflag *flag, const struct vmflag *old, int64_t pid)
	_must_check_;

#endif
