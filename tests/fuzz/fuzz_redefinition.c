/* Checks whether one class file may replace another: one from a target and one from a user. */
#include "model/redefine/redefinition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const struct cf_class *running, const struct cf_class *new, uint8_t how)
{
	const struct redefinition_jvm jvm = {
		.release = 8 + (how & 31u),
		.may_add_delete = how & 32,
		.may_preview = how & 64,
		.unverified = how & 128,
	};
	struct buf why = BUF_INIT;

	if ((redefinition_check(running, new, &jvm, &why) == 0) != (why.len == 0))
		__builtin_trap();
	redefinition_notes(running, new, &why);
	buf_release(&why);
}

/* Input: one byte for the JVM, two for the length of the first class. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_class running, new;
	size_t len;

	if (size < 3)
		return 0;
	len = (size_t)cf_peek_u2(data + 1);
	if (len > size - 3 || cf_open(&running, data + 3, len, &mem))
		return 0;
	if (!cf_open(&new, data + 3 + len, size - 3 - len, &mem)) {
		compare(&running, &new, data[0]);
		cf_release(&new);
	}
	cf_release(&running);
	if (mem.blocks > 0)
		__builtin_trap();
	return 0;
}
