/*
 * The attach protocol's bytes: requests of versions 1 and 2, and every JDK's replies.  Pure.
 *
 * Version 1 (JDK 5 on): "1\0OP\0A\0B\0C\0", always three arguments.  Version 2 (JDK 24 on,
 * JDK-8219896): "2\0LEN\0OP\0A\0…\0", any number.  Source: src/hotspot/share/services/
 * attachListener.cpp and os/posix/attachListener_posix.cpp.
 */
#ifndef JTOOL_TARGET_ATTACHPROTO_H
#define JTOOL_TARGET_ATTACHPROTO_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define ATTACH_V1_ARGS 3       /* AttachOperation::arg_count_max */
#define ATTACH_V1_NAME_MAX 16  /* AttachOperation::name_length_max */
#define ATTACH_V1_ARG_MAX 1024 /* AttachOperation::arg_length_max, without the NUL */
#define ATTACH_V2_MAX (256 * 1024)

/* What a JVM's answer to `getversion options` says. */
struct attach_version {
	int version;      /* 1 or 2 */
	bool streaming;   /* it knows the option "streaming" */
};

struct attach_request {
	const char *op;
	const char *const *args;
	size_t n_args;
};

/*
 * Append a request to `out`.  Version 1 fills up with empty arguments; version 2 asks for a
 * reply that is not streamed when the JVM knows that option, so that no reader can hold the
 * JVM up.  Requests over the limits are refused with the limit named (EXIT_USAGE).
 */
int attachproto_request(struct buf *out, const struct attach_request *req,
			struct attach_version version, struct err *err) _must_check_;

/*
 * Split the status line off a reply: *code is the number, the return value is the offset where
 * the output begins.  -EPROTO when it is no reply, -ENODATA when it is empty.
 */
ssize_t attachproto_status(const char *data, size_t len, int *code) _must_check_;

/* Understand the whole reply to `getversion options`; anything unknown is version 1. */
struct attach_version attachproto_version(const char *data, size_t len);

/* What became of a `load`, from its status code and output, for every JDK from 8 on. */
struct load_result {
	bool loaded;     /* Agent_OnAttach or agentmain returned 0 */
	bool has_code;   /* the agent was entered: `code` is what it returned */
	int code;
};
struct load_result attachproto_load(int status, const char *output, size_t len);

#endif
