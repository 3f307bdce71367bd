/* Constant pools in the format of `javap -v` (JDK 17).  Control characters are escaped. */
#ifndef JTOOL_RENDER_CLASS_JAVAP_POOL_H
#define JTOOL_RENDER_CLASS_JAVAP_POOL_H

#include <stdio.h>

#include "base/buf.h"
#include "classfile/read.h"
#include "render/json.h"

/* Prints "Constant pool:" and a line for each constant. */
void javap_pool(FILE *out, const struct cf_pool *pool);
/* Returns [{"index","kind","refers","text"}]; "refers" ("#2.#3") is null for plain values. */
struct json *javap_pool_json(const struct cf_pool *pool);

/*
 * Appends a constant as in the comment of an instruction: "Method java/io/PrintStream.println:()V",
 * "String hello", "int 70000".  For members of `class` the class name is omitted.
 */
void javap_constant(struct buf *out, const struct cf_pool *pool, uint16_t index,
		    struct cf_text class);
/* Appends the constant without its kind, and with the class name of every member. */
void javap_value(struct buf *out, const struct cf_pool *pool, uint16_t index);

#endif
