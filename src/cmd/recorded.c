#include "cmd/recorded.h"

#include <string.h>

#include "target/ns.h"

#define WISH "alloc"

/* Wherever it stands among the options, as the agent takes it. */
bool recorded_wanted(const struct agent *agent)
{
	const char *word = agent->kind == AGENT_PATH ? agent->options : NULL;

	while (word) {
		size_t len = strcspn(word, ",");

		if (len == strlen(WISH) && memcmp(word, WISH, len) == 0)
			return true;
		word = word[len] ? word + len + 1 : NULL;
	}
	return false;
}

bool recorded_by(const struct agents *agents, const struct agent *mapped)
{
	if (mapped->kind != AGENT_MAPPED || mapped->maker != MADE_BY_JTOOL)
		return false;
	for (size_t i = 0; i < agents->n; i++) {
		const struct agent *a = &agents->list[i];

		if (recorded_wanted(a) && strcmp(a->name, mapped->name) == 0)
			return true;
	}
	return false;
}

bool recorded_is_on(const struct ctx *ctx)
{
	struct agents agents = AGENTS_INIT;
	struct err gone = { .code = EXIT_DONE };
	bool found = false;
	struct ns ns;

	if (ns_open(ctx->jvm, &ns, &gone) < 0)
		return false;
	agents_of_flags(&agents, ctx->jvm->flags);
	agents_of_maps(&agents, &ns.proc, ctx->jvm);
	ns_close(&ns);
	for (size_t i = 0; i < agents.n && !found; i++)
		found = recorded_by(&agents, &agents.list[i]);
	agents_release(&agents);
	return found;
}
