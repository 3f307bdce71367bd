#include "model/class/class_capture.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "classfile/code.h"
#include "classfile/code_equal.h"
#include "classfile/member_index.h"
#include "wire/frame.h"

#define METHODS_MAX UINT16_MAX /* the most methods that a class file can have (JVMS 4.1) */

void class_capture_release(struct class_capture *c)
{
	for (size_t i = 0; i < c->n_methods; i++) {
		free(c->methods[i].name);
		free(c->methods[i].descriptor);
		buf_release(&c->methods[i].code);
	}
	free(c->methods);
	buf_release(&c->file);
	buf_release(&c->pool);
	*c = (struct class_capture){ 0 };
}

static char *copy(struct wire_text text)
{
	return xstrndup(text.data, text.len);
}

/*
 * Directs the next `len` bytes of BYTES frames into `filling`.  Returns 0; or -EBADMSG if bytes for
 * the previous buffer are missing, or if the class exceeds CLASS_CAPTURE_MAX.
 */
static int announce(struct class_capture *c, struct buf *filling, size_t len)
{
	if (c->missing > 0 || len > CLASS_CAPTURE_MAX - c->announced)
		return -EBADMSG;
	c->filling = filling;
	c->missing = len;
	c->announced += len;
	return 0;
}

static int take_captured(struct class_capture *c, struct wire_reader *payload)
{
	uint32_t len;

	if (c->begun)
		return c->missing > 0 ? -EBADMSG : 1;
	c->begun = true;
	c->number = wire_get_u32(payload);
	c->outcome = wire_get_u32(payload);
	c->code = wire_get_i32(payload);
	len = wire_get_u32(payload);
	if (!wire_reader_ok(payload) || c->outcome > WIRE_CAPTURED_SKIPPED ||
	    (len > 0) != (c->outcome == WIRE_CAPTURED_FILE))
		return -EBADMSG;
	return announce(c, &c->file, len);
}

static int take_bytes(struct class_capture *c, struct wire_reader *payload)
{
	struct wire_text piece = wire_get_text(payload);

	if (!wire_reader_ok(payload) || piece.len == 0 || piece.len > c->missing)
		return -EBADMSG;
	buf_add(c->filling, piece.data, piece.len);
	c->missing -= piece.len;
	return 0;
}

static int take_memory(struct class_capture *c, struct wire_reader *payload)
{
	uint32_t number = wire_get_u32(payload);
	uint32_t count = wire_get_u32(payload);
	uint32_t len = wire_get_u32(payload);

	if (!wire_reader_ok(payload) || !c->begun || c->memory || number != c->number ||
	    count > UINT16_MAX)
		return -EBADMSG;
	c->memory = true;
	c->pool_count = (uint16_t)count;
	return announce(c, &c->pool, len);
}

static int take_method(struct class_capture *c, struct wire_reader *payload)
{
	struct captured_method *m;
	uint32_t modifiers = wire_get_u32(payload);
	struct wire_text name = wire_get_text(payload);
	struct wire_text descriptor = wire_get_text(payload);
	uint32_t len = wire_get_u32(payload);

	if (!wire_reader_ok(payload) || !c->memory || c->missing > 0 ||
	    c->n_methods >= METHODS_MAX)
		return -EBADMSG;
	c->methods = xgrow(c->methods, c->n_methods, &c->cap_methods, sizeof(*c->methods));
	m = &c->methods[c->n_methods++];
	*m = (struct captured_method){ modifiers, copy(name), copy(descriptor), BUF_INIT };
	return announce(c, &m->code, len);
}

int class_capture_take(struct class_capture *c, uint16_t type, struct wire_reader payload)
{
	switch (type) {
	case WIRE_CAPTURED:
		return take_captured(c, &payload);
	case WIRE_BYTES:
		return take_bytes(c, &payload);
	case WIRE_MEMORY:
		return take_memory(c, &payload);
	case WIRE_MEMORY_METHOD:
		return take_method(c, &payload);
	case WIRE_CAPTURE_END:
		return c->missing > 0 ? -EBADMSG : 1;
	default:
		return -EBADMSG;
	}
}

static bool is_same_code(const struct cf_class *file, const struct cf_member_index *in_file,
			 const struct cf_pool *pool, const struct captured_method *m,
			 struct ag_mem *mem)
{
	struct cf_text name = { m->name, strlen(m->name) };
	struct cf_text descriptor = { m->descriptor, strlen(m->descriptor) };
	const struct cf_body in_memory = { .pool = pool,
					   .code = (const uint8_t *)m->code.data,
					   .len = (uint32_t)m->code.len };
	const struct cf_indexed *found = cf_member_index_find(in_file, name, descriptor);
	struct cf_body original;
	struct cf_code code;
	int same;

	if (!found || !cf_code(&found->member, &code))
		return false;
	original = cf_body(file, &code, NULL);
	same = cf_code_equal(&original, &in_memory, mem);
	if (same < 0)
		xalloc_die();
	return same == 1;
}

static size_t count_differences(const struct class_capture *c, const struct cf_class *file,
				const struct cf_pool *pool, struct ag_mem *mem,
				const struct captured_method **first)
{
	struct cf_member_index in_file;
	size_t n = 0;

	if (cf_member_index_read(&in_file, cf_methods(file), mem) < 0)
		xalloc_die();
	for (size_t i = 0; i < c->n_methods; i++) {
		if (is_same_code(file, &in_file, pool, &c->methods[i], mem))
			continue;
		if (n++ == 0 && first)
			*first = &c->methods[i];
	}
	cf_member_index_release(&in_file);
	return n;
}

/*
 * Counts every captured method as different.  Called if the class file or the pool in memory is
 * invalid, because no code can then be compared.
 */
static size_t all_differ(const struct class_capture *c, const struct captured_method **first)
{
	if (first && c->n_methods > 0)
		*first = &c->methods[0];
	return c->n_methods;
}

size_t class_capture_differences(const struct class_capture *c,
				 const struct captured_method **first)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_class file;
	struct cf_pool pool;
	size_t len = c->pool.len, n;

	if (c->outcome != WIRE_CAPTURED_FILE || !c->memory)
		return 0;
	if (cf_open(&file, c->file.data, c->file.len, &mem))
		return all_differ(c, first);
	if (cf_pool_open(&pool, c->pool.data, &len, c->pool_count, &mem)) {
		cf_release(&file);
		return all_differ(c, first);
	}
	n = count_differences(c, &file, &pool, &mem, first);
	cf_pool_release(&pool);
	cf_release(&file);
	return n;
}
