#include "cmd/origins_send.h"

#include <string.h>

#include "jvm/jni_refs.h"

static int send_loader(struct ag_origins *p, jobject loader, uint32_t id)
{
	jclass class = ag_ref_class(p->jvm, loader);
	char *signature = ag_class_signature(p->jvm, class);
	char name[AG_NAME_MAX];
	jint hash;
	struct wire_writer *w;
	int rc = -1;

	if (!signature || ag_object_name(p->jvm, loader, name) != 0 ||
	    AG_JVMTI(p->jvm, GetObjectHashCode, loader, &hash) != 0)
		goto out;
	w = ag_chan_begin(p->chan);
	wire_put_u32(w, id);
	wire_put_text(w, signature, strlen(signature));
	wire_put_text(w, name, strlen(name));
	wire_put_u32(w, (uint32_t)hash);
	rc = ag_chan_end(p->chan, WIRE_LOADER);
out:
	ag_jvmti_free(p->jvm, signature);
	ag_ref_drop(p->jvm, class);
	return rc;
}

/* Sends a MODULE or SOURCE frame. */
static int send_text(struct ag_origins *p, uint16_t frame, uint32_t id, const char *text)
{
	struct wire_writer *w = ag_chan_begin(p->chan);

	wire_put_u32(w, id);
	wire_put_text(w, text, strlen(text));
	return ag_chan_end(p->chan, frame);
}

static int find_loader(struct ag_origins *p, jclass class, uint32_t *id)
{
	jobject loader;
	bool new;

	if (ag_class_loader(p->jvm, class, &loader) != 0 ||
	    ag_ids_take(p->jvm, p->loaders, loader, id, &new) != 0)
		return -1;
	return new ? send_loader(p, loader, *id) : 0;
}

static int find_module(struct ag_origins *p, jclass class, uint32_t *id)
{
	char name[AG_NAME_MAX];
	jobject module;
	bool new;

	if (ag_class_module(p->jvm, class, &module) != 0 ||
	    ag_ids_take(p->jvm, p->modules, module, id, &new) != 0)
		return -1;
	if (!new)
		return 0;
	if (ag_object_name(p->jvm, module, name) != 0)
		return -1;
	return send_text(p, WIRE_MODULE, *id, name);
}

/*
 * Finds the object that identifies the code source of a class: the protection domain of the class;
 * or, if the class is of the bootstrap loader, the module of the class.
 */
static int find_source_object(struct ag_origins *p, jclass class, const struct ag_origin *origin,
			      jobject *object, bool *is_module)
{
	*is_module = false;
	if (ag_code_source_domain(p->jvm, &p->source, class, object) != 0)
		return -1;
	if (*object || origin->loader || !origin->module)
		return 0;
	*is_module = true;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): `modules` has the module */
	*object = (*p->jvm->jni)->NewLocalRef(p->jvm->jni, p->modules->refs[origin->module]);
	return *object ? 0 : ag_fail_memory(p->jvm);
}

static int find_source(struct ag_origins *p, jclass class, const struct ag_origin *origin,
		       uint32_t *id)
{
	char text[AG_CODE_SOURCE_MAX];
	jobject object;
	bool is_module, new;
	int rc;

	if (find_source_object(p, class, origin, &object, &is_module) != 0 ||
	    ag_ids_take(p->jvm, p->sources, object, id, &new) != 0)
		return -1;
	if (!new)
		return 0;
	rc = is_module ? ag_code_source_of_module(p->jvm, object, text)
		       : ag_code_source_of_domain(p->jvm, object, text);
	return rc == 0 ? send_text(p, WIRE_SOURCE, *id, text) : -1;
}

int ag_origins_send(struct ag_origins *origins, jclass class, struct ag_origin *origin)
{
	*origin = (struct ag_origin){ 0 };
	if (find_loader(origins, class, &origin->loader) != 0)
		return -1;
	if (origins->modules && find_module(origins, class, &origin->module) != 0)
		return -1;
	return origins->sources ? find_source(origins, class, origin, &origin->source) : 0;
}
