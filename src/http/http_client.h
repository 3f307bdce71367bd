/* A connection of http_server.h: receives one request, sends one response. */
#ifndef JTOOL_HTTP_HTTP_CLIENT_H
#define JTOOL_HTTP_HTTP_CLIENT_H

#include "http/document.h"
#include "http/http_server.h"

enum http_client_state {
	HTTP_CLIENT_FREE,
	HTTP_CLIENT_READING, /* the request is incomplete */
	HTTP_CLIENT_WAITING, /* the client waits for a document */
	HTTP_CLIENT_SENDING,
	/*
	 * The complete response was sent.  The connection stays open until the client closes it,
	 * because close(2) could discard data that has not arrived yet (RFC 9112, 9.6).
	 */
	HTTP_CLIENT_CLOSING,
};

struct http_client {
	enum http_client_state state;
	int fd;
	struct deadline deadline; /* deadline of the current state */
	/* monotonic_ns() when `state` began, or when bytes of the response were last sent */
	int64_t progress_ns;
	bool wants_openmetrics, is_head;
	char request[HTTP_REQUEST_MAX];
	size_t request_len;
	/* the head of the response and, if `doc` is NULL, also its body */
	char head[512 + sizeof(((struct err *)0)->text)];
	size_t head_len, head_sent;
	struct document *doc; /* NULL: none */
	int64_t doc_sent;
};

/* Takes over the descriptor of an accepted connection; it must be non-blocking. */
void http_client_open(struct http_client *c, int fd);
void http_client_close(struct http_client *c);

/* Returns the events of poll(2) that the connection waits for. */
short http_client_events(const struct http_client *c);

/*
 * Reads or writes what is possible without blocking.  If this completes a request for the document,
 * the state becomes HTTP_CLIENT_WAITING.
 */
void http_client_progress(struct http_client *c);

/*
 * Answers a connection in the state HTTP_CLIENT_WAITING: with `doc`, or if `doc` is NULL, with
 * status 503 and the text `why`.
 */
void http_client_answer(struct http_client *c, struct document *doc, const char *why);

/*
 * Returns -1 if the connection must stay open, because it waits for a document, or because the
 * client still has time to send the request or to receive more of the response.  Otherwise the
 * connection may be closed to make room for a new one: returns the ms since its last progress.
 */
int64_t http_client_stalled_ms(const struct http_client *c);

#endif
