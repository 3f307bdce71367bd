/*
 * A profile as text:
 *
 *     30.0 s: 28.1 s of CPU time in 2,812 samples, one every 10.0 ms
 *
 *         SELF     %    TOTAL     %  METHOD
 *       18.2 s  64.7   18.2 s  64.7  a.b.Shop.pay
 *       2.10 s   7.5   28.1 s   100  a.b.Till.run
 *
 * If profile->by_thread is true, a row is a method in a thread.  The profile as JSON:
 *
 *     {"event":"cpu","pid":1234,"file":null,"source":"jdk.CPUTimeSample","samples":2812,
 *      "duration":30.0,"interval":0.01,"unit":"ns","value":28120000000,
 *      "methods":[{"method":"a.b.Shop.pay","thread":null,"self":…,"self_samples":…,
 *                  "total":…,"total_samples":…}],
 *      "stacks":[{"thread":null,"frames":["a.b.Shop.pay:30","a.b.Till.run:12"],"class":null,
 *                 "samples":…,"value":…}],
 *      "notes":[{"note":"lost_samples","n":12,"text":"…"}]}
 *
 * unit:     the unit of "value", "self" and "total": "ns", "bytes", "samples" or "exceptions"
 * interval: in seconds; null if the events are not samples
 * frames:   the innermost frame is the first
 * class:    the class of the lock, object or exception; or the file or host; null for samples
 * source:   the event type; null if the recording has no events of this kind
 *
 * Control characters in the target's names are escaped.
 */
#ifndef JTOOL_RENDER_PROFILE_PROFILE_VIEW_H
#define JTOOL_RENDER_PROFILE_PROFILE_VIEW_H

#include <sys/types.h>

#include "model/profile/hot_methods.h"
#include "model/profile/profile.h"
#include "render/json.h"

struct profile_view {
	const struct profile *profile; /* call_tree_sum() was called for its tree */
	const struct hot_methods *methods;
	size_t n;         /* the first n methods are shown */
	pid_t pid;        /* 0: the profile is from a file */
	const char *file; /* NULL: the profile is from a JVM */
};

void profile_text_add(struct buf *out, const struct profile_view *view);
/* Appends the first line of the text, and no newline. */
void profile_text_summary(struct buf *out, const struct profile *p);
/* Returns the document, which the caller frees. */
struct json *profile_json(const struct profile_view *view) _must_check_;

/*
 * Appends a sentence about a gap (data that the profile lacks), without a newline.  Returns false,
 * and appends nothing, if the profile does not have this gap.
 */
bool profile_gap_add(struct buf *out, const struct profile *p, enum profile_gap gap);
/* Returns the gaps as the JSON array [{"note","n","text"}], which the caller frees. */
struct json *profile_gaps_json(const struct profile *p) _must_check_;

#endif
