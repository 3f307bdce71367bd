#include "model/class/class_origins.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "model/class/type_name.h"
#include "wire/frame.h"

/* limit for the loaders, modules and sources that a hostile agent can make jtool store */
#define ORIGINS_MAX (1u << 20)

static void texts_free(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void class_origins_release(struct class_origins *p)
{
	for (size_t i = 0; i < p->n_loaders; i++) {
		free(p->loaders[i].label);
		free(p->loaders[i].class);
		free(p->loaders[i].name);
	}
	free(p->loaders);
	texts_free(p->modules, p->n_modules);
	texts_free(p->sources, p->n_sources);
	*p = (struct class_origins){ 0 };
}

/*
 * Returns true if the id is valid after n ids have arrived.  The agent sends the ids 1, 2, …, so an
 * id is an array index plus 1.
 */
static bool is_next(uint32_t id, size_t n)
{
	return id == n + 1 && id <= ORIGINS_MAX;
}

/* The built-in loaders of JDK 9 and later, then those of JDK 8: class and short label. */
static const struct {
	const char *class, *label;
} known_loaders[] = {
	{ "jdk.internal.loader.ClassLoaders$AppClassLoader", "app" },
	{ "jdk.internal.loader.ClassLoaders$PlatformClassLoader", "platform" },
	{ "sun.misc.Launcher$AppClassLoader", "app" },
	{ "sun.misc.Launcher$ExtClassLoader", "platform" },
};

char *class_origins_label(const char *class, const char *name, uint32_t hash)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_loaders); i++) {
		if (strcmp(known_loaders[i].class, class) == 0)
			return xstrdup(known_loaders[i].label);
	}
	if (*name)
		return xasprintf("%s '%s' @%x", class, name, hash);
	return xasprintf("%s @%x", class, hash);
}

bool class_origins_loader_is_permanent(const char *label)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_loaders); i++) {
		if (strcmp(known_loaders[i].label, label) == 0)
			return true;
	}
	return strcmp(label, "bootstrap") == 0;
}

static int take_loader(struct class_origins *p, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf class = BUF_INIT;
	uint32_t id = wire_get_u32(payload);
	struct wire_text signature = wire_get_text(payload);
	struct wire_text name = wire_get_text(payload);
	uint32_t hash = wire_get_u32(payload);
	struct class_loader *loader;

	if (!wire_reader_ok(payload) || !is_next(id, p->n_loaders) ||
	    type_name_java(&class, signature.data, signature.len) < 0)
		return -EBADMSG;
	p->loaders = xgrow(p->loaders, p->n_loaders, &p->cap_loaders, sizeof(*p->loaders));
	loader = &p->loaders[p->n_loaders++];
	loader->class = buf_take(&class);
	loader->name = xstrndup(name.data, name.len);
	loader->hash = hash;
	loader->label = class_origins_label(loader->class, loader->name, hash);
	return 1;
}

/* Decodes a percent escape such as "%2F" at `at`.  Returns 0 if there is none. */
static char unescaped(const char *at, size_t len)
{
	char digits[] = "00";

	if (len < 3 || at[0] != '%' || !isxdigit((unsigned char)at[1]) ||
	    !isxdigit((unsigned char)at[2]))
		return '\0';
	memcpy(digits, at + 1, 2);
	return (char)strtoul(digits, NULL, 16);
}

/* Returns the path of a "file:" URL, or a copy of any other URL.  The caller frees it. */
static char *source_text(struct wire_text url)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (url.len <= strlen("file:/") || memcmp(url.data, "file:/", strlen("file:/")) != 0)
		return xstrndup(url.data, url.len);
	for (size_t at = strlen("file:"); at < url.len;) {
		char c = unescaped(url.data + at, url.len - at);

		buf_addc(&text, c ? c : url.data[at]);
		at += c ? 3 : 1;
	}
	return buf_take(&text);
}

static int take_text(struct wire_reader *payload, char *(*make)(struct wire_text), char ***texts,
		     size_t *n, size_t *cap)
{
	uint32_t id = wire_get_u32(payload);
	struct wire_text text = wire_get_text(payload);

	if (!wire_reader_ok(payload) || !is_next(id, *n))
		return -EBADMSG;
	*texts = xgrow(*texts, *n, cap, sizeof(**texts));
	(*texts)[(*n)++] = make(text);
	return 1;
}

static char *module_text(struct wire_text name)
{
	return xstrndup(name.data, name.len);
}

int class_origins_take(struct class_origins *p, uint16_t type, struct wire_reader *payload)
{
	switch (type) {
	case WIRE_LOADER:
		return take_loader(p, payload);
	case WIRE_MODULE:
		return take_text(payload, module_text, &p->modules, &p->n_modules,
				 &p->cap_modules);
	case WIRE_SOURCE:
		return take_text(payload, source_text, &p->sources, &p->n_sources,
				 &p->cap_sources);
	default:
		return 0;
	}
}

bool class_origins_has(const struct class_origins *p, uint32_t loader, uint32_t module,
		       uint32_t source)
{
	return loader <= p->n_loaders && module <= p->n_modules && source <= p->n_sources;
}

const char *class_origins_loader(const struct class_origins *p, uint32_t loader)
{
	return loader ? p->loaders[loader - 1].label : "bootstrap";
}

static const char *text_or_null(char *const *texts, uint32_t number)
{
	return number && *texts[number - 1] ? texts[number - 1] : NULL;
}

const char *class_origins_module(const struct class_origins *p, uint32_t module)
{
	return text_or_null(p->modules, module);
}

const char *class_origins_source(const struct class_origins *p, uint32_t source)
{
	return text_or_null(p->sources, source);
}

bool class_origins_loader_is(const struct class_origins *p, uint32_t loader, const char *word)
{
	const struct class_loader *l;
	const char *dot;
	char hash[9];

	if (strcmp(class_origins_loader(p, loader), word) == 0)
		return true;
	if (loader == 0)
		return false;
	l = &p->loaders[loader - 1];
	dot = strrchr(l->class, '.');
	(void)snprintf(hash, sizeof(hash), "%x", l->hash); /* eight digits always fit */
	return strcmp(l->class, word) == 0 || (dot && strcmp(dot + 1, word) == 0) ||
	       (*l->name && strcmp(l->name, word) == 0) ||
	       strcasecmp(hash, word + (*word == '@')) == 0;
}
