/* Prints constant pools in the format of `javap -v` (JDK 17).  Control characters are escaped. */
#ifndef JTOOL_RENDER_CLASS_JAVAP_POOL_H
#define JTOOL_RENDER_CLASS_JAVAP_POOL_H

#include <stdio.h>

#include "base/buf.h"
#include "classfile/read.h"
#include "render/json.h"

/* Prints "Constant pool:" and a line for each constant. */
void javap_pool(FILE *out, const struct cf_pool *pool);
/*
 * Returns the constants as JSON: [{"index","kind","refers","text"}].  "refers" ("#2.#3") is null
 * for a constant that refers to no other.
 */
struct json *javap_pool_json(const struct cf_pool *pool);

/*
 * Appends a constant as it is in an instruction's comment: "Method
 * java/io/PrintStream.println:()V", "String hello", "int 70000".  Omits the class name of a member
 * if the member's class is `class`.
 */
void javap_constant(struct buf *out, const struct cf_pool *pool, uint16_t index,
		    struct cf_text class);
/*
 * Appends a constant as javap_constant() does, but without the kind (such as "Method").  The name
 * of a member always has the name of its class before it.
 */
void javap_value(struct buf *out, const struct cf_pool *pool, uint16_t index);

#endif
