/*
 * The place where a JVM opens its attach socket, and connecting to what is there.
 */
#ifndef JTOOL_TARGET_POINT_H
#define JTOOL_TARGET_POINT_H

#include <sys/stat.h>

#include "base/err.h"
#include "base/io.h"
#include "target/ns.h"

struct point {
	struct ns ns;
	int tmp_fd;       /* O_PATH directory */
	char socket[32];  /* .java_pid<nspid> in it */
	struct stat dead; /* a socket file that nobody listens to; st_ino 0: none was seen */
};

/*
 * Find it.  A stopped process is refused: it answers nothing, but would do what was asked once
 * it goes on.
 */
int point_open(const struct jvm *jvm, struct point *point, struct err *err) _must_check_;
void point_close(struct point *point);

/*
 * Is there a socket file that was not found dead?  1, 0, or a negative errno.  st may be NULL.
 * A file that is no socket counts: point_connect() says what is wrong with it.
 */
int point_has_socket(const struct point *point, struct stat *st) _must_check_;

/*
 * Connect under the target's ids, which HotSpot wants to see, and check that the peer is the
 * target.  1 with *fd set, 0 when nobody listens there, -1 with err set.
 */
int point_connect(struct point *point, struct deadline d, int *fd, struct err *err) _must_check_;

/* Is it still there, and not stopped meanwhile? */
int point_check_running(const struct point *point, struct err *err) _must_check_;

#endif
