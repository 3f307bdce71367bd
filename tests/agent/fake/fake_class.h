/*
 * Stand-ins for agent/classfile/read.c and agent/jvm/instrument/hooks.c.
 *
 * A class file is a text, see jvm_transform.h.  cf_open() allocates memory, which cf_release()
 * frees; it fails for a text that begins with "torn".  ag_hooks_define() always succeeds.
 */
#ifndef JTOOL_TESTS_FAKE_CLASS_H
#define JTOOL_TESTS_FAKE_CLASS_H

#include <stdbool.h>

#include "classfile/read.h"

#define FAKE_HOOKS "java/jtool/Hooks1"

bool fake_begins(const struct cf_class *class, const char *with);

#endif
