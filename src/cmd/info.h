/*
 * What `info` gathers, and how it is laid out.
 */
#ifndef JTOOL_CMD_INFO_H
#define JTOOL_CMD_INFO_H

#include "model/vmtold.h"
#include "render/sheet.h"
#include "target/figures.h"
#include "target/vitals.h"

/* What a JVM that publishes no counters told when it was asked.  Texts are NULL where not. */
struct told {
	char *vm, *release, *main, *flags;
	const char *args; /* behind main, in the same text */
	const char *gc;
	struct vmtold_heap heap;
};

struct info {
	const struct jvm *jvm;
	struct vitals vitals;
	bool counted;           /* it publishes counters: `figures` is filled */
	struct perfdata perf;
	struct figures figures;
	struct told told;       /* else */
	char *why_not;          /* why there are none; NULL: there are */
	char *instead;          /* what came of asking the JVM instead; NULL: it was not asked */
};

/* All of it as named values; the caller frees the sheet. */
struct sheet *info_sheet(const struct info *info) _must_check_;

#endif
