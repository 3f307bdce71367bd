/*
 * A trace as the agent tells it: methods, calls, sums (TRACE in wire/types.def).
 *
 * Texts are UTF-8 where the target's are, and not made safe to show: that is for whoever prints
 * them.
 */
#ifndef JTOOL_MODEL_TRACE_H
#define JTOOL_MODEL_TRACE_H

#include "base/buf.h"
#include "base/intern.h"
#include "model/stackframes.h"
#include "wire/cursor.h"
#include "wire/sums.h"

/* All calls of a method, added up; what would overflow stays at its limit. */
struct trace_sum {
	uint64_t calls, threw, ns, min_ns, max_ns;
	uint64_t *buckets; /* SUMS_BUCKETS of them; NULL: no call yet */
};

struct trace_method {
	char *class;      /* Java source form: "a.b.C$D" */
	char *name, *descriptor; /* as in the class file */
	char *refused;    /* why it is not hooked, behind its name: "is native"; NULL: it is */
	uint32_t name_number; /* in trace.names */
	struct trace_sum sum;
};

struct trace_call {
	uint32_t method;
	uint64_t when_ns; /* since 1970 */
	uint64_t ns;
	uint64_t thread_id;
	struct wire_text thread; /* its name, as the JVM has it; "" for most virtual threads */
	bool threw;
	bool has_args;   /* they were told, or there are none */
	bool is_void;    /* a return of it has no value */
	struct wire_text args, result; /* tracevalue.h; valid until the next frame */
	const uint32_t *frames;        /* into trace.frames; from the method itself outwards */
	uint32_t n_frames;
};

struct trace_state {
	uint64_t calls, too_many, no_room, hooks_ns; /* as TRACE_STATE has them */
};

/* What methods are called by: class and name. */
struct trace_name {
	uint32_t first;  /* method of that name */
	bool overloaded; /* there is one with another descriptor */
	bool bridged;    /* there are two that differ in their results alone */
};

struct trace {
	struct trace_method *methods;
	size_t n, cap;
	struct intern names;
	struct trace_name *named; /* by number in names */
	size_t n_named, cap_named;
	struct stackframes frames;
	struct trace_state state;
	bool begun; /* the following two were told */
	uint32_t n_hooked;
	uint64_t install_ns;
	bool ended; /* the following two were told */
	uint32_t end; /* enum wire_trace_end */
	int32_t code; /* JVMTI error of putting the classes back, or 0 */
};

/* Add a method to those that will be asked for; returns its number.  The texts are copied. */
uint32_t trace_add(struct trace *t, const char *class, const char *name, const char *descriptor);
void trace_release(struct trace *t);

/* Told of each call, in the order in which they ended. */
typedef void trace_call_fn(const struct trace *t, const struct trace_call *call, void *arg);

/*
 * Take one frame: 0 when more come, 1 when it was TRACE_END, -EBADMSG when it makes no sense.
 * What is kept is bounded: by the methods that were asked for, and a number of stack frames.
 */
int trace_take(struct trace *t, uint16_t type, struct wire_reader *payload, trace_call_fn *tell,
	       void *arg) _must_check_;

/*
 * "a.b.C.m"; with the types of its parameters if another method that is traced has this name, and
 * with that of its result, "a.b.C.m(): int", if only that tells one from another.
 */
void trace_method_name(const struct trace *t, uint32_t method, struct buf *out);
bool trace_is_overloaded(const struct trace *t, uint32_t method);

/*
 * The time that a share q (0 to 1) of the calls stayed within: the middle of the bucket where that
 * one is, but none that is shorter than the shortest or longer than the longest; of all (1) the
 * longest.  0 without calls.
 */
uint64_t trace_quantile(const struct trace_sum *sum, double q);
uint64_t trace_mean(const struct trace_sum *sum);

#endif
