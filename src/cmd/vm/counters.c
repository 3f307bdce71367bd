/*
 * The command counters: prints the JVM's hsperfdata counters, like PerfCounter.print of the JDK's
 * jcmd.
 */
#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "cmd/vm/counters.h"
#include "base/suggest.h"
#include "render/json.h"
#include "discover/hsperf.h"
#include "wire/glob.h"

static int by_name(const void *a, const void *b)
{
	const struct perf_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Sorts the counters by name, as the JDK does, and removes duplicates. */
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

/*
 * Reads the counters from hsperfdata, and adds those that the JDK's tools derive from the file
 * itself (sun.perfdata.size and similar).  Returns 0, or -1 with err set.
 */
static int read_counters(const struct jvm *jvm, struct perfdata *perf, struct err *err)
{
	if (hsperf_read_once(jvm, perf, err) < 0)
		return -1;
	perfdata_add_file_entries(perf);
	sort(perf);
	return 0;
}

/* Removes the counters that do not match the glob.  Returns -1 with err set if none matches. */
static int filter(struct perfdata *perf, const char *glob, struct err *err)
{
	struct suggestions near = SUGGEST_INIT(glob);
	size_t n = 0;

	for (size_t i = 0; i < perf->n; i++) {
		if (glob_matches(glob, perf->entries[i].name))
			perf->entries[n++] = perf->entries[i];
		else
			suggest_offer(&near, perf->entries[i].name);
	}
	perf->n = n;
	if (n == 0 && glob_is_pattern(glob))
		(void)err_set(err, EXIT_ANSWER,
			      "no counter matches '%s'; without a pattern, all are listed", glob);
	else if (n == 0)
		(void)err_set(err, EXIT_ANSWER, "this JVM publishes no counter %s%s", glob,
			      suggest_hint(&near));
	suggest_release(&near);
	return n ? 0 : -1;
}

/*
 * Appends a line NAME=VALUE for each counter.  Texts are in quotes; only control characters are
 * escaped.
 */
static void add_lines(const struct perfdata *perf, struct buf *text)
{
	for (size_t i = 0; i < perf->n; i++) {
		const struct perf_entry *e = &perf->entries[i];

		printable_add(text, e->name, strlen(e->name));
		buf_addc(text, '=');
		if (e->text) {
			buf_addc(text, '"');
			printable_add(text, e->text, strlen(e->text));
			buf_addc(text, '"');
		} else {
			buf_addf(text, "%" PRId64, e->number);
		}
		buf_addc(text, '\n');
	}
}

int counters_text(const struct jvm *jvm, struct buf *text, struct err *err)
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
	verbose_step(ctx->steps, "read %zu counters", perf.n);
	if (ctx->n_args > 0)
		rc = filter(&perf, ctx->args[0], err);
	if (rc == 0 && ctx->json)
		show_json(ctx, &perf);
	else if (rc == 0)
		show_text(ctx, &perf);
	perfdata_release(&perf);
	return rc;
}

const struct cmd cmd_counters = {
	.name = "counters",
	.aliases = "perf",
	.synopsis = "[TARGET] [GLOB]",
	.summary = "print the counters that the JVM publishes, name=value",
	.examples = (const struct example[]){
		{ "counters 4711", "every counter" },
		{ "counters 4711 'java.cls.*'", "those that match" },
		{ NULL, NULL },
	},
	.details =
		"Reads the JVM's hsperfdata file: nothing is sent to the JVM.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.takes_all = true,
	.max_args = 1,
	.free_words = -1,
	.run = run,
};
