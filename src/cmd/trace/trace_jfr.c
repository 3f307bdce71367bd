/*
 * trace: adds an alternative to the error message if the JVM does not accept agents.
 *
 * The flight recorder of JDK 25 and later can time methods (JEP 520).  It writes the times as the
 * event jdk.MethodTiming: once per chunk, at the end of the chunk; or, if a period is set for the
 * event, once per period.  The diagnostic command JFR.view makes the JVM itself read the recording
 * and print the times as a table, so the user needs no JDK.
 */
#include <string.h>

#include "cmd/trace/trace.h"
#include "wire/glob.h"

#define FIRST_RELEASE 25

/*
 * Appends the flight recorder's filter for a pattern.  A filter has no globs and no parameter
 * types.  It can name one method of a class, all methods of a class, or all methods with one name.
 */
static void add_filter(struct buf *out, const struct method_pattern *p)
{
	bool any_class = glob_is_pattern(p->class), any_name = glob_is_pattern(p->name);

	if (any_class && any_name) {
		buf_adds(out, "a.b.Class::method");
		return;
	}
	for (const char *c = p->class; *c && !any_class; c++)
		buf_addc(out, *c == '/' ? '.' : *c);
	if (!any_name)
		buf_addf(out, "::%s", p->name);
}

void trace_offer_jfr(const struct ctx *ctx, const struct trace_plan *plan, struct err *err)
{
	_cleanup_buf_ struct buf filter = BUF_INIT;
	size_t len = strlen(err->text);
	int pid = (int)ctx->jvm->pid;

	if (err->code != EXIT_AGENT || jvm_feature(ctx->jvm) < FIRST_RELEASE)
		return;
	for (size_t i = 0; i < plan->n_wanted; i++) {
		buf_adds(&filter, i > 0 ? ";" : "");
		add_filter(&filter, &plan->wanted[i].pattern);
	}
	(void)snprintf(err->text + len, sizeof(err->text) - len,
		       "; the JVM's flight recorder can measure times without an agent: "
		       "jtool jfr %d start name=jtool-times 'method-timing=%.400s' "
		       "'jdk.MethodTiming#period=1s', and later "
		       "jtool jcmd %d JFR.view method-timing, and "
		       "jtool jfr %d stop name=jtool-times", pid, buf_str(&filter), pid, pid);
}
