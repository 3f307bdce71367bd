#include <string.h>

#include "model/hprof/object_layout.h"

/* first JDK release without padding between an array's length and its elements (JDK-8139457) */
#define ARRAY_BASES_FREE 23

static bool is_on(const struct vmflags *flags, const char *name)
{
	const struct vmflag *flag = vmflags_find(flags, name);

	return flag && strcmp(flag->value, "true") == 0;
}

struct object_layout object_layout_of_flags(unsigned release, const struct vmflags *flags)
{
	const struct vmflag *alignment = vmflags_find(flags, "ObjectAlignmentInBytes");
	struct object_layout l = {
		.release = release, .reference = 8, .header = 16, .alignment = 8
	};

	if (release == 0 || !vmflags_find(flags, "UseSerialGC"))
		return (struct object_layout){ 0 };
	if (alignment)
		l.alignment = (unsigned)strtoul(alignment->value, NULL, 10);
	if (is_on(flags, "UseCompressedOops"))
		l.reference = 4;
	if (is_on(flags, "UseCompactObjectHeaders"))
		l.header = 8;
	else if (release >= 26 || is_on(flags, "UseCompressedClassPointers"))
		l.header = 12;
	l.array_header = l.header + 4;
	if (l.header == 16 && release < ARRAY_BASES_FREE)
		l.array_header = 24;
	return l;
}
