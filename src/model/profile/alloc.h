/* Allocation sites, read from the agent's frames or from a report (alloc_report.h). */
#ifndef JTOOL_MODEL_PROFILE_ALLOC_H
#define JTOOL_MODEL_PROFILE_ALLOC_H

#include <stdbool.h>

#include "model/profile/frame_table.h"
#include "wire/frame.h"

/* An allocation site: a class, and the stack that allocates its objects. */
struct alloc_site {
	uint32_t kind;           /* index into alloc.kinds */
	uint64_t objects, bytes; /* estimates if sampled */
	uint64_t samples; /* number of samples; in an exact profile, the number of walked stacks */
	uint64_t live_objects, live_bytes;
	uint32_t *frames;        /* indexes into alloc.frames, innermost first */
	uint32_t n_frames;
};

struct alloc_state {
	/* the members of the frame ALLOC_STATE (wire/frames.def) */
	uint64_t ns, samples, bytes, dropped, interval;
	uint32_t sites, collections;
};

struct alloc_note {
	uint32_t note; /* enum wire_alloc_note */
	char *text;    /* has printable characters only */
	uint64_t n;    /* the count that belongs to the note, or 0 */
};

struct alloc {
	bool begun, ended;
	uint32_t flags;     /* WIRE_ALLOC_*; of a recording: unknown until `ended` is true */
	uint64_t begin_ns;  /* time that the start of the profile took, in ns */
	/* number of instrumented classes, and number of refused classes */
	uint32_t hooked, refused;
	uint32_t depth;     /* maximum number of frames of a stack; 0: unknown */
	struct alloc_state state; /* the state that was received last */
	/* class names such as "byte[]" and "a.b.C"; they may contain control characters */
	char **kinds;
	size_t n_kinds, kinds_cap;
	size_t kinds_bytes; /* length of all class names in bytes */
	struct frame_table frames;
	struct alloc_site *sites;
	size_t n, cap;
	size_t n_site_frames; /* number of frames of all sites */
	struct alloc_note *notes;
	size_t n_notes, notes_cap;
	uint32_t end;       /* enum wire_alloc_end */
	int32_t code;       /* JVMTI error of the attempt to restore classes; 0: none */
	uint64_t live_ns;   /* ns for which the JVM was paused to find live objects */
};

void alloc_release(struct alloc *a);

/*
 * Reads a frame ALLOC_… or FRAMES.  Returns 0 if more frames follow, 1 for the last one, -EBADMSG
 * if the frame is inconsistent or a limit is exceeded.
 */
int alloc_take(struct alloc *a, uint16_t type, struct wire_reader *payload) _must_check_;

/*
 * For a source other than the agent's frames: add a class, a site or a note.  Texts and frame
 * numbers are copied; `name` is in Java form.  Return 0, or -EBADMSG if a limit is exceeded or an
 * index is invalid.
 */
int alloc_add_class(struct alloc *a, const char *name, size_t len) _must_check_;
int alloc_add_site(struct alloc *a, const struct alloc_site *site) _must_check_;
int alloc_add_note(struct alloc *a, uint32_t note, const char *text, size_t len, uint64_t n)
	_must_check_;

/*
 * Merges the sites with the same class name and the same texts of frames, for example two
 * allocations in one line.
 */
void alloc_merge(struct alloc *a);

enum alloc_order { ALLOC_BY_BYTES, ALLOC_BY_COUNT, ALLOC_BY_LIVE_BYTES, ALLOC_BY_LIVE_COUNT };
/* Sorts the sites, the largest first; sites of equal size by class name, then by stack. */
void alloc_sort(struct alloc *a, enum alloc_order order);

/* Sums over all sites.  A sum that overflows is UINT64_MAX. */
struct alloc_total {
	uint64_t objects, bytes, live_objects, live_bytes;
};
struct alloc_total alloc_total(const struct alloc *a);

#endif
