#include "cmd/metaspace.h"

#include <string.h>

#include "cmd/answer.h"
#include "model/vmtold.h"

#define MB (INT64_C(1) << 20)
#define ANSWER_MAX (1024u * 1024)
/*
 * Measured for all that --exact replaces, until the JVM throws away what it replaced: 7 to 16 MB
 * in a small application, in a Tomcat of 4000 classes a good half of what it used before.
 */
#define NEEDED(used) (16 * MB + (used) / 2)

/* The flag because of which the JVM does not outlive it; NULL: there is none. */
static const struct vmflag *ends_itself(const struct vmflags *flags)
{
	static const char *const names[] = {
		"ExitOnOutOfMemoryError", "CrashOnOutOfMemoryError", "OnOutOfMemoryError",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct vmflag *flag = vmflags_find(flags, names[i]);

		if (flag && *flag->value && strcmp(flag->value, "false") != 0)
			return flag;
	}
	return NULL;
}

/* -1: it is not limited. */
static int64_t most(const struct vmflags *flags)
{
	const struct vmflag *flag = vmflags_find(flags, "MaxMetaspaceSize");
	unsigned long long n = flag ? strtoull(flag->value, NULL, 10) : 0;

	return n == 0 || n > INT64_MAX ? -1 : (int64_t)n;
}

/* From JDK 25 on it is no part of what is said about the heap.  -1: the JVM does not tell. */
static int64_t used_of(const struct ctx *ctx)
{
	static const char *const commands[] = { "GC.heap_info", "VM.metaspace basic" };
	struct vmtold_heap told = { .metaspace_used = -1 };

	for (size_t i = 0; i < ARRAY_SIZE(commands) && told.metaspace_used < 0; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct err ignored = { 0 };

		if (answer_jcmd(ctx, commands[i], ANSWER_MAX, &text, &ignored) == 0)
			vmtold_heap(buf_str(&text), &told);
	}
	return told.metaspace_used;
}

/* What becomes of the JVM when there is too little. */
static void add_end(struct buf *out, const struct vmflags *flags)
{
	const struct vmflag *end = ends_itself(flags);

	if (!end) {
		buf_adds(out, "its threads would get OutOfMemoryError");
		return;
	}
	buf_adds(out, "the JVM would end (");
	vmflag_spell(end, out);
	buf_adds(out, ")");
}

int metaspace_refuse(const struct ctx *ctx, const struct vmflags *flags, struct err *err)
{
	_cleanup_buf_ struct buf end = BUF_INIT;
	int64_t max = most(flags), used;

	if (max < 0)
		return 0;
	used = used_of(ctx);
	if (used < 0 || used + NEEDED(used) <= max)
		return 0;
	add_end(&end, flags);
	return err_set(err, EXIT_ANSWER,
		       "JVM %d may take %lld MB for its classes (-XX:MaxMetaspaceSize) and has "
		       "taken %lld: --exact may take %lld more, without which %.200s; nothing was "
		       "done: %sstart the JVM with a higher limit",
		       (int)ctx->jvm->pid, (long long)(max / MB), (long long)(used / MB),
		       (long long)(NEEDED(used) / MB), buf_str(&end),
		       jvm_feature(ctx->jvm) == 8 ? "" : "sample without --exact, or ");
}
