/* CAPTURE: class files, and the code in the JVM's memory where that is another. */
#include <string.h>

#include "classfile/code.h"
#include "cmd/cmd.h"
#include "jvm/capture.h"
#include "jvm/classes.h"
#include "jvm/ref.h"
#include "jvm/roster.h"

struct telling {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	uint32_t flags;
	struct ag_capture *capture; /* NULL: it did harm */
	/* of the class that is told of */
	uint32_t number;
	jclass class;
};

/* A class file whose methods are looked up, most often in their order. */
struct file {
	struct cf_class class;
	struct cf_members next;
};

/* The middle one is a method's ACC_BRIDGE. */
#define OVERPASS (CF_ACC_PUBLIC | CF_ACC_VOLATILE | CF_ACC_SYNTHETIC)

static int tell_bytes(struct ag_chan *chan, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		size_t n = len < WIRE_PIECE ? len : WIRE_PIECE;
		struct wire_writer *w = ag_chan_begin(chan);

		wire_put_text(w, at, n);
		if (ag_chan_end(chan, WIRE_BYTES) != 0)
			return -1;
		at += n;
		len -= n;
	}
	return 0;
}

static int tell_captured(const struct telling *t, const struct ag_captured *captured)
{
	bool whole = captured->outcome == WIRE_CAPTURED_FILE;
	size_t len = whole ? t->capture->len : 0;
	struct wire_writer *w = ag_chan_begin(t->chan);

	wire_put_u32(w, t->number);
	wire_put_u32(w, captured->outcome);
	wire_put_i32(w, (int32_t)captured->code);
	wire_put_u32(w, (uint32_t)len);
	if (ag_chan_end(t->chan, WIRE_CAPTURED) != 0)
		return -1;
	return whole ? tell_bytes(t->chan, t->capture->bytes, len) : 0;
}

static int tell_pool(const struct telling *t)
{
	unsigned char *bytes = NULL;
	jint count = 0, len = 0;
	struct wire_writer *w;
	int rc;

	if (AG_TI(t->jvm, GetConstantPool, t->class, &count, &len, &bytes) != 0)
		return -1;
	w = ag_chan_begin(t->chan);
	wire_put_u32(w, t->number);
	wire_put_u32(w, (uint32_t)count);
	wire_put_u32(w, (uint32_t)len);
	rc = ag_chan_end(t->chan, WIRE_MEMORY);
	if (rc == 0)
		rc = tell_bytes(t->chan, bytes, (size_t)len);
	ag_ti_free(t->jvm, bytes);
	return rc;
}

struct method {
	jmethodID id;
	char *name, *descriptor; /* JVMTI's memory, as is the code */
	unsigned char *code;
	jint len, modifiers;
};

static int tell_method(const struct telling *t, const struct method *m)
{
	struct wire_writer *w = ag_chan_begin(t->chan);

	wire_put_u32(w, (uint32_t)m->modifiers);
	wire_put_text(w, m->name, strlen(m->name));
	wire_put_text(w, m->descriptor, strlen(m->descriptor));
	wire_put_u32(w, (uint32_t)m->len);
	if (ag_chan_end(t->chan, WIRE_MEMORY_METHOD) != 0)
		return -1;
	return tell_bytes(t->chan, m->code, (size_t)m->len);
}

/* The method without code, when it has none.  -1. */
static int load_method(struct ag_jvm *jvm, struct method *m)
{
	jvmtiError code = (*jvm->ti)->GetBytecodes(jvm->ti, m->id, &m->len, &m->code);

	/* The latter: it was deleted by a redefinition just now, which up to JDK 11 may be. */
	if (code == JVMTI_ERROR_NATIVE_METHOD || code == JVMTI_ERROR_INVALID_METHODID)
		return 0;
	if (ag_ti_check(jvm, "GetBytecodes", code) != 0)
		return -1;
	if (m->len == 0)
		return 0;
	if (AG_TI(jvm, GetMethodModifiers, m->id, &m->modifiers) != 0)
		return -1;
	return AG_TI(jvm, GetMethodName, m->id, &m->name, &m->descriptor, NULL);
}

static void release_method(struct ag_jvm *jvm, struct method *m)
{
	ag_ti_free(jvm, m->name);
	ag_ti_free(jvm, m->descriptor);
	ag_ti_free(jvm, m->code);
}

static bool is_called(const struct cf_member *member, const struct method *m)
{
	return cf_text_is(member->name, m->name) && cf_text_is(member->descriptor, m->descriptor);
}

/*
 * From where the last one was found on, and once around: HotSpot writes methods in the order in
 * which it tells them, but the bytes that it kept of a class have the compiler's.
 */
static bool find_member(struct file *f, const struct method *m, struct cf_member *member)
{
	for (int round = 0; round < 2; round++) {
		while (cf_next_member(&f->next, member)) {
			if (is_called(member, m))
				return true;
		}
		f->next = cf_methods(&f->class);
	}
	return false;
}

static bool has_code(const struct cf_member *member, const struct method *m)
{
	struct cf_code code;

	return cf_code(member, &code) && code.len == (uint32_t)m->len &&
	       memcmp(code.code, m->code, code.len) == 0;
}

/*
 * Is there nothing to tell of it?  JDK 8 tells methods that no class file has: those that the
 * JVM itself made up to find a default method by, or none (defaultMethods.cpp, "overpass").
 */
static bool is_as_in_file(const struct telling *t, struct file *f, const struct method *m)
{
	struct cf_member member;

	if (!find_member(f, m, &member))
		return (m->modifiers & OVERPASS) == OVERPASS;
	return !(t->flags & WIRE_CAPTURE_MEMORY) && has_code(&member, m);
}

/* *told: the constant pool is already. */
static int look_at_method(const struct telling *t, struct file *file, jmethodID id, bool *told)
{
	struct method m = { .id = id };
	int rc = load_method(t->jvm, &m);

	if (rc == 0 && m.name && !(file && is_as_in_file(t, file, &m))) {
		if (!*told)
			rc = tell_pool(t);
		*told = true;
		if (rc == 0)
			rc = tell_method(t, &m);
	}
	release_method(t->jvm, &m);
	return rc;
}

/* file NULL: every method is told. */
static int look_at_methods(const struct telling *t, struct file *file)
{
	jmethodID *ids = NULL;
	bool told = false;
	jvmtiError code;
	jint n = 0;
	int rc = 0;

	code = (*t->jvm->ti)->GetClassMethods(t->jvm->ti, t->class, &n, &ids);
	if (code == JVMTI_ERROR_CLASS_NOT_PREPARED)
		return 0; /* it never ran, so nothing was changed */
	if (ag_ti_check(t->jvm, "GetClassMethods", code) != 0)
		return -1;
	for (jint i = 0; i < n && rc == 0; i++)
		rc = look_at_method(t, file, ids[i], &told);
	ag_ti_free(t->jvm, ids);
	return rc;
}

/* captured: there is a class file to compare with. */
static int tell_memory(const struct telling *t, bool captured)
{
	struct file file;
	int rc;

	/* Bytes that cannot be read are not those that run. */
	if (!captured || cf_open(&file.class, t->capture->bytes, t->capture->len, t->jvm->mem))
		return look_at_methods(t, NULL);
	file.next = cf_methods(&file.class);
	rc = look_at_methods(t, &file);
	cf_release(&file.class);
	return rc;
}

static int find_out(const struct telling *t, struct ag_captured *captured)
{
	char *signature;
	int rc;

	if (t->capture)
		return ag_capture_class(t->jvm, t->capture, t->class, captured);
	signature = ag_class_signature(t->jvm, t->class);
	if (!signature)
		return -1;
	rc = ag_capture_can(t->jvm, t->class, signature, captured);
	ag_ti_free(t->jvm, signature);
	if (rc > 0)
		captured->outcome = WIRE_CAPTURED_NOT_ASKED;
	return rc < 0 ? -1 : 0;
}

static int tell_class(struct telling *t)
{
	struct ag_captured captured;

	if (find_out(t, &captured) != 0 || tell_captured(t, &captured) != 0)
		return -1;
	switch (captured.outcome) {
	case WIRE_CAPTURED_FILE:
		return tell_memory(t, true);
	case WIRE_CAPTURED_ARRAY:
	case WIRE_CAPTURED_ANONYMOUS: /* not to be touched */
		return 0;
	case WIRE_CAPTURED_REAL:
		t->capture = NULL; /* whatever it is that hinders us, it is not to do more harm */
		return 0;
	default:
		return t->flags & WIRE_CAPTURE_MEMORY ? tell_memory(t, false) : 0;
	}
}

static int tell_classes(struct telling *t, struct wire_reader *request)
{
	uint32_t n = wire_get_u32(request);
	int64_t begin = ag_now_ns();
	struct wire_writer *w;

	for (uint32_t i = 0; i < n; i++) {
		t->number = wire_get_u32(request);
		if (!wire_reader_ok(request))
			return ag_fail(t->jvm, "read the request", "it is not complete");
		t->class = ag_roster_class(t->jvm, t->number);
		if (!t->class || tell_class(t) != 0)
			return -1;
	}
	w = ag_chan_begin(t->chan);
	wire_put_u32(w, n);
	wire_put_u64(w, (uint64_t)(ag_now_ns() - begin));
	return ag_chan_end(t->chan, WIRE_CAPTURE_END);
}

static int tell(struct telling *t, struct wire_reader *request)
{
	struct ag_capture *capture = t->capture;
	int rc;

	if (ag_capture_open(t->jvm, capture) != 0)
		return -1;
	rc = tell_classes(t, request);
	ag_capture_close(t->jvm, capture);
	return rc;
}

int ag_cmd_capture(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	const jvmtiCapabilities reading = { .can_get_bytecodes = 1, .can_get_constant_pool = 1 };
	struct ag_capture capture;
	struct telling t = {
		.jvm = jvm, .chan = chan, .flags = wire_get_u32(request), .capture = &capture,
	};
	int rc = -1;

	if (ag_ref_push(jvm) != 0)
		return -1;
	if (AG_TI(jvm, AddCapabilities, &reading) == 0) {
		rc = tell(&t, request);
		(void)AG_TI(jvm, RelinquishCapabilities, &reading); /* the error is recorded */
	}
	ag_ref_pop(jvm);
	return rc;
}
