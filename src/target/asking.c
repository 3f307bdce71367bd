#include "target/asking.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void *ask(void *arg)
{
	struct asking *a = arg;

	a->rc = attach_execute_long(a->jvm, a->opts, a->req, &a->reply, &a->err);
	(void)close(a->end_peer); /* a pipe: nothing is lost */
	return NULL;
}

int asking_start(struct asking *a, const struct jvm *jvm, const struct attach_opts *opts,
		 const struct attach_request *req, struct err *err)
{
	int end[2], rc;

	if (pipe2(end, O_CLOEXEC) < 0)
		return err_set(err, EXIT_ATTACH, "no pipe: %s", strerror(errno));
	*a = (struct asking){
		.jvm = jvm, .opts = opts, .req = req, .end = end[0], .end_peer = end[1]
	};
	rc = pthread_create(&a->thread, NULL, ask, a);
	if (rc == 0)
		return 0;
	(void)close(end[0]);
	(void)close(end[1]);
	return err_set(err, EXIT_ATTACH, "no thread can be started: %s", strerror(rc));
}

int asking_join(struct asking *a, struct attach_reply *reply, struct err *err)
{
	(void)pthread_join(a->thread, NULL); /* fails only for one that is no thread of ours */
	(void)close(a->end);
	if (a->rc < 0)
		return err_set(err, a->err.code, "%s", a->err.text);
	*reply = a->reply;
	return 0;
}
