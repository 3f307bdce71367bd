/* CLASS: one class in full, as the JVM tells it without the class file. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/places.h"
#include "jvm/capture.h"
#include "jvm/ref.h"
#include "jvm/roster.h"
#include "wire/frame.h"

#define SUPERCLASS 0
#define INTERFACE 1

struct telling {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct ag_places places; /* the roster's: loaders go by the same numbers as in the list */
	jclass class;
	char *signature; /* JVMTI's memory */
};

/*
 * What cannot be told of this class: it is not linked yet, or has no such thing.  That is no
 * error; another one is recorded.
 */
static bool is_absent(struct ag_jvm *jvm, const char *what, jvmtiError code)
{
	if (code == JVMTI_ERROR_CLASS_NOT_PREPARED || code == JVMTI_ERROR_ABSENT_INFORMATION)
		return true;
	(void)ag_ti_check(jvm, what, code);
	return false;
}

static void put_text(struct wire_writer *w, const char *text)
{
	wire_put_text(w, text ? text : "", text ? strlen(text) : 0);
}

static int tell_super(struct telling *t, uint32_t how, jclass super)
{
	char *signature = ag_class_signature(t->jvm, super);
	struct ag_where where;
	struct wire_writer *w;
	int rc = -1;

	if (signature && ag_places_find(&t->places, super, &where) == 0) {
		w = ag_chan_begin(t->chan);
		wire_put_u32(w, how);
		wire_put_u32(w, where.loader);
		put_text(w, signature);
		rc = ag_chan_end(t->chan, WIRE_CLASS_SUPER);
	}
	ag_ti_free(t->jvm, signature);
	return rc;
}

static int tell_superclasses(struct telling *t)
{
	jclass super = ag_ref_super(t->jvm, t->class);
	int rc = 0;

	while (super && rc == 0) {
		jclass next = ag_ref_super(t->jvm, super);

		rc = tell_super(t, SUPERCLASS, super);
		ag_ref_drop(t->jvm, super);
		super = next;
	}
	ag_ref_drop(t->jvm, super);
	return rc;
}

static int tell_interfaces(struct telling *t)
{
	jclass *list = NULL;
	jint n = 0;
	jvmtiError code = (*t->jvm->ti)->GetImplementedInterfaces(t->jvm->ti, t->class, &n, &list);
	int rc = 0;

	if (code != JVMTI_ERROR_NONE)
		return is_absent(t->jvm, "GetImplementedInterfaces", code) ? 0 : -1;
	for (jint i = 0; i < n; i++) {
		if (rc == 0)
			rc = tell_super(t, INTERFACE, list[i]);
		ag_ref_drop(t->jvm, list[i]);
	}
	ag_ti_free(t->jvm, list);
	return rc;
}

/* A field or a method: JVMTI's memory. */
struct member {
	jint modifiers;
	char *name, *descriptor, *generic;
};

static int tell_member(struct telling *t, uint16_t frame, int rc, struct member *m)
{
	struct wire_writer *w;

	if (rc == 0) {
		w = ag_chan_begin(t->chan);
		wire_put_u32(w, (uint32_t)m->modifiers);
		put_text(w, m->name);
		put_text(w, m->descriptor);
		put_text(w, m->generic);
		rc = ag_chan_end(t->chan, frame);
	}
	ag_ti_free(t->jvm, m->name);
	ag_ti_free(t->jvm, m->descriptor);
	ag_ti_free(t->jvm, m->generic);
	return rc;
}

static int tell_field(struct telling *t, jfieldID id)
{
	struct member m = { 0 };
	int rc = AG_TI(t->jvm, GetFieldName, t->class, id, &m.name, &m.descriptor, &m.generic);

	if (rc == 0)
		rc = AG_TI(t->jvm, GetFieldModifiers, t->class, id, &m.modifiers);
	return tell_member(t, WIRE_CLASS_FIELD, rc, &m);
}

static int tell_method(struct telling *t, jmethodID id)
{
	struct member m = { 0 };
	jvmtiError code = (*t->jvm->ti)->GetMethodName(t->jvm->ti, id, &m.name, &m.descriptor,
						       &m.generic);
	int rc;

	/* It was deleted by a redefinition just now, which up to JDK 11 may be. */
	if (code == JVMTI_ERROR_INVALID_METHODID)
		return 0;
	rc = ag_ti_check(t->jvm, "GetMethodName", code);
	if (rc == 0)
		rc = AG_TI(t->jvm, GetMethodModifiers, id, &m.modifiers);
	return tell_member(t, WIRE_CLASS_METHOD, rc, &m);
}

static int tell_fields(struct telling *t)
{
	jfieldID *ids = NULL;
	jint n = 0;
	jvmtiError code = (*t->jvm->ti)->GetClassFields(t->jvm->ti, t->class, &n, &ids);
	int rc = 0;

	if (code != JVMTI_ERROR_NONE)
		return is_absent(t->jvm, "GetClassFields", code) ? 0 : -1;
	for (jint i = 0; i < n && rc == 0; i++)
		rc = tell_field(t, ids[i]);
	ag_ti_free(t->jvm, ids);
	return rc;
}

static int tell_methods(struct telling *t)
{
	jmethodID *ids = NULL;
	jint n = 0;
	jvmtiError code = (*t->jvm->ti)->GetClassMethods(t->jvm->ti, t->class, &n, &ids);
	int rc = 0;

	if (code != JVMTI_ERROR_NONE)
		return is_absent(t->jvm, "GetClassMethods", code) ? 0 : -1;
	for (jint i = 0; i < n && rc == 0; i++)
		rc = tell_method(t, ids[i]);
	ag_ti_free(t->jvm, ids);
	return rc;
}

/* Asking for the constants of a VM-anonymous class ends a JVM of JDK 8. */
static int count_constants(struct telling *t, jint *count)
{
	struct ag_captured captured;
	unsigned char *bytes = NULL;
	jvmtiError code;
	jint len;

	*count = 0;
	if (ag_capture_can(t->jvm, t->class, t->signature, &captured) < 0)
		return -1;
	if (captured.outcome == WIRE_CAPTURED_ARRAY ||
	    captured.outcome == WIRE_CAPTURED_ANONYMOUS)
		return 0;
	code = (*t->jvm->ti)->GetConstantPool(t->jvm->ti, t->class, count, &len, &bytes);
	if (code != JVMTI_ERROR_NONE)
		return is_absent(t->jvm, "GetConstantPool", code) ? 0 : -1;
	ag_ti_free(t->jvm, bytes);
	return 0;
}

static int tell_end(struct telling *t)
{
	jvmtiEnv *ti = t->jvm->ti;
	jint minor = 0, major = 0, constants;
	char *file = NULL;
	struct wire_writer *w;
	jvmtiError code = (*ti)->GetClassVersionNumbers(ti, t->class, &minor, &major);

	if (code != JVMTI_ERROR_NONE && !is_absent(t->jvm, "GetClassVersionNumbers", code))
		return -1;
	code = (*ti)->GetSourceFileName(ti, t->class, &file);
	if (code != JVMTI_ERROR_NONE && !is_absent(t->jvm, "GetSourceFileName", code))
		return -1;
	if (count_constants(t, &constants) != 0) {
		ag_ti_free(t->jvm, file);
		return -1;
	}
	w = ag_chan_begin(t->chan);
	wire_put_u32(w, (uint32_t)major);
	wire_put_u32(w, (uint32_t)minor);
	wire_put_u32(w, (uint32_t)constants);
	put_text(w, file);
	ag_ti_free(t->jvm, file);
	return ag_chan_end(t->chan, WIRE_CLASS_END);
}

static int tell(struct telling *t)
{
	t->signature = ag_class_signature(t->jvm, t->class);
	if (!t->signature)
		return -1;
	if (tell_superclasses(t) != 0 || tell_interfaces(t) != 0 || tell_fields(t) != 0 ||
	    tell_methods(t) != 0)
		return -1;
	return tell_end(t);
}

/* A loader that were new would be the roster's, so no local frame is opened here either. */
int ag_cmd_class(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	const jvmtiCapabilities reading = {
		.can_get_constant_pool = 1,
		.can_get_source_file_name = 1,
	};
	struct telling t = { .jvm = jvm, .chan = chan };
	uint32_t number = wire_get_u32(request);
	int rc;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is not complete");
	t.class = ag_roster_class(jvm, number);
	if (!t.class || AG_TI(jvm, AddCapabilities, &reading) != 0)
		return -1;
	t.places = (struct ag_places){ jvm, chan, &jvm->roster->loaders, NULL, NULL, { 0 } };
	rc = tell(&t);
	ag_ti_free(jvm, t.signature);
	(void)AG_TI(jvm, RelinquishCapabilities, &reading); /* the error is recorded */
	return rc;
}
