#include "cmd/mapped_agents.h"

#include "attach/target_ns.h"

int mapped_agents_find(const struct ctx *ctx, struct agents *agents, struct err *err)
{
	struct target_ns ns;

	if (target_ns_open_process(ctx->jvm, &ns, err) < 0)
		return -1;
	agents_from_maps(agents, &ns.proc, ctx->jvm);
	target_ns_close(&ns);
	return 0;
}
