/* CODE: sends the map of the JVM's code cache. */
#include <string.h>

#include "cmd/command.h"
#include "cmd/row_batch.h"
#include "jvm/code_map.h"
#include "jvm/jni_refs.h"

struct sender {
	struct ag_jvm *jvm;
	struct ag_row_batch batch;
	uint32_t n, n_unloaded;
};

/* The names of a method: JVMTI memory. */
struct names {
	char *class, *method, *descriptor;
};

/*
 * Returns 1 with the names of a method; or 0 if its class was unloaded after the replay; or -1 with
 * the error recorded.  The caller frees the names in any case.
 */
static int find_names(struct ag_jvm *jvm, jmethodID method, struct names *names)
{
	jvmtiEnv *ti = jvm->ti;
	jclass class = NULL;
	jvmtiError code;

	code = (*ti)->GetMethodName(ti, method, &names->method, &names->descriptor, NULL);
	if (code == JVMTI_ERROR_NONE)
		code = (*ti)->GetMethodDeclaringClass(ti, method, &class);
	if (code == JVMTI_ERROR_NONE)
		code = (*ti)->GetClassSignature(ti, class, &names->class, NULL);
	ag_ref_drop(jvm, class);
	if (code == JVMTI_ERROR_INVALID_METHODID)
		return 0;
	return ag_jvmti_check(jvm, "look up the names of a method", code) == 0 ? 1 : -1;
}

static void free_names(struct ag_jvm *jvm, const struct names *names)
{
	ag_jvmti_free(jvm, names->class);
	ag_jvmti_free(jvm, names->method);
	ag_jvmti_free(jvm, names->descriptor);
}

static int put_row(struct sender *s, const struct ag_code *code, struct wire_text class,
		   struct wire_text name, struct wire_text descriptor)
{
	size_t len = 8 + 4 + 3 * 4 + class.len + name.len + descriptor.len;
	struct wire_writer *w = ag_row_batch_row(&s->batch, len);

	if (!w)
		return -1;
	wire_put_u64(w, code->address);
	wire_put_u32(w, code->size);
	wire_put_text(w, class.data, class.len);
	wire_put_text(w, name.data, name.len);
	wire_put_text(w, descriptor.data, descriptor.len);
	s->n++;
	return 0;
}

static struct wire_text text_of(const char *text)
{
	return (struct wire_text){ text, strlen(text) };
}

static int put_own(struct sender *s, const struct ag_code *code, struct wire_text name)
{
	const struct wire_text none = { "", 0 };

	return put_row(s, code, none, name, none);
}

/*
 * Returns true for an intrinsic of a signature-polymorphic method, such as invokeBasic() and
 * linkToStatic().  HotSpot has several of each, and gives all of them the jmethodID of the first:
 * they share an idnum (ConstMethod), so their names are wrong.  The other methods of this class
 * have bytecode.
 */
static bool is_intrinsic(const struct ag_code *code, const struct names *names)
{
	return code->is_native && strcmp(names->class, "Ljava/lang/invoke/MethodHandle;") == 0;
}

static int send_method(struct sender *s, const struct ag_code *code)
{
	struct names names = { NULL, NULL, NULL };
	int rc = find_names(s->jvm, code->method, &names);

	if (rc > 0 && is_intrinsic(code, &names))
		rc = put_own(s, code, text_of("method handle intrinsic"));
	else if (rc > 0)
		rc = put_row(s, code, text_of(names.class), text_of(names.method),
			     text_of(names.descriptor));
	else if (rc == 0)
		s->n_unloaded++;
	free_names(s->jvm, &names);
	return rc;
}

static int send_all(struct sender *s, const struct ag_code_map *map)
{
	struct ag_code_cursor cursor = { .block = map->first };
	const struct ag_code *code;
	struct wire_writer *w;

	while ((code = ag_code_map_next(&cursor))) {
		const struct wire_text name = { code->name, code->name_len };

		if ((code->method ? send_method(s, code) : put_own(s, code, name)) < 0)
			return -1;
	}
	if (ag_row_batch_end(&s->batch) != 0)
		return -1;
	w = ag_chan_begin(s->batch.chan);
	wire_put_u32(w, s->n);
	wire_put_u32(w, s->n_unloaded);
	return ag_chan_end(s->batch.chan, WIRE_CODE_END);
}

int ag_cmd_code(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	struct sender sender = { .jvm = jvm, .batch = { .chan = chan, .type = WIRE_CODE_ROWS } };
	struct ag_code_map map;
	int rc;

	(void)request; /* empty */
	if (ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_code_map_read(jvm, &map);
	if (rc == 0)
		rc = send_all(&sender, &map);
	ag_code_map_release(&map);
	ag_ref_pop(jvm);
	return rc;
}
