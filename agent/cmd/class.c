/* CLASS: sends what JVMTI reports of one class, without its class file. */
#include <string.h>

#include "cmd/command.h"
#include "cmd/origins_send.h"
#include "jvm/capture/capture.h"
#include "jvm/jni_refs.h"
#include "jvm/class_index.h"
#include "wire/frame.h"

#define SUPERCLASS 0
#define INTERFACE 1

struct reply {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	/* numbers loaders as the class index does, so the numbers are the same as in CLASS_ROWS */
	struct ag_origins origins;
	jclass class;
	char *signature; /* allocated by JVMTI */
};

/*
 * Returns true if `code` means that the class is not linked or lacks the requested information.
 * If `code` is another error, records it.
 */
static bool is_absent(struct ag_jvm *jvm, const char *what, jvmtiError code)
{
	if (code == JVMTI_ERROR_CLASS_NOT_PREPARED || code == JVMTI_ERROR_ABSENT_INFORMATION)
		return true;
	(void)ag_jvmti_check(jvm, what, code);
	return false;
}

static void put_text(struct wire_writer *w, const char *text)
{
	wire_put_text(w, text ? text : "", text ? strlen(text) : 0);
}

static int send_super(struct reply *r, uint32_t relation, jclass super)
{
	char *signature = ag_class_signature(r->jvm, super);
	struct ag_origin origin;
	struct wire_writer *w;
	int rc = -1;

	if (signature && ag_origins_send(&r->origins, super, &origin) == 0) {
		w = ag_chan_begin(r->chan);
		wire_put_u32(w, relation);
		wire_put_u32(w, origin.loader);
		put_text(w, signature);
		rc = ag_chan_end(r->chan, WIRE_CLASS_SUPER);
	}
	ag_jvmti_free(r->jvm, signature);
	return rc;
}

static int send_superclasses(struct reply *r)
{
	jclass super = ag_ref_super(r->jvm, r->class);
	int rc = 0;

	while (super && rc == 0) {
		jclass next = ag_ref_super(r->jvm, super);

		rc = send_super(r, SUPERCLASS, super);
		ag_ref_drop(r->jvm, super);
		super = next;
	}
	ag_ref_drop(r->jvm, super);
	return rc;
}

static int send_interfaces(struct reply *r)
{
	jclass *list = NULL;
	jint n = 0;
	jvmtiError code = (*r->jvm->ti)->GetImplementedInterfaces(r->jvm->ti, r->class, &n, &list);
	int rc = 0;

	if (code != JVMTI_ERROR_NONE)
		return is_absent(r->jvm, "GetImplementedInterfaces", code) ? 0 : -1;
	for (jint i = 0; i < n; i++) {
		if (rc == 0)
			rc = send_super(r, INTERFACE, list[i]);
		ag_ref_drop(r->jvm, list[i]);
	}
	ag_jvmti_free(r->jvm, list);
	return rc;
}

/* A field or a method.  JVMTI has allocated the strings. */
struct member {
	jint modifiers;
	char *name, *descriptor, *generic;
};

static void free_member(struct reply *r, struct member *m)
{
	ag_jvmti_free(r->jvm, m->name);
	ag_jvmti_free(r->jvm, m->descriptor);
	ag_jvmti_free(r->jvm, m->generic);
}

/* Sends the member unless rc is -1, and frees its strings. */
static int send_member(struct reply *r, uint16_t frame, int rc, struct member *m)
{
	struct wire_writer *w;

	if (rc == 0) {
		w = ag_chan_begin(r->chan);
		wire_put_u32(w, (uint32_t)m->modifiers);
		put_text(w, m->name);
		put_text(w, m->descriptor);
		put_text(w, m->generic);
		rc = ag_chan_end(r->chan, frame);
	}
	free_member(r, m);
	return rc;
}

static int send_field(struct reply *r, jfieldID id)
{
	struct member m = { 0 };
	int rc = AG_JVMTI(r->jvm, GetFieldName, r->class, id, &m.name, &m.descriptor, &m.generic);

	if (rc == 0)
		rc = AG_JVMTI(r->jvm, GetFieldModifiers, r->class, id, &m.modifiers);
	return send_member(r, WIRE_CLASS_FIELD, rc, &m);
}

static int send_method(struct reply *r, jmethodID id)
{
	jvmtiEnv *ti = r->jvm->ti;
	struct member m = { 0 };
	const char *what = "GetMethodName";
	jvmtiError code = (*ti)->GetMethodName(ti, id, &m.name, &m.descriptor, &m.generic);

	if (code == JVMTI_ERROR_NONE) {
		what = "GetMethodModifiers";
		code = (*ti)->GetMethodModifiers(ti, id, &m.modifiers);
	}
	/*
	 * INVALID_METHODID, from either call: a concurrent redefinition deleted the method; JDK 8
	 * to 11 allow such redefinitions.
	 */
	if (code == JVMTI_ERROR_INVALID_METHODID) {
		free_member(r, &m);
		return 0;
	}
	return send_member(r, WIRE_CLASS_METHOD, ag_jvmti_check(r->jvm, what, code), &m);
}

static int send_fields(struct reply *r)
{
	jfieldID *ids = NULL;
	jint n = 0;
	jvmtiError code = (*r->jvm->ti)->GetClassFields(r->jvm->ti, r->class, &n, &ids);
	int rc = 0;

	if (code != JVMTI_ERROR_NONE)
		return is_absent(r->jvm, "GetClassFields", code) ? 0 : -1;
	for (jint i = 0; i < n && rc == 0; i++)
		rc = send_field(r, ids[i]);
	ag_jvmti_free(r->jvm, ids);
	return rc;
}

static int send_methods(struct reply *r)
{
	jmethodID *ids = NULL;
	jint n = 0;
	jvmtiError code = (*r->jvm->ti)->GetClassMethods(r->jvm->ti, r->class, &n, &ids);
	int rc = 0;

	if (code != JVMTI_ERROR_NONE)
		return is_absent(r->jvm, "GetClassMethods", code) ? 0 : -1;
	for (jint i = 0; i < n && rc == 0; i++)
		rc = send_method(r, ids[i]);
	ag_jvmti_free(r->jvm, ids);
	return rc;
}

/*
 * Sets *count to the number of entries in the constant pool.  Sets *count to 0 for an array class,
 * which has none, and for a VM-anonymous class, for which GetConstantPool crashes JDK 8.
 */
static int count_constants(struct reply *r, jint *count)
{
	struct ag_captured captured;
	unsigned char *bytes = NULL;
	jvmtiError code;
	jint len;

	*count = 0;
	if (ag_capture_can(r->jvm, r->class, r->signature, &captured) < 0)
		return -1;
	if (captured.outcome == WIRE_CAPTURED_ARRAY ||
	    captured.outcome == WIRE_CAPTURED_ANONYMOUS)
		return 0;
	code = (*r->jvm->ti)->GetConstantPool(r->jvm->ti, r->class, count, &len, &bytes);
	if (code != JVMTI_ERROR_NONE)
		return is_absent(r->jvm, "GetConstantPool", code) ? 0 : -1;
	ag_jvmti_free(r->jvm, bytes);
	return 0;
}

static int send_end(struct reply *r)
{
	jvmtiEnv *ti = r->jvm->ti;
	jint minor = 0, major = 0, constants;
	char *file = NULL;
	struct wire_writer *w;
	jvmtiError code = (*ti)->GetClassVersionNumbers(ti, r->class, &minor, &major);

	if (code != JVMTI_ERROR_NONE && !is_absent(r->jvm, "GetClassVersionNumbers", code))
		return -1;
	code = (*ti)->GetSourceFileName(ti, r->class, &file);
	if (code != JVMTI_ERROR_NONE && !is_absent(r->jvm, "GetSourceFileName", code))
		return -1;
	if (count_constants(r, &constants) != 0) {
		ag_jvmti_free(r->jvm, file);
		return -1;
	}
	w = ag_chan_begin(r->chan);
	wire_put_u32(w, (uint32_t)major);
	wire_put_u32(w, (uint32_t)minor);
	wire_put_u32(w, (uint32_t)constants);
	put_text(w, file);
	ag_jvmti_free(r->jvm, file);
	return ag_chan_end(r->chan, WIRE_CLASS_END);
}

static int send_class(struct reply *r)
{
	r->signature = ag_class_signature(r->jvm, r->class);
	if (!r->signature)
		return -1;
	if (send_superclasses(r) != 0 || send_interfaces(r) != 0 || send_fields(r) != 0 ||
	    send_methods(r) != 0)
		return -1;
	return send_end(r);
}

/*
 * Handles CLASS.  Opens no JNI local frame, because references to new loaders are added to the
 * class index, which outlives the command.
 */
int ag_cmd_class(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	const jvmtiCapabilities reading = {
		.can_get_constant_pool = 1,
		.can_get_source_file_name = 1,
	};
	struct reply r = { .jvm = jvm, .chan = chan };
	uint32_t number = wire_get_u32(request);
	int rc;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is incomplete");
	r.class = ag_class_index_class(jvm, number);
	if (!r.class || AG_JVMTI(jvm, AddCapabilities, &reading) != 0)
		return -1;
	r.origins = (struct ag_origins){ jvm, chan, &jvm->class_index->loaders, NULL, NULL, { 0 } };
	rc = send_class(&r);
	ag_jvmti_free(jvm, r.signature);
	(void)AG_JVMTI(jvm, RelinquishCapabilities, &reading); /* AG_JVMTI records an error */
	return rc;
}
