/*
 * The patches of this library, and the hook that gives their bytes to the JVM.
 *
 * Two locks.  `operation` is held by whoever changes patches, from the first look to the last
 * byte, so that it alone allocates and frees.  `table` is held for moments, to read or change
 * what the hook looks at.  The hook takes `table` only, and `table` is never held while the JVM
 * is asked for anything: another thread may hold the JVM's own lock on a class and be in our
 * hook, waiting for us.  And a thread may be suspended whenever it calls the JVM, by a debugger
 * that then redefines a class itself.  So the hook finds out what it has to before, among that
 * which class it is: by a tag.
 */
#ifndef JTOOL_AGENT_JVM_PATCH_TABLE_H
#define JTOOL_AGENT_JVM_PATCH_TABLE_H

#include "jvm/ti.h"

/* What the hook hands on for a class. */
struct ag_answer {
	uint8_t *bytes; /* may be the patch's own file; NULL: none */
	size_t len;
	uint64_t to;    /* hash of what came in when it was made: the answer is to that */
};

struct ag_patch {
	struct ag_patch *next;
	uint64_t id, when_ms;
	jlong tag;     /* of the class, with the environment `ti` */
	uint64_t name; /* hash of the class's name, as the hook is told it */
	jweak class;
	uint8_t *file; /* F */
	size_t len;
	struct ag_answer answer;  /* in force */
	struct ag_answer pending; /* of the operation that goes on */
	bool stale;   /* something else came in than the answer is to, or it could not be given */
	bool touched; /* another thread asked while an operation went on for the class */
	char *label, *digest; /* what the client calls the file */
};

/* What the hook does on the thread of an operation. */
enum ag_patch_mode {
	AG_PATCH_ASK_TO,     /* hash what comes in for `current` */
	AG_PATCH_ASK_ANSWER, /* keep what comes in for `current`: that is its answer */
	AG_PATCH_INSTALL,    /* give the pending answers */
	AG_PATCH_RESTORE,    /* give copies of what comes in */
};

struct ag_operation {
	JNIEnv *jni; /* tells its thread */
	enum ag_patch_mode mode;
	struct ag_patch **patches;
	uint32_t n;
	struct ag_patch *current;
	jthrowable thrown; /* makes the JVM abandon what cannot be answered; NULL: nothing does */
	bool renews;       /* stale answers: what is out of date again at once, is left so */
	uint32_t hits;     /* how often the hook took part */
	bool no_memory;
};

struct ag_patches {
	JavaVM *vm;
	jvmtiEnv *ti; /* for what outlives patches: locks and memory; and for the tags */
	jrawMonitorID operation, table;
	struct ag_mem mem;

	/* under `operation` to change, under `table` to be seen by the hook */
	jvmtiEnv *hook; /* exists while there are patches */
	struct ag_patch *list;
	struct ag_operation *current;
	uint64_t last_id;
	jlong last_tag;

	/* under `table` */
	uint64_t marks; /* how often a patch became stale */
	bool settling;  /* a thread was started that has not begun yet */
};

/*
 * The library's one piece of state that outlives sessions, for so do patches.  Made once, never
 * freed, some hundred bytes: a hook may still run on another thread when the last patch goes.
 * NULL: there is none yet.
 */
struct ag_patches *ag_patches(void);
/* The same, made where there is none yet; NULL: that cannot be (error recorded). */
struct ag_patches *ag_patches_make(struct ag_jvm *jvm);

void ag_patches_lock(struct ag_patches *p, jrawMonitorID monitor);
void ag_patches_unlock(struct ag_patches *p, jrawMonitorID monitor);

/* Begin and end listening: the environment with the hook. */
int ag_patches_listen(struct ag_jvm *jvm, struct ag_patches *p);
void ag_patches_deafen(struct ag_patches *p);

/* Find out a class's tag, or give it one; under `operation`. */
int ag_patch_tag(struct ag_jvm *jvm, struct ag_patches *p, jclass class, jlong *tag);

/* The patch for the class with this tag; under `table` or `operation`. */
struct ag_patch *ag_patch_find(const struct ag_patches *p, jlong tag);

/*
 * Free what nobody sees any more, and take the tag off a class that no other patch is for; under
 * `operation`.
 */
void ag_patch_free(struct ag_patches *p, JNIEnv *jni, struct ag_patch *patch);
void ag_answer_free(struct ag_patches *p, const struct ag_patch *patch, struct ag_answer *answer);

/* Start a thread that renews the answers of stale patches; called without any lock. */
void ag_patches_settle(struct ag_patches *p, JNIEnv *jni);

#endif
