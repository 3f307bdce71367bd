/*
 * The patches that one copy of the agent has installed, read from the frames that it sends (PATCHES
 * in wire/frames.def).
 */
#ifndef JTOOL_MODEL_REDEFINE_PATCHES_H
#define JTOOL_MODEL_REDEFINE_PATCHES_H

#include "model/class/class_origins.h"

struct patch_row {
	uint64_t id;
	uint64_t when_ms; /* time of the installation in ms since the epoch */
	uint32_t loader;  /* the class's loader: an id in patches.origins */
	char *class;      /* Java source form */
	char *file, *digest;
};

struct patches {
	struct patch_row *rows; /* in the order of installation */
	size_t n, cap;
	struct class_origins origins;
};

void patches_release(struct patches *p);

/*
 * Reads one frame.  Returns 0 if more frames follow; or 1 if this was the last frame; or -EBADMSG
 * if the frame is inconsistent.
 */
int patches_take(struct patches *p, uint16_t type, struct wire_reader *payload) _must_check_;

/*
 * Returns whether the row's class matches `word` (a class name or glob), and the class's loader
 * matches `loader`.  If `word` or `loader` is NULL, it matches everything.
 */
bool patches_match(const struct patches *p, const struct patch_row *row, const char *word,
		   const char *loader);

#define PATCH_WHEN_MAX 40
/*
 * Writes row->when_ms to `text` as "2025-07-01T12:00:00Z", or as "" if the time is out of range.
 * Returns `text`.
 */
const char *patch_when(const struct patch_row *row, char text[static PATCH_WHEN_MAX]);

#endif
