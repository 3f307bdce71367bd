/*
 * The patches of this library, and the ClassFileLoadHook that returns their bytes to the JVM.
 *
 * There are two locks.  A thread that changes patches holds `operation` throughout, so only it
 * allocates and frees.  `table` protects the fields that the hook uses, and is held briefly.  The
 * hook takes only `table`.  No thread calls the JVM while it holds `table`, for two reasons:
 * another thread may wait for `table` in the hook while it holds HotSpot's lock on a class; and a
 * debugger may suspend a thread in any JVM call and then redefine a class itself.  So the hook
 * makes its calls before it takes the lock; it identifies the class by a tag.
 */
#ifndef JTOOL_AGENT_JVM_PATCH_PATCH_TABLE_H
#define JTOOL_AGENT_JVM_PATCH_PATCH_TABLE_H

#include "jvm/jvmti.h"

/* The bytes that the hook returns for a class. */
struct ag_patch_output {
	uint8_t *bytes; /* may equal ag_patch.file; NULL: none */
	size_t len;
	uint64_t input; /* hash of the incoming bytes for which it was prepared */
};

struct ag_patch {
	struct ag_patch *next;
	uint64_t id, when_ms;
	jlong tag;     /* of the class, in the environment `ti` */
	uint64_t name; /* hash of the class's name as the hook receives it */
	jweak class;
	uint8_t *file; /* the client's class file, F in patches.h */
	size_t len;
	struct ag_patch_output output;  /* installed */
	struct ag_patch_output pending; /* of the current operation */
	bool stale;   /* the incoming bytes changed, or the output could not be returned */
	bool touched; /* another thread retransformed the class during the operation */
	char *label, *digest; /* the client's name and digest of the file */
};

/* The action of the hook on the thread of an operation. */
enum ag_patch_mode {
	AG_PATCH_READ_INPUT,  /* store the hash of the incoming bytes of `current` */
	AG_PATCH_READ_OUTPUT, /* store the incoming bytes of `current` as its pending output */
	AG_PATCH_INSTALL,     /* return the pending outputs */
	AG_PATCH_RESTORE,     /* return copies of the incoming bytes */
};

struct ag_operation {
	JNIEnv *jni; /* identifies the thread of the operation */
	enum ag_patch_mode mode;
	struct ag_patch **patches;
	uint32_t n;
	struct ag_patch *current;
	jthrowable thrown; /* makes HotSpot abandon an installation; restoring: NULL */
	bool refreshes;    /* a refresh: patches that are stale again at once remain so */
	uint32_t hits;     /* calls of the hook for the operation */
	bool no_memory;
};

struct ag_patches {
	JavaVM *vm;
	jvmtiEnv *ti; /* for locks, memory and tags; never disposed of */
	jrawMonitorID operation, table;
	struct ag_mem mem; /* not accounted to any session */
	uint64_t globals;  /* number of global references, which no session counts either */

	/* changed under `operation`; those that the hook reads, also under `table` */
	jvmtiEnv *hook; /* exists while there are patches */
	struct ag_patch *list;
	struct ag_operation *current;
	uint64_t last_id;
	jlong last_tag;

	/* under `table` */
	uint64_t stale_events; /* how often a patch became stale */
	bool refreshing;       /* a refresh thread has started and still waits */
};

/*
 * Returns the patches, which outlive sessions; NULL: not created yet.  The struct is never freed,
 * because the hook may still run on another thread when the last patch is restored.
 */
struct ag_patches *ag_patches(void);
/* Returns the patches, creates them if necessary; NULL with the error recorded. */
struct ag_patches *ag_patches_make(struct ag_jvm *jvm);

void ag_patches_lock(struct ag_patches *p, jrawMonitorID monitor);
void ag_patches_unlock(struct ag_patches *p, jrawMonitorID monitor);

/* Create the environment with the hook unless it exists; dispose of it. */
int ag_patches_listen(struct ag_jvm *jvm, struct ag_patches *p);
void ag_patches_disable_events(struct ag_patches *p);

/* Stores the class's tag, after tagging it if necessary; under `operation`. */
int ag_patch_tag(struct ag_jvm *jvm, struct ag_patches *p, jclass class, jlong *tag);

/* Returns the patch of the class with this tag, or NULL; under `table` or `operation`. */
struct ag_patch *ag_patch_find(const struct ag_patches *p, jlong tag);

/* Free a patch that is not in the table, or an output.  Untags a class that has no other patch. */
void ag_patch_free(struct ag_patches *p, JNIEnv *jni, struct ag_patch *patch);
void ag_patch_output_free(struct ag_patches *p, const struct ag_patch *patch,
			  struct ag_patch_output *output);

/* Starts a thread that installs stale patches again; called without any lock. */
void ag_patches_refresh(struct ag_patches *p, JNIEnv *jni);

#endif
