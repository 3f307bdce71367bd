/* Sends each loader, module and code source once.  Rows of classes refer to them by number. */
#ifndef JTOOL_AGENT_CMD_ORIGINS_SEND_H
#define JTOOL_AGENT_CMD_ORIGINS_SEND_H

#include "util/chan.h"
#include "jvm/classes.h"
#include "jvm/code_source.h"

struct ag_origins {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	/*
	 * The numbers that were assigned so far.  If `modules` is NULL, no modules are sent; if
	 * `sources` is NULL, no code sources are sent.
	 */
	struct ag_ids *loaders, *modules, *sources;
	struct ag_code_source source; /* initialised unless sources is NULL */
};

struct ag_origin {
	uint32_t loader, module, source; /* numbers, as in the frames LOADER, MODULE and SOURCE */
};

/*
 * Finds the origin of a class, and sends those parts of it that the client does not have yet.
 * Creates JNI local references, in the current local frame, only for parts that get a new number.
 */
int ag_origins_send(struct ag_origins *origins, jclass class, struct ag_origin *origin);

#endif
