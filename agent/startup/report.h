/*
 * The report of a recording: a text file for people and for `jtool alloc FILE`, which reads it with
 * src/model/profile/alloc_report.h.  The lines have this order; a reader skips unknown keys:
 *
 *     # jtool allocations 1                        format version
 *     # version <of jtool>
 *     # pid <number>
 *     # mode sampled | exact
 *     # interval <bytes between two samples>       if the mode is sampled
 *     # estimator <in words>                       if the mode is sampled
 *     # depth <frames>
 *     # live <minimum collections survived>        if live objects were counted
 *     # begin <seconds to begin the recording>
 *     # seconds <of recording>
 *     # samples <samples or objects>
 *     # bytes <that the samples stand for>
 *     # dropped <samples or objects, for lack of room>
 *     # collections <number of GCs>
 *     # classes <instrumented> <refused>
 *     # paused <seconds of the pause to find live objects>
 *     # note <enum wire_alloc_note> <count> <text>
 *     # sites <in this file> <in total>
 *     # OBJECTS BYTES SAMPLES LIVE_OBJECTS LIVE_BYTES CLASS
 *
 * Each site has a line with these six values; sites are sorted by bytes in descending order.  The
 * LIVE_ values are "-" if there is no line "# live".  Below a site is a line for each stack frame,
 * the innermost first, as in a Java stack trace: "\tat a.b.C.m(File.java:12)".  The last line,
 * "# end <sites>", is missing if the file is truncated.
 *
 * Names are in modified UTF-8, with '?' for control characters.
 */
#ifndef JTOOL_AGENT_STARTUP_REPORT_H
#define JTOOL_AGENT_STARTUP_REPORT_H

#include "util/arena.h"
#include "util/hash_map.h"
#include "jvm/alloc/alloc_profile.h"

struct ag_report {
	const char *path;
	struct ag_alloc_profile *profile;
	struct ag_alloc_profile_wanted wanted;
	uint32_t sites; /* maximum of sites to write; 0: all */

	/*
	 * The texts of stack frames are looked up during the recording, because classes may be
	 * unloaded later.
	 */
	struct ag_hash_map known; /* method and code offset → offset of the text in `texts` / 8 */
	struct ag_arena texts;
	uint32_t next_site; /* the texts of all earlier sites' stack frames are stored */
};

/* Returns NULL if a file can be created at `path`, or the reason why it cannot. */
const char *ag_report_try(const char *path, uint32_t pid);

/* Allocates `known` and `texts` from jvm->mem.  The caller sets path, profile, wanted and sites. */
int ag_report_init(struct ag_jvm *jvm, struct ag_report *report);
void ag_report_release(struct ag_jvm *jvm, struct ag_report *report);
#define AG_REPORT_MEMORY ((size_t)48 << 20) /* maximum bytes of `known` and `texts` */

/* Looks up the stack frames of new sites, until the deadline on the clock of ag_now_ns(). */
void ag_report_resolve(struct ag_jvm *jvm, struct ag_report *report, int64_t until_ns);

/*
 * Writes the report to a temporary file, which is then renamed to `path`, so that `path` has either
 * the complete report or its old content.  `live` is true if live objects were counted.  Returns
 * NULL, or the reason for a failure.
 */
const char *ag_report_write(struct ag_jvm *jvm, struct ag_report *report, uint32_t pid, bool live);

#endif
