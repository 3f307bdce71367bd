#include "session/memory_guard.h"

#include <poll.h>

#define WATCH_MS 20

static void *watch_memory(void *arg)
{
	struct memory_guard *guard = arg;

	while (!__atomic_load_n(&guard->is_over, __ATOMIC_ACQUIRE)) {
		if (memory_check(guard->jvm, guard->use, NULL, &guard->shortage) < 0) {
			session_interrupt(guard->session);
			break;
		}
		(void)poll(NULL, 0, WATCH_MS);
	}
	return NULL;
}

int memory_guard_begin(struct memory_guard *guard, struct session *session, const struct jvm *jvm,
		       enum memory_use use, struct err *err)
{
	int rc;

	*guard = (struct memory_guard){
		.session = session,
		.jvm = jvm,
		.use = use,
		.shortage = { .code = EXIT_DONE },
	};
	rc = pthread_create(&guard->thread, NULL, watch_memory, guard);
	return rc == 0 ? 0
		       : err_not_started(err, EXIT_AGENT, -rc, "a thread that watches memory");
}

int memory_guard_end(struct memory_guard *guard, struct err *err)
{
	__atomic_store_n(&guard->is_over, true, __ATOMIC_RELEASE);
	(void)pthread_join(guard->thread, NULL); /* cannot fail: the thread is joinable */
	if (guard->shortage.code == EXIT_DONE)
		return 0;
	return err_set(err, guard->shortage.code, "%s", guard->shortage.text);
}
