#include "model/layout_added.h"

#include <string.h>

#define EVER 99

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
	{ "java.lang.InternalError", 17, EVER, 0, 0, 0, 1, 0 },
	{ "java.lang.Thread", 19, EVER, 1, 1, 1, 1, 0 },
	{ "java.lang.VirtualThread", 24, EVER, 1, 0, 0, 0, 0 },
	{ "java.lang.reflect.Field", 26, EVER, 0, 1, 0, 0, 0 },
	{ "jdk.internal.vm.StackChunk", 19, EVER, 1, 1, 0, 1, 1 },
};

/* Fields that are @Contended, in one group; all 0: the whole class is. */
static const struct row contended[] = {
	{ "java.lang.Thread", 8, 18, 1, 2, 0, 0, 0 },
	{ "java.util.concurrent.ConcurrentHashMap$CounterCell", 8, EVER, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.Exchanger$Node", 8, 21, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.Exchanger$Slot", 22, EVER, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool", 8, 11, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool", 12, 18, 1, 0, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool", 19, EVER, 1, 1, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", 8, 11, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", 12, 23, 0, 3, 0, 0, 0 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", 24, EVER, 0, 4, 0, 0, 0 },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", 9, 16, 0, 0, 0, 0, 0 },
	{ "java.util.concurrent.atomic.Striped64$Cell", 8, EVER, 0, 0, 0, 0, 0 },
};

static const struct row *find(const struct row *rows, size_t n, unsigned release,
			      const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (release >= rows[i].from && release <= rows[i].to &&
		    strcmp(rows[i].class, name) == 0)
			return &rows[i];
	}
	return NULL;
}

static struct layout_fields fields_in(const struct row *row)
{
	return (struct layout_fields){ row->n8, row->n4, row->n2, row->n1, row->n_references };
}

static void add(struct layout_fields *f, const struct layout_fields *more)
{
	f->n8 += more->n8;
	f->n4 += more->n4;
	f->n2 += more->n2;
	f->n1 += more->n1;
	f->n_references += more->n_references;
}

/* False when it does not have so many: it is another release's, or nobody's. */
static bool take_away(struct layout_fields *f, const struct layout_fields *less)
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

static bool is_empty(const struct layout_fields *f)
{
	return !f->n8 && !f->n4 && !f->n2 && !f->n1 && !f->n_references;
}

/* Those that ClassFileParser::layout_fields names, before JDK 15. */
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

void layout_added(unsigned release, const char *name, struct layout_fields *fields,
		  struct layout_added *added)
{
	const struct row *more = find(injected, ARRAY_SIZE(injected), release, name);
	const struct row *apart = find(contended, ARRAY_SIZE(contended), release, name);
	struct layout_fields some;

	*added = (struct layout_added){ .references_first = is_hard_coded(release, name) };
	if (more) {
		some = fields_in(more);
		add(fields, &some);
	}
	if (!apart)
		return;
	some = fields_in(apart);
	if (is_empty(&some)) {
		added->contended_class = true;
	} else if (take_away(fields, &some)) {
		added->has_contended = true;
		added->contended = some;
	}
}
