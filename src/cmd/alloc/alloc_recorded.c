/*
 * alloc --recorded: finds and reads the recording of allocations that an agent began when the JVM
 * started.
 *
 * The agent is an agent library of jtool that the JVM loaded at its start.  This library may be of
 * another build of jtool, and its file may have any name.  So jtool requests the recording from
 * each of its agent libraries that the JVM has mapped.
 */
#include <string.h>

#include "cmd/alloc/alloc.h"
#include "cmd/alloc_recording.h"
#include "cmd/mapped_agents.h"

static int take_frame(void *alloc, uint16_t type, struct wire_reader *payload)
{
	return alloc_take(alloc, type, payload);
}

/*
 * Requests the recording from the agent of session `s`.  Returns 1 with *a filled in; or 0 if the
 * agent does not record; or -1 with err set.
 */
static int ask(const struct ctx *ctx, struct session *s, struct alloc *a, struct err *err)
{
	uint32_t live = alloc_is_live(ctx->opts) ? WIRE_ALLOC_LIVE : 0;

	if (alloc_request(ctx, s, WIRE_ALLOC_RECORDED | live, NULL, err) < 0 ||
	    session_answer_long(s, take_frame, a, err) < 0)
		return -1;
	if (a->end == WIRE_ALLOCED_NOTHING)
		return 0;
	/*
	 * The agent has sent the flags with which the recording began.  Add WIRE_ALLOC_RECORDED,
	 * which is not among them.
	 */
	a->flags |= WIRE_ALLOC_RECORDED;
	return 1;
}

/*
 * Opens a session with the agent library `image`, and requests the recording from it.  Returns 1
 * with *a filled in; 0 if the agent does not record; or -1 with err set.  Closes the session and
 * sets *s to NULL, with one exception: if the agent does not record and is of this build of jtool,
 * *s is the open session.
 */
static int ask_image(const struct ctx *ctx, const char *image, struct alloc *a,
		     struct session **s, struct err *err)
{
	const struct attach_opts attach = { .timeout_ms = ctx->timeout_ms, .steps = ctx->steps };
	int rc;

	*s = session_open_image(ctx->jvm, &attach, image, err);
	if (!*s)
		return -1;
	rc = ask(ctx, *s, a, err);
	if (rc <= 0)
		alloc_release(a);
	if (rc == 0 && session_is_this_build(*s))
		return 0;
	if (session_close(*s, err) < 0)
		rc = -1;
	*s = NULL;
	return rc;
}

/*
 * Returns true if the search shall ignore `err` and go on with the next library.  Two such errors
 * are expected: the agent of another build may not know the request, and musl's linker cannot load
 * a library whose file was deleted.  Stores in *first the first error that was ignored.
 */
static bool is_ignorable(const struct ctx *ctx, const char *image, const struct err *err,
			 struct err *first)
{
	if (err->code != EXIT_AGENT && err->code != EXIT_ANSWER)
		return false;
	verbose_step(ctx->steps, "%s: %s", image, err->text);
	if (first->code == EXIT_DONE)
		*first = *err;
	return true;
}

/*
 * Returns true if the caller must request the recording from `agent`, which is an entry of the list
 * `agents`.  If a library has an entry from a flag and an entry as a mapped file, returns true only
 * for the mapped file.
 */
static bool is_candidate(const struct agents *agents, const struct agent *agent)
{
	if (agent->kind == AGENT_MAPPED)
		return agent->maker == MADE_BY_JTOOL;
	/*
	 * `agent` is from a flag of the JVM.  Usually the list also has an entry for the mapped
	 * library of `agent`, and the caller uses only that entry.  If the file of the library was
	 * deleted, the list has no such entry, and the caller uses `agent`.
	 */
	if (*agent->name != '/' || !alloc_recording_wanted(agent))
		return false;
	for (size_t i = 0; i < agents->n; i++) {
		const struct agent *other = &agents->list[i];

		if (other->kind == AGENT_MAPPED && strcmp(other->name, agent->name) == 0)
			/* The caller uses `other`, which has the same library as `agent`. */
			return false;
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
		if (rc < 0 && (a->ended || !is_ignorable(ctx, agent->name, &refused, first)))
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

static int no_recording(const struct ctx *ctx, const struct err *first, struct err *err)
{
	if (first->code != EXIT_DONE)
		return err_set(err, first->code, "%s", first->text);
	return err_set(err, EXIT_ANSWER,
		       "JVM %d does not record allocations: start it with "
		       "-agentpath:$(jtool agent)=alloc,file=REPORT", (int)ctx->jvm->pid);
}

int alloc_recorded(const struct ctx *ctx, struct alloc *a, struct session **ours,
		   struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	struct agents agents = AGENTS_INIT;
	struct err first = { .code = EXIT_DONE }, ignored = { .code = EXIT_DONE };
	int rc;

	*ours = NULL;
	agents_from_flags(&agents, ctx->jvm->flags);
	rc = mapped_agents_find(ctx, &agents, err);
	if (rc == 0)
		rc = ask_agents(ctx, &agents, a, ours, &first, err);
	if (rc == 0 && opts->recorded)
		rc = no_recording(ctx, &first, err);
	if (rc != 0) {
		(void)session_close(*ours, &ignored); /* the session changed nothing in the JVM */
		*ours = NULL;
	}
	agents_release(&agents);
	return rc;
}
