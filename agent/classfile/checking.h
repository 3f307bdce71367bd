/* What the parts of cf_check() share. */
#ifndef JTOOL_CLASSFILE_CHECKING_H
#define JTOOL_CLASSFILE_CHECKING_H

#include "classfile/code.h"
#include "classfile/verify.h"
#include "classfile/versions.h"

struct checking {
	const struct cf_class *class;
	const struct cf_pool *pool;
	struct cf_fault *fault;
	uint16_t *same;           /* of each Utf8: the first one with the same text */
	int32_t last_bootstrap;   /* the highest index that a constant has; -1: none */
	struct cf_member member;  /* what is looked at; its name has no data: the class itself */
	struct cf_code code;      /* of it, while its attributes are looked at */
};

/* Note what is wrong with what is looked at; always false. */
bool chk_wrong(struct checking *c, const char *what);

/* Where attributes stand. */
enum place {
	AT_CLASS = 1,
	AT_FIELD = 2,
	AT_METHOD = 4,
	AT_CODE = 8,
	AT_COMPONENT = 16, /* of a record */
};
bool chk_attributes(struct checking *c, struct cf_attributes list, enum place place);

bool chk_pool(struct checking *c);
bool chk_is_class(const struct checking *c, uint16_t index);
bool chk_is_utf8(const struct checking *c, uint16_t index);
/* Do the flags of a class, also of an inner one, go together? */
bool chk_class_flags(const struct checking *c, uint16_t access);

/* Sort keys and tell whether one is there twice. */
bool chk_is_twice(uint64_t *keys, size_t n);

#endif
