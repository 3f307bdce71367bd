/* CAPTURE: sends class files, and methods whose bytecode in memory differs from the class file. */
#include <string.h>

#include "classfile/code.h"
#include "cmd/command.h"
#include "jvm/capture/capture.h"
#include "jvm/classes.h"
#include "jvm/jni_refs.h"
#include "jvm/class_index.h"

struct reply {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	uint32_t flags;
	struct ag_capture *capture;
	/*
	 * Capture no more class files: a capture must not change a class, but the last one made
	 * the JVM retransform its class.
	 */
	bool changed_class;
	uint32_t number; /* number of the current class */
	jclass class;
};

/* A parsed class file.  A search starts at `next`, the method after the last one found. */
struct file {
	struct cf_class class;
	struct cf_members next;
};

/* Flags of an overpass method, see is_unchanged().  ACC_VOLATILE has the same bit as ACC_BRIDGE. */
#define OVERPASS (CF_ACC_PUBLIC | CF_ACC_VOLATILE | CF_ACC_SYNTHETIC)

static int send_bytes(struct ag_chan *chan, const void *bytes, size_t len)
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

static int send_captured(const struct reply *r, const struct ag_captured *captured)
{
	bool has_file = captured->outcome == WIRE_CAPTURED_FILE;
	size_t len = has_file ? r->capture->len : 0;
	struct wire_writer *w = ag_chan_begin(r->chan);

	wire_put_u32(w, r->number);
	wire_put_u32(w, captured->outcome);
	wire_put_i32(w, (int32_t)captured->code);
	wire_put_u32(w, (uint32_t)len);
	if (ag_chan_end(r->chan, WIRE_CAPTURED) != 0)
		return -1;
	return has_file ? send_bytes(r->chan, r->capture->bytes, len) : 0;
}

static int send_pool(const struct reply *r)
{
	unsigned char *bytes = NULL;
	jint count = 0, len = 0;
	struct wire_writer *w;
	int rc;

	if (AG_JVMTI(r->jvm, GetConstantPool, r->class, &count, &len, &bytes) != 0)
		return -1;
	w = ag_chan_begin(r->chan);
	wire_put_u32(w, r->number);
	wire_put_u32(w, (uint32_t)count);
	wire_put_u32(w, (uint32_t)len);
	rc = ag_chan_end(r->chan, WIRE_MEMORY);
	if (rc == 0)
		rc = send_bytes(r->chan, bytes, (size_t)len);
	ag_jvmti_free(r->jvm, bytes);
	return rc;
}

struct method {
	jmethodID id;
	char *name, *descriptor; /* allocated by JVMTI, like `code` */
	unsigned char *code;
	jint len, modifiers;
};

static int send_method(const struct reply *r, const struct method *m)
{
	struct wire_writer *w = ag_chan_begin(r->chan);

	wire_put_u32(w, (uint32_t)m->modifiers);
	wire_put_text(w, m->name, strlen(m->name));
	wire_put_text(w, m->descriptor, strlen(m->descriptor));
	wire_put_u32(w, (uint32_t)m->len);
	if (ag_chan_end(r->chan, WIRE_MEMORY_METHOD) != 0)
		return -1;
	return send_bytes(r->chan, m->code, (size_t)m->len);
}

/*
 * Reads the code, the modifiers, the name and the descriptor of m->id.  m->name stays NULL if the
 * method has no code or was deleted.  Returns 0, or -1 with the error recorded.
 */
static int load_method(struct ag_jvm *jvm, struct method *m)
{
	jvmtiError code = (*jvm->ti)->GetBytecodes(jvm->ti, m->id, &m->len, &m->code);

	/*
	 * INVALID_METHODID: a concurrent redefinition deleted the method; JDK 8 to 11 allow such
	 * redefinitions.
	 */
	if (code == JVMTI_ERROR_NATIVE_METHOD || code == JVMTI_ERROR_INVALID_METHODID)
		return 0;
	if (ag_jvmti_check(jvm, "GetBytecodes", code) != 0)
		return -1;
	if (m->len == 0)
		return 0;
	if (AG_JVMTI(jvm, GetMethodModifiers, m->id, &m->modifiers) != 0)
		return -1;
	return AG_JVMTI(jvm, GetMethodName, m->id, &m->name, &m->descriptor, NULL);
}

static void release_method(struct ag_jvm *jvm, struct method *m)
{
	ag_jvmti_free(jvm, m->name);
	ag_jvmti_free(jvm, m->descriptor);
	ag_jvmti_free(jvm, m->code);
}

static bool is_same_method(const struct cf_member *member, const struct method *m)
{
	return cf_text_is(member->name, m->name) && cf_text_is(member->descriptor, m->descriptor);
}

/*
 * Searches the file for `m`: from the method after the last match to the end, then once from the
 * start.  In a class file that HotSpot has reconstituted, the methods have the same order as those
 * of GetClassMethods, so the first method that is compared matches.  In a class file that HotSpot
 * has cached, the methods have the compiler's order.
 */
static bool find_member(struct file *f, const struct method *m, struct cf_member *member)
{
	for (int round = 0; round < 2; round++) {
		while (cf_next_member(&f->next, member)) {
			if (is_same_method(member, m))
				return true;
		}
		f->next = cf_methods(&f->class);
	}
	return false;
}

static bool has_same_code(const struct cf_member *member, const struct method *m)
{
	struct cf_code code;

	return cf_code(member, &code) && code.len == (uint32_t)m->len &&
	       memcmp(code.code, m->code, code.len) == 0;
}

/*
 * Returns true if the method need not be sent.  This includes an overpass method, which the JVM
 * generates for a default method (defaultMethods.cpp): such a method is in no class file, but
 * GetClassMethods of JDK 8 returns it.
 */
static bool is_unchanged(const struct reply *r, struct file *f, const struct method *m)
{
	struct cf_member member;

	if (!find_member(f, m, &member))
		return (m->modifiers & OVERPASS) == OVERPASS;
	return !(r->flags & WIRE_CAPTURE_MEMORY) && has_same_code(&member, m);
}

/*
 * Sends a method unless is_unchanged() or the method has no code.  Before the first method, sends
 * the constant pool and sets *pool_sent.
 */
static int send_if_changed(const struct reply *r, struct file *file, jmethodID id, bool *pool_sent)
{
	struct method m = { .id = id };
	int rc = load_method(r->jvm, &m);

	if (rc == 0 && m.name && !(file && is_unchanged(r, file, &m))) {
		if (!*pool_sent)
			rc = send_pool(r);
		*pool_sent = true;
		if (rc == 0)
			rc = send_method(r, &m);
	}
	release_method(r->jvm, &m);
	return rc;
}

/* Sends the methods that differ from those of the class file, or all methods if `file` is NULL. */
static int send_changed_methods(const struct reply *r, struct file *file)
{
	jmethodID *ids = NULL;
	bool pool_sent = false;
	jvmtiError code;
	jint n = 0;
	int rc = 0;

	code = (*r->jvm->ti)->GetClassMethods(r->jvm->ti, r->class, &n, &ids);
	if (code == JVMTI_ERROR_CLASS_NOT_PREPARED)
		return 0; /* the class is not linked yet, so its code is unchanged */
	if (ag_jvmti_check(r->jvm, "GetClassMethods", code) != 0)
		return -1;
	for (jint i = 0; i < n && rc == 0; i++)
		rc = send_if_changed(r, file, ids[i], &pool_sent);
	ag_jvmti_free(r->jvm, ids);
	return rc;
}

/*
 * Sends the methods that differ from the captured class file, or all methods if none was captured.
 */
static int send_memory(const struct reply *r, bool captured)
{
	struct file file;
	int rc;

	/* A malformed class file cannot be compared, so send all methods. */
	if (!captured || cf_open(&file.class, r->capture->bytes, r->capture->len, r->jvm->mem))
		return send_changed_methods(r, NULL);
	file.next = cf_methods(&file.class);
	rc = send_changed_methods(r, &file);
	cf_release(&file.class);
	return rc;
}

static int capture_class(const struct reply *r, struct ag_captured *captured)
{
	char *signature;
	int rc;

	if (!r->changed_class)
		return ag_capture_class(r->jvm, r->capture, r->class, captured);
	signature = ag_class_signature(r->jvm, r->class);
	if (!signature)
		return -1;
	rc = ag_capture_can(r->jvm, r->class, signature, captured);
	ag_jvmti_free(r->jvm, signature);
	if (rc > 0)
		captured->outcome = WIRE_CAPTURED_SKIPPED;
	return rc < 0 ? -1 : 0;
}

static int send_class(struct reply *r)
{
	struct ag_captured captured;

	if (capture_class(r, &captured) != 0 || send_captured(r, &captured) != 0)
		return -1;
	switch (captured.outcome) {
	case WIRE_CAPTURED_FILE:
		return send_memory(r, true);
	case WIRE_CAPTURED_ARRAY:
	case WIRE_CAPTURED_ANONYMOUS: /* JDK 8 would crash, see count_constants() in class.c */
		return 0;
	case WIRE_CAPTURED_RETRANSFORMED:
		r->changed_class = true; /* the JVM would retransform the other classes, too */
		return 0;
	default:
		return r->flags & WIRE_CAPTURE_MEMORY ? send_memory(r, false) : 0;
	}
}

static int send_classes(struct reply *r, struct wire_reader *request)
{
	uint32_t n = wire_get_u32(request);
	int64_t begin = ag_now_ns();
	struct wire_writer *w;

	for (uint32_t i = 0; i < n; i++) {
		r->number = wire_get_u32(request);
		if (!wire_reader_ok(request))
			return ag_fail(r->jvm, "read the request", "it is incomplete");
		r->class = ag_class_index_class(r->jvm, r->number);
		if (!r->class || send_class(r) != 0)
			return -1;
	}
	w = ag_chan_begin(r->chan);
	wire_put_u32(w, n);
	wire_put_u64(w, (uint64_t)(ag_now_ns() - begin));
	return ag_chan_end(r->chan, WIRE_CAPTURE_END);
}

static int run(struct reply *r, struct wire_reader *request)
{
	int rc;

	if (ag_capture_open(r->jvm, r->capture) != 0)
		return -1;
	rc = send_classes(r, request);
	ag_capture_close(r->jvm, r->capture);
	return rc;
}

int ag_cmd_capture(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	const jvmtiCapabilities reading = { .can_get_bytecodes = 1, .can_get_constant_pool = 1 };
	struct ag_capture capture;
	struct reply r = {
		.jvm = jvm, .chan = chan, .flags = wire_get_u32(request), .capture = &capture,
	};
	int rc = -1;

	if (ag_ref_push(jvm) != 0)
		return -1;
	if (AG_JVMTI(jvm, AddCapabilities, &reading) == 0) {
		rc = run(&r, request);
		(void)AG_JVMTI(jvm, RelinquishCapabilities, &reading); /* AG_JVMTI records errors */
	}
	ag_ref_pop(jvm);
	return rc;
}
