/* Writes class files that are valid in structure and as large as the format permits. */
#ifndef JTOOL_TESTS_HOSTILE_CLASS_H
#define JTOOL_TESTS_HOSTILE_CLASS_H

#include "base/buf.h"
#include "classfile/read.h"

/* Constants 1 to 9; after them, HOSTILE_TEXTS method names, and as many descriptors. */
#define HOSTILE_CONSTANTS                                          \
	"\1\0\1C"                 /* 1: the name of everything */  \
	"\7\0\1"                  /* 2: the class */               \
	"\1\0\4Code"              /* 3 */                          \
	"\1\0\20BootstrapMethods" /* 4 */                          \
	"\14\0\1\0\1"             /* 5: a NameAndType */           \
	"\17\6\0\7"               /* 6: a MethodHandle */          \
	"\12\0\2\0\5"             /* 7: its Methodref */
#define HOSTILE_TEXTS 256

struct hostile_class {
	/*
	 * All methods have the same code: an invokedynamic with the last bootstrap method.  This
	 * one has n_arguments arguments, which are a dynamic constant with the one before it.
	 */
	unsigned n_methods, n_bootstraps, n_arguments;
};

static inline void hostile_u2(struct buf *b, unsigned value)
{
	buf_addc(b, (char)(value >> 8));
	buf_addc(b, (char)value);
}

static inline void hostile_class_write(struct buf *b, const struct hostile_class *h)
{
	unsigned len = 2 + h->n_bootstraps * 4 + h->n_arguments * 2;

	buf_add(b, "\xca\xfe\xba\xbe\0\0\0\67", 8);
	hostile_u2(b, 10 + 2 * HOSTILE_TEXTS);
	buf_add(b, HOSTILE_CONSTANTS, sizeof(HOSTILE_CONSTANTS) - 1);
	buf_addc(b, CF_DYNAMIC); /* 8 */
	hostile_u2(b, h->n_bootstraps - 2);
	hostile_u2(b, 5);
	buf_addc(b, CF_INVOKE_DYNAMIC); /* 9 */
	hostile_u2(b, h->n_bootstraps - 1);
	hostile_u2(b, 5);
	for (unsigned i = 0; i < 2 * HOSTILE_TEXTS; i++) {
		buf_add(b, "\1\0\5", 3);
		buf_addf(b, i < HOSTILE_TEXTS ? "m%04x" : "()L%02x", i % HOSTILE_TEXTS);
	}
	buf_add(b, "\0\41\0\2\0\0\0\0\0\0", 10); /* flags, class, no superclass and no fields */
	hostile_u2(b, h->n_methods);
	for (unsigned i = 0; i < h->n_methods; i++) {
		hostile_u2(b, 0);
		hostile_u2(b, 10 + i / HOSTILE_TEXTS);
		hostile_u2(b, 10 + HOSTILE_TEXTS + i % HOSTILE_TEXTS);
		buf_add(b, "\0\1\0\3\0\0\0\22\0\1\0\1\0\0\0\6\xba\0\11\0\0\xb1\0\0\0\0", 26);
	}
	hostile_u2(b, 1);
	hostile_u2(b, 4);
	hostile_u2(b, len >> 16);
	hostile_u2(b, len & 0xffff);
	hostile_u2(b, h->n_bootstraps);
	for (unsigned i = 0; i < h->n_bootstraps; i++) {
		hostile_u2(b, 6);
		hostile_u2(b, i + 1 < h->n_bootstraps ? 0 : h->n_arguments);
	}
	for (unsigned i = 0; i < h->n_arguments; i++)
		hostile_u2(b, 8);
}

#endif
