/* Loaders, modules and code sources of classes, by id, from validated frames of the agent. */
#ifndef JTOOL_MODEL_CLASS_CLASS_ORIGINS_H
#define JTOOL_MODEL_CLASS_CLASS_ORIGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"
#include "wire/cursor.h"

struct class_loader {
	char *label; /* "app", "platform", "a.b.Loader 'name' @1f2e3d4c" */
	char *class; /* "a.b.Loader" */
	char *name;  /* "": none */
	uint32_t hash; /* identity hash code */
};

/* Ids begin at 1.  Loader 0 is the bootstrap loader; module 0 and source 0 mean none. */
struct class_origins {
	struct class_loader *loaders;
	size_t n_loaders, cap_loaders;
	char **modules;
	size_t n_modules, cap_modules;
	char **sources;
	size_t n_sources, cap_sources;
};

void class_origins_release(struct class_origins *p);

/*
 * Reads a frame.  Returns 1 for LOADER, MODULE and SOURCE, 0 for others, -EBADMSG if inconsistent.
 */
int class_origins_take(struct class_origins *p, uint16_t type,
		       struct wire_reader *payload) _must_check_;

/* Returns whether all three ids are valid. */
bool class_origins_has(const struct class_origins *p, uint32_t loader, uint32_t module,
		       uint32_t source);
/* Composes the label of a loader; `name` may be "".  The caller frees the label. */
char *class_origins_label(const char *class, const char *name, uint32_t hash);
/* Returns whether the loader with this label is never unloaded. */
bool class_origins_loader_is_permanent(const char *label);
/* Returns the label of a loader by its id; "bootstrap" for 0. */
const char *class_origins_loader(const struct class_origins *p, uint32_t loader);
/* Returns the name of a module; NULL for 0 and for an unnamed module. */
const char *class_origins_module(const struct class_origins *p, uint32_t module);
/* Returns the path or URL of a code source; NULL for 0. */
const char *class_origins_source(const struct class_origins *p, uint32_t source);

/*
 * Returns whether `word` denotes the loader: its label, its class with or without the package, its
 * name, "@HASH" or "HASH".
 */
bool class_origins_loader_is(const struct class_origins *p, uint32_t loader, const char *word);

#endif
