#include "jvm/trace_values.h"

#include <string.h>

#include "jvm/classes.h"
#include "jvm/ref.h"

const struct ag_box ag_boxes[AG_BOXES] = {
	{ "Ljava/lang/Boolean;", "Z" }, { "Ljava/lang/Byte;", "B" },
	{ "Ljava/lang/Character;", "C" }, { "Ljava/lang/Short;", "S" },
	{ "Ljava/lang/Integer;", "I" }, { "Ljava/lang/Long;", "J" },
	{ "Ljava/lang/Float;", "F" }, { "Ljava/lang/Double;", "D" },
};

/* What the fields are; those of ag_boxes come behind. */
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
 * A class that was loaded early and not used yet may not be linked (java.lang.Short, of JDK 11 to
 * 21): JVMTI tells no fields of it then, and JNI has it linked.
 */
static jfieldID find_field(struct ag_jvm *jvm, jclass class, const char *name,
			   const char *signature)
{
	jfieldID field;
	jint status;

	if (AG_TI(jvm, GetClassStatus, class, &status) != 0)
		return NULL;
	if (status & JVMTI_CLASS_STATUS_PREPARED)
		return ag_ref_field(jvm, class, name, signature);
	field = (*jvm->jni)->GetFieldID(jvm->jni, class, name, signature);
	return ag_ref_threw(jvm, "GetFieldID") ? NULL : field;
}

/* Is it one of those classes?  Its fields are looked up once: it is loaded in every JVM. */
static void learn_class(struct ag_jvm *jvm, struct ag_known *known, jclass class,
			const char *signature)
{
	jfieldID *into[N_FIELDS] = {
		&known->enum_name, &known->message, &known->thread_name, &known->thread_id,
	};

	for (unsigned i = 0; i < N_FIELDS; i++) {
		if (strcmp(signature, fields[i].class) == 0)
			*into[i] = find_field(jvm, class, fields[i].name, fields[i].signature);
	}
	for (unsigned i = 0; i < AG_BOXES; i++) {
		if (strcmp(signature, ag_boxes[i].signature) == 0)
			known->boxed[i] = find_field(jvm, class, "value", ag_boxes[i].kind);
	}
}

/* The boot loader's: no other may have a class whose name begins with java. */
int ag_known_init(struct ag_jvm *jvm, struct ag_known *known)
{
	int release = ag_ti_release(jvm);
	struct ag_classes classes = { 0 };
	int rc;

	*known = (struct ag_known){ .named = release >= 19 && release <= 24 };
	if (release < 0 || ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_classes_get(jvm, &classes);
	if (rc == 0) /* JDK 8 and 11 count what frames further out hold: the roster is as long */
		rc = ag_ref_expect(jvm, 2 * ((jint)classes.n + 64));
	for (uint32_t i = 0; rc == 0 && i < classes.n; i++) {
		char *signature = ag_class_signature(jvm, classes.list[i]);

		if (!signature) {
			rc = -1;
			break;
		}
		if (signature[0] == 'L')
			learn_class(jvm, known, classes.list[i], signature);
		ag_ti_free(jvm, signature);
	}
	ag_classes_release(jvm, &classes);
	ag_ref_pop(jvm);
	return rc == 0 && !jvm->err.what ? 0 : -1;
}

/* Threads */

/* Where it is no String (early JDK 8), JVMTI knows. */
static void ask_name(const struct ag_describing *d, char *name, size_t size)
{
	jvmtiThreadInfo info = { 0 };

	if (!ag_hook_goes_on(d) || (*d->ti)->GetThreadInfo(d->ti, NULL, &info) != JVMTI_ERROR_NONE)
		return;
	if (info.name) {
		size_t len = strnlen(info.name, size - 1);

		memcpy(name, info.name, len);
		name[len] = '\0';
	}
	ag_hook_give_back(d, info.name);
	ag_hook_drop(d, info.thread_group);
	ag_hook_drop(d, info.context_class_loader);
}

static void read_name(const struct ag_describing *d, jthread thread, char *name, size_t size)
{
	jstring s = (*d->jni)->GetObjectField(d->jni, thread, d->known->thread_name);
	jsize n;

	if (!s)
		return;
	n = (*d->jni)->GetStringLength(d->jni, s);
	if ((size_t)n > (size - 1) / 3)
		n = (jsize)((size - 1) / 3); /* of modified UTF-8, a char has 3 bytes at most */
	memset(name, 0, size); /* the JVM ends it with a NUL only from 9 on */
	(*d->jni)->GetStringUTFRegion(d->jni, s, 0, n, name);
	if (ag_hook_threw(d))
		name[0] = '\0';
	ag_hook_drop(d, s);
}

void ag_value_thread(const struct ag_describing *d, char *name, size_t size, uint64_t *id)
{
	jthread thread = NULL;

	name[0] = '\0';
	*id = 0;
	if (!ag_hook_goes_on(d) || (*d->ti)->GetCurrentThread(d->ti, &thread) != JVMTI_ERROR_NONE ||
	    !thread)
		return;
	if (d->known->thread_id)
		*id = (uint64_t)(*d->jni)->GetLongField(d->jni, thread, d->known->thread_id);
	if (d->known->thread_name)
		read_name(d, thread, name, size);
	else
		ask_name(d, name, size);
	ag_hook_drop(d, thread);
}

/* Stacks */

static uint32_t stack_of(const struct ag_describing *d, jthread thread, jvmtiFrameInfo *frames,
			 uint32_t max)
{
	jint n = 0;

	if (!ag_hook_goes_on(d) || (*d->ti)->GetStackTrace(d->ti, thread, 1, (jint)max, frames,
							   &n) != JVMTI_ERROR_NONE)
		return 0;
	return (uint32_t)n;
}

uint32_t ag_value_stack(const struct ag_describing *d, jvmtiFrameInfo *frames, uint32_t max)
{
	jthread thread = NULL;
	uint32_t n = 0;

	if (!d->known->named)
		return stack_of(d, NULL, frames, max);
	if (!ag_hook_goes_on(d) ||
	    (*d->ti)->GetCurrentThread(d->ti, &thread) != JVMTI_ERROR_NONE)
		return 0;
	if (thread) /* as long as it is being attached there is none */
		n = stack_of(d, thread, frames, max);
	ag_hook_drop(d, thread);
	return n;
}
