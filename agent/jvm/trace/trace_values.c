#include "jvm/trace/trace_values.h"

#include <string.h>

#include "wire/value.h"

#define CHARS_AT_ONCE 64

/*
 * The functions put…() append a value or a part of a value.  If the buffer is full, they set
 * to->cut, and the value remains incomplete.  put_array() then ends the array before an incomplete
 * element; for any other value, cut_from() replaces the incomplete value by VALUE_CUT.
 */

static bool put(struct ag_values *to, const void *data, size_t len)
{
	if (to->cut || len > (size_t)(to->end - to->at)) {
		to->cut = true;
		return false;
	}
	memcpy(to->at, data, len);
	to->at += len;
	return true;
}

static bool put_number(struct ag_values *to, uint64_t value, unsigned len)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < len; i++)
		bytes[i] = (uint8_t)(value >> 8 * (len - 1 - i));
	return put(to, bytes, len);
}

static bool put_kind(struct ag_values *to, enum value_kind kind)
{
	return put_number(to, (uint64_t)kind, 1);
}

static void put_primitive(struct ag_values *to, char kind, const jvalue *value)
{
	uint64_t wide;
	uint32_t narrow;

	(void)put_number(to, (uint8_t)kind, 1);
	switch (kind) {
	case 'J':
		(void)put_number(to, (uint64_t)value->j, 8);
		break;
	case 'D':
		memcpy(&wide, &value->d, sizeof(wide));
		(void)put_number(to, wide, 8);
		break;
	case 'F':
		memcpy(&narrow, &value->f, sizeof(narrow));
		(void)put_number(to, narrow, 4);
		break;
	default:
		(void)put_number(to, (uint32_t)value->i, 4);
		break;
	}
}

static char *signature_of(const struct ag_value_context *d, jclass class)
{
	char *signature = NULL;

	if (!class || !ag_hook_has_ti(d) ||
	    (*d->ti)->GetClassSignature(d->ti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return NULL;
	return signature;
}

static void put_class(struct ag_values *to, const char *signature)
{
	size_t len = strlen(signature);

	if (len > UINT16_MAX)
		to->cut = true;
	(void)put_number(to, len, 2);
	(void)put(to, signature, len);
}

static void put_chars(const struct ag_value_context *d, struct ag_values *to, jstring s, jint n)
{
	jchar chars[CHARS_AT_ONCE];

	for (jint from = 0; from < n && !to->cut; from += CHARS_AT_ONCE) {
		jint now = n - from < CHARS_AT_ONCE ? n - from : CHARS_AT_ONCE;

		(*d->jni)->GetStringRegion(d->jni, s, from, now, chars);
		if (ag_hook_threw(d)) {
			to->cut = true;
			return;
		}
		for (jint i = 0; i < now; i++)
			(void)put_number(to, chars[i], 2);
	}
}

static void put_string(const struct ag_value_context *d, struct ag_values *to, jstring s)
{
	jsize len = (*d->jni)->GetStringLength(d->jni, s);
	size_t room = (size_t)(to->end - to->at), n = (size_t)len;

	if (n > d->chars)
		n = d->chars;
	if (room >= 7 && n > (room - 7) / 2)
		n = (room - 7) / 2; /* write as many chars as fit after the header of 7 bytes */
	if (n > UINT16_MAX)
		n = UINT16_MAX;
	(void)put_kind(to, VALUE_STRING);
	(void)put_number(to, (uint32_t)len, 4);
	(void)put_number(to, n, 2);
	put_chars(d, to, s, (jint)n);
}

/* Adds the value of an object's String field, or VALUE_NULL. */
static void put_text(const struct ag_value_context *d, struct ag_values *to, jobject object,
		     jfieldID field)
{
	jstring s = field ? (*d->jni)->GetObjectField(d->jni, object, field) : NULL;

	if (s)
		put_string(d, to, s);
	else
		(void)put_kind(to, VALUE_NULL);
	ag_hook_drop(d, s);
}

static bool put_boxed(const struct ag_value_context *d, struct ag_values *to, jobject object,
		      const char *signature)
{
	JNIEnv *jni = d->jni;
	unsigned i = 0;
	jfieldID field;
	jvalue v = { .j = 0 };

	while (i < AG_BOXES && strcmp(signature, ag_boxes[i].signature) != 0)
		i++;
	if (i == AG_BOXES || !d->java->boxed[i])
		return false;
	field = d->java->boxed[i];
	switch (ag_boxes[i].kind[0]) {
	case 'Z':
		v.i = (*jni)->GetBooleanField(jni, object, field);
		break;
	case 'B':
		/* NOLINTNEXTLINE(bugprone-signed-char-misuse): a Java byte is signed */
		v.i = (*jni)->GetByteField(jni, object, field);
		break;
	case 'C':
		v.i = (*jni)->GetCharField(jni, object, field);
		break;
	case 'S':
		v.i = (*jni)->GetShortField(jni, object, field);
		break;
	case 'I':
		v.i = (*jni)->GetIntField(jni, object, field);
		break;
	case 'J':
		v.j = (*jni)->GetLongField(jni, object, field);
		break;
	case 'F':
		v.f = (*jni)->GetFloatField(jni, object, field);
		break;
	default:
		v.d = (*jni)->GetDoubleField(jni, object, field);
		break;
	}
	(void)put_kind(to, VALUE_BOXED);
	put_primitive(to, ag_boxes[i].kind[0], &v);
	return true;
}

static bool class_is(const struct ag_value_context *d, jclass class, const char *name)
{
	char *signature = signature_of(d, class);
	bool is = signature && strcmp(signature, name) == 0;

	ag_hook_deallocate(d, signature);
	return is;
}

/*
 * Adds an object and returns true if the object is an enum constant; else returns false.  If the
 * constant has a class of its own, because it has a body, writes the enum as its class.
 */
static bool put_enum(const struct ag_value_context *d, struct ag_values *to, jobject object,
		     jclass class, const char *signature)
{
	jclass super = (*d->jni)->GetSuperclass(d->jni, class), next = NULL;
	char *owner = NULL;
	bool is = class_is(d, super, "Ljava/lang/Enum;");

	if (!is && super) {
		next = (*d->jni)->GetSuperclass(d->jni, super);
		is = class_is(d, next, "Ljava/lang/Enum;");
		owner = is ? signature_of(d, super) : NULL;
	}
	if (is) {
		(void)put_kind(to, VALUE_ENUM);
		put_class(to, owner ? owner : signature);
		put_text(d, to, object, d->java->enum_name);
	}
	ag_hook_deallocate(d, owner);
	ag_hook_drop(d, next);
	ag_hook_drop(d, super);
	return is;
}

static void put_plain(const struct ag_value_context *d, struct ag_values *to, jobject object,
		      const char *signature)
{
	jint hash = 0;

	if (!ag_hook_has_ti(d) ||
	    (*d->ti)->GetObjectHashCode(d->ti, object, &hash) != JVMTI_ERROR_NONE) {
		to->cut = true;
		return;
	}
	(void)put_kind(to, VALUE_OBJECT);
	put_class(to, signature);
	(void)put_number(to, (uint32_t)hash, 4);
}

static void put_object(const struct ag_value_context *d, struct ag_values *to, jobject object,
		       unsigned depth);

static void put_element(const struct ag_value_context *d, struct ag_values *to, jobject array,
			char kind, jint i)
{
	JNIEnv *jni = d->jni;
	jvalue v = { .j = 0 };
	jobject element;

	switch (kind) {
	case 'Z':
		(*jni)->GetBooleanArrayRegion(jni, array, i, 1, &v.z);
		v.i = v.z;
		break;
	case 'B':
		(*jni)->GetByteArrayRegion(jni, array, i, 1, &v.b);
		/* NOLINTNEXTLINE(bugprone-signed-char-misuse): a Java byte is signed */
		v.i = v.b;
		break;
	case 'C':
		(*jni)->GetCharArrayRegion(jni, array, i, 1, &v.c);
		v.i = v.c;
		break;
	case 'S':
		(*jni)->GetShortArrayRegion(jni, array, i, 1, &v.s);
		v.i = v.s;
		break;
	case 'I':
		(*jni)->GetIntArrayRegion(jni, array, i, 1, &v.i);
		break;
	case 'J':
		(*jni)->GetLongArrayRegion(jni, array, i, 1, &v.j);
		break;
	case 'F':
		(*jni)->GetFloatArrayRegion(jni, array, i, 1, &v.f);
		break;
	case 'D':
		(*jni)->GetDoubleArrayRegion(jni, array, i, 1, &v.d);
		break;
	default:
		element = (*jni)->GetObjectArrayElement(jni, array, i);
		if (!ag_hook_threw(d))
			put_object(d, to, element, 1);
		ag_hook_drop(d, element);
		return;
	}
	if (ag_hook_threw(d))
		to->cut = true;
	else
		put_primitive(to, kind, &v);
}

/* Adds an array: its class, its length, and as many of its elements as fit. */
static void put_array(const struct ag_value_context *d, struct ag_values *to, jobject array,
		      const char *signature)
{
	jsize len = (*d->jni)->GetArrayLength(d->jni, array);
	jint n = 0, most = len;
	uint8_t *n_at;

	(void)put_kind(to, VALUE_ARRAY);
	put_class(to, signature);
	(void)put_number(to, (uint32_t)len, 4);
	n_at = to->at;
	if (!put_number(to, 0, 2))
		return;
	if ((uint32_t)most > d->elements)
		most = (jint)d->elements;
	if (most > UINT16_MAX)
		most = UINT16_MAX;
	for (; n < most; n++) {
		uint8_t *from = to->at;

		put_element(d, to, array, signature[1], n);
		if (to->cut) {
			to->at = from;
			to->cut = false;
			break;
		}
	}
	n_at[0] = (uint8_t)(n >> 8);
	n_at[1] = (uint8_t)n;
}

static void put_object_of(const struct ag_value_context *d, struct ag_values *to, jobject object,
			  jclass class, const char *signature, unsigned depth)
{
	if (strcmp(signature, "Ljava/lang/String;") == 0)
		put_string(d, to, object);
	else if (signature[0] == '[' && depth == 0)
		put_array(d, to, object, signature);
	else if (signature[0] == '[' || (!put_boxed(d, to, object, signature) &&
					 !put_enum(d, to, object, class, signature)))
		put_plain(d, to, object, signature);
}

static void put_object(const struct ag_value_context *d, struct ag_values *to, jobject object,
		       unsigned depth)
{
	char *signature;
	jclass class;

	if (!object) {
		(void)put_kind(to, VALUE_NULL);
		return;
	}
	class = (*d->jni)->GetObjectClass(d->jni, object);
	signature = signature_of(d, class);
	if (signature)
		put_object_of(d, to, object, class, signature, depth);
	else
		to->cut = true;
	ag_hook_deallocate(d, signature);
	ag_hook_drop(d, class);
}

/* Replaces the bytes from `from` on by VALUE_CUT, for which the caller has reserved a byte. */
static void cut_from(struct ag_values *to, uint8_t *from)
{
	to->at = from;
	to->end++;
	*to->at++ = VALUE_CUT;
	to->end = to->at;
}

void ag_value_put(const struct ag_value_context *d, struct ag_values *to, char kind,
		  const jvalue *value)
{
	uint8_t *from = to->at;

	if (to->cut || to->at == to->end)
		return;
	to->end--;
	if (kind == 'L')
		put_object(d, to, value->l, 0);
	else
		put_primitive(to, kind, value);
	if (to->cut)
		cut_from(to, from);
	else
		to->end++;
}

void ag_value_put_thrown(const struct ag_value_context *d, struct ag_values *to, jobject thrown,
			 bool message)
{
	jclass class = (*d->jni)->GetObjectClass(d->jni, thrown);
	char *signature = signature_of(d, class);
	uint8_t *from = to->at;

	to->end--;
	(void)put_kind(to, VALUE_THROWABLE);
	if (signature)
		put_class(to, signature);
	else
		to->cut = true;
	put_text(d, to, thrown, message ? d->java->message : NULL);
	if (to->cut)
		cut_from(to, from);
	else
		to->end++;
	ag_hook_deallocate(d, signature);
	ag_hook_drop(d, class);
}
