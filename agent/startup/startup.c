#include "startup.h"

#include <unistd.h>

#include "base/text.h"
#include "jvm/recording.h"
#include "jvm/ref.h"
#include "jvm/thread.h"
#include "jvm/vthreads.h"
#include "report.h"
#include "startup_options.h"

#define TICK_MS 1000
#define NS_PER_MS 1000000
#define NS_PER_S 1000000000LL
#define BEGIN_MS 60000          /* that the JVM's start waits for the recording's */
#define LEARN_NS (10 * NS_PER_S) /* that its end spends on names of frames that just came */
#define LINE_MAX 10240

enum state { NOTHING, STARTING, ON, FAILED };

/* There is one in a library. */
static struct {
	struct ag_startup_options options;
	struct ag_mem mem; /* for who has the recording's turn */
	struct ag_jvm jvm;
	struct ag_report report;
	jrawMonitorID monitor; /* of state */
	enum state state;
	uint32_t pid;
} startup;

/* "jtool agent: what: why" and what else there is to say, at once; the JVM's own stderr. */
static void say(const char *what, const char *why, const char *more)
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
	(void)written; /* where else could it be said */
}

static void set_state(enum state state)
{
	jvmtiEnv *ti = startup.jvm.ti;

	(void)(*ti)->RawMonitorEnter(ti, startup.monitor); /* it is one */
	startup.state = state;
	(void)(*ti)->RawMonitorNotifyAll(ti, startup.monitor);
	(void)(*ti)->RawMonitorExit(ti, startup.monitor);
}

/* False: it still starts. */
static bool wait_for_start(int64_t until_ns)
{
	jvmtiEnv *ti = startup.jvm.ti;
	int64_t left;
	bool started;

	(void)(*ti)->RawMonitorEnter(ti, startup.monitor); /* it is one */
	while (startup.state == STARTING && (left = until_ns - ag_now_ns()) > 0)
		(void)(*ti)->RawMonitorWait(ti, startup.monitor, left / NS_PER_MS + 1);
	started = startup.state != STARTING;
	(void)(*ti)->RawMonitorExit(ti, startup.monitor);
	return started;
}

/* The recording */

static const char *why_not(const struct ag_jvm *jvm)
{
	if (jvm->err.code == JVMTI_ERROR_NOT_AVAILABLE)
		return "the JVM lets one agent sample allocations, and another one does";
	return jvm->err.why ? jvm->err.why : "unknown error";
}

static int begin(struct ag_jvm *jvm)
{
	const struct ag_profile_wanted *wanted = &startup.options.wanted;
	struct ag_profile *profile;

	if (ag_report_init(jvm, &startup.report) != 0)
		return -1;
	profile = ag_profile_begin(jvm, wanted);
	if (!profile)
		return -1;
	startup.report.path = startup.options.path;
	startup.report.profile = profile;
	startup.report.wanted = *wanted;
	startup.report.sites = startup.options.sites;
	if (ag_recording_begin(jvm, profile, wanted->flags) == 0)
		return 0;
	(void)ag_profile_end(jvm, profile, false, &(jvmtiError){ 0 }); /* the error is recorded */
	ag_profile_free(jvm, profile);
	return -1;
}

static void look_after(struct ag_jvm *jvm)
{
	while (ag_recording_rest(TICK_MS)) {
		struct ag_turn turn;

		if (ag_recording_enter(jvm, &turn) > 0) {
			ag_profile_tick(&turn.jvm, turn.profile);
			ag_report_learn(&turn.jvm, &startup.report, INT64_MAX);
			ag_recording_leave();
		}
		ag_forgive(jvm); /* the next second is another */
	}
}

static void JNICALL record(jvmtiEnv *ti, JNIEnv *jni, void *arg)
{
	struct ag_jvm *jvm = &startup.jvm;

	(void)ti, (void)arg;
	jvm->jni = jni;
	if (ag_ref_push(jvm) == 0 && begin(jvm) == 0) {
		set_state(ON);
		look_after(jvm);
	} else {
		say("alloc: nothing is recorded", why_not(jvm), "");
		ag_report_release(jvm, &startup.report);
		set_state(FAILED);
	}
	ag_ref_pop(jvm);
}

/* Its thread is the one whose objects are not the application's, so that it begins it, too. */
static void JNICALL on_init(jvmtiEnv *ti, JNIEnv *jni, jthread thread)
{
	struct ag_jvm jvm = startup.jvm;

	(void)ti, (void)thread;
	jvm.jni = jni;
	startup.state = STARTING;
	if (ag_thread_start(&jvm, record, NULL) != 0) {
		startup.state = FAILED;
		say("alloc: nothing is recorded, no thread could be started", why_not(&jvm), "");
		return;
	}
	if (!wait_for_start(ag_now_ns() + (int64_t)BEGIN_MS * NS_PER_MS))
		say("alloc", "it takes long to begin, and the JVM goes on without it so far", "");
}

/* The JVM's end */

/* References are followed then for what is live, and none may lead to one that is being made. */
static int check_threads(struct ag_jvm *jvm)
{
	struct ag_classes classes = { 0 };
	jclass found = NULL;
	int rc = ag_classes_get(jvm, &classes);

	if (rc == 0)
		rc = ag_vthreads_find(jvm, &classes, &found);
	if (found)
		rc = ag_fail(jvm, "find what is live",
			     "in a JVM with virtual threads that cannot be found out as it ends");
	ag_classes_release(jvm, &classes);
	return rc;
}

static void write_report(struct ag_jvm *jvm)
{
	bool live = startup.options.wanted.flags & WIRE_ALLOC_LIVE;
	const char *why;

	if (live && check_threads(jvm) != 0)
		live = false;
	ag_profile_dying(startup.report.profile);
	if (ag_profile_peek(jvm, startup.report.profile, live) != 0)
		live = false;
	ag_report_learn(jvm, &startup.report, ag_now_ns() + LEARN_NS);
	why = ag_report_write(jvm, &startup.report, startup.pid, live);
	if (why)
		say(startup.options.path, why, "; there is no report of allocations");
}

static void JNICALL on_death(jvmtiEnv *ti, JNIEnv *jni)
{
	struct ag_jvm jvm = startup.jvm;
	bool turn = true;

	(void)ti;
	jvm.jni = jni;
	ag_forgive(&jvm);
	if (!ag_recording_end(&turn)) {
		if (startup.state == STARTING)
			say(startup.options.path, "the JVM ended before it began", "");
		return;
	}
	if (!turn) {
		say(startup.options.path, "a thread of the agent's is suspended",
		    "; there is no report of allocations");
		return;
	}
	if (ag_ref_push(&jvm) == 0) {
		write_report(&jvm);
		ag_ref_pop(&jvm);
	}
}

/* Loading */

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
	if (AG_TI(jvm, AddCapabilities, &reading) != 0 ||
	    AG_TI(jvm, CreateRawMonitor, "jtool startup", &startup.monitor) != 0 ||
	    AG_TI(jvm, SetEventCallbacks, &callbacks, sizeof(callbacks)) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		jvmtiEvent event = i == 0 ? JVMTI_EVENT_VM_INIT : JVMTI_EVENT_VM_DEATH;

		if (AG_TI(jvm, SetEventNotificationMode, JVMTI_ENABLE, event, NULL) != 0)
			return -1;
	}
	return 0;
}

/* Known now, so that the JVM need not start for nothing. */
static const char *cannot_sample(struct ag_jvm *jvm)
{
	jvmtiCapabilities potential;

	if (AG_TI(jvm, GetPotentialCapabilities, &potential) != 0)
		return jvm->err.why;
	if (potential.can_generate_sampled_object_alloc_events)
		return NULL;
	return "this JVM does not sample allocations (JDK 8), or another agent does; "
	       "say alloc,exact,... to have all counted";
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
		say(what, why, "; name it once");
		return JNI_ERR;
	}
	startup.pid = (uint32_t)getpid();
	if (ag_startup_parse(&startup.options, options, startup.pid, &what, &why) == 0)
		why = check(vm, &what);
	else if (!why)
		why = "it makes no sense";
	if (why) {
		say(what, why, "");
		if (startup.jvm.ti)
			(void)(*startup.jvm.ti)->DisposeEnvironment(startup.jvm.ti);
		return JNI_ERR;
	}
	/* Numbers and names beside the profile's own memory; and the order of its sites. */
	startup.mem.budget = startup.options.wanted.memory + startup.options.wanted.memory / 4 +
			     AG_REPORT_MEMORY;
	return JNI_OK;
}
