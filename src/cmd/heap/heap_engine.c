#include "cmd/heap/heap_engine.h"

#include <string.h>

#include "discover/memory_check.h"

#define NS_PER_S 1e9

const char *const heap_engines[] = {
	[HEAP_BY_AUTO] = "auto",
	[HEAP_BY_SNAPSHOT] = "snapshot",
	[HEAP_BY_AGENT] = "agent",
	[HEAP_BY_JVMTI] = "jvmti",
	[HEAP_BY_VM] = "vm",
	[HEAP_BY_HPROF] = "hprof",
	NULL,
};

static void add_choices(struct buf *out, unsigned engines)
{
	for (unsigned i = 0; heap_engines[i]; i++) {
		if (engines & 1u << i)
			buf_addf(out, "%s%s", out->len ? ", " : "", heap_engines[i]);
	}
}

int heap_engine_check(const struct heap_engine_set *set, enum heap_engine engine, const char *file,
		      struct err *err)
{
	_cleanup_buf_ struct buf choices = BUF_INIT;

	if (!(set->engines & 1u << engine)) {
		add_choices(&choices, set->engines);
		return err_set(err, EXIT_USAGE, "--engine %s is not possible here: %s; choose from "
						"%s", heap_engines[engine],
			       set->why_not,
			       buf_str(&choices));
	}
	if (file && engine != HEAP_BY_AUTO && engine != HEAP_BY_HPROF)
		return err_set(err, EXIT_USAGE,
			       "--engine %s needs a JVM, not a dump file: omit it",
			       heap_engines[engine]);
	return 0;
}

void heap_engine_put(enum heap_engine engine, int64_t pause_ns, struct json *doc)
{
	json_put_text(doc, "engine", heap_engines[engine]);
	if (pause_ns >= 0)
		json_put_real(doc, "pause", (double)pause_ns / NS_PER_S);
	else
		json_put_null(doc, "pause");
}

/*
 * The parts of a snapshot's expected pause, as measured in cloud instances: the JVM reaches the
 * safepoint in CLONE_MS; the kernel then copies the page tables, which takes CLONE_MS_PER_GB for
 * each GB of resident memory.
 */
#define GB (INT64_C(1) << 30)
#define CLONE_MS_PER_GB 22
#define CLONE_MS 3

static int estimate(const struct ctx *ctx, unsigned max_pause_ms, struct err *err)
{
	int64_t resident = memory_resident(ctx->jvm);
	int64_t pause_ms = resident < 0 ? 0 : resident / (GB / CLONE_MS_PER_GB) + CLONE_MS;

	if (resident >= 0)
		verbose_step(ctx->steps,
			     "a snapshot will pause the JVM for about %lld ms: %lld MB are "
			     "resident", (long long)pause_ms, (long long)(resident >> 20));
	if (pause_ms <= max_pause_ms)
		return 0;
	return err_set(err, EXIT_PARTIAL,
		       "cannot take a snapshot of JVM %d: it would pause the JVM for about %lld "
		       "ms, longer than --max-pause; raise --max-pause",
		       (int)ctx->jvm->pid, (long long)pause_ms);
}

int snapshot_check(const struct ctx *ctx, unsigned max_pause_ms, struct err *err)
{
	if (memory_check(ctx->jvm, MEMORY_SNAPSHOT, NULL, err) < 0)
		return -1;
	return estimate(ctx, max_pause_ms, err);
}

#define LIFE_MIN_MS 120000
#define LIFE_MAX_MS (60 * 60 * 1000)
/* speed at which a snapshot is assumed to be read if a slow disk or network delays the reader */
#define LIFE_BYTES_PER_MS (10 * 1024)

uint32_t snapshot_life_ms(const struct jvm *jvm)
{
	int64_t ms = memory_resident(jvm) / LIFE_BYTES_PER_MS;

	if (ms < LIFE_MIN_MS)
		return LIFE_MIN_MS;
	return ms < LIFE_MAX_MS ? (uint32_t)ms : LIFE_MAX_MS;
}

/*
 * Returns a text that explains `why` there is no snapshot.  The text does not contain an errno.
 */
static const char *text_of(enum wire_snapshot_why why)
{
	switch (why) {
	case WIRE_SNAPSHOT_NAMES:
		return "it would lack the methods of virtual threads' stack frames";
	case WIRE_SNAPSHOT_SHARED:
		return "its heap is in shared memory, as with ZGC and -XX:AllocateHeapAt";
	case WIRE_SNAPSHOT_CLONE:
		return "the kernel refuses a child process; see pids.max, ulimit -u, "
		       "vm.overcommit_memory and seccomp";
	case WIRE_SNAPSHOT_PREPARE:
		return "the agent cannot prepare a child process";
	case WIRE_SNAPSHOT_CONFINE:
		return "the child process cannot give up its rights";
	case WIRE_SNAPSHOT_LAYOUT:
		return "the layout of its objects is not known";
	case WIRE_SNAPSHOT_LATE:
		return "the walk took too long";
	case WIRE_SNAPSHOT_LOCKED:
		return "a lock of the JVM was held at each attempt";
	case WIRE_SNAPSHOT_HUNG:
		return "the child process was stopped or did not progress";
	case WIRE_SNAPSHOT_ROOM:
		return "there are too many GC roots";
	case WIRE_SNAPSHOT_CLASSES:
		return "classes are being loaded all the time";
	case WIRE_SNAPSHOT_UNLINKED:
		return "a class that has objects is not linked";
	case WIRE_SNAPSHOT_STACKS:
		return "the stacks of its virtual threads cannot be read";
	case WIRE_SNAPSHOT_MOVED:
		return "the garbage collector is moving objects all the time";
	default:
		return "the child process was killed";
	}
}

void snapshot_failed(const struct ctx *ctx, enum wire_snapshot_why why, int code,
		     struct err *err)
{
	bool has_errno = why >= WIRE_SNAPSHOT_CLONE && why <= WIRE_SNAPSHOT_CONFINE;

	(void)err_set(err, EXIT_PARTIAL,
		      "cannot take a snapshot of JVM %d: %s%s%s; --engine hprof needs none",
		      (int)ctx->jvm->pid, text_of(why), has_errno ? ": " : "",
		      has_errno ? strerror(code) : "");
}

bool snapshot_may_try_again(enum wire_snapshot_why why)
{
	return (why >= WIRE_SNAPSHOT_LOCKED && why <= WIRE_SNAPSHOT_ENDED) ||
	       why == WIRE_SNAPSHOT_CLASSES || why == WIRE_SNAPSHOT_MOVED ||
	       why == WIRE_SNAPSHOT_UNLINKED;
}
