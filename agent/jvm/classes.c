#include "jvm/classes.h"

#include <string.h>

#include "jvm/jni_refs.h"
#include "wire/frame.h"

/* class access flags (JVMS table 4.1-B) */
#define ACC_FINAL 0x0010
#define ACC_INTERFACE 0x0200
#define ACC_ENUM 0x4000

bool ag_class_is_hooked(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject loader, bool unknown)
{
	jobject loader_of_class;
	bool same;

	ag_ref_expect_callback(jni);
	if ((*jni)->ExceptionCheck(jni))
		return false;
	if ((*ti)->GetClassLoader(ti, class, &loader_of_class) != JVMTI_ERROR_NONE)
		return unknown;
	same = (*jni)->IsSameObject(jni, loader_of_class, loader);
	if (loader_of_class)
		(*jni)->DeleteLocalRef(jni, loader_of_class);
	return same;
}

int ag_classes_get(struct ag_jvm *jvm, struct ag_classes *classes)
{
	jclass *list = NULL;
	jint n = 0;

	if (AG_JVMTI(jvm, GetLoadedClasses, &n, &list) != 0)
		return -1;
	*classes = (struct ag_classes){ list, (uint32_t)n };
	return 0;
}

void ag_classes_release(struct ag_jvm *jvm, struct ag_classes *classes)
{
	for (uint32_t i = 0; i < classes->n; i++)
		ag_ref_drop(jvm, classes->list[i]);
	ag_jvmti_free(jvm, classes->list);
	*classes = (struct ag_classes){ 0 };
}

char *ag_class_signature(struct ag_jvm *jvm, jclass class)
{
	char *signature = NULL;

	return AG_JVMTI(jvm, GetClassSignature, class, &signature, NULL) == 0 ? signature : NULL;
}

int ag_class_loader(struct ag_jvm *jvm, jclass class, jobject *loader)
{
	return AG_JVMTI(jvm, GetClassLoader, class, loader);
}

int ag_class_module(struct ag_jvm *jvm, jclass class, jobject *module)
{
	*module = NULL;
	/* Before JNI 9 the JVM's table of JNI functions is shorter, and has no GetModule. */
	if ((*jvm->jni)->GetVersion(jvm->jni) < JNI_VERSION_9)
		return 0;
	*module = (*jvm->jni)->GetModule(jvm->jni, class);
	return ag_ref_threw(jvm, "GetModule") ? -1 : 0;
}

static bool extends(struct ag_jvm *jvm, jclass class, const char *signature)
{
	jclass super = ag_ref_super(jvm, class);
	char *super_signature = super ? ag_class_signature(jvm, super) : NULL;
	bool same = super_signature && strcmp(super_signature, signature) == 0;

	ag_jvmti_free(jvm, super_signature);
	ag_ref_drop(jvm, super);
	return same;
}

/*
 * Returns WIRE_CLASS_ENUM or WIRE_CLASS_RECORD for a class for which Class.isEnum() or isRecord()
 * is true, else 0.  ACC_ENUM alone does not decide: the class of an enum constant has this flag,
 * but only the enum itself has the superclass java.lang.Enum.  The superclass is looked up only if
 * the modifiers permit an enum or a record.
 */
static uint32_t special_kind(struct ag_jvm *jvm, jclass class, jint modifiers)
{
	if (modifiers & ACC_ENUM)
		return extends(jvm, class, "Ljava/lang/Enum;") ? WIRE_CLASS_ENUM : 0;
	if (modifiers & ACC_FINAL)
		return extends(jvm, class, "Ljava/lang/Record;") ? WIRE_CLASS_RECORD : 0;
	return 0;
}

int ag_class_traits(struct ag_jvm *jvm, jclass class, const char *signature, jint *modifiers,
		    uint32_t *traits)
{
	jint status;

	if (AG_JVMTI(jvm, GetClassModifiers, class, modifiers) != 0 ||
	    AG_JVMTI(jvm, GetClassStatus, class, &status) != 0)
		return -1;
	if (*signature == '[') {
		*traits = WIRE_CLASS_ARRAY;
		return 0;
	}
	*traits = special_kind(jvm, class, *modifiers);
	if (status & JVMTI_CLASS_STATUS_PREPARED)
		*traits |= WIRE_CLASS_LINKED;
	if (*modifiers & ACC_INTERFACE)
		*traits |= WIRE_CLASS_INTERFACE;
	return jvm->err.what ? -1 : 0;
}

int ag_string_copy(struct ag_jvm *jvm, jstring s, char *text, size_t size)
{
	const jsize max = (jsize)(size - 1) / 3; /* a UTF-16 unit takes three bytes at most */
	jsize len = (*jvm->jni)->GetStringLength(jvm->jni, s);

	memset(text, 0, size); /* JNI does not guarantee a terminating NUL */
	(*jvm->jni)->GetStringUTFRegion(jvm->jni, s, 0, len < max ? len : max, text);
	return ag_ref_threw(jvm, "GetStringUTFRegion") ? -1 : 0;
}

int ag_object_name(struct ag_jvm *jvm, jobject object, char name[AG_NAME_MAX])
{
	jclass class = ag_ref_base_class(jvm, object);
	jfieldID field = ag_ref_field(jvm, class, "name", "Ljava/lang/String;");
	int rc = jvm->err.what ? -1 : 0;
	jobject s;

	*name = '\0';
	ag_ref_drop(jvm, class);
	if (!field)
		return rc;
	s = (*jvm->jni)->GetObjectField(jvm->jni, object, field);
	if (s)
		rc = ag_string_copy(jvm, s, name, AG_NAME_MAX);
	ag_ref_drop(jvm, s);
	return rc;
}

/* Doubles the capacity.  Copies the references, and builds a new map, because a map cannot grow. */
static int ids_grow(struct ag_jvm *jvm, struct ag_ids *ids)
{
	uint32_t cap = ids->cap ? ids->cap * 2 : 16;
	jobject *refs = ag_jvm_alloc(jvm, cap + 1, sizeof(*refs));
	struct ag_class_map map = { 0 };

	if (!refs || ag_class_map_init(&map, jvm->mem, cap) != 0) {
		ag_free(jvm->mem, refs);
		return ag_fail_memory(jvm);
	}
	for (size_t i = 0; i < ag_class_map_slots(&ids->map); i++) {
		if (ids->map.slots[i].key)
			(void)ag_class_map_add(&map, ids->map.slots[i].key,
					       ids->map.slots[i].index);
	}
	if (ids->n)
		memcpy(refs, ids->refs, (ids->n + 1) * sizeof(*refs));
	ag_class_map_release(&ids->map, jvm->mem);
	ag_free(jvm->mem, ids->refs);
	ids->map = map;
	ids->refs = refs;
	ids->cap = cap;
	return 0;
}

static int ids_found(struct ag_jvm *jvm, struct ag_ids *ids, jobject object, uint32_t found,
		     uint32_t *id)
{
	*id = ids->last = found;
	ag_ref_drop(jvm, object);
	return 0;
}

/*
 * Finds the object in the map, or adds it.  The key of an object is its identity hash with the top
 * bit set, because 0 is not a valid key.  If another object already has this key, the object gets
 * the next key that no object has.
 */
int ag_ids_take(struct ag_jvm *jvm, struct ag_ids *ids, jobject object, uint32_t *id, bool *new)
{
	const struct ag_class_slot *slot;
	uint32_t key;
	jint hash;

	*new = false;
	*id = 0;
	if (!object)
		return 0;
	/* HotSpot lists classes by loader, so successive calls often pass the same object. */
	if (ids->last && (*jvm->jni)->IsSameObject(jvm->jni, ids->refs[ids->last], object))
		return ids_found(jvm, ids, object, ids->last, id);
	if (AG_JVMTI(jvm, GetObjectHashCode, object, &hash) != 0 ||
	    (ids->n == ids->cap && ids_grow(jvm, ids) != 0)) {
		ag_ref_drop(jvm, object);
		return -1;
	}
	key = (uint32_t)hash | 1u << 31;
	while ((slot = ag_class_map_probe(&ids->map, key))->key) {
		if ((*jvm->jni)->IsSameObject(jvm->jni, ids->refs[slot->index], object))
			return ids_found(jvm, ids, object, slot->index, id);
		key = (key + 1) | 1u << 31;
	}
	*new = true;
	*id = ids->last = ++ids->n;
	ids->refs[*id] = object;
	(void)ag_class_map_add(&ids->map, key, *id); /* cannot fail: a new key, and room for it */
	return 0;
}

void ag_ids_release(struct ag_jvm *jvm, struct ag_ids *ids)
{
	for (uint32_t i = 1; i <= ids->n; i++)
		ag_ref_drop(jvm, ids->refs[i]);
	ag_class_map_release(&ids->map, jvm->mem);
	ag_free(jvm->mem, ids->refs);
	*ids = (struct ag_ids){ 0 };
}

int ag_classes_count_boot(struct ag_jvm *jvm, const struct ag_classes *list, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		jobject loader;

		if (ag_class_loader(jvm, list->list[i], &loader) != 0)
			return -1;
		*n += !loader;
		ag_ref_drop(jvm, loader);
	}
	return 0;
}
