/* Reads profiles in the format of pprof (profile.proto of github.com/google/pprof). */
#ifndef JTOOL_MODEL_PROFILE_PPROF_READ_H
#define JTOOL_MODEL_PROFILE_PPROF_READ_H

#include "base/buf.h"
#include "model/profile/call_tree.h"

/* Returns whether the data are compressed with gzip, as profiles mostly are. */
bool pprof_is_gzip(const void *data, size_t len);
/*
 * Appends the decompressed data.  Returns 0; or -EBADMSG if the data are damaged; or -EFBIG if the
 * decompressed data are longer than `max` bytes.
 */
int pprof_expand(struct buf *out, const void *data, size_t len, size_t max) _must_check_;
/*
 * Adds the stacks of a profile to a tree.  A stack has several values; adds the one that pprof
 * shows by default: the one that the profile names in default_sample_type, or else the last value.
 * Frames are names of functions, without lines.  Returns 0, or -EBADMSG if the message is not a
 * profile.
 */
int pprof_read(struct call_tree *t, const void *data, size_t len) _must_check_;

#endif
