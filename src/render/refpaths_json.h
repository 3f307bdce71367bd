/*
 * refpaths as a JSON document.
 */
#ifndef JTOOL_RENDER_REFPATHS_JSON_H
#define JTOOL_RENDER_REFPATHS_JSON_H

#include "model/refpath.h"
#include "model/refpaths.h"
#include "render/json.h"

/* All that is found, into an object. */
void refpaths_put(struct json *object, const struct heap *h, const struct refpaths *paths);

/* The root and the steps of one way, into an object; of a longer one the middle is left out. */
#define REFPATH_STEPS_MAX 1000
void refpath_put(struct json *object, const struct heap *h, const struct refpath *path);

#endif
