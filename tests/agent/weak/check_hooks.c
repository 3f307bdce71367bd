/* The hooks class: if sessions begin at once, one of them defines it and all see its name. */
#include <string.h>

#include "agent/weak/weak.h"
#include "classfile/inject/inject.h"
#include "jvm/instrument/hooks.h"
#include "jvm/instrument/hook_natives.h"
#include "jvm/jni_refs.h"

static unsigned defined;
static char class;

static jclass JNICALL define_class(JNIEnv *jni, const char *name, jobject loader,
				   const jbyte *data, jsize len)
{
	(void)jni, (void)name, (void)loader, (void)data, (void)len;
	defined++; /* a data race, if two sessions are here at once */
	return (jclass)(void *)&class;
}

static void JNICALL clear(JNIEnv *jni)
{
	(void)jni;
}

/* Fails once, so that the class is defined again. */
static jint JNICALL register_natives(JNIEnv *jni, jclass hooks, const JNINativeMethod *natives,
				     jint n)
{
	(void)jni, (void)hooks, (void)natives, (void)n;
	return defined == 1 ? JNI_ERR : JNI_OK;
}

static const struct JNINativeInterface_ table = {
	.DefineClass = define_class, .ExceptionClear = clear, .RegisterNatives = register_natives,
};
static JNIEnv jni = &table;

bool ag_ref_threw(struct ag_jvm *jvm, const char *what)
{
	(void)jvm, (void)what;
	return false;
}

void ag_ref_drop(struct ag_jvm *jvm, jobject ref)
{
	(void)jvm, (void)ref;
}

void cf_hooks_class(const char *name, struct cf_output *out)
{
	(void)name, (void)out;
}

void cf_output_release(struct cf_output *out)
{
	(void)out;
}

#define HOOK(name, descriptor) \
	extern char native_##name __asm__("ag_hook_" #name); \
	char native_##name;
#include "classfile/inject/hooks.def"
#undef HOOK

static void define(void)
{
	struct ag_jvm jvm = { .jni = &jni };

	if (ag_hooks_define(&jvm) != 0)
		return;
	weak_plain_load(ag_hooks_name(), sizeof("java/jtool/Hooks1"));
	WEAK_CHECK(strcmp(ag_hooks_name(), "java/jtool/Hooks1") == 0 && defined == 2);
}

static void is_defined(void)
{
	WEAK_CHECK(defined <= 2);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "one session defines the hooks class", { define, define, define }, NULL,
		  is_defined },
		{ 0 },
	};

	return weak_run(tests, NULL);
}
