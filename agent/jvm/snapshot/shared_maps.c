#include "jvm/snapshot/shared_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reads a hexadecimal number and returns its end. */
static const char *read_hex(const char *at, const char *end, uint64_t *value)
{
	*value = 0;
	for (; at < end; at++) {
		unsigned digit;

		if (*at >= '0' && *at <= '9')
			digit = (unsigned)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			digit = (unsigned)(*at - 'a') + 10;
		else
			break;
		*value = *value << 4 | digit;
	}
	return at;
}

static void add(struct ag_shared_maps *maps, uint64_t from, uint64_t to)
{
	struct ag_shared_range *last = maps->n > 0 ? &maps->list[maps->n - 1] : NULL;

	if (last && (last->to == from || maps->n == AG_SHARED_MAPS_MAX))
		last->to = to;
	else
		maps->list[maps->n++] = (struct ag_shared_range){ from, to };
}

/* The line of a writable shared mapping begins, for example, with "7f10a000-7f10b000 rw-s ". */
void ag_shared_maps_line(struct ag_shared_maps *maps, const char *line, size_t len,
			 const void *but)
{
	const char *end = line + len, *at;
	uint64_t from, to;

	at = read_hex(line, end, &from);
	if (at == end || *at != '-')
		return;
	at = read_hex(at + 1, end, &to);
	if (end - at < 5 || at[0] != ' ' || at[2] != 'w' || at[4] != 's')
		return;
	if (but && from == (uint64_t)(uintptr_t)but)
		return;
	add(maps, from, to);
	if (but && syscall(SYS_mprotect, from, to - from, at[1] == 'r' ? PROT_READ : PROT_NONE) < 0)
		maps->error = errno;
}

/*
 * Handles all complete lines in the buffer.  Moves the incomplete line after them to the front of
 * the buffer, and returns the length of that line.
 */
static size_t take_lines(struct ag_shared_maps *maps, size_t len, const void *but)
{
	char *line = maps->buffer, *newline;

	while ((newline = memchr(line, '\n', len)) != NULL) {
		size_t n = (size_t)(newline - line);

		ag_shared_maps_line(maps, line, n, but);
		line += n + 1;
		len -= n + 1;
	}
	memmove(maps->buffer, line, len);
	return len;
}

int ag_shared_maps_read(struct ag_shared_maps *maps, const void *but)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	int rc = 0;

	maps->n = 0;
	maps->error = 0;
	if (fd < 0)
		return errno;
	for (;;) {
		ssize_t n = syscall(SYS_read, fd, maps->buffer + len, sizeof(maps->buffer) - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = errno;
		if (n <= 0)
			break;
		len = take_lines(maps, len + (size_t)n, but);
		if (len == sizeof(maps->buffer)) {
			rc = EINVAL; /* unexpected: no path is so long */
			break;
		}
	}
	(void)syscall(SYS_close, fd); /* read-only descriptor, nothing to flush */
	return rc != 0 ? rc : maps->error;
}

bool ag_shared_maps_has(const struct ag_shared_maps *maps, uint64_t address)
{
	uint32_t from = 0, to = maps->n;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (address >= maps->list[middle].to)
			from = middle + 1;
		else
			to = middle;
	}
	return from < maps->n && address >= maps->list[from].from;
}
