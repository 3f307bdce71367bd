#include "jvm/heap/self_objects.h"

#include "jvm/jni_refs.h"

/* Fields of java.lang.Thread whose values belong to one thread.  Each JDK has some of them. */
static const struct {
	const char *name, *signature;
} thread_fields[] = {
	{ "holder", "Ljava/lang/Thread$FieldHolder;" },
	{ "inheritedAccessControlContext", "Ljava/security/AccessControlContext;" },
	{ "blockerLock", "Ljava/lang/Object;" },
	{ "interruptLock", "Ljava/lang/Object;" },
};

int ag_self_objects_add(struct ag_jvm *jvm, struct ag_self_objects *own, jobject object)
{
	if (own->n == AG_SELF_OBJECTS_MAX)
		return ag_fail(jvm, "exclude the agent's objects", "there are too many");
	own->rows[own->n] = UINT32_MAX; /* the object's row is not known yet */
	own->objects[own->n++] = object;
	return 0;
}

void ag_self_objects_forget(struct ag_jvm *jvm, struct ag_self_objects *own, uint32_t n)
{
	while (own->n > n)
		ag_ref_drop(jvm, own->objects[--own->n]);
}

/*
 * Adds the object to which a field of `object` refers.  Returns the added object; or NULL if
 * `object` has no such field, if the field is null, or if adding has failed.
 */
static jobject add_field(struct ag_jvm *jvm, struct ag_self_objects *own, jobject object,
			 const char *name, const char *signature)
{
	jclass class = ag_ref_base_class(jvm, object);
	jfieldID field = ag_ref_field(jvm, class, name, signature);
	jobject value = field ? (*jvm->jni)->GetObjectField(jvm->jni, object, field) : NULL;

	ag_ref_drop(jvm, class);
	return value && ag_self_objects_add(jvm, own, value) == 0 ? value : NULL;
}

int ag_self_objects_add_thread(struct ag_jvm *jvm, struct ag_self_objects *own)
{
	jthread thread;
	jobject name;

	if (AG_JVMTI(jvm, GetCurrentThread, &thread) != 0 ||
	    ag_self_objects_add(jvm, own, thread) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(thread_fields) / sizeof(thread_fields[0]); i++)
		(void)add_field(jvm, own, thread, thread_fields[i].name,
				thread_fields[i].signature);
	name = add_field(jvm, own, thread, "name", "Ljava/lang/String;");
	if (name) {
		(void)add_field(jvm, own, name, "value", "[B");
		(void)add_field(jvm, own, name, "value", "[C"); /* before JDK 9 */
	}
	return jvm->err.what ? -1 : 0;
}

int ag_self_objects_subtract(struct ag_jvm *jvm, const struct ag_self_objects *own,
			     struct ag_census *census)
{
	for (uint32_t i = 0; i < own->n; i++) {
		struct ag_tally *t;
		jlong size;

		if (own->rows[i] >= census->n)
			continue;
		t = &census->rows[own->rows[i]].tally;
		if (t->instances == 0)
			continue;
		if (AG_JVMTI(jvm, GetObjectSize, own->objects[i], &size) != 0)
			return -1;
		t->instances--;
		t->bytes -= (uint64_t)size;
	}
	return 0;
}
