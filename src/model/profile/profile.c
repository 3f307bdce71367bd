#include "model/profile/profile.h"

#include "base/util.h"

const char *const profile_kinds[] = {
	[PROFILE_CPU] = "cpu",
	[PROFILE_WALL] = "wall",
	[PROFILE_LOCK] = "lock",
	[PROFILE_ALLOC] = "alloc",
	[PROFILE_IO] = "io",
	[PROFILE_EXCEPTIONS] = "exceptions",
	[N_PROFILE_KINDS] = NULL,
};

void profile_release(struct profile *p)
{
	call_tree_release(&p->tree);
}
