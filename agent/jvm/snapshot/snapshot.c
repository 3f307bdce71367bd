#include "jvm/snapshot/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jvm/snapshot/confine.h"
#include "util/text.h"
#include "wire/frame.h"

#define KERNEL_SIGSET 8 /* bytes of the kernel's sigset_t */
#define LOOK_MS 50
/*
 * The child counts as hung when it has made no progress for STILL_NS; if is_busy() is true, only
 * when it has made no progress for BUSY_NS.
 */
#define STILL_NS INT64_C(1500000000)
#define BUSY_NS INT64_C(20000000000)

static int fail(struct ag_snapshot *s, enum wire_snapshot_why why, int code)
{
	s->why = why;
	s->code = code;
	return -1;
}

int ag_snapshot_init(struct ag_snapshot *s, struct ag_jvm *jvm, uint32_t life_ms)
{
	void *page;
	int rc;

	*s = (struct ag_snapshot){ .jvm = jvm, .life_ms = life_ms, .ends = { -1, -1 } };
	s->maps = ag_alloc(jvm->mem, 1, sizeof(*s->maps));
	if (!s->maps)
		return fail(s, WIRE_SNAPSHOT_PREPARE, ENOMEM);
	page = mmap(NULL, sizeof(*s->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return fail(s, WIRE_SNAPSHOT_PREPARE, errno);
	s->page = page;
	if (syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		    s->ends) != 0)
		return fail(s, WIRE_SNAPSHOT_PREPARE, errno);
	rc = ag_shared_maps_read(s->maps, NULL);
	if (rc != 0)
		return fail(s, WIRE_SNAPSHOT_PREPARE, rc);
	s->parent = (int)syscall(SYS_getpid);
	return 0;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* even if close() fails, the peer sees end of file */
	*fd = -1;
}

/*
 * Waits until the child has ended.  Returns the child's wait status; or 0 if other code in the JVM
 * has reaped the child.
 */
static int wait_for_child(struct ag_snapshot *s)
{
	int status = 0;
	long rc;

	do
		rc = syscall(SYS_wait4, s->child, &status, __WALL, NULL);
	while (rc < 0 && errno == EINTR);
	s->child = 0;
	return rc < 0 ? 0 : status;
}

void ag_snapshot_release(struct ag_snapshot *s)
{
	close_end(&s->ends[0]);
	close_end(&s->ends[1]);
	if (s->child > 0) {
		(void)syscall(SYS_kill, s->child, SIGKILL); /* cannot fail: child is not reaped */
		(void)wait_for_child(s);
	}
	if (s->page)
		(void)munmap(s->page, sizeof(*s->page)); /* cannot fail for this mapping */
	s->page = NULL;
	if (s->maps)
		ag_free(s->jvm->mem, s->maps);
	s->maps = NULL;
}

static void begin_child(struct ag_snapshot *s, struct ag_chan *chan)
{
	const struct ag_confinement c = {
		.keep = s->ends[1],
		.parent = s->parent,
		.life_ms = s->life_ms,
		.page = s->page,
		.maps = s->maps,
	};
	int rc = ag_confine(&c);

	if (rc != 0)
		ag_exit(AG_CHILD_ERRNO + (rc < 100 ? rc : 100));
	s->inside = true;
	chan->fd = s->ends[1];
}

/*
 * Blocks all signals during the clone, because the child inherits the JVM's signal handlers and
 * must not run them before ag_confine() has removed them.
 */
void ag_snapshot_clone(struct ag_snapshot *s, struct ag_chan *chan)
{
	const uint64_t all = ~UINT64_C(0);
	uint64_t before = 0;
	long child;

	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET) != 0) {
		(void)fail(s, WIRE_SNAPSHOT_PREPARE, errno);
		return;
	}
	child = syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
	if (child == 0) {
		begin_child(s, chan);
		return;
	}
	if (child < 0)
		(void)fail(s, WIRE_SNAPSHOT_CLONE, errno);
	else
		s->child = (int)child;
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET);
}

static enum wire_snapshot_why why_exited(int code)
{
	static const uint8_t reasons[] = {
		[AG_CHILD_SHARED - AG_CHILD_SHARED] = WIRE_SNAPSHOT_SHARED,
		[AG_CHILD_LAYOUT - AG_CHILD_SHARED] = WIRE_SNAPSHOT_LAYOUT,
		[AG_CHILD_ROOM - AG_CHILD_SHARED] = WIRE_SNAPSHOT_ROOM,
		[AG_CHILD_PEER - AG_CHILD_SHARED] = WIRE_SNAPSHOT_ENDED,
		[AG_CHILD_CLASSES - AG_CHILD_SHARED] = WIRE_SNAPSHOT_CLASSES,
		[AG_CHILD_UNLINKED - AG_CHILD_SHARED] = WIRE_SNAPSHOT_UNLINKED,
		[AG_CHILD_STACKS - AG_CHILD_SHARED] = WIRE_SNAPSHOT_STACKS,
		[AG_CHILD_MOVED - AG_CHILD_SHARED] = WIRE_SNAPSHOT_MOVED,
	};

	if (code < AG_CHILD_SHARED || code - AG_CHILD_SHARED >= (int)sizeof(reasons))
		return WIRE_SNAPSHOT_ENDED;
	return (enum wire_snapshot_why)reasons[code - AG_CHILD_SHARED];
}

/* Stores in *s the reason why the child has ended before it sent its last frame. */
static void explain(struct ag_snapshot *s)
{
	int status = wait_for_child(s), code = WEXITSTATUS(status);

	if (WIFSIGNALED(status)) {
		int signal = WTERMSIG(status);

		(void)fail(s, signal == SIGALRM  ? WIRE_SNAPSHOT_LATE
			      : signal == SIGSYS ? WIRE_SNAPSHOT_LOCKED
						 : WIRE_SNAPSHOT_SIGNAL, signal);
	} else if (code >= AG_CHILD_ERRNO) {
		(void)fail(s, WIRE_SNAPSHOT_CONFINE, code - AG_CHILD_ERRNO);
	} else {
		enum wire_snapshot_why why = why_exited(code);

		(void)fail(s, why, why == WIRE_SNAPSHOT_ENDED ? code : 0);
	}
}

/*
 * Returns true if the child runs or waits for a CPU (state R), or is blocked in the kernel (D), or
 * if its state cannot be read.
 */
static bool is_busy(const struct ag_snapshot *s)
{
	char path[32], text[128];
	struct ag_text t = ag_text_init(path, sizeof(path));
	long fd, n;

	ag_text_put(&t, "/proc/");
	ag_text_number(&t, (uint64_t)s->child);
	ag_text_put(&t, "/stat");
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true; /* unknown: /proc is mounted with the option hidepid */
	do
		n = syscall(SYS_read, fd, text, sizeof(text));
	while (n < 0 && errno == EINTR);
	(void)syscall(SYS_close, fd); /* read-only descriptor, nothing to flush */
	for (long i = 0; i + 2 < n; i++) {
		if (text[i] == ')' && text[i + 1] == ' ')
			return text[i + 2] == 'R' || text[i + 2] == 'D';
	}
	return false;
}

struct progress {
	uint64_t callbacks;
	int64_t since_ns;
};

/* Returns false if the child counts as hung. */
static bool progresses(const struct ag_snapshot *s, struct progress *p)
{
	int64_t now = ag_now_ns();
	uint64_t callbacks = s->page->callbacks;

	if (callbacks != p->callbacks || p->since_ns == 0)
		*p = (struct progress){ callbacks, now };
	if (now - p->since_ns < STILL_NS)
		return true;
	return now - p->since_ns < BUSY_NS && is_busy(s);
}

/*
 * Waits for data.  Returns 1; or 0 if the child does not progress; or -1 if the client has
 * disconnected.
 */
static int wait_for_data(struct ag_snapshot *s, struct ag_chan *client, struct progress *p)
{
	struct pollfd fds[] = {
		{ .fd = s->ends[0], .events = POLLIN },
		{ .fd = client->fd, .events = POLLRDHUP },
	};

	for (;;) {
		int n = poll(fds, 2, LOOK_MS);

		if (n < 0 && errno != EINTR)
			return 0;
		if (n > 0 && fds[1].revents) {
			client->broken = true;
			return -1;
		}
		if (n > 0 && fds[0].revents)
			return 1;
		if (!progresses(s, p))
			return 0;
	}
}

/*
 * Receives len bytes.  Returns 1; or 0 with s->why set if the child has ended or does not progress;
 * or -1 if the client has disconnected.
 */
static int receive_all(struct ag_snapshot *s, struct ag_chan *client, uint8_t *data, size_t len)
{
	struct progress p = { 0 };

	while (len > 0) {
		ssize_t n = recv(s->ends[0], data, len, MSG_DONTWAIT);
		int rc;

		if (n > 0) {
			data += n;
			len -= (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			explain(s);
			return 0;
		}
		rc = wait_for_data(s, client, &p);
		if (rc == 0)
			(void)fail(s, WIRE_SNAPSHOT_HUNG, 0);
		if (rc <= 0)
			return rc;
	}
	return 1;
}

int ag_snapshot_receive(struct ag_snapshot *s, struct ag_chan *client, struct wire_writer *w)
{
	uint8_t raw[WIRE_HEADER_LEN];
	struct wire_header header;
	int rc;

	close_end(&s->ends[1]); /* otherwise ends[0] has no end of file when the child exits */
	rc = receive_all(s, client, raw, sizeof(raw));
	if (rc <= 0)
		return rc;
	if (!wire_header_read(raw, &header) || header.len > AG_CHAN_PAYLOAD || header.type == 0) {
		(void)fail(s, WIRE_SNAPSHOT_ENDED, 0);
		return 0;
	}
	rc = receive_all(s, client, w->data, header.len);
	w->len = header.len;
	return rc <= 0 ? rc : header.type;
}
