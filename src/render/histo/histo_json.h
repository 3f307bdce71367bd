/* Writes a class histogram as a JSON document, and reads it. */
#ifndef JTOOL_RENDER_HISTO_HISTO_JSON_H
#define JTOOL_RENDER_HISTO_HISTO_JSON_H

#include "model/histo/histo.h"
#include "render/json.h"

/*
 * Returns {"pid","live","classes":[{"class","loader","module","instances","bytes"}],"total":{…}}
 * with the first n_rows rows.  `total` includes rows that are not in the document.  A pid of -1
 * becomes null.  The caller frees the document.
 */
struct json *histo_json(const struct histo *h, size_t n_rows, const struct histo_total *total,
			int64_t pid);

/*
 * Adds the classes in a document to an empty histogram.  Returns 0; or -EBADMSG if the document is
 * not a histogram; or -ENODATA if the document was saved with -n, --filter or --by: the document
 * then lacks classes that are included in the document's total.
 */
int histo_from_json(struct histo *h, const struct json *doc) _must_check_;

#endif
