/*
 * Constant pools as `javap -v` of JDK 17 prints them.  Whatever stands in a name or a string, the
 * terminal is safe from it.
 */
#ifndef JTOOL_RENDER_JAVAP_POOL_H
#define JTOOL_RENDER_JAVAP_POOL_H

#include <stdio.h>

#include "base/buf.h"
#include "classfile/read.h"
#include "render/json.h"

/* "Constant pool:" and a line for each constant. */
void javap_pool(FILE *out, const struct cf_pool *pool);
/* [{"index","kind","refers","text"}]; `refers` ("#2.#3") is null for plain values. */
struct json *javap_pool_json(const struct cf_pool *pool);

/*
 * What javap says of a constant behind an instruction: "Method java/io/PrintStream.println:()V",
 * "String hello", "int 70000".  Members of `class` go without the class's name.
 */
void javap_constant(struct buf *out, const struct cf_pool *pool, uint16_t index,
		    struct cf_text class);
/* The same without its kind, and in full. */
void javap_value(struct buf *out, const struct cf_pool *pool, uint16_t index);

#endif
