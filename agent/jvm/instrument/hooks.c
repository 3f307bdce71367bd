#include "jvm/instrument/hooks.h"

#include <poll.h>

#include "classfile/inject/inject.h"
#include "jvm/instrument/hook_natives.h"
#include "jvm/jni_refs.h"
#include "util/text.h"

/* maximum of N in the name java/jtool/HooksN; each build that the JVM has loaded has its own N */
#define CLASSES_MAX 1000
#define DEFINE_MS 10000

static struct {
	char name[AG_HOOKS_NAME_MAX];
	uint32_t state; /* UNDEFINED, DEFINING or DEFINED; accessed atomically */
} hooks;
enum { UNDEFINED, DEFINING, DEFINED };

const char *ag_hooks_name(void)
{
	return hooks.name;
}

static void set_name(unsigned number)
{
	struct ag_text name = ag_text_init(hooks.name, sizeof(hooks.name));

	ag_text_put(&name, "java/jtool/Hooks");
	ag_text_number(&name, number);
}

static int bind(struct ag_jvm *jvm, jclass class)
{
	static const JNINativeMethod natives[] = {
		/* JNINativeMethod has no const members */
#define HOOK(name, descriptor) { (char *)#name, (char *)descriptor, (void *)ag_hook_##name },
#include "classfile/inject/hooks.def"
#undef HOOK
	};
	jint rc = (*jvm->jni)->RegisterNatives(jvm->jni, class, natives,
					       sizeof(natives) / sizeof(natives[0]));

	if (ag_ref_threw(jvm, "RegisterNatives"))
		return -1;
	return rc == JNI_OK ? 0 : ag_fail(jvm, "RegisterNatives", "the JVM refused");
}

/*
 * Tries to define the hooks class under the name hooks.name.  Returns 1 if that succeeds; 0 if
 * another class has this name; -1 with the error recorded.
 */
static int define_one(struct ag_jvm *jvm)
{
	struct cf_output bytes = { .mem = jvm->mem };
	jclass class = NULL;
	int rc = 0;

	cf_hooks_class(hooks.name, &bytes);
	if (bytes.failed) {
		rc = ag_fail_memory(jvm);
	} else {
		class = (*jvm->jni)->DefineClass(jvm->jni, hooks.name, NULL,
						 (const jbyte *)bytes.data, (jsize)bytes.len);
		(*jvm->jni)->ExceptionClear(jvm->jni);
	}
	cf_output_release(&bytes);
	if (class)
		rc = bind(jvm, class) == 0 ? 1 : -1;
	ag_ref_drop(jvm, class);
	return rc;
}

static int define(struct ag_jvm *jvm)
{
	int rc = 0;

	for (unsigned i = 1; i <= CLASSES_MAX && rc == 0; i++) {
		set_name(i);
		rc = define_one(jvm);
	}
	if (rc == 0)
		return ag_fail(jvm, "define the hooks class", "the JVM refused");
	return rc > 0 ? 0 : -1;
}

/* Defines the hooks class; if another session of this library is doing so, waits for it instead. */
int ag_hooks_define(struct ag_jvm *jvm)
{
	for (int ms = 0; ms < DEFINE_MS; ms++) {
		uint32_t was = UNDEFINED;

		if (__atomic_compare_exchange_n(&hooks.state, &was, DEFINING, false,
						__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
			int rc = define(jvm);

			__atomic_store_n(&hooks.state, rc == 0 ? DEFINED : UNDEFINED,
					 __ATOMIC_RELEASE);
			return rc;
		}
		if (was == DEFINED)
			return 0;
		(void)poll(NULL, 0, 1);
	}
	return ag_fail(jvm, "define the hooks class", "another session is doing it");
}
