#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "session/channel.h"
#include "session/embedded.h"
#include "session/image.h"
#include "session/load.h"
#include "session/place.h"
#include "target/ns.h"

#define GOODBYE_MS 10000
#define EXIT_MS 1000    /* between a dying process's closed socket and its end */
#define ANSWER_MAX (1u << 30) /* what a hostile agent can make us keep */
#define JVMTI_WRONG_PHASE 112 /* JVMTI_ERROR_WRONG_PHASE: the JVM is on its way out */

struct session {
	const struct jvm *jvm;
	const struct steps *steps;
	struct ns ns;
	struct place *place;
	struct channel channel;
	bool broken; /* it no longer says what it should: only closing it is left */
	int32_t code; /* the JVMTI error of the last ERROR */
};

static bool is_gone(const struct session *s, int wait_ms)
{
	if (s->ns.pid_fd < 0)
		return ns_alive(&s->ns) < 0;
	return io_wait(s->ns.pid_fd, POLLIN, deadline_in_ms((unsigned)wait_ms)) == 0;
}

/* The back-channel failed: is it the target's end or the agent's? */
static int channel_failed(struct session *s, int error, struct err *err)
{
	s->broken = true;
	if (error == -ESRCH || is_gone(s, error == -ETIMEDOUT ? 0 : EXIT_MS))
		return jvm_gone(s->jvm, err);
	if (error == -EBADMSG)
		return err_set(err, EXIT_AGENT,
			       "the agent in JVM %d sent no frame of version %d: "
			       "another jtool's agent?",
			       (int)s->jvm->pid, WIRE_VERSION);
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

static int error_frame(struct session *s, struct wire_reader payload, struct err *err)
{
	struct wire_text what = wire_get_text(&payload);
	int32_t code = wire_get_i32(&payload);
	struct wire_text why = wire_get_text(&payload);

	s->code = code;
	if (code == JVMTI_WRONG_PHASE)
		return err_set(err, EXIT_PARTIAL, "JVM %d is going down", (int)s->jvm->pid);
	return err_set(err, EXIT_ANSWER, "the agent in JVM %d: %.*s: %.*s", (int)s->jvm->pid,
		       (int)what.len, what.data, (int)why.len, why.data);
}

static int makes_no_sense(struct session *s, uint16_t type, struct err *err)
{
	s->broken = true; /* the JVM may stand still while it goes on: it is hung up on */
	return err_set(err, EXIT_AGENT, "the agent sent a frame that makes no sense here: %s (%u)",
		       wire_type_name(type), (unsigned)type);
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
		if (type != WIRE_TAPE) /* as long as its own request allows: who takes it counts */
			bytes += (size_t)(payload.end - payload.at);
		if (bytes > ANSWER_MAX) {
			s->broken = true;
			return err_set(err, EXIT_AGENT,
				       "the agent's answer does not come to an end");
		}
		rc = take(arg, type, &payload);
	} while (rc == 0);
	return rc > 0 ? 0 : makes_no_sense(s, type, err);
}

/* One frame, or none if none has begun by then: 1: it was the last one, 0, -1. */
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
	return rc < 0 ? makes_no_sense(s, type, err) : rc;
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
			s->broken = true; /* it goes on until it is hung up on */
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
		return err_set(err, EXIT_USAGE, "the request is too long");
	return rc < 0 ? channel_failed(s, rc, err) : 0;
}

int session_code(const struct session *s)
{
	return s->code;
}

static int load_file(const struct session *s, const struct attach_opts *opts,
		     const char *file, const char *token, struct err *err)
{
	_cleanup_free_ char *options = xasprintf("%s,%s", place_socket(s->place), token);
	const char *const args[] = { file, "true", options };
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

/*
 * The one that the target has mapped already, for what it holds; else, or should the linker not
 * know that by its path any more, the one that was placed.
 */
static int load_agent(const struct session *s, const struct attach_opts *opts,
		      const char *token, struct err *err)
{
	const char *placed = place_file(s->place), *mapped;
	struct images images = { 0 };
	struct err refused = { 0 };
	int rc = -1;

	if (images_find(&s->ns, &images, err) < 0)
		return -1;
	mapped = images_named(&images, strrchr(placed, '/') + 1);
	if (mapped && strcmp(mapped, placed) != 0 && !images.musl)
		rc = load_file(s, opts, mapped, token, &refused);
	if (rc < 0)
		rc = load_file(s, opts, placed, token, err);
	images_release(&images);
	return rc;
}

static int does_not_connect(const struct session *s, struct err *err)
{
	if (is_gone(s, 0))
		return jvm_gone(s->jvm, err);
	return err_set(err, EXIT_AGENT,
		       "the agent was loaded into JVM %d, but does not connect back",
		       (int)s->jvm->pid);
}

static struct place_request our_agent(const struct buf *agent, int listener)
{
	return (struct place_request){
		.data = agent->data,
		.len = agent->len,
		.stem = "jtool-agent",
		.suffix = ".so",
		.listener = listener,
	};
}

char *session_agent_name(const struct buf *agent)
{
	const struct place_request req = our_agent(agent, -1);

	return place_file_name(&req);
}

bool session_is_ours(const char *image)
{
	_cleanup_buf_ struct buf agent = BUF_INIT;
	_cleanup_free_ char *name = NULL;
	const char *slash = strrchr(image, '/');
	struct err damaged = { 0 };

	if (embedded_agent(&agent, &damaged) < 0)
		return false; /* nothing can be: opening a session says why */
	name = session_agent_name(&agent);
	return strcmp(slash ? slash + 1 : image, name) == 0;
}

static int connect_agent(struct session *s, const struct attach_opts *opts, int listener,
			 const char *image, struct err *err)
{
	_cleanup_buf_ struct buf agent = BUF_INIT;
	char token[WIRE_TOKEN_LEN + 1];
	struct place_request req;

	if (embedded_agent(&agent, err) < 0)
		return -1;
	req = our_agent(&agent, listener);
	s->place = place_new(s->jvm, &req, s->steps, err);
	if (!s->place)
		return -1;
	channel_new_token(token);
	if ((image ? load_file(s, opts, image, token, err) :
		     load_agent(s, opts, token, err)) < 0)
		return -1;
	steps_add(s->steps, "the JVM loaded the agent");
	if (channel_accept(&s->channel, listener, token, deadline_in_ms(opts->timeout_ms)) < 0)
		return does_not_connect(s, err);
	steps_add(s->steps, "the agent connected back");
	/* It is mapped and connected: what lies in the target's file system has done its work. */
	place_free(TAKE_PTR(s->place));
	return 0;
}

static void session_free(struct session *s)
{
	channel_release(&s->channel);
	place_free(s->place);
	ns_close(&s->ns);
	free(s);
}

struct session *session_open_image(const struct jvm *jvm, const struct attach_opts *opts,
				   const char *image, struct err *err)
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
	s->channel = (struct channel)CHANNEL_INIT(&s->ns);
	if (ns_open(jvm, &s->ns, err) < 0) {
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

/* Results that were still on their way are of no use any more. */
static int wait_goodbye(struct session *s, struct err *err)
{
	struct deadline deadline = deadline_in_ms(GOODBYE_MS);
	struct wire_reader payload;
	uint64_t bytes, blocks, refs;
	uint16_t type;

	do {
		int rc = channel_receive(&s->channel, &deadline, &type, &payload);

		if (rc == 0 && deadline_passed(deadline))
			rc = -ETIMEDOUT; /* one that never stops talking */
		if (rc < 0)
			return channel_failed(s, rc, err);
	} while (type != WIRE_GONE);
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
