/*
 * Where classes come from, as the agent tells it: loaders, modules and code sources, by number.
 * Pure: what the agent sends is hostile until it went through here.
 */
#ifndef JTOOL_MODEL_PLACES_H
#define JTOOL_MODEL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"
#include "wire/cursor.h"

struct place_loader {
	char *label; /* "app", "platform", "a.b.Loader 'name' @1f2e3d4c" */
	char *class; /* "a.b.Loader" */
	char *name;  /* "" for none */
	uint32_t hash;
};

/* Number 0 is the bootstrap loader, no module, no source. */
struct places {
	struct place_loader *loaders;
	size_t n_loaders, cap_loaders;
	char **modules;
	size_t n_modules, cap_modules;
	char **sources;
	size_t n_sources, cap_sources;
};

void places_release(struct places *p);

/* Take a LOADER, MODULE or SOURCE frame: 1; 0: it is another; -EBADMSG: it makes no sense. */
int places_take(struct places *p, uint16_t type, struct wire_reader *payload) _must_check_;

/* False when one of the numbers was never told. */
bool places_know(const struct places *p, uint32_t loader, uint32_t module, uint32_t source);
/* What a loader of this class, of this name or "", is called; the caller frees it. */
char *places_label(const char *class, const char *name, uint32_t hash);
/* Is a loader that is called so there for as long as the JVM is? */
bool places_label_lasts(const char *label);
/* "bootstrap" for 0. */
const char *places_loader(const struct places *p, uint32_t loader);
/* NULL for 0 and for an unnamed module. */
const char *places_module(const struct places *p, uint32_t module);
/* NULL for 0. */
const char *places_source(const struct places *p, uint32_t source);

/*
 * Does what a user calls a loader mean this one?  Its label, its class, its class without the
 * package, its name, "@HASH" or "HASH".
 */
bool places_loader_is(const struct places *p, uint32_t loader, const char *word);

#endif
