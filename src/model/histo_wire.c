#include "model/histo_wire.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"

/* Far beyond any JVM: what a hostile agent can make us keep. */
#define TEXTS_MAX (1u << 20)
#define CLASSES_MAX (1u << 22)

static void texts_release(struct histo_texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->texts[i]);
	free(t->texts);
	*t = (struct histo_texts){ 0 };
}

void histo_wire_release(struct histo_wire *w)
{
	texts_release(&w->loaders);
	texts_release(&w->modules);
}

/* Numbers are told in order, so that they are places in an array. */
static int texts_add(struct histo_texts *t, uint32_t id, const char *text)
{
	if (id != t->n + 1 || id > TEXTS_MAX)
		return -EBADMSG;
	t->texts = xgrow(t->texts, t->n, &t->cap, sizeof(*t->texts));
	t->texts[t->n++] = xstrdup(text);
	return 0;
}

/* The loaders that every JVM has go by their short names: JDK 9 on, then JDK 8. */
static const struct {
	const char *class, *label;
} known_loaders[] = {
	{ "jdk.internal.loader.ClassLoaders$AppClassLoader", "app" },
	{ "jdk.internal.loader.ClassLoaders$PlatformClassLoader", "platform" },
	{ "sun.misc.Launcher$AppClassLoader", "app" },
	{ "sun.misc.Launcher$ExtClassLoader", "platform" },
};

static void add_label(struct buf *out, const char *class, struct wire_text name, uint32_t hash)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_loaders); i++) {
		if (strcmp(known_loaders[i].class, class) == 0) {
			buf_adds(out, known_loaders[i].label);
			return;
		}
	}
	buf_adds(out, class);
	if (name.len > 0)
		buf_addf(out, " '%.*s'", (int)name.len, name.data);
	buf_addf(out, " @%x", hash);
}

static int take_loader(struct histo_wire *w, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf class = BUF_INIT, label = BUF_INIT;
	uint32_t id = wire_get_u32(payload);
	struct wire_text signature = wire_get_text(payload);
	struct wire_text name = wire_get_text(payload);
	uint32_t hash = wire_get_u32(payload);

	if (!wire_reader_ok(payload) ||
	    histo_java_name(&class, signature.data, signature.len) < 0)
		return -EBADMSG;
	add_label(&label, buf_str(&class), name, hash);
	return texts_add(&w->loaders, id, buf_str(&label));
}

static int take_module(struct histo_wire *w, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	uint32_t id = wire_get_u32(payload);
	struct wire_text name = wire_get_text(payload);

	if (!wire_reader_ok(payload))
		return -EBADMSG;
	buf_add(&text, name.data, name.len);
	return texts_add(&w->modules, id, buf_str(&text));
}

/* An unnamed module is none to the user. */
static const char *module_name(const struct histo_wire *w, uint32_t module)
{
	return module && *w->modules.texts[module - 1] ? w->modules.texts[module - 1] : NULL;
}

static int take_class(struct histo_wire *w, struct wire_reader *payload, struct buf *name)
{
	uint32_t loader = wire_get_u32(payload);
	uint32_t module = wire_get_u32(payload);
	struct wire_text signature = wire_get_text(payload);
	uint64_t instances = wire_get_u64(payload);
	uint64_t bytes = wire_get_u64(payload);

	buf_reset(name);
	if (!wire_reader_ok(payload) || loader > w->loaders.n || module > w->modules.n ||
	    instances > INT64_MAX || bytes > INT64_MAX || w->histo->n >= CLASSES_MAX ||
	    histo_java_name(name, signature.data, signature.len) < 0)
		return -EBADMSG;
	if (instances == 0)
		return 0; /* GC.class_histogram does not list them either */
	histo_add(w->histo, buf_str(name), loader ? w->loaders.texts[loader - 1] : "bootstrap",
		  module_name(w, module), (int64_t)instances, (int64_t)bytes);
	return 0;
}

static int take_classes(struct histo_wire *w, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		int rc = take_class(w, payload, &name);

		if (rc < 0)
			return rc;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

static int take_end(struct histo_wire *w, struct wire_reader *payload)
{
	w->walk_ns = wire_get_u64(payload);
	w->method = wire_get_u32(payload);
	w->resolved = wire_get_u64(payload);
	w->agent_peak = wire_get_u64(payload);
	return wire_reader_ok(payload) ? 1 : -EBADMSG;
}

int histo_wire_take(struct histo_wire *w, uint16_t type, struct wire_reader *payload)
{
	switch (type) {
	case WIRE_LOADER:
		return take_loader(w, payload);
	case WIRE_MODULE:
		return take_module(w, payload);
	case WIRE_HISTO_CLASSES:
		return take_classes(w, payload);
	case WIRE_HISTO_END:
		return take_end(w, payload);
	default:
		return -EBADMSG;
	}
}
