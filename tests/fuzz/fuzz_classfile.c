/* Reads class files: from a jar, or as another agent in the target has changed them. */
#include <stdlib.h>
#include <string.h>

#include "classfile/code.h"
#include "classfile/descr.h"
#include "classfile/verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ag_mem mem = { .budget = (size_t)256 << 20 };
static size_t sum; /* a sum over all data, so that it is read */

static void see(struct cf_text text)
{
	for (size_t i = 0; i < text.len; i++)
		sum += (uint8_t)text.data[i];
}

static void see_attributes(struct cf_attributes list)
{
	struct cf_attribute a;

	while (cf_next_attribute(&list, &a)) {
		see(a.name);
		see((struct cf_text){ (const char *)a.data, a.len });
	}
}

static void see_code(const struct cf_code *code)
{
	struct cf_insn insn;

	for (uint16_t i = 0; i < code->n_handlers; i++)
		sum += cf_handler(code, i).type;
	for (uint32_t pc = 0; cf_insn(code->code, code->len, pc, &insn); pc += insn.len) {
		if (insn.len == 0 || !cf_mnemonic(insn.opcode))
			abort();
		for (uint32_t i = 0; i < insn.n; i++)
			sum += (uint32_t)cf_case(&insn, i).offset;
		sum += cf_ends_flow(&insn);
	}
	see_attributes(code->attributes);
}

static void see_members(struct cf_members list)
{
	struct cf_member member;
	struct cf_code code;
	struct cf_type type;

	while (cf_next_member(&list, &member)) {
		see(member.name);
		while (cf_type_next(&member.descriptor, &type))
			see(type.element);
		see_attributes(member.attributes);
		if (cf_code(&member, &code))
			see_code(&code);
	}
}

static void see_constants(const struct cf_pool *pool)
{
	struct cf_ref ref;

	for (uint32_t i = 0; i <= UINT16_MAX; i++) {
		if (!cf_tag(pool, (uint16_t)i))
			continue;
		see(cf_utf8(pool, (uint16_t)i));
		see(cf_named(pool, (uint16_t)i, cf_tag(pool, (uint16_t)i)));
		if (cf_ref(pool, (uint16_t)i, &ref))
			see(ref.descriptor);
	}
}

/* The format check and the verifier must each cope with any class, and set a fault if they fail. */
static void judge(const struct cf_class *class)
{
	struct cf_fault fault;

	if (cf_check(class, &fault) == (fault.what != NULL) ||
	    cf_verify(class, &fault) == (fault.what != NULL) ||
	    cf_verify_without_maps(class, &fault) == (fault.what != NULL))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1); /* lets ASan see reads beyond the end */
	struct cf_class class;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (!cf_open(&class, copy, size, &mem)) {
		see(cf_super(&class));
		see_constants(&class.pool);
		see_members(cf_fields(&class));
		see_members(cf_methods(&class));
		see_attributes(cf_class_attributes(&class));
		judge(&class);
		cf_release(&class);
	}
	if (mem.blocks != 0)
		abort();
	free(copy);
	return 0;
}
