/*
 * A class histogram as a JSON document, for --json and in files, and back.
 */
#ifndef JTOOL_RENDER_HISTO_JSON_H
#define JTOOL_RENDER_HISTO_JSON_H

#include "model/histo.h"
#include "render/json.h"

/*
 * {"pid","live","classes":[{"class","loader","module","instances","bytes"}],"total":{…}} with
 * the first n_rows rows, and the total as given: it counts what is not shown, too.  The pid is
 * null when it is -1.
 */
struct json *histo_json(const struct histo *h, size_t n_rows, const struct histo_total *total,
			int64_t pid);

/*
 * The other way, into an empty histogram.  -EBADMSG when the document is no histogram,
 * -ENODATA when its classes do not add up to its total: it was made with -n, --filter or --by.
 */
int histo_from_json(struct histo *h, const struct json *doc) _must_check_;

/*
 * Write the whole histogram to a file, in the order that it has.  A regular file is replaced at
 * once or not at all, and keeps its mode; of a link, what it leads to.  Anything else (a pipe, a
 * device, "-" for stdout) is written to.
 */
int histo_save(const struct histo *h, int64_t pid, const char *path, struct err *err) _must_check_;
int histo_load(struct histo *h, const char *path, struct err *err) _must_check_;

#endif
