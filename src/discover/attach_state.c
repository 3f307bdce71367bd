#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/strview.h"
#include "proc/inroot.h"
#include "proc/mounts.h"
#include "discover/discover.h"
#include "worker/worker.h"

#define UNIX_MAX (16u * 1024 * 1024)
#define LISTENING 0x10000 /* __SO_ACCEPTCON in the Flags column of net/unix */

static bool has_socket_file(const struct jvm *jvm, int root_fd)
{
	_cleanup_close_ int dir = inroot_open(root_fd, jvm_tmp(jvm), O_DIRECTORY);
	char name[32];
	struct stat st;

	(void)snprintf(name, sizeof(name), ".java_pid%d", (int)jvm->nspid);
	return dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISSOCK(st.st_mode) && st.st_uid == jvm->uid;
}

/*
 * Returns true if the path in a line of net/unix is that of the attach socket.  HotSpot binds the
 * socket as NAME.tmp and renames the file; net/unix keeps the first name.
 */
static bool is_attach_path(const struct jvm *jvm, const char *line, size_t len)
{
	const struct strview text = { line, line + len };
	char name[32];

	(void)snprintf(name, sizeof(name), "/.java_pid%d.tmp", (int)jvm->nspid);
	if (strview_ends_with(text, name))
		return true;
	name[strlen(name) - strlen(".tmp")] = '\0';
	return strview_ends_with(text, name);
}

static const char *skip_columns(const char *line, unsigned n)
{
	while (n-- > 0) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return line;
}

/*
 * Returns true, with *inode set, if the socket in a line of net/unix listens.  The columns are
 * "Num: RefCount Protocol Flags Type St Inode Path".
 */
static bool is_listener(const char *line, uint64_t *inode)
{
	const char *flags = skip_columns(line, 3);

	*inode = strtoull(skip_columns(flags, 3), NULL, 10);
	return strtoul(flags, NULL, 16) & LISTENING;
}

static bool has_socket_open(const struct procfs *proc, const struct jvm *jvm, uint64_t inode)
{
	int fd = procfs_openat(proc, jvm->pid, "fd", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char wanted[40], target[40];
	struct fs_ids saved;
	bool found = false, tried = false, taken = false;

	if (!dir) {
		util_close_p(&fd);
		return false;
	}
	(void)snprintf(wanted, sizeof(wanted), "socket:[%" PRIu64 "]", inode);
	for (const struct dirent *entry; !found && (entry = readdir(dir)) != NULL;) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));

		/*
		 * CAP_DAC_READ_SEARCH permits opening the directory, but not reading its links,
		 * which needs the JVM's ids or CAP_SYS_PTRACE.
		 */
		if (n < 0 && errno == EACCES && !tried) {
			tried = true;
			taken = procfs_take_ids(proc, jvm->pid, &saved);
			n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));
		}
		found = n == (ssize_t)strlen(wanted) && memcmp(target, wanted, (size_t)n) == 0;
	}
	if (taken)
		fs_ids_restore(&saved);
	(void)closedir(dir); /* read-only: nothing to flush */
	return found;
}

/*
 * Returns true if the JVM listens on its socket file, which exists but may be left over from a
 * killed JVM.  If containers use the host's network, net/unix shows the sockets of several
 * containers, and JVMs in two of them may have sockets with the same path.  So for a JVM in a pid
 * namespace of its own, the function checks in addition that the JVM has the socket open.
 */
static bool is_listened_to(const struct procfs *proc, const struct jvm *jvm)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = procfs_read(proc, jvm->pid, "net/unix", &text, UNIX_MAX);

	if (rc < 0 && rc != -EFBIG)
		return false;
	for (const char *line = buf_str(&text); *line;) {
		size_t len = strcspn(line, "\n");
		uint64_t inode;

		if (is_attach_path(jvm, line, len) && is_listener(line, &inode) &&
		    (jvm->nspid == jvm->pid || has_socket_open(proc, jvm, inode)))
			return true;
		line += len + (line[len] == '\n');
	}
	return false;
}

static bool is_not_attach_thread(const char *name, void *found)
{
	*(bool *)found = strcmp(name, "Attach Listener") == 0;
	return !*(bool *)found;
}

/*
 * Returns true if the JVM has HotSpot's Attach Listener thread, which starts when attaching is set
 * up and never ends.
 */
static bool has_attach_thread(const struct procfs *proc, pid_t pid)
{
	bool found = false;

	return procfs_thread_names(proc, pid, is_not_attach_thread, &found) == 0 && found;
}

static bool is_tmp_read_only(const struct jvm *jvm, int root_fd)
{
	_cleanup_close_ int dir = inroot_open(root_fd, jvm_tmp(jvm), O_DIRECTORY);
	struct statvfs fs;

	return dir >= 0 && fstatvfs(dir, &fs) == 0 && fs.f_flag & ST_RDONLY;
}

enum attach_state inspect_attach_state(const struct procfs *proc, const struct jvm *jvm)
{
	struct proc_status status;
	_cleanup_close_ int root_fd = mounts_open_root(proc, jvm->pid);

	if (root_fd == -EACCES || root_fd == -EPERM)
		return ATTACH_DENIED;
	if (root_fd < 0)
		return ATTACH_STARTING; /* the JVM has exited; attaching will report this */
	if (!jvm->is_hotspot)
		return ATTACH_UNSUPPORTED;
	if (jvm->no_attach)
		return ATTACH_DISABLED;
	if (has_socket_file(jvm, root_fd) && is_listened_to(proc, jvm))
		return ATTACH_LISTENING;
	if (procfs_status(proc, jvm->pid, &status) < 0)
		return ATTACH_STARTING;
	if (status.sig_caught & 1ULL << (SIGQUIT - 1))
		return is_tmp_read_only(jvm, root_fd) ? ATTACH_READ_ONLY : ATTACH_READY;
	/*
	 * With -Xrs the JVM does not catch SIGQUIT, but opens its socket at startup.  If the socket
	 * is gone, only a completed startup distinguishes such a JVM from one that is starting.
	 */
	if (jvm->initialised || has_attach_thread(proc, jvm->pid))
		return ATTACH_DISABLED;
	return ATTACH_STARTING;
}

/*
 * The request to the worker.  Its pointers are valid in the worker, which is a fork of this
 * process.
 */
struct query {
	const struct procfs *proc;
	const struct jvm *jvm;
};

static int answer_state(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	struct query q;

	(void)fd;
	(void)err;
	memcpy(&q, request->data, sizeof(q));
	buf_addc(answer, (char)inspect_attach_state(q.proc, q.jvm));
	return 0;
}

enum attach_state discover_attach_state(const struct procfs *proc, const struct jvm *jvm)
{
	struct query q = { proc, jvm };
	const struct buf request = { (char *)&q, sizeof(q), 0 };
	const struct worker_call call = {
		.fn = answer_state, .request = &request, .max = 1,
		.deadline = deadline_in_ms(WORKER_TASK_MS),
		.here = mounts_are_local(proc, jvm->pid),
	};
	_cleanup_buf_ struct buf answer = BUF_INIT;
	struct err ignored = { .code = EXIT_DONE };

	if (jvm->hung || worker_run(&call, &proc->fd, 1, &answer, NULL, &ignored) != 0 ||
	    answer.len != 1 || (unsigned char)*answer.data > ATTACH_LAST)
		return ATTACH_UNREACHABLE;
	return (enum attach_state)*answer.data;
}
