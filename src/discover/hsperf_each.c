/* Reads the hsperfdata files of several JVMs. */
#include "discover/hsperf.h"

#include <errno.h>

#include "base/xalloc.h"
#include "proc/mounts.h"
#include "discover/discover.h"
#include "worker/worker_pool.h"

/* The values of one JVM's hsperfdata file. */
struct values {
	enum { READ_HERE, READ_REMOTE, FOUND } how; /* in this process, by a worker, at discovery */
	struct perfdata perf;
	struct err err;
};

struct reading {
	struct jvm *const *jvms;
	struct values *values;
	size_t *remote; /* indices in `jvms` of the JVMs whose files are read by workers */
};

/*
 * Appends the answer for one JVM: a byte 0 and the content of the file; or the exit code as a byte
 * and the error text.
 */
static void read_one(void *arg, size_t task, struct buf *answer)
{
	const struct reading *r = arg;
	size_t i = r->remote[task];
	struct err err = { .code = EXIT_DONE };
	struct hsperf_source s;

	buf_addc(answer, EXIT_DONE);
	if (r->jvms[i]->hung)
		(void)jvm_unreachable(r->jvms[i], NULL, &err);
	else if (hsperf_source_open(&s, r->jvms[i], &err) == 0) {
		if (hsperf_source_read(&s, answer, &err) == 0)
			return hsperf_source_close(&s);
		hsperf_source_close(&s);
	}
	buf_reset(answer);
	buf_addc(answer, (char)err.code);
	buf_adds(answer, err.text);
}

static void lose_one(void *arg, size_t task, int error)
{
	const struct reading *r = arg;
	size_t i = r->remote[task];

	(void)discover_lost_worker(r->jvms[i], error, &r->values[i].err);
}

static void take_one(void *arg, size_t task, const char *data, size_t len)
{
	const struct reading *r = arg;
	struct values *v = &r->values[r->remote[task]];
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	if (len == 0) /* not an answer of read_one() */
		lose_one(arg, task, -EBADMSG);
	else if (*data == EXIT_DONE) {
		buf_add(&bytes, data + 1, len - 1);
		if (hsperf_source_parse(r->jvms[r->remote[task]], &bytes, &v->perf, &v->err) < 0)
			return; /* v->err says why */
	} else
		(void)err_set(&v->err, *data > 0 && *data <= EXIT_PARTIAL ? *data : EXIT_ATTACH,
			      "%.*s", (int)(len - 1), data + 1);
}

/* Takes the counters that discover_all() has read.  Returns false if it has not. */
static bool take_found(const struct procfs *proc, struct jvm *jvm, struct values *v)
{
	if (!jvm->perf.data)
		return false;
	if (!procfs_is_alive(proc, jvm->pid, jvm->start_ticks)) {
		(void)jvm_gone(jvm, &v->err);
		return true;
	}
	v->perf = jvm->perf;
	jvm->perf = (struct perfdata){ 0 };
	return true;
}

/* Decides how each file is read.  Returns the number of those that workers read. */
static size_t choose(struct reading *r, size_t n, bool as_found)
{
	struct procfs proc;
	bool is_open = procfs_open(&proc, "/proc") == 0;
	size_t n_remote = 0;

	for (size_t i = 0; i < n; i++) {
		struct jvm *jvm = r->jvms[i];

		if (is_open && as_found && take_found(&proc, jvm, &r->values[i]))
			r->values[i].how = FOUND;
		else if (is_open && !jvm->hung && mounts_are_local(&proc, jvm->pid))
			r->values[i].how = READ_HERE;
		else {
			r->values[i].how = READ_REMOTE;
			r->remote[n_remote++] = i;
		}
	}
	if (is_open)
		procfs_close(&proc);
	return n_remote;
}

/* Lets workers read those files whose file systems could block this process. */
static void read_remote(struct reading *r, size_t n)
{
	struct worker_tasks tasks = {
		.n = n, .max = PERFDATA_MAX + 1, .arg = r, .inspects = true, .run = read_one,
		.take = take_one, .lost = lose_one,
	};
	int rc = worker_pool_run(&tasks);

	for (size_t i = 0; i < n && rc < 0; i++)
		lose_one(r, i, rc);
}

void hsperf_each(struct jvm *const *jvms, size_t n, bool as_found, hsperf_visit *visit, void *arg)
{
	_cleanup_free_ struct values *values = xcalloc(n, sizeof(*values));
	_cleanup_free_ size_t *remote = xcalloc(n, sizeof(*remote));
	struct reading r = { jvms, values, remote };

	read_remote(&r, choose(&r, n, as_found));
	for (size_t i = 0; i < n; i++) {
		struct values *v = &values[i];

		if (v->how == READ_HERE && hsperf_source_read_once(jvms[i], &v->perf, &v->err) < 0)
			v->perf = (struct perfdata){ 0 };
		visit(arg, i, v->err.code == EXIT_DONE ? &v->perf : NULL, &v->err);
		perfdata_release(&v->perf);
	}
}
