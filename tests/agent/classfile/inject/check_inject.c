/*
 * Hooks in methods: small classes written by hand, each with one feature that the hooks must
 * respect; then a class compiled by javac, truncated, damaged and with too little memory.
 */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "classfile/code.h"
#include "classfile/inject/inject.h"
#include "classfile/verify/verify.h"
#include "unit/support/data.h"
#include "agent/classfile/class_shape.h"

#define HOOKS "java/jtool/Hooks1"

static struct ag_mem mem = { .budget = SIZE_MAX };

static void check_valid(const struct cf_class *class)
{
	struct cf_fault fault;

	ck_assert_msg(cf_check(class, &fault), "%s", fault.what);
	ck_assert_msg(cf_verify(class, &fault), "@%u: %s", fault.pc, fault.what);
}

#define ID 12000
static uint32_t hook_id = ID;

/* Hooks all methods of the class; checks the result and that all memory is released. */
static void hook(const struct buf *b, bool values, struct buf *to, enum cf_refusal *refused)
{
	struct cf_probe probes[16] = { 0 };
	struct cf_output out = { .mem = &mem };
	struct cf_members methods;
	struct cf_member method;
	struct cf_class class;
	size_t n = 0;

	ck_assert_ptr_null(cf_open(&class, b->data, b->len, &mem));
	methods = cf_methods(&class);
	for (; n < 16 && cf_next_member(&methods, &method); n++)
		probes[n] = (struct cf_probe){ method.name, method.descriptor, hook_id, values, 0 };
	ck_assert_ptr_null(cf_inject(&class, HOOKS, probes, n, &out));
	*refused = probes[0].refused;
	cf_release(&class);
	if (out.len > 0) {
		buf_add(to, out.data, out.len);
		ck_assert_ptr_null(cf_open(&class, to->data, to->len, &mem));
		check_valid(&class);
		cf_release(&class);
	}
	cf_output_release(&out);
	ck_assert_uint_eq(mem.blocks, 0);
}

/* Checks that the class is valid before and after hooking, with values and without. */
static void check_hooked(const struct shape *s)
{
	for (int values = 0; values < 2; values++) {
		_cleanup_buf_ struct buf b = BUF_INIT, to = BUF_INIT;
		enum cf_refusal refused;
		struct cf_class class;

		build_shape(&b, s);
		ck_assert_ptr_null(cf_open(&class, b.data, b.len, &mem));
		check_valid(&class);
		cf_release(&class);
		hook(&b, values, &to, &refused);
		ck_assert_msg(refused == CF_HOOKED, "%s: %s", s->code, cf_refusal_text(refused));
		ck_assert_uint_gt(to.len, b.len);
	}
}

static void check_refused(const struct shape *s, enum cf_refusal expected)
{
	_cleanup_buf_ struct buf b = BUF_INIT, to = BUF_INIT;
	enum cf_refusal refused;

	build_shape(&b, s);
	hook(&b, true, &to, &refused);
	ck_assert_msg(refused == expected, "%s: %s instead of %s", s->code,
		      cf_refusal_text(refused), cf_refusal_text(expected));
	ck_assert_uint_eq(to.len, 0);
}

/* Returns the length of the first method's code. */
static uint32_t code_len(const struct buf *b)
{
	struct cf_members methods;
	struct cf_member method;
	struct cf_class class;
	struct cf_code code;

	ck_assert_ptr_null(cf_open(&class, b->data, b->len, &mem));
	methods = cf_methods(&class);
	ck_assert(cf_next_member(&methods, &method) && cf_code(&method, &code));
	cf_release(&class);
	return code.len;
}

/* Compares the code of the only method after hooking with `expected`, in hexadecimal. */
static void check_code(const struct shape *s, bool values, const char *expected)
{
	_cleanup_buf_ struct buf b = BUF_INIT, to = BUF_INIT, text = BUF_INIT;
	struct cf_members methods;
	enum cf_refusal refused;
	struct cf_member method;
	struct cf_class class;
	struct cf_code code;

	build_shape(&b, s);
	hook(&b, values, &to, &refused);
	ck_assert_int_eq(refused, CF_HOOKED);
	ck_assert_ptr_null(cf_open(&class, to.data, to.len, &mem));
	methods = cf_methods(&class);
	ck_assert(cf_next_member(&methods, &method) && cf_code(&method, &code));
	for (uint32_t i = 0; i < code.len; i++) {
		struct cf_insn insn;

		/* The index of a hook's constant may differ: print C. */
		if (cf_insn(code.code, code.len, i, &insn) && insn.opcode == 0xb8) {
			buf_addf(&text, "b8 C ");
			i += 2;
		} else if (cf_insn(code.code, code.len, i, &insn) && insn.len <= 4) {
			for (uint32_t k = 0; k < insn.len; k++)
				buf_addf(&text, "%02x ", code.code[i + k]);
			i += insn.len - 1;
		}
	}
	ck_assert_str_eq(buf_str(&text), expected);
	cf_release(&class);
}

START_TEST(hooks_are_inserted_at_entry_and_exits)
{
	/* enter, store; exit, return; dup, load, fail, throw */
	check_code(&(struct shape){ .code = "00b1", .locals = 1 }, false,
		   "11 2e e0 b8 C 40 00 1f 11 2e e0 b8 C b1 59 1f 11 2e e0 b8 C bf ");
	/* the arguments are reported if enter returns a token; then the result */
	check_code(&(struct shape){ .code = "1ead", .descriptor = "(JI)J" }, true,
		   "11 2e e0 b8 C 37 04 16 04 09 94 99 00 0f 16 04 1e b8 C 16 04 1c b8 C "
		   "1e 5c 16 04 11 2e e0 b8 C ad 59 16 04 11 2e e0 b8 C bf ");
	/* no code between enter and exit: no handler */
	check_code(&(struct shape){ .code = "b1", .locals = 300 }, false,
		   "11 2e e0 b8 C c4 37 01 2c c4 16 01 2c 11 2e e0 b8 C b1 ");
}
END_TEST

/* Ids are not constants, because HotSpot never removes a constant from a class. */
START_TEST(ids_of_any_size_are_pushed_without_constants)
{
	const struct shape s = { .code = "b1", .locals = 1 };

	hook_id = 32767;
	check_code(&s, false, "11 7f ff b8 C 40 1f 11 7f ff b8 C b1 ");
	hook_id = 32768;
	check_code(&s, false, "11 00 01 10 10 78 11 80 00 60 b8 C 40 "
		   "1f 11 00 01 10 10 78 11 80 00 60 b8 C b1 ");
	hook_id = UINT32_MAX;
	check_code(&s, false, "11 00 00 10 10 78 11 ff ff 60 b8 C 40 "
		   "1f 11 00 00 10 10 78 11 ff ff 60 b8 C b1 ");
	hook_id = 70000;
	check_hooked(&(struct shape){ .code = "1ead", .descriptor = "(JI)J" });
	hook_id = ID;
}
END_TEST

static const struct shape shapes[] = {
	{ .code = "b1" },
	{ .code = "b1", .major = 45 },
	{ .code = "b1", .major = 50 },
	{ .code = "01bf", .locals = 65533 },
	/* each kind of argument and of result */
	{ .code = "1aac", .descriptor = "(ZBCSIJFD[ILjava/lang/String;[[Lx/Y;)I",
	  .locals = 14 },
	{ .code = "1aac", .descriptor = "(Z)Z" },
	{ .code = "1ead", .descriptor = "(J)J" },
	{ .code = "22ae", .descriptor = "(F)F" },
	{ .code = "26af", .descriptor = "(D)D" },
	{ .code = "2ab0", .descriptor = "([[I)[[I" },
	{ .code = "2ab0", .descriptor = "(Ljava/lang/Object;)Ljava/lang/Object;" },
	{ .code = "b1", .instance = true, .descriptor = "(JLjava/lang/Object;)V" },
	/* the stack has more values than the method returns */
	{ .code = "040504ac", .descriptor = "()I" },
	/* a jump back to the first instruction: with a frame, without stack maps, conditional */
	{ .code = "a70000", .map = "0001 00" },
	{ .code = "a70000", .major = 48 },
	{ .code = "1a9a0004 b1 1a9afffa b1", .descriptor = "(I)V", .map = "0002 00 04" },
	/* two returns: a jump to the second, a jump to the instruction before the second */
	{ .code = "1a990004 b1 b1", .descriptor = "(I)V", .map = "0001 05" },
	{ .code = "1a990005 04ac 05ac", .descriptor = "(I)I", .map = "0001 06" },
	/* frames of all encodings: append, same_locals_1, chop, same extended, full */
	{ .code = "033c 1a990005 04ac 1b990005 05ac 06ac", .descriptor = "(I)I",
	  .map = "0002 fc000801 05" },
	{ .code = "033c 1a990005 04ac 1b990005 05ac 06ac", .descriptor = "(I)I",
	  .map = "0002 ff0008 0002 0101 0000 fa0005" },
	{ .code = "033c 1a990005 04ac 1a990005 05ac 06ac", .descriptor = "(I)I",
	  .map = "0002 fb0008 fb0005" },
	{ .code = "04 1a990003 ac", .descriptor = "(I)I", .map = "0001 4501" },
	{ .code = "04 1a990003 ac", .descriptor = "(I)I", .map = "0001 f7000501" },
	{ .code = "09 1a990003 ad", .descriptor = "(I)J", .map = "0001 4504" },
	/* an uninitialised object in a frame */
	{ .code = "bb0002 59 1a990003 b7000b 57 b1", .descriptor = "(I)V",
	  .map = "0001 ff0008 0001 01 0002 080000 080000" },
	/* switches whose padding changes */
	{ .code = "1aaa0000 00000017 00000001 00000002 00000018 00000019 b1 b1 b1",
	  .descriptor = "(I)V", .map = "0003 18 00 00" },
	{ .code = "00 1aab00 00000012 00000001 00000007 00000013 b1 b1",
	  .descriptor = "(I)V", .map = "0002 14 00" },
	{ .code = "1aab0000 0000000b 00000000 b1", .descriptor = "(I)V", .map = "0001 0c" },
	/* jumps of four bytes, wide variables */
	{ .code = "c800000005 b1", .map = "0001 05" },
	{ .code = "03c436000cc415000cc484000c000157b1", .locals = 400 },
	/* subroutines */
	{ .code = "a80004 b1 4b a900", .major = 48 },
	{ .code = "c900000006 b1 4b a900", .major = 46 },
	{ .code = "a80004 b1 4b c4a90000", .major = 45 },
	/* handlers: for the first instruction, for a return, for the last byte */
	{ .code = "00b14cb1", .handlers = "0000 0001 0002 0000",
	  .map = "0001 ff0002 0000 0001 070013" },
	{ .code = "00b14cb1", .handlers = "0001 0002 0002 0013",
	  .map = "0001 ff0002 0000 0001 070013" },
	{ .code = "00b14cb1", .handlers = "0003 0004 0002 0013", .major = 49 },
	{ .code = "a70004 4c b1", .handlers = "0000 0003 0003 0000",
	  .map = "0002 43070013 00" },
	/* constructors */
	{ .code = "2ab7000ab1", .name = "<init>", .instance = true },
	{ .code = "2ab7000ab1", .name = "<init>", .instance = true, .major = 49 },
	{ .code = "2ab7000bb1", .name = "<init>", .instance = true, .descriptor = "(IJ)V" },
	{ .code = "0405 6c57 2ab7000a 00b1", .name = "<init>", .instance = true },
	{ .code = "0405 6c57 2ab7000a 00b1", .name = "<init>", .instance = true,
	  .major = 47 },
	/* another object of the class is constructed before super() */
	{ .code = "bb0002 59b7000b 57 2ab7000a 00b1", .name = "<init>", .instance = true },
	/* a branch before super(); the variable of `this` is overwritten */
	{ .code = "2a 1b99 0004 00 b7000a b1", .name = "<init>", .instance = true,
	  .descriptor = "(I)V", .map = "0001 ff0006 0002 0601 0001 06" },
	{ .code = "2a4c 014b bb000257 2bb7000a b1", .name = "<init>", .instance = true },
	{ .code = "2ab7000a b1 57 b1", .name = "<init>", .instance = true,
	  .handlers = "0004 0005 0005 0000", .major = 49 },
	/* a constructor that never returns; one that throws before super() */
	{ .code = "a70000", .name = "<init>", .instance = true, .map = "0001 00" },
	{ .code = "01bf", .name = "<init>", .instance = true },
	/* an old class initialiser, which need not be declared static */
	{ .code = "b1", .name = "<clinit>", .instance = true, .major = 50, .locals = 1 },
	/* attributes that are dropped, and an unknown one */
	{ .code = "b1", .attributes = "0002 0010 00000002 0000 0011 00000002 0000" },
	{ .code = "b1", .attributes = "0001 000e 00000003 010203" },
	{ .code = "b1", .attributes = "0001 0006 00000000" },
};


START_TEST(every_kind_of_method_is_hooked)
{
	check_hooked(&shapes[_i]);
}
END_TEST

START_TEST(methods_that_cannot_be_hooked_are_refused)
{
	const struct shape native = { .access = CF_ACC_STATIC | CF_ACC_NATIVE };
	const struct shape abstract = { .access = CF_ACC_ABSTRACT };
	const struct shape root = { .code = "b1", .name = "<init>", .instance = true,
				    .class = "java/lang/Object" };

	check_refused(&native, CF_NO_CODE);
	check_refused(&abstract, CF_NO_CODE);
	check_refused(&root, CF_ROOT);
	check_refused(&(struct shape){ .code = "00b1", .nops = 65520, .tail = 1 }, CF_TOO_LONG);
	/* only the appended code exceeds the limit */
	check_refused(&(struct shape){ .code = "00b1", .nops = 65515, .tail = 1 }, CF_TOO_LONG);
	/* a jump over a return with its hook, forward and backward */
	check_refused(&(struct shape){ .code = "1a997fff b1 b1", .descriptor = "(I)V",
				       .nops = 32763, .tail = 1 }, CF_FAR_JUMP);
	check_refused(&(struct shape){ .code = "a70004 b1 a78000", .nops = 32764, .tail = 3 },
		      CF_FAR_JUMP);
	check_refused(&(struct shape){ .code = "b1", .locals = 65534 }, CF_TOO_MANY);
	check_refused(&(struct shape){ .code = "b1", .stack = 65533 }, CF_TOO_MANY);
	check_refused(&(struct shape){ .code = "00b1", .same_handlers = 65535,
				       .handlers = "0000 0001 0001 0000" }, CF_TOO_MANY);
	check_refused(&(struct shape){ .code = "00b1", .nops = 60000, .tail = 1, .frames = 60000,
				       .locals = 1200 }, CF_TOO_MANY);
}
END_TEST

/* Checks that hooks lengthen the code of the shape from `before` to `after` bytes. */
static void check_length(const struct shape *s, uint32_t before, uint32_t after)
{
	_cleanup_buf_ struct buf b = BUF_INIT, to = BUF_INIT;
	enum cf_refusal refused;

	build_shape(&b, s);
	ck_assert_uint_eq(code_len(&b), before);
	hook(&b, true, &to, &refused);
	ck_assert_msg(refused == CF_HOOKED, "%u bytes: %s", before, cf_refusal_text(refused));
	ck_assert_uint_eq(code_len(&to), after);
}

/* HotSpot compiles methods of up to 8000 bytes. */
START_TEST(method_that_would_not_be_compiled_is_refused)
{
	enum { OWN = 2, HOOKS_LEN = 23 };
	struct shape s = { .code = "00b1", .tail = 1, .locals = 1 };

	s.nops = 8000 - HOOKS_LEN - OWN;
	check_length(&s, 8000 - HOOKS_LEN, 8000);
	s.nops++;
	check_refused(&s, CF_NOT_COMPILED);
	s.nops = 8000 - OWN;
	check_refused(&s, CF_NOT_COMPILED);
	/* is interpreted without hooks, too */
	s.nops++;
	check_length(&s, 8001, 8001 + HOOKS_LEN);
}
END_TEST

START_TEST(malformed_methods_are_refused)
{
	static const struct shape bad[] = {
		{ .code = "ba" },                /* truncated */
		{ .code = "fdb1" },              /* unknown opcode */
		{ .code = "00" },                /* runs past its end */
		{ .code = "1aac" },              /* returns another type */
		{ .code = "a70001 b1" },         /* jumps into an operand */
		{ .code = "a7fff0 b1" },         /* jumps out of the code */
		{ .code = "a70003" },            /* jumps to its end */
		{ .code = "03ab0000 00000001 00000000 b1" },
		{ .code = "03aa0000 00000010 00000000 00000000 00000001 b1" },
		{ .code = "b1", .descriptor = "()" },
		{ .code = "b1", .descriptor = "(JJI)V" }, /* exceeds max_locals */
		{ .code = "b1", .descriptor = "(V)V" },
		{ .code = "00b1", .handlers = "0000 0003 0000 0000" },
		{ .code = "a70003b1", .handlers = "0001 0003 0000 0000" },
		{ .code = "00b1", .handlers = "0000 0001 0002 0000" },
		{ .code = "b1", .map = "0001" },
		{ .code = "b1", .map = "0001 01" },   /* after the code */
		{ .code = "b1", .map = "0001 80" },   /* unknown kind */
		{ .code = "b1", .map = "0001 f80000" }, /* chops an absent local */
		{ .code = "b1", .map = "0001 fe0000 040404" }, /* exceeds max_locals */
		{ .code = "b1", .map = "0001 fc0000 09" },
		{ .code = "b1", .map = "0001 fc0000 080000 00" },
		{ .code = "b1", .map = "0001 ff0000 0001 080001 0000" },
		{ .code = "a70003b1", .map = "0002 01 00" },
		{ .code = "b1", .map = "0000 00" }, /* longer than its frames */
		{ .code = "b1", .attributes = "0001 000c 00000005 0001000000" },
		{ .code = "b1", .attributes = "0001 000d 00000001 00" },
		{ .code = "b1", .attributes = "0002 0006 00000002 0000 0006 00000002 0000" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_refused(&bad[i], CF_MALFORMED);
}
END_TEST

/* Reads an attribute of the code of the hooked method, and its exception table. */
static void read_attribute(const struct buf *file, const char *name, struct buf *to,
			   struct buf *handlers)
{
	struct cf_attribute a;
	struct cf_members methods;
	struct cf_member method;
	struct cf_class class;
	struct cf_code code;

	ck_assert_ptr_null(cf_open(&class, file->data, file->len, &mem));
	methods = cf_methods(&class);
	ck_assert(cf_next_member(&methods, &method) && cf_code(&method, &code));
	if (cf_find_attribute(code.attributes, name, &a))
		buf_add(to, (const char *)a.data, a.len);
	buf_add(handlers, (const char *)code.handlers, (size_t)code.n_handlers * 8);
	cf_release(&class);
}

static void check_bytes(const struct buf *b, const char *expected)
{
	_cleanup_buf_ struct buf e = BUF_INIT;

	put_bytes(&e, expected);
	ck_assert_uint_eq(b->len, e.len);
	ck_assert(e.len == 0 || memcmp(b->data, e.data, e.len) == 0);
}

static void check_table(const struct shape *s, bool values, const char *name, const char *table,
			const char *handlers)
{
	_cleanup_buf_ struct buf b = BUF_INIT, to = BUF_INIT, t = BUF_INIT, h = BUF_INIT;
	enum cf_refusal refused;

	build_shape(&b, s);
	hook(&b, values, &to, &refused);
	ck_assert_int_eq(refused, CF_HOOKED);
	read_attribute(&to, name, &t, &h);
	check_bytes(&t, table);
	check_bytes(&h, handlers);
}

START_TEST(line_and_variable_tables_are_adjusted)
{
	/* nop; if (i) return; nop; return: the entry hook has 7 bytes, that of a return 8 */
	const struct shape lines = {
		.code = "00 1a990004 b1 00 b1", .descriptor = "(I)V", .locals = 1, .major = 49,
		.attributes = "0002 000c 00000012 0004 0000000a 0003000b 0005000c 0006000d "
			      "000d 00000016 0002 0000 0007 000e000f0000 0001 0004 000e000f0000",
	};

	/* Ranges from the start of the method still start there; invalid entries are dropped. */
	check_table(&lines, false, "LineNumberTable", "0003 0000000a 000c000c 0014000d",
		    "0007 000c 001d 0000 0014 0015 001d 0000");
	check_table(&lines, false, "LocalVariableTable",
		    "0002 0000 0015 000e000f0000 0008 0004 000e000f0000",
		    "0007 000c 001d 0000 0014 0015 001d 0000");
}
END_TEST

START_TEST(stack_map_frames_are_added_for_hooks)
{
	/* The frame of the handler: the token in its variable, the exception on the stack. */
	check_table(&(struct shape){ .code = "00b1", .locals = 2 }, false, "StackMapTable",
		    "0001 ff0010 0003 000004 0001 070013",
		    "0007 0008 0010 0000");
	/* Two frames: also one after the arguments have been reported. */
	check_table(&(struct shape){ .code = "00b1", .locals = 2, .descriptor = "(F)V" }, true,
		    "StackMapTable",
		    "0002 ff0012 0003 020004 0000 ff0008 0003 000004 0001 070013",
		    "0007 0013 001b 0000");
	/* A constructor: a frame for code before super() that may throw, and one for code after. */
	check_table(&(struct shape){ .code = "0404 6c57 2ab7000a 00b1", .name = "<init>",
				     .instance = true, .locals = 1 },
		    false, "StackMapTable",
		    "0002 ff0018 0002 0004 0001 070013 ff0008 0002 0604 0001 070013",
		    "0007 000c 0021 0000 000f 0010 0018 0000");
}
END_TEST

static void open_sample(struct cf_class *class, struct buf *b)
{
	read_data("classfile/Sample.class", b);
	ck_assert_ptr_null(cf_open(class, b->data, b->len, &mem));
}

static size_t probe_all(const struct cf_class *class, struct cf_probe *probes, bool values)
{
	struct cf_members methods = cf_methods(class);
	struct cf_member method;
	size_t n = 0;

	while (cf_next_member(&methods, &method))
		probes[n++] = (struct cf_probe){ method.name, method.descriptor, (uint32_t)n,
						 values, CF_HOOKED };
	return n;
}

START_TEST(order_of_probes_does_not_matter)
{
	struct cf_output forward = { .mem = &mem }, reverse = { .mem = &mem };
	struct cf_probe probes[17], reversed[17];
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_class class;
	size_t n;

	open_sample(&class, &b);
	n = probe_all(&class, probes, true);
	ck_assert_uint_gt(n, 2);
	for (size_t i = 0; i < n; i++)
		reversed[i] = probes[n - 1 - i];
	reversed[n] = (struct cf_probe){ { "nowhere", 7 }, { "()V", 3 }, 1, true, CF_HOOKED };
	ck_assert_ptr_null(cf_inject(&class, HOOKS, probes, n, &forward));
	ck_assert_ptr_null(cf_inject(&class, HOOKS, reversed, n + 1, &reverse));
	ck_assert_int_eq(reversed[n].refused, CF_NOT_FOUND);
	ck_assert_uint_eq(forward.len, reverse.len);
	ck_assert(memcmp(forward.data, reverse.data, reverse.len) == 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(probes[i].refused, reversed[n - 1 - i].refused);
	cf_output_release(&forward);
	cf_output_release(&reverse);
	cf_release(&class);
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

#define MANY 20000

/* A class of native methods: "m0", "m1", … */
static void build_many(struct buf *b)
{
	put(b, 0xcafebabe, 4);
	put(b, 52, 4);
	put(b, N_CONSTANTS + MANY, 2);
	put_bytes(b, constants);
	for (unsigned i = 0; i < MANY; i++) {
		_cleanup_free_ char *name = xasprintf("m%u", i);

		put_text(b, name, strlen(name));
	}
	put(b, CF_ACC_SYNCHRONIZED, 2);
	put(b, 0x00020004, 4);
	put(b, 0, 4); /* interfaces, fields */
	put(b, MANY, 2);
	for (unsigned i = 0; i < MANY; i++) {
		put(b, CF_ACC_STATIC | CF_ACC_NATIVE, 2);
		put(b, N_CONSTANTS + i, 2);
		put(b, 0x00080000, 4); /* ()V, no attributes */
	}
	put(b, 0, 2);
}

/* A linear search per method would exceed the timeout. */
START_TEST(many_methods_are_found_in_any_order)
{
	_cleanup_free_ struct cf_probe *probes = xcalloc(MANY, sizeof(*probes));
	struct cf_output out = { .mem = &mem };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_members methods;
	struct cf_member method;
	struct cf_class class;

	build_many(&b);
	ck_assert_ptr_null(cf_open(&class, b.data, b.len, &mem));
	methods = cf_methods(&class);
	for (size_t i = 0; cf_next_member(&methods, &method); i++) {
		struct cf_probe *probe = &probes[i * 7919 % MANY]; /* a prime: fills every probe */

		*probe = (struct cf_probe){ .name = method.name, .descriptor = method.descriptor };
	}
	ck_assert_ptr_null(cf_inject(&class, HOOKS, probes, MANY, &out));
	for (size_t i = 0; i < MANY; i++)
		ck_assert_int_eq(probes[i].refused, CF_NO_CODE);
	ck_assert_uint_eq(out.len, 0);
	cf_release(&class);
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

START_TEST(class_without_probed_methods_is_unchanged)
{
	struct cf_probe probe = { { "nowhere", 7 }, { "()V", 3 }, 1, true, CF_HOOKED };
	struct cf_output out = { .mem = &mem };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_class class;

	open_sample(&class, &b);
	ck_assert_ptr_null(cf_inject(&class, HOOKS, &probe, 1, &out));
	ck_assert_int_eq(probe.refused, CF_NOT_FOUND);
	ck_assert_uint_eq(out.len, 0);
	ck_assert_ptr_null(cf_inject(&class, HOOKS, NULL, 0, &out));
	ck_assert_uint_eq(out.len, 0);
	cf_output_release(&out);
	cf_release(&class);
}
END_TEST

START_TEST(constant_pool_overflow_is_an_error)
{
	struct cf_output out = { .mem = &mem };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_probe probes[1];
	struct cf_class class;

	build_shape(&b, &(struct shape){ .code = "00b1", .fillers = 65500 });
	ck_assert_ptr_null(cf_open(&class, b.data, b.len, &mem));
	ck_assert_str_eq(cf_inject(&class, HOOKS, probes, probe_all(&class, probes, false), &out),
			 "the constant pool would have more than 65,535 entries");
	ck_assert_ptr_null(out.data);
	cf_release(&class);
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

/* A long uses two indices, of which the second must not be used for a new constant. */
START_TEST(constant_after_a_final_long_has_the_right_index)
{
	_cleanup_buf_ struct buf b = BUF_INIT, with_long = BUF_INIT;
	struct cf_output out = { .mem = &mem };
	struct cf_class class, new;
	struct cf_probe probes[1];
	size_t end;

	build_shape(&b, &(struct shape){ .code = "00b1" });
	ck_assert_ptr_null(cf_open(&class, b.data, b.len, &mem));
	end = class.interfaces - 8;
	cf_release(&class);
	buf_add(&with_long, b.data, end);
	put_bytes(&with_long, "050000000000000001");
	buf_add(&with_long, b.data + end, b.len - end);
	with_long.data[9]++; /* constant_pool_count */
	ck_assert_ptr_null(cf_open(&class, with_long.data, with_long.len, &mem));
	ck_assert_ptr_null(cf_inject(&class, HOOKS, probes, probe_all(&class, probes, false),
				     &out));
	ck_assert_int_eq(probes[0].refused, CF_HOOKED);
	ck_assert_ptr_null(cf_open(&new, out.data, out.len, &mem));
	check_valid(&new);
	cf_release(&new);
	cf_release(&class);
	cf_output_release(&out);
}
END_TEST

/* Each budget except the last is too small. */
START_TEST(out_of_memory_is_an_error)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	bool done = false;

	read_data("classfile/Sample.class", &b);
	for (size_t budget = 4096; !done; budget += 997) {
		struct ag_mem small = { .budget = budget };
		struct cf_output out = { .mem = &small };
		struct cf_probe probes[16];
		struct cf_class class;
		const char *why;

		if (cf_open(&class, b.data, b.len, &small))
			continue;
		why = cf_inject(&class, HOOKS, probes, probe_all(&class, probes, true), &out);
		done = !why;
		ck_assert_int_eq(done, out.len > 0);
		ck_assert(done || !out.data);
		cf_output_release(&out);
		cf_release(&class);
		ck_assert_uint_eq(small.bytes, 0);
		ck_assert_uint_eq(small.blocks, 0);
	}
}
END_TEST

/* Hooks a copy of the first `len` bytes of a class file, with byte `at` changed by `flip`. */
static void try_damaged(const struct buf *b, size_t len, size_t at, uint8_t flip)
{
	uint8_t *copy = xmalloc(len ? len : 1); /* ASan detects reads past the end */
	struct cf_output out = { .mem = &mem };
	struct cf_probe probes[16];
	struct cf_class class, new;

	memcpy(copy, b->data, len);
	if (at < len)
		copy[at] ^= flip;
	if (!cf_open(&class, copy, len, &mem)) {
		size_t n = class.n_methods <= 16 ? probe_all(&class, probes, at & 1) : 0;

		if (!cf_inject(&class, HOOKS, probes, n, &out) && out.len > 0) {
			ck_assert_ptr_null(cf_open(&new, out.data, out.len, &mem));
			cf_release(&new);
		}
		cf_output_release(&out);
		cf_release(&class);
	}
	ck_assert_uint_eq(mem.blocks, 0);
	free(copy);
}

START_TEST(truncated_and_damaged_classes_are_handled)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	read_data("classfile/Sample.class", &b);
	for (size_t len = 0; len < b.len; len++)
		try_damaged(&b, len, SIZE_MAX, 0);
	for (size_t at = 0; at < b.len; at++) {
		try_damaged(&b, b.len, at, 0xff);
		try_damaged(&b, b.len, at, 1);
	}
}
END_TEST

START_TEST(hook_class_declares_all_hooks)
{
	static const char *const hooks[][2] = {
#define HOOK(name, descriptor) { #name, descriptor },
#include "classfile/inject/hooks.def"
#undef HOOK
	};
	const uint16_t access = CF_ACC_PUBLIC | CF_ACC_STATIC | CF_ACC_NATIVE;
	struct cf_output out = { .mem = &mem };
	struct cf_members methods;
	struct cf_member method;
	struct cf_class class;

	cf_hooks_class(HOOKS, &out);
	ck_assert(!out.failed);
	ck_assert_ptr_null(cf_open(&class, out.data, out.len, &mem));
	check_valid(&class);
	ck_assert(cf_text_is(cf_name(&class), HOOKS));
	methods = cf_methods(&class);
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		ck_assert(cf_next_member(&methods, &method));
		ck_assert_uint_eq(method.access, access);
		ck_assert(cf_text_is(method.name, hooks[i][0]));
		ck_assert(cf_text_is(method.descriptor, hooks[i][1]));
	}
	ck_assert(!cf_next_member(&methods, &method));
	cf_release(&class);
	cf_output_release(&out);
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/classfile/inject/inject");
	TCase *t = tcase_create("classfile/inject/inject");
	SRunner *r;
	int failed;

	tcase_add_test(t, hooks_are_inserted_at_entry_and_exits);
	tcase_add_test(t, ids_of_any_size_are_pushed_without_constants);
	tcase_add_loop_test(t, every_kind_of_method_is_hooked, 0,
			    (int)(sizeof(shapes) / sizeof(shapes[0])));
	tcase_add_test(t, methods_that_cannot_be_hooked_are_refused);
	tcase_add_test(t, method_that_would_not_be_compiled_is_refused);
	tcase_add_test(t, malformed_methods_are_refused);
	tcase_add_test(t, line_and_variable_tables_are_adjusted);
	tcase_add_test(t, stack_map_frames_are_added_for_hooks);
	tcase_add_test(t, order_of_probes_does_not_matter);
	tcase_add_test(t, class_without_probed_methods_is_unchanged);
	tcase_add_test(t, constant_pool_overflow_is_an_error);
	tcase_add_test(t, constant_after_a_final_long_has_the_right_index);
	tcase_add_test(t, out_of_memory_is_an_error);
	tcase_add_test(t, truncated_and_damaged_classes_are_handled);
	tcase_add_test(t, hook_class_declares_all_hooks);
	suite_add_tcase(s, t);
	t = tcase_create("classfile/inject/inject: 20,000 methods");
	tcase_set_timeout(t, 10);
	tcase_add_test(t, many_methods_are_found_in_any_order);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
