/* Shared by the files that implement jfr_profile.h. */
#ifndef JTOOL_MODEL_JFR_PROFILE_JFR_PROFILE_INTERNAL_H
#define JTOOL_MODEL_JFR_PROFILE_JFR_PROFILE_INTERNAL_H

#include "model/jfr/jfr_datum.h"
#include "model/jfr/profile/jfr_profile.h"

/* How much an event adds to the profile. */
enum jfr_measure {
	JFR_MEASURE_ONE,      /* 1 for each event */
	/* the number (bytes, ns or a count) in the field that jfr_profile_source.value names */
	JFR_MEASURE_FIELD,
	JFR_MEASURE_INTERVAL, /* the interval of the sampler */
};

/* Selects the events of a source that are counted. */
enum jfr_profile_filter {
	JFR_COUNT_ALL,
	JFR_NOT_SLEEPING,    /* all except samples that async-profiler has marked as sleeping */
	/* all except samples in native methods that wait, because such a method uses no CPU */
	JFR_NOT_WAITING,
	JFR_ONLY_FOR_A_LOCK, /* only parks of threads that wait for a lock, not for work */
};

struct jfr_profile_source {
	const char *event; /* NULL ends the list */
	enum jfr_measure measure;
	const char *value; /* name of the field that JFR_MEASURE_FIELD reads */
	const char *leaf;  /* field whose text becomes the innermost frame; NULL: none */
	enum jfr_profile_filter filter;
};

#define JFR_PROFILE_SOURCES 8

/* Event types whose values have the same unit, so that the values can be added up. */
struct jfr_profile_set {
	const char *unit;
	const char *other_unit; /* unit of the second value, the number of events; NULL: none */
	struct jfr_profile_source sources[JFR_PROFILE_SOURCES];
};

#define JFR_PROFILE_SETS 3

/*
 * The sets of event types for one kind of profile.  The profile uses the first set of which the
 * recording has events.
 */
struct jfr_profile_sets {
	const struct jfr_profile_set *sets[JFR_PROFILE_SETS];
};

extern const struct jfr_profile_sets jfr_profile_sets[N_PROFILE_KINDS];

/* Returns whether `method`, a name such as "a.b.C.m", is a native method that only waits. */
bool jfr_profile_is_waiting(const char *method);
/* Returns whether a thread that is parked with a blocker object of this class waits for a lock. */
bool jfr_profile_is_lock(const char *class);

/* Sets `text` to the text of the field at `path` ("" if path->n is 0), and returns this text. */
const char *jfr_profile_text(struct buf *text, const struct jfr_event *e,
			     const struct jfr_path *path);

/* The interval of the sampler, which is a setting in the recording (event ActiveSetting). */
struct jfr_profile_interval {
	struct jfr_path id, name, value; /* fields of ActiveSetting */
	uint64_t ns; /* the interval in the last such setting; 0: unknown */
	/* true: async-profiler sampled in its mode "wall", which has another default interval */
	bool is_wall;
};

/* If `type` is ActiveSetting, finds its fields.  Returns false for another type. */
bool jfr_profile_find_setting(struct jfr_profile_interval *s, const struct jfr_type *type);
/* Reads an event ActiveSetting.  `text` is a buffer that the function overwrites. */
void jfr_profile_take_setting(struct jfr_profile_interval *s, const struct jfr_event *e,
			      struct buf *text);
/*
 * Returns the interval; 0: unknown.  `foreign` means that async-profiler has written the recording.
 * If async-profiler runs with its default interval, it records 0; the function then returns the
 * default interval.
 */
uint64_t jfr_profile_interval_ns(const struct jfr_profile_interval *s, bool foreign);

/* The stacks of a chunk, as nodes of p->tree. */
struct jfr_profile_stacks {
	struct profile *p;
	unsigned depth;
	/* true: skip the innermost frames that are the constructors of the thrown exception */
	bool skips_constructors;
	struct id_map nodes;    /* from a hash of thread and stack trace to the index in `list` */
	struct jfr_profile_stack {
		int64_t thread, trace;
		uint32_t node;
		uint32_t top;   /* number of the innermost frame's method in `names`; 0: none */
		bool truncated, has_frames;
	} *list;
	size_t n, cap;
	struct id_map methods; /* from the key of a method to the number of its name in `names` */
	struct intern names;   /* names of the methods of all chunks */
	uint32_t *frames;      /* of the stack that is being read: numbers in `names` */
	int64_t *lines;
	size_t frames_cap, lines_cap;
	struct buf text;
};

/* Begins a chunk: forgets the keys of the previous chunk's constants. */
void jfr_profile_stacks_begin(struct jfr_profile_stacks *s);
void jfr_profile_stacks_release(struct jfr_profile_stacks *s);
/*
 * Returns the stack of an event.  The result is valid until the next call of this function.
 * `thread` and `trace` are the paths of the event's fields with its thread and its stack trace.
 */
const struct jfr_profile_stack *jfr_profile_stack_of(struct jfr_profile_stacks *s,
						     const struct jfr_event *e,
						     const struct jfr_path *thread,
						     const struct jfr_path *trace);
/*
 * Returns the node "(lost samples)" for samples that the recorder lost.  Its parent is the node of
 * the event's thread if p->by_thread is set, else the root.
 */
uint32_t jfr_profile_lost_node(struct jfr_profile_stacks *s, const struct jfr_event *e,
			       const struct jfr_path *thread);

#endif
