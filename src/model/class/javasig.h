/*
 * Converts descriptors (JVMS 4.3) and generic signatures (JVMS 4.7.9.1) to Java source form, as
 * `javap -p` prints them.
 *
 * Input texts are as in the class file.  Output is UTF-8 and may contain control characters: print
 * it with printable_add().  An invalid descriptor is copied unchanged.  If a generic signature is
 * invalid, the descriptor is converted instead: compilers write wrong signatures, and the JVM does
 * not check them.
 */
#ifndef JTOOL_MODEL_CLASS_JAVASIG_H
#define JTOOL_MODEL_CLASS_JAVASIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "classfile/read.h"

/*
 * Converts modified UTF-8 (JVMS 4.4.7) to UTF-8.  Copies invalid bytes unchanged, and also the two
 * bytes that stand for the character 0.
 */
void javasig_text(struct buf *out, struct cf_text text);

/*
 * Converts the name of a Class constant: "java/lang/String" to "java.lang.String", "[[I" to
 * "int[][]".
 */
void javasig_class_name(struct buf *out, struct cf_text name);
/* Converts one type from a descriptor or signature, for example "[TT;" to "T[]". */
void javasig_type(struct buf *out, struct cf_text type);
/*
 * Adds the modifiers of a class, each followed by a space.  If `hidden` is true, also adds
 * "synthetic", which is not a keyword of Java.
 */
void javasig_class_modifiers(struct buf *out, unsigned access, bool hidden);

/* A field or method, from a class file or from the JVM. */
struct javasig_member {
	unsigned access;
	struct cf_text name, descriptor;
	struct cf_text signature;   /* generic signature; empty if there is none */
	const struct cf_pool *pool; /* constant pool of the class file; may be NULL */
	const uint8_t *throws;      /* class indexes from the Exceptions attribute */
	uint16_t n_throws;
	bool hidden; /* print also the modifiers without a Java keyword: synthetic, bridge */
};
struct javasig_member javasig_member(const struct cf_member *member);

/* Adds the modifiers of a member, including those without a keyword: "public synthetic bridge". */
void javasig_member_modifiers(struct buf *out, const struct javasig_member *member);

/* Adds the declaration of a field, for example "private final int x". */
void javasig_field(struct buf *out, const struct javasig_member *field);
/*
 * Adds the declaration of a method, for example "public static <T> void f(java.util.List<T>,
 * int...) throws E".  `class` is the name of the method's class as in a Class constant; a
 * constructor gets this name instead of "<init>".  If `interface` is true, the class is an
 * interface, and instance methods that have code and are not private get the modifier "default".
 */
void javasig_method(struct buf *out, const struct javasig_member *method, struct cf_text class,
		    bool interface);

/*
 * Adds a member as it is named in messages: "int x", "int f(long, java.lang.String[])",
 * "<init>(int)", "static {}".
 */
void javasig_member_name(struct buf *out, struct cf_text name, struct cf_text descriptor);

/*
 * Adds the declaration of a class, for example "public final class p.C<T> extends p.D<T> implements
 * p.I".  If `synthetic` is true, the declaration includes the modifier "synthetic".
 */
void javasig_class(struct buf *out, const struct cf_class *class, bool synthetic);

#endif
