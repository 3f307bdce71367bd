/* The attach socket of a JVM: where it is, and how to connect to it. */
#ifndef JTOOL_ATTACH_ATTACH_SOCKET_H
#define JTOOL_ATTACH_ATTACH_SOCKET_H

#include <sys/stat.h>

#include "base/err.h"
#include "fileio/io.h"
#include "attach/target_ns.h"

struct attach_socket {
	struct target_ns ns;
	int tmp_fd;       /* O_PATH descriptor of the socket's directory */
	char socket[32];  /* name of the socket in tmp_fd: .java_pid<nspid> */
	struct stat dead; /* a socket file that had no listener; st_ino 0: none was found */
};

/*
 * Opens the directory of the attach socket.  Fails if the JVM's process is stopped (SIGSTOP): a
 * stopped JVM cannot answer now, but would carry out the request when it is continued.
 */
int attach_socket_open(const struct jvm *jvm, struct attach_socket *asock,
		       struct err *err) _must_check_;
/*
 * As attach_socket_open(), but does not open the directory: leaves tmp_fd at -1 and touches no file
 * system of the target.
 */
int attach_socket_open_process(const struct jvm *jvm, struct attach_socket *asock,
			       struct err *err) _must_check_;
void attach_socket_close(struct attach_socket *asock);

/*
 * Returns 1 if a file has the socket's name and is not the file in asock->dead; 0 if there is no
 * such file; or a negative errno.  Returns 1 even if the file is not a socket;
 * attach_socket_connect() reports that error.
 */
int attach_socket_exists(const struct attach_socket *asock) _must_check_;

/*
 * Connects with the target's ids, which HotSpot checks, and verifies that the peer is the target.
 * Returns 1 with *fd set; 0 if there is no listener; or -1 with `err` set.
 */
int attach_socket_connect(struct attach_socket *asock, struct deadline d, int *fd,
			  struct err *err) _must_check_;

/* Returns 0 while the target runs; -1 with `err` set if it has exited or is stopped. */
int attach_socket_check_running(const struct attach_socket *asock, struct err *err) _must_check_;

#endif
