/*
 * Java's forms of what class files write as descriptors (JVMS 4.3) and generic signatures
 * (JVMS 4.7.9.1), as `javap -p` prints them.
 *
 * Texts go in as the class file has them and come out as UTF-8, but not made safe to show: that
 * is for whoever prints them (text_printable).  What is no descriptor comes out as it stands; a
 * signature that is none gives way to the descriptor, for compilers get signatures wrong and
 * the JVM does not look at them.
 */
#ifndef JTOOL_MODEL_JAVASIG_H
#define JTOOL_MODEL_JAVASIG_H

#include "base/buf.h"
#include "classfile/read.h"

/* A text of the JVM (modified UTF-8, JVMS 4.4.7) as UTF-8; what cannot be is kept as it is. */
void javasig_text(struct buf *out, struct cf_text text);

/* A class by its constant: "java/lang/String" is java.lang.String, "[[I" is int[][]. */
void javasig_class_name(struct buf *out, struct cf_text name);
/* One type, by descriptor or by signature: "[TT;" is T[]. */
void javasig_type(struct buf *out, struct cf_text type);
/* The modifiers of a class, each with a blank behind it. */
void javasig_class_modifiers(struct buf *out, unsigned access);

/* A field or a method, told by a class file, or by the JVM without one. */
struct javasig_member {
	unsigned access;
	struct cf_text name, descriptor;
	struct cf_text signature;   /* empty: none */
	const struct cf_pool *pool; /* of the class file, or NULL */
	const uint8_t *throws;      /* class indexes of its Exceptions */
	uint16_t n_throws;
};
struct javasig_member javasig_member(const struct cf_member *member);

/* "private final int x": what stands before the semicolon. */
void javasig_field(struct buf *out, const struct javasig_member *field);
/*
 * "public static <T> void f(java.util.List<T>, int...) throws E"; a constructor is named by
 * `class` (as of a Class constant), and in an interface what is not abstract is default.
 */
void javasig_method(struct buf *out, const struct javasig_member *method, struct cf_text class,
		    bool interface);

/*
 * A member as it is called in messages: "int x", "int f(long, java.lang.String[])",
 * "<init>(int)", "static {}".
 */
void javasig_member_name(struct buf *out, struct cf_text name, struct cf_text descriptor);

/* "public final class p.C<T> extends p.D<T> implements p.I": what stands before the brace. */
void javasig_class(struct buf *out, const struct cf_class *class);

#endif
