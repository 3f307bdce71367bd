/*
 * Writes the parts of a Code attribute that come after its instructions: the exception table and
 * the attributes.
 */
#include "classfile/inject/inject_maps.h"

static enum cf_refusal put_own_handlers(struct injection *in)
{
	const struct cf_code *code = &in->method.code;

	for (uint16_t i = 0; i < code->n_handlers; i++) {
		struct cf_handler h = cf_handler(code, i);
		uint32_t start = inj_label(in, h.start), end = inj_label(in, h.end);
		uint32_t handler = inj_label(in, h.handler);

		if (start == INJ_NO_PC || end == INJ_NO_PC || handler >= in->layout->end)
			return CF_MALFORMED;
		cf_put_u2(&in->body, (uint16_t)start);
		cf_put_u2(&in->body, (uint16_t)end);
		cf_put_u2(&in->body, (uint16_t)handler);
		cf_put_u2(&in->body, h.type);
	}
	return CF_HOOKED;
}

enum cf_refusal inj_put_handlers(struct injection *in)
{
	const struct inj_handlers *h = &in->handlers;
	struct cf_bytes ranges = cf_bytes_init(h->ranges.data, h->ranges.len);
	uint32_t n = in->method.code.n_handlers + h->n_main + h->n_early;
	enum cf_refusal refusal;

	if (n > UINT16_MAX)
		return CF_TOO_MANY;
	cf_put_u2(&in->body, (uint16_t)n);
	refusal = put_own_handlers(in);
	while (refusal == CF_HOOKED && cf_bytes_left(&ranges) > 0) {
		uint32_t range = cf_u4(&ranges);
		bool early = cf_u2(&ranges);

		if (early && h->n_early == 0)
			continue;
		cf_put_u4(&in->body, range);
		cf_put_u2(&in->body, (uint16_t)(early ? h->early : h->main));
		cf_put_u2(&in->body, 0); /* catch type 0: catches all exceptions */
	}
	return refusal;
}

/*
 * Returns the new pc at which a source line or the scope of a local variable begins.  A line or
 * scope that began at pc 0 still begins there, so it includes the code inserted at the entry.
 */
static uint32_t table_pc(const struct injection *in, uint32_t pc)
{
	return pc == 0 ? 0 : inj_label(in, pc);
}

/*
 * Writes an entry of LineNumberTable with its new pc.  Returns false if no instruction begins at
 * the old pc.
 */
static bool put_line(struct injection *in, struct cf_bytes *entry)
{
	uint32_t at = table_pc(in, cf_u2(entry));

	if (at >= in->layout->end)
		return false;
	cf_put_u2(&in->body, (uint16_t)at);
	return true;
}

static bool put_variable(struct injection *in, struct cf_bytes *entry)
{
	uint32_t from = cf_u2(entry), to = from + cf_u2(entry);
	uint32_t start = table_pc(in, from), end = table_pc(in, to);

	if (start == INJ_NO_PC || end == INJ_NO_PC)
		return false;
	cf_put_u2(&in->body, (uint16_t)start);
	cf_put_u2(&in->body, (uint16_t)(end - start));
	return true;
}

/*
 * Writes a table whose entries begin with one or more pcs.  put_pcs() writes the new pcs of an
 * entry, or returns false if a pc is invalid; such an entry is dropped.
 */
static enum cf_refusal put_table(struct injection *in, const struct cf_attribute *a,
				 size_t entry_len,
				 bool (*put_pcs)(struct injection *, struct cf_bytes *))
{
	struct cf_bytes bytes = cf_bytes_init(a->data, a->len);
	uint32_t n = cf_u2(&bytes), n_put = 0;
	size_t count = in->body.len;

	if (bytes.failed || cf_bytes_left(&bytes) != n * entry_len)
		return CF_MALFORMED;
	cf_put_u2(&in->body, 0);
	for (; n > 0; n--) {
		struct cf_bytes entry = cf_bytes_init(cf_take(&bytes, entry_len), entry_len);

		if (!put_pcs(in, &entry))
			continue;
		cf_put(&in->body, entry.at, cf_bytes_left(&entry));
		n_put++;
	}
	cf_set_u2(&in->body, count, (uint16_t)n_put);
	return CF_HOOKED;
}

static enum cf_refusal put_content(struct injection *in, const struct cf_attribute *a)
{
	if (cf_text_is(a->name, "StackMapTable"))
		return in->sites ? inj_maps_move(in) : inj_maps_put(in);
	if (cf_text_is(a->name, "LineNumberTable"))
		return put_table(in, a, 4, put_line);
	if (cf_text_is(a->name, "LocalVariableTable") ||
	    cf_text_is(a->name, "LocalVariableTypeTable"))
		return put_table(in, a, 10, put_variable);
	cf_put(&in->body, a->data, a->len);
	return CF_HOOKED;
}

static enum cf_refusal put_attribute(struct injection *in, uint16_t name,
				     const struct cf_attribute *a)
{
	enum cf_refusal refusal;
	size_t len;

	cf_put_u2(&in->body, name);
	len = in->body.len;
	cf_put_u4(&in->body, 0);
	refusal = put_content(in, a);
	cf_set_u4(&in->body, len, (uint32_t)(in->body.len - len - 4));
	return refusal;
}

/*
 * Returns true for an attribute that is not copied: "StackMap", which the JVM ignores;
 * "StackMapTable" in a class file before version 50, where the JVM ignores it; and type annotations
 * (inject.h has the reason).
 */
static bool is_dropped(const struct injection *in, struct cf_text name)
{
	return (!in->method.with_maps && cf_text_is(name, "StackMapTable")) ||
	       cf_text_is(name, "StackMap") || cf_text_is(name, "RuntimeVisibleTypeAnnotations") ||
	       cf_text_is(name, "RuntimeInvisibleTypeAnnotations");
}

/*
 * Called for a method that had no StackMapTable.  Adds one if the inserted code needs it, and sets
 * *put to whether it was added.
 */
static enum cf_refusal put_new_maps(struct injection *in, bool *put)
{
	struct cf_attribute a = { .name = { "StackMapTable", 13 } };

	*put = in->method.with_maps &&
	       (in->handlers.main || in->handlers.early || in->added.enter.len > in->added.stored);
	if (!*put)
		return CF_HOOKED;
	if (in->constants.maps_name == 0)
		in->constants.maps_name = inj_utf8(&in->constants, a.name.data, a.name.len);
	return put_attribute(in, in->constants.maps_name, &a);
}

enum cf_refusal inj_put_tables(struct injection *in)
{
	struct cf_attributes list = in->method.code.attributes;
	enum cf_refusal refusal = CF_HOOKED;
	size_t count = in->body.len;
	struct cf_attribute a;
	bool maps = false;
	uint16_t n = 0;

	cf_put_u2(&in->body, 0);
	while (refusal == CF_HOOKED && cf_next_attribute(&list, &a)) {
		if (is_dropped(in, a.name))
			continue;
		if (cf_text_is(a.name, "StackMapTable")) {
			if (maps)
				return CF_MALFORMED; /* a second StackMapTable */
			maps = true;
		}
		refusal = put_attribute(in, cf_peek_u2(a.data - 6), &a);
		n++;
	}
	if (refusal == CF_HOOKED && !maps) {
		refusal = put_new_maps(in, &maps);
		n += maps;
	}
	cf_set_u2(&in->body, count, n);
	return refusal;
}
