/* The classes, objects and threads of the fake JVM in which hooks are tested. */
#ifndef JTOOL_TESTS_HOOKS_WORLD_H
#define JTOOL_TESTS_HOOKS_WORLD_H

#include "agent/fake/jvm_parts.h"

struct hooks_world {
	unsigned taken;   /* how many DefineClass() calls still fail because the name is taken */
	unsigned defined; /* the number of classes with hooks that were defined */
	char hooks[64];   /* the name of the last hooks class */
};
extern struct hooks_world hooks_world;

extern struct fake_object fake_object, fake_string, fake_long_string, fake_integer, fake_color,
	fake_special_color, fake_ints, fake_objects, fake_thrown;

void hooks_world_start(void);
/* Makes the current thread a virtual or a platform thread. */
void hooks_world_virtual(bool is_virtual);
/* Gives the field Thread.name the type char[], as in JDK 8, or String. */
void hooks_world_early_names(bool early);
/* Returns a method's function as RegisterNatives() received it.  Fails the test without one. */
void *fake_native(const char *name);

#endif
