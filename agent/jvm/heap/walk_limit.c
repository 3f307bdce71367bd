#include "jvm/heap/walk_limit.h"

#include "jvm/jvmti.h"

#ifndef AG_WALK_OBJECTS /* objects between two checks; they take 3 to 10 ms; tests define fewer */
#define AG_WALK_OBJECTS (1u << 18)
#endif

void ag_walk_limit_begin(struct ag_walk_limit *limit)
{
	limit->left = AG_WALK_OBJECTS;
	limit->until_ns = ag_now_ns() + (int64_t)limit->pause_ms * 1000000;
}

bool ag_walk_limit_check(struct ag_walk_limit *limit)
{
	limit->left = AG_WALK_OBJECTS;
	limit->over = ag_chan_watch(limit->chan, 0) < 0 || ag_now_ns() >= limit->until_ns;
	return !limit->over;
}
