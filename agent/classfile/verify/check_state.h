/* The state of cf_check(), and the functions that record a fault. */
#ifndef JTOOL_AGENT_CLASSFILE_VERIFY_CHECK_STATE_H
#define JTOOL_AGENT_CLASSFILE_VERIFY_CHECK_STATE_H

#include "classfile/code.h"
#include "classfile/verify/verify.h"
#include "classfile/versions.h"

struct check {
	const struct cf_class *class;
	const struct cf_pool *pool;
	struct cf_fault *fault;
	uint16_t *first;          /* first[i]: index of the first Utf8 with the text of Utf8 i */
	int32_t last_bootstrap;   /* highest bootstrap method index in the constants; -1: none */
	struct cf_member member;  /* the current member; name.data is NULL for the class */
	struct cf_code code;      /* code of `member`; for the checks of the member's attributes */
};

/* Records a fault of the current member.  Returns false. */
bool chk_wrong(struct check *c, const char *what);
bool chk_no_memory(struct check *c);

/* Sorts the keys.  Returns true if a key occurs twice. */
bool chk_has_duplicate(uint64_t *keys, size_t n);

#endif
