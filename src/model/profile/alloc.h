/* Allocation sites, read from the agent's frames or from a report (alloc_report.h). */
#ifndef JTOOL_MODEL_PROFILE_ALLOC_H
#define JTOOL_MODEL_PROFILE_ALLOC_H

#include <stdbool.h>

#include "model/profile/frame_table.h"
#include "wire/frame.h"

/* A class and the stack that allocates its objects. */
struct alloc_site {
	uint32_t kind;           /* index into alloc.kinds */
	uint64_t objects, bytes; /* estimates if sampled */
	uint64_t samples;        /* number of samples; in an exact profile, of stack walks */
	uint64_t live_objects, live_bytes;
	uint32_t *frames;        /* indexes into alloc.frames, innermost first */
	uint32_t n_frames;
};

struct alloc_state {
	uint64_t ns, samples, bytes, dropped, interval; /* see ALLOC_STATE */
	uint32_t sites, collections;
};

struct alloc_note {
	uint32_t note; /* enum wire_alloc_note */
	char *text;    /* printable */
	uint64_t n;    /* a count, or 0 */
};

struct alloc {
	bool begun, ended;
	uint32_t flags;     /* WIRE_ALLOC_*; for a recording, received at the end */
	uint64_t begin_ns;  /* time that the start of the profile took */
	uint32_t hooked, refused; /* numbers of instrumented and refused classes */
	uint32_t depth;     /* maximum frames of a stack; 0: unknown */
	struct alloc_state state; /* the latest state */
	char **kinds;       /* class names, "byte[]", "a.b.C"; may contain control characters */
	size_t n_kinds, kinds_cap;
	size_t kinds_bytes; /* length of all names */
	struct frame_table frames;
	struct alloc_site *sites;
	size_t n, cap;
	size_t n_site_frames; /* frames of all sites */
	struct alloc_note *notes;
	size_t n_notes, notes_cap;
	uint32_t end;       /* enum wire_alloc_end */
	int32_t code;       /* JVMTI error of restoring classes; 0: none */
	uint64_t live_ns;   /* pause to find live objects */
};

void alloc_release(struct alloc *a);

/*
 * Reads an ALLOC_… or FRAMES frame.  Returns 0 if more follow, 1 after the last one, and -EBADMSG
 * if it is inconsistent or exceeds a limit.
 */
int alloc_take(struct alloc *a, uint16_t type, struct wire_reader *payload) _must_check_;

/*
 * Adds data from another source; texts and frames are copied.  `name` is in Java form.  Returns 0,
 * or -EBADMSG if a limit is exceeded or an index is invalid.
 */
int alloc_add_class(struct alloc *a, const char *name, size_t len) _must_check_;
int alloc_add_site(struct alloc *a, const struct alloc_site *site) _must_check_;
int alloc_add_note(struct alloc *a, uint32_t note, const char *text, size_t len, uint64_t n)
	_must_check_;

/* Merges sites with equal class and frame texts, e.g. two allocations in one line. */
void alloc_merge(struct alloc *a);

enum alloc_order { ALLOC_BY_BYTES, ALLOC_BY_COUNT, ALLOC_BY_LIVE_BYTES, ALLOC_BY_LIVE_COUNT };
/* Sorts largest first; ties by class, then stack. */
void alloc_sort(struct alloc *a, enum alloc_order order);

/* Sums over all sites; they saturate. */
struct alloc_total {
	uint64_t objects, bytes, live_objects, live_bytes;
};
struct alloc_total alloc_total(const struct alloc *a);

#endif
