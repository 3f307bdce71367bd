/*
 * Visits the mappings of a process.  Reading PID/maps takes 130 µs for a JVM, because the kernel
 * formats every mapping.  With the ioctl PROCMAP_QUERY (Linux 6.11 and later), the visit takes a
 * quarter of that time, because jtool queries only the mappings of files.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fileio/io.h"
#include "proc/procfs.h"

/* struct procmap_query and PROCMAP_QUERY of linux/fs.h, which older kernel headers lack. */
struct query {
	uint64_t size, flags, address; /* in: the caller sets them */
	uint64_t start, end, vma_flags, page_size, offset, inode; /* out: the kernel sets them */
	uint32_t dev_major, dev_minor;
	/* in: size of the buffer, or 0 if there is none; out: bytes stored, with a path's NUL */
	uint32_t name_size, build_id_size;
	uint64_t name_address, build_id_address; /* in: the buffers */
};
#define QUERY _IOWR('f', 17, struct query)
#define QUERY_THIS_OR_NEXT 0x10
#define QUERY_OF_FILES 0x20
#define QUERY_EXECUTABLE 0x04
#define QUERY_SHARED 0x08

struct search {
	uint64_t kinds; /* QUERY_EXECUTABLE | QUERY_SHARED: visit these kinds; 0: all mappings */
	procfs_map_visit *visit;
	void *arg;
	bool is_done; /* visit() has returned false */
};

static bool cut_suffix(char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	if (len < n || strcmp(text + len - n, suffix) != 0)
		return false;
	text[len - n] = '\0';
	return true;
}

static bool visit_mapping(char *path, size_t len, const char *range, struct search *s)
{
	struct proc_map map = { .path = path, .range = range };

	map.deleted = cut_suffix(path, len, " (deleted)");
	s->is_done = *path == '/' && !s->visit(&map, s->arg);
	return !s->is_done;
}

/*
 * Queries the first mapping that is of a file, is of this kind and ends after `address`.  If
 * name_size is 0, does not query the path of the file.
 */
static int query_map(int fd, uint64_t kind, uint64_t address, char *name, size_t name_size,
		     struct query *q)
{
	*q = (struct query){
		.size = sizeof(*q),
		.flags = QUERY_THIS_OR_NEXT | QUERY_OF_FILES | kind,
		.address = address,
		.name_size = (uint32_t)name_size,
		.name_address = (uintptr_t)name,
	};
	return ioctl(fd, QUERY, q) < 0 ? -errno : 0;
}

/*
 * Visits the first mapping of this kind of each file.  Queries the path of a file only once,
 * because this query takes longest: skips a mapping if it is of the same file as the previous
 * mapping.  The mappings of a file are normally adjacent.
 */
static int query_kind(int fd, uint64_t kind, struct search *s)
{
	struct query q, last = { .inode = 0 };
	uint64_t address = 0;

	for (;;) {
		char name[PATH_MAX + 16] = "", range[40];
		int rc = query_map(fd, kind, address, NULL, 0, &q);

		if (rc < 0)
			return rc == -ENOENT ? 0 : rc;
		address = q.end;
		if (q.inode == last.inode && q.dev_major == last.dev_major &&
		    q.dev_minor == last.dev_minor)
			continue;
		last = q;
		/*
		 * Skip the mapping if it does not exist any more, or if its path is longer than
		 * PATH_MAX.
		 */
		if (query_map(fd, kind, q.start, name, sizeof(name), &q) < 0 ||
		    q.start != last.start)
			continue;
		(void)snprintf(range, sizeof(range), "%" PRIx64 "-%" PRIx64, q.start, q.end);
		if (!visit_mapping(name, strlen(name), range, s))
			return 0;
	}
}

/*
 * Queries each kind on its own, because one query with several kinds finds only mappings that are
 * of all these kinds.
 */
static int query_maps(int fd, struct search *s)
{
	static const uint64_t kinds[] = { QUERY_EXECUTABLE, QUERY_SHARED };
	int rc = 0;

	if (s->kinds == 0)
		return query_kind(fd, 0, s);
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && rc == 0 && !s->is_done; i++) {
		if (s->kinds & kinds[i])
			rc = query_kind(fd, kinds[i], s);
	}
	return rc;
}

/* Returns true if a line "START-END rwxp …" describes a mapping of one of the kinds. */
static bool is_of_kind(const char *line, size_t len, uint64_t kinds)
{
	const char *perms = memchr(line, ' ', len);

	if (kinds == 0)
		return true;
	if (!perms || len - (size_t)(perms - line) < 5)
		return false;
	return (kinds & QUERY_EXECUTABLE && perms[3] == 'x') ||
	       (kinds & QUERY_SHARED && perms[4] == 's');
}

/*
 * Visits the mapping that a line of PID/maps describes.  `len` does not include the newline.  In a
 * line, only the path contains a slash.
 */
static bool visit_line(char *line, size_t len, struct search *s)
{
	char *path = memchr(line, '/', len);

	if (!path || !is_of_kind(line, len, s->kinds))
		return true;
	line[len] = '\0';
	line[strcspn(line, " /")] = '\0';
	return visit_mapping(path, len - (size_t)(path - line), line, s);
}

static int read_maps(int fd, struct search *s)
{
	/*
	 * Room for the longest line: a path in which the kernel has escaped each byte as four
	 * bytes, and the numbers before the path.
	 */
	char chunk[4 * PATH_MAX + 4096];
	size_t have = 0;

	for (;;) {
		char *line = chunk, *end;
		ssize_t n = io_read(fd, chunk + have, sizeof(chunk) - have);

		if (n <= 0)
			return (int)n;
		have += (size_t)n;
		while ((end = memchr(line, '\n', have)) != NULL) {
			size_t len = (size_t)(end - line);

			if (!visit_line(line, len, s))
				return 0;
			have -= len + 1;
			line = end + 1;
		}
		if (have == sizeof(chunk))
			return -EBADMSG;
		memmove(chunk, line, have);
	}
}

static int search_maps(const struct procfs *proc, pid_t pid, struct search *s)
{
	_cleanup_close_ int fd = procfs_openat(proc, pid, "maps", O_RDONLY);
	int rc;

	if (fd < 0)
		return fd;
	rc = query_maps(fd, s);
	/*
	 * ENOTTY: the kernel does not have PROCMAP_QUERY, or the file is in a recorded copy of
	 * /proc.  ENOSYS: an emulator of system calls does not know the ioctl (QEMU).  No mapping
	 * was visited yet, so read the file from its start.
	 */
	return rc == -ENOTTY || rc == -ENOSYS ? read_maps(fd, s) : rc;
}

int procfs_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
{
	return search_maps(proc, pid, &(struct search){ 0, visit, arg, false });
}

int procfs_code_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
{
	return search_maps(proc, pid, &(struct search){ QUERY_EXECUTABLE, visit, arg, false });
}

int procfs_vm_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
{
	struct search s = { QUERY_EXECUTABLE | QUERY_SHARED, visit, arg, false };

	return search_maps(proc, pid, &s);
}
