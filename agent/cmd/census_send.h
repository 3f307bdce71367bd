/* Sends a class histogram (struct ag_census). */
#ifndef JTOOL_AGENT_CMD_CENSUS_SEND_H
#define JTOOL_AGENT_CMD_CENSUS_SEND_H

#include "jvm/heap/histo.h"
#include "util/chan.h"

/*
 * Sends HISTO_CLASSES frames, and before them the loaders and, if with_modules is true, the modules
 * of the classes.  Returns 0; or -1 with the error in jvm->err; or -1 without an error in jvm->err
 * if the channel is broken.
 */
int ag_census_send(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_census *census,
		   bool with_modules);

#endif
