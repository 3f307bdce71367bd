/* Converts type names between JVM signatures and Java source form. */
#ifndef JTOOL_MODEL_CLASS_TYPE_NAME_H
#define JTOOL_MODEL_CLASS_TYPE_NAME_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Converts "Ljava/lang/String;" and "[[I" to "java.lang.String" and "int[][]".  Hidden classes get
 * the form that the JVM prints: "a.b.C$$Lambda/0x00007f5a1c000a00".  Returns -1 if the signature is
 * invalid.
 */
int type_name_java(struct buf *out, const char *signature, size_t len) _must_check_;
/*
 * Converts a Java name to a signature: "int[][]" to "[[I".  Not for hidden and VM-anonymous
 * classes, whose names have a '/'.
 */
void type_name_signature(struct buf *out, const char *name);
/* Returns true if `name` is a primitive type: "int", "byte", …. */
bool type_name_is_primitive(const char *name, size_t len);
/* Returns the name of a primitive type ("int" for 'I'), or NULL if `letter` does not denote one. */
const char *type_name_primitive(char letter);
/*
 * Returns true if `word` matches the class `name`.  A word is one of the following:
 *   a class name or a glob; its separators are dots or slashes;
 *   an array name as GC.class_histogram prints it: "[B", "[Ljava.lang.String;".
 */
bool type_name_matches(const char *name, const char *word);

/*
 * Returns true if `word` may be a simple name: it has no dot or slash, and is neither a glob nor an
 * array name.  The simple name "Cart" denotes com.acme.Cart if no other class is called Cart.
 */
bool type_name_is_simple(const char *word);
/*
 * Returns true if --filter with the argument `word` selects the class `name`: `word` is a glob that
 * matches `name`, or the simple name of the class.
 */
bool type_name_is_chosen(const char *name, const char *word);
/*
 * Finds the name that `word` denotes among the n names that name(list, i) returns.  Returns
 *   `word`, if `word` is one of the names or is not simple;
 *   else the name whose part after the last '.' is `word`;
 *   else the name of a nested class whose part after the last '$' is `word`;
 *   else `word`.
 * Returns NULL with err set (EXIT_TARGET) if several different names are possible.
 */
const char *type_name_resolve(const char *word, const char *(*name)(const void *list, size_t i),
			      const void *list, size_t n, struct err *err) _must_check_;

#endif
