/*
 * The report of a recording: text for people, and for `jtool alloc FILE` (src/model/alloc_report.h
 * reads it).  What is in <> depends on the recording; lines stand in this order, and who reads
 * them passes over keys that he does not know:
 *
 *     # jtool allocations 1                        the format's number
 *     # version <jtool's>
 *     # pid <number>
 *     # mode sampled | exact
 *     # interval <bytes between two samples>       sampled
 *     # estimator <in words>                       sampled
 *     # depth <frames>
 *     # live <collections survived, at least>      if what is live was counted
 *     # begin <seconds the JVM took to begin>
 *     # seconds <that it was recorded>
 *     # samples <samples, or objects>
 *     # bytes <that these stand for>
 *     # dropped <samples, or objects, without room>
 *     # collections <of garbage>
 *     # classes <that count> <that were left as they are>
 *     # paused <seconds that the JVM stood still for what is live>
 *     # note <enum wire_alloc_note> <how often> <text>
 *     # sites <that follow> <that there are>
 *     # OBJECTS BYTES SAMPLES LIVE_OBJECTS LIVE_BYTES CLASS
 *
 * For each site, the largest first by bytes, those six, LIVE_… being "-" without `live`; and below
 * it a line for each frame, the innermost first, "\tat a.b.C.m(File.java:12)" as Java writes it.
 * The last line is "# end <sites>": without it the file was cut off.
 *
 * Names are as the JVM has them (modified UTF-8), with '?' for control characters.
 */
#ifndef JTOOL_AGENT_REPORT_H
#define JTOOL_AGENT_REPORT_H

#include "base/arena.h"
#include "base/numbers.h"
#include "jvm/profile.h"

struct ag_report {
	const char *path;
	struct ag_profile *profile;
	struct ag_profile_wanted wanted;
	uint32_t sites; /* that are written at most; 0: all */

	/* What frames are called, found out as they come: classes may be unloaded. */
	struct ag_numbers known; /* method and place in it → where its text is, in 8 bytes */
	struct ag_arena texts;
	uint32_t next_site; /* the frames of all before are known */
};

/* Can a file be made there?  NULL, or why not. */
const char *ag_report_try(const char *path, uint32_t pid);

/* path, profile, wanted and sites are set.  jvm->mem has room for its tables. */
int ag_report_init(struct ag_jvm *jvm, struct ag_report *report);
void ag_report_release(struct ag_jvm *jvm, struct ag_report *report);
#define AG_REPORT_MEMORY ((size_t)48 << 20)

/* Find out what frames of new sites are called, until then (ag_now_ns() time). */
void ag_report_learn(struct ag_jvm *jvm, struct ag_report *report, int64_t until_ns);

/*
 * Write it, beside its place first, so that there is either all of it or what was there before.
 * live: was it counted?  NULL, or why not.
 */
const char *ag_report_write(struct ag_jvm *jvm, struct ag_report *report, uint32_t pid, bool live);

#endif
