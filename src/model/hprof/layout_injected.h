/*
 * Special layouts of bootstrap classes: fields that HotSpot injects (*_INJECTED_FIELDS in
 * javaClasses.hpp), and the padding of @Contended fields.  HotSpot ignores @Contended in classes of
 * other loaders.
 */
#ifndef JTOOL_MODEL_HPROF_LAYOUT_INJECTED_H
#define JTOOL_MODEL_HPROF_LAYOUT_INJECTED_H

#include "model/hprof/object_layout.h"

struct layout_injected {
	/* the class has fixed offsets (HotSpot before JDK 15), and its references come first */
	bool references_first;
	bool contended_class; /* the class itself is @Contended */
	bool has_contended;
	struct object_layout_fields contended; /* numbers of @Contended fields, if has_contended */
};

/*
 * Adds the injected fields of a bootstrap class, and moves the numbers of its @Contended fields
 * from `fields` to `added`.
 */
void layout_injected(unsigned release, const char *name, struct object_layout_fields *fields,
		     struct layout_injected *added);

#endif
