/*
 * Reads the instance fields that java.lang.Class itself declares, such as names, reflection data
 * and ClassValues.  When HotSpot visits a java.lang.Class, it does not report the references in
 * these fields (VM_HeapWalkOperation::iterate_over_class), nor objects that are reachable only
 * through them.  So the agent reads the fields before the walk, and writes them to the heap stream
 * when the walk visits the java.lang.Class.
 */
#include <string.h>

#include "jvm/graph/graph_walk.h"
#include "jvm/jni_refs.h"

#define ACC_STATIC 0x0008 /* JVMS 4.5 */

struct fields {
	jfieldID ids[AG_MIRROR_FIELDS];
	uint32_t indices[AG_MIRROR_FIELDS];
	/* values of the previous java.lang.Class; the next one often refers to the same objects */
	jobject last[AG_MIRROR_FIELDS];
	uint32_t n;
};

/*
 * Returns true for an instance field of a reference type, except the two fields whose values
 * HotSpot reports in the walk.
 */
static bool is_wanted(const char *name, const char *signature, jint modifiers)
{
	if (modifiers & ACC_STATIC || (*signature != 'L' && *signature != '['))
		return false;
	return strcmp(name, "classLoader") != 0 && strcmp(name, "protectionDomain") != 0;
}

static int add_field(struct ag_jvm *jvm, struct fields *fields, jclass class, jfieldID id,
		     uint32_t index)
{
	char *name = NULL, *signature = NULL;
	jint modifiers;
	int rc = -1;

	if (AG_JVMTI(jvm, GetFieldName, class, id, &name, &signature, NULL) == 0 &&
	    AG_JVMTI(jvm, GetFieldModifiers, class, id, &modifiers) == 0) {
		rc = 0;
		if (is_wanted(name, signature, modifiers) && fields->n < AG_MIRROR_FIELDS) {
			fields->ids[fields->n] = id;
			fields->indices[fields->n++] = index;
		}
	}
	ag_jvmti_free(jvm, name);
	ag_jvmti_free(jvm, signature);
	return rc;
}

static int find_fields(struct ag_jvm *jvm, struct fields *fields, jclass class)
{
	jfieldID *ids = NULL;
	uint32_t base = 0;
	jint n = 0;
	int rc;

	if (ag_graph_interface_fields(jvm, class, &base) != 0 ||
	    AG_JVMTI(jvm, GetClassFields, class, &n, &ids) != 0)
		return -1;
	rc = 0;
	for (jint i = 0; i < n && rc == 0; i++)
		rc = add_field(jvm, fields, class, ids[i], base + (uint32_t)i);
	ag_jvmti_free(jvm, ids);
	return rc;
}

/*
 * Returns a local reference to the value of field i of a java.lang.Class, or NULL.  If the previous
 * value, fields->last[i], is the same object, returns that reference and creates no other.
 */
static jobject value_of(struct ag_jvm *jvm, struct fields *fields, jclass class, uint32_t i)
{
	jobject value = (*jvm->jni)->GetObjectField(jvm->jni, class, fields->ids[i]);

	if (!value)
		return NULL;
	if (fields->last[i] &&
	    (*jvm->jni)->IsSameObject(jvm->jni, value, fields->last[i])) {
		ag_ref_drop(jvm, value);
		return fields->last[i];
	}
	fields->last[i] = value;
	return value;
}

static int grow(struct ag_jvm *jvm, struct ag_mirrors *m)
{
	uint32_t cap = m->cap ? m->cap * 2 : 1024;
	struct ag_mirror_field *list = ag_jvm_alloc(jvm, cap, sizeof(*list));

	if (!list)
		return -1;
	if (m->n)
		memcpy(list, m->list, m->n * sizeof(*list));
	ag_free(jvm->mem, m->list);
	m->list = list;
	m->cap = cap;
	return ag_ref_expect(jvm, (jint)cap);
}

static int read_class(struct ag_jvm *jvm, struct ag_mirrors *m, struct fields *fields,
		      jclass class)
{
	for (uint32_t i = 0; i < fields->n; i++) {
		jobject last = fields->last[i], value;

		if (m->n == m->cap && grow(jvm, m) != 0)
			return -1;
		value = value_of(jvm, fields, class, i);
		if (value)
			m->list[m->n++] = (struct ag_mirror_field){
				value, fields->indices[i], value != last,
			};
	}
	return 0;
}

int ag_mirrors_read(struct ag_jvm *jvm, const struct ag_classes *classes, struct ag_mirrors *m)
{
	struct fields fields = { .n = 0 };
	jclass class = ag_ref_class(jvm, classes->list[0]);
	int rc = find_fields(jvm, &fields, class);

	ag_ref_drop(jvm, class);
	m->first = ag_jvm_alloc(jvm, (size_t)classes->n + 1, sizeof(*m->first));
	if (!m->first)
		return -1;
	for (uint32_t i = 0; i < classes->n && rc == 0; i++) {
		if (classes->list[i])
			rc = read_class(jvm, m, &fields, classes->list[i]);
		m->first[i + 1] = m->n;
	}
	return rc;
}

void ag_mirrors_release(struct ag_jvm *jvm, struct ag_mirrors *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->list[i].owns_ref)
			ag_ref_drop(jvm, m->list[i].object);
	}
	ag_free(jvm->mem, m->list);
	ag_free(jvm->mem, m->first);
	*m = (struct ag_mirrors){ 0 };
}
