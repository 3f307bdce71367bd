/*
 * alloc: what an agent has recorded since the start of the JVM.
 *
 * That agent is a library which the JVM was told to load, of this build or another, under any
 * name; what it has is behind that very image.
 */
#include <string.h>

#include "cmd/alloc.h"
#include "cmd/recorded.h"
#include "target/agents.h"
#include "target/ns.h"

static int take_frame(void *alloc, uint16_t type, struct wire_reader *payload)
{
	return alloc_take(alloc, type, payload);
}

static int find_agents(const struct ctx *ctx, struct agents *agents, struct err *err)
{
	struct ns ns;

	if (ns_open(ctx->jvm, &ns, err) < 0)
		return -1;
	agents_of_maps(agents, &ns.proc, ctx->jvm);
	ns_close(&ns);
	return 0;
}

/* 1: *a is filled. */
static int ask(const struct ctx *ctx, struct session *s, struct alloc *a, struct err *err)
{
	uint32_t live = alloc_is_live(ctx->opts) ? WIRE_ALLOC_LIVE : 0;

	if (alloc_request(ctx, s, WIRE_ALLOC_RECORDED | live, NULL, err) < 0 ||
	    session_answer(s, take_frame, a, err) < 0)
		return -1;
	if (a->end == WIRE_ALLOCED_NOTHING)
		return 0;
	a->flags |= WIRE_ALLOC_RECORDED; /* those told are what it was begun with */
	return 1;
}

/* 1, 0 or -1; *s stays open only if it is this build's and nothing is recorded there. */
static int ask_image(const struct ctx *ctx, const char *image, struct alloc *a,
		     struct session **s, struct err *err)
{
	const struct attach_opts attach = { ctx->timeout_ms, ctx->steps };
	int rc;

	*s = session_open_image(ctx->jvm, &attach, image, err);
	if (!*s)
		return -1;
	rc = ask(ctx, *s, a, err);
	if (rc <= 0)
		alloc_release(a);
	if (rc == 0 && session_is_ours(image))
		return 0;
	if (session_close(*s, err) < 0)
		rc = -1;
	*s = NULL;
	return rc;
}

/*
 * What goes wrong with one image does not keep us from the others: another build's agent need not
 * know what it is asked for, and musl's linker does not find a file that is gone.  The first
 * error is kept in *first.
 */
static bool is_passed_over(const struct ctx *ctx, const char *image, const struct err *err,
			   struct err *first)
{
	if (err->code != EXIT_AGENT && err->code != EXIT_ANSWER)
		return false;
	steps_add(ctx->steps, "%s: %s", image, err->text);
	if (first->code == EXIT_DONE)
		*first = *err;
	return true;
}

static bool is_candidate(const struct agents *agents, const struct agent *agent)
{
	if (agent->kind == AGENT_MAPPED)
		return agent->maker == MADE_BY_JTOOL;
	/* One whose file is gone is known by the flags alone. */
	if (*agent->name != '/' || !recorded_wanted(agent))
		return false;
	for (size_t i = 0; i < agents->n; i++) {
		const struct agent *other = &agents->list[i];

		if (other->kind == AGENT_MAPPED && strcmp(other->name, agent->name) == 0)
			return false; /* it is asked as that, or somebody else's */
	}
	return true;
}

static int ask_agents(const struct ctx *ctx, const struct agents *agents, struct alloc *a,
		      struct session **ours, struct err *first, struct err *err)
{
	for (size_t i = 0; i < agents->n; i++) {
		const struct agent *agent = &agents->list[i];
		struct err refused = { .code = EXIT_DONE };
		struct session *s = NULL;
		int rc;

		if (!is_candidate(agents, agent))
			continue;
		rc = ask_image(ctx, agent->name, a, &s, &refused);
		if (rc < 0 && (a->ended || !is_passed_over(ctx, agent->name, &refused, first)))
			return err_set(err, refused.code, "%s", refused.text);
		if (rc > 0)
			return rc;
		if (s && !*ours)
			*ours = TAKE_PTR(s);
		if (session_close(s, err) < 0)
			return -1;
	}
	return 0;
}

static int is_not_recorded(const struct ctx *ctx, const struct err *first, struct err *err)
{
	if (first->code != EXIT_DONE)
		return err_set(err, first->code, "%s", first->text);
	return err_set(err, EXIT_ANSWER,
		       "nothing is recorded in JVM %d since its start: it is if it was started "
		       "with -agentpath:$(jtool agent)=alloc,file=REPORT", (int)ctx->jvm->pid);
}

int alloc_recorded(const struct ctx *ctx, struct alloc *a, struct session **ours,
		   struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	struct agents agents = AGENTS_INIT;
	struct err first = { .code = EXIT_DONE }, ignored = { .code = EXIT_DONE };
	int rc;

	*ours = NULL;
	agents_of_flags(&agents, ctx->jvm->flags);
	rc = find_agents(ctx, &agents, err);
	if (rc == 0)
		rc = ask_agents(ctx, &agents, a, ours, &first, err);
	if (rc == 0 && opts->recorded)
		rc = is_not_recorded(ctx, &first, err);
	if (rc != 0) {
		(void)session_close(*ours, &ignored); /* nothing was done in it */
		*ours = NULL;
	}
	agents_release(&agents);
	return rc;
}
