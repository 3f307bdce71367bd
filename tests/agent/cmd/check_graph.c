/*
 * GRAPH in a fake JVM: the heap stream has exactly what the walk reported, for each reason to end
 * the walk, and nothing is left in the JVM when any call fails.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "agent/fake/converse.h"
#include "agent/fake/peer.h"
#include "jvm/graph/graph_walk.h"
#include "jvm/graph/vthreads.h"
#include "jvm/heap/self_objects.h"
#include "jvm/jni_refs.h"
#include "wire/heap_stream.h"

#define CLASSES_MAX 64
#define METHODS_MAX 8
#define PAUSE_MS 60000
#define LIFE_MS 50000

struct seen {
	char signatures[CLASSES_MAX][64];
	uint32_t n_classes, n_listed, n_loaders;
	uint8_t stream[1 << 18]; /* of all GRAPH requests */
	size_t stream_len;
	char threads[200], methods[METHODS_MAX][64];
	uint32_t n_methods, n_ends, n_told_again;
	uint32_t outcome, why;
	uint64_t own_thread, peak;
	size_t first_len; /* of the heap stream of the first GRAPH */
};

static struct seen seen;

static void take_rows(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--) {
		for (int i = 0; i < 5; i++)
			(void)wire_get_u32(r);
		ck_assert_uint_lt(seen.n_classes, CLASSES_MAX);
		copy_text(seen.signatures[seen.n_classes++], sizeof(seen.signatures[0]),
			  wire_get_text(r));
	}
}

static void take_threads(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--) {
		size_t len = strlen(seen.threads);
		char name[64];
		uint64_t id = wire_get_u64(r);

		copy_text(name, sizeof(name), wire_get_text(r));
		snprintf(seen.threads + len, sizeof(seen.threads) - len, "%lu %s; ",
			 (unsigned long)id, name);
	}
}

static void take_methods(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--) {
		char class[64], name[64];

		copy_text(class, sizeof(class), wire_get_text(r));
		copy_text(name, sizeof(name), wire_get_text(r));
		ck_assert_uint_lt(seen.n_methods, METHODS_MAX);
		snprintf(seen.methods[seen.n_methods++], sizeof(seen.methods[0]), "%.30s %.30s",
			 class, name);
	}
}

static void take_heap_stream(struct wire_reader *r)
{
	size_t len = (size_t)(r->end - r->at);

	ck_assert_uint_le(seen.stream_len + len, sizeof(seen.stream));
	ck_assert_uint_gt(len, 0);
	memcpy(seen.stream + seen.stream_len, r->at, len);
	seen.stream_len += len;
	r->at = r->end;
}

static void take(void *arg, uint16_t type, struct wire_reader *r)
{
	(void)arg;
	switch (type) {
	case WIRE_LOADER:
		seen.n_loaders++;
		(void)wire_get_u32(r);
		(void)wire_get_text(r);
		(void)wire_get_text(r);
		(void)wire_get_u32(r);
		break;
	case WIRE_MODULE:
		(void)wire_get_u32(r);
		(void)wire_get_text(r);
		break;
	case WIRE_CLASS_ROWS:
		take_rows(r);
		break;
	case WIRE_CLASSES_END:
		seen.n_listed = wire_get_u32(r);
		break;
	case WIRE_HEAP_STREAM:
		take_heap_stream(r);
		break;
	case WIRE_GRAPH_THREADS:
		take_threads(r);
		break;
	case WIRE_GRAPH_METHODS:
		take_methods(r);
		break;
	case WIRE_GRAPH_END:
		seen.outcome = wire_get_u32(r);
		(void)wire_get_u64(r);
		(void)wire_get_u64(r);
		seen.own_thread = wire_get_u64(r);
		seen.peak = wire_get_u64(r);
		seen.why = wire_get_u32(r);
		(void)wire_get_i32(r);
		(void)wire_get_u64(r);
		if (seen.n_ends++ == 0)
			seen.first_len = seen.stream_len;
		break;
	case WIRE_CLASS_SUPER:
	case WIRE_CLASS_FIELD:
	case WIRE_CLASS_METHOD:
		r->at = r->end;
		break;
	case WIRE_CLASS_END:
		seen.n_told_again++;
		r->at = r->end;
		break;
	default:
		ck_abort_msg("frame %u", type);
	}
}

/* The requests of a session. */
struct script {
	bool no_list;
	uint32_t pause_ms;
	uint64_t heap_stream_max;
	uint32_t texts_from; /* least length of Strings whose text is sent; 0: none is sent */
	int graphs;          /* the number of GRAPH requests */
	int64_t class;       /* the number in a CLASS request after them; -1: no request */
	unsigned snapshots;  /* bit i: GRAPH request i is for a snapshot */
};

static const struct script plain = {
	.pause_ms = PAUSE_MS, .heap_stream_max = 1 << 20, .graphs = 1, .class = -1
};

static void ask(int fd, const void *arg)
{
	const struct script *script = arg;
	uint8_t data[40];
	struct wire_writer w = wire_writer_init(data, sizeof(data));

	wire_put_u32(&w, 0);
	if (!script->no_list)
		peer_send(fd, WIRE_CLASSES, &w);
	for (int i = 0; i < script->graphs; i++) {
		w = wire_writer_init(data, sizeof(data));
		wire_put_u32(&w, (script->texts_from ? WIRE_GRAPH_TEXTS : 0) |
					 (script->snapshots >> i & 1 ? WIRE_GRAPH_SNAPSHOT : 0));
		wire_put_u32(&w, script->pause_ms);
		wire_put_u64(&w, script->heap_stream_max);
		wire_put_u32(&w, script->texts_from);
		wire_put_u32(&w, LIFE_MS);
		wire_put_u32(&w, 0);
		peer_send(fd, WIRE_GRAPH, &w);
	}
	if (script->class < 0)
		return;
	w = wire_writer_init(data, sizeof(data));
	wire_put_u32(&w, (uint32_t)script->class);
	peer_send(fd, WIRE_CLASS, &w);
}

static struct talk say(const struct script *script, enum end end)
{
	struct talk talk = { .ask = ask, .arg = script, .take = take, .seen = NULL, .end = end };

	memset(&seen, 0, sizeof(seen));
	converse(&talk);
	/* After an error, tags may remain until the environment is disposed of. */
	if (talk.errors == 0 && talk.gone)
		ck_assert_uint_eq(fake_tagged(), 0);
	return talk;
}

static void jvm_of(int release)
{
	heap_world_init(release, FAKE_NARROW);
}

/* Reads the heap stream record by record, to compare it with the fake JVM's reports. */
struct reading {
	struct heap_stream_state place;
	const uint8_t *at;
	uint64_t classes[CLASSES_MAX]; /* the address of each class; 0: no record yet */
	const void *methods[METHODS_MAX];
	uint32_t n_methods;
	uint64_t object; /* the address of the object of the last OBJECT record */
	size_t n_own, n_texts;
	bool in_weak;
};

static struct heap_stream_record next(struct reading *r)
{
	struct heap_stream_record record;

	r->at = heap_stream_read(&r->place, r->at, seen.stream + seen.stream_len, &record);
	ck_assert_ptr_nonnull(r->at);
	return record;
}

static struct heap_stream_record next_of(struct reading *r, enum heap_stream_kind kind,
					 uint64_t address)
{
	struct heap_stream_record record = next(r);

	ck_assert_int_eq(record.kind, kind);
	ck_assert_uint_eq(record.address, address);
	return record;
}

static void expect_size(const struct heap_stream_record *record, const struct fake_report *report)
{
	ck_assert_uint_eq(record->size, (uint64_t)report->size);
	ck_assert_int_eq(record->is_array, report->length >= 0);
	if (report->length >= 0)
		ck_assert_uint_eq(record->length, (uint32_t)report->length);
}

static void expect_class_index(struct reading *r)
{
	for (uint32_t i = 0; i < seen.n_listed; i++) {
		struct heap_stream_record record = next(r);

		ck_assert_int_eq(record.kind, HEAP_STREAM_CLASS);
		ck_assert_uint_eq(record.class, i);
		r->classes[i] = record.address;
	}
	for (; *r->at % 16 == HEAP_STREAM_OWN; r->n_own++)
		(void)next(r);
}

static void expect_method(struct reading *r, uint32_t number, const void *id)
{
	if (!id) {
		ck_assert_uint_eq(number, 0);
		return;
	}
	if (number == r->n_methods + 1)
		r->methods[r->n_methods++] = id;
	ck_assert_uint_le(number, r->n_methods);
	ck_assert_ptr_eq(r->methods[number - 1], id);
}

static void expect_root(struct reading *r, const struct fake_report *report)
{
	static const enum heap_stream_root kinds[] = {
		[JVMTI_HEAP_REFERENCE_JNI_GLOBAL] = HEAP_STREAM_ROOT_JNI_GLOBAL,
		[JVMTI_HEAP_REFERENCE_SYSTEM_CLASS] = HEAP_STREAM_ROOT_CLASS,
		[JVMTI_HEAP_REFERENCE_MONITOR] = HEAP_STREAM_ROOT_MONITOR,
		[JVMTI_HEAP_REFERENCE_STACK_LOCAL] = HEAP_STREAM_ROOT_STACK,
		[JVMTI_HEAP_REFERENCE_JNI_LOCAL] = HEAP_STREAM_ROOT_JNI_LOCAL,
		[JVMTI_HEAP_REFERENCE_THREAD] = HEAP_STREAM_ROOT_THREAD,
		[JVMTI_HEAP_REFERENCE_OTHER] = HEAP_STREAM_ROOT_VM,
	};
	struct heap_stream_record record = next_of(r, HEAP_STREAM_ROOT, report->object);

	expect_size(&record, report);
	ck_assert_int_eq(record.root, kinds[report->kind]);
	if (report->kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
		ck_assert_uint_eq(record.thread, (uint64_t)report->info.stack_local.thread_id);
		ck_assert_uint_eq(record.depth, (uint32_t)report->info.stack_local.depth);
		expect_method(r, record.method, report->info.stack_local.method);
	}
	if (report->kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL)
		ck_assert_uint_eq(record.thread, FAKE_OWN_THREAD);
	if (report->kind == JVMTI_HEAP_REFERENCE_THREAD)
		ck_assert(record.thread == FAKE_APP_THREAD || record.thread == FAKE_OWN_THREAD);
}

/* A class that is not in the class index has a record before its first object. */
static void expect_new_class(struct reading *r, const struct fake_report *report)
{
	struct heap_stream_record class = next_of(r, HEAP_STREAM_CLASS, report->object);
	struct heap_stream_record root = next_of(r, HEAP_STREAM_ROOT, report->object);

	ck_assert_uint_lt(class.class, CLASSES_MAX);
	ck_assert_uint_eq(r->classes[class.class], 0);
	r->classes[class.class] = report->object;
	ck_assert_uint_eq(root.thread, FAKE_OWN_THREAD);
	expect_size(&root, report);
}

static void expect_object(struct reading *r, const struct fake_report *report)
{
	struct heap_stream_record record;

	if (*r->at % 16 == HEAP_STREAM_CLASS)
		expect_new_class(r, report);
	record = next_of(r, HEAP_STREAM_OBJECT, report->referrer);
	ck_assert_uint_lt(record.class, CLASSES_MAX);
	ck_assert_uint_eq(r->classes[record.class], report->object);
	ck_assert_str_eq(seen.signatures[record.class], report->of_class);
	r->object = report->referrer;
	r->in_weak = strstr(report->of_class, "Weak") != NULL;
}

static void expect_field(struct reading *r, const struct fake_report *report)
{
	uint32_t index = (uint32_t)report->info.field.index;
	bool is_own = strcmp(report->of_class, "LAppWeak;") == 0;
	bool is_referent = r->in_weak && index == 1u + is_own;
	struct heap_stream_record record =
		next_of(r, is_referent ? HEAP_STREAM_REFERENT : HEAP_STREAM_FIELD, report->object);

	expect_size(&record, report);
	ck_assert_uint_eq(record.index, is_referent ? HEAP_STREAM_WEAK : index);
}

static uint32_t link_of(jvmtiHeapReferenceKind kind)
{
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_SUPERCLASS:
		return HEAP_STREAM_SUPERCLASS;
	case JVMTI_HEAP_REFERENCE_INTERFACE:
		return HEAP_STREAM_INTERFACE;
	case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
		return HEAP_STREAM_LOADER;
	case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
		return HEAP_STREAM_DOMAIN;
	case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
		return HEAP_STREAM_CONSTANT;
	default:
		ck_abort_msg("kind %d", (int)kind);
	}
}

static void expect_other(struct reading *r, const struct fake_report *report)
{
	bool is_element = report->kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT;
	bool is_static = report->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
	struct heap_stream_record record = next_of(r,
						   is_element  ? HEAP_STREAM_ELEMENT
						   : is_static ? HEAP_STREAM_STATIC
							       : HEAP_STREAM_LINK,
						   report->object);

	expect_size(&record, report);
	if (is_element || is_static)
		ck_assert_uint_eq(record.index, (uint32_t)report->info.array.index);
	else
		ck_assert_uint_eq(record.index, link_of(report->kind));
}

static void expect_text(struct reading *r)
{
	struct heap_stream_record record = next(r);

	ck_assert_uint_eq(record.address, r->object);
	ck_assert_int_eq(record.form, HEAP_STREAM_UTF16);
	ck_assert_uint_ge(record.text_len, 2 * 8);
	ck_assert_mem_eq(record.text, "\xe4\xf6\0", 3);
	r->n_texts++;
}

static void expect_reference(struct reading *r, const struct fake_report *report)
{
	if (report->kind == JVMTI_HEAP_REFERENCE_CLASS) {
		expect_object(r, report);
		return;
	}
	if (report->referrer != r->object) {
		(void)next_of(r, HEAP_STREAM_MIRROR, report->referrer);
		r->object = report->referrer;
	}
	if (report->kind == JVMTI_HEAP_REFERENCE_FIELD)
		expect_field(r, report);
	else
		expect_other(r, report);
}

static struct reading expect_heap_stream(void)
{
	struct reading r = { .at = seen.stream };

	expect_class_index(&r);
	for (size_t i = 0; i < fake_heap.n_reports; i++) {
		while (*r.at % 16 == HEAP_STREAM_TEXT)
			expect_text(&r);
		if (fake_heap.reports[i].referrer == 0)
			expect_root(&r, &fake_heap.reports[i]);
		else
			expect_reference(&r, &fake_heap.reports[i]);
	}
	while (r.at < seen.stream + seen.stream_len)
		expect_text(&r);
	return r;
}

START_TEST(heap_stream_has_each_report)
{
	static const int releases[] = { 1, 17, 21, 25 };

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		struct reading r;
		struct talk talk;

		jvm_of(releases[i]);
		talk = say(&plain, BYE);
		ck_assert(talk.gone && talk.errors == 0);
		ck_assert_uint_eq(seen.n_ends, 1);
		ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_COMPLETE);
		ck_assert_uint_eq(seen.own_thread, FAKE_OWN_THREAD);
		ck_assert_uint_gt(seen.peak, 0);
		ck_assert_uint_gt(fake_heap.n_reports, 250);
		r = expect_heap_stream();
		ck_assert_uint_ge(r.n_own, 1 + 32 + 1);
		ck_assert_uint_eq(r.n_texts, 0);
		/* The walk found the class LLate;. */
		ck_assert_uint_eq(seen.n_classes, seen.n_listed + 1);
		ck_assert_str_eq(seen.signatures[seen.n_listed], "LLate;");
		heap_world_stop();
	}
}
END_TEST

START_TEST(names_follow_the_walk)
{
	jvm_of(21);
	(void)say(&plain, BYE);
	ck_assert_str_eq(seen.threads, "3 Attach Listener; 7 jtool agent; ");
	ck_assert_uint_eq(seen.n_methods, 3);
	ck_assert_str_eq(seen.methods[0], "Ljava/lang/Thread; <init>");
	ck_assert_str_eq(seen.methods[1], "LApp; run");
	ck_assert_str_eq(seen.methods[2], "LApp; <init>");
	heap_world_stop();
}
END_TEST

START_TEST(texts_of_long_strings_are_sent)
{
	struct script script = plain;
	struct reading r;

	script.texts_from = 8;
	jvm_of(21);
	(void)say(&script, BYE);
	r = expect_heap_stream();
	/* The texts "Attach Listener", "jtool agent", "a.module", "/app/a.jar", "strongly" twice */
	ck_assert_uint_ge(r.n_texts, 6);
	heap_world_stop();
}
END_TEST

/* A class that a walk found keeps its number, also in later walks of the session. */
START_TEST(new_classes_join_the_class_index)
{
	struct script script = plain;
	struct talk talk;

	jvm_of(21);
	(void)say(&plain, BYE);
	heap_world_stop();
	script.class = seen.n_listed;
	script.graphs = 2;
	jvm_of(21);
	talk = say(&script, BYE);
	ck_assert(talk.gone && talk.errors == 0);
	ck_assert_uint_eq(seen.n_ends, 2);
	ck_assert_uint_eq(seen.n_told_again, 1);
	ck_assert_uint_eq(seen.n_classes, seen.n_listed + 1);
	heap_world_stop();
}
END_TEST

START_TEST(graph_without_classes_is_rejected)
{
	struct script script = plain;
	struct talk talk;

	script.no_list = true;
	jvm_of(21);
	talk = say(&script, BYE);
	ck_assert(talk.gone);
	ck_assert_uint_eq(talk.errors, 1);
	ck_assert_uint_eq(seen.n_ends, 0);
	heap_world_stop();
}
END_TEST

START_TEST(unknown_wrappers_are_detected)
{
	for (int i = 0; i < 3; i++) {
		struct talk talk;

		jvm_of(21);
		fake_heap.other_wrapper = i == 0;
		fake_heap.other_referrer = i == 1;
		fake.odd_references = i == 2;
		talk = say(&plain, BYE);
		ck_assert(talk.gone && talk.errors == 0);
		ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_UNKNOWN);
		ck_assert_uint_eq(seen.own_thread, 0);
		heap_world_stop();
	}
}
END_TEST

/* Checks the heap stream of a walk that ended early against the reports until then. */
static void expect_part(uint32_t outcome)
{
	ck_assert_uint_eq(seen.n_ends, 1);
	ck_assert_uint_eq(seen.outcome, outcome);
	(void)expect_heap_stream();
	/* The roots of all threads are reported even if the walk is aborted. */
	ck_assert_uint_ge(seen.stream_len, 500);
	ck_assert_uint_lt(fake_heap.n_reports, 250);
	heap_world_stop();
}

START_TEST(limits_end_the_walk)
{
	struct script script = plain;

	script.pause_ms = 0;
	jvm_of(17);
	(void)say(&script, BYE);
	expect_part(WIRE_GRAPHED_LATE);

	script = plain;
	script.heap_stream_max = 4400;
	jvm_of(17);
	(void)say(&script, BYE);
	ck_assert_uint_le(seen.stream_len, 4400);
	expect_part(WIRE_GRAPHED_FULL);

	script.heap_stream_max = 1000;
	jvm_of(17);
	(void)say(&script, BYE);
	ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_FULL);
	ck_assert_uint_eq(seen.own_thread, 0);
	ck_assert_uint_eq(seen.stream_len, 0);
	heap_world_stop();
}
END_TEST

START_TEST(client_may_disconnect_at_any_time)
{
	jvm_of(21);
	(void)say(&plain, HANG_UP);
	heap_world_stop();
	jvm_of(21);
	(void)say(&plain, HANG_UP_EARLY);
	heap_world_stop();
}
END_TEST

/* Snapshots */

#define EDGES_MAX 2048
#define OWN_MAX 256

struct edges {
	struct edge {
		uint64_t from, to, size, thread; /* from 0: a root */
		uint32_t kind, what, depth, method;
	} list[EDGES_MAX];
	size_t n;
};

static bool is_among(const uint64_t *list, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == address)
			return true;
	}
	return false;
}

static int compare_edges(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct edge));
}

/* Collects the edges of a heap stream, without those from or to the agent's objects. */
static void collect(const uint8_t *at, const uint8_t *end, struct edges *edges)
{
	struct heap_stream_state state = { 0 };
	uint64_t own[OWN_MAX], object = 0;
	size_t n_own = 0;

	edges->n = 0;
	while (at < end) {
		struct heap_stream_record r;
		struct edge edge;
		bool is_free; /* it has no referrer: it may be anywhere in the stream */

		at = heap_stream_read(&state, at, end, &r);
		ck_assert_ptr_nonnull(at);
		is_free = r.kind == HEAP_STREAM_ROOT || r.kind == HEAP_STREAM_CLASS;
		if (r.kind == HEAP_STREAM_OWN) {
			ck_assert_uint_lt(n_own, OWN_MAX);
			own[n_own++] = r.address;
			continue;
		}
		if (r.kind == HEAP_STREAM_OBJECT || r.kind == HEAP_STREAM_MIRROR)
			object = r.address;
		if ((r.kind == HEAP_STREAM_ROOT && r.thread == FAKE_OWN_THREAD) ||
		    is_among(own, n_own, r.address) ||
		    (!is_free && is_among(own, n_own, object)))
			continue;
		memset(&edge, 0, sizeof(edge)); /* with the padding, for memcmp() */
		edge.from = is_free ? 0 : object;
		edge.to = r.address;
		edge.size = r.size;
		edge.thread = r.thread;
		edge.kind = r.kind;
		edge.what = r.class + r.index + r.root + r.length;
		edge.depth = r.depth;
		edge.method = r.thread == FAKE_VIRTUAL_THREAD ? 0 : r.method;
		ck_assert_uint_lt(edges->n, EDGES_MAX);
		edges->list[edges->n++] = edge;
	}
	qsort(edges->list, edges->n, sizeof(edges->list[0]), compare_edges);
}

/* The first walk finds the class LLate;, so that the snapshot knows all classes. */
START_TEST(snapshot_has_the_same_graph)
{
	static const int releases[] = { 1, 17, 21, 25 };
	static struct edges walk, snapshot;
	struct script script = plain;

	script.graphs = 2;
	script.snapshots = 2;
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		struct talk talk;

		jvm_of(releases[i]);
		talk = say(&script, BYE);
		ck_assert(talk.gone && talk.errors == 0);
		ck_assert_uint_eq(seen.n_ends, 2);
		/* The child is the first to meet the method of the virtual thread's frame. */
		ck_assert_uint_eq(seen.why, WIRE_SNAPSHOT_NAMES);
		ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_COMPLETE);
		ck_assert_uint_eq(seen.own_thread, FAKE_OWN_THREAD);
		ck_assert_uint_eq(seen.n_methods, 3 + 2);
		ck_assert_str_eq(seen.methods[3], "Ljava/lang/Thread; <init>");
		ck_assert_str_eq(seen.methods[4], "LApp; run");
		collect(seen.stream, seen.stream + seen.first_len, &walk);
		collect(seen.stream + seen.first_len, seen.stream + seen.stream_len, &snapshot);
		ck_assert_uint_gt(walk.n, 150);
		ck_assert_uint_eq(walk.n, snapshot.n);
		ck_assert_mem_eq(walk.list, snapshot.list, walk.n * sizeof(walk.list[0]));
		/* In the parent, the walk ended at the first root, so no object was visited. */
		for (size_t k = 0; k < fake_heap.n_reports; k++)
			ck_assert_uint_eq(fake_heap.reports[k].referrer, 0);
		heap_world_stop();
	}
}
END_TEST

/* The child's tags are lost, so the agent cannot name classes that only the child found. */
START_TEST(snapshot_with_new_classes_is_void)
{
	struct script script = plain;
	struct talk talk;

	script.snapshots = 1;
	jvm_of(21);
	talk = say(&script, BYE);
	ck_assert(talk.gone && talk.errors == 0);
	ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_CHANGED);
	ck_assert_uint_eq(seen.n_classes, seen.n_listed);
	heap_world_stop();
}
END_TEST

START_TEST(snapshot_is_limited)
{
	struct script script = plain;

	script.snapshots = 1;
	script.heap_stream_max = 4400;
	jvm_of(17);
	(void)say(&script, BYE);
	ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_FULL);
	ck_assert_uint_le(seen.stream_len, 4400);
	heap_world_stop();
}
END_TEST

START_TEST(snapshot_detects_unknown_wrappers)
{
	for (int i = 0; i < 3; i++) {
		struct script script = plain;
		struct talk talk;

		script.snapshots = 1;
		jvm_of(21);
		fake_heap.other_wrapper = i == 0;
		fake_heap.other_referrer = i == 1;
		fake.odd_references = i == 2;
		talk = say(&script, BYE);
		ck_assert(talk.gone && talk.errors == 0);
		ck_assert_uint_ne(seen.outcome, WIRE_GRAPHED_COMPLETE);
		ck_assert_uint_eq(seen.own_thread, 0);
		heap_world_stop();
	}
}
END_TEST

START_TEST(client_may_disconnect_from_a_snapshot)
{
	struct script script = plain;

	script.snapshots = 1;
	jvm_of(21);
	(void)say(&script, HANG_UP);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1); /* no child is left */
	heap_world_stop();
}
END_TEST

/* Runs one session for each call that may fail; in this session, the call fails. */
static void fail_every_call(int release, bool leaving, const struct script *script)
{
	unsigned n = 0, n_errors = 0;
	struct talk talk;

	do {
		jvm_of(release);
		fake.fail_at = ++n;
		fake.leaving = leaving;
		talk = say(script, BYE);
		if (leaving)
			ck_assert_msg(talk.errors == 0, "call %u", n);
		if (talk.gone)
			ck_assert_msg(seen.n_ends + talk.errors >= 1, "call %u", n);
		n_errors += talk.errors > 0;
		heap_world_stop();
	} while (fake.calls >= n);
	ck_assert_uint_gt(n, 300);
	ck_assert(leaving || n_errors > 200);
}

START_TEST(each_call_may_fail)
{
	fail_every_call(1, false, &plain);
	fail_every_call(25, false, &plain);
}
END_TEST

START_TEST(each_call_of_a_snapshot_may_fail)
{
	struct script script = plain;

	script.snapshots = 1;
	fail_every_call(21, false, &script);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
}
END_TEST

START_TEST(the_jvm_may_exit_at_each_call)
{
	fail_every_call(21, true, &plain);
}
END_TEST

/* Starts a fake JVM of release 21, in which functions of the agent are called directly. */
static struct ag_jvm start_world(void)
{
	static struct ag_mem mem = { .budget = 1 << 20 };

	jvm_of(21);
	heap_world_start();
	return (struct ag_jvm){
		.vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem,
	};
}

/* JVMTI numbers the fields of the interfaces that an interface extends, too. */
START_TEST(fields_of_all_interfaces_are_counted)
{
	struct fake_object *weak, *shape;
	uint32_t n = 0, direct = 0;
	struct ag_jvm jvm;
	jclass class;

	jvm = start_world();
	weak = fake_heap_class("LAppWeak;");
	shape = fake_heap_class("LShape;");
	class = fake_ref(weak);
	ck_assert_int_eq(ag_graph_interface_fields(&jvm, class, &direct), 0);
	ck_assert_uint_eq(direct, 1);
	shape->interface = fake_heap_class("Ljava/lang/Module;"); /* it has two fields */
	ck_assert_int_eq(ag_graph_interface_fields(&jvm, class, &n), 0);
	ck_assert_uint_eq(n, 1 + 2);
	ag_ref_drop(&jvm, class);
	ck_assert_int_eq(fake.counts.references, fake.marked.references);
	heap_world_stop();
}
END_TEST

static jvmtiError JNICALL is_initialized(jvmtiEnv *ti, jclass class, jint *status)
{
	(void)ti, (void)class;
	*status = JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_INITIALIZED;
	return JVMTI_ERROR_NONE;
}

/* Static fields and numbers are not read; the thread has a name, but no lock. */
START_TEST(fields_of_the_own_thread_are_learned)
{
	static struct fake_field fields[] = {
		{ NULL, "blockerLock", "Ljava/lang/Object;", 0, 0x0008 },
		{ NULL, "tid", "J", 2, 0 },
		{ NULL, "interruptLock", "Ljava/lang/Object;", 1, 0 },
		{ NULL, "name", "Ljava/lang/String;", 0, 0 },
	};
	const jvmtiCapabilities needed = { .can_tag_objects = 1 };
	struct fake_object *thread;
	struct ag_vthreads threads;
	struct ag_classes classes;
	struct ag_jvm jvm;
	jobject own;

	jvm = start_world();
	fake_heap_class("LPoint;")->signature = "Ljava/lang/VirtualThread;";
	fake_ti_table.GetClassStatus = is_initialized;
	thread = fake_heap_class("Ljava/lang/Thread;");
	fake.loaded = &thread;
	fake.n_loaded = 1;
	for (size_t i = 0; i < 4; i++)
		fields[i].class = thread;
	fake.fields = fields;
	fake.n_fields = 4;
	fake.app_thread->fields[1].l = NULL;
	own = fake_ref(fake.app_thread);
	ck_assert_int_eq((*jvm.ti)->AddCapabilities(jvm.ti, &needed), JVMTI_ERROR_NONE);
	ck_assert_int_eq(ag_classes_get(&jvm, &classes), 0);
	ck_assert_int_eq(ag_vthreads_learn(&jvm, &classes, own, &threads), 0);
	ck_assert_ptr_nonnull(threads.class);
	ck_assert_uint_eq(threads.offset, 0); /* it has no field `cont` */
	ck_assert_uint_eq(threads.n, 2);
	ck_assert(threads.probes[0].is_null && !threads.probes[1].is_null);
	ag_vthreads_forget(&jvm, &threads);
	ag_classes_release(&jvm, &classes);
	ag_ref_drop(&jvm, own);
	ck_assert_int_eq(fake.counts.references, fake.marked.references);
	ck_assert_int_eq(fake.counts.tags, fake.marked.tags);
	heap_world_stop();
}
END_TEST

/* Of a java.lang.Class, static fields and numbers are not read, but JVMTI numbers them. */
START_TEST(fields_of_mirrors_are_numbered)
{
	static struct fake_field fields[] = {
		{ NULL, "cache", "Ljava/lang/Object;", 2, 0x0008 },
		{ NULL, "flags", "I", 2, 0 },
		{ NULL, "domain", "Ljava/lang/Object;", 0, 0 },
	};
	struct ag_mirrors mirrors = { .n = 0 };
	struct ag_classes classes;
	struct ag_jvm jvm;

	jvm = start_world();
	for (size_t i = 0; i < 3; i++)
		fields[i].class = fake_heap_class("Ljava/lang/Class;");
	fake.fields = fields;
	fake.n_fields = 3;
	ck_assert_int_eq(ag_classes_get(&jvm, &classes), 0);
	ck_assert_int_eq(ag_mirrors_read(&jvm, &classes, &mirrors), 0);
	ck_assert_uint_gt(mirrors.n, 0);
	for (uint32_t i = 0; i < mirrors.n; i++)
		ck_assert_uint_eq(mirrors.list[i].index, 2);
	ag_mirrors_release(&jvm, &mirrors);
	ag_classes_release(&jvm, &classes);
	ck_assert_int_eq(fake.counts.references, fake.marked.references);
	heap_world_stop();
}
END_TEST

START_TEST(name_of_the_own_thread_is_found)
{
	struct ag_self_objects own = { .n = 0 };
	struct fake_object *letters;
	struct ag_jvm jvm;
	bool found = false;

	jvm = start_world();
	letters = fake_heap_class("[B");
	((struct fake_object *)fake.current_thread->fields[0].l)->fields[0].l = (jobject)letters;
	ck_assert_int_eq(ag_self_objects_add_thread(&jvm, &own), 0);
	for (uint32_t i = 0; i < own.n; i++)
		found = found || fake_object_of(own.objects[i]) == letters;
	ck_assert(found);
	ag_self_objects_forget(&jvm, &own, 0);
	ck_assert_int_eq(fake.counts.references, fake.marked.references);
	heap_world_stop();
}
END_TEST

/* An object of 24 bytes with references at offsets 8, 12 and 20; the one at 12 is null. */
START_TEST(thread_fields_are_sent)
{
	_Alignas(8) uint32_t object[] = { 1, 0, 7, 0, 5, 9 };
	const void *slot = object;
	struct ag_vthreads threads = {
		.class = (jclass)&slot, .own = (jobject)&slot, .offset = 12, .n = 3,
		.probes = { { 8, false }, { 12, true }, { 20, false } },
	};
	uint64_t address = (uint64_t)(uintptr_t)object;

	ck_assert(ag_vthreads_certain(&threads));
	ck_assert(!threads.colored);
	ck_assert(ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address));
	ck_assert(!ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address + 4));
	ck_assert(!ag_vthread_is_bad(&threads, 0, address));
	object[5] = 0;
	ck_assert(!ag_vthreads_certain(&threads));
	object[5] = 9;
	object[3] = 1;
	ck_assert(!ag_vthreads_certain(&threads));
	object[3] = 0;
	threads.probes[2].offset = 0;
	ck_assert(!ag_vthreads_certain(&threads));
	threads.n = 1; /* no probe expects null */
	ck_assert(!ag_vthreads_certain(&threads));
	threads.n = 2;
	threads.colored = false;
	ck_assert(ag_vthreads_certain(&threads));
	threads.own = (jobject)((char *)&slot + 1);
	ck_assert(!ag_vthreads_certain(&threads));
	threads.own = (jobject)&slot;
	threads.offset = 0;
	ck_assert(!ag_vthreads_certain(&threads));
	threads.class = NULL; /* there are no virtual threads */
	ck_assert(ag_vthreads_certain(&threads));
}
END_TEST

/* Generational ZGC: a null that was stored has a colour; a field never written has none. */
START_TEST(references_have_colors)
{
	uint64_t object[] = { 1, 0x7f5d00104010, 0x4010, 0, 0x104010 };
	const void *slot = object;
	struct ag_vthreads threads = {
		.class = (jclass)&slot, .own = (jobject)&slot, .offset = 16, .n = 4,
		.probes = { { 8, false }, { 16, true }, { 24, true }, { 32, false } },
	};
	uint64_t address = (uint64_t)(uintptr_t)object;

	ck_assert(ag_vthreads_certain(&threads));
	ck_assert(threads.colored);
	ck_assert(ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address));
	ck_assert(ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address + 8));
	ck_assert(!ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address + 16));
	object[2] = 0x14010;
	ck_assert(!ag_vthreads_certain(&threads));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/cmd/graph");
	TCase *c = tcase_create("graph");
	SRunner *r;
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_test(c, heap_stream_has_each_report);
	tcase_add_test(c, names_follow_the_walk);
	tcase_add_test(c, texts_of_long_strings_are_sent);
	tcase_add_test(c, new_classes_join_the_class_index);
	tcase_add_test(c, graph_without_classes_is_rejected);
	tcase_add_test(c, unknown_wrappers_are_detected);
	tcase_add_test(c, limits_end_the_walk);
	tcase_add_test(c, client_may_disconnect_at_any_time);
	tcase_add_test(c, fields_of_all_interfaces_are_counted);
	tcase_add_test(c, fields_of_the_own_thread_are_learned);
	tcase_add_test(c, fields_of_mirrors_are_numbered);
	tcase_add_test(c, name_of_the_own_thread_is_found);
	tcase_add_test(c, thread_fields_are_sent);
	tcase_add_test(c, references_have_colors);
	tcase_add_test(c, each_call_may_fail);
	tcase_add_test(c, snapshot_has_the_same_graph);
	tcase_add_test(c, snapshot_with_new_classes_is_void);
	tcase_add_test(c, snapshot_is_limited);
	tcase_add_test(c, snapshot_detects_unknown_wrappers);
	tcase_add_test(c, client_may_disconnect_from_a_snapshot);
	tcase_add_test(c, each_call_of_a_snapshot_may_fail);
	tcase_add_test(c, the_jvm_may_exit_at_each_call);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
