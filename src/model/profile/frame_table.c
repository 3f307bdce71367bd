#include "model/profile/frame_table.h"

#include <errno.h>

#include "base/xalloc.h"
#include "model/class/javasig.h"
#include "model/class/type_name.h"
#include "wire/frame.h"

/*
 * Maximum number of stack frames, and of bytes of their texts, because a hostile agent could send
 * more.
 */
#define FRAMES_MAX (1u << 20)
#define BYTES_MAX ((size_t)128 << 20)

void frame_table_release(struct frame_table *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->texts[i]);
	free(f->texts);
	*f = (struct frame_table){ 0 };
}

static void add_text(struct buf *out, struct wire_text text)
{
	javasig_text(out, (struct cf_text){ text.data, text.len });
}

/*
 * Appends "(Shop.java:12)"; or, as StackTraceElement.toString() does, "(Shop.java)" if the line is
 * unknown, "(Unknown Source)" if the file is unknown, "(Native Method)" for a native method.
 */
static void add_location(struct buf *out, struct wire_text file, int32_t line)
{
	buf_addc(out, '(');
	if (line == WIRE_LINE_NATIVE)
		buf_adds(out, "Native Method");
	else if (file.len == 0)
		buf_adds(out, "Unknown Source");
	else
		add_text(out, file);
	if (line >= 0 && file.len > 0)
		buf_addf(out, ":%d", (int)line);
	buf_addc(out, ')');
}

int frame_table_add(struct frame_table *f, const char *text, size_t len)
{
	if (f->n >= FRAMES_MAX || len > BYTES_MAX - f->bytes)
		return -EBADMSG;
	f->bytes += len;
	f->texts = xgrow(f->texts, f->n, &f->cap, sizeof(*f->texts));
	f->texts[f->n++] = xstrndup(text, len);
	return 0;
}

/* Reads one stack frame.  If its class was unloaded, the names are empty. */
static int take_one(struct frame_table *f, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct wire_text signature = wire_get_text(payload);
	struct wire_text method = wire_get_text(payload);
	struct wire_text file = wire_get_text(payload);
	int32_t line = wire_get_i32(payload);

	if (!wire_reader_ok(payload) || line < WIRE_LINE_NATIVE)
		return -EBADMSG;
	if (signature.len == 0)
		buf_adds(&text, "(unloaded)");
	else if (type_name_java(&text, signature.data, signature.len) < 0)
		return -EBADMSG;
	buf_addc(&text, '.');
	add_text(&text, method);
	add_location(&text, file, line);
	return frame_table_add(f, buf_str(&text), text.len);
}

int frame_table_take(struct frame_table *f, struct wire_reader *payload)
{
	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		int rc = take_one(f, payload);

		if (rc < 0)
			return rc;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}
