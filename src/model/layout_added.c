#include "model/layout_added.h"

#include <string.h>

#define EVER 99
#define CONTENDED_THREADS 18 /* what ThreadLocalRandom has in them stands apart */

struct row {
	const char *class;
	uint8_t from, to; /* releases */
	uint8_t n8, n4, n2, n1, n_references;
};

/* Fields that javaClasses.hpp injects: intptr and long, int, short, byte and bool, objects. */
static const struct row injected[] = {
	{ "java.lang.Class", 8, 18, 2, 2, 0, 0, 3 },
	{ "java.lang.Class", 19, 24, 2, 2, 0, 0, 4 },
	{ "java.lang.Class", 25, EVER, 2, 2, 0, 0, 2 },
	{ "java.lang.ClassLoader", 8, EVER, 1, 0, 0, 0, 0 },
	{ "java.lang.Module", 9, EVER, 1, 0, 0, 0, 0 },
	{ "java.lang.String", 14, EVER, 0, 0, 0, 1, 0 },
	{ "java.lang.invoke.MemberName", 8, 10, 2, 0, 0, 0, 1 },
	{ "java.lang.invoke.MemberName", 11, EVER, 1, 0, 0, 0, 0 },
	{ "java.lang.invoke.ResolvedMethodName", 11, 21, 1, 0, 0, 0, 1 },
	{ "java.lang.invoke.ResolvedMethodName", 22, EVER, 1, 0, 0, 0, 0 },
	{ "java.lang.invoke.MethodHandleNatives$CallSiteContext", 9, EVER, 2, 0, 0, 0, 0 },
	{ "java.lang.StackFrameInfo", 9, EVER, 0, 0, 1, 0, 0 },
	{ "java.lang.InternalError", 21, EVER, 0, 0, 0, 1, 0 },
	{ "java.lang.Thread", 19, EVER, 1, 1, 1, 1, 0 },
	{ "jdk.internal.vm.StackChunk", 19, EVER, 1, 1, 0, 1, 1 },
};

static void add(struct layout_fields *f, const struct row *row)
{
	f->n8 += row->n8;
	f->n4 += row->n4;
	f->n2 += row->n2;
	f->n1 += row->n1;
	f->n_references += row->n_references;
}

/* Those that ClassFileParser::layout_fields names, before JDK 15. */
static bool is_hard_coded(const char *name)
{
	static const char *const names[] = {
		"AssertionStatusDirectives", "Class", "ClassLoader", "ref.Reference",
		"ref.SoftReference", "StackTraceElement", "String", "Throwable", "Boolean",
		"Character", "Float", "Double", "Byte", "Short", "Integer", "Long",
	};

	if (strncmp(name, "java.lang.", 10) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name + 10, names[i]) == 0)
			return true;
	}
	return false;
}

bool layout_added(unsigned release, const char *name, struct layout_fields *fields,
		  struct layout_added *added)
{
	*added = (struct layout_added){ .references_first = release < 15 && is_hard_coded(name) };
	for (size_t i = 0; i < ARRAY_SIZE(injected); i++) {
		const struct row *row = &injected[i];

		if (release < row->from || release > row->to || strcmp(row->class, name) != 0)
			continue;
		add(fields, row);
	}
	if (release <= CONTENDED_THREADS && strcmp(name, "java.lang.Thread") == 0) {
		added->has_contended = true;
		added->contended = (struct layout_fields){ .n8 = 1, .n4 = 2 };
		fields->n8 -= 1;
		fields->n4 -= 2;
	}
	return true;
}
