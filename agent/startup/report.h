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
 *     # begin <seconds that beginning the recording took>
 *     # seconds <duration of the recording>
 *     # samples <number of samples; in mode exact: of objects>
 *     # bytes <bytes of the objects for which the samples stand>
 *     # dropped <samples, in mode exact objects, that were lost for lack of room>
 *     # collections <number of GCs>
 *     # classes <number instrumented> <number refused>
 *     # paused <seconds for which the JVM was paused to find live objects>
 *     # note <enum wire_alloc_note> <count> <text>
 *     # sites <number in this file> <number in the recording>
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
	uint32_t sites; /* maximum number of sites to write; 0: all */

	/*
	 * The texts of stack frames are looked up during the recording, because classes may be
	 * unloaded later.
	 */
	/* key: method and code offset; number: offset of the text in `texts`, divided by 8 */
	struct ag_hash_map known;
	struct ag_arena texts;
	uint32_t next_site; /* number of the first site whose stack frames were not looked up yet */
};

/* Returns NULL if a file can be created at `path`, or the reason why it cannot. */
const char *ag_report_try(const char *path, uint32_t pid);

/* Allocates `known` and `texts` from jvm->mem.  The caller sets the members that precede them. */
int ag_report_init(struct ag_jvm *jvm, struct ag_report *report);
void ag_report_release(struct ag_jvm *jvm, struct ag_report *report);
#define AG_REPORT_MEMORY ((size_t)48 << 20) /* maximum bytes of `known` and `texts` */

/* Looks up the stack frames of new sites; stops when ag_now_ns() reaches until_ns. */
void ag_report_resolve(struct ag_jvm *jvm, struct ag_report *report, int64_t until_ns);

/*
 * Writes the report to a temporary file, which is then renamed to `path`, so that `path` has either
 * the complete report or its old content.  `live` is true if live objects were counted.  Returns
 * NULL, or the reason for a failure.
 */
const char *ag_report_write(struct ag_jvm *jvm, struct ag_report *report, uint32_t pid, bool live);

#endif
