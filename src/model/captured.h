/*
 * One class as the agent captured it (CAPTURE in wire/types.def): its class file, and the code
 * in the JVM's memory of those methods where the two differ, or of all.
 */
#ifndef JTOOL_MODEL_CAPTURED_H
#define JTOOL_MODEL_CAPTURED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "classfile/read.h"
#include "wire/cursor.h"

struct captured_method {
	uint32_t modifiers;
	char *name, *descriptor; /* as in the class file */
	struct buf code;
};

/* All that is kept of one class, at most: an agent has far less memory for it. */
#define CAPTURED_MAX (256u << 20)

struct captured {
	bool begun;       /* the following was told */
	uint32_t number;  /* in the roster */
	uint32_t outcome; /* WIRE_CAPTURED_* */
	int32_t code;     /* the JVMTI error */
	struct buf file;  /* empty unless WIRE_CAPTURED_FILE */
	bool memory;      /* memory was told, of n_methods */
	uint16_t pool_count;
	struct buf pool;  /* what stands behind constant_pool_count */
	struct captured_method *methods;
	size_t n_methods, cap_methods;

	/* while frames come in */
	struct buf *filling; /* within this: a captured does not move meanwhile */
	size_t missing, announced;
};

void captured_release(struct captured *c);

/*
 * Take one frame.  1: the frame begins the next class or ends the capture, so this one is whole;
 * the frame is to be taken again by an empty one unless it is CAPTURE_END.  0: more come.
 * -EBADMSG: it makes no sense.
 */
int captured_take(struct captured *c, uint16_t type, struct wire_reader payload) _must_check_;

/*
 * The methods whose code in memory does another thing than the class file's say (cf_same_code):
 * their number, and if `first` is not NULL one of them.  0 as well when memory was not told.
 */
size_t captured_differences(const struct captured *c, const struct captured_method **first);

#endif
