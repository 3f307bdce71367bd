/*
 * perf: the counters that the JVM publishes, as the JDK's jcmd prints them for PerfCounter.print.
 *
 * That is no diagnostic command: jcmd reads the same file, and asks the JVM nothing.
 */
#include <inttypes.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "cmd/perf.h"
#include "model/near.h"
#include "render/json.h"
#include "target/counters.h"

static int by_name(const void *a, const void *b)
{
	const struct perf_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* In the order of the JDK, and each once, whatever the file has. */
static void sort(struct perfdata *perf)
{
	size_t n = 0;

	qsort(perf->entries, perf->n, sizeof(*perf->entries), by_name);
	for (size_t i = 0; i < perf->n; i++) {
		if (n == 0 || by_name(&perf->entries[n - 1], &perf->entries[i]) != 0)
			perf->entries[n++] = perf->entries[i];
	}
	perf->n = n;
}

/* Those of a JVM and of its file; -1 with err set, else to be released. */
static int read_counters(const struct jvm *jvm, struct perfdata *perf, struct err *err)
{
	if (counters_read_once(jvm, perf, err) < 0)
		return -1;
	perfdata_add_own(perf);
	sort(perf);
	return 0;
}

/* Keep what matches.  -1 with err set when that is nothing. */
static int filter(struct perfdata *perf, const char *glob, struct err *err)
{
	struct near near = NEAR_INIT(glob);
	size_t n = 0;

	for (size_t i = 0; i < perf->n; i++) {
		if (glob_matches(glob, perf->entries[i].name))
			perf->entries[n++] = perf->entries[i];
		else
			near_offer(&near, perf->entries[i].name);
	}
	perf->n = n;
	if (n == 0 && glob_is_pattern(glob))
		(void)err_set(err, EXIT_ANSWER, "no counter matches '%s'", glob);
	else if (n == 0)
		(void)err_set(err, EXIT_ANSWER, "there is no counter %s%s", glob,
			      near_hint(&near));
	near_release(&near);
	return n ? 0 : -1;
}

/* A text stands in quotes and is not escaped but for control characters: a counter is a line. */
static void add_lines(const struct perfdata *perf, struct buf *text)
{
	for (size_t i = 0; i < perf->n; i++) {
		const struct perf_entry *e = &perf->entries[i];

		text_printable(text, e->name, strlen(e->name));
		buf_addc(text, '=');
		if (e->text) {
			buf_addc(text, '"');
			text_printable(text, e->text, strlen(e->text));
			buf_addc(text, '"');
		} else {
			buf_addf(text, "%" PRId64, e->number);
		}
		buf_addc(text, '\n');
	}
}

int perf_text(const struct jvm *jvm, struct buf *text, struct err *err)
{
	struct perfdata perf;

	if (read_counters(jvm, &perf, err) < 0)
		return -1;
	add_lines(&perf, text);
	perfdata_release(&perf);
	return 0;
}

static void show_text(const struct ctx *ctx, const struct perfdata *perf)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	add_lines(perf, &text);
	fputs(buf_str(&text), ctx->out);
}

static void show_json(const struct ctx *ctx, const struct perfdata *perf)
{
	struct json *doc = json_object(), *all = json_object();

	for (size_t i = 0; i < perf->n; i++) {
		const struct perf_entry *e = &perf->entries[i];

		if (e->text)
			json_put_text(all, e->name, e->text);
		else
			json_put_number(all, e->name, e->number);
	}
	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put(doc, "counters", all);
	json_print_take(doc, ctx->out);
}

static int run(struct ctx *ctx, struct err *err)
{
	struct perfdata perf;
	int rc = 0;

	if (read_counters(ctx->jvm, &perf, err) < 0)
		return -1;
	steps_add(ctx->steps, "read %zu counters", perf.n);
	if (ctx->n_args > 0)
		rc = filter(&perf, ctx->args[0], err);
	if (rc == 0 && ctx->json)
		show_json(ctx, &perf);
	else if (rc == 0)
		show_text(ctx, &perf);
	perfdata_release(&perf);
	return rc;
}

const struct cmd cmd_perf = {
	.name = "perf",
	.synopsis = "TARGET [GLOB]",
	.summary = "raw counters that the JVM publishes, name=value",
	.details = "Nothing is asked of the JVM: they are read from its hsperfdata file.  In a\n"
		   "GLOB, * stands for any characters and ? for one: jtool perf 42 'sun.gc.*'\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = 1,
	.free_words = -1,
	.run = run,
};
