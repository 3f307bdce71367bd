/*
 * The flags of a JVM as a table or as JSON.
 */
#ifndef JTOOL_RENDER_VMFLAGS_SHOW_H
#define JTOOL_RENDER_VMFLAGS_SHOW_H

#include "model/vmflags.h"
#include "render/json.h"

void vmflags_print(const struct vmflags *flags, FILE *out);

/* Documents; the caller's.  {"pid","flags":[{"name","type","value",...}]} */
struct json *vmflags_json(const struct vmflags *flags, int64_t pid) _must_check_;
/* {"pid","name","type","value",...}; with what it was before it was set: "old", too. */
struct json *vmflag_json(const struct vmflag *flag, const struct vmflag *old, int64_t pid)
	_must_check_;

#endif
