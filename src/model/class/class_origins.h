/*
 * The origins of classes (loaders, modules and code sources), by id.  The agent sends them in
 * frames, whose contents are checked.
 */
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

/*
 * The origins by their ids, which begin at 1.  Loader 0 is the bootstrap loader.  A class with
 * module 0 has no module, and a class with source 0 has no code source.
 */
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
 * Adds the loader, module or source that was received in a frame of the type LOADER, MODULE or
 * SOURCE to *p, and returns 1.  Returns 0 for frames of other types; or -EBADMSG if the frame is
 * inconsistent.
 */
int class_origins_take(struct class_origins *p, uint16_t type,
		       struct wire_reader *payload) _must_check_;

/* Returns true if each of the three ids is 0 or was received from the agent. */
bool class_origins_has(const struct class_origins *p, uint32_t loader, uint32_t module,
		       uint32_t source);
/*
 * Returns the label of a loader with this class, name ("": none) and identity hash code.  The
 * caller frees the label.
 */
char *class_origins_label(const char *class, const char *name, uint32_t hash);
/* Returns true if the loader with this label is a built-in one, which is never unloaded. */
bool class_origins_loader_is_permanent(const char *label);
/* Returns the label of a loader by its id; "bootstrap" for 0. */
const char *class_origins_loader(const struct class_origins *p, uint32_t loader);
/* Returns the name of a module; NULL for 0 and for an unnamed module. */
const char *class_origins_module(const struct class_origins *p, uint32_t module);
/* Returns the path or URL of a code source; NULL for 0. */
const char *class_origins_source(const struct class_origins *p, uint32_t source);

/*
 * Returns true if `word` denotes the loader: `word` is the loader's label, the loader's class with
 * or without the package, the loader's name, "@HASH" or "HASH".
 */
bool class_origins_loader_is(const struct class_origins *p, uint32_t loader, const char *word);

#endif
