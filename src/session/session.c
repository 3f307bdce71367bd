#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "attach/target_ns.h"
#include "base/xalloc.h"
#include "fileio/io.h"
#include "session/channel.h"
#include "session/embedded_agent.h"
#include "session/load_reply.h"
#include "session/loaded_agents.h"
#include "session/staging/staged_file.h"

#define GOODBYE_MS 10000
#define EXIT_MS 1000    /* an exiting process closes its socket before it ends */
#define ANSWER_MAX (1u << 30) /* limit for a hostile agent */
#define JVMTI_WRONG_PHASE 112 /* JVMTI_ERROR_WRONG_PHASE: the JVM is shutting down */

struct session {
	const struct jvm *jvm;
	const struct verbose *verbose;
	struct target_ns ns;
	struct staged_file *staged;
	struct channel channel;
	bool broken; /* protocol error: the session can only be closed */
	int32_t code; /* the JVMTI error of the last ERROR frame */
};

static bool is_gone(const struct session *s, int wait_ms)
{
	if (s->ns.pid_fd < 0)
		return target_ns_alive(&s->ns) < 0;
	return io_wait(s->ns.pid_fd, POLLIN, deadline_in_ms((unsigned)wait_ms)) == 0;
}

/* Reports a failed connection as the target's exit or the agent's failure. */
static int channel_failed(struct session *s, int error, struct err *err)
{
	s->broken = true;
	if (error == -ESRCH || is_gone(s, error == -ETIMEDOUT ? 0 : EXIT_MS))
		return jvm_gone(s->jvm, err);
	if (error == -EBADMSG)
		return err_set(err, EXIT_AGENT,
			       "the agent in JVM %d does not speak version %d of the protocol; it "
			       "may belong to another build of jtool", (int)s->jvm->pid,
			       WIRE_VERSION);
	if (error == -ETIMEDOUT)
		return err_set(err, EXIT_AGENT,
			       "the agent in JVM %d did not answer in time; the JVM may be "
			       "stopped or in a long pause; try again when it runs",
			       (int)s->jvm->pid);
	if (error == -EPIPE || error == -ECONNRESET)
		return err_set(err, EXIT_AGENT,
			       "the agent in JVM %d closed the connection before it had answered; "
			       "try again", (int)s->jvm->pid);
	return err_set(err, EXIT_AGENT, "the connection to the agent in JVM %d failed: %s",
		       (int)s->jvm->pid, strerror(-error));
}

static int error_frame(struct session *s, struct wire_reader payload, struct err *err)
{
	struct wire_text what = wire_get_text(&payload);
	int32_t code = wire_get_i32(&payload);
	struct wire_text why = wire_get_text(&payload);
	bool is_function;

	s->code = code;
	if (code == JVMTI_WRONG_PHASE)
		return err_set(err, EXIT_PARTIAL, "JVM %d is shutting down", (int)s->jvm->pid);
	/* `what` is the name of a JVMTI or JNI function, or the words that follow "cannot". */
	is_function = what.len == 0 || !memchr(what.data, ' ', what.len);
	return err_set(err, EXIT_ANSWER,
		       is_function ? "the agent in JVM %d: %.*s failed: %.*s" :
				     "the agent in JVM %d cannot %.*s: %.*s",
		       (int)s->jvm->pid, (int)what.len, what.data, (int)why.len, why.data);
}

static int invalid_frame(struct session *s, uint16_t type, struct err *err)
{
	s->broken = true; /* the JVM may be paused: close at once */
	return err_set(err, EXIT_AGENT,
		       "the agent sent an invalid or unexpected frame of the protocol: %s (%u); "
		       "report this bug", wire_type_name(type), (unsigned)type);
}

int session_answer(struct session *s, session_take_fn *take, void *arg, struct err *err)
{
	struct wire_reader payload;
	size_t bytes = 0;
	uint16_t type;
	int rc;

	do {
		rc = channel_receive(&s->channel, NULL, &type, &payload);
		if (rc < 0)
			return channel_failed(s, rc, err);
		if (type == WIRE_ERROR)
			return error_frame(s, payload, err);
		if (type != WIRE_HEAP_STREAM) /* the request limits a heap stream */
			bytes += (size_t)(payload.end - payload.at);
		if (bytes > ANSWER_MAX) {
			s->broken = true;
			return err_set(err, EXIT_AGENT,
				       "the agent's answer exceeds jtool's limit of 1 GiB; ask "
				       "for less");
		}
		rc = take(arg, type, &payload);
	} while (rc == 0);
	return rc > 0 ? 0 : invalid_frame(s, type, err);
}

/* Takes a frame if one starts before `until`.  Returns 1 after the last frame, else 0; or -1. */
static int follow_until(struct session *s, struct deadline until, session_take_fn *take, void *arg,
			struct err *err)
{
	struct wire_reader payload;
	uint16_t type;
	int rc = channel_wait(&s->channel, &until);

	if (rc == -ETIMEDOUT)
		return 0;
	if (rc == 0)
		rc = channel_receive(&s->channel, NULL, &type, &payload);
	if (rc < 0)
		return channel_failed(s, rc, err);
	if (type == WIRE_ERROR)
		return error_frame(s, payload, err);
	rc = take(arg, type, &payload);
	return rc < 0 ? invalid_frame(s, type, err) : rc;
}

int session_follow(struct session *s, session_take_fn *take, session_tick_fn *tick,
		   unsigned tick_ms, void *arg, struct err *err)
{
	struct deadline next = deadline_in_ms(tick_ms);
	int rc;

	while ((rc = follow_until(s, next, take, arg, err)) == 0) {
		if (!deadline_passed(next))
			continue;
		if (tick(s, arg, err) < 0) {
			s->broken = true; /* only closing the connection stops the agent */
			return -1;
		}
		next = deadline_in_ms(tick_ms);
	}
	return rc < 0 ? -1 : 0;
}

int session_send(struct session *s, uint16_t type, const struct wire_writer *payload,
		 struct err *err)
{
	int rc = channel_send(&s->channel, type, payload);

	if (rc == -EMSGSIZE)
		return err_set(err, EXIT_USAGE, "the request to the agent is too long: "
			       "give fewer or shorter arguments");
	return rc < 0 ? channel_failed(s, rc, err) : 0;
}

int session_jvmti_error(const struct session *s)
{
	return s->code;
}

static int load_file(const struct session *s, const struct attach_opts *opts,
		     const char *file, const char *token, struct err *err)
{
	_cleanup_free_ char *options = xasprintf("%s,%s", staged_file_socket_path(s->staged),
						 token);
	const char *const args[] = { file, "true", options };
	const struct attach_request request = { "load", args, ARRAY_SIZE(args) };
	_cleanup_buf_ struct buf output = BUF_INIT;
	struct attach_reply reply;
	int rc;

	if (attach_execute(s->jvm, opts, &request, &reply, err) < 0)
		return -1;
	/* A longer reply is cut: its beginning has the reason. */
	rc = spool_text(&reply.output, &output, LOAD_REPLY_MAX);
	if (rc == 0 || rc == -EFBIG)
		rc = load_reply_check(s->jvm, reply.code, &output, err);
	else
		rc = err_set(err, EXIT_AGENT,
			     "cannot read the JVM's reply to the request to load the agent: %s",
			     strerror(-rc));
	attach_reply_release(&reply);
	return rc;
}

/*
 * Loads the image with the patches, which the target has mapped already.  If no image is mapped, or
 * the linker does not find it by its path, loads the staged file.
 */
static int load_agent(const struct session *s, const struct attach_opts *opts,
		      const char *token, struct err *err)
{
	const char *staged = staged_file_path(s->staged), *mapped;
	struct loaded_agents images = { 0 };
	struct err refused = { 0 };
	int rc = -1;

	if (loaded_agents_find(&s->ns, &images, err) < 0)
		return -1;
	mapped = loaded_agents_named(&images, strrchr(staged, '/') + 1);
	if (mapped && strcmp(mapped, staged) != 0 && !images.musl)
		rc = load_file(s, opts, mapped, token, &refused);
	if (rc < 0)
		rc = load_file(s, opts, staged, token, err);
	loaded_agents_release(&images);
	return rc;
}

static int not_connected(const struct session *s, struct err *err)
{
	if (is_gone(s, 0))
		return jvm_gone(s->jvm, err);
	return err_set(err, EXIT_AGENT,
		       "the agent was loaded into JVM %d but did not connect in time; the JVM may "
		       "be stopped or in a long pause; try again when it runs", (int)s->jvm->pid);
}

static struct staged_file_request our_agent(const struct buf *agent, int listener)
{
	return (struct staged_file_request){
		.data = agent->data,
		.len = agent->len,
		.stem = "jtool-agent",
		.suffix = ".so",
		.listener = listener,
	};
}

char *session_agent_name(const struct buf *agent)
{
	const struct staged_file_request req = our_agent(agent, -1);

	return staged_file_name(&req);
}

bool session_is_ours(const char *image)
{
	_cleanup_buf_ struct buf agent = BUF_INIT;
	_cleanup_free_ char *name = NULL;
	const char *slash = strrchr(image, '/');
	struct err damaged = { 0 };

	if (embedded_agent(&agent, &damaged) < 0)
		return false; /* session_open() reports the reason */
	name = session_agent_name(&agent);
	return strcmp(slash ? slash + 1 : image, name) == 0;
}

static int connect_agent(struct session *s, const struct attach_opts *opts, int listener,
			 const char *image, struct err *err)
{
	_cleanup_buf_ struct buf agent = BUF_INIT;
	char token[WIRE_TOKEN_LEN + 1];
	struct staged_file_request req;

	if (embedded_agent(&agent, err) < 0)
		return -1;
	req = our_agent(&agent, listener);
	s->staged = staged_file_new(s->jvm, &req, s->verbose, err);
	if (!s->staged)
		return -1;
	channel_new_token(token);
	if ((image ? load_file(s, opts, image, token, err) :
		     load_agent(s, opts, token, err)) < 0)
		return -1;
	verbose_step(s->verbose, "the JVM loaded the agent");
	if (channel_accept(&s->channel, listener, token, deadline_in_ms(opts->timeout_ms)) < 0)
		return not_connected(s, err);
	verbose_step(s->verbose, "the agent has connected");
	/* The agent is mapped and connected, so its files are no longer needed. */
	staged_file_free(TAKE_PTR(s->staged));
	return 0;
}

static void session_free(struct session *s)
{
	channel_release(&s->channel);
	staged_file_free(s->staged);
	target_ns_close(&s->ns);
	free(s);
}

struct session *session_open_image(const struct jvm *jvm, const struct attach_opts *opts,
				   const char *image, struct err *err)
{
	_cleanup_close_ int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct session *s;

	if (listener < 0) {
		(void)err_set(err, EXIT_AGENT, "cannot create a socket for the agent in JVM %d: %s",
			      (int)jvm->pid, strerror(errno));
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->jvm = jvm;
	s->verbose = opts->steps;
	s->channel = (struct channel)CHANNEL_INIT(&s->ns);
	if (target_ns_open(jvm, &s->ns, err) < 0) {
		free(s);
		return NULL;
	}
	if (connect_agent(s, opts, listener, image, err) < 0) {
		session_free(s);
		return NULL;
	}
	return s;
}

struct session *session_open(const struct jvm *jvm, const struct attach_opts *opts,
			     struct err *err)
{
	return session_open_image(jvm, opts, NULL, err);
}

/* Waits for the agent's last frame, and discards results that arrive before it. */
static int wait_goodbye(struct session *s, struct err *err)
{
	struct deadline deadline = deadline_in_ms(GOODBYE_MS);
	struct wire_reader payload;
	uint64_t bytes, blocks, refs;
	uint16_t type;

	do {
		int rc = channel_receive(&s->channel, &deadline, &type, &payload);

		if (rc == 0 && deadline_passed(deadline))
			rc = -ETIMEDOUT; /* the agent never stops sending */
		if (rc < 0)
			return channel_failed(s, rc, err);
	} while (type != WIRE_GONE);
	bytes = wire_get_u64(&payload);
	blocks = wire_get_u64(&payload);
	refs = wire_get_u64(&payload);
	if (wire_reader_ok(&payload) && bytes == 0 && blocks == 0 && refs == 0)
		return 0;
	return err_set(err, EXIT_AGENT,
		       "the agent ended but left %llu bytes in %llu blocks and %llu references in "
		       "JVM %d; report this bug", (unsigned long long)bytes,
		       (unsigned long long)blocks, (unsigned long long)refs, (int)s->jvm->pid);
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
			verbose_step(s->verbose, "the agent has ended and freed everything");
	}
	session_free(s);
	return rc;
}
