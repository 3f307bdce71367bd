/*
 * One class that the agent captured (CAPTURE in wire/frames.def): its class file, and the bytecode
 * in the JVM's memory, either of all methods or of those that differ from the file.
 */
#ifndef JTOOL_MODEL_CLASS_CLASS_CAPTURE_H
#define JTOOL_MODEL_CLASS_CLASS_CAPTURE_H

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

/* Limit in bytes for one class.  The agent's own limit is far lower. */
#define CLASS_CAPTURE_MAX (256u << 20)

struct class_capture {
	bool begun;       /* `number`, `outcome` and `code` are valid */
	uint32_t number;  /* number of the class in the agent's class index */
	uint32_t outcome; /* WIRE_CAPTURED_* */
	int32_t code;     /* JVMTI error of the capture */
	struct buf file;  /* the class file; empty unless outcome is WIRE_CAPTURED_FILE */
	bool memory;      /* `pool_count`, `pool` and `methods` are valid */
	uint16_t pool_count;
	struct buf pool;  /* constant pool in memory, without its constant_pool_count */
	struct captured_method *methods;
	size_t n_methods, cap_methods;

	/* State while frames arrive: */
	/*
	 * the buffer that receives the next bytes: `file`, `pool` or the `code` of a method.  This
	 * struct must not move until these bytes have arrived.
	 */
	struct buf *filling;
	/* missing: bytes that `filling` lacks; announced: sum of the lengths announced so far */
	size_t missing, announced;
};

void class_capture_release(struct class_capture *c);

/*
 * Reads one frame.  Returns 0 if more frames of this class follow; -EBADMSG if the frame is
 * inconsistent; or 1 if this class is complete, because the frame is CAPTURE_END or starts the next
 * class.  A frame that starts the next class must be passed again, with an empty class_capture.
 */
int class_capture_take(struct class_capture *c, uint16_t type,
		       struct wire_reader payload) _must_check_;

/*
 * Returns the number of methods whose bytecode in memory is not equivalent to that in the class
 * file (cf_code_equal).  Stores the first of these methods in *first, unless `first` is NULL.
 * Returns 0 if the capture has no class file or no bytecode from memory.
 */
size_t class_capture_differences(const struct class_capture *c,
				 const struct captured_method **first);

#endif
