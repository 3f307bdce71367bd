/*
 * What the keeper tells its place, over a socket between the two: texts, and a descriptor with
 * them where there is one.
 */
#ifndef JTOOL_SESSION_REPORT_H
#define JTOOL_SESSION_REPORT_H

#include "base/buf.h"
#include "base/io.h"

#define REPORT_MAX 65536

/* Send one: at most REPORT_MAX bytes, and fd unless it is -1.  0 or a negative errno. */
int report_send(int sock, const struct buf *text, int fd) _must_check_;

/*
 * Receive one.  *fd is the descriptor that came with it, which becomes the caller's, or -1.
 * -EPIPE when the other side ended instead, -EBADMSG when it makes no sense.
 */
int report_receive(int sock, struct buf *text, int *fd, struct deadline deadline) _must_check_;

#endif
