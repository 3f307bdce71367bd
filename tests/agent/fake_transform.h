/*
 * A JVM for patches to be tested in: classes whose bytes can be retransformed and redefined, the
 * environments whose hooks look on, and another agent with a transformer.  The bytes of a class
 * are a text, so that what ran over it can be read: "code" is "code+" behind the other agent.
 *
 * Every call that can fail is counted, and the one whose number is fail_at fails.
 */
#ifndef JTOOL_TESTS_FAKE_TRANSFORM_H
#define JTOOL_TESTS_FAKE_TRANSFORM_H

#include <jvmti.h>
#include <stdbool.h>

#define N_CLASSES 5 /* "Lp/A;", "Lp/B;", "[I", "Lp/C;" and "Lp/D;" */
#define OBJECT N_CLASSES /* java.lang.Object, which is listed with the others */
#define BYTES_MAX 64

struct fake_transform {
	bool drops_cache; /* as JDK 21 does when nobody changes the class */
	unsigned fail_at; /* 0: nothing fails */
	bool leaving;     /* from then on JVMTI says that the JVM is */
	/* what another thread does when all hooks have run, and nothing is installed yet */
	void (*meanwhile)(void);
	/* what happens while another thread is suspended in a hook */
	void (*suspended)(void);

	/* p.C has a loader, whose methods are its own, and which finds what it is asked for */
	bool loader, own_methods, finds;
	void (*asking)(void); /* what it does meanwhile */

	unsigned calls;
	unsigned asked; /* times that the loader was asked for a class */
	unsigned other_thread; /* the hooks are called on another thread */
	long blocks, references, weak, tags, frames, monitors, environments;
	bool exception;
	jvmtiStartFunction thread; /* that was started; NULL: none */
	void *thread_arg;
	jvmtiEnv *thread_ti;
	unsigned retransformations; /* that really took place */
};
extern struct fake_transform fake;

JavaVM *fake_vm(void);
JNIEnv *fake_jni(void);
/* A new environment. */
jvmtiEnv *fake_ti(void);

jclass fake_class(int i);
/* The class is not there yet; it is loaded, by another thread, with these bytes. */
void fake_is_absent(int i);
void fake_load(int i, const char *bytes);
/* The class is unloaded: weak references to it lead nowhere. */
void fake_unload(int i);
/* What a class runs. */
const char *fake_running(int i);
/* Let it run something else from the beginning. */
void fake_is(int i, const char *bytes);

/* The other agent: its transformer comes, goes, works or is idle, and asks to retransform. */
void fake_other_comes(void);
void fake_other_goes(void);
void fake_other_works(bool works);
void fake_other_retransforms(int i);

/* Let the thread run that was started. */
void fake_run_thread(void);

#endif
