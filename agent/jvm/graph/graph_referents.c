/*
 * Finds the subclasses of java.lang.ref.Reference, and for each of them the index of the field
 * `referent`.  The walk needs the index to recognise the field, because JVMTI reports a reference
 * from `referent` like a reference from any other field.
 */
#include <string.h>

#include "jvm/graph/graph_walk.h"
#include "jvm/jni_refs.h"

#define INTERFACES_MAX 128

static const struct {
	const char *signature;
	unsigned strength;
} kinds[] = {
	{ "Ljava/lang/ref/SoftReference;", HEAP_STREAM_SOFT },
	{ "Ljava/lang/ref/WeakReference;", HEAP_STREAM_WEAK },
	{ "Ljava/lang/ref/FinalReference;", HEAP_STREAM_FINAL },
	{ "Ljava/lang/ref/PhantomReference;", HEAP_STREAM_PHANTOM },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct search {
	struct ag_jvm *jvm;
	jclass reference, of_kind[KINDS]; /* JNI references, owned by the class list */
	uint32_t position;                /* index of `referent` in Reference's declared fields */
};

/*
 * Stores `class` in *f if it is java.lang.ref.Reference or one of the subclasses in `kinds`.
 * Comparing names is enough, because application loaders cannot define classes in java.*.
 */
static int find_kind(struct search *f, jclass class)
{
	char *signature = ag_class_signature(f->jvm, class);

	if (!signature)
		return -1;
	if (strcmp(signature, "Ljava/lang/ref/Reference;") == 0)
		f->reference = class;
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(signature, kinds[i].signature) == 0)
			f->of_kind[i] = class;
	}
	ag_jvmti_free(f->jvm, signature);
	return 0;
}

static int find_kinds(struct search *f, const struct ag_classes *classes)
{
	for (uint32_t i = 0; i < classes->n; i++) {
		if (classes->list[i] && find_kind(f, classes->list[i]) != 0)
			return -1;
	}
	for (size_t i = 0; i < KINDS; i++) {
		if (!f->of_kind[i])
			return ag_fail(f->jvm, "find java.lang.ref.*Reference",
				       "they are not loaded");
	}
	if (f->reference)
		return 0;
	return ag_fail(f->jvm, "find java.lang.ref.Reference", "it is not loaded");
}

static int find_position(struct search *f)
{
	jfieldID referent = ag_ref_field(f->jvm, f->reference, "referent", "Ljava/lang/Object;");
	jfieldID *fields = NULL;
	jint n = 0;

	if (!referent)
		return ag_fail(f->jvm, "find the referent of a reference",
			       "there is no such field");
	if (AG_JVMTI(f->jvm, GetClassFields, f->reference, &n, &fields) != 0)
		return -1;
	for (jint i = 0; i < n; i++) {
		if (fields[i] == referent)
			f->position = (uint32_t)i;
	}
	ag_jvmti_free(f->jvm, fields);
	return 0;
}

/* A set of interfaces: each interface is in `list` only once, as a local reference. */
struct interfaces {
	jclass list[INTERFACES_MAX];
	uint32_t n;
};

static bool is_in(struct ag_jvm *jvm, const struct interfaces *all, jclass class)
{
	for (uint32_t i = 0; i < all->n; i++) {
		if ((*jvm->jni)->IsSameObject(jvm->jni, all->list[i], class))
			return true;
	}
	return false;
}

/*
 * Adds the interface `class` to the set `all`, unless the set has it.  Takes ownership of the local
 * reference `class` in any case, also if add_interface() fails.
 */
static int add_interface(struct ag_jvm *jvm, struct interfaces *all, jclass class)
{
	bool full = all->n == INTERFACES_MAX;

	if (!full && !is_in(jvm, all, class)) {
		all->list[all->n++] = class;
		return 0;
	}
	ag_ref_drop(jvm, class);
	return full ? ag_fail(jvm, "find the referent of a reference",
			      "its class has too many interfaces") : 0;
}

/* Adds the direct superinterfaces of a class to the set. */
static int add_interfaces(struct ag_jvm *jvm, struct interfaces *all, jclass class)
{
	jclass *list = NULL;
	jint n = 0;
	int rc = 0;

	if (AG_JVMTI(jvm, GetImplementedInterfaces, class, &n, &list) != 0)
		return -1;
	for (jint i = 0; i < n; i++) {
		if (rc == 0)
			rc = add_interface(jvm, all, list[i]);
		else
			ag_ref_drop(jvm, list[i]);
	}
	ag_jvmti_free(jvm, list);
	return rc;
}

/*
 * Adds all interfaces of a class to the set: those that the class and its superclasses implement,
 * and the superinterfaces of these interfaces.
 */
static int gather_interfaces(struct ag_jvm *jvm, struct interfaces *all, jclass class)
{
	jclass super = ag_ref_super(jvm, class);
	int rc = add_interfaces(jvm, all, class);

	while (super && rc == 0) {
		jclass next = ag_ref_super(jvm, super);

		rc = add_interfaces(jvm, all, super);
		ag_ref_drop(jvm, super);
		super = next;
	}
	ag_ref_drop(jvm, super);
	for (uint32_t i = 0; i < all->n && rc == 0; i++)
		rc = add_interfaces(jvm, all, all->list[i]);
	return rc;
}

static int count_fields(struct ag_jvm *jvm, jclass class, uint32_t *count)
{
	jfieldID *fields = NULL;
	jint n = 0;

	if (AG_JVMTI(jvm, GetClassFields, class, &n, &fields) != 0)
		return -1;
	ag_jvmti_free(jvm, fields);
	*count += (uint32_t)n;
	return 0;
}

/*
 * Counts the fields of all interfaces of the class.  The sum is also the index of the first field
 * of the superclass that extends java.lang.Object directly: JVMTI numbers the fields of all
 * interfaces, then those of java.lang.Object (none), then those of this superclass, and so on.
 */
int ag_graph_interface_fields(struct ag_jvm *jvm, jclass class, uint32_t *count)
{
	struct interfaces all = { .n = 0 };
	int rc = gather_interfaces(jvm, &all, class);

	for (uint32_t i = 0; i < all.n; i++) {
		if (rc == 0)
			rc = count_fields(jvm, all.list[i], count);
		ag_ref_drop(jvm, all.list[i]);
	}
	return rc;
}

static bool extends(struct ag_jvm *jvm, jclass class, jclass super)
{
	return (*jvm->jni)->IsAssignableFrom(jvm->jni, class, super);
}

static int find_referent(const struct search *f, jclass class, uint32_t *referent)
{
	uint32_t index = f->position;
	jint status;

	if (!extends(f->jvm, class, f->reference))
		return 0;
	if (AG_JVMTI(f->jvm, GetClassStatus, class, &status) != 0)
		return -1;
	if (!(status & JVMTI_CLASS_STATUS_PREPARED))
		return 0; /* an unprepared class has no instances; JVMTI lists none of its fields */
	if (ag_graph_interface_fields(f->jvm, class, &index) != 0)
		return -1;
	for (size_t i = 0; i < KINDS; i++) {
		if (extends(f->jvm, class, f->of_kind[i]))
			*referent = AG_REFERENT(index, kinds[i].strength);
	}
	return 0;
}

int ag_graph_referents(struct ag_jvm *jvm, const struct ag_classes *classes, uint32_t from,
		       uint32_t *referents)
{
	struct search f = { .jvm = jvm };

	if (find_kinds(&f, classes) != 0 || find_position(&f) != 0)
		return -1;
	for (uint32_t i = from; i < classes->n; i++) {
		referents[i - from] = AG_NO_REFERENT;
		if (classes->list[i] &&
		    find_referent(&f, classes->list[i], &referents[i - from]) != 0)
			return -1;
	}
	return 0;
}
