#include "jvm/class_index.h"

#include <string.h>

#include "util/mem.h"

struct ag_class_index *ag_class_index(struct ag_jvm *jvm)
{
	if (!jvm->class_index)
		jvm->class_index = ag_jvm_alloc(jvm, 1, sizeof(*jvm->class_index));
	return jvm->class_index;
}

jclass ag_class_index_class(struct ag_jvm *jvm, uint32_t number)
{
	const struct ag_class_index *index = jvm->class_index;

	if (!index || number >= index->classes.n)
		(void)ag_fail(jvm, "find the class", "its number is unknown");
	else if (!index->classes.list[number])
		(void)ag_fail(jvm, "find the class", "it was unloaded");
	else
		return index->classes.list[number];
	return NULL;
}

int ag_class_index_extend(struct ag_jvm *jvm, const jclass *more, uint32_t n)
{
	struct ag_classes *classes = &jvm->class_index->classes;
	jlong size = (jlong)(((size_t)classes->n + n) * sizeof(*classes->list));
	unsigned char *memory = NULL;

	if (AG_JVMTI(jvm, Allocate, size, &memory) != 0)
		return -1;
	memcpy(memory, classes->list, classes->n * sizeof(*classes->list));
	memcpy(memory + classes->n * sizeof(*classes->list), more, n * sizeof(*more));
	ag_jvmti_free(jvm, classes->list);
	classes->list = (jclass *)memory;
	classes->n += n;
	return 0;
}

void ag_class_index_release(struct ag_jvm *jvm)
{
	struct ag_class_index *index = jvm->class_index;

	if (!index)
		return;
	ag_classes_release(jvm, &index->classes);
	ag_ids_release(jvm, &index->loaders);
	ag_ids_release(jvm, &index->modules);
	ag_ids_release(jvm, &index->sources);
	ag_free(jvm->mem, index);
	jvm->class_index = NULL;
}
