#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/progress.h"
#include "base/xalloc.h"
#include "fileio/io.h"
#include "fileio/slow_peer.h"
#include "session/session_internal.h"

#define GOODBYE_MS 10000
#define WAIT_SHOWN_MS 1000
#define EXIT_MS 1000    /* an exiting target closes its socket, and ends within this time */
#define ANSWER_MAX (1u << 30) /* limit in bytes for an answer, because the agent may be hostile */
#define JVMTI_WRONG_PHASE 112 /* JVMTI_ERROR_WRONG_PHASE: the JVM is shutting down */

bool session_is_gone(const struct session *s, int wait_ms)
{
	if (s->ns.pid_fd < 0)
		return target_ns_alive(&s->ns) < 0;
	return io_wait(s->ns.pid_fd, POLLIN, deadline_in_ms((unsigned)wait_ms)) == 0;
}

/* Sets the error for a failed connection: the target has exited, or the agent has failed. */
static int channel_failed(struct session *s, int error, struct err *err)
{
	s->broken = true;
	if (error == -ESRCH || session_is_gone(s, error == -ETIMEDOUT ? 0 : EXIT_MS))
		return jvm_gone(s->jvm, err);
	if (error == -EBADMSG)
		return err_set(err, EXIT_AGENT,
			       "the agent in JVM %d does not speak version %d of the protocol; it "
			       "may belong to another build of jtool: use that build",
			       (int)s->jvm->pid,
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
	return err_set(err, EXIT_AGENT,
		       "the connection to the agent in JVM %d failed: %s; try again",
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
	/* `what`: the name of a JVMTI or JNI function; or words that complete "cannot …". */
	is_function = what.len == 0 || !memchr(what.data, ' ', what.len);
	return err_set(err, EXIT_ANSWER,
		       is_function ? "the agent in JVM %d: %.*s failed: %.*s" :
				     "the agent in JVM %d cannot %.*s: %.*s",
		       (int)s->jvm->pid, (int)what.len, what.data, (int)why.len, why.data);
}

static int invalid_frame(struct session *s, uint16_t type, struct err *err)
{
	/* session_close() must not wait for the agent, because the JVM may be paused meanwhile */
	s->broken = true;
	return err_set(err, EXIT_AGENT,
		       "the agent sent an invalid or unexpected frame of the protocol: %s (%u); "
		       "report this bug", wire_type_name(type), (unsigned)type);
}

/* Sets the error for an agent that has sent nothing, or too few bytes, within the timeout. */
static int silent(struct session *s, const struct stall *stall, uint64_t bytes, struct err *err)
{
	s->broken = true;
	if (session_is_gone(s, 0))
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

/* Sets the error for an agent that has begun a frame, but not completed it in time. */
static int incomplete(struct session *s, uint64_t bytes, struct err *err)
{
	unsigned ms = s->channel.frame_ms;

	s->broken = true;
	if (session_is_gone(s, 0))
		return jvm_gone(s->jvm, err);
	return err_set(err, EXIT_PARTIAL,
		       "the agent in JVM %d stopped in the middle of its answer: after %llu bytes, "
		       "the next part was not complete within %g s; the JVM may be paused or "
		       "stopped; %s",
		       (int)s->jvm->pid, (unsigned long long)bytes, ms / 1000.0,
		       ms < CHANNEL_FRAME_MS ? "use --timeout to wait longer" : "try again");
}

/*
 * Waits for a frame.  If stderr is a terminal, shows after a second that jtool waits for the agent.
 * Returns the result of channel_wait(); or -ETIMEDOUT if the agent has sent less than STALL_BYTES
 * within the timeout.
 */
static int wait_frame(struct session *s, struct stall *stall, uint64_t bytes)
{
	struct progress line = { .on = false };
	int64_t since_ns = monotonic_ns();
	int rc;

	if (!s->verbose)
		progress_begin(&line);
	for (;;) {
		struct deadline shown = deadline_in_ms(WAIT_SHOWN_MS);

		rc = channel_wait(&s->channel,
				  shown.at_ns < stall->end.at_ns ? &shown : &stall->end);
		if (rc != -ETIMEDOUT)
			break;
		if (deadline_passed(stall->end) && stall_is_late(stall, bytes))
			break;
		progress_wait(&line, "jtool's agent", (int)s->jvm->pid, since_ns);
	}
	progress_end(&line);
	return rc;
}

/*
 * Receives the next frame of an answer, of which `bytes` bytes were received before.  Returns 0, or
 * -1 with err set.
 */
static int next_frame(struct session *s, struct stall *stall, uint64_t bytes, uint16_t *type,
		      struct wire_reader *payload, struct err *err)
{
	int rc = wait_frame(s, stall, bytes);

	if (rc == -ETIMEDOUT)
		return silent(s, stall, bytes, err);
	if (rc == 0)
		rc = channel_receive(&s->channel, NULL, type, payload);
	if (rc == -ETIMEDOUT)
		return incomplete(s, bytes, err);
	return rc < 0 ? channel_failed(s, rc, err) : 0;
}

static int answer_within(struct session *s, unsigned ms, session_take_fn *take, void *arg,
			 struct err *err)
{
	struct stall stall = stall_begin(ms);
	uint64_t bytes = 0, counted = 0;
	struct wire_reader payload = { 0 };
	uint16_t type = 0;
	int rc;

	do {
		size_t len;

		if (next_frame(s, &stall, bytes, &type, &payload, err) < 0)
			return -1;
		if (type == WIRE_ERROR)
			return error_frame(s, payload, err);
		len = WIRE_HEADER_LEN + (size_t)(payload.end - payload.at);
		bytes += len;
		/*
		 * Heap streams and dumps do not count towards ANSWER_MAX: take() limits the length
		 * of a heap stream, and free space on the disk limits a dump.
		 */
		if (type != WIRE_HEAP_STREAM && type != WIRE_DUMP_DATA)
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

/*
 * Receives a frame if one begins before `until`, and passes the frame to take().  Returns 1 if the
 * frame was the last one; 0 if more frames follow or no frame has begun; or -1 with err set.
 */
static int follow_until(struct session *s, struct deadline until, session_take_fn *take, void *arg,
			struct err *err)
{
	struct wire_reader payload = { 0 };
	uint16_t type = 0;
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
			s->broken = true; /* session_close() disconnects, so the agent stops */
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

void session_interrupt(struct session *s)
{
	/*
	 * Ignore a failure: shutdown(2) fails only if the agent has disconnected.  The waiting call
	 * of session_answer() then returns an error by itself.
	 */
	(void)shutdown(s->channel.fd, SHUT_RDWR);
}

int session_jvmti_error(const struct session *s)
{
	return s->code;
}

bool session_is_this_build(const struct session *s)
{
	return s->this_build;
}

bool session_has_changed_code(const struct session *s)
{
	return s->channel.code_changed;
}

void session_free(struct session *s)
{
	channel_release(&s->channel);
	staged_file_free(s->staged);
	target_ns_close(&s->ns);
	free(s);
}

/* Waits for the frame GONE, and discards results that arrive before it. */
static int wait_goodbye(struct session *s, struct err *err)
{
	struct deadline deadline = deadline_in_ms(GOODBYE_MS);
	struct wire_reader payload;
	uint64_t bytes, blocks, refs;
	uint16_t type;

	do {
		int rc = channel_receive(&s->channel, &deadline, &type, &payload);

		if (rc == 0 && deadline_passed(deadline))
			rc = -ETIMEDOUT; /* the agent still sends results instead of GONE */
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
