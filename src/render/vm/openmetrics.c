#include "render/vm/openmetrics.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/printable.h"

#define LABEL_MAX 256 /* limit for a label in bytes, because monitoring systems limit labels */

/* A metric family.  Its head is printed before its first time series. */
struct family {
	const struct metric *metric;
	const struct openmetrics_jvm *jvm;
	FILE *out;
	bool has_head;
	struct buf seen; /* the labels of this JVM's time series, one a line */
};

static size_t label_len(const char *text)
{
	size_t len = strnlen(text, LABEL_MAX + 1);

	if (len <= LABEL_MAX)
		return len;
	for (len = LABEL_MAX; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--; /* goes back to the start of a character */
	return len;
}

/*
 * Appends NAME="VALUE".  Control characters become \xNN, so that the value is one line of valid
 * UTF-8.
 */
static void add_label(struct buf *labels, const char *name, const char *value)
{
	_cleanup_buf_ struct buf safe = BUF_INIT;

	if (value)
		printable_add(&safe, value, label_len(value));
	buf_addf(labels, "%s%s=\"", labels->len ? "," : "", name);
	for (const char *c = buf_str(&safe); *c; c++) {
		if (*c == '\\' || *c == '"')
			buf_addc(labels, '\\');
		buf_addc(labels, *c);
	}
	buf_addc(labels, '"');
}

static void add_jvm(struct buf *labels, const struct openmetrics_jvm *jvm)
{
	buf_addf(labels, "pid=\"%d\"", jvm->pid);
	add_label(labels, "main", jvm->main);
	add_label(labels, "container", jvm->container);
	if (jvm->namespace)
		add_label(labels, "namespace", jvm->namespace);
	if (jvm->pod)
		add_label(labels, "pod", jvm->pod);
	if (jvm->container_name)
		add_label(labels, "container_name", jvm->container_name);
}

static void print_head(struct family *f)
{
	const struct metric *m = f->metric;

	if (f->has_head)
		return;
	fprintf(f->out, "# TYPE %s %s\n", m->name,
		m->type == METRIC_GAUGE ? "gauge" : "summary");
	if (m->unit)
		fprintf(f->out, "# UNIT %s %s\n", m->name, m->unit);
	fprintf(f->out, "# HELP %s %s\n", m->name, m->help);
	f->has_head = true;
}

/*
 * Adds the labels to f->seen.  Returns true if no earlier series of this JVM has the same labels.
 * Two garbage collectors may have the same name, and a duplicate series would make the document
 * invalid.
 */
static bool is_new(struct family *f, const struct buf *labels)
{
	size_t before = f->seen.len;

	buf_addf(&f->seen, "\n%s\n", buf_str(labels));
	return before == 0 || strstr(f->seen.data, f->seen.data + before) == f->seen.data + before;
}

static void print_value(const struct metric_value *value, void *arg)
{
	struct family *f = arg;
	const char *name = f->metric->name;
	_cleanup_buf_ struct buf labels = BUF_INIT;

	add_jvm(&labels, f->jvm);
	if (value->label)
		add_label(&labels, value->label, value->label_value);
	if (!is_new(f, &labels))
		return;
	print_head(f);
	if (f->metric->type == METRIC_GAUGE) {
		fprintf(f->out, "%s{%s} %.15g\n", name, buf_str(&labels), value->value);
		return;
	}
	fprintf(f->out, "%s_count{%s} %.15g\n", name, buf_str(&labels), value->count);
	fprintf(f->out, "%s_sum{%s} %.15g\n", name, buf_str(&labels), value->value);
}

static void print_info(const struct openmetrics_jvm *jvms, size_t n, FILE *out)
{
	static const struct metric info = {
		.name = "jvm_info", .type = METRIC_GAUGE, .help = "Identity of the JVM; always 1.",
	};
	struct family f = { .metric = &info, .out = out };

	for (size_t i = 0; i < n; i++) {
		_cleanup_buf_ struct buf labels = BUF_INIT;

		add_jvm(&labels, &jvms[i]);
		add_label(&labels, "version", jvms[i].version);
		add_label(&labels, "vm", jvms[i].vm);
		add_label(&labels, "gc", jvms[i].gc);
		if (jvms[i].pod_uid)
			add_label(&labels, "pod_uid", jvms[i].pod_uid);
		print_head(&f);
		fprintf(out, "%s{%s} 1\n", info.name, buf_str(&labels));
	}
}

static void print_uptime(const struct openmetrics_jvm *jvms, size_t n, FILE *out)
{
	static const struct metric uptime = {
		.name = "jvm_uptime_seconds", .unit = "seconds", .type = METRIC_GAUGE,
		.help = "Time since the start of the JVM.",
	};
	struct family f = { .metric = &uptime, .out = out };

	for (size_t i = 0; i < n; i++) {
		f.jvm = &jvms[i];
		buf_reset(&f.seen);
		if (!isnan(jvms[i].uptime))
			print_value(&(struct metric_value){ .value = jvms[i].uptime }, &f);
	}
	buf_release(&f.seen);
}

static void print_metric(const struct metric *m, const struct openmetrics_jvm *jvms, size_t n,
			 FILE *out)
{
	struct family f = { .metric = m, .out = out };

	for (size_t i = 0; i < n; i++) {
		f.jvm = &jvms[i];
		buf_reset(&f.seen);
		m->read(m, &jvms[i].source, print_value, &f);
	}
	buf_release(&f.seen);
}

static void print_gauge(const struct metric *m, double value, FILE *out)
{
	struct family f = { .metric = m, .out = out };

	print_head(&f);
	fprintf(out, "%s %.15g\n", m->name, value);
}

static void print_self(const struct openmetrics_self *self, FILE *out)
{
	static const struct metric found = {
		.name = "jtool_jvms", .type = METRIC_GAUGE, .help = "JVMs that jtool has found.",
	}, skipped = {
		.name = "jtool_jvms_skipped", .type = METRIC_GAUGE,
		.help = "JVMs without series: they publish no counters, or jtool may not read "
			"them.",
	}, seconds = {
		.name = "jtool_scrape_seconds", .unit = "seconds", .type = METRIC_GAUGE,
		.help = "Time to find and read the JVMs.",
	};

	print_gauge(&found, (double)self->found, out);
	print_gauge(&skipped, (double)self->skipped, out);
	print_gauge(&seconds, self->seconds, out);
}

void openmetrics_print(const struct openmetrics_jvm *jvms, size_t n,
		       const struct openmetrics_self *self, FILE *out)
{
	print_info(jvms, n, out);
	print_uptime(jvms, n, out);
	for (const struct metric *m = metrics; m->name; m++)
		print_metric(m, jvms, n, out);
	if (self)
		print_self(self, out);
	fprintf(out, "# EOF\n");
}
