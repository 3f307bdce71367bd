/*
 * Special layouts of bootstrap classes: fields that HotSpot injects (*_INJECTED_FIELDS in
 * javaClasses.hpp), and the padding of @Contended fields.  HotSpot ignores @Contended in classes of
 * other loaders.
 */
#ifndef JTOOL_MODEL_HPROF_LAYOUT_INJECTED_H
#define JTOOL_MODEL_HPROF_LAYOUT_INJECTED_H

#include "model/hprof/object_layout.h"

struct layout_injected {
	/* before JDK 15, HotSpot gives the fields of this class fixed offsets, references first */
	bool references_first;
	bool contended_class; /* the class itself is @Contended */
	bool has_contended;
	struct object_layout_fields contended; /* if has_contended: how many @Contended fields */
};

/*
 * Adds the fields that HotSpot injects into the bootstrap class `name` to *fields.  Subtracts the
 * @Contended fields of the class from *fields, and stores how many there are in *added.
 */
void layout_injected(unsigned release, const char *name, struct object_layout_fields *fields,
		     struct layout_injected *added);

#endif
