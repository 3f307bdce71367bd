/* The heap of the fake JVM in which sessions are tested: objects laid out as HotSpot does. */
#ifndef JTOOL_TESTS_HEAP_WORLD_H
#define JTOOL_TESTS_HEAP_WORLD_H

#include "agent/fake/jvm_heap.h"

/* The numbers of the application's objects */
#define FAKE_APP_ONE 5 /* LApp; of the first loader, 24 bytes each */
#define FAKE_APP_TWO 3 /* LApp; of the second loader, 32 bytes each */
#define FAKE_MANY 6    /* LMany; 48 bytes each, each with its own class */
#define FAKE_LATE 4    /* LLate; 16 bytes each; the class is loaded but not listed yet */

/* Object headers: compressed class pointers, full class pointers, or compact object headers. */
enum fake_layout { FAKE_NARROW, FAKE_WIDE, FAKE_COMPACT };

struct heap_world {
	enum fake_layout layout;
	bool two_klass_words; /* java.lang.Class holds the address of its class in two places */
	int locals; /* additional local variables in frames of the application's thread */
	/* More "LLate;" objects.  Each has its own class number until classes are listed again. */
	int crowd;
	int listings; /* calls of GetLoadedClasses() with a crowd */
};
extern struct heap_world heap_world;

/* Sets how the next JVM behaves; `release` is that of struct fake_jvm. */
void heap_world_init(int release, enum fake_layout layout);
void heap_world_start(void);
void heap_world_stop(void);

#endif
