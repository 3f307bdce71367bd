/* A connection of http_server.h: receives one request, sends one response. */
#ifndef JTOOL_HTTP_HTTP_CLIENT_H
#define JTOOL_HTTP_HTTP_CLIENT_H

#include "http/document.h"
#include "http/http_server.h"

enum http_client_state {
	HTTP_CLIENT_FREE,
	HTTP_CLIENT_READING, /* its request is incomplete */
	HTTP_CLIENT_WAITING, /* for a document */
	HTTP_CLIENT_SENDING,
	HTTP_CLIENT_CLOSING, /* all is sent; close(2) now could discard it, see RFC 9112, 9.6 */
};

struct http_client {
	enum http_client_state state;
	int fd;
	struct deadline deadline; /* of the state */
	int64_t progress_ns;      /* when bytes were last received or sent */
	bool wants_openmetrics, is_head;
	char request[HTTP_REQUEST_MAX];
	size_t request_len;
	char head[512]; /* of the response, and a short body */
	size_t head_len, head_sent;
	struct document *doc; /* NULL: none */
	int64_t doc_sent;
};

/* Takes over an accepted connection, which does not block. */
void http_client_open(struct http_client *c, int fd);
void http_client_close(struct http_client *c);

/* Returns the events of poll(2) that the connection waits for. */
short http_client_events(const struct http_client *c);

/* Reads or writes what is possible without blocking.  Ends in the state WAITING after a request. */
void http_client_progress(struct http_client *c);

/* Answers a connection that is WAITING: with the document, or with status 503 if it is NULL. */
void http_client_answer(struct http_client *c, struct document *doc, const char *why);

/*
 * Returns how long ago the connection made its last progress, in ms, if it may be closed for a new
 * one: it has had enough time for its request, or for the next bytes of its response; else -1.
 */
int64_t http_client_stalled_ms(const struct http_client *c);

#endif
