/*
 * Where memory comes from: allocation sites as the agent tells of them, or as a report of its has
 * them (alloc_report.h).
 */
#ifndef JTOOL_MODEL_ALLOC_H
#define JTOOL_MODEL_ALLOC_H

#include <stdbool.h>

#include "model/stackframes.h"
#include "wire/frame.h"

/* A class and the stack on which its objects were made. */
struct alloc_site {
	uint32_t kind;
	uint64_t objects, bytes; /* sampling: estimates */
	uint64_t samples;        /* that these rest on; exact: stacks that were walked */
	uint64_t live_objects, live_bytes;
	uint32_t *frames;        /* numbers in alloc.frames, the innermost first */
	uint32_t n_frames;
};

struct alloc_state {
	uint64_t ns, samples, bytes, dropped, interval;
	uint32_t sites, collections;
};

struct alloc_note {
	uint32_t note; /* enum wire_alloc_note */
	char *text;    /* safe to show */
	uint64_t n;
};

struct alloc {
	bool begun, ended;
	uint32_t flags;     /* WIRE_ALLOC_*; of a recording its own, known at the end */
	uint64_t begin_ns;  /* that the JVM took to begin */
	uint32_t hooked, refused; /* classes */
	uint32_t depth;     /* frames of a stack, at most; 0: not told */
	struct alloc_state state; /* the last that was told */
	char **kinds;       /* Java names: "byte[]", "a.b.C"; not made safe to show */
	size_t n_kinds, kinds_cap;
	size_t kinds_bytes; /* of all names */
	struct stackframes frames;
	struct alloc_site *sites;
	size_t n, cap;
	size_t n_numbers;   /* of all frames of all sites */
	struct alloc_note *notes;
	size_t n_notes, notes_cap;
	uint32_t end;       /* enum wire_alloc_end */
	int32_t code;       /* JVMTI error of putting classes back; 0: none */
	uint64_t live_ns;
};

void alloc_release(struct alloc *a);

/*
 * Take a frame (ALLOC_… and FRAMES): 0 when more come, 1 when it was the last one, -EBADMSG when
 * it makes no sense or would be too much to keep.
 */
int alloc_take(struct alloc *a, uint16_t type, struct wire_reader *payload) _must_check_;

/*
 * Keep what was told in another form: 0, or -EBADMSG when it is too much or leads to nothing.
 * A name is Java's; of a site the numbers are copied.
 */
int alloc_keep_kind(struct alloc *a, const char *name, size_t len) _must_check_;
int alloc_keep_site(struct alloc *a, const struct alloc_site *site) _must_check_;
int alloc_keep_note(struct alloc *a, uint32_t note, const char *text, size_t len, uint64_t n)
	_must_check_;

/*
 * Make one of sites that read alike: the same line makes objects twice, or two loaders have the
 * class.
 */
void alloc_merge(struct alloc *a);

enum alloc_order { ALLOC_BY_BYTES, ALLOC_BY_COUNT, ALLOC_BY_LIVE_BYTES, ALLOC_BY_LIVE_COUNT };
/* Largest first; what is equal by class and stack, so that two runs are alike. */
void alloc_sort(struct alloc *a, enum alloc_order order);

/* Sums over all sites, which stay at their limit. */
struct alloc_total {
	uint64_t objects, bytes, live_objects, live_bytes;
};
struct alloc_total alloc_total(const struct alloc *a);

#endif
