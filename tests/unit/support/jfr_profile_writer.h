/* Writes a flight recording with the events of profiles. */
#ifndef JTOOL_TESTS_JFR_PROFILE_WRITER_H
#define JTOOL_TESTS_JFR_PROFILE_WRITER_H

#include "unit/support/jfr_writer.h"

/* Type ids of the events. */
enum {
	P_EXECUTION = 200, P_NATIVE, P_CPU_TIME, P_CPU_LOST, P_DATA_LOSS, P_ENTER, P_PARK,
	P_OBJECT, P_TLAB, P_READ, P_THROW, P_SETTING, P_WALL, P_SLEEP, P_JVM,
	P_RECORDING,
};
#define P_STATE "40" /* jdk.types.ThreadState */

/* Keys of the constants. */
enum { P_MAIN = 1, P_WORKER };
enum { P_RUNNABLE = 1, P_SLEEPING };
enum { P_SHOP = 1, P_EPOLL, P_LOCK, P_REENTRANT, P_CONDITION, P_BOOM };
/* Stacks, innermost frame first; P_NO_STACK is null. */
enum {
	P_NO_STACK,
	P_PAY,       /* Shop.pay:30, Shop.main:12 */
	P_TAX,       /* Shop.tax:40, Shop.pay:31, Shop.main:12 */
	P_RECURSIVE, /* Shop.pay:30, Shop.pay:31, Shop.main:12 */
	P_POLL,      /* EPoll.wait, Shop.main:13 */
	P_NEW,       /* Boom.<init>, Boom.<init>, Shop.pay:30, Shop.main:12 */
	P_CUT,       /* Shop.tax:40, Shop.pay:31 of a deeper stack */
};

static inline void p_event_type(struct jfr_writer *w, const char *name, const char *id,
				uint32_t fields)
{
	ELEMENT(w, "class", fields + 1, "name", name, "id", id, "superType", "jdk.jfr.Event");
	w_start_fields(w);
}

static inline void p_constant(struct jfr_writer *w, const char *name, const char *class)
{
	ELEMENT(w, "field", 0, "name", name, "class", class, "constantPool", "true");
}

static inline void p_plain(struct jfr_writer *w, const char *name, const char *class)
{
	ELEMENT(w, "field", 0, "name", name, "class", class);
}

static inline void p_timespan(struct jfr_writer *w, const char *name)
{
	ELEMENT(w, "field", 1, "name", name, "class", "22");
	ELEMENT(w, "annotation", 0, "class", "36", "value", "TICKS");
}

static inline void p_sample_type(struct jfr_writer *w, const char *name, const char *id,
				 uint32_t more)
{
	p_event_type(w, name, id, 3 + more);
	p_constant(w, "sampledThread", "29");
	p_constant(w, "stackTrace", "34");
	p_constant(w, "state", P_STATE);
}

/* Writes a type with the fields duration, eventThread, stackTrace and, unless NULL, `own`. */
static inline void p_wait_type(struct jfr_writer *w, const char *name, const char *id,
			       const char *own)
{
	p_event_type(w, name, id, own ? 4 : 3);
	p_timespan(w, "duration");
	p_constant(w, "eventThread", "29");
	p_constant(w, "stackTrace", "34");
	if (own)
		p_constant(w, own, "30");
}

static inline void p_some_types(struct jfr_writer *w, bool foreign)
{
	w_begin_types(w, foreign ? 17 : 16);
	ELEMENT(w, "class", 1, "name", "jdk.types.ThreadState", "id", P_STATE);
	p_plain(w, "name", "20");
	p_sample_type(w, "jdk.ExecutionSample", "200", 0);
	p_sample_type(w, "jdk.NativeMethodSample", "201", 0);
	p_event_type(w, "jdk.CPUTimeSample", "202", 5);
	p_constant(w, "stackTrace", "34");
	p_constant(w, "eventThread", "29");
	p_plain(w, "failed", "23");
	p_timespan(w, "samplingPeriod");
	p_plain(w, "biased", "23");
	p_event_type(w, "jdk.CPUTimeSamplesLost", "203", 2);
	p_plain(w, "lostSamples", "21");
	p_constant(w, "eventThread", "29");
	p_event_type(w, "jdk.DataLoss", "204", 1);
	p_plain(w, "amount", "22");
	p_wait_type(w, "jdk.JavaMonitorEnter", "205", "monitorClass");
	p_wait_type(w, "jdk.ThreadPark", "206", "parkedClass");
	p_event_type(w, "jdk.ObjectAllocationSample", "207", 4);
	p_constant(w, "eventThread", "29");
	p_constant(w, "stackTrace", "34");
	p_constant(w, "objectClass", "30");
	p_plain(w, "weight", "22");
	p_event_type(w, "jdk.ObjectAllocationInNewTLAB", "208", 4);
	p_constant(w, "eventThread", "29");
	p_constant(w, "stackTrace", "34");
	p_constant(w, "objectClass", "30");
	p_plain(w, "tlabSize", "22");
	p_event_type(w, "jdk.FileRead", "209", 4);
	p_timespan(w, "duration");
	p_constant(w, "eventThread", "29");
	p_constant(w, "stackTrace", "34");
	p_plain(w, "path", "20");
	p_wait_type(w, "jdk.JavaExceptionThrow", "210", "thrownClass");
	p_event_type(w, "jdk.ActiveSetting", "211", 3);
	p_plain(w, "id", "22");
	p_plain(w, "name", "20");
	p_plain(w, "value", "20");
	if (foreign) {
		p_sample_type(w, "profiler.WallClockSample", "212", 1);
		p_plain(w, "samples", "21");
	}
	p_wait_type(w, "jdk.ThreadSleep", "213", NULL);
	p_event_type(w, "jdk.JVMInformation", "214", 2);
	p_plain(w, "jvmVersion", "20");
	p_plain(w, "jvmArguments", "20");
	p_event_type(w, "jdk.ActiveRecording", "215", 0);
	w_end_types(w);
}

static inline void p_types(struct jfr_writer *w)
{
	p_some_types(w, false);
}

/* Writes the types as async-profiler declares them. */
static inline void p_foreign_types(struct jfr_writer *w)
{
	p_some_types(w, true);
}

static inline void p_pool(struct jfr_writer *w, struct buf *b, int64_t type, uint32_t n)
{
	w_long(w, b, type);
	w_int(w, b, n);
}

static inline void p_stack(struct jfr_writer *w, struct buf *b, int64_t key, bool truncated,
			   const int64_t *frames, uint32_t n)
{
	w_long(w, b, key);
	buf_addc(b, truncated);
	w_int(w, b, n);
	for (uint32_t i = 0; i < 2 * n; i += 2) {
		w_long(w, b, frames[i]);
		w_int(w, b, (uint32_t)frames[i + 1]);
	}
}

#define P_STACK(w, b, key, truncated, ...)                                                    \
	p_stack(w, b, key, truncated, (const int64_t[]){ __VA_ARGS__ },                       \
		sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) / 2)

static inline size_t p_constants(struct jfr_writer *w)
{
	static const char *const symbols[] = {
		"a/b/Shop", "sun/nio/ch/EPoll", "a/b/Lock",
		"java/util/concurrent/locks/ReentrantLock$NonfairSync",
		"java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject",
		"a/b/Boom", "main", "pay", "tax", "wait", "<init>", "()V",
	};
	enum { MAIN = 1, PAY, TAX, WAIT, INIT };
	struct buf b = BUF_INIT;
	size_t at = w->file.len;

	w_long(w, &b, 1000);
	w_long(w, &b, 0);
	w_long(w, &b, 0); /* no earlier checkpoint */
	buf_addc(&b, 0);
	w_int(w, &b, 6);
	p_pool(w, &b, T_SYMBOL, 12);
	for (int64_t i = 0; i < 12; i++) {
		w_long(w, &b, i + 1);
		w_text(w, &b, symbols[i]);
	}
	p_pool(w, &b, T_THREAD, 2);
	w_long(w, &b, P_MAIN);
	w_text(w, &b, "os");
	w_text(w, &b, "main");
	w_long(w, &b, P_WORKER);
	w_text(w, &b, "os");
	w_text(w, &b, "worker");
	p_pool(w, &b, T_CLASS, 6);
	for (int64_t i = P_SHOP; i <= P_BOOM; i++) {
		w_long(w, &b, i);
		w_long(w, &b, i); /* the symbol */
	}
	p_pool(w, &b, T_METHOD, 5);
	for (int64_t i = MAIN; i <= INIT; i++) {
		w_long(w, &b, i);
		w_long(w, &b, i == WAIT ? P_EPOLL : i == INIT ? P_BOOM : P_SHOP);
		w_long(w, &b, 6 + i);
		w_long(w, &b, 12);
	}
	p_pool(w, &b, T_TRACE, 6);
	P_STACK(w, &b, P_PAY, false, PAY, 30, MAIN, 12);
	P_STACK(w, &b, P_TAX, false, TAX, 40, PAY, 31, MAIN, 12);
	P_STACK(w, &b, P_RECURSIVE, false, PAY, 30, PAY, 31, MAIN, 12);
	P_STACK(w, &b, P_POLL, false, WAIT, 0, MAIN, 13);
	P_STACK(w, &b, P_NEW, false, INIT, 3, INIT, 4, PAY, 30, MAIN, 12);
	P_STACK(w, &b, P_CUT, true, TAX, 40, PAY, 31);
	p_pool(w, &b, 40, 2);
	w_long(w, &b, P_RUNNABLE);
	w_text(w, &b, "STATE_RUNNABLE");
	w_long(w, &b, P_SLEEPING);
	w_text(w, &b, "STATE_SLEEPING");
	w_event(w, 1, &b);
	buf_release(&b);
	return at;
}

static inline void p_begin(struct jfr_writer *w)
{
	w->major = 2;
	w->types = p_types;
	w_begin_chunk(w);
}

/* Ends a chunk; constants and metadata follow the events, as the JVM writes them. */
static inline void p_end(struct jfr_writer *w)
{
	size_t constants = p_constants(w);
	size_t metadata = w_metadata(w);

	w_end_chunk(w, metadata, constants);
}

/* Writes an event: its start time, then n numbers. */
static inline void p_numbers(struct jfr_writer *w, int64_t type, const int64_t *values, size_t n)
{
	struct buf b = BUF_INIT;

	w_long(w, &b, 2000);
	for (size_t i = 0; i < n; i++)
		w_long(w, &b, values[i]);
	w_event(w, type, &b);
	buf_release(&b);
}

#define P_EVENT(w, type, ...)                                                                 \
	p_numbers(w, type, (const int64_t[]){ __VA_ARGS__ },                                  \
		  sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static inline void p_read(struct jfr_writer *w, int64_t ticks, int64_t stack, const char *path)
{
	struct buf b = BUF_INIT;

	w_long(w, &b, 2000);
	w_long(w, &b, ticks);
	w_long(w, &b, P_MAIN);
	w_long(w, &b, stack);
	w_text(w, &b, path);
	w_event(w, P_READ, &b);
	buf_release(&b);
}

static inline void p_setting(struct jfr_writer *w, int64_t type, const char *name,
			     const char *value)
{
	struct buf b = BUF_INIT;

	w_long(w, &b, 2000);
	w_long(w, &b, type);
	w_text(w, &b, name);
	w_text(w, &b, value);
	w_event(w, P_SETTING, &b);
	buf_release(&b);
}

static inline void p_jvm(struct jfr_writer *w, const char *version, const char *arguments)
{
	struct buf b = BUF_INIT;

	w_long(w, &b, 2000);
	w_text(w, &b, version);
	w_text(w, &b, arguments);
	w_event(w, P_JVM, &b);
	buf_release(&b);
}

#endif
