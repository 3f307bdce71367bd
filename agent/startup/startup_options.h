/*
 * The options of the agent at JVM startup: -agentpath:FILE=alloc,file=OUT,...
 *
 *     alloc            record allocations (required)
 *     file=OUT         path of the report (required); %p is the process id, %% a percent sign
 *     exact            count every object instead of sampling
 *     classes=A:B      with exact: count these classes only (globs of Java names)
 *     interval=512k    bytes between two samples
 *     live             count objects that are reachable at the end
 *     age=N            as `live`, but only objects that survived at least N collections
 *     depth=64         maximum number of frames of a stack
 *     memory=64m       maximum memory of the profile
 *     n=N              write the N sites with most bytes (default 0: all)
 *
 * A comma ends an option, so a value cannot contain one.
 */
#ifndef JTOOL_AGENT_STARTUP_STARTUP_OPTIONS_H
#define JTOOL_AGENT_STARTUP_STARTUP_OPTIONS_H

#include "jvm/alloc/alloc_profile.h"
#include "wire/frame.h"

#define AG_STARTUP_MAX 8192 /* maximum length of all options together, in bytes */
#define AG_PATH_MAX 4096

struct ag_startup_options {
	struct ag_alloc_profile_wanted wanted; /* wanted.globs points to `globs` below */
	char path[AG_PATH_MAX];
	uint32_t sites; /* maximum number of sites to write; 0: all */

	char texts[AG_STARTUP_MAX + 1]; /* the options, each of which ends in NUL */
	const char *globs[WIRE_ALLOC_GLOBS_MAX];
	uint32_t given; /* bit o is set if the text has the option o of `enum option` */
};

/*
 * Parses the options; `text` may be NULL.  Returns 0, or -1 with the wrong option in *what and the
 * reason in *why.  *what points into options->texts, or to a constant.
 */
int ag_startup_parse(struct ag_startup_options *options, const char *text, uint32_t pid,
		     const char **what, const char **why);

#endif
