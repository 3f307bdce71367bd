#include "http/http_client.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "http/http_request.h"

#define READ_MS 5000
#define SEND_MS 10000 /* ms for sending the response; Prometheus waits as long by default */
#define CLOSE_MS 1000
/*
 * When all connections are in use, a connection may be closed if its request was not complete after
 * READ_STALL_MS, or if the client has accepted no bytes of the response for SEND_STALL_MS: a normal
 * client sends its request at once and reads the response at once.
 */
#define READ_STALL_MS 100
#define SEND_STALL_MS 1000
#define NS_PER_MS 1000000

#define TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

static void enter(struct http_client *c, enum http_client_state state, unsigned ms)
{
	c->state = state;
	c->deadline = ms > 0 ? deadline_in_ms(ms) : DEADLINE_NEVER;
	c->progress_ns = monotonic_ns();
}

void http_client_open(struct http_client *c, int fd)
{
	c->fd = fd;
	c->request_len = 0;
	c->doc = NULL;
	c->is_head = false;
	enter(c, HTTP_CLIENT_READING, READ_MS);
}

void http_client_close(struct http_client *c)
{
	document_unref(c->doc);
	c->doc = NULL;
	util_close_p(&c->fd);
	c->fd = -1;
	c->state = HTTP_CLIENT_FREE;
}

short http_client_events(const struct http_client *c)
{
	if (c->state == HTTP_CLIENT_WAITING)
		return 0; /* poll(2) still reports a connection that was reset */
	return c->state == HTTP_CLIENT_SENDING ? POLLOUT : POLLIN;
}

/* Starts to send a response that consists of a head and, unless `body` is NULL, of `body`. */
static void respond(struct http_client *c, const char *status, const char *type, int64_t len,
		    const char *body)
{
	time_t now = time(NULL);
	char date[64] = "";
	struct tm tm;
	int n;

	if (gmtime_r(&now, &tm))
		(void)strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	n = snprintf(c->head, sizeof(c->head),
		     "HTTP/1.1 %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\n"
		     "%sConnection: close\r\n\r\n%s", status, date, type, (long long)len,
		     status[0] == '4' && status[2] == '5' ? "Allow: GET, HEAD\r\n" : "",
		     body && !c->is_head ? body : "");
	c->head_len = (size_t)n < sizeof(c->head) ? (size_t)n : sizeof(c->head) - 1;
	c->head_sent = 0;
	enter(c, HTTP_CLIENT_SENDING, SEND_MS);
}

static void respond_text(struct http_client *c, const char *status, const char *body)
{
	respond(c, status, "text/plain; charset=utf-8", (int64_t)strlen(body), body);
}

void http_client_answer(struct http_client *c, struct document *doc, const char *why)
{
	if (!doc) {
		_cleanup_free_ char *body = xasprintf("%s\n", why);

		respond_text(c, "503 Service Unavailable", body);
		return;
	}
	c->doc = c->is_head ? NULL : document_ref(doc);
	c->doc_sent = 0;
	respond(c, "200 OK", c->wants_openmetrics ? OPENMETRICS_TYPE : TEXT_TYPE, doc->len, NULL);
}

static void handle(struct http_client *c, const struct http_request *r)
{
	c->is_head = r->method == HTTP_HEAD;
	c->wants_openmetrics = r->accepts_openmetrics;
	if (r->method == HTTP_OTHER)
		respond_text(c, "405 Method Not Allowed", "only GET and HEAD\n");
	else if (http_request_is_for(r, "/metrics"))
		enter(c, HTTP_CLIENT_WAITING, 0);
	else if (http_request_is_for(r, "/"))
		respond_text(c, "200 OK", "jtool exporter: the metrics are at /metrics\n");
	else
		respond_text(c, "404 Not Found", "the metrics are at /metrics\n");
}

/*
 * Receives the next part of the request, and handles the request when it is complete.  Returns
 * false if nothing can be received now.
 */
static bool receive(struct http_client *c)
{
	ssize_t n = recv(c->fd, c->request + c->request_len, HTTP_REQUEST_MAX - c->request_len, 0);
	struct http_request r;
	int rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		http_client_close(c);
		return true;
	}
	c->request_len += (size_t)n;
	rc = http_request_parse(c->request, c->request_len, &r);
	if (rc > 0)
		handle(c, &r);
	else if (rc < 0)
		respond_text(c, "400 Bad Request", "expected an HTTP/1.1 request\n");
	else if (c->request_len == HTTP_REQUEST_MAX)
		respond_text(c, "431 Request Header Fields Too Large", "the request is too long\n");
	return true;
}

/*
 * Sends the next piece of the response.  Returns its length; 0 if all is sent; -1 with errno set.
 */
static ssize_t send_piece(struct http_client *c)
{
	ssize_t n;

	if (c->head_sent < c->head_len) {
		n = send(c->fd, c->head + c->head_sent, c->head_len - c->head_sent,
			 MSG_NOSIGNAL | (c->doc ? MSG_MORE : 0));
		if (n > 0)
			c->head_sent += (size_t)n;
		return n;
	}
	if (c->doc && c->doc_sent < c->doc->len) {
		off_t at = c->doc_sent;

		n = sendfile(c->fd, c->doc->fd, &at, (size_t)(c->doc->len - c->doc_sent));
		c->doc_sent = at;
		return n;
	}
	return 0;
}

/*
 * Sends the next piece of the response, or ends the response after the last piece.  Returns false
 * if nothing can be sent now.
 */
static bool send_response(struct http_client *c)
{
	ssize_t n = send_piece(c);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0) {
		http_client_close(c);
		return true;
	}
	c->progress_ns = monotonic_ns();
	if (n > 0)
		return true;
	document_unref(c->doc);
	c->doc = NULL;
	/* on failure, the client has closed the connection; discard() detects that */
	(void)shutdown(c->fd, SHUT_WR);
	enter(c, HTTP_CLIENT_CLOSING, CLOSE_MS);
	return true;
}

/*
 * Discards the next bytes that the client has sent after its request, or closes the connection if
 * the client has closed it.  Returns false if nothing can be received now.
 */
static bool discard(struct http_client *c)
{
	ssize_t n = recv(c->fd, c->request, HTTP_REQUEST_MAX, 0);

	if (n > 0)
		return true; /* http_client_progress() checks the deadline */
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	http_client_close(c);
	return true;
}

void http_client_progress(struct http_client *c)
{
	bool again = true;

	/* Take at most 16 steps, so that a fast client does not delay the others. */
	for (int i = 0; again && i < 16; i++) {
		again = c->state == HTTP_CLIENT_READING ? receive(c)
			: c->state == HTTP_CLIENT_SENDING ? send_response(c)
			: c->state == HTTP_CLIENT_CLOSING ? discard(c) : false;
	}
	if (c->state != HTTP_CLIENT_FREE && deadline_passed(c->deadline))
		http_client_close(c);
}

int64_t http_client_stalled_ms(const struct http_client *c)
{
	int64_t ms = (monotonic_ns() - c->progress_ns) / NS_PER_MS;

	switch (c->state) {
	case HTTP_CLIENT_READING:
		return ms >= READ_STALL_MS ? ms : -1;
	case HTTP_CLIENT_SENDING:
		return ms >= SEND_STALL_MS ? ms : -1;
	case HTTP_CLIENT_CLOSING:
		return ms;
	default:
		return -1;
	}
}
