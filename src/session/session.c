#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "session/embedded.h"
#include "session/load.h"
#include "session/place.h"
#include "target/ns.h"

#define ALIVE_CHECK_MS 1000
#define FRAME_MS 30000  /* for the rest of a frame that has begun */
#define GOODBYE_MS 10000
#define EXIT_MS 1000    /* between a dying process's closed socket and its end */
#define JVMTI_WRONG_PHASE 112 /* JVMTI_ERROR_WRONG_PHASE: the JVM is on its way out */

struct session {
	const struct jvm *jvm;
	const struct steps *steps;
	struct ns ns;
	struct place *place;
	int fd;      /* the back-channel; -1: not connected */
	bool broken; /* it no longer says what it should: only closing it is left */
	struct buf payload;
};

struct token {
	char text[WIRE_TOKEN_LEN + 1];
};

static struct token new_token(void)
{
	unsigned char random[WIRE_TOKEN_LEN / 2];
	struct token token;

	arc4random_buf(random, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		(void)snprintf(token.text + 2 * i, 3, "%02x", random[i]);
	return token;
}

static bool is_gone(const struct session *s, int wait_ms)
{
	if (s->ns.pid_fd < 0)
		return ns_alive(&s->ns) < 0;
	return io_wait(s->ns.pid_fd, POLLIN, deadline_in_ms((unsigned)wait_ms)) == 0;
}

static int gone(const struct session *s, struct err *err)
{
	return err_set(err, EXIT_PARTIAL, "JVM %d went away", (int)s->jvm->pid);
}

/* The back-channel failed: is it the target's end or the agent's? */
static int channel_failed(struct session *s, int error, struct err *err)
{
	s->broken = true;
	if (is_gone(s, error == -ETIMEDOUT ? 0 : EXIT_MS))
		return gone(s, err);
	if (error == -ETIMEDOUT)
		return err_set(err, EXIT_AGENT,
			       "the agent in JVM %d does not answer in time; is the JVM stopped?",
			       (int)s->jvm->pid);
	if (error == -EPIPE || error == -ECONNRESET)
		return err_set(err, EXIT_AGENT, "the agent in JVM %d ended the session",
			       (int)s->jvm->pid);
	return err_set(err, EXIT_AGENT, "the connection to the agent in JVM %d failed: %s",
		       (int)s->jvm->pid, strerror(-error));
}

/*
 * Wait for input.  Without a deadline only the target's end ends it: the process descriptor is
 * polled along, and where there is none the process is looked at each second.
 */
static int wait_input(const struct session *s, const struct deadline *deadline)
{
	struct pollfd pfds[2] = {
		{ .fd = s->fd, .events = POLLIN },
		{ .fd = s->ns.pid_fd, .events = POLLIN },
	};

	for (;;) {
		int left = deadline ? deadline_left_ms(*deadline) : ALIVE_CHECK_MS;
		int n = poll(pfds, 2, left < ALIVE_CHECK_MS ? left : ALIVE_CHECK_MS);

		if (n < 0 && errno != EINTR)
			return -errno;
		/* What it said before it went is still heard. */
		if (n > 0 && pfds[0].revents)
			return 0;
		if ((n > 0 && pfds[1].revents) || ns_alive(&s->ns) < 0)
			return -ESRCH;
		if (deadline && deadline_passed(*deadline))
			return -ETIMEDOUT;
	}
}

/* Read one frame into s->payload.  0 or a negative errno; -EBADMSG when it is no frame. */
static int read_frame(struct session *s, const struct deadline *begin, struct wire_header *header)
{
	uint8_t head[WIRE_HEADER_LEN];
	struct deadline deadline;
	int rc = wait_input(s, begin);

	if (rc < 0)
		return rc;
	deadline = deadline_in_ms(FRAME_MS);
	rc = io_read_exact(s->fd, head, sizeof(head), deadline);
	if (rc < 0)
		return rc;
	if (!wire_header_read(head, header))
		return -EBADMSG;
	buf_reset(&s->payload);
	rc = io_read_exact(s->fd, buf_reserve(&s->payload, header->len), header->len, deadline);
	if (rc == 0)
		s->payload.len = header->len;
	return rc;
}

static int error_frame(const struct session *s, struct wire_reader payload, struct err *err)
{
	struct wire_text what = wire_get_text(&payload);
	int32_t code = wire_get_i32(&payload);
	struct wire_text why = wire_get_text(&payload);

	if (code == JVMTI_WRONG_PHASE)
		return err_set(err, EXIT_PARTIAL, "JVM %d is going down", (int)s->jvm->pid);
	return err_set(err, EXIT_ANSWER, "the agent in JVM %d: %.*s: %.*s", (int)s->jvm->pid,
		       (int)what.len, what.data, (int)why.len, why.data);
}

int session_receive(struct session *s, struct session_frame *frame, unsigned timeout_ms,
		    struct err *err)
{
	struct deadline deadline = deadline_in_ms(timeout_ms);
	struct wire_header header;
	int rc = read_frame(s, timeout_ms ? &deadline : NULL, &header);

	if (rc == -ESRCH) {
		s->broken = true;
		return gone(s, err);
	}
	if (rc == -EBADMSG) {
		s->broken = true;
		return err_set(err, EXIT_AGENT,
			       "the agent in JVM %d sent no frame of version %d: "
			       "another jtool's agent?",
			       (int)s->jvm->pid, WIRE_VERSION);
	}
	if (rc < 0)
		return channel_failed(s, rc, err);
	frame->type = header.type;
	frame->payload = wire_reader_init(s->payload.data, header.len);
	return header.type == WIRE_ERROR ? error_frame(s, frame->payload, err) : 0;
}

int session_bad_frame(const struct session_frame *frame, struct err *err)
{
	return err_set(err, EXIT_AGENT, "the agent sent a frame that makes no sense here: %s (%u)",
		       wire_type_name(frame->type), (unsigned)frame->type);
}

int session_send(struct session *s, uint16_t type, const struct wire_writer *payload,
		 struct err *err)
{
	uint8_t head[WIRE_HEADER_LEN];
	_cleanup_buf_ struct buf frame = BUF_INIT;
	size_t len = payload ? payload->len : 0;
	int rc;

	if ((payload && !wire_writer_ok(payload)) || len > WIRE_PAYLOAD_MAX)
		return err_set(err, EXIT_USAGE, "the request is too long");
	wire_header_write(head, type, (uint32_t)len);
	buf_add(&frame, head, sizeof(head));
	if (len)
		buf_add(&frame, payload->data, len);
	rc = io_write_all(s->fd, frame.data, frame.len, deadline_in_ms(FRAME_MS));
	return rc < 0 ? channel_failed(s, rc, err) : 0;
}

/* Is it the target at the other end?  Anybody else of its user could have connected. */
static bool is_target(const struct session *s, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       peer.pid == s->jvm->pid;
}

static bool knows_token(struct session *s, const struct token *token, struct deadline deadline)
{
	struct wire_header header;
	struct wire_reader payload;
	struct wire_text text;

	if (read_frame(s, &deadline, &header) < 0 || header.type != WIRE_HELLO)
		return false;
	payload = wire_reader_init(s->payload.data, header.len);
	text = wire_get_text(&payload);
	return wire_reader_ok(&payload) && text.len == WIRE_TOKEN_LEN &&
	       memcmp(text.data, token->text, WIRE_TOKEN_LEN) == 0;
}

/* Strangers are hung up on, and the agent is waited for on. */
static int accept_agent(struct session *s, int listener, const struct token *token,
			unsigned timeout_ms, struct err *err)
{
	struct deadline deadline = deadline_in_ms(timeout_ms);

	while (io_wait(listener, POLLIN, deadline) == 0) {
		s->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s->fd >= 0 && is_target(s, s->fd) && knows_token(s, token, deadline))
			return 0;
		util_close_p(&s->fd);
		s->fd = -1;
	}
	if (is_gone(s, 0))
		return gone(s, err);
	return err_set(err, EXIT_AGENT,
		       "the agent was loaded into JVM %d, but does not connect back",
		       (int)s->jvm->pid);
}

static int load_agent(const struct session *s, const struct attach_opts *opts,
		      const struct token *token, struct err *err)
{
	_cleanup_free_ char *options = xasprintf("%s,%s", place_socket(s->place), token->text);
	const char *const args[] = { place_file(s->place), "true", options };
	const struct attach_request request = { "load", args, ARRAY_SIZE(args) };
	_cleanup_buf_ struct buf output = BUF_INIT;
	struct attach_reply reply;
	int rc;

	if (attach_execute(s->jvm, opts, &request, &reply, err) < 0)
		return -1;
	/* What is too long for a reply to `load` tells nothing that its beginning does not. */
	rc = spool_text(&reply.output, &output, LOAD_REPLY_MAX);
	if (rc == 0 || rc == -EFBIG)
		rc = load_check(s->jvm, reply.code, &output, err);
	else
		rc = err_set(err, EXIT_AGENT, "the reply to load is lost: %s", strerror(-rc));
	attach_reply_release(&reply);
	return rc;
}

static int connect_agent(struct session *s, const struct attach_opts *opts, int listener,
			 struct err *err)
{
	const struct token token = new_token();
	const struct place_request req = {
		.data = jtool_agent,
		.len = jtool_agent_len(),
		.stem = "jtool-agent",
		.suffix = ".so",
		.listener = listener,
	};

	s->place = place_new(s->jvm, &req, s->steps, err);
	if (!s->place)
		return -1;
	if (load_agent(s, opts, &token, err) < 0)
		return -1;
	steps_add(s->steps, "the JVM loaded the agent");
	if (accept_agent(s, listener, &token, opts->timeout_ms, err) < 0)
		return -1;
	steps_add(s->steps, "the agent connected back");
	return 0;
}

static void session_free(struct session *s)
{
	util_close_p(&s->fd);
	place_free(s->place);
	ns_close(&s->ns);
	buf_release(&s->payload);
	free(s);
}

struct session *session_open(const struct jvm *jvm, const struct attach_opts *opts,
			     struct err *err)
{
	_cleanup_close_ int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct session *s;

	if (listener < 0) {
		(void)err_set(err, EXIT_AGENT, "no socket: %s", strerror(errno));
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->jvm = jvm;
	s->steps = opts->steps;
	s->fd = -1;
	if (ns_open(jvm, &s->ns, err) < 0) {
		free(s);
		return NULL;
	}
	if (connect_agent(s, opts, listener, err) < 0) {
		session_free(s);
		return NULL;
	}
	return s;
}

/* Results that were still on their way are of no use any more. */
static int wait_goodbye(struct session *s, struct err *err)
{
	struct deadline deadline = deadline_in_ms(GOODBYE_MS);
	struct wire_header header;
	struct wire_reader payload;
	uint64_t bytes, blocks, refs;

	do {
		int rc = read_frame(s, &deadline, &header);

		if (rc < 0)
			return channel_failed(s, rc, err);
	} while (header.type != WIRE_GONE);
	payload = wire_reader_init(s->payload.data, header.len);
	bytes = wire_get_u64(&payload);
	blocks = wire_get_u64(&payload);
	refs = wire_get_u64(&payload);
	if (wire_reader_ok(&payload) && bytes == 0 && blocks == 0 && refs == 0)
		return 0;
	return err_set(err, EXIT_AGENT,
		       "the agent left %llu bytes in %llu blocks and %llu references in JVM %d",
		       (unsigned long long)bytes, (unsigned long long)blocks,
		       (unsigned long long)refs, (int)s->jvm->pid);
}

int session_close(struct session *s, struct err *err)
{
	int rc = 0;

	if (!s)
		return 0;
	if (!s->broken) {
		rc = session_send(s, WIRE_BYE, NULL, err);
		if (rc == 0)
			rc = wait_goodbye(s, err);
		if (rc == 0)
			steps_add(s->steps, "the agent is gone and left nothing behind");
	}
	session_free(s);
	return rc;
}
