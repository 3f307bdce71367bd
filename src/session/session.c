#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "attach/target_ns.h"
#include "discover/memory_check.h"
#include "base/xalloc.h"
#include "fileio/io.h"
#include "fileio/stall.h"
#include "session/channel.h"
#include "embedded/embedded.h"
#include "session/agent_load.h"
#include "session/loaded_agents.h"
#include "session/staging/staged_file.h"
#include "session/wake.h"

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
	bool this_build; /* the agent is known to be this build's */
	unsigned timeout_ms;
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

/* Reports an agent that sends nothing, or too little. */
static int silent(struct session *s, const struct stall *stall, uint64_t bytes, struct err *err)
{
	s->broken = true;
	if (is_gone(s, 0))
		return jvm_gone(s->jvm, err);
	if (bytes == 0)
		return err_set(err, EXIT_PARTIAL,
			       "the agent in JVM %d did not answer within %g s; the JVM may be "
			       "stopped; use --timeout to wait longer",
			       (int)s->jvm->pid, stall->ms / 1000.0);
	return err_set(err, EXIT_PARTIAL,
		       "the agent in JVM %d stopped in the middle of its answer: %llu bytes "
		       "received, less than %u KB of them in the last %g s; use --timeout to wait "
		       "longer",
		       (int)s->jvm->pid, (unsigned long long)bytes, STALL_BYTES / 1024,
		       stall->ms / 1000.0);
}

/* Receives the next frame of an answer of which `bytes` have arrived. */
static int next_frame(struct session *s, struct stall *stall, uint64_t bytes, uint16_t *type,
		      struct wire_reader *payload, struct err *err)
{
	int rc;

	do {
		rc = channel_wait(&s->channel, &stall->end);
		if (rc == -ETIMEDOUT && stall_is_late(stall, bytes))
			return silent(s, stall, bytes, err);
	} while (rc == -ETIMEDOUT);
	if (rc == 0)
		rc = channel_receive(&s->channel, NULL, type, payload);
	if (rc == -ETIMEDOUT)
		return silent(s, stall, bytes, err);
	return rc < 0 ? channel_failed(s, rc, err) : 0;
}

static int answer_within(struct session *s, unsigned ms, session_take_fn *take, void *arg,
			 struct err *err)
{
	struct stall stall = stall_begin(ms);
	uint64_t bytes = 0, counted = 0;
	struct wire_reader payload;
	uint16_t type;
	int rc;

	do {
		size_t len;

		if (next_frame(s, &stall, bytes, &type, &payload, err) < 0)
			return -1;
		if (type == WIRE_ERROR)
			return error_frame(s, payload, err);
		len = WIRE_HEADER_LEN + (size_t)(payload.end - payload.at);
		bytes += len;
		if (type != WIRE_HEAP_STREAM) /* take() limits a heap stream */
			counted += len;
		if (counted > ANSWER_MAX) {
			s->broken = true;
			return err_set(err, EXIT_AGENT,
				       "the agent's answer exceeds jtool's limit of 1 GiB; ask "
				       "for less");
		}
		rc = take(arg, type, &payload);
	} while (rc == 0);
	return rc > 0 ? 0 : invalid_frame(s, type, err);
}

int session_answer(struct session *s, session_take_fn *take, void *arg, struct err *err)
{
	return answer_within(s, s->timeout_ms, take, arg, err);
}

int session_answer_long(struct session *s, session_take_fn *take, void *arg, struct err *err)
{
	unsigned ms = s->timeout_ms > ATTACH_LONG_MS ? s->timeout_ms : ATTACH_LONG_MS;

	return answer_within(s, ms, take, arg, err);
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

static int not_connected(const struct session *s, struct err *err)
{
	if (is_gone(s, 0))
		return jvm_gone(s->jvm, err);
	return err_set(err, EXIT_AGENT,
		       "the agent in JVM %d did not connect in time; the JVM may be stopped or in "
		       "a long pause; try again when it runs", (int)s->jvm->pid);
}

static struct staged_file_request our_agent(const struct buf *agent, int listener,
					    unsigned timeout_ms)
{
	return (struct staged_file_request){
		.timeout_ms = timeout_ms,
		.data = agent->data,
		.len = agent->len,
		.stem = "jtool-agent",
		.suffix = ".so",
		.listener = listener,
	};
}

char *session_agent_name(const struct buf *agent)
{
	const struct staged_file_request req = our_agent(agent, -1, 0);

	return staged_file_name(&req);
}

bool session_is_this_build(const struct session *s)
{
	return s->this_build;
}

static int new_listener(struct err *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 ? fd : err_set(err, EXIT_AGENT, "cannot create a socket for the agent: %s",
				      strerror(errno));
}

static int accept_agent(struct session *s, const struct attach_opts *opts, int listener,
			const char *token, struct err *err)
{
	if (channel_accept(&s->channel, listener, token, deadline_in_ms(opts->timeout_ms)) < 0)
		return not_connected(s, err);
	verbose_step(s->verbose, "the agent has connected");
	/* The agent is mapped and connected, so what was staged is no longer needed. */
	staged_file_free(TAKE_PTR(s->staged));
	return 0;
}

/* Returns 0, 1 if the agent does not wake, or -1 with `err` set. */
static int wake(struct session *s, const struct attach_opts *opts,
		const struct loaded_agent *agent, struct err *err)
{
	_cleanup_close_ int listener = new_listener(err);
	char token[WIRE_TOKEN_LEN + 1];
	int rc;

	if (listener < 0)
		return -1;
	channel_new_token(token);
	rc = wake_agent(s->jvm, opts, agent, listener, token, &s->staged, err);
	if (rc == 0) {
		verbose_step(s->verbose, "woke the agent %s", agent->path);
		return accept_agent(s, opts, listener, token, err);
	}
	staged_file_free(TAKE_PTR(s->staged));
	return rc;
}

/* Loads `image`; NULL: this build's agent. */
static int load(struct session *s, const struct attach_opts *opts, const struct buf *agent,
		const struct loaded_agents *images, const char *image, const char *remedy,
		struct err *err)
{
	_cleanup_close_ int listener = new_listener(err);
	const struct staged_file_request staged = our_agent(agent, listener, opts->timeout_ms);
	char token[WIRE_TOKEN_LEN + 1];
	struct agent_load req = { .file = image, .token = token, .remedy = remedy };
	int rc;

	if (listener < 0)
		return -1;
	s->staged = staged_file_new(s->jvm, &staged, s->verbose, err);
	if (!s->staged)
		return -1;
	channel_new_token(token);
	req.socket_path = staged_file_socket_path(s->staged);
	rc = image ? agent_load(s->jvm, opts, &req, err)
		   : agent_load_own(s->jvm, opts, images, staged_file_path(s->staged), req, err);
	if (rc < 0)
		return -1;
	verbose_step(s->verbose, "the JVM loaded the agent");
	return accept_agent(s, opts, listener, token, err);
}

static int connect_agent(struct session *s, const struct attach_opts *opts, const char *image,
			 const struct buf *agent, const struct loaded_agents *images,
			 struct err *err)
{
	const struct loaded_agent *mapped =
		image ? loaded_agents_at(images, image) : loaded_agents_own(images);
	_cleanup_free_ char *what_to_do = NULL;
	struct err unwoken = { .code = EXIT_DONE };
	int rc = 1;

	s->this_build = !image || (mapped && mapped->this_build);
	if (!mapped || !mapped->at_startup)
		mapped = NULL;
	else
		rc = wake(s, opts, mapped, &unwoken);
	if (rc < 0 && unwoken.code != EXIT_AGENT)
		return err_set(err, unwoken.code, "%s", unwoken.text);
	if (rc == 0)
		return 0;
	what_to_do = loaded_agents_remedy(images, mapped, &unwoken);
	return load(s, opts, agent, images, image, what_to_do, err);
}

static int find_and_connect(struct session *s, const struct attach_opts *opts, const char *image,
			    struct err *err)
{
	_cleanup_buf_ struct buf agent = BUF_INIT;
	struct loaded_agents images = { 0 };
	int rc;

	if (embedded_agent(&agent, err) < 0 ||
	    loaded_agents_find(s->jvm, &agent, &images, err) < 0)
		return -1;
	rc = connect_agent(s, opts, image, &agent, &images, err);
	loaded_agents_release(&images);
	return rc;
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
	struct session *s;

	/* Once more than for the attach operation, because an agent that sleeps is not loaded. */
	if (memory_check(jvm, MEMORY_AGENT, NULL, err) < 0)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->jvm = jvm;
	s->verbose = opts->steps;
	s->timeout_ms = opts->timeout_ms;
	s->channel = (struct channel)CHANNEL_INIT(&s->ns);
	if (s->channel.frame_ms > opts->timeout_ms)
		s->channel.frame_ms = opts->timeout_ms;
	if (target_ns_open_process(jvm, &s->ns, err) < 0) {
		free(s);
		return NULL;
	}
	if (find_and_connect(s, opts, image, err) < 0) {
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
