#include "jvm/code_change.h"

static bool code_changed;

void ag_code_change_begins(void)
{
	__atomic_store_n(&code_changed, true, __ATOMIC_RELAXED);
}

bool ag_code_has_changed(void)
{
	return __atomic_load_n(&code_changed, __ATOMIC_RELAXED);
}
