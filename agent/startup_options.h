/*
 * What stands behind '=' in -agentpath:FILE=alloc,file=OUT,...
 *
 *     alloc            what is to be done
 *     file=OUT         where the report goes; %p is the process's id, %% a percent sign
 *     exact            every object is counted
 *     classes=A:B      exact: of these classes only (globs of Java names)
 *     interval=512k    sampling: bytes between two samples
 *     live             what is reachable at the end
 *     age=N            of that only what survived N collections; means live
 *     depth=64         frames of a stack
 *     memory=64m       that the profile takes at most
 *     n=N              sites that are written, the largest; 0: all
 *
 * A comma ends an option, so that none of their values can hold one.
 */
#ifndef JTOOL_AGENT_STARTUP_OPTIONS_H
#define JTOOL_AGENT_STARTUP_OPTIONS_H

#include "jvm/profile.h"
#include "wire/frame.h"

#define AG_STARTUP_MAX 8192 /* characters of all options */
#define AG_PATH_MAX 4096

struct ag_startup_options {
	struct ag_profile_wanted wanted; /* globs are those below */
	char path[AG_PATH_MAX];
	uint32_t sites; /* that are written at most; 0: all */

	char texts[AG_STARTUP_MAX + 1]; /* the options, cut where they end */
	const char *globs[WIRE_ALLOC_GLOBS_MAX];
	uint32_t given; /* those that were there */
};

/*
 * 0, or -1 with what is wrong and why; *what is in options->texts or a constant.  NULL is no
 * options.
 */
int ag_startup_parse(struct ag_startup_options *options, const char *text, uint32_t pid,
		     const char **what, const char **why);

#endif
