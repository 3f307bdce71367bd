/* Parses a list of flags: untrusted, because any process may pose as a JVM. */
#include <string.h>

#include "model/vm/vmflags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks that a value for the JVM has only characters that sscanf(3) in the JVM reads. */
static void check_wire(const struct vmflag *flag)
{
	_cleanup_buf_ struct buf wire = BUF_INIT;
	struct err err = { .code = EXIT_DONE };
	enum vmflag_form form = vmflag_form(flag);
	const char *allowed = form == VMFLAG_DOUBLE ? "0123456789.-+eE" : "-0123456789";

	if (vmflag_wire_value(flag, flag->value, &wire, &err) < 0) {
		if (err.code != EXIT_ANSWER)
			__builtin_trap();
		return;
	}
	if (form != VMFLAG_TEXT && (wire.len == 0 || strspn(wire.data, allowed) != wire.len))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vmflags flags = { 0 };
	int rc = vmflags_parse(&flags, (const char *)data, size);

	for (size_t i = 0; i < flags.n; i++) {
		_cleanup_buf_ struct buf spelled = BUF_INIT;

		vmflag_append_option(&flags.items[i], &spelled);
		if (strncmp(buf_str(&spelled), "-XX:", 4) != 0 ||
		    !vmflags_find(&flags, flags.items[i].name))
			__builtin_trap();
		check_wire(&flags.items[i]);
	}
	if (rc == 0)
		vmflags_filter(&flags, "*Heap*");
	vmflags_release(&flags);
	return 0;
}
