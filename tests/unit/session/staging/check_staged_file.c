/*
 * Staging files and fetching results.  The target is not a JVM but a child process with another
 * user and root directory.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base/xalloc.h"
#include "cmd/fetch.h"
#include "unit/support/fake_target.h"
#include "session/staging/staged_file.h"

#define CONTENT "not really an agent"

static struct staged_file_request request(int listener)
{
	return (struct staged_file_request){
		.data = CONTENT,
		.len = strlen(CONTENT),
		.stem = "agent",
		.suffix = ".so",
		.listener = listener,
	};
}

static struct staged_file *stage(const struct staged_file_request *req)
{
	struct err err = { .code = EXIT_DONE };
	struct staged_file *p = staged_file_new(&target, req, NULL, &err);

	ck_assert_msg(p != NULL, "%s", err.text);
	return p;
}

static int count(const char *path)
{
	DIR *dir = opendir(in_root(path));
	int n = -2; /* does not count . and .. */

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

START_TEST(file_and_socket_are_staged_and_removed)
{
	_cleanup_close_ int listener = new_listener();
	const struct staged_file_request req = request(listener);
	struct staged_file *p = stage(&req);
	struct stat st;

	ck_assert_ptr_eq(strstr(staged_file_path(p), private_dir("/tmp")), staged_file_path(p));
	ck_assert_int_eq(stat(in_root(private_dir("/tmp")), &st), 0);
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	assert_content(in_root(staged_file_path(p)));
	ck_assert_int_eq(stat(in_root(staged_file_path(p)), &st), 0);
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	ck_assert_int_eq(stat(in_root(staged_file_socket_path(p)), &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

#define SOCKET ".wake-0123456789abcdef-0123456789abcdef0123456789abcdef"

static struct staged_file_request socket_request(int listener)
{
	return (struct staged_file_request){
		.kind = STAGED_SOCKET,
		.stem = "agent",
		.socket = SOCKET,
		.listener = listener,
	};
}

/* The agent trusts only a socket in a directory that only the JVM's user can access. */
START_TEST(socket_alone_is_staged_for_its_user_only)
{
	_cleanup_close_ int listener = new_listener();
	const struct staged_file_request req = socket_request(listener);
	struct staged_file *p = stage(&req);
	_cleanup_free_ char *path = xasprintf("%s/" SOCKET, private_dir("/tmp"));
	struct stat st;

	ck_assert_str_eq(staged_file_socket_path(p), path);
	ck_assert_int_eq(count(private_dir("/tmp")), 1);
	ck_assert_int_eq(stat(in_root(private_dir("/tmp")), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(lstat(in_root(path), &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 077, 0);
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

/* The agent searches /tmp and the JVM's working directory, but not java.io.tmpdir (/var here). */
START_TEST(socket_alone_is_staged_only_where_the_agent_searches)
{
	_cleanup_close_ int listener = new_listener();
	const struct staged_file_request req = socket_request(listener);
	struct err err = { .code = EXIT_DONE };
	struct staged_file *p;

	target.tmp = xstrdup("/var");
	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	p = stage(&req);
	ck_assert_ptr_eq(strstr(staged_file_path(p), private_dir("/work")), staged_file_path(p));
	staged_file_free(p);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	ck_assert_ptr_null(staged_file_new(&target, &req, NULL, &err));
	ck_assert_int_eq(err.code, EXIT_AGENT);
	ck_assert_ptr_nonnull(strstr(err.text, "find a socket in: /tmp: "));
	ck_assert_ptr_null(strstr(err.text, "/var"));
	free(target.tmp);
	target.tmp = NULL;
	ck_assert_int_eq(chmod(in_root("/tmp"), 01777), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 01777), 0);
}
END_TEST

/* The dynamic linker identifies a loaded library by its path. */
START_TEST(path_depends_on_the_content_only)
{
	struct staged_file_request req = request(-1);
	struct staged_file *p = stage(&req), *q;
	_cleanup_free_ char *first = xstrdup(staged_file_path(p));

	staged_file_free(p);
	p = stage(&req);
	ck_assert_str_eq(staged_file_path(p), first);
	req.data = "not really an agenT";
	q = stage(&req);
	ck_assert_str_ne(staged_file_path(q), first);
	staged_file_free(p);
	staged_file_free(q);
}
END_TEST

/* loaded_agents finds a mapped file by the path in /proc/PID/maps, which has no links. */
START_TEST(path_has_no_symbolic_links)
{
	const struct staged_file_request req = request(-1);
	struct staged_file *p;

	ck_assert_int_eq(chmod(in_root("/work"), 01777), 0);
	ck_assert_int_eq(symlink("work", in_root("/link")), 0);
	target.tmp = xstrdup("/link");
	p = stage(&req);
	ck_assert_ptr_eq(strstr(staged_file_path(p), private_dir("/work")), staged_file_path(p));
	staged_file_free(p);
	free(target.tmp);
	target.tmp = NULL;
	ck_assert_int_eq(unlink(in_root("/link")), 0);
}
END_TEST

START_TEST(shared_file_is_removed_by_its_last_user)
{
	const struct staged_file_request req = request(-1);
	struct staged_file *a = stage(&req), *b = stage(&req);

	ck_assert_str_eq(staged_file_path(a), staged_file_path(b));
	staged_file_free(a);
	assert_content(in_root(staged_file_path(b)));
	staged_file_free(b);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

START_TEST(kept_file_stays_unless_discarded)
{
	struct staged_file_request req = request(-1);
	struct staged_file *p;
	char path[512];

	req.keep = true;
	p = stage(&req);
	staged_file_discard(p);
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 0);

	p = stage(&req);
	(void)snprintf(path, sizeof(path), "%s", in_root(staged_file_path(p)));
	staged_file_free(p);
	assert_content(path);

	p = stage(&req); /* a file that existed before is not discarded */
	staged_file_discard(p);
	staged_file_free(p);
	assert_content(path);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(in_root(private_dir("/tmp"))), 0);
}
END_TEST

/*
 * Three helpers with files of different names use the directory at the same time: that of an agent,
 * of settings that the JVM reads, and of an agent of the user, which stays.  Each leaves last once.
 */
START_TEST(helper_that_leaves_last_removes_the_files_of_all)
{
	struct staged_file_request reqs[] = { request(-1), request(-1), request(-1) };
	struct staged_file *staged[ARRAY_SIZE(reqs)];
	char kept[512];

	reqs[1].stem = "profile";
	reqs[1].suffix = ".jfc";
	reqs[1].is_data = true;
	reqs[2].stem = "user";
	reqs[2].keep = true;
	for (size_t i = 0; i < ARRAY_SIZE(reqs); i++)
		staged[i] = stage(&reqs[i]);
	ck_assert_int_eq(count(private_dir("/tmp")), ARRAY_SIZE(reqs));
	(void)snprintf(kept, sizeof(kept), "%s", in_root(staged_file_path(staged[2])));
	for (size_t i = 0; i < ARRAY_SIZE(reqs); i++)
		staged_file_free(staged[((size_t)_i + i) % ARRAY_SIZE(reqs)]);
	ck_assert_int_eq(count(private_dir("/tmp")), 1);
	assert_content(kept);
	ck_assert_int_eq(unlink(kept), 0);
	ck_assert_int_eq(rmdir(in_root(private_dir("/tmp"))), 0);
}
END_TEST

/* The user may load a file that has the name of jtool's own agent. */
START_TEST(kept_file_stays_when_one_of_the_same_name_is_removed)
{
	struct staged_file_request kept = request(-1), ours = request(-1);
	char path[512];
	struct staged_file *p;

	kept.keep = true;
	p = stage(&kept);
	(void)snprintf(path, sizeof(path), "%s", in_root(staged_file_path(p)));
	staged_file_free(p);
	staged_file_free(stage(&ours));
	assert_content(path);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(in_root(private_dir("/tmp"))), 0);
}
END_TEST

START_TEST(discarded_file_is_removed_while_another_helper_stays)
{
	struct staged_file_request kept = request(-1), data = request(-1);
	struct staged_file *p, *q;

	kept.keep = true;
	data.stem = "profile";
	p = stage(&kept);
	q = stage(&data);
	staged_file_discard(p);
	staged_file_free(p);
	ck_assert_int_eq(count(private_dir("/tmp")), 1);
	assert_content(in_root(staged_file_path(q)));
	staged_file_free(q);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

/* Waits until the staging helper of a killed jtool has removed its files. */
static void wait_until_empty(const char *path)
{
	struct deadline deadline = deadline_in_ms(5000);

	while (count(path) > 0 && !deadline_passed(deadline))
		(void)poll(NULL, 0, 5);
	ck_assert_int_eq(count(path), 0);
}

/* Checks that a helper does not remove its directory in a moment. */
static void assert_stays(const char *path)
{
	(void)poll(NULL, 0, 100);
	ck_assert_int_eq(count(path), 1);
}

/* Forks a jtool process that stages a file; sets `path` to the file. */
static pid_t fork_jtool(const struct staged_file_request *req, char path[512])
{
	int report[2];
	pid_t pid;
	ssize_t n;

	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		const char *file = staged_file_path(stage(req));

		if (write(report[1], file, strlen(file)) > 0)
			(void)pause();
		_exit(1);
	}
	(void)close(report[1]);
	n = io_read(report[0], path, 511);
	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	(void)close(report[0]);
	return pid;
}

static void kill_jtool(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(files_of_a_killed_jtool_are_removed)
{
	_cleanup_close_ int listener = new_listener();
	const struct staged_file_request req = request(listener);
	char path[512];
	pid_t pid = fork_jtool(&req, path);

	ck_assert_int_eq(count("/tmp"), 1);
	kill_jtool(pid);
	wait_until_empty("/tmp");
}
END_TEST

START_TEST(socket_of_a_killed_jtool_is_removed)
{
	for (int i = 0; i < 20; i++) {
		_cleanup_close_ int listener = new_listener();
		const struct staged_file_request req = socket_request(listener);
		char path[512];
		pid_t pid = fork_jtool(&req, path);

		ck_assert_int_eq(count("/tmp"), 1);
		kill_jtool(pid);
		wait_until_empty("/tmp");
	}
}
END_TEST

/* Waits until a child sleeps in a system call. */
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
	ck_abort_msg("the child does not sleep");
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

/* Killed helpers have left files in this target's directory and in that of another target. */
START_TEST(leftover_files_are_removed)
{
	const struct staged_file_request req = request(-1);
	const char *dir = private_dir("/tmp");

	make_dir(dir, 0700);
	own(dir);
	touch(dir, ".new.s-0123", "half");
	touch(dir, "agent-0123456789abcdef.so", "old");
	make_dir("/tmp/.jtool-12345-1", 0700);
	own("/tmp/.jtool-12345-1");
	touch("/tmp/.jtool-12345-1", ".s-0123", "");
	staged_file_free(stage(&req));
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

START_TEST(directories_in_use_are_not_removed)
{
	const struct staged_file_request req = request(-1);
	int fd;

	make_dir("/tmp/.jtool-12345-1", 0700);
	own("/tmp/.jtool-12345-1");
	fd = open(in_root("/tmp/.jtool-12345-1"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(flock(fd, LOCK_SH), 0);
	make_dir("/tmp/.jtool-12345-2", 0700); /* owned by another user */
	staged_file_free(stage(&req));
	ck_assert_int_eq(count("/tmp"), 2);
	(void)close(fd);
	ck_assert_int_eq(rmdir(in_root("/tmp/.jtool-12345-1")), 0);
	ck_assert_int_eq(rmdir(in_root("/tmp/.jtool-12345-2")), 0);
}
END_TEST

/* A file with the right name but other content, which no staging helper leaves. */
START_TEST(file_with_wrong_content_is_replaced)
{
	const struct staged_file_request req = request(-1);
	struct staged_file *p = stage(&req);
	_cleanup_free_ char *name = xstrdup(strrchr(staged_file_path(p), '/') + 1);

	staged_file_free(p);
	make_dir(private_dir("/tmp"), 0700);
	own(private_dir("/tmp"));
	touch(private_dir("/tmp"), name, "not really an agenT");
	p = stage(&req);
	assert_content(in_root(staged_file_path(p)));
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

static void assert_staged_in(const char *dir)
{
	_cleanup_close_ int listener = new_listener();
	const struct staged_file_request req = request(listener);
	struct staged_file *p = stage(&req);
	const char *expected = private_dir(dir);

	ck_assert_msg(strstr(staged_file_path(p), expected) == staged_file_path(p), "%s",
		      staged_file_path(p));
	staged_file_free(p);
	ck_assert_int_eq(count(dir), 0);
}

START_TEST(directories_of_other_users_are_avoided)
{
	make_dir(private_dir("/tmp"), 0700); /* owned by root, not by the target */
	assert_staged_in("/var/tmp");
	ck_assert_int_eq(rmdir(in_root(private_dir("/tmp"))), 0);

	make_dir(private_dir("/tmp"), 0755); /* owned by the target, but readable for others */
	own(private_dir("/tmp"));
	assert_staged_in("/var/tmp");
	ck_assert_int_eq(rmdir(in_root(private_dir("/tmp"))), 0);

	ck_assert_int_eq(symlink("/var", in_root(private_dir("/tmp"))), 0);
	assert_staged_in("/var/tmp");
	ck_assert_int_eq(unlink(in_root(private_dir("/tmp"))), 0);
	assert_staged_in("/tmp");
}
END_TEST

static void set_mode(const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	ck_assert_int_eq(chown(in_root(path), uid, gid), 0);
	ck_assert_int_eq(chmod(in_root(path), mode), 0);
}

/* Another user could rename the private directory there, and put his own in its place. */
START_TEST(directories_that_others_can_rename_come_last)
{
	assert_staged_in("/tmp");
	set_mode("/tmp", 0777, 0, 0);
	assert_staged_in("/var/tmp");
	set_mode("/tmp", 0770, 0, OTHER_UID); /* the target's own group has other members */
	assert_staged_in("/var/tmp");
	set_mode("/tmp", 0775, OTHER_UID, 0);
	assert_staged_in("/var/tmp");
	set_mode("/tmp", 01777, OTHER_UID + 1, 0); /* the owner may rename despite the bit */
	assert_staged_in("/var/tmp");
	set_mode("/tmp", 0755, OTHER_UID, OTHER_UID);
	assert_staged_in("/tmp");
	set_mode("/tmp", 0777, 0, 0);
	set_mode("/var/tmp", 0755, 0, 0);
	assert_staged_in("/tmp"); /* as in a container with a volume at /tmp and nothing else */
	set_mode("/var/tmp", 01777, 0, 0);
	set_mode("/var", 0777, 0, 0);
	assert_staged_in("/tmp"); /* both are exposed, so the usual order applies */
	set_mode("/work", 01777, 0, 0);
	assert_staged_in("/work");
	set_mode("/var", 0755, 0, 0);
	assert_staged_in("/var/tmp");
}
END_TEST

/* Swaps two names below /tmp, as another user can where the directory has no sticky bit. */
static void swap(const char *a, const char *b)
{
	_cleanup_free_ char *first = xstrdup(in_root(a));

	ck_assert_int_eq(renameat2(AT_FDCWD, first, AT_FDCWD, in_root(b), RENAME_EXCHANGE), 0);
}

START_TEST(replaced_directory_is_noticed_before_the_request)
{
	const struct staged_file_request req = request(-1);
	struct err err = { .code = EXIT_DONE };
	struct staged_file *p;

	set_mode("/tmp", 0777, 0, 0);
	set_mode("/var/tmp", 0755, 0, 0);
	p = stage(&req);
	ck_assert_int_eq(staged_file_confirm(p, &err), 0);
	make_dir("/tmp/theirs", 0777);
	swap("/tmp/theirs", private_dir("/tmp"));
	ck_assert_int_eq(staged_file_confirm(p, &err), -1);
	ck_assert_int_eq(err.code, EXIT_AGENT);
	ck_assert_msg(strstr(err.text, "has replaced the directory") != NULL, "%s", err.text);
	swap("/tmp/theirs", private_dir("/tmp"));
	ck_assert_int_eq(staged_file_confirm(p, &err), 0);
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 1);
	ck_assert_int_eq(rmdir(in_root("/tmp/theirs")), 0);
}
END_TEST

START_TEST(working_directory_is_used_if_no_tmp_is_writable)
{
	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	assert_staged_in("/work");
}
END_TEST

START_TEST(home_is_used_if_nothing_else_is_writable)
{
	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	make_dir("/etc", 0755);
	touch("/etc", "passwd", "root:x:0:0::/root:/bin/sh\nbroken\n"
				"me:x:12345:12345:Me:/var/home:/bin/sh\n");
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	make_dir("/var/home", 0777);
	assert_staged_in("/var/home");
	ck_assert_int_eq(rmdir(in_root("/var/home")), 0);
}
END_TEST

/* The JVM parses a command with the path: special characters may lead to another file. */
START_TEST(fifo_is_refused_in_paths_with_special_characters)
{
	static const char *const names[] = { "/var/a\"b", "/var/a'b", "/var/a\\b", "/var/a%pb" };

	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	make_dir("/etc", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *line =
			xasprintf("me:x:12345:12345:Me:%s:/bin/sh\n", names[i]);
		struct staged_file_request req = request(-1);
		struct err err = { .code = EXIT_DONE };

		touch("/etc", "passwd", line);
		make_dir(names[i], 0777);
		assert_staged_in(names[i]);
		req.kind = STAGED_FIFO;
		ck_assert_ptr_null(staged_file_new(&target, &req, NULL, &err));
		ck_assert_msg(strstr(err.text, "its name has"), "%s", err.text);
		ck_assert_int_eq(rmdir(in_root(names[i])), 0);
		ck_assert_int_eq(unlink(in_root("/etc/passwd")), 0);
	}
}
END_TEST

START_TEST(error_lists_every_directory_with_its_reason)
{
	const struct staged_file_request req = request(-1);
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	ck_assert_ptr_null(staged_file_new(&target, &req, NULL, &err));
	ck_assert_int_eq(err.code, EXIT_AGENT);
	ck_assert_msg(strstr(err.text, "/tmp: Permission denied") &&
			      strstr(err.text, "/var/tmp: Permission denied") &&
			      strstr(err.text, "/dev/shm: No such file") &&
			      strstr(err.text, "/work: Permission denied"),
		      "%s", err.text);
}
END_TEST

/* The path does not fit into the helper's report; the reasons for other directories do. */
START_TEST(overlong_home_is_skipped)
{
	_cleanup_free_ char *line = xasprintf("me:x:12345:12345:Me:/%0100000d:/bin/sh\n", 0);
	const struct staged_file_request req = request(-1);
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(chmod(in_root("/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	make_dir("/etc", 0755);
	touch("/etc", "passwd", line);
	ck_assert_ptr_null(staged_file_new(&target, &req, NULL, &err));
	ck_assert_msg(strstr(err.text, "/work: Permission denied"), "%s", err.text);
}
END_TEST

START_TEST(noexec_readonly_and_full_mounts_are_avoided)
{
	if (mount("none", in_root("/tmp"), "tmpfs", MS_NOEXEC, "mode=1777") < 0)
		return; /* not permitted, as in many containers */
	assert_staged_in("/var/tmp");
	ck_assert_int_eq(umount(in_root("/tmp")), 0);
	ck_assert_int_eq(mount("none", in_root("/tmp"), "tmpfs", MS_RDONLY, "mode=1777"), 0);
	assert_staged_in("/var/tmp");
	ck_assert_int_eq(umount(in_root("/tmp")), 0);
	/* A full file system: the file does not fit, and no part of it remains. */
	ck_assert_int_eq(mount("none", in_root("/tmp"), "tmpfs", 0, "mode=1777,nr_inodes=2"), 0);
	assert_staged_in("/var/tmp");
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

static struct staged_file_request write_request(enum staged_file_kind kind)
{
	return (struct staged_file_request){
		.kind = kind,
		.stem = "heap",
		.suffix = ".hprof",
		.listener = -1,
	};
}

/* Opens the path as a JVM does: without O_NONBLOCK. */
static int target_opens(const char *path)
{
	int fd = open(in_root(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

static int open_staged(struct staged_file *p)
{
	struct err err = { .code = EXIT_DONE };
	int fd = staged_file_open(p, &err);

	ck_assert_msg(fd >= 0, "%s", err.text);
	return fd;
}

static void assert_gone(const char *path)
{
	struct stat st;

	ck_assert_int_eq(lstat(in_root(path), &st), -1);
	ck_assert_int_eq(errno, ENOENT);
}

/* Forks a child that acts as the JVM.  It closes its copy of the pipe to the staging helper. */
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

static void assert_success(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(fifo_delivers_what_the_target_writes)
{
	const struct staged_file_request req = write_request(STAGED_FIFO);
	struct staged_file *p = stage(&req);
	_cleanup_close_ int end = open_staged(p), writer = -1;
	char text[64];
	struct stat st;

	ck_assert_int_eq(stat(in_root(staged_file_path(p)), &st), 0);
	ck_assert(S_ISFIFO(st.st_mode));
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(io_read(end, text, sizeof(text)), 0); /* no writer yet */
	writer = target_opens(staged_file_path(p));
	ck_assert_int_ge(fcntl(writer, F_GETPIPE_SZ), 65536);
	ck_assert_int_eq(io_read(end, text, sizeof(text)), -EAGAIN);
	ck_assert_int_eq(write(writer, CONTENT, strlen(CONTENT)), strlen(CONTENT));
	ck_assert_int_eq(io_read(end, text, sizeof(text)), (ssize_t)strlen(CONTENT));
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

static void assert_no_result(struct staged_file *p, const char *reason)
{
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(staged_file_open(p, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, reason) != NULL, "%s", err.text);
}

/* The helper holds a read end even if jtool does not. */
START_TEST(fifo_has_a_reader_until_it_is_freed)
{
	const struct staged_file_request req = write_request(STAGED_FIFO);
	struct staged_file *p = stage(&req);
	int writer = -1, end = open_staged(p);

	(void)close(end);
	assert_no_result(p, "not a regular file"); /* the helper still answers */
	writer = target_opens(staged_file_path(p));
	ck_assert_int_eq(write(writer, "", 1), 1);
	staged_file_free(p);
	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(write(writer, "", 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	(void)close(writer);
}
END_TEST

/* After jtool is killed, the FIFO has no reader, so the JVM gets EPIPE and does not block. */
START_TEST(fifo_breaks_when_jtool_is_killed)
{
	const struct staged_file_request req = write_request(STAGED_FIFO);
	char path[512], piece[4096] = "";
	pid_t pid = fork_jtool(&req, path);
	int writer = target_opens(path);

	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(fcntl(writer, F_SETFL, O_NONBLOCK), 0);
	while (write(writer, piece, sizeof(piece)) > 0)
		;
	ck_assert_int_eq(errno, EAGAIN); /* the FIFO is full */
	ck_assert_int_eq(fcntl(writer, F_SETFL, 0), 0);
	kill_jtool(pid);
	ck_assert_int_eq(write(writer, piece, sizeof(piece)), -1);
	ck_assert_int_eq(errno, EPIPE);
	(void)close(writer);
	wait_until_empty("/tmp");
}
END_TEST

/*
 * Stages a file into which the target merges others, and kills jtool when the target has opened the
 * file.  Returns the target's descriptor; sets `path` to the file.
 */
static int open_and_kill_jtool(enum staged_file_kind kind, char path[512])
{
	struct staged_file_request req = write_request(kind);
	pid_t pid;
	int fd;

	req.merges = true;
	pid = fork_jtool(&req, path);
	fd = target_opens(path);
	kill_jtool(pid);
	return fd;
}

/* A JVM that merges other files into the FIFO logs an error if it cannot end that. */
START_TEST(fifo_is_drained_if_the_target_merges)
{
	char path[512], piece[4096] = "";
	int writer = open_and_kill_jtool(STAGED_FIFO, path);

	(void)signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 1024; i++) /* four times the size of the FIFO */
		ck_assert_int_eq(write(writer, piece, sizeof(piece)), sizeof(piece));
	ck_assert_int_eq(count("/tmp"), 1);
	(void)close(writer);
	wait_until_empty("/tmp");
}
END_TEST

START_TEST(result_stays_while_the_target_merges)
{
	_cleanup_free_ char *part = NULL;
	char path[512];
	int file = open_and_kill_jtool(STAGED_RESULT, path);

	assert_stays("/tmp"); /* the JVM has opened the file, but no part */
	part = xasprintf("%s.p0", path);
	(void)close(target_opens(part));
	ck_assert_int_eq(write(file, CONTENT, strlen(CONTENT)), strlen(CONTENT));
	assert_stays("/tmp");
	ck_assert_int_eq(unlink(in_root(part)), 0);
	wait_until_empty("/tmp");
	(void)close(file);
}
END_TEST

/* The JVM's open(2) has resolved the name just before the FIFO is removed. */
START_TEST(late_writer_of_a_removed_fifo_gets_epipe)
{
	const struct staged_file_request req = write_request(STAGED_FIFO);
	struct staged_file *p = stage(&req);
	_cleanup_close_ int found = open(in_root(staged_file_path(p)), O_PATH | O_CLOEXEC);
	int end = open_staged(p);
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
	staged_file_free(p);
	assert_success(pid);
}
END_TEST

START_TEST(result_file_is_opened_and_removed)
{
	const struct staged_file_request req = write_request(STAGED_RESULT);
	struct staged_file *p = stage(&req), *q = stage(&req);
	_cleanup_free_ char *path = xstrdup(staged_file_path(p));
	_cleanup_free_ char *second_file = xasprintf("%s.p1", path);
	_cleanup_close_ int fd = -1;
	char text[64];

	ck_assert_str_ne(path, staged_file_path(q));
	assert_gone(path);
	fd = target_opens(path);
	ck_assert_int_eq(io_write_all(fd, CONTENT, strlen(CONTENT), deadline_in_ms(1000)), 0);
	own(path);
	(void)close(target_opens(second_file)); /* a parallel heap dump has several files */
	(void)close(fd);
	fd = open_staged(p);
	ck_assert_int_eq(io_read_full(fd, text, sizeof(text)), (ssize_t)strlen(CONTENT));
	staged_file_free(p);
	assert_gone(path);
	assert_gone(second_file);
	ck_assert_int_eq(count("/tmp"), 1); /* the directory of q */
	staged_file_free(q);
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
	ck_assert_int_eq(io_write_all(fd, text, SIZE, DEADLINE_NEVER), 0);
	own(path);
}

static void assert_same_content(const char *a, const char *b)
{
	_cleanup_close_ int x = open(a, O_RDONLY | O_CLOEXEC), y = open(b, O_RDONLY | O_CLOEXEC);
	_cleanup_buf_ struct buf p = BUF_INIT, q = BUF_INIT;

	ck_assert_int_eq(io_slurp(x, &p, SIZE + 1), 0);
	ck_assert_int_eq(io_slurp(y, &q, SIZE + 1), 0);
	ck_assert_uint_eq(p.len, SIZE);
	ck_assert_uint_eq(q.len, SIZE);
	ck_assert(memcmp(p.data, q.data, SIZE) == 0);
}

/*
 * The output is on the same file system, on another one, or open for appending, which
 * copy_file_range(2) refuses.
 */
static const struct {
	const char *dir;
	int flags;
} targets[] = { { "/tmp", 0 }, { "/dev/shm", 0 }, { "/tmp", O_APPEND } };

static int accept_any(void *arg, int fd, uint64_t size, struct err *err)
{
	(void)arg;
	(void)fd;
	(void)size;
	(void)err;
	return 0;
}

static const struct fetch_check any = { accept_any, NULL };

START_TEST(result_is_copied_to_the_output)
{
	const struct staged_file_request req = write_request(STAGED_RESULT);
	_cleanup_free_ char *name = xasprintf("%s/check_place.%d", targets[_i].dir, (int)getpid());
	struct err err = { .code = EXIT_DONE };
	struct staged_file *p = stage(&req);
	struct atomic_file out;
	uint64_t size = 0;

	write_pattern(staged_file_path(p));
	ck_assert_msg(atomic_file_open(&out, name, ATOMIC_FILE_NEW, 0600, &err) == 0, "%s",
		      err.text);
	ck_assert_int_eq(fcntl(out.fd, F_SETFL, targets[_i].flags), 0);
	ck_assert_msg(fetch_result(p, &out, &any, &size, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(size, SIZE);
	ck_assert_int_eq(atomic_file_commit(&out, NULL, &err), 0);
	atomic_file_release(&out);
	assert_same_content(name, in_root(staged_file_path(p)));
	ck_assert_int_eq(unlink(name), 0);
	staged_file_free(p);
}
END_TEST

START_TEST(incomplete_copy_of_a_result_is_an_error)
{
	const struct staged_file_request req = write_request(STAGED_RESULT);
	const struct rlimit small = { SIZE - 1, RLIM_INFINITY };
	struct err err = { .code = EXIT_DONE };
	struct staged_file *p = stage(&req);
	struct atomic_file out;
	uint64_t size;

	ck_assert_int_eq(atomic_file_open(&out, "/tmp/check_place", ATOMIC_FILE_NEW, 0600, &err),
			 0);
	ck_assert_int_eq(fetch_result(p, &out, &any, &size, &err), -1);
	ck_assert_msg(strstr(err.text, "No such file") != NULL, "%s", err.text);
	err.code = EXIT_DONE;
	write_pattern(staged_file_path(p));
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_int_eq(fetch_result(p, &out, &any, &size, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "cannot write '/tmp/check_place': File too large"),
		      "%s", err.text);
	atomic_file_release(&out);
	staged_file_free(p);
}
END_TEST

static int refuse_all(void *arg, int fd, uint64_t size, struct err *err)
{
	ck_assert_ptr_eq(arg, NULL);
	ck_assert_int_ge(fd, 0);
	return err_set(err, EXIT_PARTIAL, "%llu bytes are refused", (unsigned long long)size);
}

START_TEST(what_the_target_has_written_so_far_is_counted)
{
	const struct staged_file_request req = write_request(STAGED_RESULT);
	struct staged_file *p = stage(&req);
	_cleanup_free_ char *segment = xasprintf("%s.p0", staged_file_path(p));

	ck_assert_uint_eq(staged_file_written(p), 0);
	write_pattern(staged_file_path(p));
	ck_assert_uint_eq(staged_file_written(p), SIZE);
	write_pattern(segment);
	ck_assert_uint_eq(staged_file_written(p), 2 * SIZE);
	staged_file_free(p);
}
END_TEST

/* Returns the pid of the staging helper, which is a child of this process. */
static pid_t find_helper(void)
{
	_cleanup_close_ int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	_cleanup_buf_ struct buf pids = BUF_INIT;
	char *at;

	ck_assert_int_eq(io_slurp(fd, &pids, 4096), 0);
	at = pids.data;
	for (long pid; (pid = strtol(at, &at, 10)) > 0;) {
		if (pid != target.pid)
			return (pid_t)pid;
	}
	ck_abort_msg("there is no helper");
}

/* The helper may be blocked by a file system for longer than jtool waits. */
START_TEST(late_replies_are_not_taken_for_later_ones)
{
	struct staged_file_request req = write_request(STAGED_RESULT);
	_cleanup_close_ int fd = -1;
	struct staged_file *p;
	pid_t helper;

	req.timeout_ms = 500;
	p = stage(&req);
	helper = find_helper();
	ck_assert_int_eq(kill(helper, SIGSTOP), 0);
	ck_assert_uint_eq(staged_file_written(p), 0);
	ck_assert_uint_eq(staged_file_written(p), 0);
	write_pattern(staged_file_path(p));
	ck_assert_int_eq(kill(helper, SIGCONT), 0);
	ck_assert_uint_eq(staged_file_written(p), SIZE);
	ck_assert_int_eq(truncate(in_root(staged_file_path(p)), 5), 0);
	ck_assert_uint_eq(staged_file_written(p), 5);
	ck_assert_int_eq(kill(helper, SIGSTOP), 0);
	ck_assert_uint_eq(staged_file_written(p), 0);
	ck_assert_int_eq(kill(helper, SIGCONT), 0);
	fd = open_staged(p);
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

/* Nothing is copied of a file that is refused, or larger than the space that may be used. */
START_TEST(sparse_and_refused_results_are_not_copied)
{
	const struct staged_file_request req = write_request(STAGED_RESULT);
	const struct fetch_check checks[] = { { refuse_all, NULL }, any };
	static const char *const reasons[] = { "8796093022208 bytes are refused",
					       "too little space would stay free" };
	struct staged_file *p = stage(&req);

	write_pattern(staged_file_path(p));
	ck_assert_int_eq(truncate(in_root(staged_file_path(p)), (off_t)1 << 43), 0);
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct err err = { .code = EXIT_DONE };
		struct atomic_file out;
		uint64_t size;
		struct stat st;

		ck_assert_int_eq(
			atomic_file_open(&out, "/tmp/check_place", ATOMIC_FILE_NEW, 0600, &err), 0);
		ck_assert_int_eq(fetch_result(p, &out, &checks[i], &size, &err), -1);
		ck_assert_int_eq(err.code, EXIT_PARTIAL);
		ck_assert_msg(strstr(err.text, reasons[i]) != NULL, "%s", err.text);
		ck_assert_int_eq(fstat(out.fd, &st), 0);
		ck_assert_int_eq(st.st_size, 0);
		atomic_file_release(&out);
	}
	staged_file_free(p);
}
END_TEST

/* Watches the directory of a file. */
static int watch_opens(const char *path)
{
	_cleanup_free_ char *folder = xstrdup(path);
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	*strrchr(folder, '/') = '\0';
	ck_assert_int_ge(inotify_add_watch(fd, folder, IN_OPEN), 0);
	return fd;
}

static void assert_not_opened(int watch)
{
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];

	ck_assert_int_lt(read(watch, event, sizeof(event)), 0);
}

/* A pipe is not even opened to find out its type, because open(2) alone may have an effect. */
START_TEST(only_regular_files_of_the_target_are_opened)
{
	const struct staged_file_request req = write_request(STAGED_RESULT);
	struct staged_file *p = stage(&req);
	_cleanup_free_ char *path = xstrdup(in_root(staged_file_path(p)));
	_cleanup_close_ int watch = watch_opens(path);

	assert_no_result(p, "No such file");
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	assert_no_result(p, "not a regular file of the JVM's user");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
	ck_assert_int_eq(chown(path, OTHER_UID, OTHER_UID), 0);
	assert_no_result(p, "not a regular file of the JVM's user");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mknod(path, S_IFCHR | 0666, makedev(1, 3)), 0);
	ck_assert_int_eq(chown(path, OTHER_UID, OTHER_UID), 0);
	assert_no_result(p, "not a regular file of the JVM's user");
	ck_assert_int_eq(unlink(path), 0);
	assert_not_opened(watch);
	(void)close(target_opens(staged_file_path(p)));
	ck_assert_int_eq(chmod(path, 0666), 0); /* readable, but owned by root */
	assert_no_result(p, "not a regular file of the JVM's user");
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

static const enum staged_file_kind kinds[] = { STAGED_FIFO, STAGED_RESULT };

/* The JVM creates files in the directory while it is being removed. */
START_TEST(files_created_during_removal_are_removed)
{
	const struct staged_file_request req = write_request(kinds[_i]);
	struct staged_file *p = stage(&req);
	_cleanup_free_ char *dir = xstrdup(in_root(staged_file_path(p)));
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
	staged_file_free(p);
	ck_assert_int_eq(count("/tmp"), 0);
	assert_success(pid);
}
END_TEST

/* Runs a jtool process for `usec`, kills it, and exits after its staging helper has ended. */
static void _noreturn_ run_and_kill(const struct staged_file_request *req, unsigned usec)
{
	pid_t pid;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* the helper becomes our child */
	pid = fork();
	if (pid == 0) {
		(void)stage(req);
		(void)pause();
	}
	(void)usleep(usec);
	(void)kill(pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	_exit(errno == ECHILD ? 0 : 1);
}

/* Only the helper can remove the files.  Every fourth run uses a FIFO: its helper ends slowly. */
START_TEST(jtool_killed_at_any_moment_leaves_no_files)
{
	const struct staged_file_request req =
	write_request(_i % 4 == 0 ? STAGED_FIFO : STAGED_RESULT);
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		run_and_kill(&req, (unsigned)_i * 200);
	assert_success(pid);
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

/* The helper of this FIFO was killed.  A JVM still waits in open(2) for a reader. */
START_TEST(leftover_fifo_is_removed_and_its_writer_released)
{
	const struct staged_file_request req = request(-1);
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
	staged_file_free(stage(&req));
	ck_assert_int_eq(count("/tmp"), 0);
	assert_success(pid);
}
END_TEST

static void assert_result_in(const char *dir, uint64_t room)
{
	struct staged_file_request req = write_request(STAGED_RESULT);
	struct staged_file *p;

	req.room = room;
	p = stage(&req);
	ck_assert_msg(strncmp(staged_file_path(p), dir, strlen(dir)) == 0, "%s",
		      staged_file_path(p));
	staged_file_free(p);
	ck_assert_int_eq(count(dir), 0);
}

START_TEST(result_needs_a_directory_with_enough_space)
{
	struct staged_file_request req = write_request(STAGED_RESULT);
	struct err err = { .code = EXIT_DONE };
	struct statfs fs;

	if (mount("none", in_root("/tmp"), "tmpfs", MS_NOEXEC, "mode=1777,size=1m") < 0)
	return; /* not permitted, as in many containers */
	ck_assert_int_eq(statfs(in_root("/var/tmp"), &fs), 0);
	if (fs.f_type != 0x01021994) /* the test's directory may be a tmpfs */
		assert_result_in("/var/tmp", 4096);
	ck_assert_int_eq(chmod(in_root("/var/tmp"), 0755), 0);
	ck_assert_int_eq(chmod(in_root("/work"), 0755), 0);
	assert_result_in("/tmp", 1024 * 1024);
	req.room = 1024 * 1024 + 1;
	ck_assert_ptr_null(staged_file_new(&target, &req, NULL, &err));
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "/tmp: not enough space") &&
			      strstr(err.text, "/var/tmp: Permission denied"),
		      "%s", err.text);
	err.code = EXIT_DONE;
	req.kind = STAGED_FIFO; /* `room` is for files next to the FIFO */
	ck_assert_ptr_null(staged_file_new(&target, &req, NULL, &err));
	ck_assert_msg(strstr(err.text, "/tmp: not enough space") != NULL, "%s", err.text);
	req.room = 0; /* a FIFO alone needs no space */
	staged_file_free(stage(&req));
	ck_assert_int_eq(count("/tmp"), 0);
}
END_TEST

START_TEST(reused_pid_is_an_error)
{
	const struct staged_file_request req = request(-1);
	struct err err = { .code = EXIT_DONE };

	target.start_ticks++; /* as if another process had the PID */
	ck_assert_ptr_null(staged_file_new(&target, &req, NULL, &err));
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session/staging/staged_file");
	TCase *tc = tcase_create("session/staging/staged_file");
	SRunner *runner;
	int failed;

	if (geteuid() != 0) {
		printf("skipped: needs root for a target with another user and root directory\n");
		return 77;
	}
	tcase_add_checked_fixture(tc, start_target, stop_target);
	tcase_add_test(tc, file_and_socket_are_staged_and_removed);
	tcase_add_test(tc, socket_alone_is_staged_for_its_user_only);
	tcase_add_test(tc, socket_alone_is_staged_only_where_the_agent_searches);
	tcase_add_test(tc, socket_of_a_killed_jtool_is_removed);
	tcase_add_test(tc, path_depends_on_the_content_only);
	tcase_add_test(tc, path_has_no_symbolic_links);
	tcase_add_test(tc, shared_file_is_removed_by_its_last_user);
	tcase_add_test(tc, kept_file_stays_unless_discarded);
	tcase_add_loop_test(tc, helper_that_leaves_last_removes_the_files_of_all, 0, 3);
	tcase_add_test(tc, kept_file_stays_when_one_of_the_same_name_is_removed);
	tcase_add_test(tc, discarded_file_is_removed_while_another_helper_stays);
	tcase_add_test(tc, files_of_a_killed_jtool_are_removed);
	tcase_add_test(tc, leftover_files_are_removed);
	tcase_add_test(tc, directories_in_use_are_not_removed);
	tcase_add_test(tc, file_with_wrong_content_is_replaced);
	tcase_add_test(tc, directories_of_other_users_are_avoided);
	tcase_add_test(tc, directories_that_others_can_rename_come_last);
	tcase_add_test(tc, replaced_directory_is_noticed_before_the_request);
	tcase_add_test(tc, working_directory_is_used_if_no_tmp_is_writable);
	tcase_add_test(tc, home_is_used_if_nothing_else_is_writable);
	tcase_add_test(tc, fifo_is_refused_in_paths_with_special_characters);
	tcase_add_test(tc, error_lists_every_directory_with_its_reason);
	tcase_add_test(tc, overlong_home_is_skipped);
	tcase_add_test(tc, noexec_readonly_and_full_mounts_are_avoided);
	tcase_add_test(tc, fifo_delivers_what_the_target_writes);
	tcase_add_test(tc, fifo_has_a_reader_until_it_is_freed);
	tcase_add_test(tc, fifo_breaks_when_jtool_is_killed);
	tcase_add_test(tc, fifo_is_drained_if_the_target_merges);
	tcase_add_test(tc, result_stays_while_the_target_merges);
	tcase_add_test(tc, late_writer_of_a_removed_fifo_gets_epipe);
	tcase_add_test(tc, result_file_is_opened_and_removed);
	tcase_add_loop_test(tc, result_is_copied_to_the_output, 0, ARRAY_SIZE(targets));
	tcase_add_test(tc, incomplete_copy_of_a_result_is_an_error);
	tcase_add_test(tc, what_the_target_has_written_so_far_is_counted);
	tcase_add_test(tc, late_replies_are_not_taken_for_later_ones);
	tcase_add_test(tc, sparse_and_refused_results_are_not_copied);
	tcase_add_test(tc, only_regular_files_of_the_target_are_opened);
	tcase_add_loop_test(tc, files_created_during_removal_are_removed, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(tc, jtool_killed_at_any_moment_leaves_no_files, 0, 24);
	tcase_add_test(tc, leftover_fifo_is_removed_and_its_writer_released);
	tcase_add_test(tc, result_needs_a_directory_with_enough_space);
	tcase_add_test(tc, reused_pid_is_an_error);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
