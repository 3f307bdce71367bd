/*
 * The attach protocol: builds requests and parses the replies of every JDK.  Does no I/O.
 *
 * A request of version 1 (JDK 5 on) is "1\0OP\0A\0B\0C\0" with exactly three arguments.  A request
 * of version 2 (JDK 24 on, JDK-8219896) is "2\0LEN\0OP\0A\0…\0": LEN is the number of bytes after
 * the NUL that ends LEN.  Source: attachListener.cpp in src/hotspot/share/services and
 * attachListener_posix.cpp in src/hotspot/os/posix.
 */
#ifndef JTOOL_ATTACH_PROTOCOL_H
#define JTOOL_ATTACH_PROTOCOL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Status code of the reply to a request whose version the JVM does not know
 * (ATTACH_ERROR_BADVERSION).
 */
#define ATTACH_BAD_VERSION 101

#define ATTACH_V1_ARGS 3       /* AttachOperation::arg_count_max */
#define ATTACH_V1_NAME_MAX 16  /* AttachOperation::name_length_max */
#define ATTACH_V1_ARG_MAX 1024 /* AttachOperation::arg_length_max, without the NUL */
#define ATTACH_V2_FIRST 24 /* the first JDK with version 2 */
#define ATTACH_V2_MAX (256 * 1024) /* maximum value of LEN */

/* The reply to `getversion options`. */
struct attach_version {
	int version;      /* 1 or 2 */
	bool streaming;   /* the JVM accepts the option "streaming" in a request */
};

struct attach_request {
	const char *op;
	const char *const *args;
	size_t n_args;
};

/*
 * Appends a request to `out`.  Adds empty arguments to a request of version 1 until it has three.
 * A request of version 2 turns off streaming if version.streaming is true, so that a slow reader
 * never blocks the JVM.  Returns 0; or -1 with err set (EXIT_USAGE) if the request is too long, or
 * has too many arguments or an invalid operation.
 */
int attach_protocol_request(struct buf *out, const struct attach_request *req,
			    struct attach_version version, struct err *err) _must_check_;

/*
 * Reads the status line of a reply into *code.  Returns the offset of the output, which is after
 * the line; or -EPROTO if the line is malformed; or -ENODATA if the reply is empty.
 */
ssize_t attach_protocol_status(const char *data, size_t len, int *code) _must_check_;

/* Parses the complete reply to `getversion options`.  Returns version 1 for an unknown reply. */
struct attach_version attach_protocol_version(const char *data, size_t len);

/*
 * The outcome of a `load` operation, from the status code and output of its reply, for every JDK
 * from 8 on.
 */
struct load_result {
	bool loaded;     /* the agent's Agent_OnAttach or agentmain returned 0 */
	bool has_code;   /* the agent was called and returned `code` */
	int code;
};
struct load_result attach_protocol_load(int status, const char *output, size_t len);

#endif
