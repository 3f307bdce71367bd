/*
 * Class files for what rewrites classes to be tested with: those of fake_transform.h, which are
 * texts.  In place of agent/classfile/read.c; what is read takes memory until it is released, and
 * what begins with "torn" cannot be read.
 */
#ifndef JTOOL_TESTS_FAKE_CLASS_H
#define JTOOL_TESTS_FAKE_CLASS_H

#include <stdbool.h>

#include "classfile/read.h"

bool fake_begins(const struct cf_class *class, const char *with);

#endif
