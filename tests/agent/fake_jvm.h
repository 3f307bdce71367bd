/*
 * A JVM for the agent to be tested in: the function tables that it calls, over a handful of
 * objects laid out as HotSpot would.  Every call that can fail is counted, and the one whose
 * number is fail_at fails.
 */
#ifndef JTOOL_TESTS_FAKE_JVM_H
#define JTOOL_TESTS_FAKE_JVM_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

/* In the heap for the application: so many of each. */
#define FAKE_APP_ONE 5  /* LApp; of the first loader, 24 bytes each */
#define FAKE_APP_TWO 3  /* LApp; of the second */
#define FAKE_MANY 6     /* LMany; 48 bytes each and of another class each */
#define FAKE_LATE 4     /* LLate; which is not on the list of loaded classes yet */

/* Threads by what they are called in roots; the last is met in the middle of a walk. */
enum { FAKE_APP_THREAD = 3, FAKE_OWN_THREAD = 7, FAKE_VIRTUAL_THREAD = 11 };

/* What a walk along references reported, but for what it was ended at. */
#define FAKE_REPORTS_MAX 4096
struct fake_report {
	jvmtiHeapReferenceKind kind;
	jvmtiHeapReferenceInfo info;
	unsigned long object, referrer; /* addresses; 0: a root */
	const char *of_class;           /* the referrer's signature */
	jlong size;
	jint length;
};

enum fake_layout { FAKE_NARROW, FAKE_WIDE, FAKE_COMPACT };

struct fake_jvm {
	/* How it is to be */
	enum fake_layout layout;
	int release;          /* as JVMTI counts: 1 for JDK 8, 17, 21, 25 */
	bool other_wrapper;   /* the callbacks' tag has another word before it */
	bool other_referrer;  /* the same, but for the referrer's */
	bool two_klass_words; /* java.lang.Class holds the address in two places */
	bool odd_references;  /* local references have a low bit set */
	int crowd;            /* more LLate;, of a class each until classes are listed again */
	unsigned fail_at;     /* 0: nothing fails */
	bool leaving;         /* from fail_at on all calls return WRONG_PHASE */

	/* What came of it */
	unsigned calls;
	bool environment;    /* there is one, not disposed of */
	jvmtiCapabilities held;
	bool exception;
	int collections;
	int listings;        /* how often classes were listed */
	long blocks;         /* JVMTI's memory, not given back */
	long references;     /* local ones */
	long frames;
	struct fake_report reports[FAKE_REPORTS_MAX];
	size_t n_reports;
	jvmtiStartFunction thread; /* what RunAgentThread was given */
	void *thread_arg;
};

/* There is one at a time.  fake_start makes its heap by the first part, which is filled in. */
extern struct fake_jvm fake;
void fake_start(void);
void fake_stop(void);

JavaVM *fake_vm(void);
void fake_run_thread(void);
/* Objects with a tag. */
size_t fake_tagged(void);

#endif
