#include "http/http_server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "http/http_client.h"

#define TICK_MS 100
#define REAP_MS 1000
#define NS_PER_MS 1000000

struct serving {
	const struct http_server *config;
	struct http_client clients[HTTP_CLIENTS_MAX];
	struct document_job job;
	struct document *fresh; /* the last document; is_fresh() says if it is fresh; NULL: none */
	struct err last; /* the error of the last document; EXIT_DONE: it was written */
	bool has_orphans; /* processes that the last child has started may not have ended yet */
	struct deadline reap_until; /* then those that are left are blocked */
	struct deadline accept_after; /* earliest time of the next accept(2) after a failed one */
};

static bool is_fresh(const struct serving *s)
{
	return s->fresh && monotonic_ns() - s->fresh->begun_ns < HTTP_FRESH_MS * (int64_t)NS_PER_MS;
}

static void answer_all(struct serving *s, struct document *doc, const char *why)
{
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++) {
		struct http_client *c = &s->clients[i];

		if (c->state != HTTP_CLIENT_WAITING)
			continue;
		http_client_answer(c, doc, why);
		http_client_progress(c);
	}
}

/*
 * Answers the waiting clients with the error.  Reports the error, unless the last document has
 * failed with the same text.
 */
static void fail_all(struct serving *s, const struct err *err)
{
	answer_all(s, NULL, err->text);
	if (strcmp(err->text, s->last.text) != 0)
		s->config->failed(s->config->arg, err);
	s->last = *err;
}

/* Ends the child, which has finished or missed its deadline, and takes its document. */
static void finish_job(struct serving *s)
{
	struct err err = { .code = EXIT_DONE };
	struct document *doc = document_end(&s->job, &err);

	s->has_orphans = true;
	s->reap_until = deadline_in_ms(REAP_MS);
	if (!doc) {
		fail_all(s, &err);
		return;
	}
	document_unref(s->fresh);
	s->fresh = doc;
	s->last = (struct err){ .code = EXIT_DONE };
	answer_all(s, doc, NULL);
}

/*
 * Answers waiting clients with the last document if it is fresh; else starts a child that writes a
 * new document.
 */
static void serve_waiting(struct serving *s)
{
	struct err err = { .code = EXIT_DONE };
	bool any = false;

	for (int i = 0; i < HTTP_CLIENTS_MAX; i++)
		any |= s->clients[i].state == HTTP_CLIENT_WAITING;
	if (!any || s->job.sock >= 0)
		return;
	if (is_fresh(s)) {
		answer_all(s, s->fresh, NULL);
		return;
	}
	s->config->begin(s->config->arg, s->has_orphans);
	if (document_begin(&s->job, s->config->write, s->config->arg, s->config->timeout_ms,
				&err) < 0)
		fail_all(s, &err);
}

/* Returns a free slot; else the slot whose client has stalled for the longest time; else NULL. */
static struct http_client *find_slot(struct serving *s)
{
	struct http_client *stalled = NULL;
	int64_t longest = -1;

	for (int i = 0; i < HTTP_CLIENTS_MAX; i++) {
		struct http_client *c = &s->clients[i];
		int64_t ms;

		if (c->state == HTTP_CLIENT_FREE)
			return c;
		ms = http_client_stalled_ms(c);
		if (ms > longest) {
			longest = ms;
			stalled = c;
		}
	}
	return stalled;
}

/* Accepts a connection.  Returns false if no connection was waiting, or if no slot is free. */
static bool accept_one(struct serving *s, int listener)
{
	struct http_client *slot = find_slot(s);
	int fd;

	if (!slot)
		return false;
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		/*
		 * If there is no descriptor or no memory left, accept(2) fails and the listener
		 * stays readable.  So wait before the next attempt.
		 */
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			s->accept_after = deadline_in_ms(TICK_MS);
		return false;
	}
	if (slot->state != HTTP_CLIENT_FREE)
		http_client_close(slot);
	http_client_open(slot, fd);
	http_client_progress(slot);
	return true;
}

static void accept_clients(struct serving *s, const struct pollfd *fds)
{
	for (int i = 0; i < s->config->n_listeners; i++) {
		bool more = (fds[i].revents & POLLIN) != 0;

		for (int n = 0; more && n < HTTP_CLIENTS_MAX; n++)
			more = accept_one(s, s->config->listeners[i]);
	}
}

/* Descriptors for poll(2): listeners, the stop descriptor, the child's socket, the clients. */
#define POLL_MAX (HTTP_LISTENERS_MAX + 2 + HTTP_CLIENTS_MAX)

/*
 * Returns the timeout for poll(2): TICK_MS while a child, a client, an orphan or the next accept(2)
 * has a deadline; else -1.
 */
static int poll_ms(const struct serving *s)
{
	if (s->job.sock >= 0 || !deadline_passed(s->accept_after) ||
	    (s->has_orphans && !deadline_passed(s->reap_until)))
		return TICK_MS;
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++) {
		if (s->clients[i].state != HTTP_CLIENT_FREE)
			return TICK_MS;
	}
	return -1;
}

static int fill(struct serving *s, struct pollfd fds[POLL_MAX])
{
	const struct http_server *config = s->config;
	/* A listener stays readable until accept(2), so poll it only if accept(2) may be called. */
	bool room = find_slot(s) && deadline_passed(s->accept_after);
	int n = 0;

	for (int i = 0; i < config->n_listeners; i++)
		fds[n++] = (struct pollfd){ room ? config->listeners[i] : -1, POLLIN, 0 };
	fds[n++] = (struct pollfd){ config->stop, POLLIN, 0 };
	fds[n++] = (struct pollfd){ s->job.sock, POLLIN, 0 };
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++) {
		const struct http_client *c = &s->clients[i];
		int fd = c->state == HTTP_CLIENT_FREE ? -1 : c->fd;

		fds[n++] = (struct pollfd){ fd, http_client_events(c), 0 };
	}
	return n;
}

static void serve_clients(struct serving *s, const struct pollfd *fds)
{
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++) {
		struct http_client *c = &s->clients[i];

		if (c->state == HTTP_CLIENT_FREE)
			continue;
		if (c->state == HTTP_CLIENT_WAITING && (fds[i].revents & (POLLERR | POLLHUP)))
			http_client_close(c);
		else if (fds[i].revents || deadline_passed(c->deadline))
			http_client_progress(c);
	}
}

/* Returns 1 to continue; 0 to end; or -1 with err set. */
static int serve_once(struct serving *s, struct err *err)
{
	struct pollfd fds[POLL_MAX];
	int listeners = s->config->n_listeners, n = fill(s, fds);

	if (poll(fds, (nfds_t)n, poll_ms(s)) < 0 && errno != EINTR)
		return err_set(err, EXIT_PARTIAL,
			       "cannot wait for connections: %s; start jtool again",
			       strerror(errno));
	if (fds[listeners].revents)
		return 0;
	if (s->job.sock >= 0 && (fds[listeners + 1].revents || deadline_passed(s->job.deadline)))
		finish_job(s);
	if (s->job.sock < 0 && s->has_orphans)
		s->has_orphans = document_reap_orphans(&s->job);
	serve_clients(s, fds + listeners + 2);
	accept_clients(s, fds);
	serve_waiting(s);
	return 1;
}

int http_server_run(const struct http_server *config, struct err *err)
{
	struct serving *s = xcalloc(1, sizeof(*s));
	int rc;

	s->config = config;
	s->job = (struct document_job)DOCUMENT_JOB_INIT;
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* cannot fail; see document_reap_orphans() */
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++)
		s->clients[i].fd = -1;
	do
		rc = serve_once(s, err);
	while (rc > 0);
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++)
		http_client_close(&s->clients[i]);
	document_unref(s->fresh);
	document_cancel(&s->job);
	free(s);
	return rc;
}
