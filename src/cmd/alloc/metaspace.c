#include "cmd/alloc/metaspace.h"

#include <string.h>

#include "cmd/attach_call.h"
#include "model/vm/dcmd_replies.h"

#define MB (INT64_C(1) << 20)
#define ANSWER_MAX (1024u * 1024)
/*
 * Metaspace in bytes that is needed until the JVM frees the old versions of the classes that
 * --exact replaces.  Measured:
 * - in a small application: 7 to 16 MB;
 * - in Tomcat (4000 classes): a little more than half of the metaspace that was in use before.
 */
#define NEEDED(used) (16 * MB + (used) / 2)

/*
 * Returns the flag that makes the JVM exit at an OutOfMemoryError, or run a command that may end
 * the JVM (OnOutOfMemoryError); NULL if no such flag is set.
 */
static const struct vmflag *oom_exit_flag(const struct vmflags *flags)
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

/* Returns MaxMetaspaceSize in bytes, or -1 if it is unlimited. */
static int64_t metaspace_limit(const struct vmflags *flags)
{
	const struct vmflag *flag = vmflags_find(flags, "MaxMetaspaceSize");
	unsigned long long n = flag ? strtoull(flag->value, NULL, 10) : 0;

	return n == 0 || n > INT64_MAX ? -1 : (int64_t)n;
}

/*
 * Returns the used metaspace in bytes; -1 if the JVM does not report it.  Asks GC.heap_info first,
 * which up to JDK 24 reports the used metaspace, and then VM.metaspace.
 */
static int64_t metaspace_used(const struct ctx *ctx)
{
	static const char *const commands[] = { "GC.heap_info", "VM.metaspace basic" };
	struct dcmd_reply_heap heap = { .metaspace_used = -1 };

	for (size_t i = 0; i < ARRAY_SIZE(commands) && heap.metaspace_used < 0; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct err ignored = { 0 };

		if (attach_call_jcmd(ctx, commands[i], ANSWER_MAX, &text, &ignored) == 0)
			dcmd_reply_heap(buf_str(&text), &heap);
	}
	return heap.metaspace_used;
}

/* Appends a text that says what the JVM does when metaspace is exhausted. */
static void add_consequence(struct buf *out, const struct vmflags *flags)
{
	const struct vmflag *end = oom_exit_flag(flags);

	if (!end) {
		buf_adds(out, "its threads would get OutOfMemoryError");
		return;
	}
	buf_adds(out, strcmp(end->name, "OnOutOfMemoryError") == 0 ? "the JVM would run a command ("
								    : "the JVM would end (");
	vmflag_append_option(end, out);
	buf_adds(out, ")");
}

int metaspace_refuse(const struct ctx *ctx, const struct vmflags *flags, struct err *err)
{
	_cleanup_buf_ struct buf end = BUF_INIT;
	int64_t max = metaspace_limit(flags), used;

	if (max < 0)
		return 0;
	used = metaspace_used(ctx);
	if (used < 0 || used + NEEDED(used) <= max)
		return 0;
	add_consequence(&end, flags);
	return err_set(err, EXIT_ANSWER,
		       "JVM %d is limited to %lld MB of metaspace (-XX:MaxMetaspaceSize) and uses "
		       "%lld MB: --exact may need %lld MB more, without which %.200s; nothing was "
		       "done: %sstart the JVM with a higher limit",
		       (int)ctx->jvm->pid, (long long)(max / MB), (long long)(used / MB),
		       (long long)(NEEDED(used) / MB), buf_str(&end),
		       jvm_feature(ctx->jvm) == 8 ? "" : "sample without --exact, or ");
}
