/*
 * A class histogram: the number and size of the instances of each class, from the agent's frames,
 * from GC.class_histogram or from a saved file.
 */
#ifndef JTOOL_MODEL_HISTO_HISTO_H
#define JTOOL_MODEL_HISTO_HISTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct histo_row {
	char *name;   /* Java source form; a package with --by package, a loader with --by loader */
	char *loader; /* "bootstrap", "app", "a.b.Loader @1f2e3d4c"; NULL: unknown */
	char *module; /* NULL: none or unknown */
	int64_t classes;   /* number of classes in this row */
	int64_t instances; /* like `bytes`: the difference after histo_subtract() */
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
/* Adds a row; texts are copied. */
void histo_add(struct histo *h, const char *name, const char *loader, const char *module,
	       int64_t instances, int64_t bytes);

struct histo_total {
	int64_t classes, instances, bytes;
};
struct histo_total histo_total(const struct histo *h);

/* Sorts by bytes or count in descending order, or by name.  Ties: by name, then loader. */
void histo_sort(struct histo *h, enum histo_sort by);
/*
 * Merges rows by package or loader.  An array counts for the package of its element class,
 * primitive arrays as "(primitive arrays)", and the unnamed package as "(default)".
 */
void histo_group(struct histo *h, enum histo_group by);
/* Returns the package for a class name; the caller frees it. */
char *histo_package(const char *name);
/* Removes the rows whose names do not match the glob ('*' any, '?' one character). */
void histo_filter(struct histo *h, const char *glob);
/*
 * Subtracts `base` from `now` by name and loader, or by name alone if either has no loaders.  Rows
 * without a difference are removed.
 */
void histo_subtract(struct histo *now, const struct histo *base);

/*
 * Parses GC.class_histogram of JDK 8 to 27: "num: instances bytes name (module)".  Returns -EBADMSG
 * if the text is invalid or the total does not match.
 */
int histo_parse_vm(struct histo *h, const char *text, size_t len) _must_check_;

#endif
