/*
 * Included before each source of musl.  musl's start file for aarch64 takes the address of its next
 * function from a word that has a relocation.  musl before 1.2.4 leaves that word as it is if
 * relocations are packed; start.c applies them later.
 */
#ifdef __aarch64__
#define GETFUNCSYM(fp, sym, got)                      \
	do {                                          \
		__attribute__((visibility("hidden"))) \
		void sym();                           \
		*(fp) = sym;                          \
	} while (0)
#endif
