#include "jvm/trace/trace_values.h"

#include <string.h>

#include "jvm/classes.h"
#include "jvm/jni_refs.h"

const struct ag_box ag_boxes[AG_BOXES] = {
	{ "Ljava/lang/Boolean;", "Z" }, { "Ljava/lang/Byte;", "B" },
	{ "Ljava/lang/Character;", "C" }, { "Ljava/lang/Short;", "S" },
	{ "Ljava/lang/Integer;", "I" }, { "Ljava/lang/Long;", "J" },
	{ "Ljava/lang/Float;", "F" }, { "Ljava/lang/Double;", "D" },
};

/* The fields that are looked up.  In addition, `value` is looked up in each class of ag_boxes. */
#define TEXT "Ljava/lang/String;"
#define N_FIELDS 4
static const struct {
	const char *class, *name, *signature;
} fields[N_FIELDS] = {
	{ "Ljava/lang/Enum;", "name", TEXT },
	{ "Ljava/lang/Throwable;", "detailMessage", TEXT },
	{ "Ljava/lang/Thread;", "name", TEXT },
	{ "Ljava/lang/Thread;", "tid", "J" },
};

/*
 * Finds a field, even if the class is loaded but not linked yet, such as java.lang.Short on JDK 11
 * to 21.  JVMTI reports no fields of such a class; JNI's GetFieldID links the class first.
 */
static jfieldID find_field(struct ag_jvm *jvm, jclass class, const char *name,
			   const char *signature)
{
	jfieldID field;
	jint status;

	if (AG_JVMTI(jvm, GetClassStatus, class, &status) != 0)
		return NULL;
	if (status & JVMTI_CLASS_STATUS_PREPARED)
		return ag_ref_field(jvm, class, name, signature);
	field = (*jvm->jni)->GetFieldID(jvm->jni, class, name, signature);
	return ag_ref_threw(jvm, "GetFieldID") ? NULL : field;
}

/* Looks up the jfieldIDs of those fields in `fields` and ag_boxes that belong to this class. */
static void learn_class(struct ag_jvm *jvm, struct ag_java_lang *java, jclass class,
			const char *signature)
{
	jfieldID *into[N_FIELDS] = {
		&java->enum_name, &java->message, &java->thread_name, &java->thread_id,
	};

	for (unsigned i = 0; i < N_FIELDS; i++) {
		if (strcmp(signature, fields[i].class) == 0)
			*into[i] = find_field(jvm, class, fields[i].name, fields[i].signature);
	}
	for (unsigned i = 0; i < AG_BOXES; i++) {
		if (strcmp(signature, ag_boxes[i].signature) == 0)
			java->boxed[i] = find_field(jvm, class, "value", ag_boxes[i].kind);
	}
}

/* Identifies classes by their names alone: only the boot loader can define java.lang classes. */
int ag_java_lang_init(struct ag_jvm *jvm, struct ag_java_lang *java)
{
	int release = ag_jvmti_release(jvm);
	struct ag_classes classes = { 0 };
	int rc;

	*java = (struct ag_java_lang){ .explicit_thread = release >= 19 && release <= 24 };
	if (release < 0 || ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_classes_get(jvm, &classes);
	/*
	 * Announce twice as many local references as there are classes, because -Xcheck:jni of JDK
	 * 8 and 11 also counts the references in the outer JNI local frames.
	 */
	if (rc == 0)
		rc = ag_ref_expect(jvm, 2 * ((jint)classes.n + 64));
	for (uint32_t i = 0; rc == 0 && i < classes.n; i++) {
		char *signature = ag_class_signature(jvm, classes.list[i]);

		if (!signature) {
			rc = -1;
			break;
		}
		if (signature[0] == 'L')
			learn_class(jvm, java, classes.list[i], signature);
		ag_jvmti_free(jvm, signature);
	}
	ag_classes_release(jvm, &classes);
	ag_ref_pop(jvm);
	return rc == 0 && !jvm->err.what ? 0 : -1;
}

/* Asks JVMTI for the thread's name, because early JDK 8 does not store it as a String. */
static void ask_name(const struct ag_value_context *d, char *name, size_t size)
{
	jvmtiThreadInfo info = { 0 };

	if (!ag_hook_has_ti(d) || (*d->ti)->GetThreadInfo(d->ti, NULL, &info) != JVMTI_ERROR_NONE)
		return;
	if (info.name) {
		size_t len = strnlen(info.name, size - 1);

		memcpy(name, info.name, len);
		name[len] = '\0';
	}
	ag_hook_deallocate(d, info.name);
	ag_hook_drop(d, info.thread_group);
	ag_hook_drop(d, info.context_class_loader);
}

static void read_name(const struct ag_value_context *d, jthread thread, char *name, size_t size)
{
	jstring s = (*d->jni)->GetObjectField(d->jni, thread, d->java->thread_name);
	jsize n;

	if (!s)
		return;
	n = (*d->jni)->GetStringLength(d->jni, s);
	if ((size_t)n > (size - 1) / 3)
		n = (jsize)((size - 1) / 3); /* a char takes at most 3 bytes of modified UTF-8 */
	memset(name, 0, size); /* GetStringUTFRegion adds a NUL only from JDK 9 on */
	(*d->jni)->GetStringUTFRegion(d->jni, s, 0, n, name);
	if (ag_hook_threw(d))
		name[0] = '\0';
	ag_hook_drop(d, s);
}

void ag_value_thread(const struct ag_value_context *d, char *name, size_t size, uint64_t *id)
{
	jthread thread = NULL;

	name[0] = '\0';
	*id = 0;
	if (!ag_hook_has_ti(d) || (*d->ti)->GetCurrentThread(d->ti, &thread) != JVMTI_ERROR_NONE ||
	    !thread)
		return;
	if (d->java->thread_id)
		*id = (uint64_t)(*d->jni)->GetLongField(d->jni, thread, d->java->thread_id);
	if (d->java->thread_name)
		read_name(d, thread, name, size);
	else
		ask_name(d, name, size);
	ag_hook_drop(d, thread);
}

static uint32_t stack_of(const struct ag_value_context *d, jthread thread, jvmtiFrameInfo *frames,
			 uint32_t max)
{
	jint n = 0;

	if (!ag_hook_has_ti(d) || (*d->ti)->GetStackTrace(d->ti, thread, 1, (jint)max, frames,
							  &n) != JVMTI_ERROR_NONE)
		return 0;
	return (uint32_t)n;
}

uint32_t ag_value_stack(const struct ag_value_context *d, jvmtiFrameInfo *frames, uint32_t max)
{
	jthread thread = NULL;
	uint32_t n = 0;

	if (!d->java->explicit_thread)
		return stack_of(d, NULL, frames, max);
	if (!ag_hook_has_ti(d) ||
	    (*d->ti)->GetCurrentThread(d->ti, &thread) != JVMTI_ERROR_NONE)
		return 0;
	if (thread) /* it is NULL while the JVM is attaching this thread */
		n = stack_of(d, thread, frames, max);
	ag_hook_drop(d, thread);
	return n;
}
