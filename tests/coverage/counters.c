/*
 * Keeps the counters of a program or library, which is compiled for coverage, in a shared file.
 *
 * libgcov writes counters when a process exits.  Many of the processes that are measured here end
 * otherwise: by SIGKILL, by _exit(), under a seccomp filter without open(2), or as a JVM with the
 * agent.  So a constructor maps a file over the counters, and every process counts in that file,
 * as do the processes that it forks.  The file's name is the build id, and its directory is
 * COUNTERS; a process that does not find that directory, for example in another root, is not
 * counted.
 *
 * With JTOOL_COVERAGE_WRITE in the environment, a program does nothing but adds what the file has
 * to its .gcda files.  See scripts/coverage.
 *
 * Concurrent increments of a counter may be lost, but no counter that was incremented is 0.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* The counters are a section of their own, with complete pages; see counters.ld. */
extern char counters_begin[] HIDDEN;
extern char counters_end[] HIDDEN;
extern const char __ehdr_start[] HIDDEN;

/* Descriptions of the compiled files, gathered by -fprofile-info-section=gcov_info. */
struct gcov_info;
extern struct gcov_info *const __start_gcov_info[] __attribute__((weak)) HIDDEN;
extern struct gcov_info *const __stop_gcov_info[] __attribute__((weak)) HIDDEN;
void __gcov_init(struct gcov_info *info);
void __gcov_dump(void);

/* Writes the build id, which one of these notes may have, in hexadecimal to `name`. */
static int read_notes(const char *at, const char *end, char *name, size_t size)
{
	while (end - at > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		const char *id = at + sizeof(*note) + ((note->n_namesz + 3) & ~3u);

		if (note->n_type == NT_GNU_BUILD_ID && 2 * note->n_descsz < size) {
			for (unsigned i = 0; i < note->n_descsz; i++) {
				*name++ = "0123456789abcdef"[(id[i] >> 4) & 15];
				*name++ = "0123456789abcdef"[id[i] & 15];
			}
			*name = '\0';
			return 1;
		}
		at = id + ((note->n_descsz + 3) & ~3u);
	}
	return 0;
}

/* Writes the build id in hexadecimal to `name`.  Returns 0 if there is none. */
static int build_id(char *name, size_t size)
{
	const ElfW(Ehdr) *header = (const void *)__ehdr_start;
	const ElfW(Phdr) *segments = (const void *)(__ehdr_start + header->e_phoff);
	const char *base = header->e_type == ET_EXEC ? NULL : __ehdr_start;

	for (int i = 0; i < header->e_phnum; i++) {
		const char *at = base + segments[i].p_vaddr;

		if (segments[i].p_type == PT_NOTE &&
		    read_notes(at, at + segments[i].p_memsz, name, size))
			return 1;
	}
	return 0;
}

/* Maps the file over the counters.  Returns 0 if that is impossible. */
static int share(void)
{
	char path[sizeof(COUNTERS) + 2 * 64 + 1] = COUNTERS "/";
	size_t size = (size_t)(counters_end - counters_begin);
	void *at = MAP_FAILED;
	int fd;

	if (size == 0 || !build_id(path + sizeof(COUNTERS), sizeof(path) - sizeof(COUNTERS)))
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return 0;
	if (ftruncate(fd, (off_t)size) == 0)
		at = mmap(counters_begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			  0);
	(void)close(fd);
	return at != MAP_FAILED;
}

static void __attribute__((constructor(101))) start(void)
{
	int saved = errno;
	int shared = share();

	if (getenv("JTOOL_COVERAGE_WRITE")) {
		for (struct gcov_info *const *info = __start_gcov_info;
		     shared && info < __stop_gcov_info; info++)
			__gcov_init(*info);
		__gcov_dump();
		_exit(0);
	}
	errno = saved;
}

/* The compiler replaces fork() and exec*(): libgcov's versions would write and reset counters. */
pid_t __gcov_fork(void) HIDDEN;
pid_t __gcov_fork(void)
{
	return fork();
}

int __gcov_execv(const char *path, char *const argv[]) HIDDEN;
int __gcov_execv(const char *path, char *const argv[])
{
	return execv(path, argv);
}

int __gcov_execvp(const char *path, char *const argv[]) HIDDEN;
int __gcov_execvp(const char *path, char *const argv[])
{
	return execvp(path, argv);
}

int __gcov_execve(const char *path, char *const argv[], char *const envp[]) HIDDEN;
int __gcov_execve(const char *path, char *const argv[], char *const envp[])
{
	return execve(path, argv, envp);
}

/*
 * Replaces syscall(): the child in which the agent takes a snapshot makes all shared mappings of
 * its process read-only, and this one must stay writable.  Weak, because a test may have its own.
 */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) HIDDEN __attribute__((weak));
long __wrap_syscall(long number, ...)
{
	long args[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_mprotect && args[0] == (long)(uintptr_t)counters_begin)
		return 0;
	return __real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}
