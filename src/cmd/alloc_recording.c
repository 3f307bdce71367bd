#include "cmd/alloc_recording.h"

#include <string.h>

#include "cmd/mapped_agents.h"

#define ALLOC_OPTION "alloc"

/*
 * Returns true if ALLOC_OPTION is one of the options of `agent`, at any position, because jtool's
 * agent accepts its options in any order.
 */
bool alloc_recording_wanted(const struct agent *agent)
{
	const char *option = agent->kind == AGENT_PATH ? agent->options : NULL;

	while (option) {
		size_t len = strcspn(option, ",");

		if (len == strlen(ALLOC_OPTION) && memcmp(option, ALLOC_OPTION, len) == 0)
			return true;
		option = option[len] ? option + len + 1 : NULL;
	}
	return false;
}

bool alloc_recording_by(const struct agents *agents, const struct agent *mapped)
{
	if (mapped->kind != AGENT_MAPPED || mapped->maker != MADE_BY_JTOOL)
		return false;
	for (size_t i = 0; i < agents->n; i++) {
		const struct agent *a = &agents->list[i];

		if (alloc_recording_wanted(a) && strcmp(a->name, mapped->name) == 0)
			return true;
	}
	return false;
}

bool alloc_recording_is_on(const struct ctx *ctx)
{
	struct agents agents = AGENTS_INIT;
	struct err gone = { .code = EXIT_DONE };
	bool found = false;

	agents_from_flags(&agents, ctx->jvm->flags);
	if (mapped_agents_find(ctx, &agents, &gone) == 0) {
		for (size_t i = 0; i < agents.n && !found; i++)
			found = alloc_recording_by(&agents, &agents.list[i]);
	}
	agents_release(&agents);
	return found;
}
