#include "session/staging/helper_msg.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define SEND_MS 10000

/* Space for one descriptor, aligned for the kernel. */
union passed {
	struct cmsghdr head;
	char space[CMSG_SPACE(sizeof(int))];
};

static int send_head(int sock, uint32_t len, int fd)
{
	union passed passed = { .space = "" };
	struct iovec iov = { &len, sizeof(len) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		msg.msg_control = &passed;
		msg.msg_controllen = sizeof(passed);
		passed.head.cmsg_level = SOL_SOCKET;
		passed.head.cmsg_type = SCM_RIGHTS;
		passed.head.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&passed.head), &fd, sizeof(fd));
	}
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == sizeof(len) ? 0 : -EMSGSIZE;
}

int helper_msg_send(int sock, const struct buf *text, int fd)
{
	int rc = send_head(sock, (uint32_t)text->len, fd);

	return rc < 0 ? rc : io_write_all(sock, text->data, text->len, deadline_in_ms(SEND_MS));
}

/* Receives the length of the text, and the descriptor. */
static int receive_head(int sock, uint32_t *len, int *fd, struct deadline deadline)
{
	union passed passed;
	struct iovec iov = { len, sizeof(*len) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &passed,
		.msg_controllen = sizeof(passed),
	};
	int rc = io_wait(sock, POLLIN, deadline);
	ssize_t n;

	if (rc < 0)
		return rc;
	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	}
	return n == sizeof(*len) ? 0 : -EBADMSG;
}

int helper_msg_receive(int sock, struct buf *text, int *fd, struct deadline deadline)
{
	_cleanup_close_ int passed = -1;
	uint32_t len;
	int rc = receive_head(sock, &len, &passed, deadline);

	if (rc == 0 && (len < 2 || len > HELPER_MSG_MAX))
		return -EBADMSG;
	if (rc == 0)
		rc = io_read_exact(sock, buf_reserve(text, len), len, deadline);
	if (rc < 0)
		return rc;
	text->len = len;
	text->data[len] = '\0';
	if (text->data[len - 1] != '\0')
		return -EBADMSG;
	*fd = TAKE_FD(passed);
	return 0;
}
