/*
 * Hooks at allocation sites: small classes written by hand, one for each kind of site and one for
 * each part of a method that hooks move; then one method with all kinds of sites,
 * truncated, damaged and with too little memory.
 */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "classfile/code.h"
#include "classfile/inject/inject_sites.h"
#include "classfile/verify/verify.h"
#include "base/xalloc.h"
#include "agent/classfile/class_shape.h"

#define HOOKS "java/jtool/Hooks1"

/* Constants from index MORE */
static const char more[] =
	"'clone' '()Ljava/lang/Object;' 0c00160017 0a00040018 " /* 16 … 19 Object.clone */
	"'[I' 07001a 0a001b0018 '[[I' 07001d "        /* 1b class [I, 1c [I.clone, 1e class [[I */
	"'java/lang/reflect/Array' 07001f 'newInstance' "
	"'(Ljava/lang/Class;I)Ljava/lang/Object;' 0c00210022 0a00200023 " /* 24 newInstance */
	"'java/lang/StringBuilder' 070025 'toString' '()Ljava/lang/String;' 0c00270028 "
	"0a00260029 0a00040029 "       /* 2a StringBuilder.toString, 2b Object.toString */
	"'java/math/BigInteger' 07002c 'multiplyToLen' '([II[II[I)[I' 0c002e002f "
	"0a002d0030 "                                  /* 31 BigInteger.multiplyToLen */
	"'jdk/internal/misc/Unsafe' 070032 'allocateInstance' "
	"'(Ljava/lang/Class;)Ljava/lang/Object;' 0c00340035 0a00330036 " /* 37 allocateInstance */
	"'sun/misc/Unsafe' 070038 0a00390036 "         /* 39 class, 3a its allocateInstance */
	"0b00020018 ";                                 /* 3b T.clone, of an interface */
#define N_MORE 0x26

static struct ag_mem mem = { .budget = SIZE_MAX };

/* The ids to return, and the sites that were reported. */
struct seen {
	uint32_t next_id, skip; /* skip: number of the site not to hook, from 1 */
	size_t n;
	struct cf_site sites[8];
	char names[8][64]; /* method, element, owner */
};

static uint32_t id_of(void *arg, const struct cf_site *site)
{
	struct seen *seen = arg;

	ck_assert_uint_lt(seen->n, 8);
	ck_assert(seen->n == 0 || site->pc > seen->sites[seen->n - 1].pc);
	(void)snprintf(seen->names[seen->n], sizeof(seen->names[0]), "%.*s %.*s %.*s",
		       (int)site->method.len, site->method.data, (int)site->element.len,
		       site->element.data, (int)site->owner.len, site->owner.data);
	seen->sites[seen->n++] = *site;
	return seen->n == seen->skip ? 0 : seen->next_id++;
}

static void check_valid(const struct cf_class *class)
{
	struct cf_fault fault;

	ck_assert_msg(cf_check(class, &fault), "%s", fault.what);
	ck_assert_msg(cf_verify(class, &fault), "@%u: %s", fault.pc, fault.what);
}

/* Hooks the class; checks that it stays valid if it was valid, and that all memory is released. */
static void hook(const struct shape *shape, struct seen *seen, struct cf_sites *sites,
		 struct buf *to)
{
	struct shape complete = *shape;
	struct cf_output out = { .mem = &mem };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_class class;
	struct cf_fault fault;
	bool valid;

	complete.more = more;
	complete.n_more = N_MORE;
	build_shape(&b, &complete);
	ck_assert_ptr_null(cf_open(&class, b.data, b.len, &mem));
	valid = cf_check(&class, &fault) && cf_verify(&class, &fault);
	sites->id = id_of;
	sites->arg = seen;
	ck_assert_ptr_null(cf_inject_sites(&class, HOOKS, sites, &out));
	ck_assert_uint_eq(sites->hooked + sites->kept + sites->roots > 0, out.len > 0);
	ck_assert(seen->n + sites->kept == 0 || cf_has_sites(&class));
	cf_release(&class);
	if (out.len > 0) {
		buf_add(to, out.data, out.len);
		ck_assert_ptr_null(cf_open(&class, to->data, to->len, &mem));
		if (valid)
			check_valid(&class);
		cf_release(&class);
	}
	cf_output_release(&out);
	ck_assert_uint_eq(mem.blocks, 0);
}

static bool is_hook(const struct cf_class *class, const struct cf_insn *insn, struct cf_ref *ref)
{
	return insn->opcode == 0xb8 && cf_ref(&class->pool, insn->index, ref) &&
	       cf_text_is(ref->class, HOOKS);
}

/* Prints the code of the only method: hooks by name, other instructions in hexadecimal. */
static void show_code(const struct buf *b, struct buf *text, struct cf_code *code)
{
	struct cf_members methods;
	struct cf_member method;
	struct cf_class class;
	struct cf_insn insn;
	struct cf_ref ref;

	ck_assert_ptr_null(cf_open(&class, b->data, b->len, &mem));
	methods = cf_methods(&class);
	ck_assert(cf_next_member(&methods, &method) && cf_code(&method, code));
	for (uint32_t pc = 0; pc < code->len; pc += insn.len) {
		ck_assert(cf_insn(code->code, code->len, pc, &insn));
		if (is_hook(&class, &insn, &ref)) {
			buf_addf(text, "%.*s ", (int)ref.name.len, ref.name.data);
			continue;
		}
		for (uint32_t i = 0; i < insn.len; i++)
			buf_addf(text, "%02x", code->code[pc + i]);
		buf_addc(text, ' ');
	}
	cf_release(&class);
}

/*
 * Compares the code after hooking with `expected`; NULL: nothing is hooked.  `stack` is max_stack
 * after hooking; 0: not checked.
 */
static void check_code_of(const struct shape *shape, struct seen *seen, struct cf_sites sites,
			  const char *expected, unsigned stack)
{
	_cleanup_buf_ struct buf to = BUF_INIT, text = BUF_INIT;
	struct cf_code code;

	hook(shape, seen, &sites, &to);
	ck_assert_uint_eq(sites.refused, 0);
	if (!expected) {
		ck_assert_uint_eq(to.len, 0);
		return;
	}
	ck_assert_uint_gt(to.len, 0);
	show_code(&to, &text, &code);
	ck_assert_str_eq(buf_str(&text), expected);
	if (stack > 0)
		ck_assert_uint_eq(code.max_stack, stack);
}

static void check_code(const struct shape *shape, const char *expected)
{
	check_code_of(shape, &(struct seen){ .next_id = 1 }, (struct cf_sites){ 0 }, expected, 0);
}

START_TEST(array_instructions_are_hooked)
{
	struct seen seen = { .next_id = 1 };

	check_code_of(&(struct shape){ .code = "04bc0a 57 04bd001b 57 0404c5001e02 57b1" }, &seen,
		      (struct cf_sites){ 0 },
		      "04 bc0a 59 59 be 110001 array 57 04 bd001b 59 59 be 110002 array 57 "
		      "04 04 c5001e02 59 110003 arrays 57 b1 ", 7);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_int_eq(seen.sites[0].kind, CF_SITE_ARRAY);
	ck_assert_int_eq(seen.sites[0].primitive, 'I');
	ck_assert_uint_eq(seen.sites[0].dimensions, 1);
	ck_assert_str_eq(seen.names[0], "m  ");
	ck_assert_uint_eq(seen.sites[0].pc, 1);
	ck_assert_int_eq(seen.sites[1].primitive, 0);
	ck_assert_uint_eq(seen.sites[1].dimensions, 1);
	ck_assert_uint_eq(seen.sites[1].pc, 5);
	ck_assert_int_eq(seen.sites[2].kind, CF_SITE_ARRAYS);
	ck_assert_uint_eq(seen.sites[2].dimensions, 0);
	ck_assert_str_eq(seen.names[1], "m [I ");
	ck_assert_str_eq(seen.names[2], "m [[I ");
	/* each primitive type */
	for (unsigned type = 4; type <= 11; type++) {
		char code[] = "04bc0057b1";

		seen = (struct seen){ .next_id = 1 };
		code[5] = "0123456789ab"[type];
		check_code_of(&(struct shape){ .code = code }, &seen, (struct cf_sites){ 0 },
			      (const char *[]){ "04 bc04 59 59 be 110001 array 57 b1 ",
						"04 bc05 59 59 be 110001 array 57 b1 ",
						"04 bc06 59 59 be 110001 array 57 b1 ",
						"04 bc07 59 59 be 110001 array 57 b1 ",
						"04 bc08 59 59 be 110001 array 57 b1 ",
						"04 bc09 59 59 be 110001 array 57 b1 ",
						"04 bc0a 59 59 be 110001 array 57 b1 ",
						"04 bc0b 59 59 be 110001 array 57 b1 " }[type - 4],
			      7);
		ck_assert_int_eq(seen.sites[0].primitive, "ZCFDBSIJ"[type - 4]);
	}
}
END_TEST

START_TEST(calls_of_allocating_methods_are_hooked)
{
	struct seen seen = { .next_id = 1 };

	/* clone() of an array, of Object and of super; not that of an interface */
	check_code_of(&(struct shape){ .code = "04bc0a b6001c 57 2a b60019 57 2a b70019 57b1",
				       .instance = true }, &seen, (struct cf_sites){ 0 },
		      "04 bc0a 59 59 be 110001 array b6001c 59 110002 result 57 "
		      "2a b60019 59 110003 result 57 2a b70019 59 110004 result 57 b1 ", 7);
	ck_assert_int_eq(seen.sites[1].kind, CF_SITE_CLONE);
	ck_assert_str_eq(seen.names[1], "m  [I");
	ck_assert_str_eq(seen.names[2], "m  java/lang/Object");
	ck_assert_int_eq(seen.sites[2].kind, CF_SITE_CLONE);
	ck_assert_int_eq(seen.sites[3].kind, CF_SITE_CLONE_SPECIAL);
	check_code(&(struct shape){ .code = "2ab9003b0100 57b1", .instance = true }, NULL);
	seen = (struct seen){ .next_id = 1 };
	check_code_of(&(struct shape){ .code = "2a04 b80024 57b1",
				       .descriptor = "(Ljava/lang/Class;)V" }, &seen,
		      (struct cf_sites){ 0 }, "2a 04 b80024 59 110001 result 57 b1 ", 6);
	ck_assert_int_eq(seen.sites[0].kind, CF_SITE_RESULT);
	ck_assert_str_eq(seen.names[0], "m  java/lang/reflect/Array");
	/* multiplyToLen() is certain to allocate only if its last argument is null */
	check_code(&(struct shape){ .code = "2a042a0401 b80031 57b1", .stack = 5,
				    .descriptor = "([I)V" },
		   "2a 04 2a 04 01 b80031 59 110001 result 57 b1 ");
	check_code(&(struct shape){ .code = "2a042a042a b80031 57b1", .stack = 5,
				    .descriptor = "([I)V" }, NULL);
	/* sun.misc.Unsafe allocates instances in JDK 8; since JDK 9 it calls another method */
	check_code(&(struct shape){ .code = "2a01b6003a57b1",
				    .descriptor = "(Lsun/misc/Unsafe;)V" }, NULL);
	check_code(&(struct shape){ .code = "2a01b6003757b1",
				    .descriptor = "(Ljdk/internal/misc/Unsafe;)V" },
		   "2a 01 b60037 59 110001 result 57 b1 ");
	check_code_of(&(struct shape){ .code = "2a01b6003a57b1",
				       .descriptor = "(Lsun/misc/Unsafe;)V" },
		      &(struct seen){ .next_id = 1 }, (struct cf_sites){ .sun_unsafe = true },
		      "2a 01 b6003a 59 110001 result 57 b1 ", 6);
}
END_TEST

/* The calls of allocators are hooked instead. */
START_TEST(allocators_have_no_hooks_in_their_bodies)
{
	static const struct shape quiet[] = {
		{ .class = "java/util/Arrays", .name = "copyOf",
		  .descriptor = "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;" },
		{ .class = "java/lang/invoke/DirectMethodHandle", .name = "allocateInstance",
		  .descriptor = "(Ljava/lang/Object;)Ljava/lang/Object;" },
		{ .class = "java/lang/StringUTF16", .name = "newBytesFor",
		  .descriptor = "(I)[B" },
	};

	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		struct shape s = quiet[i];

		s.code = "04bc0a 5701b0";
		check_code(&s, NULL);
		s.name = "another";
		check_code(&s, "04 bc0a 59 59 be 110001 array 57 01 b0 ");
	}
}
END_TEST

START_TEST(to_string_of_string_builders_is_hooked)
{
	const struct cf_sites sites = { .strings = true };
	const struct shape ends = { .code = "2ab6002a57b1",
				    .descriptor = "(Ljava/lang/StringBuilder;)V" };
	struct shape any = { .code = "2ab6002b57b1", .name = "valueOf",
			     .descriptor = "(Ljava/lang/Object;)V" };

	check_code(&ends, NULL);
	check_code_of(&ends, &(struct seen){ 0 }, sites, "2a 59 03 result b6002a 57 b1 ", 6);
	check_code_of(&any, &(struct seen){ 0 }, sites, NULL, 0);
	any.class = "java/lang/String";
	check_code_of(&any, &(struct seen){ 0 }, sites, "2a 59 03 result b6002b 57 b1 ", 6);
	/* after a call that is hooked itself */
	check_code_of(&(struct shape){ .code = "2ab60019b6002b57b1", .name = "valueOf",
				       .class = "java/lang/String", .instance = true },
		      &(struct seen){ .next_id = 1 }, sites,
		      "2a b60019 59 110001 result 59 03 result b6002b 57 b1 ", 6);
}
END_TEST

START_TEST(constructor_of_object_is_hooked)
{
	const struct cf_sites sites = { .made = true };
	struct shape s = { .code = "b1", .name = "<init>", .instance = true, .stack = 1,
			   .locals = 1, .class = "java/lang/Object", .root = true };
	_cleanup_buf_ struct buf to = BUF_INIT, text = BUF_INIT;
	struct seen seen = { 0 };
	struct cf_sites out = sites;
	struct cf_code code;

	check_code(&s, NULL);
	hook(&s, &seen, &out, &to);
	ck_assert_uint_eq(out.roots, 1);
	ck_assert_uint_eq(out.hooked, 0);
	show_code(&to, &text, &code);
	ck_assert_uint_eq(code.max_stack, 2);
	ck_assert_uint_eq(code.len, 12);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "made b1 "));
	/* other methods and constructors of other classes are not hooked */
	s.name = "other";
	check_code_of(&s, &seen, sites, NULL, 0);
	check_code_of(&(struct shape){ .code = "2ab7000ab1", .name = "<init>", .instance = true },
		      &seen, sites, NULL, 0);
}
END_TEST

START_TEST(ids_of_any_size_are_pushed_and_0_skips_the_site)
{
	const struct shape s = { .code = "04bc0a57b1", .stack = 1 };
	const struct shape two = { .code = "04bc0a57 04bc0857 b1" };

	check_code_of(&s, &(struct seen){ .next_id = 32767 }, (struct cf_sites){ 0 },
		      "04 bc0a 59 59 be 117fff array 57 b1 ", 4);
	check_code_of(&s, &(struct seen){ .next_id = 32768 }, (struct cf_sites){ 0 },
		      "04 bc0a 59 59 be 110001 1010 78 118000 60 array 57 b1 ", 5);
	check_code_of(&s, &(struct seen){ .next_id = UINT32_MAX }, (struct cf_sites){ 0 },
		      "04 bc0a 59 59 be 110000 1010 78 11ffff 60 array 57 b1 ", 5);
	/* one site is skipped */
	check_code_of(&two, &(struct seen){ .next_id = 7, .skip = 1 }, (struct cf_sites){ 0 },
		      "04 bc0a 57 04 bc08 59 59 be 110007 array 57 b1 ", 0);
	check_code_of(&two, &(struct seen){ .next_id = 7, .skip = 2 }, (struct cf_sites){ 0 },
		      "04 bc0a 59 59 be 110007 array 57 04 bc08 57 b1 ", 0);
	check_code_of(&s, &(struct seen){ .next_id = 7, .skip = 1 }, (struct cf_sites){ 0 }, NULL,
		      0);
}
END_TEST

START_TEST(jumps_skip_or_include_hooks)
{
	/* over a site; back to its start; to the next instruction, with the array on the stack */
	check_code(&(struct shape){ .code = "1a990008 04bc0a57 00 b1", .descriptor = "(I)V",
				    .map = "0001 09" },
		   "1a 990011 04 bc0a 59 59 be 110001 array 57 00 b1 ");
	check_code(&(struct shape){ .code = "04bc0a57 a7fffc", .map = "0001 00" },
		   "04 bc0a 59 59 be 110001 array 57 a7fff3 ");
	check_code(&(struct shape){ .code = "01 1a990007 5704bc0a 57b1", .descriptor = "(I)V",
				    .map = "0001 4907001b" },
		   "01 1a 990010 57 04 bc0a 59 59 be 110001 array 57 b1 ");
	check_code(&(struct shape){ .code = "c800000009 04bc0a57 b1", .map = "0002 05 03" },
		   "c800000012 04 bc0a 59 59 be 110001 array 57 b1 ");
	/* a site changes the padding of the switch that follows it */
	check_code(&(struct shape){ .code = "04bc0a57 1aab0000 0000000b 00000000 b1",
				    .descriptor = "(I)V", .map = "0001 10" },
		   "04 bc0a 59 59 be 110001 array 57 1a ab000000000a00000000 b1 ");
	/* unreachable code in a class without stack maps */
	check_code(&(struct shape){ .code = "b1 04bc0a57b1", .major = 48 },
		   "b1 04 bc0a 59 59 be 110001 array 57 b1 ");
}
END_TEST

static void check_table(const struct shape *s, const char *name, const char *expected,
			const char *expected_handlers)
{
	_cleanup_buf_ struct buf to = BUF_INIT, e = BUF_INIT, h = BUF_INIT;
	struct seen seen = { .next_id = 1 };
	struct cf_sites sites = { 0 };
	struct cf_members methods;
	struct cf_member method;
	struct cf_attribute a;
	struct cf_class class;
	struct cf_code code;

	hook(s, &seen, &sites, &to);
	ck_assert_ptr_null(cf_open(&class, to.data, to.len, &mem));
	methods = cf_methods(&class);
	ck_assert(cf_next_member(&methods, &method) && cf_code(&method, &code));
	ck_assert(cf_find_attribute(code.attributes, name, &a));
	put_bytes(&e, expected);
	put_bytes(&h, expected_handlers);
	ck_assert_uint_eq(a.len, e.len);
	ck_assert(memcmp(a.data, e.data, e.len) == 0);
	ck_assert_uint_eq(code.n_handlers * 8u, h.len);
	ck_assert(h.len == 0 || memcmp(code.handlers, h.data, h.len) == 0);
	cf_release(&class);
}

START_TEST(line_variable_and_exception_tables_are_adjusted)
{
	/* A range that ends after a site includes its hook; one that begins there does not. */
	const struct shape lines = {
		.code = "04bc0a 57 b1 57b1", .major = 49,
		.handlers = "0000 0003 0005 0000 0003 0005 0005 0000",
		.attributes = "0002 000c 0000000e 0003 0000000a 0003000b 0004000c "
			      "000d 00000016 0002 0000 0007 000e000f0000 0003 0002 000e000f0000",
	};

	check_table(&lines, "LineNumberTable", "0003 0000000a 000c000b 000d000c",
		    "0000 000c 000e 0000 000c 000e 000e 0000");
	check_table(&lines, "LocalVariableTable",
		    "0002 0000 0010 000e000f0000 000c 0002 000e000f0000",
		    "0000 000c 000e 0000 000c 000e 000e 0000");
}
END_TEST

START_TEST(stack_map_frames_move)
{
	/* each kind of frame, with offsets of one byte and of two */
	check_table(&(struct shape){ .code = "04bc0a57 a70003 b1", .map = "0001 07" },
		    "StackMapTable", "0001 10", "");
	check_table(&(struct shape){ .code = "04bc0a57 a70003 b1", .map = "0001 36", .nops = 47,
				     .tail = 4 }, "StackMapTable", "0001 3f", "");
	check_table(&(struct shape){ .code = "04bc0a57 a70003 b1", .map = "0001 37", .nops = 48,
				     .tail = 4 }, "StackMapTable", "0001 fb0040", "");
	check_table(&(struct shape){ .code = "04bc0a57 a70003 b1", .map = "0001 39", .nops = 50,
				     .tail = 4 }, "StackMapTable", "0001 fb0042", "");
	check_table(&(struct shape){ .code = "04bc0a57 01 1a990003 57b1", .descriptor = "(I)V",
				     .map = "0001 49070004" },
		    "StackMapTable", "0001 52070004", "");
	check_table(&(struct shape){ .code = "04bc0a57 01 1a990003 57b1", .descriptor = "(I)V",
				     .map = "0001 7b070004", .nops = 50, .tail = 7 },
		    "StackMapTable", "0001 f70044070004", "");
	check_table(&(struct shape){ .code = "04bc0a57 01 1a990003 57b1", .descriptor = "(I)V",
				     .map = "0001 f70009070004" },
		    "StackMapTable", "0001 f70012070004", "");
	check_table(&(struct shape){ .code = "04bc0a57 033c 1a990004 b1 1a990004 b1 b1",
				     .descriptor = "(I)V", .map = "0002 fc000b01 fa0004" },
		    "StackMapTable", "0002 fc001401 fa0004", "");
	/* an uninitialised type moves with its `new` */
	check_table(&(struct shape){ .code = "04bc0a57 bb0002 59 1a990003 b7000b 57b1",
				     .descriptor = "(I)V",
				     .map = "0001 ff000c 0001 01 0002 080004 080004" },
		    "StackMapTable", "0001 ff0015 0001 01 0002 08000d 08000d", "");
}
END_TEST

static void check_refused(const struct shape *s, enum cf_refusal expected)
{
	_cleanup_buf_ struct buf to = BUF_INIT;
	struct seen seen = { .next_id = 1 };
	struct cf_sites sites = { 0 };

	hook(s, &seen, &sites, &to);
	ck_assert_uint_eq(sites.refused, 1);
	ck_assert_int_eq(sites.why, expected);
	ck_assert_uint_eq(sites.hooked, 0);
	ck_assert_uint_eq(to.len, 0);
}

START_TEST(methods_that_cannot_be_hooked_are_refused)
{
	check_refused(&(struct shape){ .code = "04bc0a57b1", .nops = 65525, .tail = 1 },
		      CF_TOO_LONG);
	check_refused(&(struct shape){ .code = "1a997fff 04bc0a57 b1 b1", .descriptor = "(I)V",
				       .nops = 32759, .tail = 1, .map = "0001 fb7fff" },
		      CF_FAR_JUMP);
	check_refused(&(struct shape){ .code = "04bc0a57b1", .stack = 65533 }, CF_TOO_MANY);
	/* malformed code, frames and tables */
	check_refused(&(struct shape){ .code = "04bc0a57fd" }, CF_MALFORMED);
	check_refused(&(struct shape){ .code = "04bc0a57" }, CF_MALFORMED);
	check_refused(&(struct shape){ .code = "04bc0a57b1", .map = "0001 02" }, CF_MALFORMED);
	check_refused(&(struct shape){ .code = "04bc0a57b1", .map = "0001 80" }, CF_MALFORMED);
	check_refused(&(struct shape){ .code = "04bc0a57b1", .map = "0001" }, CF_MALFORMED);
	check_refused(&(struct shape){ .code = "04bc0a57b1", .map = "0000 00" }, CF_MALFORMED);
	check_refused(&(struct shape){ .code = "04bc0a57b1", .map = "0001 4409" }, CF_MALFORMED);
	check_refused(&(struct shape){ .code = "04bc0a57b1", .map = "0001 44080002" },
		      CF_MALFORMED);
	check_refused(&(struct shape){ .code = "04bc0a57a70001b1" }, CF_MALFORMED);
	/* methods without a site are not examined further */
	check_code(&(struct shape){ .code = "00fd" }, NULL);
	check_code(&(struct shape){ .access = CF_ACC_ABSTRACT }, NULL);
	check_code(&(struct shape){ .code = "04bc0057b1" }, NULL);
}
END_TEST

/* The JVM does not compile a method of more than 8000 bytes, but its sites must be counted. */
START_TEST(method_that_becomes_long_is_hooked)
{
	struct shape s = { .code = "04bc0a57b1", .tail = 1, .nops = 8000 - 5 };
	_cleanup_buf_ struct buf to = BUF_INIT, text = BUF_INIT;
	struct seen seen = { .next_id = 1 };
	struct cf_sites sites = { 0 };
	struct cf_code code;

	hook(&s, &seen, &sites, &to);
	ck_assert_uint_eq(sites.hooked, 1);
	ck_assert_uint_eq(sites.refused, 0);
	show_code(&to, &text, &code);
	ck_assert_uint_eq(code.len, 8000 + 9);
}
END_TEST

START_TEST(constant_pool_overflow_is_an_error)
{
	struct seen seen = { .next_id = 1 };
	struct cf_sites sites = { .id = id_of, .arg = &seen };
	struct cf_output out = { .mem = &mem };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct cf_class class;

	build_shape(&b, &(struct shape){ .code = "04bc0a57b1", .fillers = 65510 });
	ck_assert_ptr_null(cf_open(&class, b.data, b.len, &mem));
	ck_assert_str_eq(cf_inject_sites(&class, HOOKS, &sites, &out),
			 "the constant pool would have more than 65,535 entries");
	ck_assert_ptr_null(out.data);
	cf_release(&class);
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

static uint32_t any_id(void *arg, const struct cf_site *site)
{
	(void)site;
	return ++*(uint32_t *)arg;
}

/* Builds a method with all kinds of sites and tables. */
static void build_mixture(struct buf *b)
{
	build_shape(b, &(struct shape){
		.code = "04bc0a57 bb0002 59 1a990003 b7000b 57 2bb6002a 57 01 b60019 57 b1 57b1",
		.descriptor = "(ILjava/lang/StringBuilder;)V",
		.handlers = "0000 0010 001b 0000",
		.attributes = "0003 000c 0000000e 0003 0000000a 0003000b 0004000c "
			      "000d 0000000c 0001 0000 0004 000e000f0000 0006 00000021 0002 "
			      "ff000c 0002 01 070026 0002 080004 080004 "
			      "ff000e 0002 01 070026 0001 070013",
		.more = more,
		.n_more = N_MORE,
	});
}

START_TEST(out_of_memory_is_an_error)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	bool done = false;

	build_mixture(&b);
	for (size_t budget = 4096; !done; budget += 997) {
		struct ag_mem small = { .budget = budget };
		struct cf_output out = { .mem = &small };
		uint32_t id = 0;
		struct cf_sites sites = { .id = any_id, .arg = &id, .strings = true };
		struct cf_class class;

		if (cf_open(&class, b.data, b.len, &small))
			continue;
		done = !cf_inject_sites(&class, HOOKS, &sites, &out);
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
	uint32_t id = 32760;
	struct cf_sites sites = { .id = any_id, .arg = &id, .made = true, .strings = true };
	struct cf_class class, new;

	memcpy(copy, b->data, len);
	if (at < len)
		copy[at] ^= flip;
	if (!cf_open(&class, copy, len, &mem)) {
		if (!cf_inject_sites(&class, HOOKS, &sites, &out) && out.len > 0) {
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
	struct cf_class class;

	build_mixture(&b);
	ck_assert_ptr_null(cf_open(&class, b.data, b.len, &mem));
	check_valid(&class);
	cf_release(&class);
	for (size_t len = 0; len < b.len; len++)
		try_damaged(&b, len, SIZE_MAX, 0);
	for (size_t at = 0; at < b.len; at++) {
		try_damaged(&b, b.len, at, 0xff);
		try_damaged(&b, b.len, at, 1);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/classfile/inject/inject_sites");
	TCase *t = tcase_create("classfile/inject/inject_sites");
	SRunner *r;
	int failed;

	tcase_add_test(t, array_instructions_are_hooked);
	tcase_add_test(t, calls_of_allocating_methods_are_hooked);
	tcase_add_test(t, allocators_have_no_hooks_in_their_bodies);
	tcase_add_test(t, to_string_of_string_builders_is_hooked);
	tcase_add_test(t, constructor_of_object_is_hooked);
	tcase_add_test(t, ids_of_any_size_are_pushed_and_0_skips_the_site);
	tcase_add_test(t, jumps_skip_or_include_hooks);
	tcase_add_test(t, line_variable_and_exception_tables_are_adjusted);
	tcase_add_test(t, stack_map_frames_move);
	tcase_add_test(t, methods_that_cannot_be_hooked_are_refused);
	tcase_add_test(t, method_that_becomes_long_is_hooked);
	tcase_add_test(t, constant_pool_overflow_is_an_error);
	tcase_add_test(t, out_of_memory_is_an_error);
	tcase_add_test(t, truncated_and_damaged_classes_are_handled);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
