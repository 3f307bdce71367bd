#include "http/http_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG 1024
#define FIRST_PASSED_FD 3 /* SD_LISTEN_FDS_START */
#define DEFER_S 5 /* seconds for which the kernel holds back a connection without a request */

/*
 * Returns the port, or -1.  Checks the digits itself, because strtonum(3) accepts white space and
 * signs.
 */
static int parse_port(const char *text)
{
	const char *error;
	long long port = strtonum(text, 0, UINT16_MAX, &error);

	return error || strspn(text, "0123456789") < strlen(text) ? -1 : (int)port;
}

/*
 * Stores the IP address `host`, without brackets, and the port in *address.  Returns the length of
 * the socket address in bytes, or -EINVAL.
 */
static int parse_host(const char *host, int family, int port, struct sockaddr_storage *address)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };

	if (family == AF_INET6 && inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
		memcpy(address, &v6, sizeof(v6));
		return sizeof(v6);
	}
	if (family == AF_INET && inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
		memcpy(address, &v4, sizeof(v4));
		return sizeof(v4);
	}
	return -EINVAL;
}

int http_address_parse(const char *text, struct sockaddr_storage *address)
{
	const char *colon = strrchr(text, ':');
	char host[HTTP_ADDRESS_MAX];
	int port = colon ? parse_port(colon + 1) : -1;
	size_t len = colon ? (size_t)(colon - text) : 0;

	memset(address, 0, sizeof(*address));
	if (port < 0 || len >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	if (len == 0)
		return parse_host("::", AF_INET6, port, address);
	if (strcmp(host, "localhost") == 0)
		return parse_host("127.0.0.1", AF_INET, port, address);
	if (host[0] != '[')
		return parse_host(host, AF_INET, port, address);
	if (host[len - 1] != ']')
		return -EINVAL;
	host[len - 1] = '\0';
	return parse_host(host + 1, AF_INET6, port, address);
}

void http_address_text(const struct sockaddr_storage *address, char text[HTTP_ADDRESS_MAX])
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	bool is_v6 = address->ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "?";

	(void)inet_ntop(address->ss_family, is_v6 ? (const void *)&v6->sin6_addr : &v4->sin_addr,
			host, sizeof(host)); /* on failure, `host` is still "?" */
	(void)snprintf(text, HTTP_ADDRESS_MAX, is_v6 ? "[%s]:%u" : "%s:%u", host,
		       ntohs(is_v6 ? v6->sin6_port : v4->sin_port));
}

/* Creates a socket that listens on `address`.  Returns a descriptor or a negative errno. */
static int create(const struct sockaddr_storage *address, socklen_t len)
{
	_cleanup_close_ int fd = socket(address->ss_family,
					SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const int on = 1, off = 0, defer = DEFER_S;

	if (fd < 0)
		return -errno;
	/*
	 * SO_REUSEADDR permits an immediate restart, IPV6_V6ONLY 0 lets IPv4 clients connect to
	 * [::], and TCP_DEFER_ACCEPT holds back connections that send no request.  Ignore errors,
	 * because the server also works without these options.
	 */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer));
	if (bind(fd, (const struct sockaddr *)address, len) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/*
 * Creates a socket that listens on `address`.  If `text` is ":PORT", which stands for [::], and the
 * machine has no IPv6, creates a socket that listens on 0.0.0.0.
 */
static int create_any(const char *text, struct sockaddr_storage *address, socklen_t len)
{
	int fd = create(address, len);

	if (fd == -EAFNOSUPPORT && text[0] == ':') {
		len = (socklen_t)parse_host("0.0.0.0", AF_INET, parse_port(text + 1), address);
		fd = create(address, len);
	}
	return fd;
}

static int invalid(const char *text, struct err *err)
{
	return err_set(err, EXIT_USAGE, "invalid address '%s': expected ADDR:PORT such as "
		       "127.0.0.1:9404 or [::]:9404", text);
}

int http_address_check(const char *text, struct err *err)
{
	struct sockaddr_storage address;

	return http_address_parse(text, &address) < 0 ? invalid(text, err) : 0;
}

int http_address_listen(const char *text, struct sockaddr_storage *address, struct err *err)
{
	int rc = http_address_parse(text, address), fd;
	socklen_t len = sizeof(*address);

	if (rc < 0)
		return invalid(text, err);
	fd = create_any(text, address, (socklen_t)rc);
	if (fd < 0)
		return err_set(err, fd == -EACCES ? EXIT_PERMISSION : EXIT_USAGE,
			       "cannot listen on %s: %s; give another address or port", text,
			       strerror(-fd));
	(void)getsockname(fd, (struct sockaddr *)address, &len); /* cannot fail for a socket */
	return fd;
}

static bool is_listening(int fd)
{
	int value = 0;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &len) < 0 || value != SOCK_STREAM)
		return false;
	len = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &len) == 0 && value != 0;
}

int http_address_inherit(int *fds, int max, struct err *err)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS"), *error;
	int n;

	if (!pid || !count || strtonum(pid, 1, INT32_MAX, &error) != getpid())
		return 0;
	n = (int)strtonum(count, 1, max, &error);
	if (error)
		return err_set(err, EXIT_USAGE, "LISTEN_FDS is '%s': expected 1 to %d sockets",
			       count, max);
	for (int i = 0; i < n; i++) {
		fds[i] = FIRST_PASSED_FD + i;
		if (!is_listening(fds[i]))
			return err_set(err, EXIT_USAGE, "descriptor %d is not a listening stream "
				       "socket: use ListenStream= and Accept=no", fds[i]);
		if (fcntl(fds[i], F_SETFD, FD_CLOEXEC) < 0 ||
		    fcntl(fds[i], F_SETFL, O_NONBLOCK) < 0)
			return err_set(err, EXIT_USAGE,
				       "cannot use descriptor %d, passed by systemd: %s", fds[i],
				       strerror(errno));
	}
	return n;
}
