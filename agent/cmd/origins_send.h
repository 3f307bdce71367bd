/* Sends each class origin (loader, module, code source) once; rows refer to it by number. */
#ifndef JTOOL_AGENT_CMD_ORIGINS_SEND_H
#define JTOOL_AGENT_CMD_ORIGINS_SEND_H

#include "util/chan.h"
#include "jvm/classes.h"
#include "jvm/code_source.h"

struct ag_origins {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	/* The assigned numbers.  modules or sources may be NULL: these are then not sent. */
	struct ag_ids *loaders, *modules, *sources;
	struct ag_code_source source; /* initialised if sources is not NULL */
};

struct ag_origin {
	uint32_t loader, module, source; /* ids as in LOADER, MODULE and SOURCE frames */
};

/*
 * Finds the origin of a class, and sends the parts that are new.  Creates local references for new
 * numbers only; they belong to the current local frame.
 */
int ag_origins_send(struct ag_origins *origins, jclass class, struct ag_origin *origin);

#endif
