#include "model/jfr/profile/jfr_profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_names.h"
#include "model/jfr/profile/jfr_profile_internal.h"

#define DEFAULT_INTERVAL_NS 20000000 /* interval of ExecutionSample in default.jfc */

/* Values of jfr_type.user: one of these; or 1 + the index of a source, counted across all sets. */
enum {
	USER_NONE = 0,
	USER_LOST_SAMPLES = JFR_PROFILE_SETS * JFR_PROFILE_SOURCES + 1,
	USER_LOST_BYTES,
	USER_JVM,
	USER_SETTING,
};

/*
 * Paths to the fields of an event type in the current chunk.  A path with n = 0 means that the type
 * lacks the field.
 */
struct binding {
	struct jfr_path trace, thread, value, leaf, state, failed, biased;
};

/*
 * The profile of one set of sources.  The profiles of all sets are read in one pass; the first
 * profile that has events is the result.
 */
struct candidate {
	const struct jfr_profile_set *set;
	struct profile p;
	struct jfr_profile_stacks stacks;
	struct binding bindings[JFR_PROFILE_SOURCES];
	/*
	 * Indexed by node: number of samples whose value is the sampling interval.  This interval
	 * is known only at the end of the recording.
	 */
	uint64_t *sampled;
	size_t n_sampled, cap_sampled;
};

struct pass {
	struct candidate candidates[JFR_PROFILE_SETS];
	size_t n;
	/* the times and lost events of the recording, which are the same for all sets */
	struct profile all;
	struct jfr_profile_interval interval;
	struct jfr_path amount;             /* DataLoss.amount */
	struct jfr_path samples, thread;    /* fields of CPUTimeSamplesLost */
	struct jfr_path version, arguments; /* fields of JVMInformation */
	bool is_old_jvm, is_8, has_debug_info; /* is_old_jvm: older than JDK 25 */
	bool is_foreign; /* async-profiler has written the recording */
	struct buf text;
	unsigned chunks;
};

static void find(const struct jfr_type *type, const char *name, struct jfr_path *path)
{
	if (!name || !jfr_path_find(type, name, path))
		path->n = 0;
}

/*
 * Like find(), but only for a field that contains the key of a constant, because equal stacks and
 * threads are recognised by this key.
 */
static void find_constant(const struct jfr_type *type, const char *name, struct jfr_path *path)
{
	find(type, name, path);
	if (path->n > 0 && !type->fields[path->fields[0]].is_constant)
		path->n = 0;
}

static void bind(const struct jfr_profile_source *s, struct binding *b, const struct jfr_type *type)
{
	find_constant(type, "stackTrace", &b->trace);
	find_constant(type, "eventThread", &b->thread);
	if (b->thread.n == 0)
		find_constant(type, "sampledThread", &b->thread);
	find(type, s->value, &b->value);
	find(type, s->leaf, &b->leaf);
	find(type, "state", &b->state);
	find(type, "failed", &b->failed);
	find(type, "biased", &b->biased);
}

/*
 * If an event type is a source of a set, finds the fields of the type, and returns the value for
 * jfr_type.user.  Else returns USER_NONE.
 */
static uint32_t bind_source(struct pass *pass, const struct jfr_type *type)
{
	for (uint32_t i = 0; i < pass->n * JFR_PROFILE_SOURCES; i++) {
		struct candidate *c = &pass->candidates[i / JFR_PROFILE_SOURCES];
		const struct jfr_profile_source *s = &c->set->sources[i % JFR_PROFILE_SOURCES];

		if (s->event && strcmp(s->event, type->name) == 0) {
			bind(s, &c->bindings[i % JFR_PROFILE_SOURCES], type);
			return i + 1;
		}
	}
	return USER_NONE;
}

/*
 * If `type` is one of the types that profiles of every kind need, finds the fields of the type, and
 * returns the value for jfr_type.user.  Else returns USER_NONE.
 */
static uint32_t bind_other(struct pass *pass, const struct jfr_type *type)
{
	if (jfr_profile_find_setting(&pass->interval, type))
		return USER_SETTING;
	if (strcmp(type->name, "jdk.DataLoss") == 0) {
		find(type, "amount", &pass->amount);
		return USER_LOST_BYTES;
	}
	if (strcmp(type->name, "jdk.CPUTimeSamplesLost") == 0) {
		find(type, "lostSamples", &pass->samples);
		find_constant(type, "eventThread", &pass->thread);
		return USER_LOST_SAMPLES;
	}
	if (strcmp(type->name, "jdk.JVMInformation") == 0) {
		find(type, "jvmVersion", &pass->version);
		find(type, "jvmArguments", &pass->arguments);
		return USER_JVM;
	}
	return USER_NONE;
}

static void begin(void *arg, const struct jfr_chunk *chunk)
{
	struct pass *pass = arg;

	for (size_t i = 0; i < pass->n; i++)
		jfr_profile_stacks_begin(&pass->candidates[i].stacks);
	for (size_t i = 0; i < chunk->metadata.n; i++) {
		struct jfr_type *type = &chunk->metadata.types[i];

		if (strncmp(type->name, "profiler.", strlen("profiler.")) == 0)
			pass->is_foreign = true;
		type->user = bind_source(pass, type);
		if (type->user == USER_NONE)
			type->user = bind_other(pass, type);
		type->is_skipped = type->user == USER_NONE;
	}
	if (pass->chunks++ == 0)
		pass->all.start_ns = chunk->start_ns;
	if (__builtin_add_overflow(pass->all.duration_ns, chunk->duration_ns,
				   &pass->all.duration_ns))
		pass->all.duration_ns = INT64_MAX;
}

/*
 * Returns the number in a field, times in ns and data in bytes.  Returns 0 if the event has no such
 * field, or if the number is negative or means "for ever".
 */
static uint64_t number(const struct jfr_event *e, const struct jfr_path *path)
{
	struct jfr_datum d;
	int64_t n;

	if (path->n == 0)
		return 0;
	jfr_get(e, path, &d);
	if ((d.kind != JFR_INTEGER && d.kind != JFR_UNSIGNED) || jfr_datum_is_unlimited(&d))
		return 0;
	n = jfr_datum_number(e->chunk, &d);
	return n > 0 ? (uint64_t)n : 0;
}

static bool truth(const struct jfr_event *e, const struct jfr_path *path)
{
	struct jfr_datum d = { .kind = JFR_NOTHING };

	if (path->n > 0)
		jfr_get(e, path, &d);
	return d.kind == JFR_TRUTH && d.integer;
}

const char *jfr_profile_text(struct buf *text, const struct jfr_event *e,
			     const struct jfr_path *path)
{
	struct jfr_datum d;

	buf_reset(text);
	if (path->n > 0) {
		jfr_get(e, path, &d);
		jfr_name_add(text, e->chunk, &d);
	}
	return buf_str(text);
}

/*
 * Returns whether the caller must add the event to the profile.  Counts in c->p.gaps[PROFILE_IDLE]
 * the events that JFR_NOT_WAITING and JFR_ONLY_FOR_A_LOCK exclude.
 */
static bool is_counted(struct candidate *c, const struct jfr_profile_source *s,
		       const struct binding *b, const struct jfr_event *e,
		       const struct jfr_profile_stack *stack, struct buf *text)
{
	bool counts = true;

	switch (s->filter) {
	case JFR_COUNT_ALL:
		break;
	case JFR_NOT_SLEEPING:
		return strcmp(jfr_profile_text(text, e, &b->state), "STATE_SLEEPING") != 0;
	case JFR_NOT_WAITING:
		counts = !jfr_profile_is_waiting(intern_get(&c->stacks.names, stack->top, NULL));
		break;
	case JFR_ONLY_FOR_A_LOCK:
		counts = jfr_profile_is_lock(jfr_profile_text(text, e, &b->leaf));
		break;
	}
	if (!counts)
		c->p.gaps[PROFILE_IDLE]++;
	return counts;
}

static uint64_t measure(const struct jfr_profile_source *s, const struct binding *b,
			const struct jfr_event *e)
{
	switch (s->measure) {
	case JFR_MEASURE_FIELD:
		return number(e, &b->value);
	case JFR_MEASURE_INTERVAL:
		return 0; /* add_intervals() adds the interval when it is known */
	default:
		return 1;
	}
}

static void add_up(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* Adds `n` to c->sampled[node], and enlarges the array if necessary. */
static void count_sampled(struct candidate *c, uint32_t node, uint64_t n)
{
	while (c->n_sampled <= node) {
		c->sampled = xgrow(c->sampled, c->n_sampled, &c->cap_sampled, sizeof(*c->sampled));
		c->sampled[c->n_sampled++] = 0;
	}
	add_up(&c->sampled[node], n);
}

static void count(struct pass *pass, uint32_t source, const struct jfr_event *e)
{
	struct candidate *c = &pass->candidates[source / JFR_PROFILE_SOURCES];
	const struct jfr_profile_source *s = &c->set->sources[source % JFR_PROFILE_SOURCES];
	const struct binding *b = &c->bindings[source % JFR_PROFILE_SOURCES];
	struct profile *p = &c->p;
	const struct jfr_profile_stack *stack = jfr_profile_stack_of(&c->stacks, e, &b->thread,
								      &b->trace);
	uint64_t values[CALL_TREE_VALUES] = { measure(s, b, e), 1 };
	/* An event of a set with one unit is as many samples: several, if a thread waits. */
	uint64_t n = c->set->other_unit ? 1 : values[0];
	uint32_t node = stack->node;

	if (!is_counted(c, s, b, e, stack, &pass->text))
		return;
	if (!p->source)
		p->source = s->event;
	/*
	 * Use the shortest period: the first samples of a thread may have the period of an earlier
	 * recording.
	 */
	if (strcmp(s->event, "jdk.CPUTimeSample") == 0 &&
	    (p->interval_ns == 0 || values[0] < p->interval_ns))
		p->interval_ns = values[0];
	if (truth(e, &b->failed) || !stack->has_frames)
		add_up(&p->gaps[PROFILE_FAILED], n);
	if (truth(e, &b->biased))
		add_up(&p->gaps[PROFILE_BIASED], n);
	if (stack->truncated)
		add_up(&p->gaps[PROFILE_TRUNCATED], n);
	if (s->leaf) {
		const char *leaf = jfr_profile_text(&pass->text, e, &b->leaf);

		node = call_tree_child(&p->tree, node, *leaf ? leaf : "(unknown)");
	}
	call_tree_add(&p->tree, node, values);
	if (s->measure == JFR_MEASURE_INTERVAL)
		count_sampled(c, node, 1);
	add_up(&p->samples, n);
}

/*
 * Adds lost samples to the profile, because their CPU time was used even if their stacks are
 * unknown.  JFR loses a sample if the thread runs code of the JVM, and neither Java nor native code
 * (jfrCPUTimeThreadSampler.cpp: check_state), or if the thread's sample queue is full.
 */
static void count_lost(struct pass *pass, const struct jfr_event *e)
{
	struct candidate *c = pass->candidates;
	uint64_t values[CALL_TREE_VALUES] = { 0, number(e, &pass->samples) };
	uint32_t node;

	if (values[1] == 0 || strcmp(c->set->sources[0].event, "jdk.CPUTimeSample") != 0)
		return;
	node = jfr_profile_lost_node(&c->stacks, e, &pass->thread);
	call_tree_add(&c->p.tree, node, values);
	count_sampled(c, node, values[1]);
	add_up(&c->p.samples, values[1]);
	add_up(&c->p.gaps[PROFILE_LOST_SAMPLES], values[1]);
}

/*
 * Reads the JVM's release and options from JVMInformation.  The version is a text such as "OpenJDK
 * 64-Bit Server VM (17.0.1+12) for linux-amd64 JRE (17.0.1+12), built on …".
 */
static void take_jvm(struct pass *pass, const struct jfr_event *e)
{
	const char *text = jfr_profile_text(&pass->text, e, &pass->version);
	const char *jre = strstr(text, " JRE (");
	unsigned long release = jre ? strtoul(jre + strlen(" JRE ("), NULL, 10) : 0;

	pass->is_8 = release == 1; /* "1.8.0_492" */
	pass->is_old_jvm = release > 0 && release < 25;
	pass->has_debug_info = strstr(jfr_profile_text(&pass->text, e, &pass->arguments),
				      "+DebugNonSafepoints") != NULL;
}

static int take(void *arg, const struct jfr_event *e, struct err *err)
{
	struct pass *pass = arg;
	uint64_t *gaps = pass->all.gaps;

	(void)err;
	if (e->type->user == USER_LOST_BYTES)
		add_up(&gaps[PROFILE_LOST_BYTES], number(e, &pass->amount));
	else if (e->type->user == USER_LOST_SAMPLES)
		count_lost(pass, e);
	else if (e->type->user == USER_JVM)
		take_jvm(pass, e);
	else if (e->type->user == USER_SETTING)
		jfr_profile_take_setting(&pass->interval, e, &pass->text);
	else if (e->type->user != USER_NONE)
		count(pass, e->type->user - 1, e);
	return 0;
}

/* Sets the members of p->gaps that depend on p->kind, p->source and the JVM, not on the events. */
static void set_gaps(const struct pass *pass, struct profile *p)
{
	bool samples = p->kind == PROFILE_CPU || p->kind == PROFILE_WALL;

	if (!p->source || pass->is_foreign)
		return;
	p->gaps[PROFILE_FEW_THREADS] = samples && strcmp(p->source, "jdk.CPUTimeSample") != 0;
	if (p->gaps[PROFILE_FEW_THREADS] && pass->is_old_jvm && !pass->has_debug_info)
		p->gaps[PROFILE_INEXACT] = pass->is_8 ? 2 : 1;
	p->gaps[PROFILE_NO_NATIVE] = samples;
	p->gaps[PROFILE_UNFINISHED] = p->kind == PROFILE_WALL || p->kind == PROFILE_LOCK ||
				      p->kind == PROFILE_IO;
}

static void add_intervals(const struct candidate *c, struct profile *p)
{
	uint64_t interval = p->interval_ns ? p->interval_ns : DEFAULT_INTERVAL_NS;

	for (uint32_t node = 0; node < c->n_sampled; node++) {
		uint64_t values[CALL_TREE_VALUES] = { 0 };

		if (__builtin_mul_overflow(c->sampled[node], interval, &values[0]))
			values[0] = UINT64_MAX;
		call_tree_add(&p->tree, node, values);
	}
}

static void begin_candidate(struct candidate *c, const struct jfr_profile_set *set,
			    const struct jfr_profile_request *req)
{
	*c = (struct candidate){
		.set = set,
		.p = { .kind = req->kind, .by_thread = req->by_thread },
		.stacks = {
			.p = &c->p,
			.depth = req->depth,
			.skips_constructors = req->kind == PROFILE_EXCEPTIONS,
		},
	};
	call_tree_init(&c->p.tree, set->unit, set->other_unit);
	c->p.tree.ends_in_classes = set->sources[0].leaf != NULL;
}

/*
 * Moves to *p the profile of the first set that has events; if no set has events, the profile of
 * the last set.
 */
static void take_profile(struct pass *pass, struct profile *p)
{
	struct candidate *c = pass->candidates;

	while (c < pass->candidates + pass->n - 1 && !c->p.source)
		c++;
	if (!c->p.source && pass->candidates->p.samples > 0) { /* all samples were lost */
		c = pass->candidates;
		c->p.source = c->set->sources[0].event;
	}
	*p = c->p;
	c->p = (struct profile){ .source = NULL };
	p->start_ns = pass->all.start_ns;
	p->duration_ns = pass->all.duration_ns;
	for (int gap = 0; gap < N_PROFILE_GAPS; gap++)
		add_up(&p->gaps[gap], pass->all.gaps[gap]);
	if (strcmp(c->set->sources[0].event, "jdk.ExecutionSample") == 0)
		p->interval_ns = jfr_profile_interval_ns(
			&pass->interval, pass->is_foreign && p->source);
	add_intervals(c, p);
	set_gaps(pass, p);
}

static void release(struct pass *pass)
{
	for (size_t i = 0; i < pass->n; i++) {
		jfr_profile_stacks_release(&pass->candidates[i].stacks);
		profile_release(&pass->candidates[i].p);
		free(pass->candidates[i].sampled);
	}
	buf_release(&pass->text);
}

int jfr_profile_read(struct jfr_reader *r, const struct jfr_profile_request *req,
		     struct profile *p, struct err *err)
{
	const struct jfr_profile_sets *sets = &jfr_profile_sets[req->kind];
	struct pass pass = { .text = BUF_INIT };
	const struct jfr_consumer c = {
		.arg = &pass, .begin = begin, .event = take, .from_ns = INT64_MIN,
	};
	int rc;

	for (; pass.n < JFR_PROFILE_SETS && sets->sets[pass.n]; pass.n++)
		begin_candidate(&pass.candidates[pass.n], sets->sets[pass.n], req);
	rc = jfr_scan(r, &c, err);
	take_profile(&pass, p);
	release(&pass);
	return rc;
}
