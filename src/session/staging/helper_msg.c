#include "session/staging/helper_msg.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "fileio/pass_fd.h"

#define SEND_MS 10000

int helper_msg_send(int sock, const struct buf *text, int fd)
{
	uint32_t len = (uint32_t)text->len;
	int rc = pass_fd_send(sock, &len, sizeof(len), fd);

	return rc < 0 ? rc : io_write_all(sock, text->data, text->len, deadline_in_ms(SEND_MS));
}

/* Receives the start of a message: the length of its text, and its descriptor. */
static int receive_head(int sock, uint32_t *len, int *fd, struct deadline deadline)
{
	union pass_fd_room passed;
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
	pass_fd_take(&msg, fd);
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
