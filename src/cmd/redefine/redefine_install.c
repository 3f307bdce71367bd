/* redefine: sends the class files to the agent. */
#include <string.h>

#include "base/xalloc.h"
#include "cmd/redefine/redefine.h"

#define TEXT_MAX 4096 /* limit in bytes for a path that is sent; the agent may shorten it further */

static char *absolute(const char *path)
{
	_cleanup_free_ char *cwd = NULL;

	if (*path == '/' || !(cwd = getcwd(NULL, 0)))
		return xstrdup(path);
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	return xasprintf("%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path);
}

static int send_bytes(struct session *s, const struct buf *bytes, struct err *err)
{
	_cleanup_free_ uint8_t *payload = xmalloc(4 + WIRE_PIECE);
	int rc = 0;

	for (size_t at = 0; at < bytes->len && rc == 0; at += WIRE_PIECE) {
		size_t left = bytes->len - at;
		struct wire_writer w = wire_writer_init(payload, 4 + WIRE_PIECE);

		wire_put_text(&w, bytes->data + at, left < WIRE_PIECE ? left : WIRE_PIECE);
		rc = session_send(s, WIRE_BYTES, &w, err);
	}
	return rc;
}

static int send_item(struct session *s, const struct redefine_item *item, struct err *err)
{
	_cleanup_free_ char *path = absolute(item->file->where);
	size_t len = strnlen(path, TEXT_MAX);
	uint8_t payload[16 + TEXT_MAX + SHA256_HEX_LEN];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, item->row->number);
	wire_put_text(&w, path, len);
	wire_put_text(&w, item->digest, SHA256_HEX_LEN);
	wire_put_u32(&w, (uint32_t)item->file->bytes.len);
	if (session_send(s, WIRE_PATCH, &w, err) < 0)
		return -1;
	return send_bytes(s, &item->file->bytes, err);
}

static int send_all(struct session *s, const struct redefine_plan *plan, struct err *err)
{
	uint8_t payload[4];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));
	int rc;

	wire_put_u32(&w, (uint32_t)plan->n_of[REDEFINE_FITS]);
	rc = session_send(s, WIRE_REDEFINE, &w, err);
	for (size_t i = 0; i < plan->n && rc == 0; i++) {
		if (plan->items[i].result == REDEFINE_FITS)
			rc = send_item(s, &plan->items[i], err);
	}
	return rc;
}

struct redefined {
	int32_t code;
	uint32_t n_others;
};

static int take_redefined(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct redefined *r = arg;

	r->code = wire_get_i32(payload);
	r->n_others = wire_get_u32(payload);
	return type == WIRE_REDEFINED && wire_reader_ok(payload) ? 1 : -1;
}

int redefine_install(const struct redefine_plan *plan, struct class_index *index,
		     uint32_t *n_others, struct err *err)
{
	struct redefined r;

	if (send_all(index->session, plan, err) < 0 ||
	    session_answer_long(index->session, take_redefined, &r, err) < 0)
		return -1;
	if (r.code != 0)
		return err_set(err, EXIT_ANSWER, "the JVM refuses the new code: %s; nothing was "
						 "changed", redefinition_error(r.code));
	*n_others = r.n_others;
	return 0;
}
