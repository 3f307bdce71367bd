/* session/place and cmd/fetch on a target that is no JVM: a child of ours in a root of its own. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include "base/xalloc.h"
#include "cmd/fetch.h"
#include "fake_target.h"
#include "session/place.h"

#define CONTENT "not really an agent"

static struct place_request request(int listener)
{
	return (struct place_request){
		.data = CONTENT,
		.len = strlen(CONTENT),
		.stem = "agent",
		.suffix = ".so",
		.listener = listener,
	};
}

static struct place *place(const struct place_request *req)
{
	struct err err = { .code = EXIT_DONE };
	struct place *p = place_new(&target, req, NULL, &err);

	ck_assert_msg(p != NULL, "%s", err.text);
	return p;
}

static int count(const char *path)
{
	DIR *dir = opendir(in_root(path));
	int n = -2; /* . and .. */

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static int new_listener(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static void assert_content(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_buf_ struct buf text = BUF_INIT;

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(io_slurp(fd, &text, 4096), 0);
	ck_assert_str_eq(buf_str(&text), CONTENT);
}

static const char *private_dir(const char *parent)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/.jtool-%d-%d", parent, OTHER_UID, (int)target.nspid);
	return path;
}

START_TEST(places_and_takes_away)
{
	_cleanup_close_ int listener = new_listener();
	const struct place_request req = request(listener);
	struct place *p = place(&req);
	struct stat st;

	ck_assert_ptr_eq(strstr(place_file(p), private_dir("/tmp")), place_file(p));
	ck_assert_int_eq(stat(in_root(private_dir("/tmp")), &st), 0);
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	assert_content(in_root(place_file(p)));
	ck_assert_int_eq(stat(in_root(place_file(p)), &st), 0);
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	ck_assert_int_eq(stat(in_root(place_socket(p)), &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	place_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

/* The linker knows what it has loaded by its path. */
START_TEST(path_is_the_same_each_time)
{
	struct place_request req = request(-1);
	struct place *p = place(&req), *q;
	_cleanup_free_ char *first = xstrdup(place_file(p));

	place_free(p);
	p = place(&req);
	ck_assert_str_eq(place_file(p), first);
	req.data = "not really an agenT";
	q = place(&req);
	ck_assert_str_ne(place_file(q), first);
	place_free(p);
	place_free(q);
}
END_TEST

/* … and we find it there by what the kernel calls the path. */
START_TEST(path_is_without_links)
{
	const struct place_request req = request(-1);
	struct place *p;

	ck_assert_int_eq(symlink("work", in_root("/link")), 0);
	target.tmp = xstrdup("/link");
	p = place(&req);
	ck_assert_ptr_eq(strstr(place_file(p), private_dir("/work")), place_file(p));
	place_free(p);
	free(target.tmp);
	target.tmp = NULL;
	ck_assert_int_eq(unlink(in_root("/link")), 0);
}
END_TEST

START_TEST(last_one_takes_away)
{
	const struct place_request req = request(-1);
	struct place *a = place(&req), *b = place(&req);

	ck_assert_str_eq(place_file(a), place_file(b));
	place_free(a);
	assert_content(in_root(place_file(b)));
	place_free(b);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

START_TEST(keeps_and_discards)
{
	struct place_request req = request(-1);
	struct place *p;
	char path[512];

	req.keep = true;
	p = place(&req);
	place_discard(p);
	place_free(p);
	ck_assert_int_eq(count("/tmp"), 0);

	p = place(&req);
	(void)snprintf(path, sizeof(path), "%s", in_root(place_file(p)));
	place_free(p);
	assert_content(path);

	p = place(&req); /* what was there before is not ours to discard */
	place_discard(p);
	place_free(p);
	assert_content(path);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(in_root(private_dir("/tmp"))), 0);
}
END_TEST

/* Waits for the keeper of a jtool that was killed. */
static void wait_until_empty(const char *path)
{
	struct deadline deadline = deadline_in_ms(5000);

	while (count(path) > 0 && !deadline_passed(deadline))
		(void)poll(NULL, 0, 5);
	ck_assert_int_eq(count(path), 0);
}

/* A jtool of its own that has placed something; `path` is where. */
static pid_t fork_jtool(const struct place_request *req, char path[512])
{
	int told[2];
	pid_t pid;
	ssize_t n;

	ck_assert_int_eq(pipe2(told, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		const char *file = place_file(place(req));

		if (write(told[1], file, strlen(file)) > 0)
			(void)pause();
		_exit(1);
	}
	(void)close(told[1]);
	n = io_read(told[0], path, 511);
	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	(void)close(told[0]);
	return pid;
}

static void kill_jtool(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(survives_being_killed)
{
	_cleanup_close_ int listener = new_listener();
	const struct place_request req = request(listener);
	char path[512];
	pid_t pid = fork_jtool(&req, path);

	ck_assert_int_eq(count("/tmp"), 1);
	kill_jtool(pid);
	wait_until_empty("/tmp");
}
END_TEST

/* Until a child waits in a system call. */
static void wait_until_asleep(pid_t pid)
{
	struct deadline deadline = deadline_in_ms(5000);
	_cleanup_free_ char *path = xasprintf("/proc/%d/stat", (int)pid);
	const char *state;

	do {
		_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
		_cleanup_buf_ struct buf text = BUF_INIT;

		ck_assert_int_eq(io_slurp(fd, &text, 4096), 0);
		state = strrchr(buf_str(&text), ')');
		ck_assert_ptr_nonnull(state);
		if (state[2] == 'S')
			return;
		(void)poll(NULL, 0, 1);
	} while (!deadline_passed(deadline));
	ck_abort_msg("it does not wait");
}

static void own(const char *path)
{
	ck_assert_int_eq(chown(in_root(path), OTHER_UID, OTHER_UID), 0);
}

static void touch(const char *dir, const char *name, const char *content)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	_cleanup_close_ int fd = open(in_root(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_write_all(fd, content, strlen(content), deadline_in_ms(1000)), 0);
	own(path);
}

/* Leftovers of a keeper that was killed: in this target's directory and in another's. */
START_TEST(removes_leftovers)
{
	const struct place_request req = request(-1);
	const char *dir = private_dir("/tmp");

	make_dir(dir, 0700);
	own(dir);
	touch(dir, ".new.s-0123", "half");
	touch(dir, "agent-0123456789abcdef.so", "old");
	make_dir("/tmp/.jtool-12345-1", 0700);
	own("/tmp/.jtool-12345-1");
	touch("/tmp/.jtool-12345-1", ".s-0123", "");
	place_free(place(&req));
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

START_TEST(leaves_what_is_in_use)
{
	const struct place_request req = request(-1);
	int fd;

	make_dir("/tmp/.jtool-12345-1", 0700);
	own("/tmp/.jtool-12345-1");
	fd = open(in_root("/tmp/.jtool-12345-1"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(flock(fd, LOCK_SH), 0);
	make_dir("/tmp/.jtool-12345-2", 0700); /* another user's */
	place_free(place(&req));
	ck_assert_int_eq(count("/tmp"), 2);
	(void)close(fd);
	ck_assert_int_eq(rmdir(in_root("/tmp/.jtool-12345-1")), 0);
	ck_assert_int_eq(rmdir(in_root("/tmp/.jtool-12345-2")), 0);
}
END_TEST

/* Half a file under the very name, as no keeper leaves it: replaced. */
START_TEST(replaces_a_wrong_file)
{
	const struct place_request req = request(-1);
	struct place *p = place(&req);
	_cleanup_free_ char *name = xstrdup(strrchr(place_file(p), '/') + 1);

	place_free(p);
	make_dir(private_dir("/tmp"), 0700);
	own(private_dir("/tmp"));
	touch(private_dir("/tmp"), name, "not really an agenT");
	p = place(&req);
	assert_content(in_root(place_file(p)));
	place_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

static void assert_placed_in(const char *dir)
{
	_cleanup_close_ int listener = new_listener();
	const struct place_request req = request(listener);
	struct place *p = place(&req);
	const char *want = private_dir(dir);

	ck_assert_msg(strstr(place_file(p), want) == place_file(p), "%s", place_file(p));
	place_free(p);
	ck_assert_int_eq(count(dir), 0);
}

START_TEST(avoids_foreign_directories)
{
	make_dir(private_dir("/tmp"), 0700); /* root's, not the target's */
	assert_placed_in("/var/tmp");
	ck_assert_int_eq(rmdir(in_root(private_dir("/tmp"))), 0);

	make_dir(private_dir("/tmp"), 0755); /* its own, but open to others */
	own(private_dir("/tmp"));
	assert_placed_in("/var/tmp");
	ck_assert_int_eq(rmdir(in_root(private_dir("/tmp"))), 0);

	ck_assert_int_eq(symlink("/var", in_root(private_dir("/tmp"))), 0);
	assert_placed_in("/var/tmp");
	ck_assert_int_eq(unlink(in_root(private_dir("/tmp"))), 0);
	assert_placed_in("/tmp");
}
END_TEST

START_TEST(takes_the_working_directory)
{
	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	assert_placed_in("/work");
}
END_TEST

START_TEST(takes_the_home)
{
	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	make_dir("/etc", 0755);
	touch("/etc", "passwd", "root:x:0:0::/root:/bin/sh\nbroken\n"
				"me:x:12345:12345:Me:/var/home:/bin/sh\n");
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	make_dir("/var/home", 0777);
	assert_placed_in("/var/home");
	ck_assert_int_eq(rmdir(in_root("/var/home")), 0);
}
END_TEST

/* The JVM reads where to write in a line of words: it might write elsewhere, over what is there. */
START_TEST(lets_write_only_where_a_word_leads)
{
	static const char *const names[] = { "/var/a\"b", "/var/a'b", "/var/a\\b", "/var/a%pb" };

	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	make_dir("/etc", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *line =
			xasprintf("me:x:12345:12345:Me:%s:/bin/sh\n", names[i]);
		struct place_request req = request(-1);
		struct err err = { .code = EXIT_DONE };

		touch("/etc", "passwd", line);
		make_dir(names[i], 0777);
		assert_placed_in(names[i]);
		req.kind = PLACE_FIFO;
		ck_assert_ptr_null(place_new(&target, &req, NULL, &err));
		ck_assert_msg(strstr(err.text, "its name has"), "%s", err.text);
		ck_assert_int_eq(rmdir(in_root(names[i])), 0);
		ck_assert_int_eq(unlink(in_root("/etc/passwd")), 0);
	}
}
END_TEST

START_TEST(says_what_it_tried)
{
	const struct place_request req = request(-1);
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	ck_assert_ptr_null(place_new(&target, &req, NULL, &err));
	ck_assert_int_eq(err.code, EXIT_AGENT);
	ck_assert_msg(strstr(err.text, "/tmp: Permission denied") &&
			      strstr(err.text, "/var/tmp: Permission denied") &&
			      strstr(err.text, "/dev/shm: No such file") &&
			      strstr(err.text, "/work: Permission denied"),
		      "%s", err.text);
}
END_TEST

/* It would be longer than a report may be, and what the others lack would not be told. */
START_TEST(passes_over_a_home_that_is_no_path)
{
	_cleanup_free_ char *line = xasprintf("me:x:12345:12345:Me:/%0100000d:/bin/sh\n", 0);
	const struct place_request req = request(-1);
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	make_dir("/etc", 0755);
	touch("/etc", "passwd", line);
	ck_assert_ptr_null(place_new(&target, &req, NULL, &err));
	ck_assert_msg(strstr(err.text, "/work: Permission denied"), "%s", err.text);
}
END_TEST

START_TEST(avoids_unfit_mounts)
{
	if (mount("none", in_root("/tmp"), "tmpfs", MS_NOEXEC, "mode=1777") < 0)
		return; /* no right to mount, as in many containers */
	assert_placed_in("/var/tmp");
	ck_assert_int_eq(umount(in_root("/tmp")), 0);
	ck_assert_int_eq(mount("none", in_root("/tmp"), "tmpfs", MS_RDONLY, "mode=1777"), 0);
	assert_placed_in("/var/tmp");
	ck_assert_int_eq(umount(in_root("/tmp")), 0);
	/* Full: the file does not fit, and nothing of it stays. */
	ck_assert_int_eq(mount("none", in_root("/tmp"), "tmpfs", 0, "mode=1777,nr_inodes=2"), 0);
	assert_placed_in("/var/tmp");
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

static struct place_request written(enum place_kind kind)
{
	return (struct place_request){
		.kind = kind,
		.stem = "heap",
		.suffix = ".hprof",
		.listener = -1,
	};
}

/* As a JVM does it: without O_NONBLOCK, by the path that it was told. */
static int target_opens(const char *path)
{
	int fd = open(in_root(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

static int opened(struct place *p)
{
	struct err err = { .code = EXIT_DONE };
	int fd = place_open(p, &err);

	ck_assert_msg(fd >= 0, "%s", err.text);
	return fd;
}

static void assert_gone(const char *path)
{
	struct stat st;

	ck_assert_int_eq(lstat(in_root(path), &st), -1);
	ck_assert_int_eq(errno, ENOENT);
}

/* A child that stands for the JVM: with stdio alone, so that the place ends when it is freed. */
static pid_t fork_target(int fd)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)signal(SIGPIPE, SIG_IGN);
		(void)dup2(fd, STDIN_FILENO);
		closefrom(STDERR_FILENO + 1);
	}
	return pid;
}

static void assert_done(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(reads_a_fifo)
{
	const struct place_request req = written(PLACE_FIFO);
	struct place *p = place(&req);
	_cleanup_close_ int end = opened(p), writer = -1;
	char text[64];
	struct stat st;

	ck_assert_int_eq(stat(in_root(place_file(p)), &st), 0);
	ck_assert(S_ISFIFO(st.st_mode));
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(io_read(end, text, sizeof(text)), 0); /* nobody is there yet */
	writer = target_opens(place_file(p));
	ck_assert_int_ge(fcntl(writer, F_GETPIPE_SZ), 65536);
	ck_assert_int_eq(io_read(end, text, sizeof(text)), -EAGAIN);
	ck_assert_int_eq(write(writer, CONTENT, strlen(CONTENT)), strlen(CONTENT));
	ck_assert_int_eq(io_read(end, text, sizeof(text)), (ssize_t)strlen(CONTENT));
	place_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

static void assert_no_result(struct place *p, const char *why)
{
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(place_open(p, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, why) != NULL, "%s", err.text);
}

/* However little jtool does with it. */
START_TEST(fifo_never_lacks_a_reader)
{
	const struct place_request req = written(PLACE_FIFO);
	struct place *p = place(&req);
	int writer = -1, end = opened(p);

	(void)close(end);
	assert_no_result(p, "no regular file"); /* so much later that the keeper waits again */
	writer = target_opens(place_file(p));
	ck_assert_int_eq(write(writer, "", 1), 1);
	place_free(p);
	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(write(writer, "", 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	(void)close(writer);
}
END_TEST

/* Nobody drains it any more: the JVM is told so, and does not wait. */
START_TEST(fifo_breaks_when_killed)
{
	const struct place_request req = written(PLACE_FIFO);
	char path[512], piece[4096] = "";
	pid_t pid = fork_jtool(&req, path);
	int writer = target_opens(path);

	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(fcntl(writer, F_SETFL, O_NONBLOCK), 0);
	while (write(writer, piece, sizeof(piece)) > 0)
		;
	ck_assert_int_eq(errno, EAGAIN); /* full */
	ck_assert_int_eq(fcntl(writer, F_SETFL, 0), 0);
	kill_jtool(pid);
	ck_assert_int_eq(write(writer, piece, sizeof(piece)), -1);
	ck_assert_int_eq(errno, EPIPE);
	(void)close(writer);
	wait_until_empty("/tmp");
}
END_TEST

/* A JVM whose open(2) has found the FIFO when its name goes away. */
START_TEST(fifo_has_a_reader_for_who_is_late)
{
	const struct place_request req = written(PLACE_FIFO);
	struct place *p = place(&req);
	_cleanup_close_ int found = open(in_root(place_file(p)), O_PATH | O_CLOEXEC);
	int end = opened(p);
	pid_t pid;

	(void)close(end);
	ck_assert_int_ge(found, 0);
	pid = fork_target(found);
	if (pid == 0) {
		int fd;

		while (count("/tmp") > 0)
			(void)poll(NULL, 0, 1);
		fd = open("/proc/self/fd/0", O_WRONLY | O_CLOEXEC);
		while (write(fd, CONTENT, strlen(CONTENT)) > 0)
			;
		_exit(errno == EPIPE ? 0 : 1);
	}
	place_free(p);
	assert_done(pid);
}
END_TEST

START_TEST(opens_a_result)
{
	const struct place_request req = written(PLACE_RESULT);
	struct place *p = place(&req), *q = place(&req);
	_cleanup_free_ char *path = xstrdup(place_file(p));
	_cleanup_free_ char *beside = xasprintf("%s.p1", path);
	_cleanup_close_ int fd = -1;
	char text[64];

	ck_assert_str_ne(path, place_file(q));
	assert_gone(path);
	fd = target_opens(path);
	ck_assert_int_eq(io_write_all(fd, CONTENT, strlen(CONTENT), deadline_in_ms(1000)), 0);
	own(path);
	(void)close(target_opens(beside)); /* a part of it, as of a parallel heap dump */
	(void)close(fd);
	fd = opened(p);
	ck_assert_int_eq(io_read_full(fd, text, sizeof(text)), (ssize_t)strlen(CONTENT));
	place_free(p);
	assert_gone(path);
	assert_gone(beside);
	ck_assert_int_eq(count("/tmp"), 1); /* the other one's */
	place_free(q);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

#define SIZE (5u * 1024 * 1024 + 3)

static void write_pattern(const char *path)
{
	_cleanup_close_ int fd = target_opens(path);
	_cleanup_free_ char *text = xmalloc(SIZE);

	for (size_t i = 0; i < SIZE; i++)
		text[i] = (char)(i * 2654435761u >> 13);
	ck_assert_int_eq(io_write_all(fd, text, SIZE, IO_NO_DEADLINE), 0);
	own(path);
}

static void assert_same(const char *a, const char *b)
{
	_cleanup_close_ int x = open(a, O_RDONLY | O_CLOEXEC), y = open(b, O_RDONLY | O_CLOEXEC);
	_cleanup_buf_ struct buf p = BUF_INIT, q = BUF_INIT;

	ck_assert_int_eq(io_slurp(x, &p, SIZE + 1), 0);
	ck_assert_int_eq(io_slurp(y, &q, SIZE + 1), 0);
	ck_assert_uint_eq(p.len, SIZE);
	ck_assert_uint_eq(q.len, SIZE);
	ck_assert(memcmp(p.data, q.data, SIZE) == 0);
}

/* To the same file system, to another one, and to where the kernel does not copy. */
static const struct {
	const char *dir;
	int flags;
} ways[] = { { "/tmp", 0 }, { "/dev/shm", 0 }, { "/tmp", O_APPEND } };

START_TEST(fetches_a_result)
{
	const struct place_request req = written(PLACE_RESULT);
	_cleanup_free_ char *name = xasprintf("%s/check_place.%d", ways[_i].dir, (int)getpid());
	struct err err = { .code = EXIT_DONE };
	struct place *p = place(&req);
	struct outfile out;
	uint64_t size = 0;

	write_pattern(place_file(p));
	ck_assert_msg(outfile_open(&out, name, OUTFILE_NEW, 0600, &err) == 0, "%s", err.text);
	ck_assert_int_eq(fcntl(out.fd, F_SETFL, ways[_i].flags), 0);
	ck_assert_msg(fetch_result(p, &out, &size, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(size, SIZE);
	ck_assert_int_eq(outfile_commit(&out, NULL, &err), 0);
	outfile_release(&out);
	assert_same(name, in_root(place_file(p)));
	ck_assert_int_eq(unlink(name), 0);
	place_free(p);
}
END_TEST

START_TEST(fetches_only_a_whole_result)
{
	const struct place_request req = written(PLACE_RESULT);
	const struct rlimit small = { SIZE - 1, RLIM_INFINITY };
	struct err err = { .code = EXIT_DONE };
	struct place *p = place(&req);
	struct outfile out;
	uint64_t size;

	ck_assert_int_eq(outfile_open(&out, "/tmp/check_place", OUTFILE_NEW, 0600, &err), 0);
	ck_assert_int_eq(fetch_result(p, &out, &size, &err), -1);
	ck_assert_msg(strstr(err.text, "No such file") != NULL, "%s", err.text);
	err.code = EXIT_DONE;
	write_pattern(place_file(p));
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_int_eq(fetch_result(p, &out, &size, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "/tmp/check_place could not be written: File too large"),
		      "%s", err.text);
	outfile_release(&out);
	place_free(p);
}
END_TEST

START_TEST(opens_only_a_file_of_the_target)
{
	const struct place_request req = written(PLACE_RESULT);
	struct place *p = place(&req);
	_cleanup_free_ char *path = xstrdup(in_root(place_file(p)));

	assert_no_result(p, "No such file");
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	assert_no_result(p, "no regular file of the JVM's user");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
	ck_assert_int_eq(chown(path, OTHER_UID, OTHER_UID), 0);
	assert_no_result(p, "no regular file of the JVM's user");
	ck_assert_int_eq(unlink(path), 0);
	(void)close(target_opens(place_file(p)));
	ck_assert_int_eq(chmod(path, 0666), 0); /* but it is root's */
	assert_no_result(p, "no regular file of the JVM's user");
	place_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

static const enum place_kind both[] = { PLACE_FIFO, PLACE_RESULT };

/* The JVM makes more files in a directory that is on its way out, at the worst of moments. */
START_TEST(takes_away_what_comes_late)
{
	const struct place_request req = written(both[_i]);
	struct place *p = place(&req);
	_cleanup_free_ char *dir = xstrdup(in_root(place_file(p)));
	_cleanup_free_ char *late = NULL;
	_cleanup_close_ int dir_fd = -1;
	pid_t pid;

	*strrchr(dir, '/') = '\0';
	late = xasprintf("%s/.late", dir);
	dir_fd = open(dir, O_PATH | O_CLOEXEC);
	ck_assert_int_ge(dir_fd, 0);
	pid = fork_target(dir_fd);
	if (pid == 0) {
		for (int i = 0; i < 4; i++) {
			if (mknodat(STDIN_FILENO, ".late", S_IFREG | 0600, 0) < 0)
				_exit(errno == ENOENT ? 0 : 1);
			while (faccessat(STDIN_FILENO, ".late", F_OK, 0) == 0)
				;
		}
		_exit(0);
	}
	while (access(late, F_OK) < 0)
		;
	place_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
	assert_done(pid);
}
END_TEST

/* A jtool that lives so long; returns when its keeper has ended, too. */
static void _noreturn_ live_and_die(const struct place_request *req, unsigned usec)
{
	pid_t pid;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* the keeper becomes our child */
	pid = fork();
	if (pid == 0) {
		(void)place(req);
		(void)pause();
	}
	(void)usleep(usec);
	(void)kill(pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	_exit(errno == ECHILD ? 0 : 1);
}

/* At any moment: the keeper alone knows what there is.  That of a FIFO takes its time to end. */
START_TEST(is_killed_at_any_moment)
{
	const struct place_request req = written(_i % 4 == 0 ? PLACE_FIFO : PLACE_RESULT);
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		live_and_die(&req, (unsigned)_i * 200);
	assert_done(pid);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

/* Of a keeper that was killed, too: and a JVM that waits for the FIFO's reader is let go. */
START_TEST(removes_a_fifo_that_was_left)
{
	const struct place_request req = request(-1);
	_cleanup_free_ char *dir = xasprintf("%s-0123", private_dir("/tmp"));
	_cleanup_free_ char *path = xasprintf("%s/.heap.hprof", dir);
	pid_t pid;

	make_dir(dir, 0700);
	ck_assert_int_eq(mkfifo(in_root(path), 0600), 0);
	own(path);
	own(dir);
	touch(dir, ".heap.jfr", "");
	pid = fork_target(STDIN_FILENO);
	if (pid == 0)
		_exit(open(in_root(path), O_WRONLY | O_CLOEXEC) < 0);
	wait_until_asleep(pid);
	place_free(place(&req));
	ck_assert_int_eq(count("/tmp"), 0);
	assert_done(pid);
}
END_TEST

static void assert_result_in(const char *dir, uint64_t room)
{
	struct place_request req = written(PLACE_RESULT);
	struct place *p;

	req.room = room;
	p = place(&req);
	ck_assert_msg(strncmp(place_file(p), dir, strlen(dir)) == 0, "%s", place_file(p));
	place_free(p);
	ck_assert_int_eq(count(dir), 0);
}

START_TEST(takes_a_disk_with_room)
{
	struct place_request req = written(PLACE_RESULT);
	struct err err = { .code = EXIT_DONE };
	struct statfs fs;

	if (mount("none", in_root("/tmp"), "tmpfs", MS_NOEXEC, "mode=1777,size=1m") < 0)
		return; /* no right to mount, as in many containers */
	ck_assert_int_eq(statfs(in_root("/var/tmp"), &fs), 0);
	if (fs.f_type != 0x01021994) /* the tests' own directory may be in memory */
		assert_result_in("/var/tmp", 4096);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	assert_result_in("/tmp", 1024 * 1024);
	req.room = 1024 * 1024 + 1;
	ck_assert_ptr_null(place_new(&target, &req, NULL, &err));
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "/tmp: too little room") &&
			      strstr(err.text, "/var/tmp: Permission denied"),
		      "%s", err.text);
	err.code = EXIT_DONE;
	req.kind = PLACE_FIFO; /* with files beside it */
	ck_assert_ptr_null(place_new(&target, &req, NULL, &err));
	ck_assert_msg(strstr(err.text, "/tmp: too little room") != NULL, "%s", err.text);
	req.room = 0; /* takes no room, and nothing is run */
	place_free(place(&req));
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

START_TEST(target_gone)
{
	const struct place_request req = request(-1);
	struct err err = { .code = EXIT_DONE };

	target.start_ticks++; /* another process by now */
	ck_assert_ptr_null(place_new(&target, &req, NULL, &err));
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("place");
	TCase *tc = tcase_create("place");
	SRunner *runner;
	int failed;

	if (geteuid() != 0) {
		printf("skipped: the target is another user in a root of its own\n");
		return 77;
	}
	tcase_add_checked_fixture(tc, start_target, stop_target);
	tcase_add_test(tc, places_and_takes_away);
	tcase_add_test(tc, path_is_the_same_each_time);
	tcase_add_test(tc, path_is_without_links);
	tcase_add_test(tc, last_one_takes_away);
	tcase_add_test(tc, keeps_and_discards);
	tcase_add_test(tc, survives_being_killed);
	tcase_add_test(tc, removes_leftovers);
	tcase_add_test(tc, leaves_what_is_in_use);
	tcase_add_test(tc, replaces_a_wrong_file);
	tcase_add_test(tc, avoids_foreign_directories);
	tcase_add_test(tc, takes_the_working_directory);
	tcase_add_test(tc, takes_the_home);
	tcase_add_test(tc, lets_write_only_where_a_word_leads);
	tcase_add_test(tc, says_what_it_tried);
	tcase_add_test(tc, passes_over_a_home_that_is_no_path);
	tcase_add_test(tc, avoids_unfit_mounts);
	tcase_add_test(tc, reads_a_fifo);
	tcase_add_test(tc, fifo_never_lacks_a_reader);
	tcase_add_test(tc, fifo_breaks_when_killed);
	tcase_add_test(tc, fifo_has_a_reader_for_who_is_late);
	tcase_add_test(tc, opens_a_result);
	tcase_add_loop_test(tc, fetches_a_result, 0, ARRAY_SIZE(ways));
	tcase_add_test(tc, fetches_only_a_whole_result);
	tcase_add_test(tc, opens_only_a_file_of_the_target);
	tcase_add_loop_test(tc, takes_away_what_comes_late, 0, ARRAY_SIZE(both));
	tcase_add_loop_test(tc, is_killed_at_any_moment, 0, 24);
	tcase_add_test(tc, removes_a_fifo_that_was_left);
	tcase_add_test(tc, takes_a_disk_with_room);
	tcase_add_test(tc, target_gone);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
