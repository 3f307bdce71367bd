/*
 * A class histogram: what each class's instances number and weigh.  Filled from the agent's
 * frames, from the JVM's own GC.class_histogram, or from a saved file; grouped, sorted and
 * compared here.  Knows no pid and no socket.
 */
#ifndef JTOOL_MODEL_HISTO_H
#define JTOOL_MODEL_HISTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct histo_row {
	char *name;   /* Java source form; a package with --by package, a loader with --by loader */
	char *loader; /* "bootstrap", "app", "a.b.Loader @1f2e3d4c"; NULL: not known */
	char *module; /* NULL: none or not known */
	int64_t classes;   /* how many classes it sums up; 1 for a class */
	int64_t instances; /* with a base to compare with: the difference */
	int64_t bytes;
};

struct histo {
	struct histo_row *rows;
	size_t n, cap;
	bool live;
};

enum histo_sort { HISTO_BY_BYTES, HISTO_BY_COUNT, HISTO_BY_NAME };
enum histo_group { HISTO_CLASS, HISTO_PACKAGE, HISTO_LOADER };

void histo_release(struct histo *h);
/* All texts are copied. */
void histo_add(struct histo *h, const char *name, const char *loader, const char *module,
	       int64_t instances, int64_t bytes);

struct histo_total {
	int64_t classes, instances, bytes;
};
struct histo_total histo_total(const struct histo *h);

/* Sort by bytes or count descending, or by name; ties by name, then loader. */
void histo_sort(struct histo *h, enum histo_sort by);
/*
 * Sum up rows by what their package or loader is.  An array counts where its elements' class
 * does, arrays of primitives as "(primitive arrays)", the unnamed package as "(default)".
 */
void histo_group(struct histo *h, enum histo_group by);
/* The package that a class counts for; the caller frees it. */
char *histo_package(const char *name);
/* Keep only rows whose name matches a glob ('*' any, '?' one). */
void histo_filter(struct histo *h, const char *glob);
/*
 * now - base, row by row: by name and loader, or by name alone when one of them does not know
 * the loaders.  Rows without a difference go.
 */
void histo_subtract(struct histo *now, const struct histo *base);

/*
 * The JVM's own report (GC.class_histogram, JDK 8 to 27) in text form: "num: instances bytes
 * name (module)".  -EBADMSG when it is none or its total does not add up.
 */
int histo_parse_vm(struct histo *h, const char *text, size_t len) _must_check_;

#endif
