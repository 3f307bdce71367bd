/*
 * A trace: methods, calls and sums from the agent's frames (TRACE in wire/frames.def).  Texts are
 * as the target sends them, so they may contain control characters or invalid UTF-8.
 */
#ifndef JTOOL_MODEL_PROFILE_TRACE_H
#define JTOOL_MODEL_PROFILE_TRACE_H

#include "base/buf.h"
#include "base/intern.h"
#include "model/profile/frame_table.h"
#include "wire/cursor.h"
#include "wire/log_histogram.h"

/* Sums over all calls of a method.  A sum that overflows is UINT64_MAX. */
struct trace_sum {
	uint64_t calls, threw, ns, min_ns, max_ns;
	/* HISTOGRAM_BUCKETS entries; NULL: no call yet, or the agent had no memory for them */
	uint64_t *buckets;
};

struct trace_method {
	char *class;      /* Java source form: "a.b.C$D" */
	char *name, *descriptor; /* as in the class file */
	char *refused; /* why the method is not instrumented, for example "is native"; else NULL */
	uint32_t name_number; /* number of the method's name in trace.names */
	struct trace_sum sum;
};

struct trace_call {
	uint32_t method;
	uint64_t when_ns; /* time of the call in ns since the epoch */
	uint64_t ns;      /* duration of the call */
	uint64_t thread_id;
	struct wire_text thread; /* thread name; "" for most virtual threads */
	bool threw;
	bool has_args;   /* `args` is valid; also set for a method without parameters */
	bool is_void;    /* the result type is void */
	/* encoded values, see trace_value.h; valid until the next frame is read */
	struct wire_text args, result;
	const uint32_t *frames; /* numbers of stack frames in trace.frames, the innermost first */
	uint32_t n_frames;
};

struct trace_state {
	/* the members of the frame TRACE_STATE (wire/frames.def) */
	uint64_t calls, too_many, no_room, hooks_ns;
};

/* A name that methods may share: class and method name, without parameter types. */
struct trace_name {
	uint32_t first;  /* index in trace.methods of the first method with this name */
	bool overloaded; /* methods with this name differ in their descriptors */
	bool bridged;    /* two methods with this name differ only in the result type */
};

struct trace {
	struct trace_method *methods;
	size_t n, cap;
	struct intern names;
	struct trace_name *named; /* indexed by number in `names` */
	size_t n_named, cap_named;
	struct frame_table frames;
	struct trace_state state;
	bool begun; /* TRACE_BEGUN was received, so the next two members are valid */
	uint32_t n_hooked;
	uint64_t install_ns;
	bool ended; /* TRACE_END was received, so the next two members are valid */
	uint32_t end; /* enum wire_trace_end */
	int32_t code; /* JVMTI error of the attempt to restore classes; 0: none */
};

/* Adds a method that the client wants to trace.  Returns its number.  Texts are copied. */
uint32_t trace_add(struct trace *t, const char *class, const char *name, const char *descriptor);
void trace_release(struct trace *t);

/* A function that receives each traced call, in the order in which the calls ended. */
typedef void trace_call_fn(const struct trace *t, const struct trace_call *call, void *arg);

/*
 * Reads one frame.  Returns 0 if more frames follow; 1 if the frame is TRACE_END; -EBADMSG if the
 * frame is inconsistent.  `t` grows with the requested methods and the stack frames, but not with
 * the calls.
 */
int trace_take(struct trace *t, uint16_t type, struct wire_reader *payload, trace_call_fn *visit,
	       void *arg) _must_check_;

/*
 * Appends the name of a method: "a.b.C.m".  The name of an overloaded method includes the parameter
 * types: "a.b.C.m()".  It also includes the result type if another method differs only in that:
 * "a.b.C.m(): int".
 */
void trace_method_name(const struct trace *t, uint32_t method, struct buf *out);
bool trace_is_overloaded(const struct trace *t, uint32_t method);
/*
 * Appends the type of parameter n (from 0) to the empty buffer `out`.  Returns false if the method
 * has no such parameter.
 */
bool trace_parameter_type(const struct trace *t, uint32_t method, unsigned n, struct buf *out);

/*
 * Returns the q-quantile (q: 0 to 1) of the durations of the calls, in ns: the middle of the bucket
 * that has the quantile, limited to the range from min_ns to max_ns.  Returns max_ns for q = 1 or
 * without buckets, and 0 if there were no calls.
 */
uint64_t trace_quantile(const struct trace_sum *sum, double q);
uint64_t trace_mean(const struct trace_sum *sum);

#endif
