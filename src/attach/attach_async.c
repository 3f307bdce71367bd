#include "attach/attach_async.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void *run(void *arg)
{
	struct attach_async *a = arg;

	a->rc = attach_execute_long(a->jvm, a->opts, a->req, &a->reply, &a->err);
	/* Makes a->end report POLLHUP.  No data can be lost, because nothing was written. */
	(void)close(a->end_peer);
	return NULL;
}

int attach_async_start(struct attach_async *a, const struct jvm *jvm,
		       const struct attach_opts *opts, const struct attach_request *req,
		       struct err *err)
{
	int end[2], rc;

	if (pipe2(end, O_CLOEXEC) < 0)
		return err_no_descriptor(err, EXIT_ATTACH, -errno,
					 "a pipe for the request to JVM %d", (int)jvm->pid);
	*a = (struct attach_async){
		.jvm = jvm, .opts = opts, .req = req, .end = end[0], .end_peer = end[1]
	};
	rc = pthread_create(&a->thread, NULL, run, a);
	if (rc == 0)
		return 0;
	(void)close(end[0]);
	(void)close(end[1]);
	return err_not_started(err, EXIT_ATTACH, -rc, "a thread for the request to JVM %d",
			       (int)jvm->pid);
}

int attach_async_join(struct attach_async *a, struct attach_reply *reply, struct err *err)
{
	(void)pthread_join(a->thread, NULL); /* can fail only for an invalid thread id */
	(void)close(a->end);
	if (a->rc < 0)
		return err_set(err, a->err.code, "%s", a->err.text);
	*reply = a->reply;
	return 0;
}
