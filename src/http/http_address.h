/* The sockets on which a server listens: created by jtool for an address, or passed by systemd. */
#ifndef JTOOL_HTTP_HTTP_ADDRESS_H
#define JTOOL_HTTP_HTTP_ADDRESS_H

#include <sys/socket.h>

#include "base/err.h"

/*
 * Parses "127.0.0.1:9404", "[::1]:9404", "localhost:9404" or ":9404" (every address of this
 * machine).  Resolves no other names.  Returns the length in bytes of the socket address that is
 * stored in *address, or -EINVAL.
 */
int http_address_parse(const char *text, struct sockaddr_storage *address) _must_check_;

/* Returns 0; or -1 with err set (EXIT_USAGE) if http_address_parse() does not accept the text. */
int http_address_check(const char *text, struct err *err) _must_check_;

/* Writes an address to `text`, in the form that http_address_parse() accepts. */
#define HTTP_ADDRESS_MAX 64
void http_address_text(const struct sockaddr_storage *address, char text[HTTP_ADDRESS_MAX]);

/*
 * Creates a socket that listens on the address `text`.  Sets *address to the address on which the
 * socket listens, because port 0 in `text` stands for any free port.  Returns a non-blocking
 * descriptor; or -1 with err set.
 */
int http_address_listen(const char *text, struct sockaddr_storage *address, struct err *err)
	_must_check_;

/*
 * Fills fds[] with the listening stream sockets that systemd passes to a service that has a .socket
 * unit; see sd_listen_fds(3).  Returns the number of sockets, which may be 0; or -1 with err set.
 */
int http_address_inherit(int *fds, int max, struct err *err) _must_check_;

#endif
