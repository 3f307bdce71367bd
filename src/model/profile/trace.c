#include "model/profile/trace.h"

#include <errno.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "classfile/descr.h"
#include "classfile/inject/inject.h"
#include "model/class/javasig.h"
#include "model/redefine/redefinition.h"
#include "wire/frame.h"

void trace_release(struct trace *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct trace_method *m = &t->methods[i];

		free(m->class);
		free(m->name);
		free(m->descriptor);
		free(m->refused);
		free(m->sum.buckets);
	}
	free(t->methods);
	intern_release(&t->names);
	free(t->named);
	frame_table_release(&t->frames);
	*t = (struct trace){ 0 };
}

/*
 * Returns whether the class has a method that differs from `m` only in the result type, as a bridge
 * method does.
 */
static bool is_bridged(const struct trace *t, const struct trace_method *m, uint32_t name)
{
	size_t parameters = strcspn(m->descriptor, ")") + 1;

	for (size_t i = t->named[name].first; i < t->n; i++) {
		const struct trace_method *other = &t->methods[i];

		if (other->name_number == name &&
		    strncmp(other->descriptor, m->descriptor, parameters) == 0 &&
		    strcmp(other->descriptor, m->descriptor) != 0)
			return true;
	}
	return false;
}

/*
 * Returns the number of the method's name, and adds the name if it is new.  Sets `overloaded` if a
 * method of this name has another descriptor.  An equal descriptor does not count, because it means
 * that two loaders have defined the class.
 */
static uint32_t add_name(struct trace *t, const struct trace_method *m)
{
	_cleanup_free_ char *qualified = xasprintf("%s.%s", m->class, m->name);
	uint32_t number = intern_text(&t->names, qualified);
	struct trace_name *name;

	if (number == t->n_named) {
		t->named = xgrow(t->named, t->n_named, &t->cap_named, sizeof(*t->named));
		t->named[t->n_named++] = (struct trace_name){ .first = (uint32_t)t->n };
		return number;
	}
	name = &t->named[number];
	if (strcmp(t->methods[name->first].descriptor, m->descriptor) != 0)
		name->overloaded = true;
	if (name->overloaded && !name->bridged)
		name->bridged = is_bridged(t, m, number);
	return number;
}

uint32_t trace_add(struct trace *t, const char *class, const char *name, const char *descriptor)
{
	struct trace_method m = {
		.class = xstrdup(class),
		.name = xstrdup(name),
		.descriptor = xstrdup(descriptor),
	};

	m.name_number = add_name(t, &m);
	t->methods = xgrow(t->methods, t->n, &t->cap, sizeof(*t->methods));
	t->methods[t->n++] = m;
	return (uint32_t)(t->n - 1);
}

bool trace_is_overloaded(const struct trace *t, uint32_t method)
{
	return t->named[t->methods[method].name_number].overloaded;
}

static struct cf_text text_of(const char *text)
{
	return (struct cf_text){ text, strlen(text) };
}

void trace_method_name(const struct trace *t, uint32_t method, struct buf *out)
{
	const struct trace_method *m = &t->methods[method];
	struct cf_text parameters;
	struct cf_type type, result;

	buf_adds(out, m->class);
	buf_addc(out, '.');
	javasig_text(out, text_of(m->name));
	if (!trace_is_overloaded(t, method) ||
	    !cf_method_types(text_of(m->descriptor), &parameters, &result))
		return;
	buf_addc(out, '(');
	for (const char *between = ""; cf_type_next(&parameters, &type); between = ", ") {
		buf_adds(out, between);
		javasig_type(out, type.text);
	}
	buf_addc(out, ')');
	if (t->named[m->name_number].bridged) {
		buf_adds(out, ": ");
		javasig_type(out, result.text);
	}
}

bool trace_parameter_type(const struct trace *t, uint32_t method, unsigned n, struct buf *out)
{
	struct cf_text parameters;
	struct cf_type type, result;

	if (!cf_method_types(text_of(t->methods[method].descriptor), &parameters, &result))
		return false;
	while (cf_type_next(&parameters, &type)) {
		if (n-- > 0)
			continue;
		javasig_type(out, type.text);
		return true;
	}
	return false;
}

/* Reads the number of a method.  Returns the method, or NULL if there is none with this number. */
static struct trace_method *get_method(struct trace *t, struct wire_reader *payload)
{
	uint32_t number = wire_get_u32(payload);

	return wire_reader_ok(payload) && number < t->n ? &t->methods[number] : NULL;
}

static int take_refused(struct trace *t, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf why = BUF_INIT;
	struct trace_method *m = get_method(t, payload);
	uint32_t refusal = wire_get_u32(payload);
	int32_t code = wire_get_i32(payload);
	struct wire_text reason = wire_get_text(payload);

	if (!wire_reader_ok(payload) || !m)
		return -EBADMSG;
	if (refusal != CF_HOOKED) {
		buf_adds(&why, cf_refusal_text((enum cf_refusal)refusal));
	} else {
		buf_adds(&why, "cannot be instrumented");
		if (reason.len > 0) {
			buf_adds(&why, ": ");
			printable_add(&why, reason.data, reason.len);
		}
		if (code != 0)
			buf_addf(&why, ": %s (JVMTI error %d)", redefinition_error(code),
				 (int)code);
	}
	free(m->refused);
	m->refused = buf_take(&why);
	return 0;
}

static int take_begun(struct trace *t, struct wire_reader *payload)
{
	uint32_t n = wire_get_u32(payload);
	uint64_t ns = wire_get_u64(payload);

	if (!wire_reader_ok(payload) || t->begun || n > t->n)
		return -EBADMSG;
	t->begun = true;
	t->n_hooked = n;
	t->install_ns = ns;
	return 0;
}

static int take_stack(const struct trace *t, struct wire_reader *payload,
		      struct trace_call *call, uint32_t frames[static WIRE_TRACE_DEPTH])
{
	call->frames = frames;
	call->n_frames = wire_get_u32(payload);
	if (call->n_frames > WIRE_TRACE_DEPTH)
		return -EBADMSG;
	for (uint32_t i = 0; i < call->n_frames; i++) {
		frames[i] = wire_get_u32(payload);
		if (!wire_reader_ok(payload) || frames[i] >= t->frames.n)
			return -EBADMSG;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

/* Sets has_args and is_void of a call.  The descriptor of an instrumented method is valid. */
static void set_type_flags(const struct trace_method *m, struct trace_call *call)
{
	struct cf_text parameters;
	struct cf_type result;

	if (!cf_method_types(text_of(m->descriptor), &parameters, &result))
		return;
	call->has_args = call->args.len > 0 || parameters.len == 0;
	call->is_void = result.kind == 'V';
}

static int take_call(struct trace *t, struct wire_reader *payload, trace_call_fn *visit, void *arg)
{
	uint32_t frames[WIRE_TRACE_DEPTH];
	const struct trace_method *m = get_method(t, payload);
	struct trace_call call = { 0 };
	uint32_t threw;

	if (!m)
		return -EBADMSG;
	call.method = (uint32_t)(m - t->methods);
	call.when_ns = wire_get_u64(payload);
	call.ns = wire_get_u64(payload);
	call.thread_id = wire_get_u64(payload);
	call.thread = wire_get_text(payload);
	threw = wire_get_u32(payload);
	call.threw = threw == 1;
	call.args = wire_get_text(payload);
	call.result = wire_get_text(payload);
	if (take_stack(t, payload, &call, frames) < 0 || threw > 1)
		return -EBADMSG;
	set_type_flags(m, &call);
	visit(t, &call, arg);
	return 0;
}

static int take_calls(struct trace *t, struct wire_reader *payload, trace_call_fn *visit, void *arg)
{
	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		int rc = take_call(t, payload, visit, arg);

		if (rc < 0)
			return rc;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

static void add_up(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static int take_buckets(struct trace_sum *sum, struct wire_reader *payload)
{
	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		uint32_t bucket = wire_get_u32(payload);
		uint64_t calls = wire_get_u64(payload);

		if (!wire_reader_ok(payload) || bucket >= HISTOGRAM_BUCKETS)
			return -EBADMSG;
		if (!sum->buckets)
			sum->buckets = xcalloc(HISTOGRAM_BUCKETS, sizeof(*sum->buckets));
		add_up(&sum->buckets[bucket], calls);
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

/*
 * Reads the sums of a method.  The sums may contradict each other, because calls go on while the
 * agent reads the sums.
 */
static int take_sum(struct trace *t, struct wire_reader *payload)
{
	struct trace_method *m = get_method(t, payload);
	uint64_t calls = wire_get_u64(payload);
	uint64_t threw = wire_get_u64(payload);
	uint64_t ns = wire_get_u64(payload);
	uint64_t min_ns = wire_get_u64(payload);
	uint64_t max_ns = wire_get_u64(payload);

	if (!wire_reader_ok(payload) || !m)
		return -EBADMSG;
	if (calls > 0 && (m->sum.calls == 0 || min_ns < m->sum.min_ns))
		m->sum.min_ns = min_ns;
	if (calls > 0 && max_ns > m->sum.max_ns)
		m->sum.max_ns = max_ns;
	add_up(&m->sum.calls, calls);
	add_up(&m->sum.threw, threw);
	add_up(&m->sum.ns, ns);
	return take_buckets(&m->sum, payload);
}

static int take_sums(struct trace *t, struct wire_reader *payload)
{
	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		int rc = take_sum(t, payload);

		if (rc < 0)
			return rc;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

static int take_state(struct trace *t, struct wire_reader *payload)
{
	struct trace_state state = { .calls = wire_get_u64(payload) };

	state.too_many = wire_get_u64(payload);
	state.no_room = wire_get_u64(payload);
	state.hooks_ns = wire_get_u64(payload);
	if (!wire_reader_ok(payload))
		return -EBADMSG;
	t->state = state;
	return 0;
}

static int take_end(struct trace *t, struct wire_reader *payload)
{
	uint32_t end = wire_get_u32(payload);
	int32_t code = wire_get_i32(payload);

	if (end > WIRE_TRACED_FORCED || take_state(t, payload) < 0)
		return -EBADMSG;
	t->ended = true;
	t->end = end;
	t->code = code;
	return 1;
}

int trace_take(struct trace *t, uint16_t type, struct wire_reader *payload, trace_call_fn *visit,
	       void *arg)
{
	switch (type) {
	case WIRE_TRACE_REFUSED:
		return take_refused(t, payload);
	case WIRE_TRACE_BEGUN:
		return take_begun(t, payload);
	case WIRE_FRAMES:
		return frame_table_take(&t->frames, payload);
	case WIRE_TRACE_CALLS:
		return take_calls(t, payload, visit, arg);
	case WIRE_TRACE_SUMS:
		return take_sums(t, payload);
	case WIRE_TRACE_STATE:
		return take_state(t, payload);
	case WIRE_TRACE_END:
		return take_end(t, payload);
	default:
		return -EBADMSG;
	}
}

uint64_t trace_mean(const struct trace_sum *sum)
{
	return sum->calls > 0 ? sum->ns / sum->calls : 0;
}

/* Returns the number of the bucket that contains the q-quantile. */
static uint32_t bucket_at(const struct trace_sum *sum, double q)
{
	uint64_t total = 0, seen = 0;
	uint32_t last = 0;
	double rank;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		add_up(&total, sum->buckets[i]);
	rank = q * (double)total;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (sum->buckets[i] == 0)
			continue;
		last = i;
		add_up(&seen, sum->buckets[i]);
		if ((double)seen >= rank)
			break;
	}
	return last;
}

uint64_t trace_quantile(const struct trace_sum *sum, double q)
{
	uint64_t least, ns;
	uint32_t bucket;

	if (sum->calls == 0)
		return 0;
	if (q >= 1 || !sum->buckets) /* without buckets, only max_ns is known */
		return sum->max_ns;
	bucket = bucket_at(sum, q);
	least = log_histogram_least(bucket);
	ns = least + (log_histogram_least(bucket + 1) - least) / 2;
	if (ns < sum->min_ns)
		ns = sum->min_ns;
	return ns > sum->max_ns ? sum->max_ns : ns;
}
