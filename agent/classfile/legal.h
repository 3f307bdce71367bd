/*
 * Which texts of a class file are legal: modified UTF-8 (JVMS 4.4.7), names (JVMS 4.2) and
 * descriptors (JVMS 4.3).  What was legal depended on the version, and HotSpot's
 * classFileParser.cpp holds old files to the old rules.
 */
#ifndef JTOOL_CLASSFILE_LEGAL_H
#define JTOOL_CLASSFILE_LEGAL_H

#include "classfile/descr.h"

bool legal_utf8(struct cf_text text, uint16_t major);

enum legal_name { LEGAL_CLASS, LEGAL_FIELD, LEGAL_METHOD };
bool legal_name(struct cf_text name, enum legal_name kind, uint16_t major);

/* The name in a Class constant: of a class, or the descriptor of an array. */
bool legal_class(struct cf_text name, uint16_t major);
bool legal_field_type(struct cf_text descriptor, uint16_t major);

/* *slots is what its parameters take in the locals. */
bool legal_method_types(struct cf_text name, struct cf_text descriptor, uint16_t major,
			size_t *slots);

#endif
