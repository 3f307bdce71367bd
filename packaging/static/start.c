/*
 * Start of the static program: what musl's start file does not do, and a dynamic linker would.
 *
 * - Relocations in the packed format (DT_RELR), which musl knows from 1.2.4 on, are applied.
 *   Unpacked, they would be a tenth of the program.  The start file applies the others and calls
 *   __libc_start_main(); --wrap of the linker makes that a call of the function below, before
 *   anything of libc runs.  So this file is compiled without stack protector, which libc has not
 *   set up yet.
 * - Data that is constant after relocation (PT_GNU_RELRO) is made read-only.
 */
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern const ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

#ifndef DT_RELR /* not in the headers of musl before 1.2.4 */
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

/* A pointer that has a relocation.  It points to itself as soon as relocations are applied. */
static const volatile void *volatile self = &self;

int main(int argc, char **argv);
void _init(void);
void _fini(void);
int __real___libc_start_main(int (*entry)(int, char **), int argc, char **argv, void (*init)(void),
			     void (*fini)(void), void (*rtld_fini)(void));
int __wrap___libc_start_main(int (*entry)(int, char **), int argc, char **argv, void (*init)(void),
			     void (*fini)(void), void (*rtld_fini)(void));

static size_t dynamic_value(ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == tag)
			return d->d_un.d_val;
	}
	return 0;
}

/*
 * An even entry is the address of a word to relocate.  An odd one is a bitmap of the words after
 * those of the entry before: bit 1 is the first.
 */
static void relocate(size_t base)
{
	const size_t *entry = (const size_t *)(base + dynamic_value(DT_RELR));
	const size_t *end = entry + dynamic_value(DT_RELRSZ) / sizeof(*entry);
	size_t *word = NULL;

	for (; entry < end; entry++) {
		if ((*entry & 1) == 0) {
			word = (size_t *)(base + *entry);
			*word++ += base;
			continue;
		}
		for (size_t bits = *entry >> 1, i = 0; bits; bits >>= 1, i++) {
			if (bits & 1)
				word[i] += base;
		}
		word += CHAR_BIT * sizeof(*word) - 1;
	}
}

/* The caller may have read `entry`, `init` and `fini` from words that were not relocated. */
int __wrap___libc_start_main(int (*entry)(int, char **), int argc, char **argv, void (*init)(void),
			     void (*fini)(void), void (*rtld_fini)(void))
{
	(void)entry;
	(void)init;
	(void)fini;
	if (self != &self)
		relocate((size_t)&__ehdr_start);
	return __real___libc_start_main(main, argc, argv, _init, _fini, rtld_fini);
}

/* Runs before main(), when libc is set up. */
__attribute__((constructor)) static void protect(void)
{
	static const char message[] = "jtool: cannot make its constants read-only: no memory\n";
	size_t base = (size_t)&__ehdr_start, page = (size_t)getpagesize();
	const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(base + __ehdr_start.e_phoff);

	for (size_t i = 0; i < __ehdr_start.e_phnum; i++, segment++) {
		size_t begin = (base + segment->p_vaddr) & ~(page - 1);
		size_t end = (base + segment->p_vaddr + segment->p_memsz) & ~(page - 1);

		if (segment->p_type == PT_GNU_RELRO && end > begin &&
		    mprotect((void *)begin, end - begin, PROT_READ) != 0) {
			(void)write(STDERR_FILENO, message, sizeof(message) - 1);
			_exit(127);
		}
	}
}
