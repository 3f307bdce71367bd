#include "jvm/trace_install.h"

#include <poll.h>
#include <string.h>

#include "base/hash.h"
#include "jvm/capture.h"
#include "jvm/classes.h"
#include "jvm/ref.h"
#include "jvm/roster.h"
#include "jvm/trace_weave.h"

#define LAST_WORD_MS 100

/* Classes that are retransformed together, by their index. */
struct group {
	struct ag_jvm *jvm;
	struct ag_install *install;
	uint32_t *members;
};

static struct group group_of(struct ag_jvm *jvm, struct ag_install *install)
{
	return (struct group){ jvm, install, install->members };
}

static void set_hooked(struct ag_weave_class *class, bool hooked)
{
	__atomic_store_n(&class->hooked, hooked, __ATOMIC_SEQ_CST);
}

/* The class is left as it is, all its methods for the same reason. */
static void give_up(struct ag_install *install, uint32_t index, jvmtiError code,
		    const char *why)
{
	struct ag_weave_class *class = &install->classes[index];

	set_hooked(class, false);
	for (uint32_t i = class->first; i < class->first + class->n; i++) {
		install->methods[i].refused = 0;
		install->methods[i].code = code;
		install->methods[i].why = why;
	}
}

static jvmtiError retransform(struct group *g, uint32_t n)
{
	struct ag_install *install = g->install;
	jvmtiError code;

	install->pass = (struct ag_weave_pass){ .n = n };
	for (uint32_t i = 0; i < n; i++) {
		struct ag_weave_class *class = &install->classes[g->members[i]];

		class->woven = AG_WOVEN_UNSEEN;
		install->refs[i] = class->class;
	}
	code = (*install->ti)->RetransformClasses(install->ti, (jint)n, install->refs);
	/* The JVM takes an exception of the hook's for its own; none may stay. */
	(*g->jvm->jni)->ExceptionClear(g->jvm->jni);
	if (code == JVMTI_ERROR_WRONG_PHASE)
		g->jvm->stopping = true;
	return code;
}

/* Of the group those remain whose retransformation is not in vain. */
static uint32_t drop_vain(struct group *g, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t index = g->members[i];
		struct ag_weave_class *class = &g->install->classes[index];

		if (class->woven == AG_WOVEN_DONE)
			g->members[left++] = index;
		else if (class->woven == AG_WOVEN_NO_MEMORY)
			give_up(g->install, index, JVMTI_ERROR_OUT_OF_MEMORY, NULL);
		else if (class->woven == AG_WOVEN_UNSEEN)
			give_up(g->install, index, JVMTI_ERROR_INTERNAL, NULL);
		else
			set_hooked(class, false); /* the hook recorded why */
	}
	return left;
}

/* The JVM has taken them; what the hook did not see of them is as it was. */
static void look_after(struct group *g, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct ag_weave_class *class = &g->install->classes[g->members[i]];

		if (class->woven != AG_WOVEN_DONE)
			give_up(g->install, g->members[i], JVMTI_ERROR_INTERNAL, NULL);
	}
}

/* A class that the JVM does not take is found by halves: mostly it is one of many. */
static void weave_in(struct group *g, uint32_t n)
{
	jvmtiError code = JVMTI_ERROR_NONE;
	struct group second = *g;

	while (n > 0 && !g->jvm->stopping) {
		code = retransform(g, n);
		if (!g->install->pass.abandoned)
			break;
		n = drop_vain(g, n);
	}
	if (n == 0)
		return;
	if (code == JVMTI_ERROR_NONE && !g->jvm->stopping) {
		look_after(g, n);
		return;
	}
	if (n == 1 || g->jvm->stopping) {
		for (uint32_t i = 0; i < n; i++)
			give_up(g->install, g->members[i],
				code ? code : JVMTI_ERROR_WRONG_PHASE, NULL);
		return;
	}
	second.members += n / 2;
	weave_in(g, n / 2);
	weave_in(&second, n - n / 2);
}

/*
 * Hand on copies; what fails together is tried by halves, and at last twice.  The last error, or
 * none.
 */
static jvmtiError weave_out(struct group *g, uint32_t n)
{
	struct group second = *g;
	jvmtiError code, other;

	if (n == 0 || g->jvm->stopping)
		return JVMTI_ERROR_NONE;
	code = retransform(g, n);
	if (code == JVMTI_ERROR_NONE || g->jvm->stopping)
		return code;
	if (n == 1)
		return retransform(g, n);
	second.members += n / 2;
	code = weave_out(g, n / 2);
	other = weave_out(&second, n - n / 2);
	return other ? other : code;
}

/* All classes for which `is` holds; the group is all of the array. */
static uint32_t select_classes(struct group *g, bool (*is)(const struct ag_weave_class *class))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->install->n_classes; i++) {
		if (is(&g->install->classes[i]))
			g->members[n++] = i;
	}
	return n;
}

static bool is_wanted(const struct ag_weave_class *class)
{
	return __atomic_load_n(&class->hooked, __ATOMIC_SEQ_CST);
}

static bool is_touched(const struct ag_weave_class *class)
{
	return __atomic_load_n(&class->touched, __ATOMIC_SEQ_CST);
}

/* Given up, but somebody else retransformed it before that, and may have got it with hooks. */
static bool is_left_over(const struct ag_weave_class *class)
{
	return is_touched(class) && !is_wanted(class);
}

/* JVMTI_ERROR_NONE: the class may be touched; else it is not, for that reason. */
static jvmtiError look_at(struct ag_jvm *jvm, const struct ag_trace *trace,
			  struct ag_weave_class *class, const char **why)
{
	struct ag_captured captured;
	char *signature;
	int rc;

	if (!class->class)
		return JVMTI_ERROR_INVALID_CLASS; /* it was unloaded */
	signature = ag_class_signature(jvm, class->class);
	if (!signature)
		return jvm->err.code ? jvm->err.code : JVMTI_ERROR_INTERNAL;
	class->name = ag_hash(signature + 1, strlen(signature) - (*signature == 'L' ? 2 : 1));
	*why = ag_trace_refuses(trace, signature);
	rc = ag_capture_can(jvm, class->class, signature, &captured);
	ag_ti_free(jvm, signature);
	if (rc > 0)
		return JVMTI_ERROR_NONE;
	return captured.code ? captured.code : JVMTI_ERROR_UNMODIFIABLE_CLASS;
}

/* One that has a tag stands in the request twice, apart. */
static jvmtiError tag(struct ag_install *install, uint32_t index)
{
	jclass class = install->classes[index].class;
	jvmtiEnv *ti = install->ti;
	jlong there = 0;
	jvmtiError code = (*ti)->GetTag(ti, class, &there);

	if (code == JVMTI_ERROR_NONE && there != 0)
		return JVMTI_ERROR_DUPLICATE;
	return code == JVMTI_ERROR_NONE ? (*ti)->SetTag(ti, class, (jlong)index + 1) : code;
}

static void make_classes(struct ag_jvm *jvm, struct ag_install *install,
			 const struct ag_trace *trace)
{
	for (uint32_t i = 0; i < install->n_classes && !jvm->stopping; i++) {
		struct ag_weave_class *class = &install->classes[i];
		uint32_t number = install->methods[class->first].number;
		const char *why = NULL;
		jvmtiError code;

		class->class = jvm->roster->classes.list[number];
		code = look_at(jvm, trace, class, &why);
		if (code == JVMTI_ERROR_NONE && !why)
			why = ag_trace_hidden(jvm, class->class);
		if (code == JVMTI_ERROR_NONE && !why)
			code = tag(install, i);
		ag_forgive(jvm); /* it is told with the methods */
		if (code == JVMTI_ERROR_NONE && !why)
			set_hooked(class, true);
		else
			give_up(install, i, code, why);
	}
}

/* Which methods are each class's; returns how many classes there are. */
static uint32_t divide(const struct ag_install_method *methods, uint32_t n,
		       struct ag_weave_class *classes)
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

static struct cf_text keep(char **at, const char *text)
{
	struct cf_text kept = { *at, strlen(text) };

	memcpy(*at, text, kept.len);
	*at += kept.len;
	return kept;
}

/* With texts of their own: a thread that is suspended in the hook may look at them for ever. */
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
			.name = keep(&at, m[i].name),
			.descriptor = keep(&at, m[i].descriptor),
			.id = ag_trace_id(trace, i),
			.values = values,
		};
	return 0;
}

static int make_environment(struct ag_jvm *jvm, struct ag_install *install)
{
	const jvmtiCapabilities capabilities = {
		.can_retransform_classes = 1,
		.can_retransform_any_class = 1,
		.can_tag_objects = 1,
	};

	if ((*jvm->vm)->GetEnv(jvm->vm, (void **)&install->ti, JVMTI_VERSION_1_1) != JNI_OK) {
		install->ti = NULL;
		return ag_fail(jvm, "GetEnv", "no JVMTI environment");
	}
	if (ag_ti_check(jvm, "AddCapabilities",
			(*install->ti)->AddCapabilities(install->ti, &capabilities)) != 0)
		return -1;
	install->thrown = ag_capture_exception(jvm);
	return install->thrown ? 0 : -1;
}

/* No class has hooks.  What a suspended thread looks at is left to it. */
static void discard(struct ag_jvm *jvm, struct ag_install *install)
{
	if (!ag_weave_deafen(install))
		return;
	ag_ref_drop(jvm, install->thrown);
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
	install->hooks = ag_trace_hooks();
	install->n_classes = divide(install->methods, n, NULL);
	install->classes = ag_jvm_alloc(jvm, install->n_classes, sizeof(*install->classes));
	install->members = ag_jvm_alloc(jvm, install->n_classes, sizeof(*install->members));
	install->refs = ag_jvm_alloc(jvm, install->n_classes, sizeof(*install->refs));
	if (!install->classes || !install->members || !install->refs ||
	    make_probes(jvm, install, trace, values, n) != 0 ||
	    make_environment(jvm, install) != 0)
		return -1;
	(void)divide(install->methods, n, install->classes);
	make_classes(jvm, install, trace);
	return jvm->stopping ? -1 : ag_weave_listen(jvm, install);
}

struct ag_install *ag_install(struct ag_jvm *jvm, struct ag_trace *trace, bool values,
			      struct ag_install_method *methods, uint32_t n)
{
	struct ag_install *install = ag_jvm_alloc(jvm, 1, sizeof(*install));
	struct group g;

	if (!install)
		return NULL;
	install->jni = jvm->jni;
	install->methods = methods;
	if (prepare(jvm, install, trace, values, n) != 0) {
		discard(jvm, install);
		return NULL;
	}
	g = group_of(jvm, install);
	weave_in(&g, select_classes(&g, is_wanted));
	(void)weave_out(&g, select_classes(&g, is_left_over));
	return install;
}

void ag_uninstall(struct ag_jvm *jvm, struct ag_install *install, jvmtiError *code)
{
	struct group g = group_of(jvm, install);
	uint32_t n = select_classes(&g, is_wanted);

	for (uint32_t i = 0; i < n; i++)
		set_hooked(&install->classes[g.members[i]], false);
	*code = weave_out(&g, n);
	/*
	 * Another thread may have been given a class with hooks just before.  JDK 8 has no lock on
	 * a class that is being redefined: it would have the last word.
	 */
	n = select_classes(&g, is_touched);
	if (n > 0) {
		(void)poll(NULL, 0, LAST_WORD_MS);
		(void)weave_out(&g, n);
	}
	discard(jvm, install);
}
