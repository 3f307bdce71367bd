/*
 * Decides when a heap walk must end early, because the JVM has been paused for too long or because
 * the client has exited.
 *
 * A heap callback calls ag_walk_continues(), and aborts the walk when that returns false.  HotSpot
 * does not stop its object iteration: after JVMTI_ITERATION_ABORT it still visits each of the
 * remaining objects, without calling a callback.  Each of these visits takes 3 to 10 ns (JDK 8 to
 * 27; with ZGC 40 ns).
 */
#ifndef JTOOL_AGENT_JVM_HEAP_WALK_LIMIT_H
#define JTOOL_AGENT_JVM_HEAP_WALK_LIMIT_H

#include "util/chan.h"

struct ag_walk_limit {
	struct ag_chan *chan;
	uint32_t pause_ms; /* maximum pause of one walk */
	uint32_t left;     /* number of objects until the next check; 0 before the first walk */
	int64_t until_ns;  /* deadline on the clock of ag_now_ns() */
	bool over;         /* the walk must end; if chan->broken is set, the client has exited */
};

/* Call it when a walk begins: sets limit->until_ns to pause_ms from now. */
void ag_walk_limit_begin(struct ag_walk_limit *limit);
/* Checks the clock and the channel.  If the walk must end, sets limit->over and returns false. */
bool ag_walk_limit_check(struct ag_walk_limit *limit);

/*
 * Call this function for each object.  It decrements limit->left, and calls ag_walk_limit_check()
 * every 2^18 objects.  Returns false if the walk must end.  Inline for speed.
 */
static inline bool ag_walk_continues(struct ag_walk_limit *limit)
{
	return --limit->left > 0 || ag_walk_limit_check(limit);
}

#endif
