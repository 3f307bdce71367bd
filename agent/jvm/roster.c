#include "jvm/roster.h"

#include "base/mem.h"

struct ag_roster *ag_roster(struct ag_jvm *jvm)
{
	if (!jvm->roster)
		jvm->roster = ag_jvm_alloc(jvm, 1, sizeof(*jvm->roster));
	return jvm->roster;
}

jclass ag_roster_class(struct ag_jvm *jvm, uint32_t number)
{
	if (jvm->roster && number < jvm->roster->classes.n)
		return jvm->roster->classes.list[number];
	(void)ag_fail(jvm, "find the class", "the client was told of none with this number");
	return NULL;
}

void ag_roster_release(struct ag_jvm *jvm)
{
	struct ag_roster *roster = jvm->roster;

	if (!roster)
		return;
	ag_classes_release(jvm, &roster->classes);
	ag_ids_release(jvm, &roster->loaders);
	ag_ids_release(jvm, &roster->modules);
	ag_ids_release(jvm, &roster->sources);
	ag_free(jvm->mem, roster);
	jvm->roster = NULL;
}
