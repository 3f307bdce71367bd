/*
 * The names of classes and types: the JVM's signatures, and Java's source form.
 */
#ifndef JTOOL_MODEL_TYPENAME_H
#define JTOOL_MODEL_TYPENAME_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * "Ljava/lang/String;", "[[I" → "java.lang.String", "int[][]"; -1 when it is no signature.
 * Hidden classes as the JVM prints them: "a.b.C$$Lambda/0x00007f5a1c000a00".
 */
int typename_java(struct buf *out, const char *signature, size_t len) _must_check_;
/* The way back, for every class but hidden and anonymous ones (those with a '/'). */
void typename_signature(struct buf *out, const char *name);
/* Is it "int", "byte", …? */
bool typename_is_primitive(const char *name, size_t len);
/* "int" for 'I'; NULL for what is no primitive type. */
const char *typename_primitive(char letter);
/*
 * Is that class meant by a word: its name or a glob, also with slashes for dots, as a path or the
 * JVM has them; and arrays as in the JVM's own histogram, "[B" and "[Ljava.lang.String;"?
 */
bool typename_matches(const char *name, const char *word);

#endif
