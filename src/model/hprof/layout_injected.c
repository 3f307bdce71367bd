#include "model/hprof/layout_injected.h"

#include <string.h>

#define LATEST 99

struct row {
	const char *class;
	uint8_t from, to; /* first and last JDK release for which the row is valid */
	uint8_t n8, n4, n2, n1, n_references;
};

/*
 * Fields that javaClasses.hpp injects into instances.  The last five members say how many: `n8` of
 * type intptr or long, `n4` of type int, `n2` of type short, `n1` of the other primitive types, and
 * `n_references` references.
 */
static const struct row injected[] = {
	{ "java.lang.Class", 8, 18, 2, 2, 0, 0, 3 },
	{ "java.lang.Class", 19, 24, 2, 2, 0, 0, 4 },
	{ "java.lang.Class", 25, LATEST, 2, 2, 0, 0, 2 },
	{ "java.lang.ClassLoader", 8, LATEST, 1, 0, 0, 0, 0 },
	{ "java.lang.Module", 9, LATEST, 1, 0, 0, 0, 0 },
	{ "java.lang.String", 14, LATEST, 0, 0, 0, 1, 0 },
	{ "java.lang.invoke.MemberName", 8, 10, 2, 0, 0, 0, 1 },
	{ "java.lang.invoke.MemberName", 11, LATEST, 1, 0, 0, 0, 0 },
	{ "java.lang.invoke.ResolvedMethodName", 11, 21, 1, 0, 0, 0, 1 },
	{ "java.lang.invoke.ResolvedMethodName", 22, LATEST, 1, 0, 0, 0, 0 },
	{ "java.lang.invoke.MethodHandleNatives$CallSiteContext", 9, LATEST, 2, 0, 0, 0, 0 },
	{ "java.lang.StackFrameInfo", 9, LATEST, 0, 0, 1, 0, 0 },
	{ "java.lang.InternalError", 17, LATEST, 0, 0, 0, 1, 0 },
	{ "java.lang.Thread", 19, LATEST, 1, 1, 1, 1, 0 },
	{ "java.lang.VirtualThread", 24, LATEST, 1, 0, 0, 0, 0 },
	{ "java.lang.reflect.Field", 26, LATEST, 0, 1, 0, 0, 0 },
	{ "jdk.internal.vm.StackChunk", 19, LATEST, 1, 1, 0, 1, 1 },
};

/*
 * The number of @Contended fields of each type in a class.  All @Contended fields of the class are
 * in one contention group.  If the five numbers of a row are 0, the class itself is @Contended.
 */
static const struct row contended[] = {
	{ "java.lang.Thread", 8, 18, 1, 2, 0, 0, 0 },
	{ "java.util.concurrent.ConcurrentHashMap$CounterCell", 8, LATEST, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.Exchanger$Node", 8, 21, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.Exchanger$Slot", 22, LATEST, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool", 8, 11, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool", 12, 18, 1, 0, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool", 19, LATEST, 1, 1, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", 8, 11, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", 12, 23, 0, 3, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", 24, LATEST, 0, 4, 0, 0, 0 },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", 9, 16, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.atomic.Striped64$Cell", 8, LATEST, 0, 0, 0, 0, 0 },
};

static const struct row *find(const struct row *rows, size_t n, unsigned release, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (release >= rows[i].from && release <= rows[i].to &&
		    strcmp(rows[i].class, name) == 0)
			return &rows[i];
	}
	return NULL;
}

static struct object_layout_fields fields_in(const struct row *row)
{
	return (struct object_layout_fields){ row->n8, row->n4, row->n2, row->n1,
					      row->n_references };
}

static void add(struct object_layout_fields *f, const struct object_layout_fields *extra)
{
	f->n8 += extra->n8;
	f->n4 += extra->n4;
	f->n2 += extra->n2;
	f->n1 += extra->n1;
	f->n_references += extra->n_references;
}

/*
 * Subtracts the numbers of fields in *less from those in *f.  If *f has too few fields, changes
 * nothing and returns false: then the class is not the one that this JDK release has.
 */
static bool subtract(struct object_layout_fields *f, const struct object_layout_fields *less)
{
	if (f->n8 < less->n8 || f->n4 < less->n4 || f->n2 < less->n2 || f->n1 < less->n1 ||
	    f->n_references < less->n_references)
		return false;
	f->n8 -= less->n8;
	f->n4 -= less->n4;
	f->n2 -= less->n2;
	f->n1 -= less->n1;
	f->n_references -= less->n_references;
	return true;
}

static bool is_empty(const struct object_layout_fields *f)
{
	return !f->n8 && !f->n4 && !f->n2 && !f->n1 && !f->n_references;
}

/*
 * Returns true if ClassFileParser::object_layout_fields (before JDK 15) has fixed offsets for the
 * class.
 */
static bool is_hard_coded(unsigned release, const char *name)
{
	static const char *const names[] = {
		"AssertionStatusDirectives", "Class", "ClassLoader", "ref.Reference",
		"ref.SoftReference", "StackTraceElement", "String", "Throwable", "Boolean",
		"Character", "Float", "Double", "Byte", "Short", "Integer", "Long",
	};

	if (release >= 15 || strncmp(name, "java.lang.", 10) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name + 10, names[i]) == 0)
			return true;
	}
	return false;
}

void layout_injected(unsigned release, const char *name, struct object_layout_fields *fields,
		     struct layout_injected *added)
{
	const struct row *extra = find(injected, ARRAY_SIZE(injected), release, name);
	const struct row *padded = find(contended, ARRAY_SIZE(contended), release, name);
	struct object_layout_fields row_fields;

	*added = (struct layout_injected){ .references_first = is_hard_coded(release, name) };
	if (extra) {
		row_fields = fields_in(extra);
		add(fields, &row_fields);
	}
	if (!padded)
		return;
	row_fields = fields_in(padded);
	if (is_empty(&row_fields)) {
		added->contended_class = true;
	} else if (subtract(fields, &row_fields)) {
		added->has_contended = true;
		added->contended = row_fields;
	}
}
