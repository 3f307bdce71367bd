/*
 * A trace: methods, calls and sums from the agent's frames (TRACE in wire/frames.def).  Texts are
 * as in the target: they may contain control characters or invalid UTF-8.
 */
#ifndef JTOOL_MODEL_PROFILE_TRACE_H
#define JTOOL_MODEL_PROFILE_TRACE_H

#include "base/buf.h"
#include "base/intern.h"
#include "model/profile/frame_table.h"
#include "wire/cursor.h"
#include "wire/log_histogram.h"

/* Sums over all calls of a method; they saturate. */
struct trace_sum {
	uint64_t calls, threw, ns, min_ns, max_ns;
	uint64_t *buckets; /* HISTOGRAM_BUCKETS entries; NULL: no call yet */
};

struct trace_method {
	char *class;      /* Java source form: "a.b.C$D" */
	char *name, *descriptor; /* as in the class file */
	char *refused;    /* why it is not instrumented: "is native"; else NULL */
	uint32_t name_number; /* in trace.names */
	struct trace_sum sum;
};

struct trace_call {
	uint32_t method;
	uint64_t when_ns; /* since the epoch */
	uint64_t ns;
	uint64_t thread_id;
	struct wire_text thread; /* thread name; "" for most virtual threads */
	bool threw;
	bool has_args;   /* args is valid, or the method has no parameters */
	bool is_void;    /* the result type is void */
	struct wire_text args, result; /* see trace_value.h; valid until the next frame */
	const uint32_t *frames;        /* indexes into trace.frames, innermost first */
	uint32_t n_frames;
};

struct trace_state {
	uint64_t calls, too_many, no_room, hooks_ns; /* see TRACE_STATE */
};

/* The methods that share class and name. */
struct trace_name {
	uint32_t first;  /* index of the first method in trace.methods */
	bool overloaded; /* descriptors differ */
	bool bridged;    /* two methods differ only in the result type */
};

struct trace {
	struct trace_method *methods;
	size_t n, cap;
	struct intern names;
	struct trace_name *named; /* indexed by number in names */
	size_t n_named, cap_named;
	struct frame_table frames;
	struct trace_state state;
	bool begun; /* the next two fields are valid */
	uint32_t n_hooked;
	uint64_t install_ns;
	bool ended; /* the next two fields are valid */
	uint32_t end; /* enum wire_trace_end */
	int32_t code; /* JVMTI error of restoring classes, or 0 */
};

/* Adds a method to request and returns its number.  Texts are copied. */
uint32_t trace_add(struct trace *t, const char *class, const char *name, const char *descriptor);
void trace_release(struct trace *t);

/* Receives each call, in the order in which the calls ended. */
typedef void trace_call_fn(const struct trace *t, const struct trace_call *call, void *arg);

/*
 * Reads one frame.  Returns 0 if more follow, 1 after TRACE_END, and -EBADMSG if it is
 * inconsistent.  Memory is bounded by the requested methods and the limit of stack frames.
 */
int trace_take(struct trace *t, uint16_t type, struct wire_reader *payload, trace_call_fn *visit,
	       void *arg) _must_check_;

/*
 * Appends "a.b.C.m"; for an overloaded method, also the parameter types, and, if two methods differ
 * only in the result type, also the result type: "a.b.C.m(): int".
 */
void trace_method_name(const struct trace *t, uint32_t method, struct buf *out);
bool trace_is_overloaded(const struct trace *t, uint32_t method);
/* Writes the type of parameter n (from 0) to an empty buffer.  Returns false if there is none. */
bool trace_parameter_type(const struct trace *t, uint32_t method, unsigned n, struct buf *out);

/*
 * Returns the time in ns that a share q (0 to 1) of the calls does not exceed: the middle of its
 * bucket, limited to the shortest and longest call; the longest for q = 1, and 0 without calls.
 */
uint64_t trace_quantile(const struct trace_sum *sum, double q);
uint64_t trace_mean(const struct trace_sum *sum);

#endif
