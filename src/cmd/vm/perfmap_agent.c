/* perfmap with the agent, which also works before JDK 17. */
#include "cmd/vm/perfmap.h"

#include "fileio/io.h"
#include "model/profile/code_map.h"
#include "session/session.h"

static int take_frame(void *map, uint16_t type, struct wire_reader *payload)
{
	return code_map_take(map, type, payload);
}

static int ask(const struct ctx *ctx, struct code_map *map, struct err *err)
{
	const struct attach_opts attach = { .timeout_ms = ctx->timeout_ms, .steps = ctx->steps };
	struct session *s = session_open(ctx->jvm, &attach, err);
	int rc;

	if (!s)
		return -1;
	rc = session_send(s, WIRE_CODE, NULL, err);
	if (rc == 0)
		rc = session_answer_long(s, take_frame, map, err);
	if (session_close(s, err) < 0)
		rc = -1;
	return rc;
}

static int write_map(struct code_map *map, struct atomic_file *out, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc;

	code_map_sort(map);
	code_map_add(&text, map);
	rc = io_write_all(out->fd, buf_str(&text), text.len, DEADLINE_NEVER);
	return rc < 0 ? atomic_file_failed(out, rc, err) : 0;
}

int perfmap_by_agent(const struct ctx *ctx, struct atomic_file *out, struct err *err)
{
	struct code_map map = { .n = 0 };
	int rc = ask(ctx, &map, err);

	if (rc == 0)
		verbose_step(ctx->steps,
			     "the agent found %zu pieces of code, and %u compiled methods whose "
			     "class was unloaded meanwhile", map.n, map.n_unloaded);
	if (rc == 0)
		rc = write_map(&map, out, err);
	code_map_release(&map);
	return rc;
}
