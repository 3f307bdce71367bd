/*
 * What the JVM lays out differently in some of its own classes: fields that it adds
 * (*_INJECTED_FIELDS in javaClasses.hpp), which are in no dump, and fields that stand apart
 * (@Contended, which HotSpot heeds in classes of the bootstrap loader only).
 */
#ifndef JTOOL_MODEL_LAYOUT_ADDED_H
#define JTOOL_MODEL_LAYOUT_ADDED_H

#include "model/layout.h"

struct layout_added {
	bool references_first; /* before JDK 15: the JVM knew its offsets */
	bool contended_class;
	bool has_contended;
	struct layout_fields contended; /* these of its fields */
};

/* Changes what the class of this name, of the bootstrap loader, declares. */
void layout_added(unsigned release, const char *name, struct layout_fields *fields,
		  struct layout_added *added);

#endif
