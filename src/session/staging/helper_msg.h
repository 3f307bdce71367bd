/*
 * Messages from the staging helper to its parent.  A message consists of a text and, optionally, a
 * descriptor.
 */
#ifndef JTOOL_SESSION_STAGING_HELPER_MSG_H
#define JTOOL_SESSION_STAGING_HELPER_MSG_H

#include "base/buf.h"
#include "fileio/io.h"

#define HELPER_MSG_MAX 65536

/*
 * Sends a message.  The text, including its NUL, has 2 to HELPER_MSG_MAX bytes.  `fd` is the
 * descriptor; -1: none.  Returns 0 or a negative errno.
 */
int helper_msg_send(int sock, const struct buf *text, int fd) _must_check_;

/*
 * Receives a message.  Stores its text in `text`, which must be empty.  Sets *fd to the descriptor,
 * which the caller closes, or to -1 if the message has none.  Returns 0; -EPIPE if the sender has
 * ended; -EBADMSG if the message is malformed; or another negative errno.
 */
int helper_msg_receive(int sock, struct buf *text, int *fd, struct deadline deadline) _must_check_;

#endif
