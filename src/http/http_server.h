/*
 * Serves one document at GET /metrics over HTTP/1, to clients that may be slow or hostile.
 *
 * Uses one thread and poll(2).  A connection serves one request.  Clients cannot make the process
 * grow:
 *  - There are at most HTTP_CLIENTS_MAX connections.  When all are in use, the server closes one
 *    that makes no progress, to accept a new one.  If all make progress, new connections wait in
 *    the kernel's queue.
 *  - A request has at most HTTP_REQUEST_MAX bytes.
 *  - Requests that arrive within HTTP_FRESH_MS get the same document.
 */
#ifndef JTOOL_HTTP_HTTP_SERVER_H
#define JTOOL_HTTP_HTTP_SERVER_H

#include "http/document.h"

#define HTTP_CLIENTS_MAX 64
#define HTTP_REQUEST_MAX 4096
#define HTTP_LISTENERS_MAX 8
#define HTTP_FRESH_MS 1000

struct http_server {
	const int *listeners; /* listening sockets that do not block */
	int n_listeners;
	int stop; /* the server ends when this descriptor is readable */
	unsigned timeout_ms; /* limit for the time that `write` takes to write a document */
	/*
	 * Called before each document, in this process.  If has_orphans is set, processes that
	 * earlier calls of write() have started did not end yet: they may be blocked in the kernel.
	 */
	void (*begin)(void *arg, bool has_orphans);
	document_write *write;
	void *arg;
	/*
	 * Called when a document could not be written.  If the next documents fail with the same
	 * error, it is not called again.
	 */
	void (*failed)(void *arg, const struct err *err);
};

/* Runs until server->stop is readable.  Returns 0, or -1 with err set. */
int http_server_run(const struct http_server *server, struct err *err);

#endif
