/*
 * A class histogram: for each class, how many instances there are and how many bytes they take.  It
 * comes from the agent's frames, from GC.class_histogram or from a saved file.
 */
#ifndef JTOOL_MODEL_HISTO_HISTO_H
#define JTOOL_MODEL_HISTO_HISTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct histo_row {
	/*
	 * name of the class in Java source form; after histo_group(), name of the package or of the
	 * loader
	 */
	char *name;
	char *loader; /* "bootstrap", "app", "a.b.Loader @1f2e3d4c"; NULL: unknown */
	char *module; /* NULL: none or unknown */
	int64_t classes;   /* number of classes whose instances the row counts */
	/* after histo_subtract(), `instances` and `bytes` are differences */
	int64_t instances;
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
/* Adds a row; the texts are copied. */
void histo_add(struct histo *h, const char *name, const char *loader, const char *module,
	       int64_t instances, int64_t bytes);

struct histo_total {
	int64_t classes, instances, bytes;
};
struct histo_total histo_total(const struct histo *h);

/*
 * Sorts in descending order of bytes or instances, or by name.  Rows with equal bytes or instances
 * are sorted by name; rows with equal names are sorted by loader.
 */
void histo_sort(struct histo *h, enum histo_sort by);
/*
 * Merges the rows of each package, or of each loader, into one row.  An array belongs to the
 * package of its element class.  The package of arrays of primitives is called "(primitive
 * arrays)", and the unnamed package "(default)".
 */
void histo_group(struct histo *h, enum histo_group by);
/* Returns the package that histo_group() uses for a class name; the caller frees it. */
char *histo_package(const char *name);
/* Removes the rows whose names `glob` does not select, see type_name_is_chosen(). */
void histo_filter(struct histo *h, const char *glob);
/*
 * Subtracts `base` from `now`.  A row of `base` is subtracted from the row of `now` with the same
 * name and loader; or with the same name, if one of the histograms has no loaders.  Rows without a
 * difference are removed.
 */
void histo_subtract(struct histo *now, const struct histo *base);

/*
 * Parses the output of GC.class_histogram of JDK 8 to 27: "num: instances bytes name (module)".
 * Returns 0, or -EBADMSG if the text is invalid or its total is not the sum of its rows.
 */
int histo_parse_vm(struct histo *h, const char *text, size_t len) _must_check_;

#endif
