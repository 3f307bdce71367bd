/*
 * Builds classes with one method for tests of instrumentation; each has one feature that inserted
 * code must respect.
 */
#ifndef JTOOL_TESTS_CLASS_SHAPE_H
#define JTOOL_TESTS_CLASS_SHAPE_H

#include "classfile/read.h"
#include "agent/classfile/class_writer.h"

/* The constants of every class: 'text' is a Utf8 constant, others are hexadecimal. */
static const char constants[] =
	"'T' 070001 "                          /* 1, 2: class T */
	"'java/lang/Object' 070003 "           /* 3, 4: class Object */
	"'Code' 'StackMapTable' "              /* 5, 6 */
	"'<init>' '()V' 0c00070008 "           /* 7 … 9 */
	"0a00040009 0a00020009 "               /* 10 Object.<init>, 11 T.<init> */
	"'LineNumberTable' 'LocalVariableTable' 'x' 'I' " /* 12 … 15 */
	"'RuntimeVisibleTypeAnnotations' 'StackMap' "     /* 16, 17 */
	"'java/lang/Throwable' 070012 ";       /* 18, 19 */
#define N_CONSTANTS 20
#define MORE 0x16 /* the first index after the method's name and descriptor */

/* A class with one method.  Each member that is 0 or NULL has the value of a simple class. */
struct shape {
	const char *code; /* NULL: no code */
	size_t nops;      /* number of nops inserted before the last `tail` bytes of the code */
	size_t tail;
	unsigned major;         /* 0: 52 */
	unsigned stack, locals; /* max_stack and max_locals; 0 stands for 4 */
	const char *name, *descriptor; /* NULL: "m" and "()V" */
	unsigned access;        /* of the method; 0: static */
	bool instance;          /* access 0 means no modifiers instead of static */
	const char *map;        /* StackMapTable */
	const char *handlers;   /* entries of 8 bytes: start, end, handler, type */
	const char *attributes; /* the number and the attributes of the code; without map */
	unsigned fillers;       /* number of empty constants */
	const char *more;       /* the constants from index MORE on */
	unsigned n_more;
	const char *class;      /* NULL: "T" */
	bool root;              /* the class has no superclass */
	size_t same_handlers;   /* number of copies of `handlers` */
	size_t frames;          /* number of frames, one at each byte of the code */
};

static inline void put_instructions(struct buf *b, const struct shape *s)
{
	_cleanup_buf_ struct buf code = BUF_INIT;

	put_bytes(&code, s->code);
	buf_add(b, code.data, code.len - s->tail);
	for (size_t i = 0; i < s->nops; i++)
		buf_addc(b, 0);
	buf_add(b, code.data + (code.len - s->tail), s->tail);
}

static inline void put_attributes(struct buf *b, const struct shape *s)
{
	_cleanup_buf_ struct buf map = BUF_INIT;

	if (s->frames > 0) {
		put(&map, s->frames, 2);
		for (size_t i = 0; i < s->frames; i++)
			buf_addc(&map, 0); /* same_frame at the next byte */
	}
	put_bytes(&map, s->map);
	if (map.len == 0) {
		put_bytes(b, s->attributes ? s->attributes : "0000");
		return;
	}
	put(b, 1, 2);
	put(b, 6, 2);
	put(b, map.len, 4);
	buf_add(b, map.data, map.len);
}

static inline void put_code(struct buf *b, const struct shape *s)
{
	_cleanup_buf_ struct buf code = BUF_INIT, handlers = BUF_INIT, all = BUF_INIT;

	put_instructions(&code, s);
	put_bytes(&handlers, s->handlers);
	for (size_t i = 1; i < s->same_handlers; i++)
		put_bytes(&handlers, s->handlers);
	put(&all, s->stack ? s->stack : 4, 2);
	put(&all, s->locals ? s->locals : 4, 2);
	put(&all, code.len, 4);
	buf_add(&all, code.data, code.len);
	put(&all, handlers.len / 8, 2);
	buf_add(&all, handlers.data, handlers.len);
	put_attributes(&all, s);
	put(b, 5, 2);
	put(b, all.len, 4);
	buf_add(b, all.data, all.len);
}

static inline void build_shape(struct buf *b, const struct shape *s)
{
	const char *name = s->name ? s->name : "m", *class = s->class ? s->class : "T";
	const char *descriptor = s->descriptor ? s->descriptor : "()V";

	put(b, 0xcafebabe, 4);
	put(b, s->major ? s->major : 52, 4);
	put(b, N_CONSTANTS + 2 + s->n_more + s->fillers, 2);
	put_text(b, class, strlen(class));
	put_bytes(b, strchr(constants, ' ') + 1);
	put_text(b, name, strlen(name));
	put_text(b, descriptor, strlen(descriptor));
	put_bytes(b, s->more);
	for (unsigned i = 0; i < s->fillers; i++)
		put_text(b, "", 0);
	put(b, CF_ACC_SYNCHRONIZED, 2);
	put(b, 2, 2);
	put(b, s->root ? 0 : 4, 2);
	put(b, 0, 4); /* interfaces, fields */
	put(b, 1, 2);
	put(b, s->access || s->instance ? s->access : CF_ACC_STATIC, 2);
	put(b, N_CONSTANTS, 2);
	put(b, N_CONSTANTS + 1, 2);
	put(b, s->code != NULL, 2);
	if (s->code)
		put_code(b, s);
	put(b, 0, 2);
}

#endif
