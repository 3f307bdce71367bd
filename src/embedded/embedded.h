/* Files that the build embeds in jtool in compressed form. */
#ifndef JTOOL_EMBEDDED_EMBEDDED_H
#define JTOOL_EMBEDDED_EMBEDDED_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Decompresses the agent's shared object into an empty buffer.  Returns 0; or -1 with err set
 * (EXIT_AGENT) if the executable of jtool is damaged.
 */
int embedded_agent(struct buf *agent, struct err *err) _must_check_;

/*
 * Decompresses a page of the manual, such as "jtool-list" or "jtool", as plain text, into an empty
 * buffer.  Returns 0; -ENOENT if there is no such page; or -EBADMSG if the executable of jtool is
 * damaged.
 */
int embedded_page(const char *name, struct buf *text) _must_check_;

/*
 * Decompresses the fixed parts of a flame graph's page into an empty buffer: its HTML, CSS and
 * JavaScript, each with a NUL at its end.  Returns 0; or -1 with err set (EXIT_PARTIAL) if the
 * executable of jtool is damaged.
 */
int embedded_flamegraph(struct buf *parts, struct err *err) _must_check_;

/*
 * Decompresses the descriptions of the views of recordings (jfr_views.h), which have a NUL at their
 * end, into an empty buffer.  Returns 0, or -EBADMSG if the executable of jtool is damaged.
 */
int embedded_views(struct buf *text) _must_check_;

#endif
