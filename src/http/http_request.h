/* Parses the head of an HTTP/1 request (RFC 9112), as far as a server of one document needs it. */
#ifndef JTOOL_HTTP_HTTP_REQUEST_H
#define JTOOL_HTTP_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_OTHER };

struct http_request {
	enum http_method method;
	const char *path; /* a part of the input, without the query */
	size_t path_len;
	bool accepts_openmetrics; /* the field Accept contains application/openmetrics-text */
};

/*
 * Parses the request at the start of the input.  Returns 1 if the head of the request is complete;
 * 0 if more bytes must be received; or -EBADMSG if the input is not HTTP/1.
 */
int http_request_parse(const char *data, size_t len, struct http_request *request) _must_check_;

/* Returns whether the path of the request is `path`. */
bool http_request_is_for(const struct http_request *request, const char *path);

#endif
