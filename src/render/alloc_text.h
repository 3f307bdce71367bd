/*
 * An allocation profile as people read it:
 *
 *     10.0 s: about 6.1G in 180,034,123 objects, by 12,345 samples, one in 512K
 *
 *     BYTES     %        COUNT  CLASS
 *      3.1G  51.2  100,000,000  byte[]
 *           at a.b.Shop.pay(Shop.java:30)
 *           at a.b.Till.run(Till.java:12)
 *
 * With what is alive there are its columns in front.  Nothing that the target says breaks a line.
 */
#ifndef JTOOL_RENDER_ALLOC_TEXT_H
#define JTOOL_RENDER_ALLOC_TEXT_H

#include "base/buf.h"
#include "render/alloc_view.h"

void alloc_text_add(struct buf *out, const struct alloc_view *view);

/* The first line alone, without its newline. */
void alloc_text_summary(struct buf *out, const struct alloc_view *view);

/* What a note says about the figures, as the end of a sentence. */
void alloc_text_note(struct buf *out, const struct alloc_note *note);

#endif
