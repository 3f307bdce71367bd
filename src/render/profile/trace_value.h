/* Arguments and results of traced calls as one line of text and as JSON. */
#ifndef JTOOL_RENDER_PROFILE_TRACE_VALUE_H
#define JTOOL_RENDER_PROFILE_TRACE_VALUE_H

#include "model/profile/trace_value.h"
#include "render/json.h"

/*
 * Appends the text: 12, 'c', "tea", "long te"..., GREEN, [1, 2, 3, ... 10 in all], a.b.C@1a2b3c,
 * java.io.IOException: message, or ... for a value that was not recorded.  Control characters are
 * escaped, and in strings also quotes.
 */
void trace_value_add(struct buf *out, const struct trace_value *value);

/*
 * Adds the value to a JSON object, or to a JSON array if `key` is NULL.  A char, an enum constant,
 * NaN and Infinity become strings.  A Java array becomes {"class","length","elements"}.  An object
 * that is not a String becomes a string such as "a.b.C@1f2e".  Sets *cut if the value is truncated.
 */
void trace_value_put(struct json *parent, const char *key, const struct trace_value *value,
		     bool *cut);
/*
 * Returns the values of a list as a JSON array, which the caller frees.  Sets *cut if one of them
 * is truncated.
 */
struct json *trace_values_json(struct wire_text rest, bool *cut);

#endif
