#include "model/jfr/profile/jfr_profile.h"

#include <stdlib.h>
#include <string.h>

#include "model/jfr/jfr_names.h"
#include "model/jfr/profile/jfr_profile_internal.h"

#define DEFAULT_INTERVAL_NS 20000000 /* of ExecutionSample, from default.jfc */

/* Values of jfr_type.user: the number of a source, from 1 on, or one of these. */
enum {
	USER_NONE = 0,
	USER_LOST_SAMPLES = JFR_PROFILE_SOURCES + 1,
	USER_LOST_BYTES,
	USER_JVM,
};

/* Paths to the fields of an event type in the current chunk; n is 0 if the type lacks the field. */
struct binding {
	struct jfr_path trace, thread, value, leaf, state, failed, biased;
};

struct pass {
	const struct jfr_profile_set *set;
	struct profile *p;
	struct jfr_profile_stacks stacks;
	struct binding bindings[JFR_PROFILE_SOURCES + 1];
	struct jfr_path amount, samples; /* in DataLoss, CPUTimeSamplesLost */
	struct jfr_path version, arguments; /* in JVMInformation */
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
 * Finds a field that is a constant.  A stack or thread is recognised only by the key of such a
 * field.
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

static uint32_t source_of(const struct jfr_profile_set *set, const char *event)
{
	for (uint32_t i = 0; i < JFR_PROFILE_SOURCES && set->sources[i].event; i++) {
		if (strcmp(set->sources[i].event, event) == 0)
			return i + 1;
	}
	return USER_NONE;
}

static void begin(void *arg, const struct jfr_chunk *chunk)
{
	struct pass *pass = arg;

	jfr_profile_stacks_begin(&pass->stacks);
	for (size_t i = 0; i < chunk->metadata.n; i++) {
		struct jfr_type *type = &chunk->metadata.types[i];
		uint32_t source = source_of(pass->set, type->name);

		if (strncmp(type->name, "profiler.", strlen("profiler.")) == 0)
			pass->is_foreign = true;
		type->user = source;
		if (source != USER_NONE) {
			bind(&pass->set->sources[source - 1], &pass->bindings[source], type);
		} else if (strcmp(type->name, "jdk.DataLoss") == 0) {
			type->user = USER_LOST_BYTES;
			find(type, "amount", &pass->amount);
		} else if (strcmp(type->name, "jdk.CPUTimeSamplesLost") == 0) {
			type->user = USER_LOST_SAMPLES;
			find(type, "lostSamples", &pass->samples);
		}
		if (strcmp(type->name, "jdk.JVMInformation") == 0) {
			type->user = USER_JVM;
			find(type, "jvmVersion", &pass->version);
			find(type, "jvmArguments", &pass->arguments);
		}
		type->is_skipped = type->user == USER_NONE;
	}
	if (pass->chunks++ == 0)
		pass->p->start_ns = chunk->start_ns;
	if (__builtin_add_overflow(pass->p->duration_ns, chunk->duration_ns,
				   &pass->p->duration_ns))
		pass->p->duration_ns = INT64_MAX;
}

/* Returns the number in a field (time in ns, amounts of data in bytes); 0 if there is none. */
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
 * Returns whether the event counts.  Counts an event of a waiting thread as a gap (PROFILE_IDLE).
 */
static bool is_counted(struct pass *pass, const struct jfr_profile_source *s,
		       const struct binding *b, const struct jfr_event *e,
		       const struct jfr_profile_stack *stack)
{
	bool counts = true;

	switch (s->filter) {
	case JFR_COUNT_ALL:
		break;
	case JFR_NOT_SLEEPING:
		return strcmp(jfr_profile_text(&pass->text, e, &b->state), "STATE_SLEEPING") != 0;
	case JFR_NOT_WAITING:
		counts = !jfr_profile_is_waiting(intern_get(&pass->stacks.names, stack->top, NULL));
		break;
	case JFR_ONLY_FOR_A_LOCK:
		counts = jfr_profile_is_lock(jfr_profile_text(&pass->text, e, &b->leaf));
		break;
	}
	if (!counts)
		pass->p->gaps[PROFILE_IDLE]++;
	return counts;
}

static uint64_t measure(const struct pass *pass, const struct jfr_profile_source *s,
			const struct binding *b, const struct jfr_event *e)
{
	switch (s->measure) {
	case JFR_MEASURE_FIELD:
		return number(e, &b->value);
	case JFR_MEASURE_INTERVAL:
		return pass->p->interval_ns ? pass->p->interval_ns : DEFAULT_INTERVAL_NS;
	default:
		return 1;
	}
}

static void count(struct pass *pass, uint32_t source, const struct jfr_event *e)
{
	const struct jfr_profile_source *s = &pass->set->sources[source - 1];
	const struct binding *b = &pass->bindings[source];
	struct profile *p = pass->p;
	const struct jfr_profile_stack *stack = jfr_profile_stack_of(&pass->stacks, e, &b->thread,
								      &b->trace);
	uint64_t values[CALL_TREE_VALUES] = { measure(pass, s, b, e), 1 };
	uint32_t node = stack->node;

	if (!is_counted(pass, s, b, e, stack))
		return;
	if (!p->source)
		p->source = s->event;
	/*
	 * Use the shortest period: the first samples of a thread may have that of an earlier
	 * recording.
	 */
	if (strcmp(s->event, "jdk.CPUTimeSample") == 0 &&
	    (p->interval_ns == 0 || values[0] < p->interval_ns))
		p->interval_ns = values[0];
	p->gaps[PROFILE_FAILED] += truth(e, &b->failed) || !stack->has_frames;
	p->gaps[PROFILE_BIASED] += truth(e, &b->biased);
	p->gaps[PROFILE_TRUNCATED] += stack->truncated;
	if (s->leaf) {
		const char *leaf = jfr_profile_text(&pass->text, e, &b->leaf);

		node = call_tree_child(&p->tree, node, *leaf ? leaf : "(unknown)");
	}
	call_tree_add(&p->tree, node, values);
	p->samples++;
}

/* Parses "OpenJDK 64-Bit Server VM (17.0.1+12) for linux-amd64 JRE (17.0.1+12), built on …". */
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

	(void)err;
	if (e->type->user == USER_LOST_BYTES)
		pass->p->gaps[PROFILE_LOST_BYTES] += number(e, &pass->amount);
	else if (e->type->user == USER_LOST_SAMPLES)
		pass->p->gaps[PROFILE_LOST_SAMPLES] += number(e, &pass->samples);
	else if (e->type->user == USER_JVM)
		take_jvm(pass, e);
	else if (e->type->user != USER_NONE)
		count(pass, e->type->user, e);
	return 0;
}

int jfr_profile_scan(const struct jfr_profile_file *file, const struct jfr_consumer *c,
		     struct err *err)
{
	struct jfr_reader *r = file->open(file->arg);
	int rc = jfr_scan(r, c, err);

	file->close(file->arg, r);
	return rc;
}

/* Sets in p->gaps what recordings of this event type, by this JVM, cannot show. */
static void set_gaps(const struct pass *pass)
{
	struct profile *p = pass->p;
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

/* Fills *p from the events of one set. */
static int read_set(const struct jfr_profile_file *file, const struct jfr_profile_request *req,
		    const struct jfr_profile_set *set, struct profile *p, struct err *err)
{
	struct pass pass = {
		.set = set,
		.p = p,
		.stacks = {
			.p = p,
			.depth = req->depth,
			.skips_constructors = req->kind == PROFILE_EXCEPTIONS,
		},
	};
	const struct jfr_consumer c = {
		.arg = &pass, .begin = begin, .event = take, .from_ns = INT64_MIN,
	};
	int rc = 0;

	*p = (struct profile){ .kind = req->kind, .by_thread = req->by_thread };
	call_tree_init(&p->tree, set->unit, set->other_unit);
	p->tree.ends_in_classes = set->sources[0].leaf != NULL;
	if (strcmp(set->sources[0].event, "jdk.ExecutionSample") == 0)
		rc = jfr_profile_interval(file, &p->interval_ns, err);
	if (rc == 0)
		rc = jfr_profile_scan(file, &c, err);
	set_gaps(&pass);
	jfr_profile_stacks_release(&pass.stacks);
	buf_release(&pass.text);
	return rc;
}

int jfr_profile_read(const struct jfr_profile_file *file, const struct jfr_profile_request *req,
		     struct profile *p, struct err *err)
{
	const struct jfr_profile_sets *sets = &jfr_profile_sets[req->kind];
	int rc = 0;

	*p = (struct profile){ .source = NULL };
	for (size_t i = 0; rc == 0 && !p->source && i < JFR_PROFILE_SETS && sets->sets[i]; i++) {
		profile_release(p);
		rc = read_set(file, req, sets->sets[i], p, err);
	}
	return rc;
}
