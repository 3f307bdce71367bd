#include <check.h>

#include "agent/fake/jvm_parts.h"

__thread jvmtiFrameInfo fake_stack[FAKE_FRAMES];
__thread jint fake_depth;
__thread struct fake_object *fake_current;

static const struct fake_object *current(void)
{
	return fake_current ? fake_current : fake.current_thread;
}

static jvmtiError JNICALL get_current_thread(jvmtiEnv *ti, jthread *thread)
{
	(void)ti;
	FAKE_TI_FAILS();
	*thread = fake_ref(current());
	return JVMTI_ERROR_NONE;
}

/* Returns the application's thread, and the current thread if that is a different one. */
static jvmtiError JNICALL get_all_threads(jvmtiEnv *ti, jint *n, jthread **list)
{
	(void)ti;
	FAKE_TI_FAILS();
	*n = 1 + (current() != fake.app_thread);
	*list = fake_block(2 * sizeof(jthread));
	(*list)[0] = fake_ref(fake.app_thread);
	if (*n == 2)
		(*list)[1] = fake_ref(current());
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_thread_info(jvmtiEnv *ti, jthread thread, jvmtiThreadInfo *info)
{
	const struct fake_object *t = thread ? fake_object_of(thread) : current();

	(void)ti;
	FAKE_TI_FAILS();
	*info = (jvmtiThreadInfo){
		.name = fake_text(t->text ? t->text : fake_object_of(t->fields[0].l)->text),
		.thread_group = fake_ref(fake.thread_group),
		.context_class_loader = fake_ref(fake.context_loader),
	};
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_stack_trace(jvmtiEnv *ti, jthread thread, jint from, jint max,
					  jvmtiFrameInfo *frames, jint *n)
{
	const jvmtiFrameInfo *stack = fake_depth ? fake_stack : fake.stack;
	jint depth = fake_depth ? fake_depth : fake.depth;

	(void)ti;
	/* On JDK 19 to 24 the thread would wait for itself: see ag_value_stack(). */
	if (fake.named_threads && (!thread || fake_object_of(thread) != current()))
		ck_abort_msg("a stack is walked of another thread than the current one");
	(void)__atomic_fetch_add(&fake.walks, 1, __ATOMIC_RELAXED);
	FAKE_TI_FAILS();
	if (fake.in_stack_trace)
		fake.in_stack_trace();
	*n = 0;
	for (jint i = from; i < depth && *n < max; i++)
		frames[(*n)++] = stack[i];
	return JVMTI_ERROR_NONE;
}

/* Returns the same stack for all threads, and their own references, as HotSpot does. */
static jvmtiError JNICALL get_thread_list_stack_traces(jvmtiEnv *ti, jint n,
						       const jthread *threads, jint max,
						       jvmtiStackInfo **list)
{
	jint depth = fake.depth < max ? fake.depth : max;
	jvmtiFrameInfo *frames;

	(void)ti;
	FAKE_TI_FAILS();
	*list = fake_block((size_t)n * sizeof(**list) + (size_t)depth * sizeof(*frames));
	frames = (jvmtiFrameInfo *)(void *)(*list + n);
	for (jint i = 0; i < depth; i++)
		frames[i] = fake.stack[i];
	for (jint i = 0; i < n; i++) {
		(void)fake_object_of(threads[i]);
		(*list)[i] = (jvmtiStackInfo){ threads[i], 0, frames, depth };
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL run_agent_thread(jvmtiEnv *ti, jthread thread, jvmtiStartFunction run,
					   const void *arg, jint priority)
{
	(void)priority;
	FAKE_TI_FAILS();
	ck_assert_msg(!fake.thread, "a second thread of the agent");
	ck_assert(!fake.allocate || fake_object_of(thread)->class == fake.app_thread->class);
	fake.current_thread = fake_object_of(thread);
	fake.thread = run;
	fake.thread_arg = (void *)(uintptr_t)arg;
	fake.thread_ti = ti;
	return JVMTI_ERROR_NONE;
}

void fake_run_thread(void)
{
	jvmtiStartFunction run = fake.thread;

	fake.thread = NULL;
	if (run)
		run(fake.thread_ti, fake_jni(fake.other_thread > 0), fake.thread_arg);
}

void fake_add_threads(void)
{
	fake_ti_table.GetAllThreads = get_all_threads;
	fake_ti_table.GetCurrentThread = get_current_thread;
	fake_ti_table.GetStackTrace = get_stack_trace;
	fake_ti_table.GetThreadInfo = get_thread_info;
	fake_ti_table.GetThreadListStackTraces = get_thread_list_stack_traces;
	fake_ti_table.RunAgentThread = run_agent_thread;
}
