/* The attach socket of a JVM: where it is, and how to connect to it. */
#ifndef JTOOL_ATTACH_ATTACH_SOCKET_H
#define JTOOL_ATTACH_ATTACH_SOCKET_H

#include <sys/stat.h>

#include "base/err.h"
#include "fileio/io.h"
#include "attach/target_ns.h"

struct attach_socket {
	struct target_ns ns;
	int tmp_fd;       /* O_PATH; the directory of the socket */
	char socket[32];  /* .java_pid<nspid> in tmp_fd */
	struct stat dead; /* a socket file without a listener; st_ino 0: none seen yet */
};

/*
 * Opens the directory of the attach socket.  Fails for a stopped process: it cannot answer, but it
 * would carry out the request as soon as it is resumed.
 */
int attach_socket_open(const struct jvm *jvm, struct attach_socket *asock,
		       struct err *err) _must_check_;
/* The same without the directory (-1), so that no file system of the target is touched. */
int attach_socket_open_process(const struct jvm *jvm, struct attach_socket *asock,
			       struct err *err) _must_check_;
void attach_socket_close(struct attach_socket *asock);

/*
 * Returns 1 if the socket's file exists and is not `dead`, else 0, or a negative errno.  A file of
 * another type counts: attach_socket_connect() reports it.
 */
int attach_socket_exists(const struct attach_socket *asock) _must_check_;

/*
 * Connects with the target's ids, which HotSpot checks, and verifies that the peer is the target.
 * Returns 1 with *fd set, 0 if there is no listener, or -1 with `err` set.
 */
int attach_socket_connect(struct attach_socket *asock, struct deadline d, int *fd,
			  struct err *err) _must_check_;

/* Returns 0 while the target runs, -1 with `err` set if it has exited or is stopped. */
int attach_socket_check_running(const struct attach_socket *asock, struct err *err) _must_check_;

#endif
