/* Measures the sizes of arrays, which cannot be computed from the JVM's options. */
#include "jvm/alloc/alloc_exact_state.h"
#include "jvm/jni_refs.h"

#define ALIGN_MAX 256 /* limit of -XX:ObjectAlignmentInBytes */
#define REFERENCES 4u /* `type` of an Object[]; 0 to 3: arrays of primitives of 1, 2, 4, 8 bytes */
#define MANY 1000     /* length of the array with which a measured header size is checked */

static jarray new_array(struct ag_jvm *jvm, unsigned type, jclass object, jsize n)
{
	JNIEnv *jni = jvm->jni;

	switch (type) {
	case 0:
		return (*jni)->NewByteArray(jni, n);
	case 1:
		return (*jni)->NewShortArray(jni, n);
	case 2:
		return (*jni)->NewIntArray(jni, n);
	case 3:
		return (*jni)->NewLongArray(jni, n);
	default:
		return (*jni)->NewObjectArray(jni, n, object, NULL);
	}
}

/* Returns the size in bytes of a new array of n elements, or -1 with the error recorded. */
static jlong array_size(struct ag_jvm *jvm, unsigned type, jclass object, jsize n)
{
	jarray array = new_array(jvm, type, object, n);
	jlong size = -1;

	if (ag_ref_threw(jvm, "measure arrays") || !array)
		return -1;
	if (AG_JVMTI(jvm, GetObjectSize, array, &size) != 0)
		size = -1;
	ag_ref_drop(jvm, array);
	return size;
}

/*
 * Returns the smallest length at which an array is larger than an empty array, whose size is
 * `empty`; or 0 with the error recorded.  Stores the size of the larger array in *size.
 */
static jsize first_step(struct ag_jvm *jvm, unsigned type, jclass object, jlong empty, jlong *size)
{
	for (jsize n = 1; n <= ALIGN_MAX; n++) {
		*size = array_size(jvm, type, object, n);
		if (*size < 0)
			return 0;
		if (*size > empty)
			return n;
	}
	(void)ag_fail(jvm, "measure arrays", "their sizes are inconsistent");
	return 0;
}

/*
 * Measures the size of an array's header.  If first_step() returns n, an empty array has unused
 * room for n - 1 elements after its header, because its size is aligned.
 */
static int measure(struct ag_jvm *jvm, struct ag_sizes *sizes, unsigned type, jclass object)
{
	jlong empty = array_size(jvm, type, object, 0), size = 0;
	jlong many = array_size(jvm, type, object, MANY);
	uint32_t shift = type < REFERENCES ? type : many - empty > MANY * 6 ? 3 : 2;
	struct ag_count_cell cell = { .flags = shift };
	jsize n;

	if (empty < 0 || many < 0)
		return -1;
	n = first_step(jvm, type, object, empty, &size);
	if (n == 0)
		return -1;
	if (type == 0)
		sizes->align = (uint64_t)(size - empty) - 1;
	cell.size = (uint32_t)(empty - ((jlong)(n - 1) << shift));
	if (ag_size_of(sizes->align, &cell, MANY) != (uint64_t)many ||
	    ag_size_of(sizes->align, &cell, 0) != (uint64_t)empty)
		return ag_fail(jvm, "measure arrays", "their sizes are inconsistent");
	if (type < REFERENCES) {
		sizes->base[type] = cell.size;
	} else {
		sizes->ref_base = cell.size;
		sizes->ref_shift = shift;
	}
	return 0;
}

int ag_sizes_measure(struct ag_jvm *jvm, struct ag_sizes *sizes)
{
	jclass object = (*jvm->jni)->FindClass(jvm->jni, "java/lang/Object");
	int rc = 0;

	if (ag_ref_threw(jvm, "FindClass") || !object)
		return -1;
	for (unsigned type = 0; type <= REFERENCES && rc == 0; type++)
		rc = measure(jvm, sizes, type, object);
	ag_ref_drop(jvm, object);
	return rc;
}

void ag_sizes_of(const struct ag_sizes *sizes, const char *signature, struct ag_count_cell *cell)
{
	static const char primitives[8] = "ZBCSIFJD"; /* two types each of 1, 2, 4 and 8 bytes */

	cell->flags = sizes->ref_shift;
	cell->size = sizes->ref_base;
	for (uint32_t i = 0; i < sizeof(primitives); i++) {
		if (signature[1] != primitives[i])
			continue;
		cell->flags = i / 2;
		cell->size = sizes->base[i / 2];
	}
}
