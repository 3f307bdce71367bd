/* The settings of a recording that has only the events of a profile. */
#include <inttypes.h>

#include "model/jfr/profile/jfr_profile_internal.h"

#define CPU_TIME_SINCE 25 /* first JDK with CPUTimeSample (JEP 509) */
#define ALLOCATION_SAMPLE_SINCE 16

enum { NS_PER_US = 1000, NS_PER_MS = 1000000 };

struct setting {
	const char *event, *name; /* name: NULL if the event is only enabled */
	const char *value; /* NULL: the value is the interval that the caller passes */
};

static const struct setting cpu_time[] = {
	{ "jdk.CPUTimeSample", "throttle", NULL },
	{ "jdk.CPUTimeSamplesLost", NULL, NULL },
	{ NULL, NULL, NULL },
};
static const struct setting execution[] = {
	{ "jdk.ExecutionSample", "period", NULL },
	{ "jdk.NativeMethodSample", "period", NULL },
	{ NULL, NULL, NULL },
};
static const struct setting waiting[] = {
	{ "jdk.ThreadSleep", "threshold", "1 ms" },
	{ "jdk.ThreadPark", "threshold", "1 ms" },
	{ "jdk.JavaMonitorEnter", "threshold", "1 ms" },
	{ "jdk.JavaMonitorWait", "threshold", "1 ms" },
	{ NULL, NULL, NULL },
};
static const struct setting lock[] = {
	{ "jdk.JavaMonitorEnter", "threshold", NULL },
	{ "jdk.ThreadPark", "threshold", NULL },
	{ NULL, NULL, NULL },
};
static const struct setting allocation[] = {
	{ "jdk.ObjectAllocationSample", "throttle", "300/s" },
	{ NULL, NULL, NULL },
};
static const struct setting tlabs[] = {
	{ "jdk.ObjectAllocationInNewTLAB", NULL, NULL },
	{ "jdk.ObjectAllocationOutsideTLAB", NULL, NULL },
	{ NULL, NULL, NULL },
};
static const struct setting io[] = {
	{ "jdk.FileRead", "threshold", NULL },
	{ "jdk.FileWrite", "threshold", NULL },
	{ "jdk.FileForce", "threshold", NULL },
	{ "jdk.SocketRead", "threshold", NULL },
	{ "jdk.SocketWrite", "threshold", NULL },
	{ NULL, NULL, NULL },
};
static const struct setting exceptions[] = {
	{ "jdk.JavaExceptionThrow", "throttle", "off" },
	{ NULL, NULL, NULL },
};
static const struct setting recorder[] = {
	{ "jdk.ActiveSetting", NULL, NULL },
	{ "jdk.DataLoss", NULL, NULL },
	{ "jdk.JVMInformation", "period", "beginChunk" },
	{ NULL, NULL, NULL },
};

static void add_interval(struct buf *out, uint64_t ns)
{
	if (ns % NS_PER_MS == 0)
		buf_addf(out, "%" PRIu64 " ms", ns / NS_PER_MS);
	else if (ns % NS_PER_US == 0)
		buf_addf(out, "%" PRIu64 " us", ns / NS_PER_US);
	else
		buf_addf(out, "%" PRIu64 " ns", ns);
}

static void add(struct buf *out, const struct setting *settings, uint64_t interval_ns)
{
	for (; settings->event; settings++) {
		buf_addf(out, "  <event name=\"%s\">\n"
			 "    <setting name=\"enabled\">true</setting>\n"
			 "    <setting name=\"stackTrace\">true</setting>\n", settings->event);
		if (settings->name) {
			buf_addf(out, "    <setting name=\"%s\">", settings->name);
			if (settings->value)
				buf_adds(out, settings->value);
			else
				add_interval(out, interval_ns);
			buf_adds(out, "</setting>\n");
		}
		buf_adds(out, "  </event>\n");
	}
}

void jfr_profile_settings(struct buf *out, enum profile_kind kind, int release,
			  uint64_t interval_ns)
{
	static const struct setting *const others[N_PROFILE_KINDS] = {
		[PROFILE_LOCK] = lock, [PROFILE_IO] = io, [PROFILE_EXCEPTIONS] = exceptions,
	};
	/* If the release is unknown, enable events of all JDKs: a JVM ignores unknown events. */
	bool has_cpu_time = release == 0 || release >= CPU_TIME_SINCE;
	bool has_samples = release == 0 || release >= ALLOCATION_SAMPLE_SINCE;

	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<configuration version=\"2.0\" label=\"jtool\" provider=\"jtool\" "
		 "description=\"profile\">\n");
	add(out, recorder, interval_ns);
	if (kind == PROFILE_CPU && has_cpu_time)
		add(out, cpu_time, interval_ns);
	if (kind == PROFILE_WALL || (kind == PROFILE_CPU && release < CPU_TIME_SINCE))
		add(out, execution, interval_ns);
	if (kind == PROFILE_WALL)
		add(out, waiting, interval_ns);
	if (kind == PROFILE_ALLOC && has_samples)
		add(out, allocation, interval_ns);
	if (kind == PROFILE_ALLOC && release < ALLOCATION_SAMPLE_SINCE)
		add(out, tlabs, interval_ns);
	if (others[kind])
		add(out, others[kind], interval_ns);
	buf_adds(out, "</configuration>\n");
}
