#include "agent/fake_transform.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ENVIRONMENTS_MAX 16
#define REFERENCES_MAX 4096
#define FRAMES_MAX 8
#define NOTHING_SPECIAL 0x1000 /* the address of an object that is nothing special */
#define LOADER (N_CLASSES + 1) /* an object, of p.C */
#define LOADER_CLASS (N_CLASSES + 2)
#define TAGGED (N_CLASSES + 2)

struct text {
	char data[BYTES_MAX];
	size_t len; /* 0: none */
};

static struct class {
	const char *signature;
	bool unloaded, absent;
	struct text runs, kept;
} classes[N_CLASSES + 1];

struct environment {
	const jvmtiInterface_1 *functions;
	bool alive, capable, enabled;
	jvmtiEventClassFileLoadHook hook;
	const void *storage[2]; /* of our thread, and of the other one */
	jlong tags[TAGGED];
};

/* A reference is the address of one of these; class is -1 for other objects. */
struct reference {
	bool live, weak;
	int class;
};

struct monitor {
	int entered;
	bool brief;
};

struct fake_transform fake;

static struct environment environments[ENVIRONMENTS_MAX];
static size_t n_environments;
static struct reference references[REFERENCES_MAX];
static size_t n_references, frames[FRAMES_MAX];
static struct environment *other;
static bool other_is_idle;

/* Locks that this thread has, and those of them that the hook waits for. */
static int held, held_briefly;

static const struct JNIInvokeInterface_ invoke_table;
static const struct JNINativeInterface_ jni_table;
static const jvmtiInterface_1 ti_table;
static JavaVM the_vm = &invoke_table;
static JNIEnv our_jni = &jni_table, other_jni = &jni_table;

/* Linked with --wrap=calloc: the agent's memory fails, too. */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool fault(void)
{
	return ++fake.calls == fake.fail_at;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fault() ? NULL : __real_calloc(n, size);
}

/*
 * On its way into the JVM a thread may be suspended, by a debugger, for as long as that likes:
 * not with a lock that a hook on the debugger's own thread would wait for.
 */
static void enter_jvm(void)
{
	if (held_briefly)
		abort();
}

static jvmtiError ti_fault(void)
{
	bool now = fault();

	enter_jvm();
	if (fake.leaving && fake.fail_at && fake.calls >= fake.fail_at)
		return JVMTI_ERROR_WRONG_PHASE;
	return now ? JVMTI_ERROR_OUT_OF_MEMORY : JVMTI_ERROR_NONE;
}

#define TI_FAULT()                          \
	do {                                \
		jvmtiError e_ = ti_fault(); \
		if (e_)                     \
			return e_;          \
	} while (0)

static struct text text_of(const void *data, size_t len)
{
	struct text text = { .len = len };

	if (len == 0 || len >= BYTES_MAX)
		abort();
	memcpy(text.data, data, len);
	return text;
}

static void begin_classes(void)
{
	static const char *const signatures[N_CLASSES + 1] = {
		"Lp/A;", "Lp/B;", "[I", "Lp/C;", "Lp/D;", "Ljava/lang/Object;",
	};

	for (int i = 0; i <= N_CLASSES && !classes[i].signature; i++) {
		classes[i].signature = signatures[i];
		classes[i].runs = text_of("first", 5);
	}
}

JNIEnv *fake_jni(void)
{
	return fake.other_thread ? &other_jni : &our_jni;
}

/* References */

static jobject new_reference(int class, bool weak)
{
	struct reference *r;

	if (fake.references + fake.weak + fake.frames == 0)
		n_references = 0; /* a test that does the same again and again */
	r = &references[n_references++];
	if (n_references > REFERENCES_MAX)
		abort();
	*r = (struct reference){ true, weak, class };
	*(weak ? &fake.weak : &fake.references) += 1;
	return (jobject)r;
}

static struct reference *of(jobject object)
{
	struct reference *r = (struct reference *)object;

	enter_jvm();
	if (r < references || r >= references + n_references || !r->live)
		abort(); /* null, or let go before */
	return r;
}

static void drop(struct reference *r)
{
	r->live = false;
	*(r->weak ? &fake.weak : &fake.references) -= 1;
}

jclass fake_class(int i)
{
	begin_classes();
	return new_reference(i, false);
}

void fake_unload(int i)
{
	classes[i].unloaded = true;
	for (size_t k = 0; k < n_environments; k++)
		fake.tags -= environments[k].alive && environments[k].tags[i] != 0;
}

const char *fake_running(int i)
{
	begin_classes();
	return classes[i].runs.data;
}

void fake_is(int i, const char *bytes)
{
	begin_classes();
	classes[i].runs = text_of(bytes, strlen(bytes));
}

static bool leads_nowhere(const struct reference *r)
{
	return r->weak && r->class >= 0 && r->class <= N_CLASSES && classes[r->class].unloaded;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object)
{
	(void)env;
	drop(of(object));
}

static void JNICALL delete_weak_global_ref(JNIEnv *env, jweak object)
{
	(void)env;
	if (!of(object)->weak)
		abort();
	drop(of(object));
}

static jobject JNICALL new_local_ref(JNIEnv *env, jobject object)
{
	(void)env;
	return leads_nowhere(of(object)) ? NULL : new_reference(of(object)->class, false);
}

static jweak JNICALL new_weak_global_ref(JNIEnv *env, jobject object)
{
	(void)env;
	fake.exception = fault();
	return fake.exception ? NULL : new_reference(of(object)->class, true);
}

static jboolean JNICALL is_same_object(JNIEnv *env, jobject a, jobject b)
{
	(void)env;
	if (!a || leads_nowhere(of(a)))
		return !b;
	return b && of(a)->class >= 0 && of(a)->class == of(b)->class;
}

static jint JNICALL push_local_frame(JNIEnv *env, jint capacity)
{
	(void)env, (void)capacity;
	if (fault()) {
		fake.exception = true;
		return JNI_ERR;
	}
	frames[fake.frames++] = n_references;
	return JNI_OK;
}

static jobject JNICALL pop_local_frame(JNIEnv *env, jobject result)
{
	(void)env, (void)result;
	for (size_t i = frames[--fake.frames]; i < n_references; i++) {
		if (references[i].live && !references[i].weak)
			drop(&references[i]);
	}
	return NULL;
}

static jint JNICALL ensure_local_capacity(JNIEnv *env, jint capacity)
{
	(void)env, (void)capacity;
	if (!fault())
		return JNI_OK;
	fake.exception = true;
	return JNI_ERR;
}

/* Exceptions, and objects that are nothing special */

static jboolean JNICALL exception_check(JNIEnv *env)
{
	(void)env;
	return fake.exception;
}

static void JNICALL exception_clear(JNIEnv *env)
{
	(void)env;
	fake.exception = false;
}

static jint JNICALL throw(JNIEnv *env, jthrowable thrown)
{
	(void)env;
	if (!of(thrown)->live)
		abort();
	fake.exception = true;
	return JNI_OK;
}

static jobject something(void)
{
	if (fake.exception)
		abort(); /* no call with an exception pending */
	fake.exception = fault();
	return fake.exception ? NULL : new_reference(-1, false);
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
	jclass found = something();

	(void)env;
	if (found && strcmp(name, "java/lang/Object") == 0)
		of(found)->class = OBJECT;
	return found;
}

static jobject JNICALL alloc_object(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	return something();
}

static jclass JNICALL get_object_class(JNIEnv *env, jobject object)
{
	(void)env;
	return new_reference(of(object)->class == LOADER ? LOADER_CLASS : -1, false);
}

static jclass JNICALL get_superclass(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	return NULL;
}

static jmethodID JNICALL get_method_id(JNIEnv *env, jclass class, const char *name, const char *sig)
{
	bool own = fake.own_methods && of(class)->class == LOADER_CLASS;

	(void)env, (void)name, (void)sig;
	fake.exception = fault();
	return fake.exception ? NULL : (jmethodID)(uintptr_t)(NOTHING_SPECIAL + own);
}

static jfieldID JNICALL get_field_id(JNIEnv *env, jclass class, const char *name, const char *sig)
{
	return (jfieldID)get_method_id(env, class, name, sig);
}

static jobject JNICALL get_object_field(JNIEnv *env, jobject object, jfieldID field)
{
	(void)env, (void)of(object), (void)field;
	return NULL;
}

/* Class.forName() */
static jobject JNICALL call_static_object_method(JNIEnv *env, jclass class, jmethodID method,
						 const jvalue *arguments)
{
	(void)env, (void)of(class), (void)method, (void)arguments;
	fake.asked++;
	if (fake.asking)
		fake.asking();
	fake.exception = fault() || !fake.finds;
	return fake.exception ? NULL : new_reference(-1, false);
}

static jstring JNICALL new_string_utf(JNIEnv *env, const char *text)
{
	(void)env, (void)text;
	return something();
}

static jobject JNICALL new_object(JNIEnv *env, jclass class, jmethodID constructor, ...)
{
	(void)env, (void)class, (void)constructor;
	return something();
}

static jint JNICALL get_version(JNIEnv *env)
{
	(void)env;
	return JNI_VERSION_10;
}

/* Environments */

static struct environment *environment_of(jvmtiEnv *ti)
{
	return (struct environment *)ti;
}

static struct environment *environment(jvmtiEnv *ti)
{
	struct environment *e = environment_of(ti);

	if (!e->alive)
		abort();
	return e;
}

jvmtiEnv *fake_ti(void)
{
	struct environment *e = &environments[n_environments++];

	if (n_environments > ENVIRONMENTS_MAX)
		abort();
	begin_classes();
	*e = (struct environment){ .functions = &ti_table, .alive = true };
	fake.environments++;
	return (jvmtiEnv *)e;
}

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
	(void)vm, (void)version;
	if (fault())
		return JNI_EVERSION;
	*env = fake_ti();
	return JNI_OK;
}

/* The last ones that are gone make room. */
static jvmtiError JNICALL dispose_environment(jvmtiEnv *ti)
{
	environment(ti)->alive = false;
	for (int i = 0; i < TAGGED; i++)
		fake.tags -= !(i <= N_CLASSES && classes[i].unloaded) &&
			     environment_of(ti)->tags[i] != 0;
	fake.environments--;
	while (n_environments > 0 && !environments[n_environments - 1].alive)
		n_environments--;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_potential_capabilities(jvmtiEnv *ti, jvmtiCapabilities *all)
{
	(void)environment(ti);
	TI_FAULT();
	memset(all, 0xff, sizeof(*all));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *wanted)
{
	TI_FAULT();
	environment(ti)->capable |= wanted->can_retransform_classes;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event_callbacks(jvmtiEnv *ti, const jvmtiEventCallbacks *callbacks,
					      jint size)
{
	(void)size;
	TI_FAULT();
	environment(ti)->hook = callbacks->ClassFileLoadHook;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event_notification_mode(jvmtiEnv *ti, jvmtiEventMode mode,
						      jvmtiEvent event, jthread thread, ...)
{
	(void)event, (void)thread;
	TI_FAULT();
	environment(ti)->enabled = mode == JVMTI_ENABLE;
	return JVMTI_ERROR_NONE;
}

/* An application's threads are in the middle of that; another session's may do more. */
static unsigned loading;

static jvmtiError JNICALL set_thread_local_storage(jvmtiEnv *ti, jthread thread, const void *data)
{
	(void)thread;
	if (loading > 0) /* JDK 19 to 24 might have all virtual threads wait */
		abort();
	TI_FAULT();
	environment(ti)->storage[fake.other_thread > 0] = data;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_thread_local_storage(jvmtiEnv *ti, jthread thread, void **data)
{
	(void)thread;
	*data = (void *)environment(ti)->storage[fake.other_thread > 0];
	return JVMTI_ERROR_NONE;
}

/* Memory and locks */

static jvmtiError JNICALL allocate(jvmtiEnv *ti, jlong size, unsigned char **p)
{
	(void)ti;
	TI_FAULT();
	fake.blocks++;
	*p = __real_calloc(1, (size_t)size);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *p)
{
	(void)ti;
	fake.blocks--;
	free(p);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL create_raw_monitor(jvmtiEnv *ti, const char *name, jrawMonitorID *monitor)
{
	struct monitor *m;

	(void)environment(ti);
	TI_FAULT();
	fake.monitors++;
	m = __real_calloc(1, sizeof(*m));
	m->brief = strcmp(name, "jtool table") == 0;
	*monitor = (jrawMonitorID)m;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL destroy_raw_monitor(jvmtiEnv *ti, jrawMonitorID monitor)
{
	(void)environment(ti);
	fake.monitors--;
	free(monitor);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL raw_monitor_enter(jvmtiEnv *ti, jrawMonitorID monitor)
{
	(void)environment(ti);
	if (((struct monitor *)monitor)->entered++)
		abort(); /* this thread would wait for itself, or for one that waits for it */
	held++;
	held_briefly += ((struct monitor *)monitor)->brief;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL raw_monitor_exit(jvmtiEnv *ti, jrawMonitorID monitor)
{
	(void)environment(ti);
	if (((struct monitor *)monitor)->entered-- != 1)
		abort();
	held--;
	held_briefly -= ((struct monitor *)monitor)->brief;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL raw_monitor_wait(jvmtiEnv *ti, jrawMonitorID monitor, jlong ms)
{
	(void)environment(ti), (void)ms;
	if (((struct monitor *)monitor)->entered != 1)
		abort();
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL raw_monitor_notify_all(jvmtiEnv *ti, jrawMonitorID monitor)
{
	(void)environment(ti);
	if (((struct monitor *)monitor)->entered != 1)
		abort();
	return JVMTI_ERROR_NONE;
}

/* Linked with --wrap=send: a client may be stopped, and whoever sends then waits for it. */
ssize_t __real_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);

ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
	if (held)
		abort();
	return __real_send(fd, data, len, flags);
}

/* Classes */

static jvmtiError JNICALL get_class_signature(jvmtiEnv *ti, jclass class, char **sig, char **gen)
{
	const char *signature = classes[of(class)->class].signature;

	(void)gen;
	if (allocate(ti, (jlong)strlen(signature) + 1, (unsigned char **)sig) != 0)
		return JVMTI_ERROR_OUT_OF_MEMORY;
	memcpy(*sig, signature, strlen(signature) + 1);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_tag(jvmtiEnv *ti, jobject object, jlong *tag)
{
	*tag = environment(ti)->tags[of(object)->class];
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_tag(jvmtiEnv *ti, jobject object, jlong tag)
{
	jlong *its = &environment(ti)->tags[of(object)->class];

	if (leads_nowhere(of(object)))
		return JVMTI_ERROR_INVALID_OBJECT;
	if (tag != 0)
		TI_FAULT();
	fake.tags += (tag != 0) - (*its != 0);
	*its = tag;
	return JVMTI_ERROR_NONE;
}

static jobject loader_of(int class)
{
	return fake.loader && class == 3 ? new_reference(LOADER, false) : NULL;
}

static jvmtiError JNICALL get_class_loader(jvmtiEnv *ti, jclass class, jobject *loader)
{
	(void)ti;
	TI_FAULT();
	if (fake.suspended && fake.other_thread)
		fake.suspended();
	*loader = loader_of(of(class)->class);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL is_modifiable_class(jvmtiEnv *ti, jclass class, jboolean *modifiable)
{
	(void)ti;
	TI_FAULT();
	*modifiable = classes[of(class)->class].signature[0] == 'L';
	return JVMTI_ERROR_NONE;
}

/* Methods: an id is 16 times a class's number + 1 + the method's; one of 0xdead is gone. */

static jvmtiError JNICALL relinquish_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *unwanted)
{
	(void)environment(ti), (void)unwanted;
	TI_FAULT();
	return JVMTI_ERROR_NONE;
}

static jvmtiError tell_text(jvmtiEnv *ti, const char *text, char **out)
{
	jvmtiError code = allocate(ti, (jlong)strlen(text) + 1, (unsigned char **)out);

	if (code == JVMTI_ERROR_NONE)
		memcpy(*out, text, strlen(text) + 1);
	return code;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *ti, jmethodID id, char **name, char **sig,
					  char **generic)
{
	(void)sig, (void)generic;
	TI_FAULT();
	if ((uintptr_t)id == 0xdead)
		return JVMTI_ERROR_INVALID_METHODID;
	return tell_text(ti, (uintptr_t)id % 16 == 0 ? "<init>" : "run", name);
}

static jvmtiError JNICALL get_method_declaring_class(jvmtiEnv *ti, jmethodID id, jclass *class)
{
	(void)environment(ti);
	TI_FAULT();
	*class = new_reference((int)((uintptr_t)id / 16) - 1, false);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_source_file_name(jvmtiEnv *ti, jclass class, char **name)
{
	TI_FAULT();
	if (of(class)->class == 0)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	return tell_text(ti, "B.java", name);
}

/* In no order: 10 from 0, 30 from 8, 20 from 4. */
static jvmtiError JNICALL get_line_number_table(jvmtiEnv *ti, jmethodID id, jint *n,
						jvmtiLineNumberEntry **table)
{
	static const jvmtiLineNumberEntry lines[] = { { 0, 10 }, { 8, 30 }, { 4, 20 } };
	jvmtiError code;

	(void)id;
	TI_FAULT();
	code = allocate(ti, sizeof(lines), (unsigned char **)table);
	if (code != JVMTI_ERROR_NONE)
		return code;
	memcpy(*table, lines, sizeof(lines));
	*n = 3;
	return JVMTI_ERROR_NONE;
}

/* True when it has an answer. */
static bool call_hook(struct environment *e, int i, struct text *bytes)
{
	char name[32] = "";
	unsigned char *new = NULL;
	jint new_len = 0;
	jclass class = classes[i].absent ? NULL : fake_class(i);
	jobject loader = loader_of(i);

	memcpy(name, classes[i].signature + 1, strlen(classes[i].signature) - 2);
	e->hook((jvmtiEnv *)e, fake_jni(), class, loader, name, NULL, (jint)bytes->len,
		(unsigned char *)bytes->data, &new_len, &new);
	if (class)
		drop(of(class));
	if (loader)
		drop(of(loader));
	if (!new)
		return false;
	*bytes = text_of(new, (size_t)new_len);
	(void)deallocate(NULL, new);
	return true;
}

/* All hooks, in the order of their environments; the text before the first change is kept. */
static void call_hooks(int i, struct text *bytes, struct text *kept)
{
	bool changed = false;

	for (size_t k = 0; k < n_environments; k++) {
		struct environment *e = &environments[k];
		struct text before = *bytes;

		if (!e->alive || !e->capable || !e->enabled)
			continue;
		if (!call_hook(e, i, bytes))
			continue;
		changed = true;
		if (kept->len == 0)
			*kept = before;
	}
	if (!changed && fake.drops_cache)
		kept->len = 0;
}

static jvmtiError transform(jint n, const jclass *list, const jvmtiClassDefinition *definitions)
{
	struct text new[N_CLASSES + 1], kept[N_CLASSES + 1];

	TI_FAULT(); /* `operation` alone may be held */
	for (jint k = 0; k < n; k++) {
		int i = of(list ? list[k] : definitions[k].klass)->class;

		kept[i] = classes[i].kept;
		new[i] = definitions ? text_of(definitions[k].class_bytes,
					       (size_t)definitions[k].class_byte_count)
				     : kept[i].len ? kept[i] : classes[i].runs;
		call_hooks(i, &new[i], &kept[i]);
		if (fake.exception) {
			fake.exception = false;
			return JVMTI_ERROR_UNSUPPORTED_VERSION;
		}
		if (strncmp(new[i].data, "bad", 3) == 0)
			return JVMTI_ERROR_FAILS_VERIFICATION;
	}
	if (fake.meanwhile && !fake.other_thread)
		fake.meanwhile();
	for (jint k = 0; k < n; k++) {
		int i = of(list ? list[k] : definitions[k].klass)->class;

		classes[i].runs = new[i];
		classes[i].kept = kept[i];
		fake.retransformations++;
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL retransform_classes(jvmtiEnv *ti, jint n, const jclass *list)
{
	if (!environment(ti)->capable)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	return transform(n, list, NULL);
}

static jvmtiError JNICALL redefine_classes(jvmtiEnv *ti, jint n,
					   const jvmtiClassDefinition *definitions)
{
	(void)environment(ti);
	return transform(n, NULL, definitions);
}

static jvmtiError JNICALL get_loaded_classes(jvmtiEnv *ti, jint *n, jclass **list)
{
	jvmtiError code;

	(void)environment(ti);
	TI_FAULT();
	code = allocate(ti, (N_CLASSES + 1) * sizeof(**list), (unsigned char **)list);
	if (code != JVMTI_ERROR_NONE)
		return code;
	*n = 0;
	for (int i = 0; i <= N_CLASSES; i++) {
		if (!classes[i].unloaded && !classes[i].absent)
			(*list)[(*n)++] = fake_class(i);
	}
	return JVMTI_ERROR_NONE;
}

void fake_is_absent(int i)
{
	begin_classes();
	classes[i].absent = true;
}

void fake_load(int i, const char *bytes)
{
	struct text runs = text_of(bytes, strlen(bytes)), kept = { .len = 0 };

	fake.other_thread++;
	loading++;
	call_hooks(i, &runs, &kept);
	loading--;
	fake.other_thread--;
	if (fake.exception)
		abort();
	classes[i].absent = false;
	classes[i].runs = runs;
	classes[i].kept = kept;
}

/* Threads: one, in p.A.run, which is obsolete, and p.B.run, which is not */

static jvmtiError JNICALL get_all_threads(jvmtiEnv *ti, jint *n, jthread **threads)
{
	jvmtiError code;

	(void)environment(ti);
	TI_FAULT();
	code = allocate(ti, sizeof(**threads), (unsigned char **)threads);
	if (code != JVMTI_ERROR_NONE)
		return code;
	(*threads)[0] = new_reference(-1, false);
	*n = 1;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_stack_trace(jvmtiEnv *ti, jthread thread, jint from, jint max,
					  jvmtiFrameInfo *frames_out, jint *n)
{
	(void)environment(ti), (void)of(thread), (void)from, (void)max;
	TI_FAULT();
	frames_out[0] = (jvmtiFrameInfo){ .method = (jmethodID)(uintptr_t)17 };
	frames_out[1] = frames_out[0];
	frames_out[2] = (jvmtiFrameInfo){ .method = (jmethodID)(uintptr_t)33 };
	*n = 3;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL is_method_obsolete(jvmtiEnv *ti, jmethodID id, jboolean *is)
{
	(void)environment(ti);
	TI_FAULT();
	*is = (uintptr_t)id == 17;
	return JVMTI_ERROR_NONE;
}

/* The other agent */

static void JNICALL other_hook(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject loader,
			       const char *name, jobject domain, jint len,
			       const unsigned char *bytes, jint *new_len, unsigned char **new)
{
	(void)ti, (void)jni, (void)class, (void)loader, (void)name, (void)domain;
	if (other_is_idle || bytes[len - 1] == '+')
		return;
	fake.blocks++;
	*new = __real_calloc(1, (size_t)len + 1);
	memcpy(*new, bytes, (size_t)len);
	(*new)[len] = '+';
	*new_len = len + 1;
}

void fake_other_comes(void)
{
	other = (struct environment *)fake_ti();
	other->capable = other->enabled = true;
	other->hook = other_hook;
}

void fake_other_goes(void)
{
	(void)dispose_environment((jvmtiEnv *)other);
}

void fake_other_works(bool works)
{
	other_is_idle = !works;
}

void fake_other_retransforms(int i)
{
	jclass class = fake_class(i);
	int outer = held;

	fake.other_thread++;
	held = 0;
	if (transform(1, &class, NULL) != JVMTI_ERROR_NONE && !fake.fail_at)
		abort();
	held = outer;
	fake.other_thread--;
	drop(of(class));
}

/* Threads */

static jvmtiError JNICALL get_current_thread(jvmtiEnv *ti, jthread *thread)
{
	(void)environment(ti);
	TI_FAULT();
	*thread = new_reference(-1, false);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL run_agent_thread(jvmtiEnv *ti, jthread thread, jvmtiStartFunction run,
					   const void *arg, jint priority)
{
	(void)thread, (void)priority;
	TI_FAULT();
	if (fake.thread)
		abort(); /* one is enough */
	fake.thread = run;
	fake.thread_arg = (void *)arg;
	fake.thread_ti = ti;
	return JVMTI_ERROR_NONE;
}

void fake_run_thread(void)
{
	jvmtiStartFunction run = fake.thread;

	fake.thread = NULL;
	if (run)
		run(fake.thread_ti, fake_jni(), fake.thread_arg);
}

JavaVM *fake_vm(void)
{
	return &the_vm;
}

static const struct JNIInvokeInterface_ invoke_table = { .GetEnv = get_env };

static const struct JNINativeInterface_ jni_table = {
	.AllocObject = alloc_object,
	.CallStaticObjectMethodA = call_static_object_method,
	.DeleteLocalRef = delete_local_ref,
	.DeleteWeakGlobalRef = delete_weak_global_ref,
	.EnsureLocalCapacity = ensure_local_capacity,
	.ExceptionCheck = exception_check,
	.ExceptionClear = exception_clear,
	.FindClass = find_class,
	.GetFieldID = get_field_id,
	.GetMethodID = get_method_id,
	.GetObjectClass = get_object_class,
	.GetObjectField = get_object_field,
	.GetStaticMethodID = get_method_id,
	.GetSuperclass = get_superclass,
	.GetVersion = get_version,
	.IsSameObject = is_same_object,
	.NewLocalRef = new_local_ref,
	.NewObject = new_object,
	.NewStringUTF = new_string_utf,
	.NewWeakGlobalRef = new_weak_global_ref,
	.PopLocalFrame = pop_local_frame,
	.PushLocalFrame = push_local_frame,
	.Throw = throw,
};

static const jvmtiInterface_1 ti_table = {
	.AddCapabilities = add_capabilities,
	.Allocate = allocate,
	.CreateRawMonitor = create_raw_monitor,
	.Deallocate = deallocate,
	.DestroyRawMonitor = destroy_raw_monitor,
	.DisposeEnvironment = dispose_environment,
	.GetAllThreads = get_all_threads,
	.GetClassLoader = get_class_loader,
	.GetClassSignature = get_class_signature,
	.GetCurrentThread = get_current_thread,
	.GetLoadedClasses = get_loaded_classes,
	.GetLineNumberTable = get_line_number_table,
	.GetMethodDeclaringClass = get_method_declaring_class,
	.GetMethodName = get_method_name,
	.GetPotentialCapabilities = get_potential_capabilities,
	.GetSourceFileName = get_source_file_name,
	.GetStackTrace = get_stack_trace,
	.GetTag = get_tag,
	.GetThreadLocalStorage = get_thread_local_storage,
	.IsMethodObsolete = is_method_obsolete,
	.IsModifiableClass = is_modifiable_class,
	.RawMonitorEnter = raw_monitor_enter,
	.RawMonitorExit = raw_monitor_exit,
	.RawMonitorNotifyAll = raw_monitor_notify_all,
	.RawMonitorWait = raw_monitor_wait,
	.RedefineClasses = redefine_classes,
	.RelinquishCapabilities = relinquish_capabilities,
	.RetransformClasses = retransform_classes,
	.RunAgentThread = run_agent_thread,
	.SetEventCallbacks = set_event_callbacks,
	.SetEventNotificationMode = set_event_notification_mode,
	.SetTag = set_tag,
	.SetThreadLocalStorage = set_thread_local_storage,
};
