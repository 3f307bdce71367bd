/* Passes a descriptor with the first bytes of a message over a Unix socket. */
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
 * Sets *fd to the descriptor that came with a received message, if there is one; first closes the
 * old *fd unless it is -1.
 */
void pass_fd_take(struct msghdr *msg, int *fd);

#endif
