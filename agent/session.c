#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/chan.h"
#include "cmd/command.h"
#include "jvm/activity.h"
#include "jvm/class_index.h"
#include "jvm/code_change.h"
#include "jvm/thread.h"
#include "jvm/jvmti.h"

#define BUDGET ((size_t)64 << 20)

#ifndef AG_BUILD
#define AG_BUILD ""
#endif

struct session {
	struct ag_mem mem; /* counts all memory of the session except this struct */
	struct ag_jvm jvm;
	struct ag_chan chan;
	char token[WIRE_TOKEN_LEN];
};

static const struct {
	uint16_t frame;
	ag_cmd_fn *run;
} commands[] = {
#define COMMAND(frame, name) { WIRE_##frame, ag_cmd_##name },
#include "cmd/commands.def"
#undef COMMAND
};

static int send_hello(struct session *s)
{
	struct wire_writer *w;
	jint version;

	if (AG_JVMTI(&s->jvm, GetVersionNumber, &version) != 0)
		return -1;
	w = ag_chan_begin(&s->chan);
	wire_put_text(w, s->token, sizeof(s->token));
	wire_put_u32(w, (uint32_t)getpid());
	wire_put_u32(w, (uint32_t)version);
	wire_put_text(w, AG_BUILD, strlen(AG_BUILD));
	wire_put_u32(w, ag_code_has_changed());
	return ag_chan_end(&s->chan, WIRE_HELLO) == 0 ? ag_chan_flush(&s->chan) : -1;
}

static int send_error(struct session *s)
{
	struct wire_writer *w = ag_chan_begin(&s->chan);
	const struct ag_error *err = &s->jvm.err;

	const char *what = err->what ? err->what : "answer the request";
	const char *why = err->why ? err->why : "the cause is unknown";

	wire_put_text(w, what, strlen(what));
	wire_put_i32(w, (int32_t)err->code);
	wire_put_text(w, why, strlen(why));
	return ag_chan_end(&s->chan, WIRE_ERROR);
}

static ag_cmd_fn *find_command(uint16_t frame)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].frame == frame)
			return commands[i].run;
	}
	return NULL;
}

/* Answers one request.  Returns -1 if the session must end. */
static int serve_one(struct session *s, struct ag_frame *request)
{
	ag_cmd_fn *run = find_command(request->type);
	int rc;

	if (!run)
		return -1;
	ag_clear_error(&s->jvm);
	if (request->type != WIRE_ACTIVITIES)
		s->jvm.activity = ag_activity_begin(request->type);
	rc = run(&s->jvm, &s->chan, &request->payload);
	ag_activity_end(&s->jvm.activity);
	if (s->jvm.stopping || s->chan.broken)
		return -1;
	if (rc != 0 && send_error(s) != 0)
		return -1;
	return ag_chan_flush(&s->chan);
}

/*
 * Serves the client's requests.  Returns true when the client has sent BYE and waits for GONE;
 * false when the session ends without BYE.
 */
static bool serve(struct session *s)
{
	struct ag_frame request;

	while (ag_chan_receive(&s->chan, &request) == 1) {
		if (request.type == WIRE_BYE)
			return true;
		if (serve_one(s, &request) != 0)
			break;
	}
	return false;
}

static void send_gone(struct session *s)
{
	uint8_t payload[24];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u64(&w, s->mem.bytes);
	wire_put_u64(&w, s->mem.blocks);
	wire_put_u64(&w, s->jvm.globals);
	(void)ag_chan_send(&s->chan, WIRE_GONE, &w); /* ignore a failure: the session ends now */
}

static void session_free(struct session *s)
{
	ag_chan_release(&s->chan);
	ag_chan_close(&s->chan);
	if (s->jvm.ti)
		(void)(*s->jvm.ti)->DisposeEnvironment(s->jvm.ti); /* may fail at JVM shutdown */
	free(s);
}

static void JNICALL session_run(jvmtiEnv *ti, JNIEnv *jni, void *arg)
{
	struct session *s = arg;
	bool bye;

	(void)ti;
	s->jvm.jni = jni;
	bye = send_hello(s) == 0 && serve(s);
	ag_class_index_release(&s->jvm);
	ag_chan_release(&s->chan);
	(void)(*s->jvm.ti)->DisposeEnvironment(s->jvm.ti); /* may fail at JVM shutdown */
	s->jvm.ti = NULL;
	if (bye)
		send_gone(s);
	session_free(s);
}

/* Splits "PATH,TOKEN" by the fixed length of TOKEN, because PATH may contain commas. */
static int parse_options(const char *options, struct sockaddr_un *address, char *token)
{
	size_t len = options ? strnlen(options, AG_OPTIONS_MAX + 1) : 0;
	size_t path_len;

	if (len > AG_OPTIONS_MAX || len < WIRE_TOKEN_LEN + 2)
		return -1;
	path_len = len - WIRE_TOKEN_LEN - 1;
	if (options[path_len] != ',' || path_len >= sizeof(address->sun_path))
		return -1;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path, options, path_len);
	memcpy(token, options + path_len + 1, WIRE_TOKEN_LEN);
	return 0;
}

/*
 * Returns true if the peer can be the client: the peer had the user id of this process when the
 * peer called listen(2).
 */
static bool peer_is_client(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

static jint open_channel(struct session *s, const char *options)
{
	struct sockaddr_un address;
	int fd;

	if (parse_options(options, &address, s->token) != 0)
		return WIRE_REFUSED_OPTIONS;
	/*
	 * Non-blocking, because the calling thread is the JVM's only thread for attach requests
	 * (Attach Listener).
	 */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return WIRE_REFUSED_CONNECT;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		(void)close(fd);
		return WIRE_REFUSED_CONNECT;
	}
	if (!peer_is_client(fd)) {
		(void)close(fd);
		return WIRE_REFUSED_PEER;
	}
	return ag_chan_init(&s->chan, &s->mem, fd) == 0 ? 0 : WIRE_REFUSED_MEMORY;
}

static jint open_jvm(struct session *s, JavaVM *vm)
{
	s->jvm.vm = vm;
	s->jvm.mem = &s->mem;
	if ((*vm)->GetEnv(vm, (void **)&s->jvm.jni, JNI_VERSION_1_6) != JNI_OK)
		return WIRE_REFUSED_JVM;
	if ((*vm)->GetEnv(vm, (void **)&s->jvm.ti, JVMTI_VERSION_1_1) != JNI_OK) {
		s->jvm.ti = NULL;
		return WIRE_REFUSED_JVM;
	}
	return AG_JVMTI(&s->jvm, SetEnvironmentLocalStorage, s) == 0 ? 0 : WIRE_REFUSED_JVM;
}

static jint start_thread(struct session *s)
{
	switch (ag_thread_start(&s->jvm, session_run, s)) {
	case 0:
		return 0;
	case AG_THREAD_NO_OBJECT:
		return WIRE_REFUSED_HEAP;
	default:
		return WIRE_REFUSED_THREAD;
	}
}

jint ag_session_start(JavaVM *vm, const char *options)
{
	struct session *s = calloc(1, sizeof(*s));
	jint refused;

	if (!s)
		return WIRE_REFUSED_MEMORY;
	s->mem.budget = BUDGET;
	s->chan.fd = -1;
	s->chan.mem = &s->mem;
	refused = open_jvm(s, vm);
	if (refused == 0)
		refused = open_channel(s, options);
	if (refused == 0)
		refused = start_thread(s);
	if (refused != 0)
		session_free(s);
	return refused;
}
