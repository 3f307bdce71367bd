/* Opens sessions: wakes or loads the agent, and waits for it to connect. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/xalloc.h"
#include "discover/memory_check.h"
#include "embedded/embedded.h"
#include "session/agent_load.h"
#include "session/loaded_agents.h"
#include "session/session_internal.h"
#include "session/wake.h"

static int not_connected(const struct session *s, struct err *err)
{
	if (session_is_gone(s, 0))
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

static int new_listener(struct err *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 ? fd : err_no_descriptor(err, EXIT_AGENT, -errno, "a socket for the agent");
}

static int accept_agent(struct session *s, const struct attach_opts *opts, int listener,
			const char *token, struct err *err)
{
	if (channel_accept(&s->channel, listener, token, deadline_in_ms(opts->timeout_ms)) < 0)
		return not_connected(s, err);
	verbose_step(s->verbose, "the agent has connected");
	/* The JVM has mapped the agent, so it does not need the staged file any more. */
	staged_file_free(TAKE_PTR(s->staged));
	return 0;
}

/* Wakes a sleeping agent.  Returns 0; or 1 if the agent does not wake; or -1 with err set. */
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

/* Makes the JVM load the agent `image` (NULL: this build's), and waits until it has connected. */
static int load(struct session *s, const struct attach_opts *opts, const struct buf *agent,
		const struct loaded_agents *images, const char *image, const char *remedy,
		struct err *err)
{
	_cleanup_close_ int listener = new_listener(err);
	const struct staged_file_request staged = our_agent(agent, listener, opts->timeout_ms);
	char token[WIRE_TOKEN_LEN + 1];
	struct agent_load req = { .file = image, .token = token, .remedy = remedy };
	struct attach_opts confirmed = *opts;
	int rc;

	if (listener < 0)
		return -1;
	s->staged = staged_file_new(s->jvm, &staged, s->verbose, err);
	if (!s->staged)
		return -1;
	channel_new_token(token);
	req.socket_path = staged_file_socket_path(s->staged);
	confirmed.confirm = staged_file_confirm;
	confirmed.confirm_arg = s->staged;
	rc = image ? agent_load(s->jvm, &confirmed, &req, err)
		   : agent_load_own(s->jvm, &confirmed, images, staged_file_path(s->staged), req,
				    err);
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

struct session *session_open_image(const struct jvm *jvm, const struct attach_opts *opts,
				   const char *image, struct err *err)
{
	struct session *s;

	/*
	 * attach_execute() checks the memory before the JVM loads an agent.  But jtool may wake a
	 * sleeping agent instead, and a woken agent needs as much memory, so check here as well.
	 */
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
