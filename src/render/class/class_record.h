/* The record that `jtool class` prints: a class's declaration, origin, attributes and members. */
#ifndef JTOOL_RENDER_CLASS_CLASS_RECORD_H
#define JTOOL_RENDER_CLASS_CLASS_RECORD_H

#include "model/class/class_capture.h"
#include "model/class/classes.h"
#include "model/class/class_info.h"
#include "render/record.h"

struct class_view {
	const struct class_row *row;
	const struct class_origins *origins;
	const struct class_info *info;
	const struct class_capture *captured;
	const struct cf_class *file; /* the class file of the class; NULL: not available */
	const char *why_not;         /* why `file` is not available; NULL: no reason is known */
	const struct cf_pool *memory; /* the constant pool in the JVM's memory; NULL: unknown */
};

/* Returns the record, which the caller frees. */
struct record *class_record(const struct class_view *view);

#endif
