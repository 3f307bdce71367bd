/* The class file reader: a class compiled by javac, complete, truncated and damaged. */
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "classfile/code.h"
#include "classfile/descr.h"
#include "classfile/code_equal.h"
#include "classfile/stackmap.h"
#include "unit/support/data.h"

static struct ag_mem mem = { .budget = SIZE_MAX };
static struct buf file;

static void read_sample(void)
{
	read_data("classfile/Sample.class", &file);
}

static void release_file(void)
{
	buf_release(&file);
	ck_assert_uint_eq(mem.blocks, 0);
}

static struct cf_text text(const char *s)
{
	return (struct cf_text){ s, strlen(s) };
}

static struct cf_class open_class(void)
{
	struct cf_class c;

	ck_assert_ptr_null(cf_open(&c, file.data, file.len, &mem));
	return c;
}

static struct cf_code code_of(const struct cf_class *c, const char *name, const char *descriptor)
{
	struct cf_member method;
	struct cf_code code;

	ck_assert(cf_find_member(cf_methods(c), text(name), text(descriptor), &method));
	ck_assert(cf_code(&method, &code));
	return code;
}

START_TEST(class_header_fields_and_attributes_are_read)
{
	struct cf_class c = open_class();
	struct cf_members list = cf_fields(&c);
	struct cf_attribute attribute;
	struct cf_member member;

	ck_assert_uint_eq(c.major, 61);
	ck_assert_uint_eq(c.access, CF_ACC_SYNCHRONIZED | CF_ACC_ABSTRACT);
	ck_assert(cf_text_is(cf_name(&c), "Sample"));
	ck_assert(cf_text_is(cf_super(&c), "java/lang/Object"));
	ck_assert(cf_text_is(cf_interface(&c, 0), "java/lang/Runnable"));
	ck_assert(cf_text_is(cf_interface(&c, 1), "java/io/Serializable"));
	ck_assert_ptr_null(cf_interface(&c, 2).data);
	ck_assert(cf_find_attribute(cf_class_attributes(&c), "SourceFile", &attribute));
	ck_assert(cf_text_is(cf_utf8(&c.pool, cf_peek_u2(attribute.data)), "Sample.java"));
	ck_assert(!cf_find_attribute(cf_class_attributes(&c), "Nothing", &attribute));

	ck_assert(cf_next_member(&list, &member));
	ck_assert(cf_text_is(member.name, "BIG"));
	ck_assert(cf_text_is(member.descriptor, "J"));
	ck_assert(cf_find_attribute(member.attributes, "ConstantValue", &attribute));
	ck_assert_uint_eq(cf_tag(&c.pool, cf_peek_u2(attribute.data)), CF_LONG);
	ck_assert(cf_next_member(&list, &member));
	ck_assert(cf_next_member(&list, &member));
	ck_assert(!cf_next_member(&list, &member));
	ck_assert(!cf_find_member(cf_methods(&c), text("pick"), text("()V"), &member));
	cf_release(&c);
}
END_TEST

START_TEST(references_in_the_constant_pool_are_resolved)
{
	struct cf_class c = open_class();
	unsigned methods = 0, dynamic = 0;
	struct cf_ref ref;

	for (uint32_t i = 0; i <= UINT16_MAX; i++) {
		if (!cf_ref(&c.pool, (uint16_t)i, &ref))
			continue;
		methods += cf_text_is(ref.class, "java/lang/String") &&
			   cf_text_is(ref.name, "isEmpty") && cf_text_is(ref.descriptor, "()Z");
		dynamic += ref.tag == CF_INVOKE_DYNAMIC && !ref.class.data;
	}
	ck_assert_uint_eq(methods, 1);
	ck_assert_uint_eq(dynamic, 2);
	ck_assert_uint_eq(cf_tag(&c.pool, 0), 0);
	ck_assert_ptr_null(cf_constant(&c.pool, 0, 0));
	cf_release(&c);
}
END_TEST

/* All instructions of a method with three lookupswitches. */
START_TEST(instructions_are_decoded_to_the_end)
{
	struct cf_class c = open_class();
	struct cf_code code = code_of(&c, "pick", "(ILjava/lang/String;[[J)I");
	unsigned lookup = 0, ends = 0;
	struct cf_insn insn;
	uint32_t pc = 0;

	ck_assert_uint_eq(code.max_locals, 8);
	ck_assert_uint_eq(code.n_handlers, 4);
	ck_assert_uint_eq(cf_handler(&code, 0).type, 0);
	for (; pc < code.len; pc += insn.len) {
		ck_assert(cf_insn(code.code, code.len, pc, &insn));
		ends += cf_ends_flow(&insn);
		if (insn.operands != CF_OP_LOOKUP)
			continue;
		if (lookup++ == 0) {
			ck_assert_uint_eq(insn.n, 4);
			ck_assert_int_eq(cf_case(&insn, 3).key, 1000);
			ck_assert_int_gt(cf_case(&insn, 3).offset, 0);
		}
	}
	ck_assert_uint_eq(pc, code.len);
	ck_assert_uint_eq(lookup, 3);
	ck_assert_uint_ge(ends, 8);
	cf_release(&c);
}
END_TEST

START_TEST(wide_and_switch_instructions_are_decoded)
{
	static const uint8_t iinc[] = { 0xc4, 0x84, 0x01, 0x02, 0xff, 0xfe };
	static const uint8_t load[] = { 0xc4, 0x15, 0x01, 0x00 };
	static const uint8_t wrong[] = { 0xc4, 0x60 };
	static const uint8_t table[] = { 0x00, 0xaa, 0, 0, 0, 0, 0, 30, 0, 0, 0, 7, 0, 0, 0, 8,
					 0, 0, 0, 40, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t huge[] = { 0xaa, 0, 0, 0, 0, 0, 0, 30, 0x80, 0, 0, 0, 0x7f, 0xff,
					0xff, 0xff };
	struct cf_insn insn;

	ck_assert(cf_insn(iinc, sizeof(iinc), 0, &insn));
	ck_assert(insn.wide && insn.len == 6 && insn.index == 0x102 && insn.value == -2);
	ck_assert(cf_insn(load, sizeof(load), 0, &insn));
	ck_assert(insn.wide && insn.opcode == 0x15 && insn.index == 256);
	ck_assert(!cf_insn(wrong, sizeof(wrong), 0, &insn));
	ck_assert(cf_insn(table, sizeof(table), 1, &insn));
	ck_assert(insn.len == 23 && insn.n == 2 && insn.low == 7 && insn.otherwise == 30);
	ck_assert_int_eq(cf_case(&insn, 1).key, 8);
	ck_assert_int_eq(cf_case(&insn, 1).offset, -1);
	for (uint32_t len = 0; len < sizeof(table); len++)
		ck_assert(!cf_insn(table, len, 1, &insn));
	ck_assert(!cf_insn(huge, sizeof(huge), 0, &insn));
	ck_assert(!cf_insn(load, sizeof(load), 4, &insn));
}
END_TEST

/* The code is the same; the recipe of a string concatenation, a bootstrap argument, differs. */
START_TEST(bootstrap_arguments_are_compared_with_the_code)
{
	static const char original[] = "\006later\1"; /* a length of 6, then the text */
	_cleanup_buf_ struct buf other = BUF_INIT;
	struct cf_class a = open_class(), b;
	struct cf_bootstraps of_a, of_b;
	struct cf_body x, y;
	struct cf_code code;
	char *recipe;

	buf_add(&other, file.data, file.len);
	recipe = memmem(other.data, other.len, original, strlen(original));
	ck_assert_ptr_nonnull(recipe);
	recipe[1] = 'L';
	ck_assert_ptr_null(cf_open(&b, other.data, other.len, &mem));
	ck_assert_int_eq(cf_bootstraps_open(&of_a, &a, &mem), 0);
	ck_assert_int_eq(cf_bootstraps_open(&of_b, &b, &mem), 0);
	code = code_of(&a, "lambda$later$0", "()Ljava/lang/String;");
	x = cf_body(&a, &code, &of_a);
	ck_assert_int_eq(cf_code_equal(&x, &x, &mem), 1);
	code = code_of(&b, "lambda$later$0", "()Ljava/lang/String;");
	y = cf_body(&b, &code, &of_b);
	ck_assert_int_eq(cf_code_equal(&x, &y, &mem), 0);
	y.bootstraps = NULL; /* as in a class from memory, which has none */
	ck_assert_int_eq(cf_code_equal(&x, &y, &mem), 1);
	code = code_of(&b, "later", "()Ljava/util/function/Supplier;");
	y = cf_body(&b, &code, &of_b);
	code = code_of(&a, "later", "()Ljava/util/function/Supplier;");
	x = cf_body(&a, &code, &of_a);
	ck_assert_int_eq(cf_code_equal(&x, &y, &mem), 1);
	cf_bootstraps_release(&of_a);
	cf_bootstraps_release(&of_b);
	cf_release(&a);
	cf_release(&b);
}
END_TEST

START_TEST(exception_handlers_are_compared_with_the_code)
{
	static const char descriptor[] = "(ILjava/lang/String;[[J)I";
	struct cf_class a = open_class();
	struct cf_code code = code_of(&a, "pick", descriptor);
	struct cf_body x = cf_body(&a, &code, NULL), y = x;
	uint8_t table[4 * 8];

	memcpy(table, code.handlers, sizeof(table));
	y.handlers = table;
	ck_assert_int_eq(cf_code_equal(&x, &y, &mem), 1);
	table[7] = (uint8_t)a.this_class; /* catches this class instead of any */
	ck_assert_int_eq(cf_code_equal(&x, &y, &mem), 0);
	table[7] = 0;
	table[5] = table[1]; /* another handler */
	ck_assert_int_eq(cf_code_equal(&x, &y, &mem), 0);
	y.n_handlers--;
	ck_assert_int_eq(cf_code_equal(&x, &y, &mem), 0);
	y.handlers = NULL; /* as in a class from memory, which has none */
	ck_assert_int_eq(cf_code_equal(&x, &y, &mem), 1);
	cf_release(&a);
}
END_TEST

START_TEST(method_descriptors_are_parsed)
{
	struct cf_text rest;
	struct cf_type type;

	ck_assert(cf_method_types(text("(I[[JLa/B;)[La/C;"), &rest, &type));
	ck_assert(type.kind == 'L' && type.dimensions == 1 && cf_text_is(type.element, "a/C"));
	ck_assert(cf_type_next(&rest, &type) && type.kind == 'I' && cf_type_slots(&type) == 1);
	ck_assert(cf_type_next(&rest, &type) && type.dimensions == 2 && type.element_kind == 'J');
	ck_assert_uint_eq(cf_type_slots(&type), 1);
	ck_assert(cf_type_next(&rest, &type) && cf_text_is(type.text, "La/B;"));
	ck_assert_uint_eq(rest.len, 0);
	ck_assert(cf_method_types(text("()V"), &rest, &type) && cf_type_slots(&type) == 0);
	ck_assert(!cf_method_types(text("(V)V"), &rest, &type));
	ck_assert(!cf_method_types(text("(I)"), &rest, &type));
	ck_assert(!cf_method_types(text("(I"), &rest, &type));
	ck_assert(!cf_method_types(text("()VV"), &rest, &type));
	ck_assert(!cf_method_types(text(""), &rest, &type));
}
END_TEST

/* Each kind of stack map entry, with its lowest and its highest frame_type. */
static const struct {
	uint8_t bytes[3], len;
	uint16_t delta, n_chopped, n_locals, n_stack;
} entries[] = {
	{ { 0 }, 1, 0, 0, 0, 0 },
	{ { 63 }, 1, 63, 0, 0, 0 },
	{ { 64 }, 1, 0, 0, 0, 1 },
	{ { 127 }, 1, 63, 0, 0, 1 },
	{ { 247, 1, 2 }, 3, 0x102, 0, 0, 1 },
	{ { 248, 1, 2 }, 3, 0x102, 3, 0, 0 },
	{ { 250, 1, 2 }, 3, 0x102, 1, 0, 0 },
	{ { 251, 1, 2 }, 3, 0x102, 0, 0, 0 },
	{ { 252, 1, 2 }, 3, 0x102, 0, 1, 0 },
	{ { 254, 1, 2 }, 3, 0x102, 0, 3, 0 },
};

START_TEST(stackmap_entries_are_read)
{
	struct cf_bytes bytes = cf_bytes_init(entries[_i].bytes, entries[_i].len);
	struct cf_map_entry e = cf_map_entry(&bytes);

	ck_assert_uint_eq(e.frame_type, entries[_i].bytes[0]);
	ck_assert_uint_eq(e.delta, entries[_i].delta);
	ck_assert_uint_eq(e.n_chopped, entries[_i].n_chopped);
	ck_assert_uint_eq(e.n_locals, entries[_i].n_locals);
	ck_assert_uint_eq(cf_map_stack(&bytes, &e), entries[_i].n_stack);
	ck_assert(!bytes.failed);
	ck_assert_uint_eq(cf_bytes_left(&bytes), 0);
	for (uint8_t len = 0; len < entries[_i].len; len++) {
		bytes = cf_bytes_init(entries[_i].bytes, len);
		(void)cf_map_entry(&bytes);
		ck_assert(bytes.failed);
	}
}
END_TEST

START_TEST(full_stackmap_entry_is_read)
{
	/* delta 5; locals: int, new at 0x304; stack: an object of class constant 0x506 */
	static const uint8_t full[] = { 255, 0, 5, 0, 2, 1, 8, 3, 4, 0, 1, 7, 5, 6 };
	struct cf_bytes bytes = cf_bytes_init(full, sizeof(full));
	struct cf_map_entry e = cf_map_entry(&bytes);
	struct cf_map_type type;

	ck_assert_uint_eq(e.delta, 5);
	ck_assert_uint_eq(e.n_locals, 2);
	ck_assert_uint_eq(cf_map_type(&bytes).tag, CF_MAP_INTEGER);
	type = cf_map_type(&bytes);
	ck_assert_uint_eq(type.tag, CF_MAP_UNINIT);
	ck_assert_uint_eq(type.of, 0x304);
	ck_assert_uint_eq(cf_map_stack(&bytes, &e), 1);
	type = cf_map_type(&bytes);
	ck_assert_uint_eq(type.tag, CF_MAP_OBJECT);
	ck_assert_uint_eq(type.of, 0x506);
	ck_assert(!bytes.failed);
	ck_assert_uint_eq(cf_bytes_left(&bytes), 0);
}
END_TEST

START_TEST(unknown_stackmap_kinds_are_rejected)
{
	uint8_t data[3] = { 0 };
	struct cf_bytes bytes;

	for (unsigned type = 0; type <= UINT8_MAX; type++) {
		data[0] = (uint8_t)type;
		bytes = cf_bytes_init(data, sizeof(data));
		(void)cf_map_entry(&bytes);
		ck_assert_int_eq(bytes.failed, (type >= 128 && type < 247) || type == 255);
		bytes = cf_bytes_init(data, sizeof(data));
		(void)cf_map_type(&bytes);
		ck_assert_int_eq(bytes.failed, type > 8);
	}
}
END_TEST

START_TEST(file_cut_at_every_byte_is_rejected)
{
	for (size_t len = 0; len < file.len; len++) {
		_cleanup_free_ uint8_t *part = xmalloc(len ? len : 1);
		struct cf_class c;

		memcpy(part, file.data, len);
		ck_assert_ptr_nonnull(cf_open(&c, part, len, &mem));
	}
	buf_addc(&file, 0);
	ck_assert_str_eq(cf_open(&(struct cf_class){ 0 }, file.data, file.len, &mem),
			 "there are bytes after its end");
}
END_TEST

static void walk_methods(const struct cf_class *c)
{
	struct cf_members list = cf_methods(c);
	struct cf_member method;
	struct cf_code code;
	struct cf_insn insn;

	for (unsigned i = 0; i < c->n_interfaces; i++)
		(void)cf_interface(c, (uint16_t)i);
	while (cf_next_member(&list, &method)) {
		if (!cf_code(&method, &code))
			continue;
		for (uint32_t pc = 0; cf_insn(code.code, code.len, pc, &insn); pc += insn.len)
			for (uint32_t i = 0; i < insn.n; i++)
				(void)cf_case(&insn, i);
	}
}

/* A damaged class is rejected, or can be read without leaving its bounds. */
START_TEST(damage_of_any_byte_is_handled)
{
	for (size_t i = 0; i < file.len; i++) {
		const char original = file.data[i];
		struct cf_class c;

		for (unsigned k = 1; k < 256; k = k * 2 + 1) {
			file.data[i] = (char)(original ^ (char)k);
			if (cf_open(&c, file.data, file.len, &mem))
				continue;
			walk_methods(&c);
			cf_release(&c);
		}
		file.data[i] = original;
	}
}
END_TEST

START_TEST(missing_memory_is_an_error)
{
	struct ag_mem small = { .budget = 100 };
	struct cf_class c;

	ck_assert_str_eq(cf_open(&c, file.data, file.len, &small),
			 "not enough memory for its constants");
	ck_assert_uint_eq(small.blocks, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/classfile");
	TCase *tc = tcase_create("classfile");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, read_sample, release_file);
	tcase_add_test(tc, class_header_fields_and_attributes_are_read);
	tcase_add_test(tc, references_in_the_constant_pool_are_resolved);
	tcase_add_test(tc, instructions_are_decoded_to_the_end);
	tcase_add_test(tc, wide_and_switch_instructions_are_decoded);
	tcase_add_test(tc, bootstrap_arguments_are_compared_with_the_code);
	tcase_add_test(tc, exception_handlers_are_compared_with_the_code);
	tcase_add_test(tc, method_descriptors_are_parsed);
	tcase_add_loop_test(tc, stackmap_entries_are_read, 0, ARRAY_SIZE(entries));
	tcase_add_test(tc, full_stackmap_entry_is_read);
	tcase_add_test(tc, unknown_stackmap_kinds_are_rejected);
	tcase_add_test(tc, file_cut_at_every_byte_is_rejected);
	tcase_add_test(tc, damage_of_any_byte_is_handled);
	tcase_add_test(tc, missing_memory_is_an_error);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
