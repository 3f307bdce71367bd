/*
 * `jtool stat all`: samples all JVMs in one worker process, because a process for each JVM would
 * take more time.
 */
#include <string.h>

#include "cli/run_all.h"
#include "fileio/disk_room.h"
#include "fileio/io.h"
#include "fileio/spool.h"
#include "base/xalloc.h"
#include "cmd/vm/stat.h"
#include "render/vm/jstat.h"

struct source {
	struct jvm *jvm;
	bool has_failed;
	/* with --json: the samples, which are printed as one document when the command ends */
	struct spool samples;
};

struct round {
	const struct ctx *ctx;
	struct source *sources;
	size_t n;
	size_t lines; /* number of lines since the last heading */
	struct interval interval;
	struct run_all_tally tally;
};

/*
 * Prints a row.  Without INTERVAL, each JVM has its own table; with INTERVAL, all JVMs are in one
 * table, which has a column PID.
 */
static void print_row(struct round *round, const struct source *s, const struct buf *row)
{
	const struct stat_opts *opts = round->ctx->opts;
	_cleanup_buf_ struct buf heading = BUF_INIT;
	FILE *out = round->ctx->out;
	int pid = (int)s->jvm->pid;

	jstat_heading(&heading, (enum jstat_table)opts->table);
	if (round->interval.interval_ms == 0) {
		fprintf(out, "%d:\n%s%s", pid, buf_str(&heading), buf_str(row));
		return;
	}
	if (stat_wants_heading(round->ctx, round->lines)) {
		fprintf(out, "%7s %s", "PID", buf_str(&heading));
		round->lines = 0;
	}
	round->lines++;
	fprintf(out, "%7d %s", pid, buf_str(row));
}

static int store_sample(struct source *s, const struct buf *sample, struct err *err)
{
	int rc = 0;

	if (spool_len(&s->samples) > 0)
		rc = spool_add(&s->samples, ",", 1);
	if (rc == 0)
		rc = spool_add(&s->samples, sample->data, sample->len);
	if (rc < 0)
		return io_temp_failed(err, rc, "the samples");
	return 0;
}

/* The JVMs that are sampled: those that have not failed yet. */
struct remaining {
	struct round *round;
	struct source **sources;
};

static int show_sample(struct round *round, struct source *s, const struct perfdata *perf,
		       struct err *err)
{
	_cleanup_buf_ struct buf sample = BUF_INIT;

	stat_sample(round->ctx, perf, &sample);
	if (round->ctx->json)
		return store_sample(s, &sample, err);
	print_row(round, s, &sample);
	return 0;
}

static void visit(void *arg, size_t i, struct perfdata *perf, const struct err *err)
{
	const struct remaining *r = arg;
	struct source *s = r->sources[i];
	struct err one = *err;

	s->has_failed = !perf || show_sample(r->round, s, perf, &one) < 0;
	if (s->has_failed)
		run_all_failed(&r->round->tally, s->jvm, &one);
	if (s->has_failed && r->round->ctx->json && spool_len(&s->samples) == 0)
		cmd_print_error_json((int)s->jvm->pid, &one, r->round->ctx->out);
}

/* Takes a sample of each JVM.  A JVM that fails is reported, and is not sampled again. */
static void sample_all(struct round *round)
{
	_cleanup_free_ struct jvm **jvms = xcalloc(round->n, sizeof(*jvms));
	_cleanup_free_ struct source **sources = xcalloc(round->n, sizeof(*sources));
	struct remaining r = { round, sources };
	size_t n = 0;

	for (size_t i = 0; i < round->n; i++) {
		if (round->sources[i].has_failed)
			continue;
		sources[n] = &round->sources[i];
		jvms[n++] = round->sources[i].jvm;
	}
	hsperf_each(jvms, n, false, visit, &r);
}

/* Prints a document for each JVM that has samples, each on its own line. */
static int print_documents(const struct round *round, struct err *err)
{
	FILE *out = round->ctx->out;

	for (size_t i = 0; i < round->n; i++) {
		const struct source *s = &round->sources[i];
		int rc;

		if (spool_len(&s->samples) == 0)
			continue;
		fprintf(out, "{" JSON_SCHEMA ",\"pid\":%d,\"samples\":[", (int)s->jvm->pid);
		if (stat_flush(round->ctx, err) < 0)
			return -1;
		rc = spool_write(&s->samples, fileno(out));
		if (rc < 0)
			return err_stdout(err, rc);
		fprintf(out, "]}\n");
	}
	return 0;
}

static int run_rounds(struct round *round, struct err *err)
{
	interval_begin(&round->interval);
	do {
		sample_all(round);
		if (stat_flush(round->ctx, err) < 0)
			return -1;
	} while (round->tally.failed < round->n && interval_next(&round->interval));
	if (round->ctx->json && print_documents(round, err) < 0)
		return -1;
	if (run_all_verdict(&round->tally, err) < 0)
		return -1;
	return stat_verdict(&round->interval, err);
}

static void release(struct round *round)
{
	for (size_t i = 0; i < round->n; i++)
		spool_release(&round->sources[i].samples);
	free(round->sources);
}

int stat_all(const struct ctx *ctx, const struct jvm_list *jvms, struct err *err)
{
	struct round round = {
		.ctx = ctx,
		.sources = xcalloc(jvms->n, sizeof(struct source)),
		.n = jvms->n,
		.tally = { .cmd = ctx->cmd, .n = jvms->n },
	};
	int rc = interval_parse(&round.interval, ctx->args, ctx->n_args, err);

	for (size_t i = 0; i < jvms->n; i++)
		round.sources[i] = (struct source){ .jvm = jvms->jvms[i], .samples = SPOOL_INIT };
	if (rc == 0)
		rc = run_rounds(&round, err);
	release(&round);
	return rc;
}
