#include "jvm/alloc/recording.h"

#define NS_PER_MS 1000000
#define ENTER_MS 10000 /* maximum wait for access; the thread with access may walk a large heap */

static struct {
	struct ag_jvm jvm;
	jrawMonitorID monitor; /* protects the members below, except `profile` */
	/*
	 * `busy`: a thread has exclusive access; `asked`: a session has requested that the
	 * recording ends; `over`: a thread has begun to end the recording
	 */
	bool busy, asked, over;
	int64_t begin_ns;
	uint32_t flags;
	struct ag_alloc_profile *profile; /* NULL: there is no recording; atomic */
} recording;

static struct ag_alloc_profile *get_profile(void)
{
	return __atomic_load_n(&recording.profile, __ATOMIC_ACQUIRE);
}

/* lock(), unlock(): the JVMTI calls fail only if the monitor is invalid or not held. */
static void lock(void)
{
	(void)(*recording.jvm.ti)->RawMonitorEnter(recording.jvm.ti, recording.monitor);
}

static void unlock(void)
{
	(void)(*recording.jvm.ti)->RawMonitorExit(recording.jvm.ti, recording.monitor);
}

/* Waits until wake_all(), at most about `ms` ms.  The caller must check its condition again. */
static void wait_ms(int64_t ms)
{
	(void)(*recording.jvm.ti)->RawMonitorWait(recording.jvm.ti, recording.monitor, ms);
}

static void wake_all(void)
{
	(void)(*recording.jvm.ti)->RawMonitorNotifyAll(recording.jvm.ti, recording.monitor);
}

int ag_recording_begin(struct ag_jvm *jvm, struct ag_alloc_profile *profile, uint32_t flags)
{
	if (AG_JVMTI(jvm, CreateRawMonitor, "jtool recording", &recording.monitor) != 0)
		return -1;
	recording.jvm = *jvm;
	recording.flags = flags;
	recording.begin_ns = ag_now_ns();
	__atomic_store_n(&recording.profile, profile, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Waits up to ms milliseconds until no thread has access to the recording.  Returns false if a
 * thread still has access.  The caller holds the lock.
 */
static bool wait_for_turn(int ms)
{
	int64_t until = ag_now_ns() + (int64_t)ms * NS_PER_MS, left;

	while (recording.busy && (left = until - ag_now_ns()) > 0)
		wait_ms(left / NS_PER_MS + 1);
	return !recording.busy;
}

int ag_recording_enter(struct ag_jvm *jvm, struct ag_turn *turn)
{
	bool free, over;

	turn->profile = get_profile();
	if (!turn->profile)
		return 0;
	turn->flags = recording.flags;
	turn->jvm = recording.jvm;
	turn->jvm.jni = jvm->jni;
	lock();
	free = wait_for_turn(ENTER_MS);
	over = recording.over;
	if (free && !over)
		recording.busy = true;
	unlock();
	if (over)
		return 0;
	return free ? 1 : ag_fail(jvm, "read the recording", "another client still reads it");
}

void ag_recording_leave(void)
{
	lock();
	recording.busy = false;
	wake_all();
	unlock();
}

bool ag_recording_is_on(uint64_t *ns)
{
	bool on;

	if (!get_profile())
		return false;
	lock();
	*ns = (uint64_t)(ag_now_ns() - recording.begin_ns);
	on = !recording.over || recording.busy; /* over && busy: a thread is ending it now */
	unlock();
	return on;
}

void ag_recording_ask_end(void)
{
	if (!get_profile())
		return;
	lock();
	recording.asked = true;
	wake_all();
	unlock();
}

bool ag_recording_wait(int ms)
{
	bool end;

	lock();
	if (!recording.over && !recording.asked)
		wait_ms(ms);
	end = recording.over || recording.asked;
	unlock();
	return !end;
}

struct ag_alloc_profile *ag_recording_end(int max_ms, bool *turn)
{
	struct ag_alloc_profile *profile = get_profile();
	bool over;

	if (!profile)
		return NULL;
	lock();
	over = recording.over;
	recording.over = true;
	wake_all();
	*turn = wait_for_turn(max_ms);
	if (!over)
		recording.busy = true;
	unlock();
	return over ? NULL : profile;
}
