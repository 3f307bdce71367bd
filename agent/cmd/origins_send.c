#include "cmd/places.h"

#include <string.h>

#include "jvm/ref.h"

static int tell_loader(struct ag_places *p, jobject loader, uint32_t id)
{
	jclass class = ag_ref_class(p->jvm, loader);
	char *signature = ag_class_signature(p->jvm, class);
	char name[AG_NAME_MAX];
	jint hash;
	struct wire_writer *w;
	int rc = -1;

	if (!signature || ag_object_name(p->jvm, loader, name) != 0 ||
	    AG_TI(p->jvm, GetObjectHashCode, loader, &hash) != 0)
		goto out;
	w = ag_chan_begin(p->chan);
	wire_put_u32(w, id);
	wire_put_text(w, signature, strlen(signature));
	wire_put_text(w, name, strlen(name));
	wire_put_u32(w, (uint32_t)hash);
	rc = ag_chan_end(p->chan, WIRE_LOADER);
out:
	ag_ti_free(p->jvm, signature);
	ag_ref_drop(p->jvm, class);
	return rc;
}

/* MODULE and SOURCE */
static int tell_text(struct ag_places *p, uint16_t frame, uint32_t id, const char *text)
{
	struct wire_writer *w = ag_chan_begin(p->chan);

	wire_put_u32(w, id);
	wire_put_text(w, text, strlen(text));
	return ag_chan_end(p->chan, frame);
}

static int find_loader(struct ag_places *p, jclass class, uint32_t *id)
{
	jobject loader;
	bool new;

	if (ag_class_loader(p->jvm, class, &loader) != 0 ||
	    ag_ids_take(p->jvm, p->loaders, loader, id, &new) != 0)
		return -1;
	return new ? tell_loader(p, loader, *id) : 0;
}

static int find_module(struct ag_places *p, jclass class, uint32_t *id)
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
	return tell_text(p, WIRE_MODULE, *id, name);
}

/*
 * What stands for a class's code source: its protection domain, or, for what the boot loader
 * took from a module of the run-time image and gave none, the module.
 */
static int find_origin(struct ag_places *p, jclass class, const struct ag_where *where,
		       jobject *origin, bool *is_module)
{
	*is_module = false;
	if (ag_source_domain(p->jvm, &p->source, class, origin) != 0)
		return -1;
	if (*origin || where->loader || !where->module)
		return 0;
	*is_module = true;
	*origin = (*p->jvm->jni)->NewLocalRef(p->jvm->jni, p->modules->refs[where->module]);
	return *origin ? 0 : ag_fail_memory(p->jvm);
}

static int find_source(struct ag_places *p, jclass class, const struct ag_where *where,
		       uint32_t *id)
{
	char text[AG_SOURCE_MAX];
	jobject origin;
	bool is_module, new;
	int rc;

	if (find_origin(p, class, where, &origin, &is_module) != 0 ||
	    ag_ids_take(p->jvm, p->sources, origin, id, &new) != 0)
		return -1;
	if (!new)
		return 0;
	rc = is_module ? ag_source_of_module(p->jvm, origin, text)
		       : ag_source_of_domain(p->jvm, origin, text);
	return rc == 0 ? tell_text(p, WIRE_SOURCE, *id, text) : -1;
}

int ag_places_find(struct ag_places *places, jclass class, struct ag_where *where)
{
	*where = (struct ag_where){ 0 };
	if (find_loader(places, class, &where->loader) != 0)
		return -1;
	if (places->modules && find_module(places, class, &where->module) != 0)
		return -1;
	return places->sources ? find_source(places, class, where, &where->source) : 0;
}
