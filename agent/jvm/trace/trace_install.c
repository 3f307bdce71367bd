#include "jvm/trace/trace_install.h"

#include <poll.h>
#include <string.h>

#include "jvm/capture/capture.h"
#include "jvm/class_index.h"
#include "jvm/classes.h"
#include "jvm/instrument/hooks.h"
#include "jvm/jni_refs.h"
#include "jvm/trace/trace_instrument.h"

#define RACE_MS 100

static struct ag_instrument_group group_of(struct ag_jvm *jvm, struct ag_install *install)
{
	return (struct ag_instrument_group){ jvm, &install->base, install->members,
					     install->refs };
}

/*
 * Selects the loaded classes for which is() is true.  Stores their indexes in the array `members`,
 * and local references to them in the array `refs`.  Returns the number of selected classes.
 */
static uint32_t select_classes(struct ag_jvm *jvm, struct ag_install *install,
			       bool (*is)(const struct ag_instrument_class *class))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < install->n_classes; i++) {
		if (!is(ag_instrument_class(&install->base, i)))
			continue;
		install->refs[n] = (*jvm->jni)->NewLocalRef(jvm->jni, install->classes[i].class);
		if (install->refs[n])
			install->members[n++] = i;
	}
	return n;
}

/*
 * Clears the mark `hooked` of the classes for which is() is true, and restores these classes.
 * Returns JVMTI_ERROR_NONE, or the JVM's error if a class was not restored.
 */
static jvmtiError restore(struct ag_jvm *jvm, struct ag_install *install,
			  bool (*is)(const struct ag_instrument_class *class))
{
	struct ag_instrument_group g = group_of(jvm, install);
	uint32_t n = select_classes(jvm, install, is);
	jvmtiError code;

	for (uint32_t i = 0; i < n; i++)
		ag_instrument_set_hooked(ag_instrument_class(&install->base, g.members[i]), false);
	code = ag_instrument_remove(&g, n);
	for (uint32_t i = 0; i < n; i++)
		ag_ref_drop(jvm, g.refs[i]);
	return code;
}

/*
 * Returns true if the class shall not have hooks, but another thread has retransformed the class
 * and may thereby have installed hooks.
 */
static bool is_left_over(const struct ag_instrument_class *class)
{
	return ag_instrument_is_touched(class) && !ag_instrument_is_hooked(class);
}

/*
 * Checks whether a class may be changed, and stores the hash of its name.  Returns the JVM's error
 * if the JVM cannot change the class.  Otherwise returns JVMTI_ERROR_NONE, and sets *why to the
 * reason why a trace must not change the class, or to NULL if a trace may change it.
 */
static jvmtiError check_class(struct ag_jvm *jvm, const struct ag_trace *trace,
			      struct ag_install *install, uint32_t index, jclass class,
			      const char **why)
{
	struct ag_captured captured;
	char *signature;
	int rc;

	if (!class)
		return JVMTI_ERROR_INVALID_CLASS; /* unloaded */
	signature = ag_class_signature(jvm, class);
	if (!signature)
		return jvm->err.code ? jvm->err.code : JVMTI_ERROR_INTERNAL;
	ag_instrument_class(&install->base, index)->name = ag_instrument_name(signature);
	*why = ag_trace_refuses(trace, signature);
	rc = ag_capture_can(jvm, class, signature, &captured);
	ag_jvmti_free(jvm, signature);
	if (rc > 0)
		return JVMTI_ERROR_NONE;
	return captured.code ? captured.code : JVMTI_ERROR_UNMODIFIABLE_CLASS;
}

/*
 * Tags a class and creates the weak reference to it.  Fails if the class has a tag already, which
 * means that its methods are not adjacent in the list of methods.
 */
static jvmtiError take_class(struct ag_jvm *jvm, struct ag_install *install, uint32_t index,
			     jclass class)
{
	jvmtiEnv *ti = install->base.ti;
	jlong there = 0;
	jvmtiError code = (*ti)->GetTag(ti, class, &there);

	if (code == JVMTI_ERROR_NONE && there != 0)
		return JVMTI_ERROR_DUPLICATE;
	if (code != JVMTI_ERROR_NONE)
		return code;
	install->classes[index].class = ag_ref_weak(jvm->jni, class, &jvm->globals);
	if (!install->classes[index].class)
		return JVMTI_ERROR_OUT_OF_MEMORY;
	return (*ti)->SetTag(ti, class, (jlong)index + 1);
}

static void prepare_classes(struct ag_jvm *jvm, struct ag_install *install,
			    const struct ag_trace *trace)
{
	for (uint32_t i = 0; i < install->n_classes && !jvm->stopping; i++) {
		uint32_t number = install->methods[install->classes[i].first].number;
		jclass class = jvm->class_index->classes.list[number];
		const char *why = NULL;
		jvmtiError code = check_class(jvm, trace, install, i, class, &why);

		if (code == JVMTI_ERROR_NONE && !why)
			why = ag_hooks_hidden(jvm, class);
		if (code == JVMTI_ERROR_NONE && !why)
			code = take_class(jvm, install, i, class);
		ag_clear_error(jvm); /* `code` and `why` have the reason */
		if (code == JVMTI_ERROR_NONE && !why)
			ag_instrument_set_hooked(ag_instrument_class(&install->base, i), true);
		else
			ag_install_give_up(install, i, code, why);
	}
}

/*
 * Groups the n methods by class, and returns the number of classes.  Unless `classes` is NULL,
 * stores in classes[i] which range of `methods` belongs to class i.
 */
static uint32_t group_by_class(const struct ag_install_method *methods, uint32_t n,
			       struct ag_install_class *classes)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || methods[i].number != methods[i - 1].number) {
			if (classes)
				classes[k].first = i;
			k++;
		}
		if (classes)
			classes[k - 1].n++;
	}
	return k;
}

static struct cf_text copy_text(char **at, const char *text)
{
	struct cf_text copy = { *at, strlen(text) };

	memcpy(*at, text, copy.len);
	*at += copy.len;
	return copy;
}

/*
 * Creates the probe of each method.  The probes point to copies of the method's name and
 * descriptor, because a thread that is suspended in the ClassFileLoadHook may read these texts at
 * any later time.
 */
static int make_probes(struct ag_jvm *jvm, struct ag_install *install,
		       const struct ag_trace *trace, bool values, uint32_t n)
{
	const struct ag_install_method *m = install->methods;
	size_t len = 0;
	char *at;

	for (uint32_t i = 0; i < n; i++)
		len += strlen(m[i].name) + strlen(m[i].descriptor);
	install->probes = ag_jvm_alloc(jvm, n, sizeof(*install->probes));
	at = install->texts = ag_jvm_alloc(jvm, len, 1);
	if (!install->probes || !install->texts)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		install->probes[i] = (struct cf_probe){
			.name = copy_text(&at, m[i].name),
			.descriptor = copy_text(&at, m[i].descriptor),
			.id = ag_trace_id(trace, i),
			.values = values,
		};
	return 0;
}

/*
 * Ends the instrumentation and frees `install`, after the hooks were removed.  If a suspended
 * thread may still use the memory, never frees it.
 */
static void discard(struct ag_jvm *jvm, struct ag_install *install)
{
	ag_instrument_end(jvm, &install->base);
	for (uint32_t i = 0; install->classes && i < install->n_classes; i++)
		ag_ref_weak_drop(jvm->jni, install->classes[i].class, &jvm->globals);
	if (!ag_instrument_disable_events(jvm, &install->base))
		return;
	ag_instrument_release(jvm, &install->base);
	ag_free(jvm->mem, install->probes);
	ag_free(jvm->mem, install->texts);
	ag_free(jvm->mem, install->classes);
	ag_free(jvm->mem, install->members);
	ag_free(jvm->mem, install->refs);
	ag_free(jvm->mem, install);
}

static int prepare(struct ag_jvm *jvm, struct ag_install *install, const struct ag_trace *trace,
		   bool values, uint32_t n)
{
	install->n_classes = group_by_class(install->methods, n, NULL);
	install->classes = ag_jvm_alloc(jvm, install->n_classes, sizeof(*install->classes));
	install->members = ag_jvm_alloc(jvm, install->n_classes, sizeof(*install->members));
	install->refs = ag_jvm_alloc(jvm, install->n_classes, sizeof(*install->refs));
	if (!install->classes || !install->members || !install->refs ||
	    make_probes(jvm, install, trace, values, n) != 0 || ag_hooks_define(jvm) != 0 ||
	    ag_instrument_reserve(jvm, &install->base, install->n_classes) != 0 ||
	    ag_instrument_open(jvm, &install->base, &ag_trace_instrumenter) != 0 ||
	    ag_instrument_begin(jvm, &install->base) != 0)
		return -1;
	install->hooks = ag_hooks_name();
	install->base.n_classes = install->n_classes;
	(void)group_by_class(install->methods, n, install->classes);
	prepare_classes(jvm, install, trace);
	return jvm->stopping ? -1 : ag_instrument_listen(jvm, &install->base, "begin a trace");
}

/*
 * Adds the hooks to the classes.  Creates the references to the classes in a JNI local frame; the
 * end of the frame deletes all these references.  A loop that deletes each element of `refs` would
 * miss some references, because ag_instrument_add() reorders the array and overwrites elements.
 */
static int add_hooks(struct ag_jvm *jvm, struct ag_install *install)
{
	struct ag_instrument_group g = group_of(jvm, install);

	if (ag_ref_push(jvm) != 0)
		return -1;
	if (ag_ref_expect(jvm, (jint)install->n_classes) != 0) {
		ag_ref_pop(jvm);
		return -1;
	}
	ag_instrument_add(&g, select_classes(jvm, install, ag_instrument_is_hooked));
	ag_ref_pop(jvm);
	return 0;
}

struct ag_install *ag_install(struct ag_jvm *jvm, struct ag_trace *trace, bool values,
			      struct ag_install_method *methods, uint32_t n)
{
	struct ag_install *install = ag_jvm_alloc(jvm, 1, sizeof(*install));

	if (!install)
		return NULL;
	install->methods = methods;
	if (prepare(jvm, install, trace, values, n) != 0 || add_hooks(jvm, install) != 0) {
		discard(jvm, install);
		return NULL;
	}
	(void)restore(jvm, install, is_left_over);
	return install;
}

static bool is_any_touched(const struct ag_install *install)
{
	for (uint32_t i = 0; i < install->n_classes; i++) {
		if (ag_instrument_is_touched(ag_instrument_class(&install->base, i)))
			return true;
	}
	return false;
}

void ag_uninstall(struct ag_jvm *jvm, struct ag_install *install, jvmtiError *code)
{
	if (ag_ref_expect(jvm, (jint)install->n_classes) != 0)
		ag_clear_error(jvm); /* HotSpot creates references even beyond the capacity */
	*code = restore(jvm, install, ag_instrument_is_hooked);
	/*
	 * Another thread may be redefining a class, with bytes that have hooks of this trace.  JDK
	 * 8 has no lock for redefinitions, so the other thread could install these bytes after this
	 * thread has restored the class.  So wait for RACE_MS, and restore such classes again.
	 */
	if (is_any_touched(install)) {
		(void)poll(NULL, 0, RACE_MS);
		(void)restore(jvm, install, ag_instrument_is_touched);
	}
	discard(jvm, install);
}
