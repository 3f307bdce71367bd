/* Internal functions of cf_check(). */
#ifndef JTOOL_AGENT_CLASSFILE_VERIFY_CHECK_INTERNAL_H
#define JTOOL_AGENT_CLASSFILE_VERIFY_CHECK_INTERNAL_H

#include "classfile/verify/check_state.h"

/* Defined in check_pool.c: */
bool chk_pool(struct check *c);
bool chk_is_class(const struct check *c, uint16_t index);
bool chk_is_utf8(const struct check *c, uint16_t index);

/* check_flags.c: returns true if a class or inner class may have these access flags */
bool chk_class_flags(const struct check *c, uint16_t access);
/* Return true if c->member may have these access flags. */
bool chk_field_flags(const struct check *c, uint16_t access);
bool chk_method_flags(const struct check *c, uint16_t access);

/* The structure that has the attributes. */
enum attribute_location {
	AT_CLASS = 1,
	AT_FIELD = 2,
	AT_METHOD = 4,
	AT_CODE = 8,
	AT_COMPONENT = 16, /* a record component */
};
bool chk_attributes(struct check *c, struct cf_attributes list, enum attribute_location at);

#endif
