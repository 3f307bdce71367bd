/* The event types of each kind of profile, and the values that the profile adds up. */
#include <string.h>

#include "model/jfr/profile/jfr_profile_internal.h"

static const struct jfr_profile_set cpu_time = {
	.unit = "ns",
	.other_unit = "samples",
	.sources = {
		{ "jdk.CPUTimeSample", JFR_MEASURE_FIELD, "samplingPeriod", NULL, JFR_COUNT_ALL },
	},
};

static const struct jfr_profile_set execution = {
	.unit = "samples",
	.sources = {
		{ "jdk.ExecutionSample", JFR_MEASURE_ONE, NULL, NULL, JFR_NOT_SLEEPING },
		{ "jdk.NativeMethodSample", JFR_MEASURE_ONE, NULL, NULL, JFR_NOT_WAITING },
	},
};

static const struct jfr_profile_set wall_clock = {
	.unit = "samples",
	.sources = {
		{ "profiler.WallClockSample", JFR_MEASURE_FIELD, "samples", NULL, JFR_COUNT_ALL },
	},
};

/* In its mode "wall", async-profiler 4 writes WallClockSample instead of ExecutionSample. */
static const struct jfr_profile_set running = {
	.unit = "samples",
	.sources = {
		{ "profiler.WallClockSample", JFR_MEASURE_FIELD, "samples", NULL,
		  JFR_NOT_SLEEPING },
	},
};

/*
 * JFR samples a thread while it runs, and while it waits in native code, for example for a socket.
 * JFR records any other wait of the thread as an event with a duration.
 */
static const struct jfr_profile_set states = {
	.unit = "ns",
	.other_unit = "samples",
	.sources = {
		{ "jdk.ExecutionSample", JFR_MEASURE_INTERVAL, NULL, NULL, JFR_COUNT_ALL },
		{ "jdk.NativeMethodSample", JFR_MEASURE_INTERVAL, NULL, NULL, JFR_COUNT_ALL },
		{ "jdk.ThreadSleep", JFR_MEASURE_FIELD, "duration", NULL, JFR_COUNT_ALL },
		{ "jdk.ThreadPark", JFR_MEASURE_FIELD, "duration", NULL, JFR_COUNT_ALL },
		{ "jdk.JavaMonitorEnter", JFR_MEASURE_FIELD, "duration", NULL, JFR_COUNT_ALL },
		{ "jdk.JavaMonitorWait", JFR_MEASURE_FIELD, "duration", NULL, JFR_COUNT_ALL },
	},
};

static const struct jfr_profile_set lock = {
	.unit = "ns",
	.other_unit = "waits",
	.sources = {
		{ "jdk.JavaMonitorEnter", JFR_MEASURE_FIELD, "duration", "monitorClass",
		  JFR_COUNT_ALL },
		{ "jdk.ThreadPark", JFR_MEASURE_FIELD, "duration", "parkedClass",
		  JFR_ONLY_FOR_A_LOCK },
	},
};

static const struct jfr_profile_set allocation = {
	.unit = "bytes",
	.other_unit = "samples",
	.sources = {
		{ "jdk.ObjectAllocationSample", JFR_MEASURE_FIELD, "weight", "objectClass",
		  JFR_COUNT_ALL },
	},
};

static const struct jfr_profile_set tlabs = {
	.unit = "bytes",
	.other_unit = "samples",
	.sources = {
		{ "jdk.ObjectAllocationInNewTLAB", JFR_MEASURE_FIELD, "tlabSize", "objectClass",
		  JFR_COUNT_ALL },
		{ "jdk.ObjectAllocationOutsideTLAB", JFR_MEASURE_FIELD, "allocationSize",
		  "objectClass", JFR_COUNT_ALL },
	},
};

static const struct jfr_profile_set io = {
	.unit = "ns",
	.other_unit = "operations",
	.sources = {
		{ "jdk.FileRead", JFR_MEASURE_FIELD, "duration", "path", JFR_COUNT_ALL },
		{ "jdk.FileWrite", JFR_MEASURE_FIELD, "duration", "path", JFR_COUNT_ALL },
		{ "jdk.FileForce", JFR_MEASURE_FIELD, "duration", "path", JFR_COUNT_ALL },
		{ "jdk.SocketRead", JFR_MEASURE_FIELD, "duration", "host", JFR_COUNT_ALL },
		{ "jdk.SocketWrite", JFR_MEASURE_FIELD, "duration", "host", JFR_COUNT_ALL },
	},
};

/* JavaErrorThrow is not counted, because JFR also records a JavaExceptionThrow for each error. */
static const struct jfr_profile_set exceptions = {
	.unit = "exceptions",
	.sources = {
		{ "jdk.JavaExceptionThrow", JFR_MEASURE_ONE, NULL, "thrownClass", JFR_COUNT_ALL },
	},
};

const struct jfr_profile_sets jfr_profile_sets[N_PROFILE_KINDS] = {
	[PROFILE_CPU] = { { &cpu_time, &execution, &running } },
	[PROFILE_WALL] = { { &wall_clock, &states } },
	[PROFILE_LOCK] = { { &lock } },
	[PROFILE_ALLOC] = { { &allocation, &tlabs } },
	[PROFILE_IO] = { { &io } },
	[PROFILE_EXCEPTIONS] = { { &exceptions } },
};

bool jfr_profile_is_waiting(const char *method)
{
	/*
	 * The methods of JDK 8 to 27 that wait in native code.  Object.wait(), Thread.sleep() and
	 * Unsafe.park() are missing, because JFR does not sample threads in these methods.
	 */
	static const char *const names[] = {
		/*
		 * On JDK 8, recorded stacks omit the methods that fill() calls, because JFR has
		 * replaced those methods.
		 */
		"java.io.BufferedInputStream.fill",
		"java.io.FileInputStream.readBytes",
		"java.io.FileInputStream.readBytes0",
		"java.io.FileInputStream.read0",
		"java.lang.ProcessHandleImpl.waitForProcessExit0",
		"java.lang.ProcessImpl.waitForProcessExit",
		"java.lang.UNIXProcess.waitForProcessExit",
		"java.lang.ref.Reference.waitForReferencePendingList",
		"java.net.PlainSocketImpl.socketAccept",
		"java.net.PlainSocketImpl.socketConnect",
		"java.net.SocketInputStream.socketRead0",
		"java.net.PlainDatagramSocketImpl.receive0",
		"java.net.PlainDatagramSocketImpl.peekData",
		"sun.nio.ch.DatagramChannelImpl.receive0",
		"sun.nio.ch.DatagramDispatcher.read0",
		"sun.nio.ch.EPoll.wait",
		"sun.nio.ch.EPoll.epollWait",
		"sun.nio.ch.EPollArrayWrapper.epollWait",
		"sun.nio.ch.FileDispatcherImpl.read0",
		"sun.nio.ch.Net.accept",
		"sun.nio.ch.Net.poll",
		"sun.nio.ch.Net.pollConnect",
		"sun.nio.ch.PollArrayWrapper.poll0",
		"sun.nio.ch.ServerSocketChannelImpl.accept0",
		"sun.nio.ch.SocketDispatcher.read0",
		"sun.nio.ch.UnixDomainSockets.accept0",
		"sun.nio.ch.UnixFileDispatcherImpl.read0",
		"sun.nio.fs.LinuxWatchService.poll",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(method, names[i]) == 0)
			return true;
	}
	return false;
}

/*
 * Returns true if async-profiler treats the class as a lock.  A thread that is parked with a
 * blocker object of another class waits for work, not for a lock.
 */
bool jfr_profile_is_lock(const char *class)
{
	static const char *const names[] = {
		"java.util.concurrent.locks.ReentrantLock",
		"java.util.concurrent.locks.ReentrantReadWriteLock",
		"java.util.concurrent.locks.StampedLock",
		"java.util.concurrent.Semaphore",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(class, names[i], len) == 0 &&
		    (class[len] == '\0' || class[len] == '$'))
			return true;
	}
	return false;
}
