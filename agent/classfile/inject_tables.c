/* What follows a method's code in its attribute: handlers, and attributes of its own. */
#include "classfile/frames.h"

static enum cf_refusal put_own_handlers(struct injecting *m)
{
	for (uint16_t i = 0; i < m->code.n_handlers; i++) {
		struct cf_handler h = cf_handler(&m->code, i);
		uint32_t start = inj_label(m, h.start), end = inj_label(m, h.end);
		uint32_t handler = inj_label(m, h.handler);

		if (start == INJ_NOWHERE || end == INJ_NOWHERE || handler >= m->end)
			return CF_MALFORMED;
		cf_put_u2(&m->body, (uint16_t)start);
		cf_put_u2(&m->body, (uint16_t)end);
		cf_put_u2(&m->body, (uint16_t)handler);
		cf_put_u2(&m->body, h.type);
	}
	return CF_HOOKED;
}

enum cf_refusal inj_put_handlers(struct injecting *m)
{
	struct cf_bytes ranges = cf_bytes_init(m->covered.data, m->covered.len);
	uint32_t n = m->code.n_handlers + m->n_usual + m->n_early;
	enum cf_refusal refusal;

	if (n > UINT16_MAX)
		return CF_TOO_MANY;
	cf_put_u2(&m->body, (uint16_t)n);
	refusal = put_own_handlers(m);
	while (refusal == CF_HOOKED && cf_bytes_left(&ranges) > 0) {
		uint32_t range = cf_u4(&ranges);
		bool early = cf_u2(&ranges);

		if (early && m->n_early == 0)
			continue;
		cf_put_u4(&m->body, range);
		cf_put_u2(&m->body, (uint16_t)(early ? m->caught_early : m->caught));
		cf_put_u2(&m->body, 0); /* any exception */
	}
	return refusal;
}

/* Lines and variables of a method's begin are those of what is put in front of it, too. */
static uint32_t table_place(const struct injecting *m, uint32_t pc)
{
	return pc == 0 ? 0 : inj_label(m, pc);
}

/* Where it may be put; nothing when no line begins there. */
static bool put_line(struct injecting *m, struct cf_bytes *entry)
{
	uint32_t at = table_place(m, cf_u2(entry));

	if (at >= m->end)
		return false;
	cf_put_u2(&m->body, (uint16_t)at);
	return true;
}

static bool put_variable(struct injecting *m, struct cf_bytes *entry)
{
	uint32_t from = cf_u2(entry), to = from + cf_u2(entry);
	uint32_t start = table_place(m, from), end = table_place(m, to);

	if (start == INJ_NOWHERE || end == INJ_NOWHERE)
		return false;
	cf_put_u2(&m->body, (uint16_t)start);
	cf_put_u2(&m->body, (uint16_t)(end - start));
	return true;
}

/* A table of entries that begin with places.  What leads nowhere tells nobody anything. */
static enum cf_refusal put_table(struct injecting *m, const struct cf_attribute *a,
				 size_t entry_len,
				 bool (*put_places)(struct injecting *, struct cf_bytes *))
{
	struct cf_bytes bytes = cf_bytes_init(a->data, a->len);
	uint32_t n = cf_u2(&bytes), kept = 0;
	size_t count = m->body.len;

	if (bytes.failed || cf_bytes_left(&bytes) != n * entry_len)
		return CF_MALFORMED;
	cf_put_u2(&m->body, 0);
	for (; n > 0; n--) {
		struct cf_bytes entry = cf_bytes_init(cf_take(&bytes, entry_len), entry_len);

		if (!put_places(m, &entry))
			continue;
		cf_put(&m->body, entry.at, cf_bytes_left(&entry));
		kept++;
	}
	cf_set_u2(&m->body, count, (uint16_t)kept);
	return CF_HOOKED;
}

static enum cf_refusal put_content(struct injecting *m, const struct cf_attribute *a)
{
	if (cf_text_is(a->name, "StackMapTable"))
		return m->sites ? frames_move(m) : frames_put(m);
	if (cf_text_is(a->name, "LineNumberTable"))
		return put_table(m, a, 4, put_line);
	if (cf_text_is(a->name, "LocalVariableTable") ||
	    cf_text_is(a->name, "LocalVariableTypeTable"))
		return put_table(m, a, 10, put_variable);
	cf_put(&m->body, a->data, a->len);
	return CF_HOOKED;
}

static enum cf_refusal put_attribute(struct injecting *m, uint16_t name,
				     const struct cf_attribute *a)
{
	enum cf_refusal refusal;
	size_t len;

	cf_put_u2(&m->body, name);
	len = m->body.len;
	cf_put_u4(&m->body, 0);
	refusal = put_content(m, a);
	cf_set_u4(&m->body, len, (uint32_t)(m->body.len - len - 4));
	return refusal;
}

/* Stack maps of old versions (of which "StackMap" is one) are none that the JVM looks at. */
static bool is_left_out(const struct injecting *m, struct cf_text name)
{
	return (!m->with_maps && cf_text_is(name, "StackMapTable")) ||
	       cf_text_is(name, "StackMap") ||
	       cf_text_is(name, "RuntimeVisibleTypeAnnotations") ||
	       cf_text_is(name, "RuntimeInvisibleTypeAnnotations");
}

/* There were none, but what is put in needs some. */
static enum cf_refusal put_new_maps(struct injecting *m, bool *put)
{
	struct cf_attribute a = { .name = { "StackMapTable", 13 } };

	*put = m->with_maps && (m->caught || m->caught_early || m->enter.len > m->stored);
	if (!*put)
		return CF_HOOKED;
	if (m->constants.maps_name == 0)
		m->constants.maps_name = inj_utf8(&m->constants, a.name.data, a.name.len);
	return put_attribute(m, m->constants.maps_name, &a);
}

enum cf_refusal inj_put_tables(struct injecting *m)
{
	struct cf_attributes list = m->code.attributes;
	enum cf_refusal refusal = CF_HOOKED;
	size_t count = m->body.len;
	struct cf_attribute a;
	bool maps = false;
	uint16_t n = 0;

	cf_put_u2(&m->body, 0);
	while (refusal == CF_HOOKED && cf_next_attribute(&list, &a)) {
		if (is_left_out(m, a.name))
			continue;
		if (cf_text_is(a.name, "StackMapTable")) {
			if (maps)
				return CF_MALFORMED; /* there can be only one */
			maps = true;
		}
		refusal = put_attribute(m, cf_peek_u2(a.data - 6), &a);
		n++;
	}
	if (refusal == CF_HOOKED && !maps) {
		refusal = put_new_maps(m, &maps);
		n += maps;
	}
	cf_set_u2(&m->body, count, n);
	return refusal;
}
