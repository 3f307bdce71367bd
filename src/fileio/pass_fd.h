/* Passes a descriptor over a Unix socket, attached to the first bytes of a message. */
#ifndef JTOOL_FILEIO_PASS_FD_H
#define JTOOL_FILEIO_PASS_FD_H

#include <stddef.h>
#include <sys/socket.h>

#include "base/util.h"

/* A control message with room for one descriptor, aligned as the kernel requires. */
union pass_fd_room {
	struct cmsghdr head;
	char space[CMSG_SPACE(sizeof(int))];
};

/*
 * Sends all bytes of the data in one message, with the descriptor `fd` unless it is -1.  Returns 0
 * or a negative errno.
 */
int pass_fd_send(int sock, void *data, size_t len, int fd) _must_check_;

/*
 * If a descriptor came with the received message, closes *fd, unless it is -1, and sets *fd to that
 * descriptor.
 */
void pass_fd_take(struct msghdr *msg, int *fd);

#endif
