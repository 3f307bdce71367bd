#include "proc/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/xalloc.h"
#include "fileio/file_open.h"
#include "fileio/io.h"

#define MOUNTINFO_MAX (16u << 20)
#define FDINFO_MAX 4096
#define VALID_NS 500000000 /* the cached text of self/mountinfo expires after this many ns */

/*
 * index of POINT in a line of mountinfo, which is ID PARENT MAJOR:MINOR ROOT POINT OPTIONS
 * [OPTIONAL...] - TYPE …
 */
#define FIELD_POINT 4
#define DEPTH_MAX 64  /* maximum number of mounts on one another that mount_find() follows */
#define ANY ULONG_MAX /* in the place of a mount's ID: any mount */

void mount_release(struct mount *m)
{
	free(m->point);
	free(m->type);
	*m = (struct mount){ NULL, NULL };
}

void mount_unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static char *unescaped(const char *text, size_t len)
{
	char *copy = xstrndup(text, len);

	mount_unescape(copy);
	return copy;
}

/*
 * Returns field n, counted from 0, of a line of `len` bytes.  Sets *n_bytes to the length of the
 * field, which does not end with NUL.
 */
static const char *field(const char *line, size_t len, int n, size_t *n_bytes)
{
	const char *end = line + len;

	for (; n > 0 && line; n--) {
		line = memchr(line, ' ', (size_t)(end - line));
		line = line ? line + 1 : NULL;
	}
	if (line) {
		const char *blank = memchr(line, ' ', (size_t)(end - line));

		*n_bytes = (size_t)((blank ? blank : end) - line);
	}
	return line;
}

static bool is_below(const char *path, const char *point)
{
	size_t len = strlen(point);

	if (strcmp(point, "/") == 0)
		return true;
	return strncmp(path, point, len) == 0 && (path[len] == '/' || !path[len]);
}

/*
 * Returns the file system type in a line of mountinfo, and sets *n_bytes to the length of the type.
 * Returns NULL if the line has no type.
 */
static const char *find_type(const char *line, size_t len, size_t *n_bytes)
{
	const char *dash = memmem(line, len, " - ", 3);

	return dash ? field(dash + 3, len - (size_t)(dash + 3 - line), 0, n_bytes) : NULL;
}

/* Returns true if a line of mountinfo is of a mount on the mount `parent`, or on any (ANY). */
static bool is_mounted_on(const char *line, unsigned long parent)
{
	char *end;
	unsigned long id = strtoul(line, &end, 10);

	return parent == ANY || (id != parent && strtoul(end, NULL, 10) == parent);
}

/*
 * Returns the line of the mount on `parent` that contains the path; NULL if there is none.  If
 * several mounts contain the path, returns the line of the mount with the shortest point: the
 * kernel follows a path from its start, so this mount hides the others.
 */
static const char *find_child(const char *mountinfo, const char *path, unsigned long parent)
{
	const char *found = NULL;
	size_t shortest = SIZE_MAX;

	for (const char *line = mountinfo; *line;) {
		size_t len = strcspn(line, "\n"), n = 0, type_len;
		const char *at = field(line, len, FIELD_POINT, &n);
		_cleanup_free_ char *point = NULL;

		if (at && n < shortest && is_mounted_on(line, parent) &&
		    find_type(line, len, &type_len))
			point = unescaped(at, n);
		if (point && is_below(path, point)) {
			found = line;
			shortest = n;
		}
		line += len + (line[len] == '\n');
	}
	return found;
}

/*
 * Follows the ids of the mounts, because the lines are in no fixed order: systemd moves the root
 * mount after the mounts below it.
 */
bool mount_find(const char *mountinfo, const char *path, struct mount *m)
{
	const char *line = NULL, *next = find_child(mountinfo, path, ANY), *point, *type;
	size_t len, point_len = 0, type_len = 0;

	*m = (struct mount){ NULL, NULL };
	for (int depth = 0; next && depth < DEPTH_MAX; depth++) {
		line = next;
		next = find_child(mountinfo, path, strtoul(line, NULL, 10));
	}
	if (!line)
		return false;
	len = strcspn(line, "\n");
	point = field(line, len, FIELD_POINT, &point_len);
	type = find_type(line, len, &type_len);
	*m = (struct mount){ unescaped(point, point_len), unescaped(type, type_len) };
	return true;
}

bool mount_may_hang(const char *type)
{
	static const char *const types[] = {
		"fuse", "nfs", "cifs", "smb", "9p", "ceph", "afs", "lustre", "gfs", "ocfs",
		"glusterfs", "virtiofs", "vboxsf", "coda", "orangefs", "autofs",
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strncmp(type, types[i], strlen(types[i])) == 0)
			return true;
	}
	return false;
}

/*
 * Returns true if a mount of this type, at this point, needs no server.  `type`, of `len` bytes,
 * and `point` are parts of a line of mountinfo, so neither ends with NUL.
 */
static bool needs_no_server(const char *type, size_t len, const char *point)
{
	static const char *const types[] = {
		"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs",
		"tmpfs", "ramfs", "rootfs", "overlay", "squashfs", "erofs", "iso9660", "vfat",
		"exfat", "ntfs3", "devtmpfs", "devpts", "proc", "sysfs", "cgroup", "cgroup2",
		"cpuset", "securityfs", "selinuxfs", "debugfs", "tracefs", "configfs", "pstore",
		"bpf", "efivarfs", "mqueue", "hugetlbfs", "binfmt_misc", "nsfs", "fusectl",
		"rpc_pipefs", "nfsd",
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strlen(types[i]) == len && memcmp(type, types[i], len) == 0)
			return true;
	}
	/* An autofs below /proc needs no server: it is systemd's automount for binfmt_misc. */
	return len == 6 && memcmp(type, "autofs", 6) == 0 && strncmp(point, "/proc/", 6) == 0;
}

bool mounts_need_no_server(const char *mountinfo)
{
	for (const char *line = mountinfo; *line;) {
		size_t len = strcspn(line, "\n"), point_len = 0, type_len = 0;
		const char *point = field(line, len, FIELD_POINT, &point_len);
		const char *type = find_type(line, len, &type_len);

		if (!point || !type || !needs_no_server(type, type_len, point))
			return false;
		line += len + (line[len] == '\n');
	}
	return *mountinfo != '\0';
}

/*
 * The cached text of self/mountinfo.  The text is cached, because the kernel takes longer for it
 * than for any other file that jtool reads.
 */
struct own {
	int64_t until_ns; /* when the text expires, by monotonic_ns() */
	bool is_local;
	char *ns;        /* target of the link self/ns/mnt */
	struct buf text; /* content of self/mountinfo */
	int rc;          /* 0, or the negative errno of reading self/mountinfo */
};

static void read_own(struct own *own, const struct procfs *proc)
{
	char link[64];
	ssize_t n = readlinkat(proc->fd, "self/ns/mnt", link, sizeof(link));

	free(own->ns);
	own->ns = n > 0 ? xstrndup(link, (size_t)n) : NULL;
	buf_reset(&own->text);
	own->rc = procfs_read_own(proc, "mountinfo", &own->text, MOUNTINFO_MAX);
	own->is_local = own->ns && own->rc == 0 && mounts_need_no_server(buf_str(&own->text));
	own->until_ns = monotonic_ns() + VALID_NS;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct own cached;

/*
 * Locks the cache, and updates it if it has expired.  Returns false if another thread has the lock.
 * Does not wait for the lock: if this process was forked while another thread of the parent had the
 * lock, nobody would ever release it here.
 */
static bool cache_lock(const struct procfs *proc)
{
	if (pthread_mutex_trylock(&lock) != 0)
		return false;
	if (monotonic_ns() >= cached.until_ns)
		read_own(&cached, proc);
	return true;
}

static bool is_real(const struct procfs *proc)
{
	return strcmp(proc->root, "/proc") == 0;
}

int mounts_read_own(const struct procfs *proc, struct buf *out)
{
	int rc;

	if (!is_real(proc) || !cache_lock(proc))
		return procfs_read_own(proc, "mountinfo", out, MOUNTINFO_MAX);
	rc = cached.rc;
	if (rc == 0)
		buf_add(out, cached.text.data, cached.text.len);
	(void)pthread_mutex_unlock(&lock);
	return rc;
}

static bool is_in_our_ns(const struct own *own, const struct procfs *proc, pid_t pid)
{
	_cleanup_free_ char *ns = procfs_readlink(proc, pid, "ns/mnt");

	if (!ns) /* if this is denied, so are all files of the process, and no read can block */
		return errno == EACCES || errno == EPERM;
	return strcmp(ns, own->ns) == 0;
}

bool mounts_of_ns_are_local(const struct procfs *proc, pid_t pid)
{
	struct own own = { .text = BUF_INIT };
	bool local;

	if (!is_real(proc))
		return false;
	if (cache_lock(proc)) {
		local = cached.is_local && is_in_our_ns(&cached, proc, pid);
		(void)pthread_mutex_unlock(&lock);
		return local;
	}
	read_own(&own, proc);
	local = own.is_local && is_in_our_ns(&own, proc, pid);
	free(own.ns);
	buf_release(&own.text);
	return local;
}

/* For a root directory that is not below jtool's, the link PID/root is "(unreachable)/…". */
bool mounts_are_below_our_root(const struct procfs *proc, pid_t pid)
{
	_cleanup_free_ char *root = procfs_readlink(proc, pid, "root");

	return root ? *root == '/' : errno == EACCES || errno == EPERM;
}

bool mounts_are_local(const struct procfs *proc, pid_t pid)
{
	return mounts_of_ns_are_local(proc, pid) && mounts_are_below_our_root(proc, pid);
}

/* Returns the length in bytes of the fields up to and including the mount point. */
static size_t length_to_point(const char *line)
{
	size_t len = strcspn(line, "\n"), n = 0;
	const char *point = field(line, len, FIELD_POINT, &n);

	return point ? (size_t)(point - line) + n : 0;
}

/*
 * Compares only the first line of both texts, up to and including the mount point.  That is enough,
 * because processes with the same root directory see the same mounts in the same order.
 */
bool mounts_have_same_root(const char *mountinfo, const char *other)
{
	size_t len = length_to_point(mountinfo);

	return len > 0 && length_to_point(other) == len && memcmp(mountinfo, other, len) == 0;
}

static bool has_our_root(const struct procfs *proc, pid_t pid)
{
	_cleanup_buf_ struct buf own_mounts = BUF_INIT, mounts = BUF_INIT;
	struct proc_status status;

	return is_real(proc) && procfs_status(proc, pid, &status) == 0 &&
	       status.euid == geteuid() && status.egid == getegid() &&
	       procfs_read(proc, pid, "mountinfo", &mounts, MOUNTINFO_MAX) == 0 &&
	       mounts_read_own(proc, &own_mounts) == 0 &&
	       mounts_have_same_root(buf_str(&mounts), buf_str(&own_mounts));
}

int mounts_open_root(const struct procfs *proc, pid_t pid)
{
	int fd = procfs_openat(proc, pid, "root", O_PATH | O_DIRECTORY);

	if ((fd == -EACCES || fd == -EPERM) && has_our_root(proc, pid))
		return file_open_path(AT_FDCWD, "/", O_DIRECTORY);
	return fd;
}

bool mounts_have_file(const struct procfs *proc, int fd)
{
	_cleanup_buf_ struct buf info = BUF_INIT, mounts = BUF_INIT;
	const char *at;
	char path[40], line[24];
	unsigned long id;

	(void)snprintf(path, sizeof(path), "fdinfo/%d", fd);
	if (procfs_read_own(proc, path, &info, FDINFO_MAX) < 0 ||
	    procfs_read_own(proc, "mountinfo", &mounts, MOUNTINFO_MAX) < 0)
		return false;
	at = strstr(buf_str(&info), "mnt_id:");
	if (!at)
		return false;
	id = strtoul(at + strlen("mnt_id:"), NULL, 10);
	(void)snprintf(line, sizeof(line), "%lu ", id);
	if (strncmp(buf_str(&mounts), line, strlen(line)) == 0)
		return true;
	(void)snprintf(line, sizeof(line), "\n%lu ", id);
	return strstr(buf_str(&mounts), line) != NULL;
}
