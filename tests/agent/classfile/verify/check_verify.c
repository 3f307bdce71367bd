/*
 * The format checks and the verifier: small classes written by hand, each valid but for one fault;
 * then a class compiled by javac, with each bit changed.
 */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "classfile/verify/verify.h"
#include "unit/support/data.h"
#include "agent/classfile/class_writer.h"

/* The constants of every class: 'text' is a Utf8 constant, others are hexadecimal. */
static const char constants[] =
	"'T' 070001 "                                     /* 1, 2: class T */
	"'java/lang/Object' 070003 "                      /* 3, 4: class Object */
	"'m' 'Code' 'StackMapTable' "                     /* 5, 6, 7 */
	"'<init>' '()V' 0c00080009 0a0004000a 0a0002000a " /* 8 … 11 Object.<init>, 12 T.<init> */
	"'f' 'I' 0c000d000e 090002000f "                  /* 13 … 16 T.f */
	"'java/lang/String' 070011 080011 "               /* 17, 18: class String, 19 a string */
	"050000000000000001 "                             /* 20: 1L */
	"'length' '()I' 0c00160017 0a00120018 "           /* 22 … 25 String.length()I */
	"'[I' 07001a "                                    /* 26, 27: class [I */
	"'(JD)J' 0c0005001c 0a0002001d "                  /* 28 … 30 T.m(JD)J */
	"'x/I' 07001f 0b00200018 ";                       /* 31, 32: x.I, 33 x.I.length()I */
#define N_CONSTANTS 34 /* the first index that is free for constants of one test's class */

/* A class T with a method m.  Each part that is 0 or NULL is that of a valid class. */
struct parts {
	const char *what;       /* the expected fault; NULL: the class is valid */
	const char *code;       /* NULL: return */
	unsigned major;         /* 0: 52 */
	unsigned stack, locals; /* max_stack and max_locals; for each, 0: 4 */
	const char *map;        /* StackMapTable */
	const char *descriptor; /* NULL: "()V" */
	unsigned access;        /* of the method; 0: static */
	bool init;              /* the method is T.<init> */
	const char *handlers;   /* entries of 8 bytes: start, end, handler, type */
	/* Class flags (0: ACC_SUPER); constant index of the superclass (0: Object) */
	unsigned flags, super;
	const char *constants;  /* from index N_CONSTANTS on */
	unsigned n_constants;
	const char *interfaces, *fields, *attributes, *code_attributes; /* each: count, entries */
	unsigned methods;       /* the number of copies of m; 0: 1 */
	const char *method_attribute; /* of each method, besides Code */
};

static struct ag_mem mem = { .budget = SIZE_MAX };

static void put_code(struct buf *b, const struct parts *p)
{
	_cleanup_buf_ struct buf code = BUF_INIT, handlers = BUF_INIT, map = BUF_INIT;
	_cleanup_buf_ struct buf all = BUF_INIT;

	put_bytes(&code, p->code ? p->code : "b1");
	put_bytes(&handlers, p->handlers);
	put_bytes(&map, p->map);
	put(&all, p->stack ? p->stack : 4, 2);
	put(&all, p->locals ? p->locals : 4, 2);
	put(&all, code.len, 4);
	buf_add(&all, code.data, code.len);
	put(&all, handlers.len / 8, 2);
	buf_add(&all, handlers.data, handlers.len);
	if (p->map) {
		put(&all, 1, 2);
		put(&all, 7, 2);
		put(&all, map.len, 4);
		buf_add(&all, map.data, map.len);
	} else {
		put_bytes(&all, p->code_attributes ? p->code_attributes : "0000");
	}
	put(b, 6, 2);
	put(b, all.len, 4);
	buf_add(b, all.data, all.len);
}

static void build(struct buf *b, const struct parts *p)
{
	const char *descriptor = p->descriptor ? p->descriptor : "()V";
	unsigned n = N_CONSTANTS + p->n_constants, access = p->access ? p->access : CF_ACC_STATIC;
	unsigned methods = p->methods ? p->methods : 1;

	put(b, 0xcafebabe, 4);
	put(b, p->major ? p->major : 52, 4);
	put(b, n + 1, 2);
	put_bytes(b, constants);
	put_bytes(b, p->constants);
	put_text(b, descriptor, strlen(descriptor));
	put(b, p->flags ? p->flags : CF_ACC_SYNCHRONIZED, 2);
	put(b, 2, 2);
	put(b, p->super ? p->super : 4, 2);
	put_bytes(b, p->interfaces ? p->interfaces : "0000");
	put_bytes(b, p->fields ? p->fields : "0001 0000000d000e0000"); /* int f */
	put(b, methods, 2);
	for (unsigned i = 0; i < methods; i++) {
		put(b, p->init ? access & ~CF_ACC_STATIC : access, 2);
		put(b, p->init ? 8 : 5, 2);
		put(b, n, 2);
		put(b, (p->code || !(access & CF_ACC_ABSTRACT)) + (p->method_attribute != NULL), 2);
		put_bytes(b, p->method_attribute);
		if (p->code || !(access & CF_ACC_ABSTRACT))
			put_code(b, p);
	}
	put_bytes(b, p->attributes ? p->attributes : "0000");
}

/* Returns the fault of a class, or NULL; checks that all memory is released. */
static const char *fault_in(const void *data, size_t len, struct cf_fault *fault)
{
	struct cf_class class;
	const char *why = cf_open(&class, data, len, &mem);
	bool valid;

	if (why)
		return why;
	valid = cf_check(&class, fault) && cf_verify(&class, fault);
	ck_assert(valid == !fault->what);
	cf_release(&class);
	ck_assert_uint_eq(mem.blocks, 0);
	return fault->what;
}

static void check_fault(const struct parts *p)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_fault fault;
	const char *what;

	build(&b, p);
	what = fault_in(b.data, b.len, &fault);
	if (!p->what || !what)
		ck_assert_msg(what == p->what, "%s: %s instead of %s", p->code, what, p->what);
	else
		ck_assert_str_eq(what, p->what);
}

START_TEST(last_constant_has_its_two_entries)
{
	static const char *const tags[] = { "05", "06" }; /* Long, Double */
	static const char *const counts[] = { "0006", "0007" };
	struct cf_fault fault;

	for (int i = 0; i < 2; i++) {
		_cleanup_buf_ struct buf b = BUF_INIT;
		const char *what;

		put_bytes(&b, "cafebabe 00000034");
		put_bytes(&b, counts[i]);
		put_bytes(&b, "'T' 070001 'java/lang/Object' 070003");
		put_bytes(&b, tags[_i]);
		put_bytes(&b, "0000000000000001 0021 0002 0004 0000 0000 0000 0000");
		fault = (struct cf_fault){ .pc = 0 };
		what = fault_in(b.data, b.len, &fault);
		if (i == 0)
			ck_assert_pstr_eq(what, "the last constant needs two entries but has one");
		else
			ck_assert_pstr_eq(what, NULL);
	}
}
END_TEST

#define OTHER_TYPE "wrong type on the stack"
#define OTHER_RETURN "the instruction returns the wrong type"
#define NO_LOCAL "there is no such local variable"
#define NO_CONSTANT "the instruction's constant is missing or of the wrong kind"
#define EMPTY "operand stack underflow"
#define FULL "operand stack overflow"
#define SPLIT "a long or double on the stack would be split"
#define NOWHERE "the target is not the start of an instruction"
#define NO_FRAME "StackMapTable has no frame at the target"

#define BOOTSTRAPPED \
	.constants = "11 0000 000f 0f 06 0019 'BootstrapMethods'", .n_constants = 3, \
	.attributes = "0001 0024 00000006 0001 0023 0000"

/* Instructions without jumps. */
static const struct parts straight[] = {
	{ NULL, .code = "b1" },
	{ "control falls off the end of the code", .code = "00" },
	{ "illegal or incomplete instruction", .code = "b1 10" },
	{ "illegal or incomplete instruction", .code = "ca b1" },
	{ "illegal or incomplete instruction", .code = "c4 60 0000 b1" },
	{ EMPTY, .code = "57 b1" },
	{ FULL, .code = "03 03 b1", .stack = 1 },
	{ FULL, .code = "09 b1", .stack = 1 },
	{ NULL, .code = "03 04 60 57 b1" },
	{ OTHER_TYPE, .code = "03 0b 60 57 b1" },
	{ OTHER_TYPE, .code = "09 60 57 b1" },
	{ NULL, .code = "09 0a 61 58 b1" },
	{ SPLIT, .code = "09 57 b1" },
	{ SPLIT, .code = "09 03 58 57 b1" },
	{ NULL, .code = "09 03 5b 57 58 57 b1" },                 /* dup_x2 over a long */
	{ SPLIT, .code = "09 03 5a 57 58 57 b1" },                /* dup_x1 would split it */
	{ SPLIT, .code = "09 03 5f b1" },
	{ EMPTY, .code = "03 5c b1" },
	{ FULL, .code = "09 0a 5e b1" },
	{ NULL, .code = "03 04 05 5d 57 57 57 57 57 b1", .stack = 5 },
	{ NO_LOCAL, .code = "1d 57 b1", .locals = 3 },
	{ NO_LOCAL, .code = "21 58 b1" },                         /* lload_3 with 4 locals */
	{ NO_LOCAL, .code = "84 04 01 b1" },
	{ NO_LOCAL, .code = "c4 15 0100 57 b1" },
	{ "the local variable has the wrong type", .code = "1a 57 b1" },
	{ "the local variable has the wrong type", .code = "09 40 1b 57 b1" },
	{ NULL, .code = "09 40 1f 58 b1" },                       /* lstore_1 lload_1 */
	{ "the local variable has the wrong type", .code = "09 40 03 3d 1f 58 b1" },
	{ "the local variable has the wrong type", .code = "09 40 03 3c 1f 58 b1" },
	{ "the local variable is not a reference", .code = "03 3b 2a 57 b1" },
	{ "the local variable is not an int", .code = "84 00 01 b1" },
	{ OTHER_TYPE, .code = "03 4b b1" },
	{ NULL, .code = "12 13 4b b1" },                          /* a string */
	{ NO_CONSTANT, .code = "12 10 57 b1" },                   /* a field */
	{ NO_CONSTANT, .code = "12 14 57 b1" },                   /* a long */
	{ NO_CONSTANT, .code = "12 15 57 b1" },                   /* the second index of a long */
	{ NULL, .code = "14 0014 58 b1" },
	{ NO_CONSTANT, .code = "14 0013 58 b1" },
	{ NO_CONSTANT, .code = "14 ffff 58 b1" },
	{ NULL, .code = "12 22 57 b1", .constants = "03 00000001", .n_constants = 1 },
	{ NULL, .code = "12 22 57 b1", .constants = "04 3f800000", .n_constants = 1 },
	{ NULL, .code = "14 0022 58 b1", .constants = "06 0000000000000000", .n_constants = 2 },
	{ NULL, .code = "12 22 57 b1", .constants = "0f 05 0019", .n_constants = 1 },
	{ NULL, .code = "12 22 57 b1", .constants = "10 0009", .n_constants = 1 },
	/* An int of a bootstrap method */
	{ NULL, .code = "12 22 57 b1", .major = 55, BOOTSTRAPPED },
	{ "the constant's size does not match the instruction", .code = "14 0022 58 b1",
	  .major = 55, BOOTSTRAPPED },
	{ NULL, .code = "b2 0010 57 b1" },
	{ NULL, .code = "03 b3 0010 b1" },
	{ OTHER_TYPE, .code = "01 b3 0010 b1" },
	{ NULL, .code = "03 0b 5f 57 57 b1" },
	{ OTHER_TYPE, .code = "03 0b 5f 60 57 b1" },
	{ NULL, .code = "12 04 57 b1", .major = 49 },
	{ NO_CONSTANT, .code = "12 04 57 b1", .major = 48 },
	{ NULL, .code = "04 bc 0a 03 2e 57 b1" },                 /* new int[1][0] */
	{ OTHER_TYPE, .code = "04 bc 0b 03 2e 57 b1" },           /* new long[1][0] as an int */
	{ NULL, .code = "04 bc 08 03 33 57 04 bc 04 03 33 57 b1" }, /* byte, boolean */
	{ "newarray has an invalid type", .code = "04 bc 03 57 b1" },
	{ NULL, .code = "01 03 32 57 b1" },                       /* null[0] */
	{ NULL, .code = "04 bd 001b 03 32 03 2e 57 b1" },         /* new int[1][][0][0] */
	{ OTHER_TYPE, .code = "04 bc 0a 03 32 57 b1" },
	{ OTHER_TYPE, .code = "04 be 57 b1" },
	{ NULL, .code = "04 04 c5 001b 01 57 57 b1" },
	{ "multianewarray has more dimensions than the array, or none",
	  .code = "04 04 c5 001b 02 57 b1" },
	{ NULL, .code = "01 c0 0012 b6 0019 57 b1" },             /* ((String) null).length() */
	{ OTHER_TYPE, .code = "03 c0 0012 57 b1" },
	{ NULL, .code = "12 13 b6 0019 57 b1" },
	{ OTHER_TYPE, .code = "04 bc 0a b6 0019 57 b1" },         /* an array has no length() */
	{ OTHER_TYPE, .code = "2a b6 0019 57 b1", .descriptor = "(Ljava/lang/Object;)V" },
	{ NULL, .code = "2a b0", .descriptor = "(Ly;)Lz;" },      /* unknown classes */
	{ NO_CONSTANT, .code = "12 13 b6 0021 57 b1" },           /* an interface's method */
	{ NULL, .code = "01 b9 0021 01 00 57 b1" },
	{ "invokeinterface has the wrong parameter count", .code = "01 b9 0021 02 00 57 b1" },
	{ "the last byte of invokeinterface is not zero", .code = "01 b9 0021 01 01 57 b1" },
	{ "the stack lacks parameters of the call", .code = "09 b8 001e 58 b1" },
	{ "a parameter on the stack has the wrong type", .code = "0e 09 b8 001e 58 b1" },
	{ NULL, .code = "09 0e b8 001e 58 b1" },
	{ "an initializer is called like a method", .code = "01 b6 000b b1" },
	{ OTHER_TYPE, .code = "03 bf" },
	{ NULL, .code = "01 bf" },
	{ OTHER_TYPE, .code = "12 13 bf" },                       /* throw "" */
	{ OTHER_RETURN, .code = "03 ac" },
	{ NULL, .code = "03 ac", .descriptor = "()Z" },
	{ OTHER_RETURN, .code = "b1", .descriptor = "()I" },
	{ NULL, .code = "01 b0", .descriptor = "()[I" },
	{ OTHER_TYPE, .code = "12 13 b0", .descriptor = "()[I" },
	{ NULL, .code = "04 bc 0a b0", .descriptor = "()Ljava/lang/Cloneable;" },
	{ OTHER_TYPE, .code = "04 bc 0a b0", .descriptor = "()Ljava/lang/String;" },
	{ OTHER_TYPE, .code = "04 bc 0a b0", .descriptor = "()LT;" },
	{ NULL, .code = "04 bd 0012 b0", .descriptor = "()[Ljava/lang/Object;" },
	{ OTHER_TYPE, .code = "04 bd 0004 b0", .descriptor = "()[Ljava/lang/String;" },
	{ "the method's parameters do not fit into its local variables", .descriptor = "(JJI)V" },
	{ "this class file version has no jsr", .code = "a8 0004 57 b1" },
	{ "this class file version has no ret", .code = "a9 00 b1" },
};

/* Jumps, and the frames of StackMapTable at their targets. */
static const struct parts with_maps[] = {
	{ NULL, .code = "03 99 0004 00 b1", .map = "0001 05" },
	{ NO_FRAME, .code = "03 99 0004 00 b1" },
	{ NOWHERE, .code = "03 99 0002 00 b1", .map = "0001 05" },
	{ NOWHERE, .code = "03 99 0005 00 b1", .map = "0001 05" },
	{ NOWHERE, .code = "03 99 fffe 00 b1", .map = "0001 05" },
	{ NO_FRAME, .code = "03 99 0004 00 b1", .map = "0001 04" },
	{ "StackMapTable has no frame after a jump or return", .code = "b1 b1" },
	{ NULL, .code = "b1 b1", .map = "0001 01" },
	{ "StackMapTable has a frame where no instruction begins", .code = "10 00 57 b1",
	  .map = "0001 01" },
	{ "StackMapTable has a frame where no instruction begins", .code = "b1", .map = "0001 01" },
	{ "StackMapTable ends too early", .code = "b1 b1", .map = "0002 01" },
	{ "StackMapTable ends too early", .code = "b1 b1", .map = "0001 41" },
	{ "StackMapTable ends too early", .code = "b1 b1", .map = "0001 41 07 00" },
	{ "StackMapTable ends too early", .code = "b1 b1", .map = "00" },
	{ "StackMapTable is longer than its frames", .code = "b1 b1", .map = "0001 01 01" },
	{ "StackMapTable has a frame of unknown kind", .code = "b1 b1", .map = "0001 f6 0001" },
	{ "StackMapTable has an invalid type", .code = "b1 b1", .map = "0001 41 09 0001" },
	{ "StackMapTable has an invalid type", .code = "b1 b1", .map = "0001 41 07 0001" },
	{ "an uninitialised type in StackMapTable has no new", .code = "b1 b1",
	  .map = "0001 41 08 0000" },
	{ "StackMapTable removes more variables than exist", .code = "b1 b1",
	  .map = "0001 f8 0001" },
	{ "a frame in StackMapTable has too many types", .code = "b1 b1",
	  .map = "0001 fe 0001 04 04 01" },
	{ "a frame in StackMapTable has too many types", .code = "b1 b1", .stack = 1,
	  .map = "0001 41 04" },
	{ NULL, .code = "b1 57 b1", .map = "0001 41 01" },        /* an int is on the stack */
	{ NULL, .code = "b1 58 b1", .map = "0001 f7 0001 03" },   /* a double */
	{ NULL, .code = "b1 1a 57 b1", .map = "0001 fc 0001 01" }, /* an int in a variable */
	{ NULL, .code = "b1 1c 57 b1", .map = "0001 ff 0001 0002 04 01 0000" },
	{ "the local variable has the wrong type", .code = "b1 1c 57 b1",
	  .map = "0001 ff 0001 0002 01 01 0000" },
	{ "the stack depth differs from StackMapTable", .code = "03 03 99 0003 b1",
	  .map = "0001 05" },
	{ "a type on the stack differs from StackMapTable", .code = "0b 03 99 0003 57 b1",
	  .map = "0001 45 01" },
	{ "a local variable's type differs from StackMapTable", .code = "03 99 0003 b1",
	  .map = "0001 fc 0004 01" },
	{ NULL, .code = "03 3b 03 99 0003 b1", .map = "0001 fc 0006 01" },
	{ "the local variable has the wrong type", .code = "03 3b 03 99 0003 1a 57 b1",
	  .map = "0001 06" }, /* the frame drops the int */
	{ NULL, .code = "03 aa 0000 00000014 00000000 00000000 00000013 00 b1",
	  .map = "0002 14 00" },
	{ "a tableswitch has no cases", .code = "03 aa 0000 0000000f 00000001 00000000 b1",
	  .map = "0001 10" },
	{ NOWHERE, .code = "03 aa 0000 00000014 00000000 00000000 00000012 00 b1",
	  .map = "0002 14 00" },
	{ "a lookupswitch is not sorted",
	  .code = "03 ab 0000 0000001b 00000002 00000005 0000001b 00000005 0000001b b1",
	  .map = "0001 1c" },
	{ NULL, .code = "03 ab 0100 0000001b 00000002 00000005 0000001b 00000006 0000001b b1",
	  .map = "0001 1c" },
	{ "the padding of a switch is not zero", .major = 50,
	  .code = "03 ab 0100 0000001b 00000002 00000005 0000001b 00000006 0000001b b1" },
	/* Version 50 falls back to type inference, but not for every fault. */
	{ NULL, .code = "03 99 0004 00 b1", .major = 50 },
	{ "StackMapTable ends too early", .code = "b1", .map = "0001 41", .major = 50 },
};

/* Exception handlers. */
static const struct parts with_handlers[] = {
	{ NULL, .code = "00 b1 57 b1", .handlers = "0000000100020000", .map = "0001 42 07 0004" },
	{ NO_FRAME, .code = "00 b1 57 b1", .handlers = "0000000100020000" },
	{ "a type on the stack differs from StackMapTable", .code = "00 b1 57 b1",
	  .handlers = "0000000100020000", .map = "0001 42 01" },
	{ "a type on the stack differs from StackMapTable", .code = "00 b1 57 b1",
	  .handlers = "0000000100020000", .map = "0001 42 07 0012" },
	{ "the stack depth differs from StackMapTable", .code = "00 b1 b1",
	  .handlers = "0000000100020000", .map = "0001 02" },
	{ "an exception handler's type is not a Throwable", .code = "00 b1 57 b1",
	  .handlers = "0000000100020012", .map = "0001 42 07 0004" },
	{ NULL, .code = "00 b1 57 b1", .handlers = "0000000100020020", .map = "0001 42 07 0020" },
	{ "an exception handler's type is not a class", .code = "00 b1 57 b1",
	  .handlers = "0000000100020013", .map = "0001 42 07 0004" },
	{ "an exception handler's range is not within the code", .code = "00 b1 57 b1",
	  .handlers = "0001000100020000" },
	{ "an exception handler's range is not within the code", .code = "00 b1 57 b1",
	  .handlers = "0000000500020000" },
	{ "an exception handler is not within the code", .code = "00 b1 57 b1",
	  .handlers = "0000000100040000" },
	{ "an exception handler splits an instruction", .code = "10 00 57 b1",
	  .handlers = "0000000100030000" },
	/* The variable has no type before the store, which is in the range. */
	{ "a local variable's type differs from StackMapTable", .code = "03 3b b1 57 b1",
	  .handlers = "0000000300030000", .map = "0001 ff 0003 0001 01 0001 07 0004" },
	{ NULL, .code = "03 3b 00 b1 57 b1", .handlers = "0002000300040000",
	  .map = "0001 ff 0004 0001 01 0001 07 0004" },
};

/* Objects before and after their constructor runs. */
static const struct parts with_constructors[] = {
	{ NULL, .code = "2a b7 000b b1", .init = true },
	{ "a constructor returns before this() or super()", .code = "b1", .init = true },
	{ NULL, .code = "2a b7 000c b1", .init = true },
	{ "the object is already constructed", .code = "2a b7 000b 2a b7 000b b1", .init = true },
	{ NULL, .code = "2a 03 b5 0010 2a b7 000b b1", .init = true }, /* its own field */
	{ OTHER_TYPE, .code = "2a b4 0010 57 2a b7 000b b1", .init = true },
	{ NULL, .code = "2a 03 b5 0010 b1", .access = CF_ACC_PUBLIC },
	{ "the object is already constructed", .code = "01 b7 000b b1" },
	{ "the called constructor is not of this class or its superclass",
	  .code = "2a b7 000b b1", .init = true, .super = 32 },
	{ NULL, .code = "bb 0004 59 b7 000b 57 b1" },
	{ "the constructor is not of the class of the new object", .code = "bb 0002 b7 000b b1" },
	{ "new cannot allocate arrays", .code = "bb 001b 57 b1" },
	{ OTHER_TYPE, .code = "bb 0012 b6 0019 57 b1" },
	{ OTHER_TYPE, .code = "bb 0004 b0", .descriptor = "()Ljava/lang/Object;" },
	{ NULL, .code = "bb 0004 59 b7 000b b0", .descriptor = "()Ljava/lang/Object;" },
	/* The handler would receive an object whose constructor threw. */
	{ "'this' is uninitialised, but not in StackMapTable",
	  .code = "2a b7 000b b1 57 b1", .init = true, .handlers = "0000000400050000",
	  .map = "0001 ff 0005 0001 00 0001 07 0004" },
	{ "an object of this new is still uninitialised", .code = "b1 bb 0004 57 57 b1",
	  .map = "0001 41 08 0001" },
	{ "the local variable is not a reference", .code = "b1 bb 0004 57 2a b7 000b b1",
	  .map = "0001 ff 0001 0001 08 0001 0000" },
};

/* Without stack maps, types are merged where paths meet. */
static const struct parts inferred[] = {
	{ NULL, .code = "03 99 0004 00 b1", .major = 49 },
	{ NULL, .code = "b1 57 b1", .major = 49 },                /* unreachable */
	{ "paths meet with different stack depths", .code = "03 99 0004 03 b1",
	  .major = 49 },
	{ "paths meet with different types on the stack",
	  .code = "03 99 0007 03 a7 0004 0b 57 b1", .major = 49 },
	{ NULL, .code = "03 99 0007 01 a7 0005 12 13 b6 0019 57 b1", .major = 49 },
	{ OTHER_TYPE, .code = "03 99 0007 2a a7 0005 12 13 b6 0019 57 b1", .major = 49,
	  .descriptor = "(Ljava/lang/Object;)V" },
	{ NULL, .code = "03 99 0007 2a a7 0005 12 13 b6 0019 57 b1", .major = 49,
	  .descriptor = "(Ly;)V" },
	/* An int that is merged with a float becomes a value without type. */
	{ "the local variable has the wrong type", .major = 49,
	  .code = "03 99 0008 03 3b a7 0005 0b 43 1a 57 b1" },
	{ NULL, .code = "03 3b 84 00 01 a7 fffd", .major = 49 },
	{ "the local variable is not a reference",
		  .code = "01 4b 2a 57 03 3b a7 fffc", .major = 49 },
	{ NULL, .code = "00 b1 57 b1", .handlers = "0000000100020000", .major = 49 },
	/* Arrays of ints and of objects, and arrays and objects, have only Object in common. */
	{ NULL, .code = "03 99 0009 04 bc 0a a7 0007 04 bd 0004 b0", .major = 49,
	  .descriptor = "()Ljava/lang/Object;" },
	{ OTHER_TYPE, .code = "03 99 0009 04 bc 0a a7 0007 04 bd 0004 b0", .major = 49,
	  .descriptor = "()[Ljava/lang/Object;" },
	{ OTHER_TYPE, .code = "03 99 000a 04 bd 0004 a7 0006 04 bc 0a b0", .major = 49,
	  .descriptor = "()[Ljava/lang/Object;" },
	{ NULL, .code = "03 99 000a 04 bd 0012 a7 0005 12 13 b0", .major = 49,
	  .descriptor = "()Ljava/lang/Object;" },
	{ OTHER_TYPE, .code = "03 99 000a 04 bd 0012 a7 0005 12 13 b0", .major = 49,
	  .descriptor = "()[Ljava/lang/String;" },
	{ OTHER_TYPE, .code = "03 99 000a 04 bd 0012 a7 0005 12 13 b0", .major = 49,
	  .descriptor = "()Ljava/lang/String;" },
	/* Subroutines */
	{ NULL, .code = "a8 0004 b1 4b a9 00", .major = 49 },
	{ "the local variable is not a return address",
		  .code = "a8 0004 b1 57 01 4b a9 00", .major = 49 },
	{ EMPTY, .code = "a8 0005 57 b1 4b a9 00", .major = 49 },
	{ "control falls off the end of the code",
		  .code = "a7 0006 4b a9 00 a8 fffd", .major = 49 },
	/* Each caller has its own type in variable 1. */
	{ NULL, .code = "01 4c a8 000c 2b 57 03 3c a8 0005 1b ac 4b a9 00", .major = 49,
	  .descriptor = "()I" },
};

#define INTERFACE .flags = CF_ACC_INTERFACE | CF_ACC_ABSTRACT, .fields = "0001 0019000d000e0000"

/* Faults of the class file format. */
static const struct parts formats[] = {
	{ NULL, .constants = "'\xc3\xa4' '\xc0\x80'", .n_constants = 2 },
	{ "a Utf8 constant is not modified UTF-8", .constants = "'\xc3'", .n_constants = 1 },
	{ "a Utf8 constant is not modified UTF-8", .constants = "'\xc1\x80'", .n_constants = 1 },
	{ "a Utf8 constant is not modified UTF-8", .constants = "'\xf0\x9f\x98\x80'",
	  .n_constants = 1 },
	{ NULL, .constants = "'\xe2\x82\xac'", .n_constants = 1 },
	{ "a Utf8 constant is not modified UTF-8", .constants = "'\xe0\x80\x80'",
	  .n_constants = 1 },
	{ "a Class constant has an illegal name", .constants = "07 0023 'a.b'", .n_constants = 2 },
	{ "a Class constant has an illegal name", .constants = "07 0023 'a//b'", .n_constants = 2 },
	{ "a Class constant has an illegal name", .constants = "07 0002", .n_constants = 1 },
	{ NULL, .constants = "07 0023 'a-b'", .n_constants = 2 },
	{ "a Class constant has an illegal name", .constants = "07 0023 'a-b'", .n_constants = 2,
	  .major = 48 },
	{ "a Class constant has an illegal name", .constants = "07 0023 '[Lx'", .n_constants = 2 },
	{ "a String constant does not refer to a text", .constants = "08 0002", .n_constants = 1 },
	{ "a NameAndType constant is not a legal method",
	  .constants = "0c 0008 0017", .n_constants = 1 },          /* int <init>() */
	{ "a NameAndType constant does not refer to two texts",
	  .constants = "0c 0002 0017", .n_constants = 1 },
	{ "a NameAndType constant is not a legal field",
	  .constants = "0c 0005 0005", .n_constants = 1 },
	{ "a constant does not refer to a class, a name and a type",
	  .constants = "09 0001 000f", .n_constants = 1 },
	{ "a constant's kind does not match its descriptor",
	  .constants = "0a 0002 000f", .n_constants = 1 },
	{ NULL, .constants = "0f 01 0010", .n_constants = 1 },
	{ "a MethodHandle constant has an illegal kind", .constants = "0f 00 0010",
	  .n_constants = 1 },
	{ "a MethodHandle constant's kind does not match its reference",
	  .constants = "0f 05 0010", .n_constants = 1 },
	{ "a MethodHandle constant confuses a constructor with a method",
	  .constants = "0f 08 0019", .n_constants = 1 },
	{ "a constant's kind does not exist in this class file version",
	  .constants = "0f 01 0010", .n_constants = 1, .major = 50 },
	{ "a constant's kind does not exist in this class file version",
	  .constants = "13 0001", .n_constants = 1, .major = 53 },
	{ "BootstrapMethods is missing", .constants = "12 0000 0018", .n_constants = 1 },
	{ NULL, .constants = "12 0000 0018 0f 06 0019 'BootstrapMethods'", .n_constants = 3,
	  .attributes = "0001 0024 00000008 0001 0023 0001 0013" },
	{ "a constant refers to a missing bootstrap method",
	  .constants = "12 0001 0018 0f 06 0019 'BootstrapMethods'", .n_constants = 3,
	  .attributes = "0001 0024 00000008 0001 0023 0001 0013" },
	{ "a bootstrap argument is not loadable",
	  .constants = "12 0000 0018 0f 06 0019 'BootstrapMethods'", .n_constants = 3,
	  .attributes = "0001 0024 00000008 0001 0023 0001 0001" },
	{ "illegal combination of class modifiers", .flags = CF_ACC_FINAL | CF_ACC_ABSTRACT },
	{ "illegal combination of class modifiers", .flags = CF_ACC_INTERFACE },
	{ "illegal combination of class modifiers", .flags = CF_ACC_INTERFACE, .major = 50 },
	{ "an interface's superclass is not java.lang.Object", .super = 18,
	  .flags = CF_ACC_INTERFACE | CF_ACC_ABSTRACT },
	{ "the class has no valid superclass", .super = 27 },
	{ "illegal interface name", .interfaces = "0001 001b" },
	{ "it implements an interface twice", .interfaces = "0002 0020 0020" },
	{ "it has a duplicate field", .fields = "0002 0000000d000e0000 0001000d000e0000" },
	{ "it has a duplicate field",
	  .fields = "0003 0000000d000e0000 00000005000e0000 0001000d000e0000" },
	/* One name may be in the file twice. */
	{ "it has a duplicate field", .constants = "'f'", .n_constants = 1,
	  .fields = "0002 0000000d000e0000 00010022000e0000" },
	{ "illegal combination of field modifiers", .fields = "0001 0003000d000e0000" },
	{ "illegal field name", .fields = "0001 00000002000e0000" },
	{ "illegal field descriptor", .fields = "0001 0000000d00090000" },
	{ NULL, .constants = "'ConstantValue' 0300000001", .n_constants = 2,
	  .fields = "0001 0008000d000e 0001 0022 00000002 0023" },
	{ "ConstantValue does not match the field's type", .constants = "'ConstantValue'",
	  .n_constants = 1, .fields = "0001 0008000d000e 0001 0022 00000002 0014" },
	{ NULL, .constants = "'ConstantValue' 'J'", .n_constants = 2,
	  .fields = "0001 0008000d0023 0001 0022 00000002 0014" },
	{ NULL, .constants = "'ConstantValue' 'F' 04 3f800000", .n_constants = 3,
	  .fields = "0001 0008000d0023 0001 0022 00000002 0024" },
	{ NULL, .constants = "'ConstantValue' 'D' 06 0000000000000000", .n_constants = 4,
	  .fields = "0001 0008000d0023 0001 0022 00000002 0024" },
	{ NULL, .constants = "'ConstantValue' 'Ljava/lang/String;'", .n_constants = 2,
	  .fields = "0001 0008000d0023 0001 0022 00000002 0013" },
	{ "ConstantValue does not match the field's type",
	  .constants = "'ConstantValue' 'Ljava/lang/Object;'", .n_constants = 2,
	  .fields = "0001 0008000d0023 0001 0022 00000002 0013" },
	{ "ConstantValue does not match the field's type", .constants = "'ConstantValue'",
	  .n_constants = 1, .fields = "0001 0008000d001a 0001 0022 00000002 0013" },
	/* That of a field which is not static is ignored. */
	{ NULL, .constants = "'ConstantValue'", .n_constants = 1,
	  .fields = "0001 0000000d000e 0001 0022 00000002 0014" },
	{ "a fixed-length attribute has the wrong length", .constants = "'ConstantValue'",
	  .n_constants = 1, .fields = "0001 0008000d000e 0001 0022 00000003 001400" },
	{ "it has a duplicate method", .methods = 2 },
	{ "illegal combination of method modifiers", .access = CF_ACC_PUBLIC | CF_ACC_PRIVATE },
	{ "illegal combination of method modifiers", .access = CF_ACC_PUBLIC | CF_ACC_PRIVATE,
	  .init = true },
	{ "illegal combination of method modifiers", .access = CF_ACC_ABSTRACT | CF_ACC_FINAL,
	  .code = "b1" },
	{ "a native or abstract method has code", .access = CF_ACC_ABSTRACT, .code = "b1" },
	{ NULL, .access = CF_ACC_ABSTRACT },
	/* Interfaces: constants, and the methods that each version permits */
	{ NULL, INTERFACE, .access = CF_ACC_PUBLIC | CF_ACC_ABSTRACT },
	{ NULL, INTERFACE, .access = CF_ACC_PUBLIC | CF_ACC_STATIC },
	{ NULL, INTERFACE, .access = CF_ACC_PRIVATE },
	{ NULL, INTERFACE, .access = CF_ACC_PUBLIC | CF_ACC_ABSTRACT, .major = 49 },
	{ "illegal combination of class modifiers", .fields = "0000", .major = 49,
	  .flags = CF_ACC_INTERFACE | CF_ACC_SYNCHRONIZED,
	  .access = CF_ACC_PUBLIC | CF_ACC_ABSTRACT },
	{ NULL, .fields = "0000", .flags = CF_ACC_INTERFACE, .major = 48,
	  .access = CF_ACC_PUBLIC | CF_ACC_ABSTRACT },
	{ "illegal combination of method modifiers", INTERFACE, .access = CF_ACC_PROTECTED },
	{ "illegal combination of method modifiers", INTERFACE, .access = CF_ACC_STATIC },
	{ "illegal combination of method modifiers", INTERFACE,
	  .access = CF_ACC_PRIVATE | CF_ACC_ABSTRACT },
	{ "illegal combination of method modifiers", INTERFACE, .major = 51,
	  .access = CF_ACC_PUBLIC | CF_ACC_STATIC },
	{ "illegal combination of method modifiers", INTERFACE, .major = 51,
	  .access = CF_ACC_PUBLIC | CF_ACC_ABSTRACT | CF_ACC_SYNCHRONIZED },
	{ "illegal combination of field modifiers", .fields = "0001 0009000d000e0000",
	  .flags = CF_ACC_INTERFACE | CF_ACC_ABSTRACT,
	  .access = CF_ACC_PUBLIC | CF_ACC_ABSTRACT },
	{ NULL, .constants = "'MethodParameters'", .n_constants = 1,
	  .method_attribute = "0022 00000005 01 000d 0000" },
	{ "MethodParameters has the wrong length", .constants = "'MethodParameters'",
	  .n_constants = 1, .method_attribute = "0022 00000005 02 000d 0000" },
	{ "MethodParameters has the wrong length", .constants = "'MethodParameters'",
	  .n_constants = 1, .method_attribute = "0022 00000000" },
	{ "illegal method descriptor", .descriptor = "()" },
	{ "illegal method descriptor", .descriptor = "(V)V" },
	{ "the code is empty or longer than 65535 bytes", .code = "" },
	{ NULL, .constants = "'LineNumberTable'", .n_constants = 1,
	  .code_attributes = "0001 0022 00000006 0001 0000 0007" },
	{ "LineNumberTable has a pc after the end of the code", .constants = "'LineNumberTable'",
	  .n_constants = 1, .code_attributes = "0001 0022 00000006 0001 0001 0007" },
	{ "LineNumberTable has the wrong length", .constants = "'LineNumberTable'",
	  .n_constants = 1, .code_attributes = "0001 0022 00000006 0002 0000 0007" },
	{ NULL, .constants = "'LocalVariableTable'", .n_constants = 1,
	  .code_attributes = "0001 0022 0000000c 0001 0000 0001 000d 000e 0003" },
	{ "a local variable's range is not within the code", .constants = "'LocalVariableTable'",
	  .n_constants = 1,
	  .code_attributes = "0001 0022 0000000c 0001 0000 0002 000d 000e 0003" },
	{ "a local variable's index is not below max_locals", .constants = "'LocalVariableTable'",
	  .n_constants = 1,
	  .code_attributes = "0001 0022 0000000c 0001 0000 0001 000d 000e 0004" },
	{ NULL, .constants = "'LocalVariableTable' 'J'", .n_constants = 2,
	  .code_attributes = "0001 0022 00000016 0002 0000 0001 000d 0023 0000"
			     "                        0000 0001 0005 0023 0002" },
	/* One variable may have two names. */
	{ NULL, .constants = "'LocalVariableTable'", .n_constants = 1,
	  .code_attributes = "0001 0022 00000016 0002 0000 0001 000d 000e 0003"
			     "                        0000 0001 0005 000e 0003" },
	{ "a local variable's index is not below max_locals",
	  .constants = "'LocalVariableTable' 'J'", .n_constants = 2,
	  .code_attributes = "0001 0022 0000000c 0001 0000 0001 000d 0023 0003" },
	{ "the local variable tables are inconsistent",
	  .constants = "'LocalVariableTable'", .n_constants = 1,
	  .code_attributes = "0002 0022 0000000c 0001 0000 0001 000d 000e 0003"
			     "     0022 0000000c 0001 0000 0001 000d 000e 0003" },
	{ "a local variable's range splits an instruction",
	  .constants = "'LocalVariableTable'", .n_constants = 1, .code = "10 00 57 b1",
	  .code_attributes = "0001 0022 0000000c 0001 0001 0003 000d 000e 0003" },
	{ "a local variable's range splits an instruction",
	  .constants = "'LocalVariableTable'", .n_constants = 1, .code = "10 00 57 b1",
	  .code_attributes = "0001 0022 0000000c 0001 0000 0001 000d 000e 0003" },
	{ NULL, .constants = "'LocalVariableTable'", .n_constants = 1, .code = "10 00 57 b1",
	  .code_attributes = "0001 0022 0000000c 0001 0000 0002 000d 000e 0003" },
	{ "a local variable table has the wrong length", .constants = "'LocalVariableTable'",
	  .n_constants = 1,
	  .code_attributes = "0001 0022 0000000d 0001 0000 0001 000d 000e 0003 00" },
	{ "a local variable has an illegal name or type", .constants = "'LocalVariableTable'",
	  .n_constants = 1,
	  .code_attributes = "0001 0022 0000000c 0001 0000 0001 000d 0009 0003" },
	{ NULL, .constants = "'LocalVariableTable' 'LocalVariableTypeTable'", .n_constants = 2,
	  .code_attributes = "0002 0022 00000016 0002 0000 0001 000d 000e 0001"
			     "                        0000 0001 000d 000e 0002"
			     "     0023 0000000c 0001 0000 0001 000d 000e 0002" },
	{ "the local variable tables are inconsistent",
	  .constants = "'LocalVariableTable' 'LocalVariableTypeTable'", .n_constants = 2,
	  .code_attributes = "0002 0022 00000016 0002 0000 0001 000d 000e 0001"
			     "                        0000 0001 000d 000e 0003"
			     "     0023 0000000c 0001 0000 0001 000d 000e 0002" },
	{ "InnerClasses has the wrong length", .constants = "'InnerClasses'", .n_constants = 1,
	  .attributes = "0001 0022 0000000a 0002 0002 0000 0000 0000" },
	{ "InnerClasses has a duplicate entry", .constants = "'InnerClasses'", .n_constants = 1,
	  .attributes = "0001 0022 00000012 0002 0002 0000 0000 0000 0002 0000 0000 0000" },
	{ NULL, .constants = "'InnerClasses'", .n_constants = 1,
	  .attributes = "0001 0022 0000000a 0001 0002 0000 0000 0000" },
	{ "a class is nested in itself or in an array", .constants = "'InnerClasses'",
	  .n_constants = 1, .attributes = "0001 0022 0000000a 0001 0002 0002 0000 0000" },
	{ "an attribute that is allowed once occurs twice", .constants = "'SourceFile'",
	  .n_constants = 1, .attributes = "0002 0022 00000002 0001 0022 00000002 0001" },
	{ "an attribute has no name", .attributes = "0001 0002 00000000" },
	{ NULL, .constants = "'Record'", .n_constants = 1, .major = 60,
	  .attributes = "0001 0022 00000008 0001 000d 000e 0000" },
	{ "a record component has an illegal name or type", .constants = "'Record'",
	  .n_constants = 1, .major = 60,
	  .attributes = "0001 0022 00000008 0001 000d 0009 0000" },
	{ "a record component ends too early", .constants = "'Record'", .n_constants = 1,
	  .major = 60, .attributes = "0001 0022 00000008 0001 000d 000e 0001" },
	{ "Record has the wrong length", .constants = "'Record'", .n_constants = 1, .major = 60,
	  .attributes = "0001 0022 0000000a 0001 000d 000e 0000 0000" },
	{ NULL, .constants = "'EnclosingMethod'", .n_constants = 1,
	  .attributes = "0001 0022 00000004 0020 0000" },
	{ NULL, .constants = "'EnclosingMethod'", .n_constants = 1,
	  .attributes = "0001 0022 00000004 0020 0018" },
	{ "EnclosingMethod does not refer to a method", .constants = "'EnclosingMethod'",
	  .n_constants = 1, .attributes = "0001 0022 00000004 0020 0001" },
	{ "an attribute does not refer to a class", .constants = "'EnclosingMethod'",
	  .n_constants = 1, .attributes = "0001 0022 00000004 0001 0000" },
	{ "a class list has the wrong length", .constants = "'NestMembers'", .n_constants = 1,
	  .major = 55, .attributes = "0001 0022 00000004 0002 0020" },
	{ "a class list has an entry that is not a class", .constants = "'NestMembers'",
	  .n_constants = 1, .major = 55, .attributes = "0001 0022 00000004 0001 0001" },
	{ "a final class permits subclasses", .constants = "'PermittedSubclasses'",
	  .n_constants = 1, .major = 61, .flags = CF_ACC_FINAL,
	  .attributes = "0001 0022 00000004 0001 0020" },
	{ "it has both NestHost and NestMembers", .constants = "'NestHost' 'NestMembers'",
	  .n_constants = 2, .major = 55,
	  .attributes = "0002 0022 00000002 0020 0023 00000004 0001 0020" },
};

START_TEST(types_in_straight_code_are_checked)
{
	check_fault(&straight[_i]);
}
END_TEST

START_TEST(stack_maps_are_checked)
{
	check_fault(&with_maps[_i]);
}
END_TEST

START_TEST(exception_handlers_are_checked)
{
	check_fault(&with_handlers[_i]);
}
END_TEST

START_TEST(constructors_are_checked)
{
	check_fault(&with_constructors[_i]);
}
END_TEST

START_TEST(types_are_inferred_without_stack_maps)
{
	check_fault(&inferred[_i]);
}
END_TEST

START_TEST(format_is_checked)
{
	check_fault(&formats[_i]);
}
END_TEST

START_TEST(fault_has_method_and_offset)
{
	const struct parts p = { OTHER_TYPE, .code = "03 04 60 4b b1" };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_fault fault;

	build(&b, &p);
	ck_assert_str_eq(fault_in(b.data, b.len, &fault), p.what);
	ck_assert_uint_eq(fault.pc, 3);
	ck_assert(cf_text_is(fault.name, "m"));
	ck_assert(cf_text_is(fault.descriptor, "()V"));
	ck_assert(!fault.format && !fault.memory);
}
END_TEST

/* Up to JDK 17 the JVM discards the stack maps of boot classes. */
START_TEST(boot_class_is_verified_without_stack_maps)
{
	const struct parts p = { .code = "03 99 0004 00 b1" };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_class class;
	struct cf_fault fault;

	build(&b, &p);
	ck_assert_ptr_null(cf_open(&class, b.data, b.len, &mem));
	ck_assert(!cf_verify(&class, &fault));
	ck_assert_str_eq(fault.what, NO_FRAME);
	ck_assert(cf_verify_without_maps(&class, &fault));
	cf_release(&class);
}
END_TEST

/* The verifier terminates and releases its memory. */
START_TEST(damage_of_any_bit_is_handled)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	struct cf_fault fault;
	unsigned n_valid = 0;

	read_data("classfile/Sample.class", &file);
	ck_assert_ptr_null(fault_in(file.data, file.len, &fault));
	for (size_t i = 0; i < file.len; i++) {
		char original = file.data[i];

		for (int bit = 0; bit < 8; bit++) {
			file.data[i] = (char)(original ^ 1 << bit);
			n_valid += !fault_in(file.data, file.len, &fault);
		}
		file.data[i] = original;
	}
	/* Changed names, values and lines are valid; most other changes are not. */
	ck_assert_uint_gt(n_valid, 0);
	ck_assert_uint_lt(n_valid, 8 * file.len / 2);
}
END_TEST

START_TEST(too_little_memory_is_a_fault)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	struct cf_fault fault;
	unsigned failed = 0;

	read_data("classfile/Sample.class", &file);
	mem.peak = 0;
	ck_assert_ptr_null(fault_in(file.data, file.len, &fault));
	for (size_t budget = mem.peak; budget-- > 0;) {
		struct cf_class class;

		mem.budget = budget;
		if (cf_open(&class, file.data, file.len, &mem))
			break; /* too little to open the class */
		ck_assert(!cf_check(&class, &fault) || !cf_verify(&class, &fault));
		ck_assert(fault.memory);
		cf_release(&class);
		ck_assert_uint_eq(mem.blocks, 0);
		failed++;
	}
	mem.budget = SIZE_MAX;
	ck_assert_uint_gt(failed, 0);
}
END_TEST

/* Each of 8,000 stores is in the ranges of 8,000 handlers, with 65,535 variables to merge. */
START_TEST(work_on_a_hostile_class_is_limited)
{
	_cleanup_buf_ struct buf b = BUF_INIT, code = BUF_INIT, handlers = BUF_INIT;
	struct parts p = { .major = 49, .locals = 65535, .stack = 1 };
	struct cf_fault fault;
	const char *what;

	for (unsigned i = 0; i < 8000; i++) {
		buf_adds(&code, "03 c4 36 fff0 ");
		buf_adds(&handlers, "0000 9c40 9c41 0000 ");
	}
	buf_adds(&code, "b1 57 b1");
	p.code = xstrdup(code.data);
	p.handlers = handlers.data;
	build(&b, &p);
	what = fault_in(b.data, b.len, &fault);
	free((char *)p.code);
	ck_assert_ptr_nonnull(what);
	ck_assert(fault.memory);
}
END_TEST

#define N(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

int main(void)
{
	Suite *suite = suite_create("agent/classfile/verify/verify");
	TCase *tc = tcase_create("classfile/verify/verify");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, last_constant_has_its_two_entries, 0, 2);
	tcase_add_loop_test(tc, types_in_straight_code_are_checked, 0, N(straight));
	tcase_add_loop_test(tc, stack_maps_are_checked, 0, N(with_maps));
	tcase_add_loop_test(tc, exception_handlers_are_checked, 0, N(with_handlers));
	tcase_add_loop_test(tc, constructors_are_checked, 0, N(with_constructors));
	tcase_add_loop_test(tc, types_are_inferred_without_stack_maps, 0, N(inferred));
	tcase_add_loop_test(tc, format_is_checked, 0, N(formats));
	tcase_add_test(tc, fault_has_method_and_offset);
	tcase_add_test(tc, boot_class_is_verified_without_stack_maps);
	tcase_add_test(tc, damage_of_any_bit_is_handled);
	tcase_add_test(tc, too_little_memory_is_a_fault);
	tcase_add_test(tc, work_on_a_hostile_class_is_limited);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
