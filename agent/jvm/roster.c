#include "jvm/roster.h"

#include <string.h>

#include "base/mem.h"

struct ag_roster *ag_roster(struct ag_jvm *jvm)
{
	if (!jvm->roster)
		jvm->roster = ag_jvm_alloc(jvm, 1, sizeof(*jvm->roster));
	return jvm->roster;
}

jclass ag_roster_class(struct ag_jvm *jvm, uint32_t number)
{
	const struct ag_roster *roster = jvm->roster;

	if (!roster || number >= roster->classes.n)
		(void)ag_fail(jvm, "find the class",
			      "the client was told of none with this number");
	else if (!roster->classes.list[number])
		(void)ag_fail(jvm, "find the class", "it was unloaded");
	else
		return roster->classes.list[number];
	return NULL;
}

int ag_roster_extend(struct ag_jvm *jvm, const jclass *more, uint32_t n)
{
	struct ag_classes *classes = &jvm->roster->classes;
	jlong size = (jlong)(((size_t)classes->n + n) * sizeof(*classes->list));
	unsigned char *memory = NULL;

	if (AG_TI(jvm, Allocate, size, &memory) != 0)
		return -1;
	memcpy(memory, classes->list, classes->n * sizeof(*classes->list));
	memcpy(memory + classes->n * sizeof(*classes->list), more, n * sizeof(*more));
	ag_ti_free(jvm, classes->list);
	classes->list = (jclass *)memory;
	classes->n += n;
	return 0;
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
