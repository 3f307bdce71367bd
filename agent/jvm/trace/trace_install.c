#include "jvm/trace_install.h"

#include <poll.h>
#include <string.h>

#include "jvm/capture.h"
#include "jvm/classes.h"
#include "jvm/roster.h"
#include "jvm/trace_weave.h"

#define LAST_WORD_MS 100

static struct ag_weave_group group_of(struct ag_jvm *jvm, struct ag_install *install)
{
	return (struct ag_weave_group){ jvm, &install->weave, install->members, install->refs };
}

/* All classes for which `is` holds; the group is all of the arrays. */
static uint32_t select_classes(struct ag_install *install,
			       bool (*is)(const struct ag_weave_class *class))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < install->n_classes; i++) {
		if (!is(ag_weave_class(&install->weave, i)))
			continue;
		install->refs[n] = install->classes[i].class;
		install->members[n++] = i;
	}
	return n;
}

/* Given up, but somebody else retransformed it before that, and may have got it with hooks. */
static bool is_left_over(const struct ag_weave_class *class)
{
	return ag_weave_is_touched(class) && !ag_weave_is_hooked(class);
}

/* JVMTI_ERROR_NONE: the class may be touched; else it is not, for that reason. */
static jvmtiError look_at(struct ag_jvm *jvm, const struct ag_trace *trace,
			  struct ag_install *install, uint32_t index, const char **why)
{
	jclass class = install->classes[index].class;
	struct ag_captured captured;
	char *signature;
	int rc;

	if (!class)
		return JVMTI_ERROR_INVALID_CLASS; /* it was unloaded */
	signature = ag_class_signature(jvm, class);
	if (!signature)
		return jvm->err.code ? jvm->err.code : JVMTI_ERROR_INTERNAL;
	ag_weave_class(&install->weave, index)->name = ag_weave_name(signature);
	*why = ag_trace_refuses(trace, signature);
	rc = ag_capture_can(jvm, class, signature, &captured);
	ag_ti_free(jvm, signature);
	if (rc > 0)
		return JVMTI_ERROR_NONE;
	return captured.code ? captured.code : JVMTI_ERROR_UNMODIFIABLE_CLASS;
}

/* One that has a tag stands in the request twice, apart. */
static jvmtiError tag(struct ag_install *install, uint32_t index)
{
	jclass class = install->classes[index].class;
	jvmtiEnv *ti = install->weave.ti;
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
		struct ag_install_class *class = &install->classes[i];
		uint32_t number = install->methods[class->first].number;
		const char *why = NULL;
		jvmtiError code;

		class->class = jvm->roster->classes.list[number];
		code = look_at(jvm, trace, install, i, &why);
		if (code == JVMTI_ERROR_NONE && !why)
			why = ag_trace_hidden(jvm, class->class);
		if (code == JVMTI_ERROR_NONE && !why)
			code = tag(install, i);
		ag_forgive(jvm); /* it is told with the methods */
		if (code == JVMTI_ERROR_NONE && !why)
			ag_weave_set_hooked(ag_weave_class(&install->weave, i), true);
		else
			ag_install_give_up(install, i, code, why);
	}
}

/* Which methods are each class's; returns how many classes there are. */
static uint32_t divide(const struct ag_install_method *methods, uint32_t n,
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

/* No class has hooks.  What a suspended thread looks at is left to it. */
static void discard(struct ag_jvm *jvm, struct ag_install *install)
{
	ag_weave_end(jvm, &install->weave);
	if (!ag_weave_deafen(&install->weave))
		return;
	ag_weave_release(jvm, &install->weave);
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
	    ag_weave_reserve(jvm, &install->weave, install->n_classes) != 0 ||
	    ag_weave_open(jvm, &install->weave, &ag_trace_weaver) != 0 ||
	    ag_weave_begin(jvm, &install->weave) != 0)
		return -1;
	install->weave.n_classes = install->n_classes;
	(void)divide(install->methods, n, install->classes);
	make_classes(jvm, install, trace);
	return jvm->stopping ? -1 : ag_weave_listen(jvm, &install->weave, "begin a trace");
}

struct ag_install *ag_install(struct ag_jvm *jvm, struct ag_trace *trace, bool values,
			      struct ag_install_method *methods, uint32_t n)
{
	struct ag_install *install = ag_jvm_alloc(jvm, 1, sizeof(*install));
	struct ag_weave_group g;

	if (!install)
		return NULL;
	install->methods = methods;
	if (prepare(jvm, install, trace, values, n) != 0) {
		discard(jvm, install);
		return NULL;
	}
	g = group_of(jvm, install);
	ag_weave_in(&g, select_classes(install, ag_weave_is_hooked));
	(void)ag_weave_out(&g, select_classes(install, is_left_over));
	return install;
}

void ag_uninstall(struct ag_jvm *jvm, struct ag_install *install, jvmtiError *code)
{
	struct ag_weave_group g = group_of(jvm, install);
	uint32_t n = select_classes(install, ag_weave_is_hooked);

	for (uint32_t i = 0; i < n; i++)
		ag_weave_set_hooked(ag_weave_class(&install->weave, g.members[i]), false);
	*code = ag_weave_out(&g, n);
	/*
	 * Another thread may have been given a class with hooks just before.  JDK 8 has no lock on
	 * a class that is being redefined: it would have the last word.
	 */
	n = select_classes(install, ag_weave_is_touched);
	if (n > 0) {
		(void)poll(NULL, 0, LAST_WORD_MS);
		(void)ag_weave_out(&g, n);
	}
	discard(jvm, install);
}
