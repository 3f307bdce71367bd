/*
 * The command stat: prints the tables that jstat prints, about collections, heap, classes and
 * compilers.  Reads the values from hsperfdata.
 */
#include "cmd/vm/stat.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "cmd/archive.h"
#include "render/vm/jstat.h"

#define HEADING_EVERY 20 /* lines between two headings on a terminal */

#define AT(member) offsetof(struct stat_opts, member)

static const struct opt stat_rows[] = {
	{ 't', "type", OPT_CHOICE, AT(table), "TABLE",
	  "print this table of jstat (default gcutil)", jstat_tables },
	{ 0, "openmetrics", OPT_FLAG, AT(openmetrics), NULL, "print all metrics for Prometheus",
	  NULL },
	OPT_END,
};

static double number(const void *of, const char *name)
{
	const struct perf_entry *e = perfdata_find(of, name);

	return e && !e->text ? (double)e->number : NAN;
}

static const char *text(const void *of, const char *name)
{
	return perfdata_text(of, name);
}

struct counter_source stat_counter_source(const struct perfdata *perf)
{
	return (struct counter_source){ .of = perf, .number = number, .text = text };
}

double stat_timestamp(const struct counter_source *r)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail with this clock */
	return jstat_timestamp(r, (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
}

void stat_sample(const struct ctx *ctx, const struct perfdata *perf, struct buf *out)
{
	const struct stat_opts *opts = ctx->opts;
	enum jstat_table table = (enum jstat_table)opts->table;
	const struct counter_source r = stat_counter_source(perf);

	if (ctx->json) {
		struct json *sample = jstat_json(table, &r, stat_timestamp(&r));

		json_add(out, sample);
		json_free(sample);
	} else {
		jstat_row(out, table, &r);
	}
}

static int take_sample(const struct ctx *ctx, struct hsperf *counters, struct buf *out,
		       struct err *err)
{
	struct perfdata perf;

	if (hsperf_read(counters, &perf, err) < 0)
		return -1;
	stat_sample(ctx, &perf, out);
	perfdata_release(&perf);
	return 0;
}

int stat_flush(const struct ctx *ctx, struct err *err)
{
	if (fflush(ctx->out) == 0)
		return 0;
	return err_stdout(err, -errno);
}

bool stat_wants_heading(const struct ctx *ctx, size_t lines)
{
	return lines == 0 || (lines >= HEADING_EVERY && isatty(fileno(ctx->out)));
}

int stat_verdict(const struct interval *interval, struct err *err)
{
	if (interval_is_complete(interval))
		return 0;
	return err_set(err, EXIT_PARTIAL, "ended by a signal after %u of %u samples",
		       interval->done, interval->count);
}

static int show_table(const struct ctx *ctx, struct hsperf *counters,
		      struct interval *interval, struct err *err)
{
	const struct stat_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf text = BUF_INIT, row = BUF_INIT;
	size_t lines = 0;

	do {
		buf_reset(&text);
		buf_reset(&row);
		if (take_sample(ctx, counters, &row, err) < 0)
			return -1;
		if (stat_wants_heading(ctx, lines)) {
			jstat_heading(&text, (enum jstat_table)opts->table);
			lines = 0;
		}
		lines++;
		fprintf(ctx->out, "%s%s", buf_str(&text), buf_str(&row));
		if (stat_flush(ctx, err) < 0)
			return -1;
	} while (interval_next(interval));
	return stat_verdict(interval, err);
}

/*
 * Prints all samples as one JSON document; prints each sample as soon as it is taken.  If a sample
 * fails, ends the document, so that it is valid.
 */
static int show_json(const struct ctx *ctx, struct hsperf *counters,
		     struct interval *interval, struct err *err)
{
	_cleanup_buf_ struct buf sample = BUF_INIT;
	int rc;

	do {
		buf_reset(&sample);
		rc = take_sample(ctx, counters, &sample, err);
		if (rc < 0)
			break;
		if (interval->done == 0)
			fprintf(ctx->out, "{" JSON_SCHEMA ",\"pid\":%d,\"samples\":[",
				(int)ctx->jvm->pid);
		fprintf(ctx->out, "%s%s", interval->done ? "," : "", buf_str(&sample));
		rc = stat_flush(ctx, err);
	} while (rc == 0 && interval_next(interval));
	if (interval->done > 0)
		fprintf(ctx->out, "]}\n");
	return rc < 0 ? -1 : stat_verdict(interval, err);
}

/* Prints the samples that are in an archive; `jtool capture` writes such archives. */
static int show_file(const struct ctx *ctx, struct err *err)
{
	const struct stat_opts *opts = ctx->opts;
	struct json *doc = archive_json(ctx->file, "stat.json", err);
	const struct json *samples = json_get(doc, "samples");
	enum jstat_table table = (enum jstat_table)opts->table;
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = doc ? 0 : -1;

	jstat_heading(&text, table);
	for (size_t i = 0; rc == 0 && i < json_length(samples); i++) {
		if (!jstat_row_of_json(&text, table, json_at(samples, i)))
			rc = err_set(err, EXIT_USAGE,
				     "'%s' has samples of another table: omit -t, or give gcutil",
				     ctx->file);
	}
	if (rc == 0 && ctx->json)
		json_print(doc, ctx->out);
	else if (rc == 0)
		fputs(buf_str(&text), ctx->out);
	json_free(doc);
	return rc;
}

static int check_file(const struct ctx *ctx, struct err *err)
{
	const struct stat_opts *opts = ctx->opts;

	if (!archive_is_file(ctx->file))
		return archive_refuse(ctx->file, err);
	if (opts->openmetrics || ctx->n_args > 0)
		return err_set(err, EXIT_USAGE,
			       "--openmetrics and INTERVAL need a JVM: an archive has its own "
			       "samples; omit them");
	return 0;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct stat_opts *opts = ctx->opts;
	struct interval interval;

	if (opts->openmetrics && ctx->n_args > 0)
		return err_set(err, EXIT_USAGE,
			       "--openmetrics cannot be combined with INTERVAL: the metrics are "
			       "printed once; omit INTERVAL");
	if (opts->openmetrics && ctx->json)
		return err_set(err, EXIT_USAGE,
			       "--openmetrics cannot be combined with --json: each is an output "
			       "format; give one");
	return interval_parse(&interval, ctx->args, ctx->n_args, err);
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct stat_opts *opts = ctx->opts;
	struct jvm *jvm = (struct jvm *)ctx->jvm;
	struct hsperf counters;
	struct interval interval;
	int rc;

	if (ctx->file)
		return check_file(ctx, err) < 0 ? -1 : show_file(ctx, err);
	if (opts->openmetrics)
		return stat_metrics(ctx, &jvm, 1, err);
	if (interval_parse(&interval, ctx->args, ctx->n_args, err) < 0 ||
	    hsperf_open(&counters, ctx->jvm, err) < 0)
		return -1;
	interval_begin(&interval);
	rc = ctx->json ? show_json(ctx, &counters, &interval, err)
		       : show_table(ctx, &counters, &interval, err);
	hsperf_close(&counters);
	return rc;
}

static int run_on_each(struct ctx *ctx, const struct jvm_list *jvms, struct err *err)
{
	const struct stat_opts *opts = ctx->opts;

	if (opts->openmetrics)
		return stat_metrics(ctx, jvms->jvms, jvms->n, err);
	return stat_all(ctx, jvms, err);
}

const struct cmd cmd_stat = {
	.name = "stat",
	.aliases = "jstat",
	.synopsis = "[TARGET|all|CAPTURE.tar.gz] [INTERVAL [COUNT]]",
	.summary = "show collections, heap, classes and compiler, as jstat does",
	.examples = (const struct example[]){
		{ "stat 4711 1s", "a line of gcutil every second" },
		{ "stat 4711 -t gccause 500ms 10", "ten samples of another table" },
		{ "stat all --openmetrics", "metrics of every JVM for Prometheus" },
		{ NULL, NULL },
	},
	.details =
		"Reads the JVM's hsperfdata file: nothing is sent to the JVM.  With INTERVAL (1s,\n"
		"500ms, or 500 for milliseconds), takes COUNT samples, or samples until Ctrl-C or\n"
		"until the JVM exits.\n"
		"\n"
		"TABLE is class, compiler, gc, gccapacity, gccause, gcmetacapacity, gcnew,\n"
		"gcnewcapacity, gcold, gcoldcapacity, gcutil or printcompilation.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.takes_all = true,
	.takes_file = true,
	.is_file = archive_is_file,
	.max_args = 2,
	.free_words = -1,
	.opts = stat_rows,
	.opts_size = sizeof(struct stat_opts),
	.check = check,
	.run = run,
	.run_all = run_on_each,
};
