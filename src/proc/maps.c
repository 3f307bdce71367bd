/*
 * Visits the mappings of a process.  Reading PID/maps takes 130 µs for a JVM, because the kernel
 * formats every mapping; PROCMAP_QUERY (Linux 6.11) for files alone takes a quarter of that.
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
	uint64_t size, flags, address;           /* in */
	uint64_t start, end, vma_flags, page_size, offset, inode; /* out */
	uint32_t dev_major, dev_minor;
	uint32_t name_size, build_id_size;       /* in: 0 for none; out: length with the NUL */
	uint64_t name_address, build_id_address; /* in */
};
#define QUERY _IOWR('f', 17, struct query)
#define QUERY_THIS_OR_NEXT 0x10
#define QUERY_OF_FILES 0x20
#define QUERY_EXECUTABLE 0x04

struct search {
	bool code; /* only executable mappings */
	procfs_map_visit *visit;
	void *arg;
};

static bool cut_suffix(char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	if (len < n || strcmp(text + len - n, suffix) != 0)
		return false;
	text[len - n] = '\0';
	return true;
}

static bool visit_mapping(char *path, size_t len, const char *range, const struct search *s)
{
	struct proc_map map = { .path = path, .range = range };

	map.deleted = cut_suffix(path, len, " (deleted)");
	return *path != '/' || s->visit(&map, s->arg);
}

/* Queries the first file mapping that ends after an address; name_size 0: without the name. */
static int query_map(int fd, const struct search *s, uint64_t address, char *name, size_t name_size,
	       struct query *q)
{
	*q = (struct query){
		.size = sizeof(*q),
		.flags = QUERY_THIS_OR_NEXT | QUERY_OF_FILES | (s->code ? QUERY_EXECUTABLE : 0),
		.address = address,
		.name_size = (uint32_t)name_size,
		.name_address = (uintptr_t)name,
	};
	return ioctl(fd, QUERY, q) < 0 ? -errno : 0;
}

/*
 * Visits the first mapping of each file.  The mappings of a library are adjacent, and the name,
 * which is the expensive part, is queried once.
 */
static int query_maps(int fd, const struct search *s)
{
	struct query q, last = { .inode = 0 };
	uint64_t address = 0;

	for (;;) {
		char name[PATH_MAX + 16] = "", range[40];
		int rc = query_map(fd, s, address, NULL, 0, &q);

		if (rc < 0)
			return rc == -ENOENT ? 0 : rc;
		address = q.end;
		if (q.inode == last.inode && q.dev_major == last.dev_major &&
		    q.dev_minor == last.dev_minor)
			continue;
		last = q;
		/* Skip a mapping that is gone by now, or whose name is longer than a path. */
		if (query_map(fd, s, q.start, name, sizeof(name), &q) < 0 || q.start != last.start)
			continue;
		(void)snprintf(range, sizeof(range), "%" PRIx64 "-%" PRIx64, q.start, q.end);
		if (!visit_mapping(name, strlen(name), range, s))
			return 0;
	}
}

/* Returns whether a line "START-END rwxp …" has the permission x. */
static bool is_code(const char *line, size_t len)
{
	const char *perms = memchr(line, ' ', len);

	return perms && len - (size_t)(perms - line) > 3 && perms[3] == 'x';
}

/* Visits a line of maps, without its newline.  The fields before the path contain no slash. */
static bool visit_line(char *line, size_t len, const struct search *s)
{
	char *path = memchr(line, '/', len);

	if (!path || (s->code && !is_code(line, len)))
		return true;
	line[len] = '\0';
	line[strcspn(line, " /")] = '\0';
	return visit_mapping(path, len - (size_t)(path - line), line, s);
}

static int read_maps(int fd, const struct search *s)
{
	/* The longest line: a path with each byte escaped as four, and the numbers before it. */
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

static int search_maps(const struct procfs *proc, pid_t pid, const struct search *s)
{
	_cleanup_close_ int fd = procfs_openat(proc, pid, "maps", O_RDONLY);
	int rc;

	if (fd < 0)
		return fd;
	rc = query_maps(fd, s);
	/* ENOTTY: an older kernel, or a recorded copy of /proc; nothing was visited yet. */
	return rc == -ENOTTY ? read_maps(fd, s) : rc;
}

int procfs_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
{
	return search_maps(proc, pid, &(struct search){ false, visit, arg });
}

int procfs_code_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
{
	return search_maps(proc, pid, &(struct search){ true, visit, arg });
}
