/*
 * The patches that an agent of ours holds, from its frames (PATCHES in wire/types.def).
 */
#ifndef JTOOL_MODEL_PATCHES_H
#define JTOOL_MODEL_PATCHES_H

#include "model/places.h"

struct patch_row {
	uint64_t id;
	uint64_t when_ms; /* since 1970 */
	uint32_t loader;  /* in places */
	char *class;      /* Java source form */
	char *file, *digest;
};

struct patches {
	struct patch_row *rows; /* in the order in which they came into being */
	size_t n, cap;
	struct places places;
};

void patches_release(struct patches *p);

/* Take one frame: 0 when more come, 1 when it was the last one, -EBADMSG when it makes no sense. */
int patches_take(struct patches *p, uint16_t type, struct wire_reader *payload) _must_check_;

/* Does a word, a class's name or a glob, and a loader's (NULL: any) mean this one? */
bool patches_match(const struct patches *p, const struct patch_row *row, const char *word,
		   const char *loader);

/* "2025-07-01T12:00:00Z" */
#define PATCH_WHEN_MAX 40
const char *patch_when(const struct patch_row *row, char text[static PATCH_WHEN_MAX]);

#endif
