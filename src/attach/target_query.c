#include "attach/target_query.h"

#include <errno.h>
#include <string.h>

#include "discover/discover.h"
#include "proc/mounts.h"
#include "worker/worker.h"

struct request {
	const struct jvm *jvm;
	const struct target_query *q;
};

static int run_query(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	struct target_ns ns;
	struct request r;
	int rc;

	(void)fd;
	memcpy(&r, request->data, sizeof(r));
	if (target_ns_open(r.jvm, &ns, err) < 0)
		return -1;
	rc = r.q->fn(&ns, r.q->arg, answer, err);
	target_ns_close(&ns);
	return rc;
}

int target_query(const struct jvm *jvm, const struct target_query *q, struct buf *answer,
		 struct err *err)
{
	struct request r = { jvm, q };
	const struct buf request = { (char *)&r, sizeof(r), 0 };
	struct worker_call call = {
		.fn = run_query, .request = &request, .max = q->max,
		.deadline = deadline_in_ms(q->ms ? q->ms : TARGET_QUERY_MS),
	};
	struct procfs proc;
	int rc;

	if (jvm->hung)
		return jvm_unreachable(jvm, NULL, err);
	if (procfs_open(&proc, "/proc") == 0) {
		call.here = mounts_are_local(&proc, jvm->pid);
		procfs_close(&proc);
	}
	rc = worker_run(&call, &q->fd, 1, answer, NULL, err);
	if (rc < 0)
		return discover_lost_worker(jvm, rc, err);
	return rc == 0 ? 0 : -1;
}

int target_query_number(const struct jvm *jvm, const struct target_query *q, uint64_t *number,
			struct err *err)
{
	_cleanup_buf_ struct buf answer = BUF_INIT;

	if (target_query(jvm, q, &answer, err) < 0)
		return -1;
	if (answer.len != sizeof(*number))
		return discover_lost_worker(jvm, -EBADMSG, err);
	memcpy(number, answer.data, sizeof(*number));
	return 0;
}
