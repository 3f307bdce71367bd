#include "model/class/class_info.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "model/class/type_name.h"
#include "wire/frame.h"

#define MANY UINT16_MAX /* maximum number of fields, of methods, and of interfaces (JVMS 4.1) */

static void supers_release(struct class_supers *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].name);
	free(s->list);
}

static void members_release(struct class_members *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->list[i].name);
		free(m->list[i].descriptor);
		free(m->list[i].generic);
	}
	free(m->list);
}

void class_info_release(struct class_info *c)
{
	supers_release(&c->supers);
	supers_release(&c->interfaces);
	members_release(&c->fields);
	members_release(&c->methods);
	free(c->file);
	*c = (struct class_info){ 0 };
}

static char *copy(struct wire_text text)
{
	return xstrndup(text.data, text.len);
}

static int take_super(struct class_info *c, const struct class_origins *origins,
		      struct wire_reader *payload)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct class_supers *s = wire_get_u32(payload) ? &c->interfaces : &c->supers;
	uint32_t loader = wire_get_u32(payload);
	struct wire_text signature = wire_get_text(payload);

	if (!wire_reader_ok(payload) || s->n == MANY || !class_origins_has(origins, loader, 0, 0) ||
	    type_name_java(&name, signature.data, signature.len) < 0)
		return -EBADMSG;
	s->list = xgrow(s->list, s->n, &s->cap, sizeof(*s->list));
	s->list[s->n++] = (struct class_super){ buf_take(&name), loader };
	return 0;
}

static int take_member(struct class_members *m, struct wire_reader *payload)
{
	uint32_t modifiers = wire_get_u32(payload);
	struct wire_text name = wire_get_text(payload);
	struct wire_text descriptor = wire_get_text(payload);
	struct wire_text generic = wire_get_text(payload);

	if (!wire_reader_ok(payload) || m->n == MANY)
		return -EBADMSG;
	m->list = xgrow(m->list, m->n, &m->cap, sizeof(*m->list));
	m->list[m->n++] = (struct class_member){
		modifiers, copy(name), copy(descriptor), copy(generic)
	};
	return 0;
}

/*
 * Orders methods by name, then by descriptor.  HotSpot orders methods by the addresses of their
 * names, so HotSpot's order differs from run to run.
 */
static int compare_methods(const void *a, const void *b)
{
	const struct class_member *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->descriptor, y->descriptor);
}

static int take_end(struct class_info *c, struct wire_reader *payload)
{
	struct wire_text file;

	c->major = wire_get_u32(payload);
	c->minor = wire_get_u32(payload);
	c->constants = wire_get_u32(payload);
	file = wire_get_text(payload);
	if (!wire_reader_ok(payload) || c->file)
		return -EBADMSG;
	c->file = copy(file);
	if (c->methods.n > 1)
		qsort(c->methods.list, c->methods.n, sizeof(*c->methods.list), compare_methods);
	return 1;
}

int class_info_take(struct class_info *c, struct class_origins *origins, uint16_t type,
		    struct wire_reader *payload)
{
	int rc = class_origins_take(origins, type, payload);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	switch (type) {
	case WIRE_CLASS_SUPER:
		return take_super(c, origins, payload);
	case WIRE_CLASS_FIELD:
		return take_member(&c->fields, payload);
	case WIRE_CLASS_METHOD:
		return take_member(&c->methods, payload);
	case WIRE_CLASS_END:
		return take_end(c, payload);
	default:
		return -EBADMSG;
	}
}
