#include "jvm/own.h"

#include "jvm/ref.h"

/* Fields of Thread in one JDK or another whose objects belong to one thread. */
static const struct {
	const char *name, *signature;
} thread_fields[] = {
	{ "holder", "Ljava/lang/Thread$FieldHolder;" },
	{ "inheritedAccessControlContext", "Ljava/security/AccessControlContext;" },
	{ "blockerLock", "Ljava/lang/Object;" },
	{ "interruptLock", "Ljava/lang/Object;" },
};

int ag_own_add(struct ag_jvm *jvm, struct ag_own *own, jobject object)
{
	if (own->n == AG_OWN_MAX)
		return ag_fail(jvm, "leave the agent's own objects out", "there are too many");
	own->rows[own->n] = UINT32_MAX; /* none */
	own->objects[own->n++] = object;
	return 0;
}

void ag_own_forget(struct ag_jvm *jvm, struct ag_own *own, uint32_t n)
{
	while (own->n > n)
		ag_ref_drop(jvm, own->objects[--own->n]);
}

/* Add what a field of an object refers to, and return it; NULL when there is nothing. */
static jobject add_field(struct ag_jvm *jvm, struct ag_own *own, jobject object,
			 const char *name, const char *signature)
{
	jclass class = ag_ref_base_class(jvm, object);
	jfieldID field = ag_ref_field(jvm, class, name, signature);
	jobject value = field ? (*jvm->jni)->GetObjectField(jvm->jni, object, field) : NULL;

	ag_ref_drop(jvm, class);
	return value && ag_own_add(jvm, own, value) == 0 ? value : NULL;
}

int ag_own_add_thread(struct ag_jvm *jvm, struct ag_own *own)
{
	jthread thread;
	jobject name;

	if (AG_TI(jvm, GetCurrentThread, &thread) != 0 || ag_own_add(jvm, own, thread) != 0)
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

int ag_own_subtract(struct ag_jvm *jvm, const struct ag_own *own, struct ag_census *census)
{
	for (uint32_t i = 0; i < own->n; i++) {
		struct ag_tally *t;
		jlong size;

		if (own->rows[i] >= census->n)
			continue;
		t = &census->rows[own->rows[i]].tally;
		if (t->instances == 0)
			continue;
		if (AG_TI(jvm, GetObjectSize, own->objects[i], &size) != 0)
			return -1;
		t->instances--;
		t->bytes -= (uint64_t)size;
	}
	return 0;
}
