/*
 * A part of the fake JVM: classes whose code can be retransformed and redefined, and another agent
 * with a transformer.
 *
 * The bytes of a class are a text, so that a test can read which hooks have changed them: the other
 * agent changes "code" to "code+".  Bytes that begin with "bad" fail verification.
 */
#ifndef JTOOL_TESTS_JVM_TRANSFORM_H
#define JTOOL_TESTS_JVM_TRANSFORM_H

#include "agent/fake/jvm_parts.h"

#define N_CLASSES 5      /* "Lp/A;", "Lp/B;", "[I", "Lp/C;" and "Lp/D;" */
#define OBJECT N_CLASSES /* the number of java.lang.Object, which is loaded, too */

struct fake_transform {
	bool drops_cache; /* as in JDK 21: cached bytes are dropped if no hook changes the class */
	/* What another thread does after all hooks and before any class is replaced */
	void (*before_install)(void);

	/* Whether p.C has a loader, and this loader has own methods and finds the hooks' class. */
	bool loader, own_methods, finds;
	void (*in_loader)(void); /* called while the loader looks for a class */

	unsigned asked; /* how often the loader was asked for a class */
	unsigned retransformations; /* the number of times that a class was replaced */
};
extern struct fake_transform fake_transform;

/* p.A.run, which is obsolete; a constructor of p.B; p.B.run; a method of an unloaded class. */
enum { FAKE_RUN, FAKE_INIT, FAKE_RUN_B, FAKE_UNLOADED, FAKE_METHODS };
extern const struct fake_method fake_methods[FAKE_METHODS];
#define FAKE_METHOD(i) ((jmethodID)(uintptr_t)&fake_methods[i])

/* Resets counts and settings, but not classes and environments.  calloc() may fail from now on. */
void fake_transform_start(void);

/* Returns a new local reference to class i. */
jclass fake_class(int i);
/* Marks class i as not loaded yet. */
void fake_is_absent(int i);
/* Loads class i with these bytes, on another thread. */
void fake_load(int i, const char *bytes);
/* Unloads class i: weak references to it are cleared, and its tags removed. */
void fake_unload(int i);
/* Returns the code that class i runs. */
const char *fake_running(int i);
/* Sets the code that class i runs, without calling hooks. */
void fake_is(int i, const char *bytes);

/* The other agent */
void fake_other_starts(void);
void fake_other_ends(void);
void fake_other_works(bool works);
void fake_other_retransforms(int i);

#endif
