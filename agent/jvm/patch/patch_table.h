/*
 * The patches of this library, and the ClassFileLoadHook that returns their bytes to the JVM.
 *
 * There are two locks:
 * - `operation`: the thread that installs, refreshes or restores patches holds it from the start to
 *   the end of the operation, so only one thread at a time allocates and frees patches.
 * - `table` protects the fields that the hook uses.  It is held briefly.  The hook takes only this
 *   lock.
 *
 * No thread calls the JVM while it holds `table`, for two reasons:
 * - Another thread may hold HotSpot's lock on a class while it waits for `table` in the hook.  A
 *   JVM call that waits for this lock would then never return.
 * - A debugger may suspend a thread in any JVM call.  If the debugger then redefines a class, it
 *   waits in the hook for `table`, which the suspended thread holds.
 *
 * So the hook makes its JVM calls before it takes `table`, and identifies the class by a tag.
 */
#ifndef JTOOL_AGENT_JVM_PATCH_PATCH_TABLE_H
#define JTOOL_AGENT_JVM_PATCH_PATCH_TABLE_H

#include "jvm/jvmti.h"

/* The bytes that the hook returns for a class. */
struct ag_patch_output {
	uint8_t *bytes; /* own memory, or ag_patch.file if the bytes equal it; NULL: no output */
	size_t len;
	uint64_t input; /* hash of the incoming bytes for which this output was prepared */
};

struct ag_patch {
	struct ag_patch *next;
	uint64_t id, when_ms; /* when_ms: time of the installation, ms since 1970 */
	jlong tag;     /* tag of the class in ag_patches.ti */
	uint64_t name; /* hash of the class's name as the hook receives it */
	jweak class;
	uint8_t *file; /* the client's class file, F in patches.h */
	size_t len;
	struct ag_patch_output output;  /* the bytes that are installed */
	struct ag_patch_output pending; /* the bytes that the current operation will install */
	bool stale;   /* the incoming bytes have changed, or the hook could not return the output */
	bool touched; /* another thread has retransformed the class during the operation */
	char *label, *digest; /* file name and digest that the client sent */
};

/* The task of the hook in a call that the current operation has caused. */
enum ag_patch_mode {
	/* the class of the patch `current` is captured: store the hash of the incoming bytes */
	AG_PATCH_READ_INPUT,
	/* a redefinition of that class is captured: store the incoming bytes in `pending` */
	AG_PATCH_READ_OUTPUT,
	AG_PATCH_INSTALL, /* classes are retransformed: return the bytes `pending` of the patch */
	AG_PATCH_RESTORE, /* classes are retransformed: return a copy of the incoming bytes */
};

struct ag_operation {
	JNIEnv *jni; /* of the operation's thread */
	enum ag_patch_mode mode;
	struct ag_patch **patches;
	uint32_t n;
	struct ag_patch *current; /* the patch whose class is being captured; NULL: none */
	/* the exception that the hook throws to abandon an installation; NULL for a restoration */
	jthrowable thrown;
	bool refreshes;    /* the operation is a refresh, and must not mark patches as stale */
	uint32_t hits;     /* calls of the hook for this operation's current step */
	bool no_memory;
};

struct ag_patches {
	JavaVM *vm;
	jvmtiEnv *ti; /* environment for locks, memory and tags; never disposed of */
	jrawMonitorID operation, table;
	struct ag_mem mem; /* counts the memory of the patches, which outlives sessions */
	uint64_t globals;  /* number of global references of the patches */

	/*
	 * Only a thread that holds `operation` may change these members.  To change `list` and
	 * `current`, which the hook reads, the thread must also hold `table`.
	 */
	jvmtiEnv *hook; /* environment of the hook; exists while there are patches */
	struct ag_patch *list;
	struct ag_operation *current;
	uint64_t last_id;
	jlong last_tag;

	/* Protected by `table`: */
	uint64_t stale_events; /* how often any patch became stale */
	bool refreshing;       /* a refresh thread has been started and has not yet begun to work */
};

/*
 * Returns the patches of this library, which outlive sessions, or NULL if they have not been
 * created.  The struct is never freed, because the hook may still run on another thread when the
 * last patch is restored.
 */
struct ag_patches *ag_patches(void);
/*
 * Like ag_patches(), but creates the struct if necessary.  Returns NULL, with the error recorded,
 * if that fails.
 */
struct ag_patches *ag_patches_make(struct ag_jvm *jvm);

void ag_patches_lock(struct ag_patches *p, jrawMonitorID monitor);
void ag_patches_unlock(struct ag_patches *p, jrawMonitorID monitor);

/*
 * ag_patches_listen() creates the environment with the hook, unless it exists; returns 0, or -1
 * with the error recorded.  ag_patches_disable_events() disposes of the environment.
 */
int ag_patches_listen(struct ag_jvm *jvm, struct ag_patches *p);
void ag_patches_disable_events(struct ag_patches *p);

/*
 * Stores the tag of the class in *tag; if the class has no tag, sets one first.  Returns 0, or -1
 * with the error recorded.  The caller holds `operation`.
 */
int ag_patch_tag(struct ag_jvm *jvm, struct ag_patches *p, jclass class, jlong *tag);

/*
 * Returns the patch of the class with this tag, or NULL.  The caller holds `table` or `operation`.
 */
struct ag_patch *ag_patch_find(const struct ag_patches *p, jlong tag);

/*
 * ag_patch_free() frees a patch that is not in the table, and untags its class if the class has no
 * other patch.  ag_patch_output_free() frees the bytes of an output, unless they are patch->file.
 */
void ag_patch_free(struct ag_patches *p, JNIEnv *jni, struct ag_patch *patch);
void ag_patch_output_free(struct ag_patches *p, const struct ag_patch *patch,
			  struct ag_patch_output *output);

/* Starts a thread that installs stale patches again.  The caller must hold no lock. */
void ag_patches_refresh(struct ag_patches *p, JNIEnv *jni);

#endif
