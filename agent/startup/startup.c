#include "startup/startup.h"

#include <unistd.h>

#include "util/text.h"
#include "jvm/alloc/recording.h"
#include "jvm/jni_refs.h"
#include "jvm/thread.h"
#include "jvm/graph/vthreads.h"
#include "startup/report.h"
#include "startup/startup_options.h"

#define TICK_MS 1000
#define NS_PER_MS 1000000
#define NS_PER_S 1000000000LL
#define END_MS 3000              /* maximum time that JVM exit waits for sessions */
/* maximum time that JVM startup waits until the recording begins */
#define BEGIN_MS 60000
#define LEARN_NS (10 * NS_PER_S) /* maximum time to look up new stack frames at the JVM's exit */
#define LINE_MAX 10240

enum state { NOTHING, STARTING, ON, FAILED };

/* The state of the agent at JVM startup.  If several builds are loaded, each has a state. */
static struct {
	struct ag_startup_options options;
	/*
	 * One thread at a time uses `mem`, `jvm` and `report`: until the recording begins, the
	 * thread that starts it; then the thread with access to it (ag_recording_enter()).
	 */
	struct ag_mem mem;
	struct ag_jvm jvm;
	struct ag_report report;
	jrawMonitorID monitor; /* protects `state` */
	enum state state;
	uint32_t pid;
} startup;

void ag_startup_error(const char *what, const char *why, const char *more)
{
	static const char between[] = ": ";
	char data[LINE_MAX];
	struct ag_text line = ag_text_init(data, sizeof(data) - 1);
	ssize_t written;

	ag_text_put(&line, "jtool agent: ");
	ag_text_name(&line, what, AG_STARTUP_MAX);
	ag_text_put(&line, between);
	ag_text_put(&line, why);
	ag_text_put(&line, more);
	data[line.len++] = '\n';
	written = write(STDERR_FILENO, data, line.len);
	(void)written; /* an error cannot be reported anywhere */
}

static void set_state(enum state state)
{
	jvmtiEnv *ti = startup.jvm.ti;

	/* cannot fail, because the monitor is valid */
	(void)(*ti)->RawMonitorEnter(ti, startup.monitor);
	startup.state = state;
	(void)(*ti)->RawMonitorNotifyAll(ti, startup.monitor);
	(void)(*ti)->RawMonitorExit(ti, startup.monitor);
}

/* Waits until the recording has begun or failed.  Returns false if neither happens in time. */
static bool wait_for_start(int64_t until_ns)
{
	jvmtiEnv *ti = startup.jvm.ti;
	int64_t left;
	bool started;

	/* cannot fail, because the monitor is valid */
	(void)(*ti)->RawMonitorEnter(ti, startup.monitor);
	while (startup.state == STARTING && (left = until_ns - ag_now_ns()) > 0)
		(void)(*ti)->RawMonitorWait(ti, startup.monitor, left / NS_PER_MS + 1);
	started = startup.state != STARTING;
	(void)(*ti)->RawMonitorExit(ti, startup.monitor);
	return started;
}

static const char *why_not(const struct ag_jvm *jvm)
{
	if (jvm->err.code == JVMTI_ERROR_NOT_AVAILABLE)
		return "another agent samples allocations; the JVM allows only one";
	return jvm->err.why ? jvm->err.why : "unknown error";
}

static int begin(struct ag_jvm *jvm)
{
	const struct ag_alloc_profile_wanted *wanted = &startup.options.wanted;
	struct ag_alloc_profile *profile;

	if (ag_report_init(jvm, &startup.report) != 0)
		return -1;
	profile = ag_alloc_profile_begin(jvm, wanted);
	if (!profile)
		return -1;
	startup.report.path = startup.options.path;
	startup.report.profile = profile;
	startup.report.wanted = *wanted;
	startup.report.sites = startup.options.sites;
	if (ag_recording_begin(jvm, profile, wanted->flags) == 0)
		return 0;
	(void)ag_alloc_profile_end(jvm, profile, false,
				   &(jvmtiError){ 0 }); /* jvm->err has the earlier error */
	ag_alloc_profile_free(jvm, profile);
	return -1;
}

static void tick_until_end(struct ag_jvm *jvm)
{
	while (ag_recording_wait(TICK_MS)) {
		struct ag_turn turn;

		if (ag_recording_enter(jvm, &turn) > 0) {
			ag_alloc_profile_tick(&turn.jvm, turn.profile);
			ag_report_resolve(&turn.jvm, &startup.report, INT64_MAX);
			ag_recording_leave();
		}
		ag_clear_error(jvm); /* the next tick tries again */
	}
}

static bool is_live(void)
{
	return startup.options.wanted.flags & WIRE_ALLOC_LIVE;
}

static void write_report(struct ag_jvm *jvm, bool live)
{
	const char *why;

	if (ag_alloc_profile_peek(jvm, startup.report.profile, live) != 0)
		live = false;
	ag_report_resolve(jvm, &startup.report, ag_now_ns() + LEARN_NS);
	why = ag_report_write(jvm, &startup.report, startup.pid, live);
	if (why)
		ag_startup_error(startup.options.path, why, "; no allocation report is written");
}

/* Ends the recording at the request of a session, while the JVM continues to run. */
static void end_early(struct ag_jvm *jvm)
{
	struct ag_alloc_profile *profile;
	jvmtiError code;
	bool turn;

	profile = ag_recording_end(INT32_MAX, &turn);
	if (!profile || !turn)
		return; /* the JVM is shutting down */
	write_report(jvm, is_live());
	ag_clear_error(jvm);
	/*
	 * The hooks of a class that could not be restored do nothing.  The profile's memory
	 * remains allocated, because a session may still read the sites in it, see recording.h.
	 */
	(void)ag_alloc_profile_end(jvm, profile, false, &code);
	ag_alloc_profile_let_go(profile);
	ag_report_release(jvm, &startup.report);
	ag_recording_leave();
}

static void JNICALL record(jvmtiEnv *ti, JNIEnv *jni, void *arg)
{
	struct ag_jvm *jvm = &startup.jvm;

	(void)ti, (void)arg;
	jvm->jni = jni;
	if (ag_ref_push(jvm) == 0 && begin(jvm) == 0) {
		set_state(ON);
		tick_until_end(jvm);
		end_early(jvm);
	} else {
		ag_startup_error("alloc: cannot record", why_not(jvm), "");
		ag_report_release(jvm, &startup.report);
		set_state(FAILED);
	}
	ag_ref_pop(jvm);
}

/* VMInit: starts a thread that begins the profile.  That thread's allocations are not recorded. */
static void JNICALL on_init(jvmtiEnv *ti, JNIEnv *jni, jthread thread)
{
	struct ag_jvm jvm = startup.jvm;

	(void)ti, (void)thread;
	jvm.jni = jni;
	startup.state = STARTING;
	if (ag_thread_start(&jvm, record, NULL) != 0) {
		startup.state = FAILED;
		ag_startup_error("alloc: cannot start a thread to record", why_not(&jvm), "");
		return;
	}
	if (!wait_for_start(ag_now_ns() + (int64_t)BEGIN_MS * NS_PER_MS))
		ag_startup_error("alloc", "the recording has not begun within 60 s",
			    "; the JVM continues without waiting");
}

/*
 * Fails if there are virtual threads, because HotSpot crashes if the heap walk reaches a virtual
 * thread that is being created (jvm/graph/vthreads.h).
 */
static int check_threads(struct ag_jvm *jvm)
{
	struct ag_classes classes = { 0 };
	jclass found = NULL;
	int rc = ag_classes_get(jvm, &classes);

	if (rc == 0)
		rc = ag_vthreads_find(jvm, &classes, &found);
	if (found)
		rc = ag_fail(jvm, "find live objects",
			     "the heap of a JVM with virtual threads is not walked at exit");
	ag_classes_release(jvm, &classes);
	return rc;
}

static void JNICALL on_death(jvmtiEnv *ti, JNIEnv *jni)
{
	struct ag_jvm jvm = startup.jvm;
	bool idle = true, live = is_live();

	(void)ti;
	jvm.jni = jni;
	ag_clear_error(&jvm);
	if (!ag_recording_end(END_MS, &idle)) {
		if (startup.state == STARTING)
			ag_startup_error(startup.options.path, "the recording had not begun",
				    "; no allocation report is written");
		return;
	}
	if (!idle) {
		ag_startup_error(startup.options.path, "jtool was still reading the recording",
			    "; no allocation report is written");
		return;
	}
	if (ag_ref_push(&jvm) == 0) {
		if (live && check_threads(&jvm) != 0)
			live = false;
		ag_alloc_profile_dying(startup.report.profile);
		write_report(&jvm, live);
		ag_ref_pop(&jvm);
	}
}

static int open_environment(JavaVM *vm)
{
	const jvmtiCapabilities reading = {
		.can_get_line_numbers = 1, .can_get_source_file_name = 1,
	};
	const jvmtiEventCallbacks callbacks = { .VMInit = on_init, .VMDeath = on_death };
	struct ag_jvm *jvm = &startup.jvm;

	jvm->vm = vm;
	jvm->mem = &startup.mem;
	if ((*vm)->GetEnv(vm, (void **)&jvm->ti, JVMTI_VERSION_1_1) != JNI_OK) {
		jvm->ti = NULL;
		return ag_fail(jvm, "GetEnv", "no JVMTI environment");
	}
	if (AG_JVMTI(jvm, AddCapabilities, &reading) != 0 ||
	    AG_JVMTI(jvm, CreateRawMonitor, "jtool startup", &startup.monitor) != 0 ||
	    AG_JVMTI(jvm, SetEventCallbacks, &callbacks, sizeof(callbacks)) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		jvmtiEvent event = i == 0 ? JVMTI_EVENT_VM_INIT : JVMTI_EVENT_VM_DEATH;

		if (AG_JVMTI(jvm, SetEventNotificationMode, JVMTI_ENABLE, event, NULL) != 0)
			return -1;
	}
	return 0;
}

/* At JVM startup: returns why this JVM cannot sample allocations, or NULL if it can. */
static const char *cannot_sample(struct ag_jvm *jvm)
{
	jvmtiCapabilities potential;

	if (AG_JVMTI(jvm, GetPotentialCapabilities, &potential) != 0)
		return jvm->err.why;
	if (potential.can_generate_sampled_object_alloc_events)
		return NULL;
	return "this JVM cannot sample allocations (JDK 8), or another agent does; "
	       "use alloc,exact,... to count all";
}

static const char *check(JavaVM *vm, const char **what)
{
	const char *why;

	*what = startup.options.path;
	why = ag_report_try(startup.options.path, startup.pid);
	if (why)
		return why;
	*what = "alloc";
	if (open_environment(vm) != 0)
		return startup.jvm.err.why;
	return startup.options.wanted.flags & WIRE_ALLOC_EXACT ? NULL :
								 cannot_sample(&startup.jvm);
}

jint ag_startup(JavaVM *vm, const char *options)
{
	const char *what = "alloc", *why = "the agent is loaded twice";

	if (startup.jvm.vm) {
		ag_startup_error(what, why, "; give it once");
		return JNI_ERR;
	}
	startup.pid = (uint32_t)getpid();
	if (ag_startup_parse(&startup.options, options, startup.pid, &what, &why) == 0)
		why = check(vm, &what);
	else if (!why)
		why = "invalid";
	if (why) {
		ag_startup_error(what, why, "");
		if (startup.jvm.ti)
			(void)(*startup.jvm.ti)->DisposeEnvironment(startup.jvm.ti);
		return JNI_ERR;
	}
	/*
	 * The budget covers the profile, the sorted list of its sites (a quarter of the profile's
	 * memory), and the tables of the report.
	 */
	startup.mem.budget = startup.options.wanted.memory + startup.options.wanted.memory / 4 +
			     AG_REPORT_MEMORY;
	return JNI_OK;
}
