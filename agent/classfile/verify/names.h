/* Checks UTF-8 (JVMS 4.4.7), names (4.2) and descriptors (4.3) like HotSpot's classFileParser. */
#ifndef JTOOL_AGENT_CLASSFILE_VERIFY_NAMES_H
#define JTOOL_AGENT_CLASSFILE_VERIFY_NAMES_H

#include "classfile/descr.h"

bool names_valid_utf8(struct cf_text text, uint16_t major);

enum names_kind { NAME_CLASS, NAME_FIELD, NAME_METHOD };
bool names_valid(struct cf_text name, enum names_kind kind, uint16_t major);

/* Checks the name in a Class constant: the name of a class, or the descriptor of an array. */
bool names_valid_class(struct cf_text name, uint16_t major);
bool names_valid_field_type(struct cf_text descriptor, uint16_t major);

/*
 * Checks the descriptor of the method `name`.  Sets *slots to the number of local variable slots
 * that the parameters take.
 */
bool names_valid_method_types(struct cf_text name, struct cf_text descriptor, uint16_t major,
			      size_t *slots);

#endif
