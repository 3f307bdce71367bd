#include "classfile/inject/inject.h"

#include <string.h>

#define VERSION 52 /* Java 8: every supported JVM reads this version */

/*
 * Indexes of the constants: first the name and the Class constant of this class, then those of its
 * superclass, then the name and the descriptor of each hook.
 */
enum {
	THIS_NAME = 1,
	THIS_CLASS,
	SUPER_NAME,
	SUPER_CLASS,
	FIRST_HOOK,
};

static const char *const hooks[][2] = {
#define HOOK(name, descriptor) { #name, descriptor },
#include "classfile/inject/hooks.def"
#undef HOOK
};
#define N_HOOKS ((uint16_t)(sizeof(hooks) / sizeof(hooks[0])))

static void put_utf8(struct cf_output *out, const char *text)
{
	cf_put_u1(out, CF_UTF8);
	cf_put_u2(out, (uint16_t)strlen(text));
	cf_put(out, text, strlen(text));
}

/* Writes two constants: the class name, with the index `name_index`, and the Class of that name. */
static void put_class(struct cf_output *out, const char *name, uint16_t name_index)
{
	put_utf8(out, name);
	cf_put_u1(out, CF_CLASS);
	cf_put_u2(out, name_index);
}

static void put_constants(struct cf_output *out, const char *name)
{
	cf_put_u2(out, FIRST_HOOK + 2 * N_HOOKS);
	put_class(out, name, THIS_NAME);
	put_class(out, "java/lang/Object", SUPER_NAME);
	for (uint16_t i = 0; i < N_HOOKS; i++) {
		put_utf8(out, hooks[i][0]);
		put_utf8(out, hooks[i][1]);
	}
}

static void put_methods(struct cf_output *out)
{
	cf_put_u2(out, N_HOOKS);
	for (uint16_t i = 0; i < N_HOOKS; i++) {
		cf_put_u2(out, CF_ACC_PUBLIC | CF_ACC_STATIC | CF_ACC_NATIVE);
		cf_put_u2(out, (uint16_t)(FIRST_HOOK + 2 * i));
		cf_put_u2(out, (uint16_t)(FIRST_HOOK + 2 * i + 1));
		cf_put_u2(out, 0); /* attributes_count */
	}
}

void cf_hooks_class(const char *name, struct cf_output *out)
{
	cf_put_u4(out, 0xcafebabe);
	cf_put_u2(out, 0);
	cf_put_u2(out, VERSION);
	put_constants(out, name);
	/* ACC_SUPER, which every class has, is the same bit as CF_ACC_SYNCHRONIZED. */
	cf_put_u2(out, CF_ACC_PUBLIC | CF_ACC_FINAL | CF_ACC_SYNCHRONIZED);
	cf_put_u2(out, THIS_CLASS);
	cf_put_u2(out, SUPER_CLASS);
	cf_put_u2(out, 0); /* interfaces_count */
	cf_put_u2(out, 0); /* fields_count */
	put_methods(out);
	cf_put_u2(out, 0); /* attributes_count */
}
