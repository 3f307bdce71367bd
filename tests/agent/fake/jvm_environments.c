#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake/jvm_parts.h"

struct monitor {
	int entered;
	bool brief; /* hooks wait for it */
};

static struct fake_environment environments[FAKE_ENVIRONMENTS];

/* HotSpot calls the hooks of the environments in the order in which they were created. */
jvmtiEnv *fake_new_ti(void)
{
	size_t i = FAKE_ENVIRONMENTS;

	while (i > 0 && !environments[i - 1].valid)
		i--;
	ck_assert_msg(i < FAKE_ENVIRONMENTS, "too many environments");
	environments[i] = (struct fake_environment){ .functions = &fake_ti_table, .valid = true };
	fake_add(&fake.counts.environments, 1);
	return (jvmtiEnv *)&environments[i];
}

jvmtiEnv *fake_ti(void)
{
	return environments[0].valid ? (jvmtiEnv *)&environments[0] : fake_new_ti();
}

struct fake_environment *fake_environment(jvmtiEnv *ti)
{
	struct fake_environment *e = (struct fake_environment *)ti;

	ck_assert_msg(e->valid, "an environment was disposed of before");
	return e;
}

struct fake_environment *fake_environment_at(size_t i)
{
	return i < FAKE_ENVIRONMENTS ? &environments[i] : NULL;
}

static uint64_t bit_of(jvmtiEvent event)
{
	return UINT64_C(1) << (event - JVMTI_MIN_EVENT_TYPE_VAL);
}

bool fake_enabled(const struct fake_environment *e, jvmtiEvent event)
{
	return e->valid && e->events & bit_of(event);
}

static bool has_any(const jvmtiCapabilities *of, const jvmtiCapabilities *in)
{
	const unsigned char *a = (const unsigned char *)of, *b = (const unsigned char *)in;

	for (size_t i = 0; i < sizeof(*of); i++) {
		if (a[i] & b[i])
			return true;
	}
	return false;
}

bool fake_has_capabilities(const struct fake_environment *e)
{
	return has_any(&e->capabilities, &e->capabilities);
}

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
	(void)vm;
	if (fake_fails())
		return JNI_EVERSION;
	if (version == JNI_VERSION_1_6)
		*env = fake_jni(0);
	else
		*env = fake_new_ti();
	return JNI_OK;
}

JavaVM *fake_vm(void)
{
	static const struct JNIInvokeInterface_ table = { .GetEnv = get_env };
	static JavaVM vm = &table;

	return &vm;
}

static jvmtiError JNICALL dispose_environment(jvmtiEnv *ti)
{
	struct fake_environment *e = fake_environment(ti);

	for (size_t i = 0; i < sizeof(e->tags) / sizeof(e->tags[0]); i++)
		fake_add(&fake.counts.tags, -(e->tags[i] != 0));
	fake.disposed_with_capabilities += fake_has_capabilities(e);
	*e = (struct fake_environment){ .functions = &fake_ti_table }; /* a late hook may use it */
	fake_add(&fake.counts.environments, -1);
	return JVMTI_ERROR_NONE;
}

/* Capabilities */

static void change_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *caps, bool add)
{
	const unsigned char *bits = (const unsigned char *)caps;
	unsigned char *has = (unsigned char *)&fake_environment(ti)->capabilities;

	for (size_t i = 0; i < sizeof(*caps); i++)
		has[i] = (unsigned char)(add ? has[i] | bits[i] : has[i] & ~bits[i]);
}

static jvmtiError JNICALL get_potential_capabilities(jvmtiEnv *ti, jvmtiCapabilities *caps)
{
	(void)fake_environment(ti);
	FAKE_TI_FAILS();
	memset(caps, 0xff, sizeof(*caps));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_capabilities(jvmtiEnv *ti, jvmtiCapabilities *caps)
{
	FAKE_TI_FAILS();
	*caps = fake_environment(ti)->capabilities;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *caps)
{
	if (has_any(&fake.unavailable, caps))
		return JVMTI_ERROR_NOT_AVAILABLE;
	FAKE_TI_FAILS();
	change_capabilities(ti, caps, true);
	return JVMTI_ERROR_NONE;
}

/* Relinquishes the capabilities even if the call fails. */
static jvmtiError JNICALL relinquish_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *caps)
{
	change_capabilities(ti, caps, false);
	return fake_ti_fails();
}

/* Events */

static jvmtiError JNICALL set_event_callbacks(jvmtiEnv *ti, const jvmtiEventCallbacks *callbacks,
					      jint size)
{
	ck_assert_msg(size == sizeof(*callbacks), "callbacks of another size");
	FAKE_TI_FAILS();
	fake_environment(ti)->callbacks = *callbacks;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event_notification_mode(jvmtiEnv *ti, jvmtiEventMode mode,
						      jvmtiEvent event, jthread thread, ...)
{
	struct fake_environment *e = fake_environment(ti);

	ck_assert_msg(!thread, "events of one thread");
	FAKE_TI_FAILS();
	e->events = mode == JVMTI_ENABLE ? e->events | bit_of(event) : e->events & ~bit_of(event);
	return JVMTI_ERROR_NONE;
}

/* Storage */

static jvmtiError JNICALL set_environment_local_storage(jvmtiEnv *ti, const void *data)
{
	FAKE_TI_FAILS();
	fake_environment(ti)->storage = data;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_environment_local_storage(jvmtiEnv *ti, void **data)
{
	*data = (void *)(uintptr_t)fake_environment(ti)->storage;
	return JVMTI_ERROR_NONE;
}

/* Fails the test while a class is being loaded: in JDK 19 to 24, virtual threads may then wait. */
static jvmtiError JNICALL set_thread_local_storage(jvmtiEnv *ti, jthread thread, const void *data)
{
	ck_assert_msg(!thread, "storage of another thread than the current one");
	ck_assert_uint_eq(fake.loading, 0);
	FAKE_TI_FAILS();
	fake_environment(ti)->thread_storage[fake.other_thread > 0] = data;
	return JVMTI_ERROR_NONE;
}

/* Never fails.  check_capture.c has its own function, which fails. */
static jvmtiError JNICALL get_thread_local_storage(jvmtiEnv *ti, jthread thread, void **data)
{
	ck_assert_msg(!thread, "storage of another thread than the current one");
	*data = (void *)(uintptr_t)fake_environment(ti)->thread_storage[fake.other_thread > 0];
	return JVMTI_ERROR_NONE;
}

/* Raw monitors */

static jvmtiError JNICALL create_raw_monitor(jvmtiEnv *ti, const char *name, jrawMonitorID *id)
{
	struct monitor *m;

	(void)fake_environment(ti);
	FAKE_TI_FAILS();
	m = fake_zeroed(sizeof(*m));
	m->brief = strcmp(name, "jtool table") == 0;
	*id = (jrawMonitorID)(void *)m;
	fake_add(&fake.counts.monitors, 1);
	return JVMTI_ERROR_NONE;
}

static struct monitor *monitor_of(jvmtiEnv *ti, jrawMonitorID id)
{
	(void)fake_environment(ti);
	return (struct monitor *)(void *)id;
}

static jvmtiError JNICALL destroy_raw_monitor(jvmtiEnv *ti, jrawMonitorID id)
{
	free(monitor_of(ti, id));
	fake_add(&fake.counts.monitors, -1);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL raw_monitor_enter(jvmtiEnv *ti, jrawMonitorID id)
{
	struct monitor *m = monitor_of(ti, id);

	ck_assert_msg(m->entered++ == 0, "a thread waits for itself, or for one that waits for it");
	fake.locks++;
	fake.brief_locks += m->brief;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL raw_monitor_exit(jvmtiEnv *ti, jrawMonitorID id)
{
	struct monitor *m = monitor_of(ti, id);

	ck_assert_msg(m->entered-- == 1, "a monitor is exited that is not held");
	fake.locks--;
	fake.brief_locks -= m->brief;
	return JVMTI_ERROR_NONE;
}

static void is_held(jvmtiEnv *ti, jrawMonitorID id)
{
	ck_assert_msg(monitor_of(ti, id)->entered == 1, "a monitor is used that is not held");
}

static jvmtiError JNICALL raw_monitor_wait(jvmtiEnv *ti, jrawMonitorID id, jlong ms)
{
	(void)ms;
	is_held(ti, id);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL raw_monitor_notify_all(jvmtiEnv *ti, jrawMonitorID id)
{
	is_held(ti, id);
	return JVMTI_ERROR_NONE;
}

void fake_add_environments(void)
{
	jvmtiInterface_1 *ti = &fake_ti_table;

	ti->AddCapabilities = add_capabilities;
	ti->CreateRawMonitor = create_raw_monitor;
	ti->DestroyRawMonitor = destroy_raw_monitor;
	ti->DisposeEnvironment = dispose_environment;
	ti->GetCapabilities = get_capabilities;
	ti->GetEnvironmentLocalStorage = get_environment_local_storage;
	ti->GetPotentialCapabilities = get_potential_capabilities;
	ti->GetThreadLocalStorage = get_thread_local_storage;
	ti->RawMonitorEnter = raw_monitor_enter;
	ti->RawMonitorExit = raw_monitor_exit;
	ti->RawMonitorNotifyAll = raw_monitor_notify_all;
	ti->RawMonitorWait = raw_monitor_wait;
	ti->RelinquishCapabilities = relinquish_capabilities;
	ti->SetEnvironmentLocalStorage = set_environment_local_storage;
	ti->SetEventCallbacks = set_event_callbacks;
	ti->SetEventNotificationMode = set_event_notification_mode;
	ti->SetThreadLocalStorage = set_thread_local_storage;
}
